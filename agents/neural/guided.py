"""The guided agent: belief-weighted PIMC with a trained network as policy of the root, of the belief and of playouts.

1. The network's policy at the root leaves out actions of very low probability; what it prefers is a prior for the rest
   (`begin_guided`).
2. Proposals assign the unseen cards to hands and stock, uniformly. The importance weight of each is the likelihood of
   what the others have played in the current deal, by the network's policy with these hands (`belief`; Rebstock,
   Solinas, Buro and Sturtevant 2019). Systematic resampling (Kitagawa 1996) turns weights into multiplicities.
3. In each world every open move is made, and the network plays on at every seat to the end of the deal (`playouts`);
   the tactician does where captures are optional or majorities count.
4. Means and elimination are those of `search`. Where nothing is hidden, the one world is solved as by `search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import check_hands, knows_krypkasino
from krypenv.agents.moves.making import carry_out, leads_to
from krypenv.agents.neural.belief import BELIEF, log_likelihood, reconstruct_plays, resample_systematically
from krypenv.agents.neural.inference import REWARD_SCALE, Weights, load_weights, score_legal
from krypenv.agents.neural.playouts import (
    MOST_VALUES,
    leaf_value,
    make_playout_scratch,
    path_of,
    play_out_network,
    slot_of_hand,
)
from krypenv.agents.scripted import Style, list_legal, tactical_style
from krypenv.agents.search.rollout import play_out
from krypenv.agents.search.sampler import BATCH, Examiner, check_memory, name_of
from krypenv.agents.search.sampling import make_decide_row, make_decide_rows, make_value_worlds
from krypenv.agents.search.search import RACE, SearchPlan, plan_of, solve_world, take_one_world
from krypenv.agents.search.solver import solve_open_deal
from krypenv.agents.search.worlds import Job, next_world, set_root
from krypenv.cards import NUM_KINDS
from krypenv.features import history_in
from krypenv.inputs.words import shown
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, handle, kernel, records
from krypenv.runtime.threads import in_turn
from krypenv.state import mix
from krypenv.worlds.determinize import determinize
from krypenv.worlds.hidden import give

# An action is not tried if its logit is further than this behind the best one: at 1/500 of its probability.
LEAST_LOGIT = -6.2
PLAYOUTS = ("auto", "network", "tactician")
PRIOR, OTHER_PRIOR = 1.0, 0.2  # points for each unit of a logit, in games like Krypkasino and in others
PLAYOUT_RACE = 2.0  # margins at the end of a playout spread more than searched ones, so fewer actions are pruned


class GuidedPlan(NamedTuple):
    """How worlds are sampled and played out."""

    deals: int  # to play out, including the current one
    prior: float  # points for each unit of a logit
    value_unit: float  # margin for a unit of the network's state value, 0 to ignore it
    proposals: int  # worlds sampled for each one played out
    solver: SearchPlan  # for positions in which nothing is hidden
    race: float  # for pruning
    plays_network: bool  # whether the network plays worlds out, or the tactician
    style: Style  # of the tactician
    weights: Weights
    playouts: np.ndarray  # (threads,) of `PLAYOUT_SCRATCH`; in kernels, all four are of one thread
    beliefs: np.ndarray  # (threads,) of `BELIEF`
    logs: np.ndarray  # (threads, proposals of all worlds) float64: the log importance weight of each
    shares: np.ndarray  # the same shape, int64: the multiplicity of each
    plays: np.ndarray  # (B, M, W) int8: the history of each row, M = 0 if it is not known; of no rows if not read


# ---------------------------------------------------------------------- the root


@kernel
def begin_guided(job: Job, plan: GuidedPlan, end: int, workspace: np.record) -> None:
    """Prune actions of very low policy probability, and weight proposals for worlds."""
    worlds, tally, caches = workspace.worlds, workspace.tally, plan.playouts[0].caches
    plan.beliefs[0].count = 0
    if worlds.is_open:
        tally.logit_gap[:end] = 0.0
        take_one_world(job, plan, end, workspace)
        return
    if job.first == 0:
        score_moves(job, plan, end, workspace)
        for at in range(end):
            if tally.logit_gap[at] < LEAST_LOGIT:
                tally.totals[at] = -np.inf
    caches.decision, caches.seat = caches.decision + 1, worlds.root.seat
    caches.has_values = plan.plays_network and end <= MOST_VALUES and does_repeat(job.compiled[0], plan, worlds.root)
    if len(plan.plays) > 0:
        weigh_proposals(job, plan, workspace)


@kernel
def score_moves(job: Job, plan: GuidedPlan, end: int, workspace: np.record) -> None:
    """Write the logits of the first `end` moves, less that of the best action, to `tally.logit_gap`.

    The logit of a move is the best one of the actions that lead to it.
    """
    compiled, listing, root, row = job.compiled[0], workspace.listing, workspace.worlds.root, workspace.worlds.row
    network_scratch, tally = plan.playouts[0].network, workspace.tally
    count = list_legal(job.masks[row], network_scratch.legal)
    best = score_legal(compiled, plan.weights, job.observations[row], count, network_scratch)
    for at in range(end):
        logit = -np.inf
        for place in range(count):
            if leads_to(compiled, root, network_scratch.legal[place], listing.moves[at]):
                logit = max(logit, np.float64(network_scratch.logits[place]))
        tally.logit_gap[at] = logit - np.float64(network_scratch.logits[best])


# ---------------------------------------------------------------------- values of moves in a world


@kernel
def does_repeat(compiled: np.record, plan: GuidedPlan, game: np.record) -> bool:
    """Check whether the values of moves in a world depend on the hidden hand alone, and not on the stock.

    They do with two players, if playouts end with this deal, and the next one puts no cards on the table and is not the
    last one, which playouts solve.
    """
    number = game.deal_number
    lays = number < compiled.num_deals and compiled.laid[number + 1] > compiled.laid[number]
    solves = compiled.is_main and number + 1 == compiled.num_deals
    return compiled.players == 2 and plan.deals == 1 and plan.value_unit == 0.0 and not lays and not solves


@kernel
def solves_last(compiled: np.record, game: np.record) -> bool:
    """Check whether a playout that ends in a position gets the value of the last deal, solved with open hands.

    Between two players nothing is hidden there from a seat that has counted.
    """
    return compiled.is_main and compiled.players == 2 and not game.over and game.deal_number == compiled.num_deals


@kernel
def play_out_moves(job: Job, plan: GuidedPlan, end: int, workspace: np.record) -> None:
    """Write the values of the open moves in a world: the margin of a playout, and the prior of the network.

    The prior is `plan.prior` points for each unit by which the logit of the move is behind the best one. Values are
    cached by hidden hand within a decision. Where nothing is hidden, they are solved.
    """
    if workspace.worlds.is_open:
        solve_world(job, plan.solver, end, workspace)
        return
    compiled, network_scratch, caches = job.compiled[0], plan.playouts[0].network, plan.playouts[0].caches
    listing, worlds, tally = workspace.listing, workspace.worlds, workspace.tally
    ahead, side = worlds.ahead, worlds.root.seat % compiled.teams
    last_deal = worlds.root.deal_number + plan.deals - 1
    slot = slot_of_hand(worlds.game, 1 - worlds.root.seat, caches) if caches.has_values else 0
    hand = caches.hands[slot]
    if caches.has_values and hand.is_valued:
        for at in range(end):
            tally.values[at] = hand.values[at]
        return
    for at in range(end):
        if tally.totals[at] == -np.inf:
            continue
        worlds.ahead = worlds.game
        carry_out(compiled, ahead, listing.moves[at], listing.scratch)
        if plan.plays_network:
            play_out_network(compiled, plan.weights, ahead, last_deal, path_of(at, caches), plan.playouts[0])
        else:
            play_out(compiled, ahead, last_deal, plan.style, end, workspace)
        if solves_last(compiled, ahead):
            key = mix(worlds.seed + np.uint64(at + 1))
            margin = solve_open_deal(compiled, ahead, side, end, key, workspace)
        else:
            margin = leaf_value(
                compiled, workspace.leaf_model, plan.weights, plan.value_unit, ahead, side, network_scratch
            )
        tally.values[at] = margin + plan.prior * tally.logit_gap[at]
    if caches.has_values:
        hand.is_valued = True
        for at in range(end):
            hand.values[at] = tally.values[at]


# ---------------------------------------------------------------------- proposals and their weights


@kernel
def weigh_proposals(job: Job, plan: GuidedPlan, workspace: np.record) -> None:
    """Write the multiplicity of each proposal to `.shares`, if any play of another seat in this deal is known.

    Otherwise there are no proposals, and each world counts once.
    """
    worlds, belief, logs = workspace.worlds, plan.beliefs[0], plan.logs[0]
    reconstruct_plays(job.compiled[0], job.observations[worlds.row], plan.plays[worlds.row], belief, workspace)
    if belief.count == 0:
        return
    first, count = job.first * plan.proposals, job.worlds * plan.proposals
    belief.first = first
    worlds.world, worlds.end = first, first + count
    while next_world(job, True, workspace):
        logs[worlds.world - 1 - first] = weigh_world(job.compiled[0], plan, worlds)
    resample_systematically(logs, count, job.worlds, plan.shares[0])
    worlds.world = first


@kernel
def weigh_world(compiled: np.record, plan: GuidedPlan, worlds: np.record) -> float:
    """Compute the log likelihood of the other seats' plays with their hands in `worlds.game`; each hand is cached."""
    caches, total = plan.playouts[0].caches, 0.0
    belief, network_scratch = plan.beliefs[0], plan.playouts[0].network
    for place in range(1, compiled.players):
        seat = (worlds.root.seat + place) % compiled.players
        hand = caches.hands[slot_of_hand(worlds.game, seat, caches)]
        if not hand.is_weighed:
            hand.log = log_likelihood(compiled, plan.weights, seat, worlds.game, belief, network_scratch)
            hand.is_weighed = True
        total += hand.log
    return total


@kernel
def weigh_hands(
    compiled: np.ndarray, plan: GuidedPlan, seen: np.ndarray, hands: np.ndarray, workspaces: np.ndarray, out: np.ndarray
) -> None:
    """Write the log likelihood of the other seats' plays with each of their hands, (W, P - 1, 52) int8, to (W,)."""
    workspace, players = workspaces[0], compiled[0].players
    worlds = workspace.worlds
    set_root(compiled[0], seen, workspace)
    plan.playouts[0].caches.decision += 1
    reconstruct_plays(compiled[0], seen, plan.plays[0], plan.beliefs[0], workspace)
    for at in range(len(out)):
        worlds.game = worlds.root
        for place in range(1, players):
            seat = (worlds.root.seat + place) % players
            for kind in range(NUM_KINDS):
                give(worlds.game, seat, kind, np.int64(hands[at, place - 1, kind]))
        out[at] = weigh_world(compiled[0], plan, worlds)


@kernel
def draw_proposal(job: Job, plan: GuidedPlan, workspace: np.record) -> int:
    """Deal the next resampled world anew into `worlds.game`; return its multiplicity, 0 after the last world."""
    worlds, belief, shares = workspace.worlds, plan.beliefs[0], plan.shares[0]
    share = 1
    if belief.count > 0:
        while worlds.world < worlds.end and shares[worlds.world - belief.first] == 0:
            worlds.world += 1
        if worlds.world < worlds.end:
            share = shares[worlds.world - belief.first]
    return share if next_world(job, True, workspace) else 0


guide_rows = make_decide_rows(make_decide_row(play_out_moves, draw_proposal, begin_guided))
guide_worlds = make_value_worlds(play_out_moves, draw_proposal, begin_guided)


# ---------------------------------------------------------------------- the agent


class Guided(Examiner):
    """Plays the best move by its mean margin over sampled worlds, guided by a trained network.

    Worlds are played out with the network at every seat in games like Krypkasino. Where captures are optional or
    majorities count, that takes about ten times as long as with the tactician, which takes its place.
    The network also counts at the root: `prior` times an action's logit is added to its mean margin, and actions of
    very low probability are not tried. An action that is clearly behind after some worlds is pruned. In the last deal
    of a two-player game, where a seat that has counted knows the other hand, the rest is solved as by `Search`. In the
    deal before it, in games like Krypkasino, each playout is worth what the last deal is, solved with open hands.

    `action_values` includes the prior: each value is the mean margin less `prior` points for each unit by which the
    action's logit is behind the best one. It is minus infinity for actions that were not tried, were pruned or are
    illegal, and 0 for the only action to try. In a solved position it is the plain margin. `examine` has plain margins,
    with the prior as `leanings`, and ignores the belief: all worlds have equal weight, whatever `proposals` is.

    Args:
        model: the folder of a trained network; there is no default.
        worlds, ms, threads: as in `Sampler`; each move is tried once in each world.
        prior: points for each unit of a logit; None for 1 in games like Krypkasino and 0.2 in others, where points are
            fewer and networks surer.
        proposals: worlds sampled for each one played out. With more than 1, and observations with the history block
            (`needs_history`), worlds are weighted by the likelihood of the other seats' plays in this deal, under the
            network's policy with their hands in that world, and drawn by systematic resampling. Where cards are built,
            and without the history, all weights are equal.
        deals: deals to play out, including the current one; after them comes a leaf value.
        value: the leaf value: the next deal's first sweep (sweep), nothing (margin), or between two sides the network's
            state value (network).
        playouts: who plays the worlds out: network, tactician, or auto for the network in games like Krypkasino and the
            tactician in others.

    Raises ValueError without a model, and `ModelError`, a ValueError too, for one that can't be loaded or plays other
    rules.
    """

    _decide = staticmethod(guide_rows)
    _value = staticmethod(guide_worlds)

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        model: str = "",
        worlds: int = 100,
        prior: float | None = None,
        proposals: int = 1,
        deals: int = 1,
        value: str = "sweep",
        playouts: str = "auto",
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.name = name_of("guided", type(self), locals())
        if playouts not in PLAYOUTS:
            raise ValueError(f"playouts is {', '.join(PLAYOUTS[:-1])} or {PLAYOUTS[-1]}, not {shown(playouts)}")
        uses_value = value == "network"
        if uses_value and rules.num_teams != 2:
            raise ValueError(f"the network's value is of use between two sides only, not {rules.num_teams}")
        if not model:
            raise ValueError("guided plays with a trained network: name its folder, as in guided(model='folder')")
        self.models, (weights, card) = [model], load_weights(model, rules)
        reward = (card.get("settings") or {}).get("reward", "centred")
        if uses_value and reward != "centred":
            raise ValueError(f"the network in {model} expects {reward}, not points against the other side (centred)")
        # The margin to come is twice the centred return between two sides.
        value_unit = 2 / REWARD_SCALE if uses_value else 0.0
        self.believes = self.needs_history = proposals > 1 and not rules.building
        proposals = proposals if self.believes else 1
        at_once = min(worlds, BATCH) if ms else worlds
        check_memory(at_once * proposals, threads)
        super().__init__(rules, seed, worlds, "margin" if uses_value else value, ms, threads)
        logs = np.zeros((self._threads, at_once * proposals if self.believes else 0))
        is_known, solver = knows_krypkasino(rules), plan_of(rules, "max_n", 0)
        if prior is None:
            prior = PRIOR if is_known else OTHER_PRIOR
        plays_network = playouts == "network" or (playouts == "auto" and is_known)
        race = RACE if is_known else PLAYOUT_RACE * solver.race
        self._plan = GuidedPlan(
            deals, float(prior), value_unit, proposals, solver, race, plays_network, tactical_style(rules), weights,
            make_playout_scratch(self._threads), handle(records(BELIEF, self._threads)), logs,
            np.zeros(logs.shape, np.int64), np.empty((0, 0, 0), np.int8),
        )  # fmt: skip

    def _plan_of(self, job: Job) -> GuidedPlan:
        return self._plan._replace(plays=self._plays(job.observations)) if self.believes else self._plan

    def _plan_part(self, plan: GuidedPlan, part: int) -> GuidedPlan:
        return plan._replace(
            **{name: getattr(plan, name)[part : part + 1] for name in ("playouts", "beliefs", "logs", "shares")}
        )

    def _plays(self, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        return for_kernels(history_in(self.rules, observations))

    @in_turn
    def log_weights(self, observation: np.ndarray, hands: np.ndarray) -> npt.NDArray[np.float64]:
        """Compute the log importance weight of each combination of hands, (W,); see `krypenv.agents.base.Believer`."""
        seen = for_kernels(np.asarray(observation)[None])
        determinize(seen, 0, self.rules)  # raises ValueError for an impossible observation
        hands = for_kernels(check_hands(self.rules, seen[0], hands))
        logs = np.zeros(len(hands))
        if self.believes:
            plan = self._plan._replace(plays=self._plays(seen))
            weigh_hands(self._compiled, plan, seen[0], hands, self._workspaces, logs)
        return logs

    def _value_worlds(self, job: Job, margins: npt.NDArray[np.float64], leanings: npt.NDArray[np.float64]) -> bool:
        agrees = super()._value_worlds(job, margins, leanings)
        leanings[:] = self._plan.prior * self._workspaces["tally"]["logit_gap"][0, : len(leanings)]
        margins -= leanings
        return agrees
