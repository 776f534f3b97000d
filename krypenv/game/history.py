"""One game as card kinds, with its past: a stack of states that staged actions and whole plays extend."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import NO_CARD, NO_SEAT, NUM_KINDS, NUM_RANKS, TAKE
from krypenv.game.stack import (
    begin_stack,
    close_session,
    deal_next,
    list_captures,
    list_sweep_values,
    mask_actions,
    observe,
    resume_stack,
    shuffle_stack,
    step_game,
    write_scores,
    write_tie_breaks,
)
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.checks import POINTS, SOUND, tell_fault
from krypenv.kernels.compiled import NIBBLE, compile_rules
from krypenv.kernels.features import make_feature_scratch
from krypenv.kernels.state import GAME, allocate
from krypenv.rules import Rules
from krypenv.runtime.jit import handle

Int8Array = npt.NDArray[np.int8]
Play = tuple[int, tuple[int, ...], int]  # a card, the kinds it takes, ascending, and the sweeps that this makes

_KINDS = np.arange(NUM_KINDS)
_STATE_DTYPE, _FEATURE_SCRATCH = handle(allocate(1)).dtype, make_feature_scratch()


class History:
    """The states of one game, from the first to the present one; `deal` or `resume` writes the first.

    Attributes:
        rules: the rules.
        compiled: the compiled rules, (1,) of `krypenv.kernels.compiled.COMPILED`.
        states: the states (`krypenv.kernels.state.GAME`), of which those up to `at` are used.
        at: the place of the present state, which is the number of staged actions since the first one.
        actions: those actions, a list of ints.
        seats, overs, pendings: fields of all states, as views, because they are read often.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.compiled = compile_rules(rules)
        # Each action plays a card, takes one or ends a play (K2), and no card is played or taken twice. So there are at
        # most 3 D + 1 states; the last place is work space.
        self.states = np.empty(3 * rules.deck_size + 2, _STATE_DTYPE)
        self.states[0] = np.zeros((), _STATE_DTYPE)
        self.at = 0
        self.actions: list[int] = []
        self.seats, self.overs, self.pendings, self._plays, self._takes = (
            self.states[name] for name in ("seat", "over", "pending", "legal_plays", "legal_takes")
        )
        self._captured = np.zeros((rules.players, NUM_KINDS), np.int64)  # counts captured before the first state
        self._feature_scratch = _FEATURE_SCRATCH.copy()
        self._inner: set[int] = set()  # places within pushed plays, where `pop` does not stop

    def deal(self, seed: int | None, deck: list[int] | None, dealer: int, number: int, totals: list[int]) -> None:
        """Deal the first state from a deck of kinds, without one from a seed, and without either at random."""
        first = self.state
        first["dealer"], first["game_number"], first["totals"][: self.rules.players] = dealer, number, totals
        self._shuffle(seed)
        if deck is not None:
            first["deck"][: len(deck)] = deck
        begin_stack(self.compiled, self.states, borrow_scratch())

    def resume(self, state: np.ndarray, captured: npt.ArrayLike) -> None:
        """Begin from a state in which no card is pending, with piles of these counts, (P, 52).

        Raises ValueError for anything but a state under these rules, and for piles that don't fit it.
        """
        row, piles = np.asarray(state), np.asarray(captured)
        is_one = row.dtype.fields == GAME.fields and row.size == 1
        if not is_one or piles.shape != self._captured.shape or piles.dtype.kind not in "iu":
            raise ValueError(
                f"a game resumes from one record of krypenv.state.GAME and piles {self._captured.shape}, "
                f"not from {row.dtype.name} {row.shape} and {piles.shape}"
            )
        self.states[0] = row.reshape(())[()]
        if self.pendings[0] != NO_CARD:
            raise ValueError("a game resumes from a state in which no card is pending")
        self._captured[:] = piles
        fault = int(resume_stack(self.compiled, self.states, handle(allocate(1)), borrow_scratch()))
        if fault == SOUND and not self._has_piles(piles):
            fault = POINTS
        if fault != SOUND:
            raise ValueError(tell_fault(self.rules, "the state", fault))
        deck = self.state["deck"].copy()
        self._shuffle(None)
        self.state["deck"] = deck

    def _has_piles(self, piles: np.ndarray) -> bool:
        """Whether the first state can have these piles, counts (P, 52)."""
        first, players = self.states[0], self.rules.players
        sizes = self._captured.sum(axis=1)
        last = int(first["last_capturer"])
        return bool(
            (self._captured == piles).all()
            and (self._captured >= 0).all()
            and (
                self._captured.sum(axis=0) == first["seen"].astype(np.int64) - first["table"] - first["set_aside"]
            ).all()
            and (self._captured @ self.rules.card_points.astype(np.int64) == first["points"][:players]).all()
            and (first["sweeps"][:players] <= sizes).all()
            and (sizes != 1).all()
            and (last == NO_SEAT or sizes[last] > 0)
        )

    def _shuffle(self, seed: int | None) -> None:
        first = self.states[0]
        number = int(first["game_number"])
        if seed is None:  # one random shuffle is as good as many
            first["game_number"], seed = 1, secrets.randbits(64)
        shuffle_stack(self.compiled, self.states, np.uint64(seed))
        first["game_number"] = number

    def copy(self) -> History:
        """Return an independent copy."""
        twin = History.__new__(History)
        twin.__setstate__(self.__getstate__())
        return twin

    def __getstate__(self) -> tuple[Any, ...]:
        # Leave out the views of `states`: pickled, they would become separate arrays.
        return self.rules, self.states[: self.at + 1], self.actions, self._captured, self._inner

    def __setstate__(self, kept: tuple[Any, ...]) -> None:
        rules, states, actions, captured, inner = kept
        History.__init__(self, rules)
        self.at = len(states) - 1
        self.states[: len(states)] = states
        self.actions += actions
        self._captured[:] = captured
        self._inner |= inner

    def rebase(self) -> None:
        """Forget how the present state was reached: it becomes the first one."""
        self._captured = self.piles()
        self.states[0] = self.state
        self.go_back(0)

    def go_back(self, place: int) -> None:
        """Return to the state at an earlier place."""
        self._inner.difference_update(range(place, self.at))
        del self.actions[place:]
        self.at = place

    # ------------------------------------------------------------------ the present state

    @property
    def state(self) -> np.ndarray:
        """The record of the present state."""
        return self.states[self.at]

    def legal_actions(self) -> list[int]:
        """Return the legal staged actions, ascending."""
        plays, takes = int(self._plays[self.at]), int(self._takes[self.at])
        return [*bits(plays), *(TAKE + kind for kind in bits(takes))]

    def scores(self) -> list[int]:
        """Return the scores of the game so far by seat (R14)."""
        out = np.empty(self.rules.players, np.int64)
        write_scores(self.compiled, self.states, self.at, out)
        return out.tolist()

    def sweep_ranks(self) -> list[int]:
        """Return the ranks, 1 to 13, of which some card could take the whole table, ascending."""
        values = int(list_sweep_values(self.compiled, self.states, self.at, borrow_scratch()))
        kinds = self.compiled["value_kinds"][0]
        return sorted({kind % NUM_RANKS + 1 for value in bits(values) for kind in bits(int(kinds[value]))})

    def tie_breaks(self) -> np.ndarray:
        """Return what decides between equal totals, for the side of each seat, (P,) int64 (K6, F7)."""
        out = np.empty(self.rules.players, np.int64)
        write_tie_breaks(self.compiled, self.states, self.at, out)
        return out

    def piles(self) -> np.ndarray:
        """Return the counts captured by each seat, (P, 52) int64; at the end they include what was left (R13)."""
        piles = self._captured.copy()
        states = self.states[1 : self.at + 1]
        taken = states["taken"].astype(np.int64)
        for place in np.flatnonzero((states["pending"] == NO_CARD) & taken.any(axis=1)).tolist():
            seat = states["last_seat"][place]
            piles[seat] += taken[place]
            piles[seat, states["last_card"][place]] += 1
        last = int(self.state["last_capturer"])
        if self.overs[self.at] and last != NO_SEAT:
            piles[last] += self.rules.deck_counts - piles.sum(axis=0)
        return piles

    def observation(self, seat: int, size: int) -> Int8Array:
        """Return what a seat sees, (size,) int8; the size says whether the features are included."""
        out = np.empty(size, np.int8)
        observe(self.compiled, self.states, self.at, seat, out, self._feature_scratch, borrow_scratch())
        return out

    def mask(self) -> Int8Array:
        """Return 1 for the legal actions of the seat to act, (105,) int8."""
        out = np.empty(self.rules.num_actions, np.int8)
        mask_actions(self.states, self.at, out)
        return out

    # ------------------------------------------------------------------ plays

    def play_at(self, place: int) -> Play:
        """Return the play that led to the state at a place, in which no card is pending."""
        row = self.states[place]
        return int(row["last_card"]), tuple(np.repeat(_KINDS, row["taken"]).tolist()), int(row["last_sweep"])

    def plays_back(self) -> Iterator[Play]:
        """Yield the whole plays since the first state, the latest first."""
        return (self.play_at(place) for place in range(self.at, 0, -1) if self.pendings[place] == NO_CARD)

    def legal_plays(self) -> list[Play]:
        """Return all plays of the seat to act, sorted; if a play was begun, only those that agree with what it took."""
        if self.pendings[self.at] != NO_CARD:
            return self._expand(self.at)
        plays: list[Play] = []
        place = self.at + 1
        for action in self.legal_actions():
            step_game(self.compiled, self.states, self.at, action, borrow_scratch())
            plays += [self.play_at(place)] if self.pendings[place] == NO_CARD else self._expand(place)
        return plays

    def _expand(self, place: int) -> list[Play]:
        """Return the plays of a state with a card pending: its captures of ranks, with every choice of kinds (R7).

        None of them is a sweep: a capture of the whole table would be the only one.
        """
        row = self.states[place]
        count = list_captures(self.compiled, self.states, place, borrow_scratch())
        found: set[tuple[int, ...]] = set()
        for capture in borrow_scratch()["captures"][0, :count].tolist():
            choices = []
            for rank in range(NUM_RANKS):
                kinds = np.repeat(_KINDS[rank::NUM_RANKS], row["table"][rank::NUM_RANKS]).tolist()
                choices.append(set(combinations(kinds, capture >> NIBBLE * rank & 15)))
            found.update(tuple(sorted(chain(*parts))) for parts in product(*choices))
        taken = Counter(np.repeat(_KINDS, row["taken"]).tolist())
        return [(int(row["pending"]), takes, 0) for takes in sorted(found) if not taken - Counter(takes)]

    def take(self, kinds: list[int]) -> bool:
        """Take some kinds for the pending card, which stays pending; return whether some order of them is legal.

        If none is, change nothing.
        """
        start = self.at
        for kind in self._order(kinds):
            if not self.act(TAKE + kind):
                break
        if self.pendings[self.at] != NO_CARD and self.at == start + len(kinds):
            return True
        self.go_back(start)
        return False

    def _order(self, kinds: list[int]) -> list[int]:
        """Return some kinds in an order in which the pending card may take them, empty if there is none.

        What may be taken after some cards may also be taken before them. So put any kind last that may be taken last,
        and repeat with the others.
        """
        table = self.state["table"].astype(np.int64)
        taken = self.state["taken"] + np.bincount(np.array(kinds, np.int64), minlength=NUM_KINDS)
        if (taken > table).any():
            return []
        scratch = borrow_scratch()
        count = list_captures(self.compiled, self.states, self.at, scratch)
        shifts = NIBBLE * np.arange(NUM_RANKS)
        captures = scratch["captures"][0, :count, None] >> shifts & 15
        order: list[int] = []
        left = sorted(kinds)
        while left:
            last = next((kind for kind in left if _may_take(captures, table, taken - (kind == _KINDS), kind)), None)
            if last is None:
                return []
            left.remove(last)
            taken[last] -= 1
            order.append(last)
        return order[::-1]

    def act(self, action: int) -> bool:
        """Carry out a staged action and return whether it is legal; if not, change nothing."""
        is_done = bool(step_game(self.compiled, self.states, self.at, action, borrow_scratch()))
        if is_done:
            self.at += 1
            self.actions.append(action)
        return is_done

    def push(self, play: Play) -> bool:
        """Make a whole play, or complete one that was begun, and return whether it is legal; if not, change nothing.

        A sweep of 0 matches any.
        """
        start = self.at
        if not self._try(*play):
            self.go_back(start)
            return False
        self._inner.update(range(start + 1, self.at))
        return True

    def _try(self, card: int, takes: tuple[int, ...], sweep: int) -> bool:
        """Carry out the actions of a play and return whether they made exactly this play.

        While a capture other than the wanted one is possible, some wanted kind not yet taken is legal to take: no
        maximal capture contains another, so the two differ in a wanted kind.
        """
        left = Counter(takes)
        if self.pendings[self.at] != NO_CARD:
            left.subtract(np.repeat(_KINDS, self.state["taken"]).tolist())
        elif not self.act(card):
            return False
        while self.pendings[self.at] != NO_CARD:
            action = next((action for action in self.legal_actions() if left[action - TAKE] > 0), None)
            if action is None:
                return False
            left[action - TAKE] -= 1
            self.act(action)
        made = self.play_at(self.at)
        return made[:2] == (card, takes) and sweep in (0, made[2])

    def pop(self) -> None:
        """Undo the last `push` as a whole, or the last `act` alone; raise IndexError if there is nothing to undo."""
        if self.at == 0:
            raise IndexError("there is nothing to undo: no move has been made")
        place = self.at - 1
        while place in self._inner:
            place -= 1
        self.go_back(place)

    # ------------------------------------------------------------------ sessions, once the game is over

    def ends_session(self) -> bool:
        """Return whether the session ends with this game (R15)."""
        return bool(close_session(self.compiled, self.states, self.at))

    def totals(self) -> list[int]:
        """Return the totals by seat of the session's finished games, including this one once it is over."""
        place = self.at
        if self.overs[place]:
            close_session(self.compiled, self.states, place)
            place += 1
        return self.states["totals"][place][: self.rules.players].tolist()

    def next_game(self) -> History:
        """Return the first state of the session's next game (R15)."""
        following = History(self.rules)
        close_session(self.compiled, self.states, self.at)
        following.states[0] = self.states[self.at + 1]
        deal_next(following.compiled, following.states, borrow_scratch())
        return following


def _may_take(captures: np.ndarray, table: np.ndarray, taken: np.ndarray, kind: int) -> bool:
    """Return whether those captures, (n, 13) counts of ranks, that contain what is taken differ in copies of a kind."""
    rank = kind % NUM_RANKS
    on_table, taken_ranks = table.reshape(-1, NUM_RANKS).sum(axis=0), taken.reshape(-1, NUM_RANKS).sum(axis=0)
    counts = captures[(captures >= taken_ranks).all(axis=1), rank]
    if len(counts) == 0:
        return False
    fewest = max(taken[kind], counts.min() - (on_table[rank] - table[kind]))
    return bool(min(table[kind], counts.max() - (taken_ranks[rank] - taken[kind])) > fewest)


def bits(number: int) -> Iterator[int]:
    """Yield the positions of the set bits, ascending."""
    while number:
        low = number & -number
        number ^= low
        yield low.bit_length() - 1
