"""The guided agent: flat Monte-Carlo over worlds, with a trained network at every seat."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from krypenv.agents.base import IntArray
from krypenv.agents.neural.belief import log_chance, make_belief, remember, share_out
from krypenv.agents.neural.inference import REWARD_SCALE, Weights, judge_position, make_work, score_legal
from krypenv.agents.neural.model_file import check_rules, load_model
from krypenv.agents.neural.recall import Recall
from krypenv.agents.scripted import list_bits, list_legal
from krypenv.agents.search.rollout import final_margin
from krypenv.agents.search.sampler import BATCH, Sampler, check_memory, name_of
from krypenv.agents.search.sampling import NO_ACTION, look_around, sample_world, world_seed
from krypenv.agents.search.search import best_of, drop_moves, has_choice, plan_of, search_rows
from krypenv.cards import NUM_ACTIONS
from krypenv.kernels.checks import check_decisions
from krypenv.kernels.observation import write_observation
from krypenv.kernels.play import act
from krypenv.kernels.scoring import margin_of
from krypenv.rules import Rules
from krypenv.runtime.jit import kernel, parallel_kernel

# An action is not tried where the network's logit is so far behind its best one: 1 in 500 of its probability.
LEAST_LOGIT = -6.2


@kernel
def play_on(
    tables: np.record, weights: Weights, game: np.record, last_deal: int, work: np.record, scratch: np.record
) -> None:
    """Play a game on with the network's best action at every seat until a deal is over or the game is."""
    while not game.over and game.deal_number <= last_deal:
        count = list_bits(game.legal_plays, game.legal_takes, work.legal)
        best = 0
        if count > 1:
            write_observation(tables, game, game.seat, work.seen)
            best = score_legal(tables, weights, work.seen, count, work, scratch)
        act(tables, game, work.legal[best], scratch)


@kernel
def worth(
    tables: np.record,
    model: np.record,
    weights: Weights,
    value_unit: float,
    game: np.record,
    side: int,
    work: np.record,
    scratch: np.record,
) -> float:
    """Return the margin that a side can expect where a deal has just ended and the next one's hands are dealt.

    What is to come is the network's value of the position times `value_unit`, or with a unit of 0 what `model` expects.
    """
    if game.over or value_unit == 0.0:
        return final_margin(tables, model, game, side)
    write_observation(tables, game, game.seat, work.seen)
    count = list_bits(game.legal_plays, game.legal_takes, work.legal)
    to_come = value_unit * judge_position(tables, weights, work.seen, count, work, scratch)
    return margin_of(tables, game, side) + (to_come if game.seat % tables.teams == side else -to_come)


@kernel
def weigh_worlds(
    tables: np.record,
    weights: Weights,
    heat: float,
    observation: np.ndarray,
    seed: np.uint64,
    start: int,
    count: int,
    belief: np.record,
    work: np.record,
    space: np.record,
    out: np.ndarray,
) -> bool:
    """Write `log_chance` of so many worlds into `out`, (count,); return whether there are any."""
    for at in range(count):
        if not sample_world(tables, observation, world_seed(seed, start + at), True, space):
            return False
        out[at] = log_chance(tables, weights, heat, space.stack[0], belief, work, space.scratch)
    return True


@kernel
def look_first(
    tables: np.record,
    weights: Weights,
    observation: np.ndarray,
    action_mask: np.ndarray,
    work: np.record,
    scratch: np.record,
    totals: np.ndarray,
) -> None:
    """Write how far each legal action's logit is behind into `work.behind`, and 0 into `totals` where it is tried.

    Both are (105,) float64; the total of an action that is not tried is minus infinity.
    """
    count = list_legal(action_mask, work.legal)
    work.worlds = 0
    best = work.logits[score_legal(tables, weights, observation, count, work, scratch)]
    for action in range(NUM_ACTIONS):
        totals[action] = -np.inf
    for at in range(count):
        action, behind = work.legal[at], work.logits[at] - best
        work.behind[action] = behind
        if behind >= LEAST_LOGIT:
            totals[action] = 0.0


@kernel
def count_open(totals: np.ndarray) -> int:
    """Return how many actions are still tried."""
    count = 0
    for action in range(NUM_ACTIONS):
        count += totals[action] > -np.inf
    return count


@kernel
def guide_rows(
    tables: np.ndarray,
    model: np.ndarray,
    observations: np.ndarray,
    action_masks: np.ndarray,
    seeds: np.ndarray,
    first: int,
    worlds: int,
    deals: int,
    prior: float,
    value_unit: float,
    candidates: int,
    heat: float,
    method: int,
    plies: int,
    few_lines: int,
    weights: Weights,
    works: np.ndarray,
    beliefs: np.ndarray,
    logs: np.ndarray,
    shares: np.ndarray,
    space: np.ndarray,
    means: np.ndarray,
    out: np.ndarray,
    part: int,
    parts: int,
) -> None:
    """Write the action of the best value of every `parts`-th row into `out`, (B,) int64.

    `means`, (B, 105) float64 or empty, gets the value of each action: its mean margin, and `prior` for each unit of its
    logit; minus infinity for those that were not tried, were dropped or are illegal.
    """
    rules, work, room, belief = tables[0], works[part], space[part], beliefs[part]
    totals = room.totals
    for row in range(part, len(out), parts):
        if not has_choice(action_masks[row]):
            out[row] = np.argmax(action_masks[row])
            continue
        if look_around(rules, observations[row], room):
            if first == 0:
                search_rows(
                    tables, model, observations[row : row + 1], action_masks[row : row + 1], seeds[row : row + 1], 0, 1,
                    method, plies, few_lines, space[part : part + 1], means[row : row + 1], out[row : row + 1], 0, 1,
                )  # fmt: skip
            continue
        if first == 0:
            look_first(rules, weights, observations[row], action_masks[row], work, room.scratch, totals)
        side = room.root.seat % rules.teams
        last_deal = room.root.deal_number + deals - 1
        agrees, tried, start = True, worlds, first
        belief.count = 0
        if candidates > 1:
            remember(rules, observations[row], belief, room)
            look_around(rules, observations[row], room)
        if belief.count > 0:
            tried, start = worlds * candidates, first * candidates
            agrees = weigh_worlds(
                rules, weights, heat, observations[row], seeds[row], start, tried, belief, work, room, logs[part]
            )
            share_out(logs[part], tried, worlds, shares[part])
        for at in range(tried):
            if count_open(totals) == 1 or not agrees:
                break
            share = shares[part, at] if belief.count > 0 else np.int64(1)
            if share == 0:
                continue
            agrees = sample_world(rules, observations[row], world_seed(seeds[row], start + at), True, room)
            if not agrees:
                break
            for action in range(NUM_ACTIONS):
                if totals[action] > -np.inf:
                    room.ahead = room.stack[0]
                    act(rules, room.ahead, action, room.scratch)
                    play_on(rules, weights, room.ahead, last_deal, work, room.scratch)
                    margin = worth(rules, model[0], weights, value_unit, room.ahead, side, work, room.scratch)
                    totals[action] += share * (margin + prior * work.behind[action])
            work.worlds += share
            drop_moves(totals, NUM_ACTIONS, work.worlds)
        out[row] = best_of(totals, NUM_ACTIONS) if agrees else NO_ACTION
        if len(means) > 0:
            for action in range(NUM_ACTIONS):
                means[row, action] = totals[action] / max(work.worlds, 1)


@kernel
def guide_part(before: tuple[Any, ...], weights: Weights, after: tuple[Any, ...], part: int, parts: int) -> None:
    """Do what `guide_rows` does, given all its arguments but the last two: the weights, and those around them."""
    given = (*before, weights, *after)
    guide_rows(*given, part, parts)


@kernel
def try_guide_part(before: tuple[Any, ...], weights: Weights, after: tuple[Any, ...], part: int, parts: int) -> bool:
    """Do what `guide_part` does; return whether it came to its end."""
    try:
        guide_part(before, weights, after, part, parts)
    except Exception:
        return False
    return True


@parallel_kernel
def guide_parts(before: tuple[Any, ...], weights: Weights, after: tuple[Any, ...], done: np.ndarray) -> None:
    """Do what `guide_rows` does, a thread a part; write which came to their ends into `done`, (parts,) bool."""
    for part in numba.prange(len(done)):
        done[part] = try_guide_part(before, weights, after, part, len(done))


def guide_on_threads(given: tuple[Any, ...], done: np.ndarray) -> None:
    """Call `guide_parts` with the arguments of `guide_rows`; to `prange` a tuple can't be handed inside of another."""
    at = next(at for at, each in enumerate(given) if isinstance(each, Weights))
    guide_parts(given[:at], given[at], given[at + 1 :], done)


class Guided(Sampler):
    """Plays the action with the best mean margin over worlds that a trained network plays on at every seat.

    The network also has a say at the root: an action's value is its mean margin and `prior` for each unit of its logit,
    and actions that the network thinks nothing of are not tried. An action that is clearly behind after some worlds is
    tried in no more. Where a seat of two has counted what the other holds, the rest is solved as by `Search`.

    Args:
        model: the folder of a trained network; there is no default.
        worlds, ms, threads: as in `Sampler`; each action is tried once in each world.
        prior: points for each unit of a logit.
        candidates: worlds that are drawn for one that is played out. With more than 1, and two players, the agent
            remembers its own decisions; what the other has played in this deal it knows from them
            (`krypenv.agents.neural.recall`), and worlds are kept by the chance that the network would have played it
            with the hand that the other has there.
        heat: what the network's logits are divided by in that.
        deals: deals that are played out, the one that is being played included; after them comes an expected value.
        value: what is expected after that: the next deal's first sweep (sweep), nothing (margin), or between two sides
            what the network expects (network).

    Raises ValueError without a model, and `ModelError`, a ValueError too, for one that can't be loaded or plays other
    rules.
    """

    _serial, _parallel = staticmethod(guide_rows), staticmethod(guide_on_threads)

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        model: str = "",
        worlds: int = 100,
        prior: float = 1.0,
        candidates: int = 1,
        heat: float = 1.0,
        deals: int = 1,
        value: str = "sweep",
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.name = name_of("guided", self, locals())
        judges = value == "network"
        if judges and rules.num_teams != 2:
            raise ValueError(f"the network's value is of use between two sides only, not {rules.num_teams}")
        weights = load_weights(model, rules, judges)
        # The margin to come is twice the centred return between two sides.
        value_unit = 2 / REWARD_SCALE if judges else 0.0
        self._recall = Recall() if candidates > 1 and rules.players == 2 else None
        candidates = candidates if self._recall else 1
        self._plan = (deals, float(prior), value_unit, candidates, float(heat), *plan_of(rules, "max_n", 0))
        super().__init__(rules, seed, worlds, "margin" if judges else value, ms, threads)
        at_once = min(worlds, BATCH) if ms else worlds
        check_memory(at_once * candidates, self._threads)
        logs = np.zeros((self._threads, at_once * candidates if self._recall else 0))
        beliefs = make_belief(self._threads)
        self._work = (
            weights, make_work(self._threads), beliefs, logs, np.zeros(logs.shape, np.int64)
        )  # fmt: skip

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return an action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        if not self._recall:
            return super().act(observations, action_masks)
        observations, action_masks = check_decisions(self.rules, observations, action_masks)
        actions = super().act(self._recall.extend(observations), action_masks)
        self._recall.note(observations, actions)
        return actions


def load_weights(model: str, rules: Rules, judges: bool = False) -> Weights:
    """Return the weights of the network in a model's folder; raises ValueError as `Guided` does.

    One that `judges` has to expect points.
    """
    if not model:
        raise ValueError("guided plays with a trained network: name its folder, as in guided(model='folder')")
    arrays, card = load_model(model)
    check_rules(card, rules, model)
    reward = (card.get("settings") or {}).get("reward", "centred")
    if judges and reward != "centred":
        raise ValueError(f"the network in {model} expects {reward}, not points against the other side (centred)")
    return Weights.of(arrays)
