"""Grow the trees of a game's deals: all positions in which a deal can begin, and all plays from there."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations, product
from operator import le
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.cards import card_name
from krypenv.engine import Engine
from krypenv.game.game import Game
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import TABLE, compile_rules
from krypenv.kernels.observing import RECORD
from krypenv.observation import history_shape, history_size
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, records
from krypenv.state import GAME, State
from krypenv.training.solving.deal_tree import COUNTS, FRAME, MOST_DEPTH, Forest, Index, Walk, copy_table, walk_deals
from krypenv.training.solving.pairs import MOST_KINDS, Ranges, make_pairs

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
MOST_HISTORIES = 50_000_000  # of the deals with one number
BYTES = 250  # of memory for a history, about


@dataclass
class Trees:
    """A game as trees, one forest for each deal number."""

    rules: Rules
    chances: FloatArray  # (S,) probabilities of the first positions
    roots: list[State]  # for each deal number, (S,) positions in which its deals begin, without hands
    forests: list[Forest]  # one for each deal number
    first_deal: int = 1  # the number of the first forest's deals
    begins_deal: bool = True  # whether these begin in the first positions; if not, their earlier plays are unknown
    ending: FloatArray = field(default_factory=lambda: np.zeros(0))  # (S',) margins of seat 0 after the last forest


def grow(rules: Rules, keeps_all: bool = False, keeps_points: bool = False, sees: bool = False) -> Trees:
    """Grow the trees of a two-player game; see `grow_forest`.

    Raises ValueError for rules that can't be solved.
    """
    check_solvable(rules)
    roots, chances = first_positions(rules)
    trees = Trees(rules, chances, [], [])
    while len(roots):
        trees.roots.append(roots)
        forest, roots = grow_forest(rules, roots, keeps_all, keeps_points, sees)
        trees.forests.append(forest)
    return trees


def check_solvable(rules: Rules) -> None:
    """Raise ValueError for rules that can't be solved deal by deal, and for a game that is too large."""
    if rules.players != 2:
        raise ValueError(f"an equilibrium is computed for two players, and these rules have {rules.players}")
    if rules.games != 1:
        raise ValueError(f"an equilibrium is computed for one game, and these rules have games={rules.games}")
    if rules.building:
        raise ValueError("games with builds are not solved yet; name rules without building")
    if any(table for _, table in rules.later_deal):
        raise ValueError(
            "later deals put cards on the table in these rules; games are solved without, as in later_deal=((2,0),)"
        )
    kinds = int((rules.deck_counts > 0).sum())
    if kinds > MOST_KINDS + sum(table for _, table in rules.first_batches):
        raise ValueError(f"the deck has {kinds} kinds of cards; games with at most {MOST_KINDS} unseen ones are solved")
    histories = estimate_first_deal(rules)
    if histories > MOST_HISTORIES:
        raise ValueError(
            f"'{rules}' is too large to be solved: its first deal alone has about {histories:.1e} histories, which "
            f"would take {histories * BYTES / 2**30:,.0f} GiB; at most {MOST_HISTORIES:,} are held in memory"
        )


def is_solvable(rules: Rules) -> bool:
    """Tell whether a whole game can be solved."""
    try:
        check_solvable(rules)
    except ValueError:
        return False
    return True


def estimate_first_deal(rules: Rules, games: int = 256) -> float:
    """Estimate the number of histories in a game's first deal from the choices in random games (Knuth 1975)."""
    engine = Engine(rules, games, seed=0)
    width, total = np.ones(games), np.zeros(games)
    playing = np.ones(games, bool)
    while playing.any():
        total[playing] += width[playing]
        width[playing] *= engine.action_mask[playing].sum(axis=1)
        engine.step(engine.sample_actions())
        playing &= (engine.state.deal_number == 1) & ~engine.finished
    return float(total.mean() + width.mean()) * _count_deals(rules)


def _count_deals(rules: Rules) -> int:
    """Count the combinations of two hands and a table in the first deal."""
    hands, table = rules.deal_sizes()[0]
    sizes: tuple[int, ...] = (*hands, table)
    counts: Counter[tuple[int, ...]] = Counter({(0, 0, 0): 1})
    for copies in rules.deck_counts[rules.deck_counts > 0].tolist():
        before, counts = counts, Counter()
        for dealt, taken in product(before, product(range(copies + 1), repeat=3)):
            after = tuple(map(sum, zip(dealt, taken, strict=True)))
            if sum(taken) <= copies and all(map(le, after, sizes)):
                counts[after] += before[dealt]
    return counts[sizes]


def first_positions(rules: Rules) -> tuple[State, FloatArray]:
    """List the positions after the first deal, without hands, and their probabilities: (S,) of `GAME`, (S,).

    They differ in the cards on the table.
    """
    compiled = compile_rules(rules)[0]
    is_laid = np.zeros(rules.deck_size, bool)
    first = compiled["deal_start"][1]
    is_laid[:first] = compiled["destination"][:first] == TABLE
    kinds, size = np.arange(len(rules.deck_counts)), int(is_laid.sum())
    sets = Counter(combinations(np.repeat(kinds, rules.deck_counts).tolist(), size))  # of cards that make a table
    tables = sorted(sets, reverse=True)
    games, deck = records(GAME, len(tables)), np.empty(rules.deck_size, np.int64)
    for at, table in enumerate(tables):
        rest = rules.deck_counts - np.bincount(np.array(table, np.int64), minlength=len(kinds))
        deck[is_laid], deck[~is_laid] = table, np.repeat(kinds, rest)
        games[at] = Game(rules, deck=list(map(card_name, deck.tolist()))).state
    return without_hands(games), np.array([sets[table] for table in tables]) / math.comb(rules.deck_size, size)


def without_hands(games: State) -> State:
    """Take all cards out of the hands of positions, and return the same array; the sizes of the hands stay."""
    games.hands, games.hand_kinds = 0, 0
    return games


# ---------------------------------------------------------------------- the trees

_ARRAYS = {  # of a forest: what an entry stands for, and its type
    "infoset": ("nodes", np.int32), "edge": ("nodes", np.int64), "arrives": ("nodes", np.bool_),
    "children": ("edges", np.int64), "seat": ("infosets", np.int8), "depth": ("infosets", np.int16),
    "choice": ("infosets", np.int64), "before": ("infosets", np.int64), "actions": ("choices", np.int16),
    "gain": ("leaves", np.float64), "public": ("leaves", np.int64), "follower": ("leaves", np.int32),
    "first": ("hands", np.int64), "chance": ("hands", np.float64), "dealt": ("hands", np.dtype((np.int64, 2))),
}  # fmt: skip


def grow_forest(
    rules: Rules, roots: State, keeps_all: bool = False, keeps_points: bool = False, sees: bool = False,
    ranges: Ranges | None = None,
) -> tuple[Forest, State]:  # fmt: skip
    """Grow the trees of the deals that begin in `roots`, and list the positions that follow: (S',) of `GAME`.

    Args:
        keeps_all: whether decisions with one legal action are nodes too.
        keeps_points: whether positions that differ only in the points so far are distinguished.
        sees: whether to keep the observations of the information sets.
        ranges: the hands that the seats may hold, all by default; only for a single position.
    """
    compiled, deals = compile_rules(rules), len(roots)
    plays, entries = history_shape(rules)[0] if sees else 0, rules.observation_size + history_size(rules)
    walk = Walk(
        handle(records(FRAME, MOST_DEPTH)), handle(records(GAME, 1)), make_pairs(rules, roots, ranges),
        np.zeros((plays, RECORD), np.int8), np.zeros(rules.num_actions, np.int64), borrow_scratch(), keeps_all,
        keeps_points,
    )  # fmt: skip
    arrays = {name: np.zeros(0, dtype) for name, (_, dtype) in _ARRAYS.items()}
    arrays["seen"] = np.zeros((0, entries), np.int8)
    sizes = {name: of for name, (of, _) in _ARRAYS.items()}
    room = dict.fromkeys([*sizes.values(), "positions"], 1 << 12)
    sizes |= {"seen": "infosets"} if sees else {}
    counts, starts = handle(records(COUNTS, 1)), handle(records(COUNTS, deals + 1))
    tables, positions, followers = [np.zeros((1 << 16, 3), np.int64)] * 2, np.zeros((0, 3), np.int64), np.zeros(0, GAME)
    at, full = 0, counts.copy()
    while True:
        arrays |= {name: _enlarged(arrays[name], room[of] + 1) for name, of in sizes.items()}
        followers = _enlarged(followers, room["positions"])
        if len(positions) < 4 * len(followers):
            positions, smaller = np.full((4 * len(followers), 3), -1), positions
            copy_table(smaller, positions)
        tables = [  # a table is full when half of its entries are in use
            np.full((max(len(table), 1 << (4 * int(full[name][0] - counts[name][0])).bit_length()), 3), -1)
            for table, name in zip(tables, ("infosets", "nodes"), strict=True)
        ]
        forest = Forest(counts=counts, starts=starts, order=np.zeros(0, np.int64), **arrays)
        index = Index(tables[0], tables[1], positions, handle(followers.view(np.recarray)), counts.copy())
        at = walk_deals(compiled, handle(roots), at, walk, forest, index)
        used = {item: int(counts[item][0]) for item in room}
        if at == deals:
            break
        full = counts.copy()
        counts[0] = starts[at]
        counts["positions"] = full["positions"]
        if full["histories"][0] > MOST_HISTORIES:
            raise ValueError(
                f"'{rules}' is too large to be solved: the deals with number {int(roots.deal_number[0])} have more "
                f"than {MOST_HISTORIES:,} histories"
            )
        room = {  # a node needs room for as many edges as there are actions
            name: size << bool(used[name] + rules.num_actions >= size) for name, size in room.items()
        }
    arrays |= {name: arrays[name][: used[of] + (name == "choice")] for name, of in sizes.items()}
    deal_of = np.repeat(np.arange(deals), np.diff(starts["nodes"]))
    order = np.lexsort((arrays["depth"][arrays["infoset"]], deal_of))
    forest = Forest(counts=counts, starts=starts, order=order, **arrays)
    return forest, without_hands(followers[: used["positions"]].view(np.recarray))


def _enlarged(array: np.ndarray, size: int) -> np.ndarray:
    if len(array) >= size:
        return array
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


# ---------------------------------------------------------------------- their size


class Size(NamedTuple):
    """The size of a game; a decision with one legal action is a history and an information set too."""

    histories: float  # sequences of deals and plays that lead to a decision or to the end
    infosets: tuple[float, float]  # information sets of each seat: its hand and the public history


def size_of(trees: Trees) -> Size:
    """Count the histories and information sets of a game whose trees were grown with `keeps_all`.

    A deal reached by several histories is stored once, but counted for each of them. Information sets
    ignore the order in which the cards of a capture are named.
    """
    after = np.zeros((0, 3))
    for forest in reversed(trees.forests):
        deals = np.arange(len(forest.starts) - 1)
        of_infoset, of_leaf = (np.repeat(deals, np.diff(forest.starts[item])) for item in ("infosets", "leaves"))
        goes_on = forest.follower >= 0
        counts = np.zeros((len(deals), 3))  # histories, information sets of each seat
        counts[:, 0] = np.diff(forest.starts["nodes"])
        np.add.at(counts, (of_leaf[~goes_on], 0), 1)
        np.add.at(counts, (of_infoset, 1 + forest.seat), 1)
        is_first = np.zeros(len(forest.public))  # leaves with one public history share their information sets
        is_first[np.unique(forest.public, return_index=True)[1]] = 1.0
        following = after[forest.follower[goes_on]]
        following[:, 1:] *= is_first[goes_on, None]
        np.add.at(counts, of_leaf[goes_on], following)
        after = counts
    histories, own, other = after.sum(axis=0).tolist()
    return Size(histories, (own, other))
