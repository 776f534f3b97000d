"""What networks are told of an action where captures are maximal, by trying all subsets and hands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import hypergeom

from krypenv import Rules
from krypenv.agents.neural.action_features import COLUMNS, WIDTH
from support.reference import TAKE, Move, Reference, largest_captures, rank

RANKS = range(1, 14)
PICTURES = {11, 12, 13}


class Stacks(NamedTuple):
    """Cards of a rank that lie on the table after a play, and what those of them that have points count."""

    copies: int
    dear: int
    points: int


def values_for(rules: Rules, played: int) -> tuple[dict[int, int], int]:
    """What each rank on the table counts for a card of some rank, and what the card itself does (R2, H2)."""
    values = dict(zip(RANKS, rules.table_values, strict=True))
    if not rules.pictures_in_sums:
        values = {r: v for r, v in values.items() if (r == played if played in PICTURES else r not in PICTURES)}
        if played in PICTURES:
            return {played: 1}, 1
    return values, rules.hand_values[played - 1]


def sweeps(rules: Rules, table: Counter[int], played: int) -> bool:
    """Whether a card of some rank takes a whole table, given as its ranks."""
    values, target = values_for(rules, played)
    ranks = sorted(r for r in table if table[r])
    if not ranks or not set(ranks) <= set(values):
        return False
    captures = largest_captures(tuple((values[r], table[r]) for r in ranks), target)
    return tuple(table[r] for r in ranks) in captures


def group_prices(stacks: list[tuple[int, int, int]], target: int) -> Iterator[int]:
    """The points of every group of cards, from (value, points, copies), that makes a sum."""
    if target == 0:
        yield 0
    if not stacks or target <= 0:
        return
    (value, points, copies), *others = stacks
    for taken in range(min(copies, target // value) + 1):
        left = target - taken * value
        if left == 0:
            yield taken * points
        else:
            yield from (taken * points + more for more in group_prices(others, left))


def price(rules: Rules, left: dict[int, Stacks], played: int) -> int | None:
    """The points of the cheapest group on the table that makes the value of a card; None where there is none."""
    values, target = values_for(rules, played)
    stacks = []
    for r, (copies, dear, points) in left.items():
        if r in values:
            stacks += [(values[r], 0, copies - dear), (values[r], points, dear)]
    return min(group_prices(stacks, target), default=None)


class Play(NamedTuple):
    """One way to go on after an action: which ranks are taken, the cheapest such cards, and what then lies there."""

    count: float
    features: np.ndarray


class Asker:
    """Works out the features of the legal actions of a position of the reference."""

    def __init__(self, reference: Reference, rules: Rules) -> None:
        self.game, self.rules, seat = reference, rules, reference.turn
        self.next = (seat + 1) % rules.players
        self.hand = Counter(map(rank, reference.hands[seat]))
        self.last = sum(map(len, reference.hands)) == (reference.pending is None)  # the play ends the deal
        barred = set() if self.last else reference.cannot_hold(self.next)
        unseen = (rules.deck_counts - np.array(reference.seen_by(seat))).reshape(4, 13).sum(0)
        self.unseen = {r: 0 if r in barred else int(unseen[r - 1]) for r in RANKS}

    def moves(self, action: int) -> list[Move]:
        """All whole plays that an action may lead to."""
        if action < TAKE:
            return [move for move in self.game.legal_moves() if move[0] == action]
        wanted = Counter([*self.game.taken, action - TAKE])
        return [move for move in self.game.legal_moves() if not wanted - Counter(move[1])]

    def gained(self, move: Move) -> int:
        twin, seat = self.game.copy(), self.game.turn
        twin.push(move)
        return twin.points(seat) - self.game.points(seat)

    def left(self, card: int, taken: Counter[int]) -> dict[int, Stacks]:
        """What lies on the table after a play, by rank; of a rank that is taken in part, what has points stays."""
        table = [*self.game.table, *([] if taken else [card])]
        if self.last and not self.game.stock:
            return {}
        left = {}
        for r, number in Counter(map(rank, table)).items():
            kinds = [kind for kind in table if rank(kind) == r]
            stays = number - taken[r]
            if self.last:
                aside = {"pictures": r in PICTURES, "spades": None, "none": False}[self.rules.set_aside]
                spades = sum(kind // 13 == 3 for kind in kinds)
                stays -= min(spades if aside is None else number * aside, stays)
            points = [self.game.card_points(kind) for kind in kinds]
            if stays:
                left[r] = Stacks(stays, min(sum(map(bool, points)), stays), max(points))
        return left

    def drawn(self, move: Move) -> int:
        """The cards that the next seat will hold when it is to act, if it is the next one to act."""
        twin = self.game.copy()
        twin.push(move)
        return 0 if twin.over or (self.last and twin.turn != self.next) else len(twin.hands[self.next])

    def chance(self, ranks: list[int], drawn: int) -> float:
        hits, pool = sum(self.unseen[r] for r in ranks), sum(self.unseen.values())
        return float(hypergeom.sf(0, pool, hits, min(drawn, pool))) if hits else 0.0

    def play(self, action: int, moves: list[Move]) -> Play:
        """The features of an action, if these plays, which take the same ranks, are what it leads to."""
        card, takes, swept = moves[0]
        left = self.left(card, Counter(map(rank, takes)))
        table = Counter({r: stack.copies for r, stack in left.items()})
        own = self.hand - Counter([rank(action)] if action < TAKE else [])
        drawn = self.drawn(moves[0])
        sweepers = [r for r in RANKS if sweeps(self.rules, table, r)]
        prices = {r: price(self.rules, left, r) for r in RANKS}
        takers = [r for r in RANKS if prices[r] is not None]
        risk = dict.fromkeys(RANKS, 0)
        if not self.last:
            for r in set(RANKS) - set(takers):
                if self.unseen[r]:
                    risk[r] = sum(own[o] for o in own if sweeps(self.rules, table + Counter([r]), o))
        points = min(map(self.gained, moves))
        chance = self.chance(sweepers, drawn)
        kind = action % 52
        entries = {
            "creeps": not takes,
            "points": points,
            "sweeps": swept,
            "chance": percent(chance),
            "sweepers": [self.unseen[r] if r in sweepers else 0 for r in RANKS],
            "left": [table[r] for r in RANKS],
            "takers": [self.unseen[r] if r in takers else 0 for r in RANKS],
            "own_takers": [own[r] if r in takers else 0 for r in RANKS],
            "price": [prices[r] or 0 for r in RANKS],
            "risk": [risk[r] for r in RANKS],
            "taker_chance": percent(self.chance(takers, drawn)),
            "risk_chance": percent(self.chance([r for r in RANKS if risk[r]], drawn)),
            "held": self.game.hands[self.game.turn].count(kind),
            "seen": self.game.seen_by(self.game.turn)[kind],
            "least_points": min(map(self.gained, self.moves(action))),
        }
        features = np.zeros(WIDTH, np.int64)
        for name, value in entries.items():
            features[COLUMNS[name]] = value
        return Play(points + self.rules.sweep_points * (swept - chance), features)

    def plays(self, action: int) -> list[Play]:
        """The ways to go on after an action with the best count."""
        groups: dict[tuple[int, ...], list[Move]] = {}
        for move in self.moves(action):
            groups.setdefault(tuple(sorted(map(rank, move[1]))), []).append(move)
        plays = [self.play(action, moves) for moves in groups.values()]
        return [play for play in plays if play.count < min(play.count for play in plays) + 1e-9]


def percent(chance: float) -> int:
    return int(100 * chance + 0.5)


ROUNDED = [COLUMNS[name].start for name in ("chance", "taker_chance", "risk_chance")]


def agree(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether features are those expected; a percentage may be rounded either way."""
    difference = np.abs(found - expected)
    difference[ROUNDED] = np.maximum(difference[ROUNDED] - 1, 0)
    return not difference.any()
