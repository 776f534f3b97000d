"""The guided agent: belief-weighted PIMC with a trained network as policy of the root, of the belief and of playouts.

1. The network's policy at the root leaves out actions of very low probability; what it prefers is a prior for the rest
   (`begin_guided`).
2. Proposals assign the unseen cards to hands and stock, uniformly. The importance weight of each is the likelihood of
   what the others have played in the current deal, by the network's policy with these hands (`belief`; Rebstock,
   Solinas, Buro and Sturtevant 2019). Systematic resampling (Kitagawa 1996) turns weights into multiplicities.
3. In each world every open move is made, and the network plays on at every seat to the end of the deal (`playouts`);
   under rules beyond the main game's, the tactician does.
4. Means and elimination are those of `search`. Where nothing is hidden, the one world is solved as by `search`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents.base import is_main, name_of
from krypenv.agents.moves.making import carry_out, leads_to
from krypenv.agents.neural.belief import log_likelihood, reconstruct_plays, resample_systematically
from krypenv.agents.neural.inference import Weights, load_weights, score_legal
from krypenv.agents.neural.playouts import MOST_VALUES, make_playout_scratch, path_of, play_out_network, slot_of_hand
from krypenv.agents.scripted import Style, list_legal, tactical_style
from krypenv.agents.search.rollout import final_margin, play_out_other
from krypenv.agents.search.sampler import BATCH, Examined, Examiner, check_memory, make_loop
from krypenv.agents.search.search import RACE, SearchPlan, plan_of, solve_world, take_one_world
from krypenv.agents.search.solver import solve_open_deal
from krypenv.agents.search.worlds import Job, draw_world, set_root
from krypenv.cards import NUM_KINDS
from krypenv.features import history_in
from krypenv.game.moves import Move
from krypenv.inputs.words import shown
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.runtime.jit import for_kernels, kernel
from krypenv.runtime.threads import in_turn
from krypenv.state import mix
from krypenv.worlds.determinize import determinize
from krypenv.worlds.hidden import give

# An action is not tried if its logit is further than this behind the best one: at 1/500 of its probability.
LEAST_LOGIT = -6.2
PRIOR, OTHER_PRIOR = 1.0, 0.2  # points for each unit of a logit, in games like Krypkasino and in others
OTHER_RACE = 2.0  # times the search's race in other games, whose playouts spread more: less is pruned


class GuidedPlan(NamedTuple):
    """How worlds are sampled and played out."""

    prior: float  # points for each unit of a logit
    proposals: int  # worlds sampled for each one played out
    solver: SearchPlan  # for positions in which nothing is hidden
    race: float  # for pruning
    style: Style  # of the tactician
    weights: Weights
    scratch: np.ndarray  # (threads,) of `PLAYOUT_SCRATCH`; in kernels, all three are of one thread
    logs: np.ndarray  # (threads, proposals of a call) float64: the log importance weight of each
    shares: np.ndarray  # the same shape, int64: the multiplicity of each
    plays: np.ndarray  # (B, M, W) int8: the history of each row, M = 0 if it is not known; of no rows if not read


# ---------------------------------------------------------------------- the root


@kernel
def begin_guided(job: Job, plan: GuidedPlan, end: int, workspace: np.record) -> None:
    """Prune actions of very low policy probability, and weight proposals for worlds."""
    decision, tally, caches = workspace.decision, workspace.tally, plan.scratch[0].caches
    plan.scratch[0].belief.count = 0
    if decision.is_open:
        tally.logit_gap[:end] = 0.0
        take_one_world(job, plan, end, workspace)
        return
    if job.first == 0:
        score_moves(job, plan, end, workspace)
        for at in range(end):
            if tally.logit_gap[at] < LEAST_LOGIT:
                tally.totals[at] = -np.inf
        caches.number, caches.seat = caches.number + 1, decision.root.seat
        caches.has_values = end <= MOST_VALUES and does_repeat(job.compiled[0], decision.root)
    if len(plan.plays) > 0:
        weigh_proposals(job, plan, workspace)


@kernel
def score_moves(job: Job, plan: GuidedPlan, end: int, workspace: np.record) -> None:
    """Write the logits of the first `end` moves, less that of the best action, to `tally.logit_gap`.

    The logit of a move is the best one of the actions that lead to it.
    """
    compiled, listing, root, row = job.compiled[0], workspace.listing, workspace.decision.root, workspace.decision.row
    network_scratch, tally = plan.scratch[0].network, workspace.tally
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
def does_repeat(compiled: np.record, game: np.record) -> bool:
    """Check whether the values of moves in a world depend on the hidden hand alone, and not on the stock.

    They do in the main game between two, if the next deal puts no cards on the table and is not the last one: playouts
    solve the last deal, whose hands are the stock.
    """
    number = game.deal_number
    lays = number < compiled.num_deals and compiled.laid[number + 1] > compiled.laid[number]
    return compiled.is_main and compiled.players == 2 and not lays and number + 1 != compiled.num_deals


@kernel
def play_out_moves(job: Job, plan: GuidedPlan, end: int, workspace: np.record) -> None:
    """Write the values of the unpruned moves in a world: the margin of a playout, and the prior of the network.

    The prior is `plan.prior` points for each unit by which the logit of the move is behind the best one. Values are
    cached by hidden hand within a decision. Where nothing is hidden, they are solved; so is the last deal of two after
    a playout, where nothing is hidden from a seat that has counted.
    """
    if workspace.decision.is_open:
        solve_world(job, plan.solver, end, workspace)
        return
    compiled, caches = job.compiled[0], plan.scratch[0].caches
    listing, decision, tally = workspace.listing, workspace.decision, workspace.tally
    ahead, side = decision.ahead, decision.root.seat % compiled.teams
    last_deal, of_two = decision.root.deal_number, compiled.is_main and compiled.players == 2
    slot = slot_of_hand(decision.world, 1 - decision.root.seat, caches) if caches.has_values else 0
    hand = caches.hands[slot]
    if caches.has_values and hand.is_valued:
        for at in range(end):
            tally.values[at] = hand.values[at]
        return
    for at in range(end):
        if tally.totals[at] == -np.inf:
            continue
        decision.ahead = decision.world
        carry_out(compiled, ahead, listing.moves[at], listing.scratch)
        if compiled.is_main:
            play_out_network(compiled, plan.weights, ahead, last_deal, path_of(at, caches), plan.scratch[0])
        else:
            play_out_other(compiled, ahead, last_deal, plan.style, end, workspace)
        if of_two and not ahead.over and ahead.deal_number == compiled.num_deals:
            key = mix(decision.seed + np.uint64(at + 1))
            margin = solve_open_deal(compiled, ahead, side, end, key, workspace)
        else:
            margin = final_margin(compiled, ahead, side)
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
    decision, belief, logs = workspace.decision, plan.scratch[0].belief, plan.logs[0]
    reconstruct_plays(job.compiled[0], job.observations[decision.row], plan.plays[decision.row], belief, workspace)
    if belief.count == 0:
        return
    first, count = job.first * plan.proposals, job.worlds * plan.proposals
    belief.first = first
    decision.next, decision.end = first, first + count
    while draw_world(job, plan, workspace):
        logs[decision.next - 1 - first] = weigh_world(job.compiled[0], plan, decision)
    resample_systematically(logs, count, job.worlds, plan.shares[0])
    decision.next = first


@kernel
def weigh_world(compiled: np.record, plan: GuidedPlan, decision: np.record) -> float:
    """Compute the log likelihood of the other seats' plays with their hands in `decision.world`, with a cache."""
    caches, total = plan.scratch[0].caches, 0.0
    belief, network_scratch = plan.scratch[0].belief, plan.scratch[0].network
    for place in range(1, compiled.players):
        seat = (decision.root.seat + place) % compiled.players
        hand = caches.hands[slot_of_hand(decision.world, seat, caches)]
        if not hand.is_weighed:
            hand.log = log_likelihood(compiled, plan.weights, seat, decision.world, belief, network_scratch)
            hand.is_weighed = True
        total += hand.log
    return total


@kernel
def weigh_hands(
    compiled: np.ndarray, plan: GuidedPlan, seen: np.ndarray, hands: np.ndarray, workspaces: np.ndarray, out: np.ndarray
) -> None:
    """Write the log likelihood of the other seats' plays with each of their hands, (W, P - 1, 52) int8, to (W,)."""
    workspace, players = workspaces[0], compiled[0].players
    decision = workspace.decision
    set_root(compiled[0], seen, workspace)
    plan.scratch[0].caches.number += 1
    reconstruct_plays(compiled[0], seen, plan.plays[0], plan.scratch[0].belief, workspace)
    for at in range(len(out)):
        decision.world = decision.root
        for place in range(1, players):
            seat = (decision.root.seat + place) % players
            for kind in range(NUM_KINDS):
                give(decision.world, seat, kind, np.int64(hands[at, place - 1, kind]))
        out[at] = weigh_world(compiled[0], plan, decision)


@kernel
def draw_proposal(job: Job, plan: GuidedPlan, workspace: np.record) -> int:
    """Deal the next resampled world anew into `decision.world`; return its multiplicity, 0 after the last world."""
    decision, belief, shares = workspace.decision, plan.scratch[0].belief, plan.shares[0]
    share = 1
    if belief.count > 0:
        while decision.next < decision.end and shares[decision.next - belief.first] == 0:
            decision.next += 1
        if decision.next < decision.end:
            share = shares[decision.next - belief.first]
    return share * draw_world(job, plan, workspace)


# ---------------------------------------------------------------------- the agent


class Guided(Examiner):
    """Plays the best move by its mean margin over sampled worlds, guided by a trained network.

    Worlds are played out to the end of the deal, with the network at every seat in games like Krypkasino. In other
    games that takes about ten times as long as with the tactician, which takes its place.
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

    Raises ValueError without a model, and `ModelError`, a ValueError too, for one that can't be loaded or plays other
    rules.
    """

    _loop = make_loop(begin_guided, draw_proposal, play_out_moves)
    _whole = True

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        model: str = "",
        worlds: int = 100,
        prior: float | None = None,
        proposals: int = 1,
        ms: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.name = name_of("guided", type(self), locals())
        if not model:
            raise ValueError("guided plays with a trained network: name its folder, as in guided(model='folder')")
        self.models, weights = [model], load_weights(model, rules)[0]
        self.believes = self.needs_history = proposals > 1 and not rules.building
        proposals = proposals if self.believes else 1
        at_once = min(worlds, BATCH) if ms else worlds
        check_memory(at_once * proposals, threads)
        super().__init__(rules, seed, worlds, ms, threads)
        logs = np.zeros((self._threads, at_once * proposals if self.believes else 0))
        solver = plan_of(rules, "max_n", 0)
        usual_prior, race = (PRIOR, RACE) if is_main(rules) else (OTHER_PRIOR, OTHER_RACE * solver.race)
        self._plan = GuidedPlan(
            usual_prior if prior is None else float(prior), proposals, solver, race, tactical_style(rules), weights,
            make_playout_scratch(self._threads), logs, np.zeros(logs.shape, np.int64), np.empty((0, 0, 0), np.int8),
        )  # fmt: skip

    def _plan_of(self, job: Job) -> GuidedPlan:
        return self._plan._replace(plays=self._plays(job.observations)) if self.believes else self._plan

    def _plan_part(self, plan: GuidedPlan, part: int) -> GuidedPlan:
        return plan._replace(**{name: getattr(plan, name)[part : part + 1] for name in ("scratch", "logs", "shares")})

    def _plays(self, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        return for_kernels(history_in(self.rules, observations))

    @in_turn
    def log_weights(self, observation: np.ndarray, hands: np.ndarray) -> npt.NDArray[np.float64]:
        """Compute the log importance weight of each combination of hidden hands, (W,) float64, up to a constant.

        `observation` is (N,) int8, of the seat to act before its `act` is called, and `hands` (W, P - 1, 52) int8, the
        cards of the other seats by place, from the next one on. Raises ValueError unless these are as many of the
        unseen cards as the seats hold.

        A weight is the likelihood of a combination in the agent's belief, relative to uniform deals: it weights worlds
        that `krypenv.determinize` samples. The probability of a combination is its share of all weighted deals.
        """
        seen, hands = for_kernels(np.asarray(observation)[None]), for_kernels(np.asarray(hands))
        determinize(seen, 0, self.rules)  # raises ValueError for an impossible observation
        shape = self.rules.players - 1, NUM_KINDS
        if hands.dtype != np.int8 or hands.shape[1:] != shape:
            raise ValueError(f"hidden hands are int8 of shape (W, {shape[0]}, {shape[1]}), not {shown(hands.shape)}")
        sizes = seen[0, LAYOUT["hand_size"]][1 : self.rules.players]
        unseen = self.rules.deck_counts - seen[0, LAYOUT["seen"]]
        if (hands < 0).any() or (hands.sum(axis=1) > unseen).any() or (hands.sum(axis=2) != sizes).any():
            raise ValueError("hidden hands are as many of the unseen cards as the other seats hold, and these are not")
        logs = np.zeros(len(hands))
        if self.believes:
            plan = self._plan._replace(plays=self._plays(seen))
            weigh_hands(self._compiled, plan, seen[0], hands, self._workspaces, logs)
        return logs

    def _examine(self, job: Job, plan: GuidedPlan, also: Move | None) -> Examined:
        examined = super()._examine(job, plan, also)
        leanings = plan.prior * self._workspaces["tally"]["logit_gap"][0, : len(examined.moves)]
        return examined._replace(margins=examined.margins - leanings, leanings=leanings)
