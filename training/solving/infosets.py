"""What a strategy does in one information set, and why: the probabilities and margins of its moves, and its beliefs."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from krypenv.agents.solved import deciding
from krypenv.cards import card_names
from krypenv.game.game import Game
from krypenv.observation import HISTORY_COLUMNS, history_shape
from krypenv.rules import Rules
from krypenv.training.solving.deal_tree import INFOSETS, Forest
from krypenv.training.solving.equilibrium import Work, evaluate_nodes
from krypenv.training.solving.growing import IntArray
from krypenv.training.solving.solving import Solved, work_for


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
    work = work_for(forest)
    views = [_View(forest, solution.policy, to_come, int(infoset), work) for infoset in infosets]
    view = max(views, key=lambda candidate: (candidate.likelihood, candidate.reach.sum()))
    by_name: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)  # to name a move's cards
    for move, *figures in view.moves(game, view.nodes, 1.0):
        by_name[move].append((figures[0], figures[1]))
    moves = []
    for move, entries in by_name.items():
        chances, margins = np.array(entries).T
        weights = chances if chances.any() else None
        moves.append(MoveChoice(move, float(chances.sum()), float(np.average(margins, weights=weights))))
    return Look(
        seat,
        sorted(moves, key=lambda move: (-move.probability, -move.margin)),
        view.beliefs(rules, solved.trees.roots[number][view.deal]),
        len(infosets), view.own > 0, view.is_explained,
    )  # fmt: skip


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


class _View:
    """An information set, and the histories that may have led to it."""

    def __init__(self, forest: Forest, policy: np.ndarray, to_come: np.ndarray, infoset: int, work: Work) -> None:
        self.forest, self.policy, self.infoset, self.work = forest, policy, infoset, work
        self.seat = int(forest.seat[infoset])
        self.sign = 1.0 if self.seat == 0 else -1.0
        self.deal = int(np.searchsorted(forest.starts[:, INFOSETS], infoset, "right")) - 1
        evaluate_nodes(forest, self.deal, to_come, policy, self.seat, work)
        self.nodes = np.flatnonzero(forest.infoset == infoset)
        own, self.reach = work.reach[:, self.nodes]
        self.own = float(own.max())
        self.likelihood = float((own * self.reach).sum())
        self.is_explained = bool(self.reach.sum() > 0)
        pairs = np.flatnonzero(forest.first >= 0)  # the nodes of a pair of hands lie one after another
        self.hands = pairs[np.searchsorted(forest.first[pairs], self.nodes, "right") - 1]
        if not self.is_explained:
            self.reach = forest.chance[self.hands]
        self.weight = np.zeros(len(forest.infoset))
        self.weight[self.nodes] = self.reach / self.reach.sum()

    def moves(self, game: Game, nodes: IntArray, probability: float) -> list[tuple[str, float, float]]:
        """List the moves in nodes of one information set; each order of naming captured cards is an entry."""
        forest, work, moves = self.forest, self.work, []
        infoset = forest.infoset[nodes[0]]
        weights = self.weight[nodes]
        for place, choice in enumerate(range(forest.choice[infoset], forest.choice[infoset + 1])):
            after = game.copy()
            after.act(int(forest.actions[choice]))
            while after.pending is not None and len(after.legal_actions()) == 1:
                after.act(after.legal_actions()[0])
            children, chance = forest.children[forest.edge[nodes] + place], probability * float(self.policy[choice])
            if after.pending is None:
                values = [work.value[child] if child >= 0 else work.leaf[-1 - child] for child in children]
                moves.append((str(after.last_move), chance, self.sign * float(weights @ values)))
            else:
                self.weight[children] = weights
                moves += self.moves(after, children, chance)
        return moves

    def beliefs(self, rules: Rules, root: np.record) -> list[Belief]:
        """Compute the probabilities of the other seat's hands now."""
        kinds = np.flatnonzero(rules.deck_counts.astype(int) - root.seen > 0)
        plays = self.forest.seen[self.infoset, rules.observation_size :].reshape(history_shape(rules))
        theirs = plays[:, HISTORY_COLUMNS["who"]][:, 1] == 1
        played = plays[theirs][:, HISTORY_COLUMNS["card"]].sum(axis=0)[kinds]
        sums: defaultdict[tuple[str, ...], float] = defaultdict(float)
        counts = np.zeros(len(rules.deck_counts), np.int64)
        for pair, reach in zip(self.hands, self.reach / self.reach.sum(), strict=True):
            counts[kinds] = (int(self.forest.dealt[pair, 1 - self.seat]) >> 2 * np.arange(len(kinds)) & 3) - played
            sums[tuple(card_names(counts))] += float(reach)
        return sorted((Belief(*entry) for entry in sums.items()), key=lambda belief: -belief.probability)
