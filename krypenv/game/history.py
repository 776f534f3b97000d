"""One game as card kinds, with its past: a stack of states that staged actions and whole plays extend."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import BUILD, NO_CARD, NO_SEAT, NUM_KINDS, NUM_RANKS, SPADES, TAKE
from krypenv.game.stack import (
    begin_stack,
    close_session,
    deal_next,
    list_sweep_values,
    mask_actions,
    note_at,
    observe,
    resume_stack,
    shuffle_stack,
    step_game,
    write_plays,
    write_scores,
    write_tie_breaks,
)
from krypenv.kernels.builds import values_built
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.decision_checks import POINTS, SOUND, tell_fault
from krypenv.kernels.observing import record_width
from krypenv.kernels.outlook import borrow_outlook
from krypenv.observation import history_shape, history_size
from krypenv.rules import Rules
from krypenv.runtime.jit import handle
from krypenv.state import GAME, allocate

Int8Array = npt.NDArray[np.int8]
# A card, the kinds it takes, ascending, the sweeps that this makes, the value that it builds or 0, and the values of
# the builds that it captures, raises or joins, ascending.
Play = tuple[int, tuple[int, ...], int, int, tuple[int, ...]]

_KINDS = np.arange(NUM_KINDS)
_STATE_DTYPE = handle(allocate(1)).dtype


class History:
    """The states of one game, from the first to the present one; `deal` or `resume` writes the first.

    Attributes:
        rules: the rules.
        is_optional: whether captures are optional (K2).
        compiled: the compiled rules, (1,) of `krypenv.kernels.compiled.COMPILED`.
        states: the states (`krypenv.state.GAME`), of which those up to `at` are used.
        at: the place of the present state, which is the number of staged actions since the first one.
        actions: those actions, a list of ints.
        seats, overs, pendings: fields of all states, as views, because they are read often.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.compiled = compile_rules(rules)
        self.is_optional = rules.capture == "optional"
        self.states = np.empty(most_actions(rules) + 2, _STATE_DTYPE)  # the last place is work space
        self.states[0] = np.zeros((), _STATE_DTYPE)
        self.at = 0
        self.actions: list[int] = []
        self.seats, self.overs, self.pendings, self._plays, self._takes, self._builds = (
            self.states[name] for name in ("seat", "over", "pending", "legal_plays", "legal_takes", "legal_builds")
        )
        self._captured = np.zeros((rules.players, NUM_KINDS), np.int64)  # counts captured before the first state
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
                self._captured.sum(axis=0)
                == first["seen"].astype(np.int64) - first["table"] - first["set_aside"] - self._built(first)
            ).all()
            and (self._captured @ self.rules.card_points.astype(np.int64) == first["points"][:players]).all()
            and (first["sweeps"][:players] <= sizes).all()
            and (sizes != 1).all()
            and self._agree(first)
            and (last == NO_SEAT or sizes[last] > 0)
        )

    def _built(self, first: np.ndarray) -> np.ndarray:
        """Return the cards of all builds in the first state, (52,) counts."""
        return np.sum([built(first, value) for value in bits(int(first["builds"]))], axis=0, initial=0)

    def _agree(self, first: np.ndarray) -> bool:
        """Whether the piles hold what the first state counts of them: mulles, and cards and spades if it does."""
        players, piles = self.rules.players, self._captured
        fits = bool((first["mulles"][:players] <= (piles // 2).sum(axis=1)).all())
        if self.compiled["counts_piles"][0]:
            fits &= bool((first["cards_won"][:players] == piles.sum(axis=1)).all())
            fits &= bool((first["spades_won"][:players] == spades_in(piles)).all())
        return fits

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
        return self.actions_at(self.at)

    def actions_at(self, place: int) -> list[int]:
        """Return the legal staged actions in the state at a place, ascending."""
        plays, takes = int(self._plays[place]), int(self._takes[place])
        builds = (BUILD + bit for bit in bits(int(self._builds[place])))
        return [*bits(plays), *(TAKE + kind for kind in bits(takes)), *builds]

    def taken(self) -> list[int]:
        """Return the kinds taken so far in an unfinished play, ascending, or those of the last whole one."""
        kinds: list[int] = np.repeat(_KINDS, self.state["taken"]).tolist()
        return kinds

    def build(self) -> int:
        """Return the value of the build that the unfinished play makes, or the last whole one, else 0."""
        return int(self.state["build_value"])

    def builds(self) -> list[tuple[int, np.ndarray, int, bool]]:
        """Return the builds on the table by value: value, cards as (52,) counts, owner, whether it is multiple (B1)."""
        state = self.state
        return [
            (value, built(state, value), int(state["build_owner"][value]), bool(state["multiple_builds"] >> value & 1))
            for value in bits(int(state["builds"]))
        ]

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

    def tie_breaks(self) -> list[int]:
        """Return what decides between equal totals, for the side of each seat (K6, F7)."""
        out = np.empty(self.rules.players, np.int64)
        write_tie_breaks(self.compiled, self.states, self.at, out)
        return out.tolist()

    def piles(self) -> np.ndarray:
        """Return the counts captured by each seat, (P, 52) int64; at the end they include what was left (R13)."""
        piles = self._captured.copy()
        states = self.states[1 : self.at + 1]
        taken = states["taken"].astype(np.int64)
        captures = taken.any(axis=1)
        if self.rules.building:
            captures = (captures | (states["taken_builds"] != 0)) & (states["build_value"] == 0)
        for place in np.flatnonzero((states["pending"] == NO_CARD) & captures).tolist():
            seat = states["last_seat"][place]
            piles[seat] += taken[place]
            for value in bits(int(states["taken_builds"][place])):
                piles[seat] += built(self.states[place], value)
            piles[seat, states["last_card"][place]] += 1
        last = int(self.state["last_capturer"])
        if self.overs[self.at] and last != NO_SEAT and not self.state["cut_short"]:
            piles[last] += self.rules.deck_counts - piles.sum(axis=0)
        return piles

    def observation(self, seat: int, size: int) -> Int8Array:
        """Return what a seat sees, (size,) int8; the size says whether the features are included."""
        out = np.empty(size, np.int8)
        observe(self.compiled, self.states, self.at, seat, out, borrow_outlook(), borrow_scratch())
        return out

    def plays_of_deal(self, seat: int) -> Int8Array:
        """Return the history block as a seat sees it, (history_size(rules),) int8; rows of unknown plays are zero."""
        record = np.full((history_shape(self.rules)[0], record_width(self.rules)), NO_CARD, np.int8)
        out = np.empty(history_size(self.rules), np.int8)
        deal = self.state["deal_number"]
        complete = np.flatnonzero(
            (self.pendings[: self.at + 1] == NO_CARD)
            & (self.states["deal_number"][: self.at + 1] == deal)
            & (self.states["last_card"][: self.at + 1] != NO_CARD)
        )
        for place in complete.tolist():
            note_at(self.compiled, self.states, place, record)
        write_plays(self.compiled, self.states, self.at, record, seat, out)
        return out

    def mask(self) -> Int8Array:
        """Return 1 for the legal actions of the seat to act, (105,) int8."""
        out = np.empty(self.rules.num_actions, np.int8)
        mask_actions(self.states, self.at, out)
        return out

    # ------------------------------------------------------------------ plays

    def play_at(self, place: int) -> Play:
        """Return the play that led to the state at a place, in which no card is pending."""
        return play_of(self.states[place])

    def plays_back(self) -> Iterator[Play]:
        """Yield the whole plays since the first state, the latest first."""
        return (self.play_at(place) for place in range(self.at, 0, -1) if self.pendings[place] == NO_CARD)

    def look_ahead(self, place: int, action: int) -> None:
        """Write what a legal action leads to from the state at a place into the next place."""
        step_game(self.compiled, self.states, place, action, borrow_scratch())

    def act(self, action: int) -> bool:
        """Carry out a staged action and return whether it is legal; if not, change nothing."""
        is_done = bool(step_game(self.compiled, self.states, self.at, action, borrow_scratch()))
        if is_done:
            self.at += 1
            self.actions.append(action)
        return is_done

    def join(self, start: int) -> None:
        """Make one play of the actions since a place, which `pop` undoes as a whole."""
        self._inner.update(range(start + 1, self.at))

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

    def next_game(self, deck: list[int] | None) -> History:
        """Return the first state of the session's next game (R15), from a deck of kinds or the next shuffle."""
        following = History(self.rules)
        close_session(self.compiled, self.states, self.at)
        following.states[0] = self.states[self.at + 1]
        deal_next(following.compiled, following.states, borrow_scratch())
        if deck is not None:
            following.state["deck"][: len(deck)] = deck
            begin_stack(following.compiled, following.states, borrow_scratch())
        return following


def most_actions(rules: Rules) -> int:
    """Return a bound on the staged actions of one game.

    Each plays or takes a card, which no card is twice, or stops the play of a card (K2), or begins or takes a build
    with it (B1).
    """
    return (5 if rules.building else 3 if rules.capture == "optional" else 2) * rules.deck_size


def play_of(row: np.ndarray) -> Play:
    """Return the play that led to a state in which no card is pending."""
    takes, builds = np.repeat(_KINDS, row["taken"]).tolist(), bits(int(row["taken_builds"]))
    return int(row["last_card"]), tuple(takes), int(row["last_sweep"]), int(row["build_value"]), tuple(builds)


def spades_in(piles: np.ndarray) -> np.ndarray:
    """Return the spades in each of some piles, counts (..., 52)."""
    return np.asarray(piles[..., SPADES * NUM_RANKS :].sum(axis=-1))


def built(state: np.ndarray, value: int) -> np.ndarray:
    """Return the cards of a build in a state, (52,) counts."""
    return np.asarray((values_built(state["built"]) == value).sum(axis=0))


def bits(number: int) -> Iterator[int]:
    """Yield the positions of the set bits, ascending."""
    while number:
        low = number & -number
        number ^= low
        yield low.bit_length() - 1
