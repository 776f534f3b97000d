"""The guided agent: flat Monte-Carlo over worlds, with a trained network at every seat."""

from __future__ import annotations

import numba
import numpy as np

from krypenv.agents.inference import REWARD_SCALE, Weights, judge_position, make_work, score_legal
from krypenv.agents.rollout import final_margin
from krypenv.agents.sampler import Sampler, name_of
from krypenv.agents.sampling import NO_ACTION, look_around, sample_world, world_seed
from krypenv.agents.scripted import list_bits, list_legal
from krypenv.agents.search import best_of, drop_moves, has_choice, plan_of, search_rows
from krypenv.agents.tree import margin_of
from krypenv.cards import NUM_ACTIONS
from krypenv.jit import kernel, parallel_kernel
from krypenv.observation import write_observation
from krypenv.play import act
from krypenv.rules import Rules

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
    method: int,
    plies: int,
    few_lines: int,
    part: int,
    parts: int,
    weights: Weights,
    works: np.ndarray,
    space: np.ndarray,
    means: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the action of the best value of every `parts`-th row into `out`, (B,) int64.

    `means`, (B, 105) float64 or empty, gets the value of each action: its mean margin, and `prior` for each unit of its
    logit; minus infinity for those that were not tried, were dropped or are illegal.
    """
    rules, work, room = tables[0], works[part], space[part]
    totals = room.totals
    for row in range(part, len(out), parts):
        if not has_choice(action_masks[row]):
            out[row] = np.argmax(action_masks[row])
            continue
        if look_around(rules, observations[row], room):
            if first == 0:
                search_rows(
                    tables, model, observations[row : row + 1], action_masks[row : row + 1], seeds[row : row + 1], 0, 1,
                    method, plies, few_lines, 0, 1, space[part : part + 1], means[row : row + 1], out[row : row + 1],
                )  # fmt: skip
            continue
        if first == 0:
            look_first(rules, weights, observations[row], action_masks[row], work, room.scratch, totals)
        side = room.root.seat % rules.teams
        last_deal = room.root.deal_number + deals - 1
        agrees = True
        for world in range(first, first + worlds):
            if count_open(totals) == 1:
                break
            agrees = sample_world(rules, observations[row], world_seed(seeds[row], world), True, room)
            if not agrees:
                break
            for action in range(NUM_ACTIONS):
                if totals[action] > -np.inf:
                    room.ahead = room.stack[0]
                    act(rules, room.ahead, action, room.scratch)
                    play_on(rules, weights, room.ahead, last_deal, work, room.scratch)
                    margin = worth(rules, model[0], weights, value_unit, room.ahead, side, work, room.scratch)
                    totals[action] += margin + prior * work.behind[action]
            work.worlds = world + 1
            drop_moves(totals, NUM_ACTIONS, work.worlds)
        out[row] = best_of(totals, NUM_ACTIONS) if agrees else NO_ACTION
        if len(means) > 0:
            for action in range(NUM_ACTIONS):
                means[row, action] = totals[action] / max(work.worlds, 1)


@parallel_kernel
def guide_in_parts(
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
    method: int,
    plies: int,
    few_lines: int,
    weights: Weights,
    works: np.ndarray,
    space: np.ndarray,
    means: np.ndarray,
    out: np.ndarray,
) -> None:
    """Do what `guide_rows` does, with a thread for each work space."""
    parts = len(space)
    for part in numba.prange(parts):
        guide_rows(
            tables, model, observations, action_masks, seeds, first, worlds, deals, prior, value_unit, method, plies,
            few_lines, part, parts, weights, works, space, means, out,
        )  # fmt: skip


class Guided(Sampler):
    """Plays the action with the best mean margin over worlds that a trained network plays on at every seat.

    The network also has a say at the root: an action's value is its mean margin and `prior` for each unit of its logit,
    and actions that the network thinks nothing of are not tried. An action that is clearly behind after some worlds is
    tried in no more. Where a seat of two has counted what the other holds, the rest is solved as by `Search`.

    Args:
        model: the folder of a trained network; there is no default.
        worlds, ms, threads: as in `Sampler`; each action is tried once in each world.
        prior: points for each unit of a logit.
        deals: deals that are played out, the one that is being played included; after them comes an expected value.
        value: what is expected after that: the next deal's first sweep (sweep), nothing (margin), or between two sides
            what the network expects (network).

    Raises ValueError without a model, and `ModelError`, a ValueError too, for one that can't be loaded or plays other
    rules.
    """

    _serial, _parallel = staticmethod(guide_rows), staticmethod(guide_in_parts)

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        model: str = "",
        worlds: int = 100,
        prior: float = 1.0,
        deals: int = 1,
        value: str = "sweep",
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        if deals < 1:
            raise ValueError(f"deals, those played out, is at least 1, not {deals}")
        if not prior >= 0:
            raise ValueError(f"prior, the points for a unit of a logit, is 0 or above, not {prior}")
        self.name = name_of("guided", self, locals())
        judges = value == "network"
        if judges and rules.num_teams != 2:
            raise ValueError(f"the network's value is of use between two sides only, not {rules.num_teams}")
        weights = load_weights(model, rules, judges)
        # The margin to come is twice the centred return between two sides.
        self._plan = (deals, float(prior), 2 / REWARD_SCALE if judges else 0.0, *plan_of(rules, "max_n", 0))
        super().__init__(rules, seed, worlds, "margin" if judges else value, ms, threads)
        self._work = (weights, make_work(self._threads), self._space)


def load_weights(model: str, rules: Rules, judges: bool = False) -> Weights:
    """Return the weights of the network in a model's folder; raises ValueError as `Guided` does.

    One that `judges` has to expect points.
    """
    if not model:
        raise ValueError("guided plays with a trained network: name its folder, as in guided(model='folder')")
    try:
        from krypenv.agents.model_file import check_rules, load_model
    except ImportError:
        raise ValueError('learned agents need more than the bare package: pip install "krypenv[train]"') from None
    network, card = load_model(model)
    check_rules(card, rules, model)
    reward = card.get("settings", {}).get("reward", "centred")
    if judges and reward != "centred":
        raise ValueError(f"the network in {model} expects {reward}, not points against the other side (centred)")
    return Weights.of(network)
