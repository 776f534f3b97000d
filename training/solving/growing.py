"""Grow the trees of a game's deals: all positions in which a deal can begin, and all that can happen in it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import numpy.typing as npt

from krypenv.engine import Engine
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import TABLE, compile_rules
from krypenv.kernels.observing import RECORD
from krypenv.kernels.play import begin_game
from krypenv.observation import history_shape, history_size
from krypenv.rules import Rules
from krypenv.runtime.jit import handle, kernel, records
from krypenv.state import GAME, State
from krypenv.training.solving import deal_tree as tree
from krypenv.training.solving.deal_tree import MOST_DEPTH, WALK, Forest, Index, Walk, hash_position, strip_hands
from krypenv.training.solving.pairs import MOST_KINDS, Ranges, make_pairs
from krypenv.training.solving.walking import walk_deals

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
MOST_HISTORIES = 50_000_000  # of the deals with one number
BYTES = 250  # of memory for each, about
SOLVED = (  # presets that are solved within a minute
    "mini-sweep", "mini-choice", "mini-copies", "mini-last", "mini-hidden", "mini-count", "mini-kasino", "mini-mulle",
)  # fmt: skip


@dataclass
class Trees:
    """A game as trees: those of the deals of each number."""

    rules: Rules
    chances: FloatArray  # (S,) of the first deals
    roots: list[State]  # of each number, (S,) positions at the beginning of its deals, without the hands
    forests: list[Forest]  # of each number
    first_deal: int = 1  # the number of the first ones
    ending: FloatArray = field(default_factory=lambda: np.zeros(0))  # (S',) margins of seat 0 after the last ones


def grow(rules: Rules, keeps_all: bool = False, keeps_points: bool = False, sees: bool = False) -> Trees:
    """Return the trees of a two-player game; see `grow_forest`.

    Raises ValueError for rules that can't be solved.
    """
    check_solvable(rules)
    roots, chances = first_positions(rules)
    found = Trees(rules, chances, [], [])
    while len(roots):
        found.roots.append(roots)
        forest, roots = grow_forest(rules, roots, keeps_all, keeps_points, sees)
        found.forests.append(forest)
    return found


def check_solvable(rules: Rules) -> None:
    """Raise ValueError for rules that can't be solved deal by deal, and for too large a game, with its size."""
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
    """Return whether a game can be solved as a whole."""
    try:
        check_solvable(rules)
    except ValueError:
        return False
    return True


def estimate_first_deal(rules: Rules, games: int = 256) -> float:
    """Return about how many histories the first deal of a game has, by the choices in random games (Knuth 1975)."""
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
    """Return how many pairs of hands and tables the first deal has."""
    hands, table = rules.deal_sizes()[0]
    ways = np.zeros((hands[0] + 1, hands[1] + 1, table + 1), object)
    ways[0, 0, 0] = 1
    for copies in rules.deck_counts[rules.deck_counts > 0].tolist():
        after = ways.copy()
        for taken in product(range(copies + 1), repeat=3):
            if 0 < sum(taken) <= copies and all(each < size for each, size in zip(taken, ways.shape, strict=True)):
                low = tuple(slice(each, None) for each in taken)
                high = tuple(slice(0, size - each) for each, size in zip(taken, ways.shape, strict=True))
                after[low] += ways[high]
        ways = after
    return int(ways[-1, -1, -1])


def first_positions(rules: Rules) -> tuple[State, FloatArray]:
    """Return the positions after the first deal, without the hands, and how likely each is: (S,) of `GAME`, (S,).

    They differ in the cards on the table.
    """
    compiled = compile_rules(rules)
    is_laid = compiled["destination"][0][: compiled["deal_start"][0, 1]] == TABLE
    kinds = np.flatnonzero(rules.deck_counts)
    copies = rules.deck_counts[kinds].astype(np.int64)
    tables = list(_multisets(copies.tolist(), int(is_laid.sum())))
    games = records(GAME, len(tables))
    games.dealer, games.game_number = rules.players - 1, 1
    order = np.argsort(~is_laid, kind="stable")  # places in the deck: those of the table first
    order = np.concatenate([order, np.arange(len(order), rules.deck_size)])
    for game, table in zip(games, tables, strict=True):
        game.deck[order] = np.concatenate([np.repeat(kinds, table), np.repeat(kinds, copies - table)])
    begin_stripped(compiled, handle(games), borrow_scratch())
    chances = [math.prod(map(math.comb, copies.tolist(), table)) for table in tables]
    return games, np.array(chances) / math.comb(rules.deck_size, int(is_laid.sum()))


@kernel
def begin_stripped(rules: np.ndarray, games: np.ndarray, scratch: np.ndarray) -> None:
    """Begin games with the decks in their rows, and take away the hands."""
    for at in range(len(games)):
        begin_game(rules[0], games[at], scratch[0])
        strip_hands(rules[0], games[at])


def _multisets(copies: list[int], size: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to take `size` cards, as counts of each kind."""
    if not copies:
        if size == 0:
            yield ()
        return
    for count in range(min(copies[0], size) + 1):
        for rest in _multisets(copies[1:], size - count):
            yield (count, *rest)


# ---------------------------------------------------------------------- the trees

_ARRAYS = {  # of a forest: what each holds one entry of, and its type
    "infoset": ("nodes", np.int32), "edge": ("nodes", np.int64), "depth": ("nodes", np.int16),
    "arrives": ("nodes", np.bool_), "children": ("edges", np.int64), "seat": ("infosets", np.int8),
    "choice": ("infosets", np.int64), "before": ("infosets", np.int64), "actions": ("choices", np.int16),
    "gain": ("leaves", np.float64), "public": ("leaves", np.int64), "follower": ("leaves", np.int32),
    "first": ("hands", np.int64), "chance": ("hands", np.float64), "dealt": ("hands", np.dtype((np.int64, 2))),
}  # fmt: skip
_OF_A_DEAL = [tree.NODES, tree.EDGES, tree.INFOSETS, tree.CHOICES, tree.LEAVES, tree.HANDS, tree.HISTORIES]


def grow_forest(
    rules: Rules, roots: State, keeps_all: bool = False, keeps_points: bool = False, sees: bool = False,
    ranges: Ranges | None = None,
) -> tuple[Forest, State]:  # fmt: skip
    """Return the trees of all deals that begin in some positions, and the positions that follow: (S',) of `GAME`.

    Args:
        keeps_all: whether decisions without a choice are nodes too.
        keeps_points: whether positions that differ only in the points so far are told apart.
        sees: whether to keep the observations of the information sets.
        ranges: the hands that the seats may hold, all by default; only for a single position.
    """
    compiled, deals = compile_rules(rules), len(roots)
    plays, entries = history_shape(rules)[0] if sees else 0, rules.observation_size + history_size(rules)
    room = dict.fromkeys(WALK, 1 << 12)
    public, origin, length, node, tried = np.zeros((5, MOST_DEPTH), np.int64)
    last = np.zeros((MOST_DEPTH, 2), np.int64)
    walk = Walk(
        handle(records(GAME, MOST_DEPTH)), public, origin, length, node, tried, np.zeros(rules.num_actions, np.int64),
        make_pairs(rules, roots, ranges), last, np.zeros((MOST_DEPTH, plays, RECORD), np.int8), keeps_all,
        keeps_points, handle(records(GAME, 1)), borrow_scratch(),
    )  # fmt: skip
    forest = Forest(
        np.zeros(len(WALK), np.int64), np.zeros((deals + 1, len(WALK)), np.int64),
        **{name: np.zeros(0, dtype) for name, (_, dtype) in _ARRAYS.items()}, seen=np.zeros((0, entries), np.int8),
    )  # fmt: skip
    tables = np.full(3, 1 << 16)  # rows: publics, infosets, arrivals
    index = Index(np.full((0, 3), -1), np.full((0, 3), -1), np.full((0, 3), -1), np.full(0, -1), forest.counts.copy())
    followers = records(GAME, 0)
    at = 0
    while True:
        forest = forest._replace(
            **{name: _enlarged(getattr(forest, name), room[of] + 1) for name, (of, _) in _ARRAYS.items()}
        )
        if sees:
            forest = forest._replace(seen=_enlarged(forest.seen, room["infosets"]))
        followers = _enlarged(followers, room["positions"]).view(np.recarray)
        index = _emptied(index, tables, forest.counts)
        if len(index.positions) < 4 * room["positions"]:
            index = index._replace(positions=np.full(4 * room["positions"], -1))
            index_positions(compiled, handle(followers), int(forest.counts[tree.POSITIONS]), index.positions)
        at = walk_deals(compiled, handle(roots), at, walk, forest, index, handle(followers))
        if at == deals:
            break
        full, forest.counts[_OF_A_DEAL] = forest.counts.copy(), forest.starts[at, _OF_A_DEAL]
        if full.max() > MOST_HISTORIES:
            raise ValueError(
                f"'{rules}' is too large to be solved: the deals with number {int(roots.deal_number[0])} have more "
                f"than {MOST_HISTORIES:,} histories"
            )
        of_deal = full - forest.starts[at]
        fewest = 8 * of_deal[[tree.PUBLICS, tree.INFOSETS, tree.NODES]]
        while (tables < fewest).any():
            tables[tables < fewest] *= 2
        room = {  # a node needs room for as many edges as there are actions
            name: size << (used + rules.num_actions >= size)
            for (name, size), used in zip(room.items(), full, strict=True)
        }
    used = dict(zip(WALK, forest.counts.tolist(), strict=True))
    cut = {name: getattr(forest, name)[: used[of] + (name == "choice")].copy() for name, (of, _) in _ARRAYS.items()}
    cut["seen"] = forest.seen[: used["infosets"]] if sees else forest.seen
    return forest._replace(**cut), followers[: used["positions"]].copy().view(np.recarray)


@kernel
def index_positions(rules: np.ndarray, positions: np.ndarray, count: int, table: np.ndarray) -> None:
    """Enter positions into an empty hash table."""
    for each in range(count):
        mask = np.int64(len(table) - 1)
        at = np.int64(hash_position(rules[0], positions[each])) & mask
        while table[at] >= 0:
            at = (at + 1) & mask
        table[at] = each


def _emptied(index: Index, rows: IntArray, counts: IntArray) -> Index:
    """Return the tables of all but positions empty, with so many rows each; `counts` are those of the forest."""
    tables = []
    for table, size in zip(index[:3], rows.tolist(), strict=True):
        tables.append(table if len(table) == size else np.empty((size, 3), np.int64))
        tables[-1].fill(-1)
    publics, infosets, arrivals = tables
    return Index(publics, infosets, arrivals, index.positions, counts.copy())


def _enlarged(array: np.ndarray, size: int) -> np.ndarray:
    if len(array) >= size:
        return array
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
