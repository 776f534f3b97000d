"""What a strategy does in one information set, and why: the probabilities and margins of its moves, and its beliefs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from krypenv.agents.solved import deciding
from krypenv.cards import card_names
from krypenv.game.game import Game
from krypenv.observation import HISTORY_COLUMNS, history_shape
from krypenv.rules import Rules
from krypenv.training.solving.deal_tree import Forest
from krypenv.training.solving.equilibrium import Work, evaluate_deals
from krypenv.training.solving.growing import FloatArray, IntArray
from krypenv.training.solving.solving import Solved, run_kernel


class MoveChoice(NamedTuple):
    """A whole move in the strategy."""

    move: str
    probability: float
    margin: float  # expected for the seat from the beginning of this deal, if both play the strategy after the move


class Belief(NamedTuple):
    """A hand that the other seat may hold, with its probability given that the strategy is known."""

    hand: tuple[str, ...]
    probability: float


class Look(NamedTuple):
    """What a strategy does at a position."""

    seat: int  # to act
    moves: list[MoveChoice]  # the most probable first; where only one move is legal, that one, with margin nan
    beliefs: list[Belief]  # the most probable first; empty where only one move is legal
    histories: int  # sequences of plays in this deal that lead to the position; the likeliest is shown
    comes_here: bool  # whether the seat's own strategy can lead here
    is_explained: bool  # whether the other seat's strategy can; if not, all consistent deals are equally likely

    @property
    def margin(self) -> float:
        """The margin that the seat can expect from the beginning of this deal."""
        return sum(move.probability * move.margin for move in self.moves)


def check_position(rules: Rules, game: Game) -> None:
    """Raise ValueError for a game that is over, or whose rules are not those of the strategy."""
    if game.rules != rules:
        raise ValueError(f"the position is one of '{game.rules}', and the strategy is for '{rules}'")
    if game.is_over:
        raise ValueError("the game is over, so there is nothing to decide; give a position before its end")


def look(solved: Solved, game: Game, knows_plays: bool = True) -> Look:
    """Explain a strategy's decision in a game's position; the trees must have been grown with observations (`sees`).

    Args:
        solved: the strategy, with the values of its deals.
        game: the game; only what the seat to act sees of it is used.
        knows_plays: whether the game holds all plays of the deal. If not, the likeliest plays that lead to its
            position are assumed.

    Raises ValueError for a game that is over, has other rules, or can't be in the trees.
    """
    rules = solved.trees.rules
    check_position(rules, game)
    assert game.turn is not None
    game = game.copy()
    seat, number = game.turn, game.deal_number - solved.trees.first_deal
    while len(game.legal_actions()) == 1:
        game.act(game.legal_actions()[0])
        if game.pending is None:
            return Look(seat, [MoveChoice(str(game.last_move), 1.0, np.nan)], [], 1, True, True)
    forest, solution = solved.trees.forests[number], solved.solutions[number]
    infosets = infosets_of(rules, forest, game.observation(history=knows_plays), knows_plays)
    later = solved.solutions[number + 1 :]
    to_come = later[0].values if later else solved.trees.ending
    work = run_kernel(evaluate_deals, forest, 1, to_come, seat, solution)
    nodes = max(
        (np.flatnonzero(forest.infoset == infoset) for infoset in infosets),
        key=lambda nodes: (work.reach[:, nodes].prod(axis=0).sum(), work.reach[1, nodes].sum()),
    )
    own, reach = work.reach[:, nodes]
    pairs = np.flatnonzero(forest.first >= 0)  # the nodes of a pair of hands lie one after another
    hands = pairs[np.searchsorted(forest.first[pairs], nodes, "right") - 1]
    is_explained = bool(reach.sum() > 0)
    weights = reach if is_explained else forest.chance[hands]
    weights = weights / weights.sum()
    by_name: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for move, *figures in _list_moves(game, forest, solution.policy, work, nodes, weights):
        by_name[move].append((figures[0], figures[1]))
    moves = []
    for move, entries in by_name.items():
        chances, values = np.array(entries).T
        margin = float(np.average(values, weights=chances if chances.any() else None))
        moves.append(MoveChoice(move, float(chances.sum()), margin if seat == 0 else -margin))
    moves.sort(key=lambda move: (-move.probability, -move.margin))
    infoset = forest.infoset[nodes[0]]
    root = solved.trees.roots[number][np.searchsorted(forest.starts["infosets"], infoset, "right") - 1]
    plays = forest.seen[infoset, rules.observation_size :].reshape(history_shape(rules))
    beliefs = _list_beliefs(rules, root, plays, forest.dealt[hands, 1 - seat], weights)
    return Look(seat, moves, beliefs, len(infosets), bool(own.any()), is_explained)


def infosets_of(rules: Rules, forest: Forest, observation: np.ndarray, knows_plays: bool) -> IntArray:
    """Find the information sets that match an observation, (N,) int8, which holds the history block if it is known."""
    size = rules.observation_size
    row = np.zeros(forest.seen.shape[1], np.int8)
    row[: len(observation)] = observation
    decides = deciding(rules)
    if not knows_plays:
        decides[size:] = False
    infosets = np.arange(len(forest.seen))
    for block in (*rules.layout.values(), slice(size, len(row))):
        columns = np.flatnonzero(decides[block]) + block.start
        infosets = infosets[(forest.seen[np.ix_(infosets, columns)] == row[columns]).all(axis=1)]
    if not len(infosets):
        raise ValueError(f"no game of '{rules}' comes to this position; check its table, its piles and its deal")
    return infosets


def _list_moves(
    game: Game,
    forest: Forest,
    policy: FloatArray,
    work: Work,
    nodes: IntArray,
    weights: FloatArray,
    chance: float = 1.0,
) -> Iterator[tuple[str, float, float]]:
    """Yield the moves in the nodes of one information set: the name, the probability, and the value for seat 0.

    A capture comes once for each order in which its cards can be named.
    """
    infoset = forest.infoset[nodes[0]]
    for place, choice in enumerate(range(forest.choice[infoset], forest.choice[infoset + 1])):
        after = game.copy()
        after.act(int(forest.actions[choice]))
        while after.pending is not None and len(after.legal_actions()) == 1:
            after.act(after.legal_actions()[0])
        children, probability = forest.children[forest.edge[nodes] + place], chance * float(policy[choice])
        if after.pending is None:
            values = [work.value[child] if child >= 0 else work.leaf[-1 - child] for child in children]
            yield str(after.last_move), probability, float(weights @ values)
        else:
            yield from _list_moves(after, forest, policy, work, children, weights, probability)


def _list_beliefs(
    rules: Rules, root: np.record, plays: np.ndarray, dealt: IntArray, weights: FloatArray
) -> list[Belief]:
    """Compute the probabilities of the other seat's hands now, from those of its hands before the plays of the deal."""
    kinds = np.flatnonzero(rules.deck_counts.astype(int) - root.seen > 0)
    theirs = plays[:, HISTORY_COLUMNS["who"]][:, 1] == 1
    played = plays[theirs][:, HISTORY_COLUMNS["card"]].sum(axis=0)[kinds]
    sums: defaultdict[tuple[str, ...], float] = defaultdict(float)
    counts = np.zeros(len(rules.deck_counts), np.int64)
    for hand, weight in zip(dealt, weights, strict=True):
        counts[kinds] = (int(hand) >> 2 * np.arange(len(kinds)) & 3) - played
        sums[tuple(card_names(counts))] += float(weight)
    return sorted((Belief(*entry) for entry in sums.items()), key=lambda belief: -belief.probability)
