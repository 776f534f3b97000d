"""The batch engine: thousands of games stepped in place, with automatic new deals."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.arguments import check_seeds, check_switch, check_whole
from krypenv.cards import NO_CARD, NUM_KINDS, action_name
from krypenv.features import width_of, write_parts, write_rows
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.observing import note_rows, record_width
from krypenv.kernels.outlook import borrow_outlook
from krypenv.observation import history_shape, history_size
from krypenv.rewards import FloatArray, Payments
from krypenv.rules import Rules, RulesLike, as_rules
from krypenv.runtime.jit import for_kernels, handle
from krypenv.runtime.threads import NUMBA_THREADS, called_at_once, count_threads, never_at_once
from krypenv.state import State, allocate, mix
from krypenv.stepping import (
    NEW_SESSION,
    OBSERVE,
    find_illegal,
    play_games,
    sample_parts,
    sample_rows,
    seed_rows,
    step_parts,
    step_rows,
)
from krypenv.worlds.invariants import check_state

IntArray = npt.NDArray[np.int64]
MIN_SHARED = 256  # fewer rows are not worth the threads
MAX_GAMES = 1 << 24  # in one engine: about 30 GB
MAX_THREADS = 1024


class IllegalMove(ValueError):
    """A move or an action that the rules don't allow; the message names it and the legal ones."""


def row_seeds(seed: int | npt.ArrayLike, num_games: int) -> npt.NDArray[np.uint64]:
    """Derive one seed per row, (B,) uint64, from a number; an array of B seeds is used as it is.

    A derived seed depends only on the number and the row's index. Raises ValueError for a negative or non-integer seed
    and for an array of another length.
    """
    seeds = check_seeds(seed)
    if seeds.ndim == 0:
        with np.errstate(over="ignore"):
            return mix_array(np.uint64(seeds) * np.uint64(0x9E3779B97F4A7C15) + np.arange(num_games, dtype=np.uint64))
    if seeds.shape != (num_games,):
        raise ValueError(f"{num_games} games need {num_games} seeds, not an array of shape {seeds.shape}")
    return seeds


def mix_array(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble each word of an array as `krypenv.state.mix` does."""
    return np.array([mix(word) for word in words], np.uint64)


class Engine:
    """B games at once, stepped in place. When a game ends, the next one is dealt in the same step.

    Args:
        rules: the rules of all rows, as `krypenv.rules.as_rules` takes them.
        num_games: B.
        seed: a number, or an array of B seeds. With an array, row i plays the deals of `Game(rules, seed=array[i])`.
            With a number, each row's seed follows from the number and the row's index. Results never depend on B or on
            the number of threads.
        features: append the features block (`krypenv.features`) to the observation.
        threads: threads that share the rows; 0 for all processors. They are Numba's: don't fork a process that has
            stepped an engine with more than one.
        reward: keep `rewards` of this kind: "centred", "points" or "win" (see `krypenv.rewards.returns_of`).
        dense: pay rewards as points fall, instead of at the end of the session.
        history: append the history block (`krypenv.observation.HISTORY_COLUMNS`), the plays of the current deal, to the
            observation, after the features.

    Attributes:
        seat: (B,) int32, the seat to act.
        observation: (B, N) int8, what it sees (`krypenv.observation.LAYOUT`); N = 433, or 1369 with features,
            and `krypenv.observation.history_size(rules)` more with the history.
        action_mask: (B, A) int8, 1 for its legal actions; A = `rules.num_actions`, 105 or 139.
        finished: (B,) bool, whether the last step ended the row's session (with `games=1`: its game).
        final_scores: (B, P) int32, the scores of the last session that ended in the row.
        final_points, final_sweeps: (B, P) int32, the points of the cards captured and the sweeps made in it.
        final_void_sweeps: (B, P) int32, how many of the sweeps counted for nothing (F4, F5). Sweeps that cancel are
            taken off the first seat of a side.
        final_tie_breaks: (B, P) int32, for each seat's side what decides between equal totals (K6, F7); more is better,
            and with `goal="low"` less is.
        rewards: (B, P) float64, what every seat earned in the last step; None without `reward`.
        record: (B, M, 54) int8, 57 where cards are built, with `history` the plays of each row's deal, by absolute
            seats (`krypenv.kernels.observing.RECORD`).

    The arrays belong to the engine and change with every step: copy what you want to keep. A method that is called
    before another call has ended, as from a second thread, raises RuntimeError and changes nothing.

    >>> engine = Engine("krypkasino", num_games=2, seed=0)
    >>> engine.step(engine.sample_actions())
    >>> engine
    <Engine: krypkasino players=2, 2 games>
    """

    def __init__(
        self,
        rules: RulesLike,
        num_games: int,
        seed: int | npt.ArrayLike = 0,
        features: bool = False,
        threads: int = 1,
        reward: str | None = None,
        dense: bool = False,
        history: bool = False,
    ) -> None:
        rules = as_rules(rules)
        num_games = check_whole("num_games", num_games, 1, MAX_GAMES)
        seeds = row_seeds(seed, num_games)
        self._build(rules, allocate(num_games), features, threads, reward, dense, history)
        self.restart(np.arange(num_games), seeds)

    @classmethod
    def from_state(cls, rules: RulesLike, state: State, check: bool = True, **options: Any) -> Engine:
        """Build an engine that resumes from a copy of a state, (B,) of `GAME`, for example of `determinize`.

        `options` are those of `Engine`, from `features` to `history`. Dense rewards count from this state on. Of the
        plays before it, the history has only the last one.

        Raises ValueError unless the state consists of unfinished games under these rules. `check=False` skips this
        check; a faulty state may then end the process.
        """
        rules = as_rules(rules)
        if check:
            check_state(rules, state)
        engine = cls.__new__(cls)
        engine._build(rules, state.copy().view(np.recarray), **options)
        engine._observe()
        return engine

    def _build(
        self,
        rules: Rules,
        state: State,
        features: bool = False,
        threads: int = 1,
        reward: str | None = None,
        dense: bool = False,
        history: bool = False,
    ) -> None:
        check_switch("dense", dense)
        check_switch("history", history)
        if dense and reward is None:
            raise ValueError("dense=True needs a kind of reward: give reward='centred', 'points' or 'win' too")
        self.rules, self.turn = rules, [None]
        self.num_games = len(state)
        self.features = bool(features)
        self.threads = count_threads(check_whole("threads", threads, 0, MAX_THREADS))
        self.state = state
        self._state = handle(state)
        self.compiled = compile_rules(rules)
        self.seat = state.seat
        width, self.history = width_of(rules, features), bool(history)
        seen = np.zeros((self.num_games, width), np.int8)
        self.observation = np.zeros((self.num_games, width + history_size(rules)), np.int8) if history else seen
        plays = history_shape(rules)[0] if history else 0
        self.record = np.full((self.num_games, plays, record_width(rules)), NO_CARD, np.int8)
        self.action_mask = np.zeros((self.num_games, rules.num_actions), np.int8)
        self.finished = np.zeros(self.num_games, np.bool_)
        finals = np.zeros((5, self.num_games, rules.players), np.int32)
        self.final_scores, self.final_points, self.final_sweeps, self.final_void_sweeps, self.final_tie_breaks = finals
        self._given = self.compiled, self._state, seen, self.action_mask, self.finished, finals
        self.reward, self.dense = reward, bool(dense)
        self._payments = None if reward is None else Payments(rules, self.num_games, reward, self.dense)
        self.rewards: FloatArray | None = None
        self._outputs: tuple[npt.NDArray[Any], ...] = (
            self.observation, *([seen, self.record] if history else []), self.action_mask, self.finished,
            self.final_scores, self.final_points, self.final_sweeps, self.final_void_sweeps, self.final_tie_breaks,
        )  # fmt: skip
        if self._payments:
            self.rewards = self._payments.rewards
            self._outputs += (self.rewards, self._payments.paid)
        self._all_rows = np.arange(self.num_games)
        self._orders = np.empty((self.num_games, 2), np.int64)

    @never_at_once
    def restart(self, rows: npt.ArrayLike, seeds: npt.ArrayLike) -> None:
        """Abandon the sessions of some rows and deal new ones from the given seeds, one per row."""
        rows = self._which(rows)
        seed_rows(self._state, rows, row_seeds(seeds, len(rows)))
        self._write(self._ordered(rows, NEW_SESSION))
        if self._payments:
            self._payments.rewards[rows] = self._payments.paid[rows] = 0

    def _ordered(self, rows: np.ndarray, actions: npt.ArrayLike) -> IntArray:
        """Pair rows with their actions, (M, 2), in a buffer that the next call overwrites."""
        orders: IntArray = self._orders[: len(rows)]
        orders[:, 0], orders[:, 1] = rows, actions
        return orders

    def _write(self, orders: IntArray) -> None:
        """Carry out orders, as `step_rows` does, and write what else is observed."""
        threads = self._threads_for(orders)
        seen, scratch = self._given[2], borrow_scratch(threads)
        step, write = (step_rows, write_rows) if threads == 1 else (step_parts, write_parts)
        with nullcontext() if threads == 1 else NUMBA_THREADS:
            step(*self._given, orders, scratch)
            if self.features:
                write(self.compiled, self._state, seen, orders, borrow_outlook(threads), scratch)
        if self.history:
            note_rows(self.compiled, self._state, orders, self.record, seen, self.observation)

    def _which(self, rows: npt.ArrayLike | None, may_repeat: bool = False) -> IntArray:
        """Convert numbers, a (B,) bool mask or None for all rows to row numbers, (M,); raise ValueError for others."""
        if rows is None:
            return self._all_rows
        which: npt.NDArray[Any] = np.atleast_1d(np.asarray(rows))
        if which.dtype == np.bool_ and which.shape == (self.num_games,):
            return np.flatnonzero(which)
        if which.ndim != 1 or (which.size and which.dtype.kind not in "iu"):
            raise ValueError(f"rows are whole numbers or a mask of {self.num_games}, not {which.dtype} {which.shape}")
        if which.size and not 0 <= which.min() <= which.max() < self.num_games:
            raise ValueError(f"there are only rows 0 to {self.num_games - 1}, not {which.min()} to {which.max()}")
        which = for_kernels(which, np.int64)
        if not may_repeat and which.size and np.bincount(which).max() > 1:
            raise ValueError(f"row {np.bincount(which).argmax()} is named more than once")
        return which

    def _threads_for(self, rows: np.ndarray) -> int:
        return self.threads if len(rows) >= MIN_SHARED else 1

    def step(self, actions: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> None:
        """Carry out one action per row, (B,) ints; with `rows`, (M,) distinct ints or a (B,) mask, only in those.

        Raises IllegalMove, and changes nothing, if any action is illegal.
        """
        try:  # as `never_at_once` does, which would slow down the steps of a single game
            self.turn.pop()
        except IndexError:
            raise called_at_once(self, "step") from None
        try:
            which = self._which(rows)
            chosen = np.asarray(actions)
            if chosen.shape != which.shape or chosen.dtype.kind not in "iu":
                raise ValueError(
                    f"{len(which)} rows need {len(which)} whole numbers as actions, not {chosen.dtype} {chosen.shape}"
                )
            orders = self._ordered(which, chosen)
            at = find_illegal(self._state, orders)
            if at < len(orders):
                raise IllegalMove(self._complaint(int(which[at]), int(chosen[at])))
            if rows is not None:
                self.finished[:] = False
            self._write(orders)
            if self._payments:
                self._pay(self._payments, which)
        finally:
            self.turn.append(None)

    def _pay(self, payments: Payments, rows: IntArray) -> None:
        """Pay for a step that some rows have made."""
        is_over = self.finished[rows]
        ended = rows[is_over]
        payments.rewards[:] = 0
        payments.settle(ended, self.final_scores[ended], self.final_tie_breaks[ended])
        payments.pay(self.state, rows[~is_over])

    def _complaint(self, row: int, action: int) -> str:
        legal = ", ".join(action_name(int(index)) for index in np.flatnonzero(self.action_mask[row]))
        name = action_name(action) if 0 <= action < self.rules.num_actions else f"action {action}"
        return f"{name} is illegal in row {row}; seat {self.seat[row]} may {legal}"

    def sample_actions(self, rows: npt.ArrayLike | None = None) -> IntArray:
        """Draw a uniformly random legal action for each row, (B,) int64; reproducible from the row's seed."""
        try:  # as in `step`
            self.turn.pop()
        except IndexError:
            raise called_at_once(self, "sample_actions") from None
        try:
            which = self._which(rows)
            actions = np.empty(len(which), np.int64)
            if self._threads_for(which) == 1:
                sample_rows(self.compiled, self._state, which, actions, 0, 1)
            else:
                with NUMBA_THREADS:
                    sample_parts(self.compiled, self._state, which, actions, self.threads)
        finally:
            self.turn.append(None)
        return actions

    @never_at_once
    def play_games(self, steps: int) -> int:
        """Play `steps` random legal actions in every row within one kernel call; return how many games ended.

        Of these plays, the history has only the last one.

        Raises ValueError unless `steps` is a whole number from 0 to 10**12.
        """
        steps = check_whole("steps", steps, 0, 10**12)
        ended = play_games(self.compiled, self._state, self._all_rows, steps, borrow_scratch())
        self._observe()
        return int(ended)

    @never_at_once
    def set_state(self, state: State, check: bool = True, record: np.ndarray | None = None) -> None:
        """Resume from a copy of a state, (B,) of `GAME`, with the same number of games under the same rules.

        Raises ValueError, and changes nothing, if it is not such a state. `check=False` skips this check; a faulty
        state may then end the process. Dense rewards count from this state on. `record`, as the attribute was in that
        state, lets the history go on; without it plays before the state are not known, but for the last one.
        """
        if check:
            check_state(self.rules, state, self.num_games)
        if record is not None:
            self._check_record(record)
        self.state[:] = state
        self._observe(record)

    def _check_record(self, record: np.ndarray) -> None:
        known = np.asarray(record)
        is_like = known.shape == self.record.shape and known.dtype == np.int8
        if not is_like or not ((known[..., 1] >= NO_CARD) & (known[..., 1] < NUM_KINDS)).all():
            raise ValueError(
                f"record is what the engine's own one was, int8 of shape {self.record.shape} with cards from -1 to 51, "
                f"not {known.dtype} {known.shape}"
            )

    def _observe(self, record: np.ndarray | None = None) -> None:
        """Write the decisions of all rows, for a state that no step has led to."""
        self.record[:] = NO_CARD if record is None else record
        self._write(self._ordered(self._all_rows, OBSERVE))
        if self._payments:
            self._payments.count_from(self.state)

    def copy(self) -> Engine:
        """Copy the engine into an independent one in the same state."""
        return self.select(self._all_rows)

    @never_at_once
    def select(self, rows: npt.ArrayLike) -> Engine:
        """Copy some rows into an independent engine, in the given order; a row may appear more than once.

        `rows` are (M,) ints or a (B,) bool mask.
        """
        twin = Engine.__new__(Engine)
        twin.__setstate__(self._kept_of(self._which(rows, may_repeat=True)))
        return twin

    def __repr__(self) -> str:
        return f"<Engine: {self.rules}, {self.num_games} games>"

    @never_at_once
    def __getstate__(self) -> dict[str, Any]:
        return self._kept_of(self._all_rows)

    def _kept_of(self, rows: IntArray) -> dict[str, Any]:
        """Copy what copies and pickles keep of some rows; views and compiled rules are rebuilt from it."""
        names = ("rules", "features", "threads", "reward", "dense", "history")
        arrays = [array[rows] for array in (self._state, *self._outputs)]
        return {name: getattr(self, name) for name in names} | {"arrays": arrays}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        state, *outputs = kept["arrays"]
        self._build(state=state.view(np.recarray), **{name: kept[name] for name in kept if name != "arrays"})
        for target, source in zip(self._outputs, outputs, strict=True):
            target[:] = source
