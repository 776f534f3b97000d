"""Random play with every invariant checked after every ply, as one kernel over rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krypenv import Engine, Rules, determinize
from krypenv.cards import BUILD, TAKE
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import bit_index, count_bits, support
from krypenv.kernels.decision_checks import FAULTS, LEGAL, SOUND, TURN, check_decisions
from krypenv.kernels.play import act, end_session, first_game, next_game
from krypenv.runtime.jit import handle, kernel
from krypenv.state import ACTIONS, MAY_STOP, allocate, is_legal, random_below
from krypenv.worlds.determinize import check_genuine
from krypenv.worlds.invariants import fault_of_state
from support.games import refresh, seen_by

ANY, TAKE_MUCH, TAKE_LITTLE, BUILD_MUCH = range(4)  # styles of play: row r plays in the style r % 4
ROWS = 64
STEPS = 8  # plies of each row at a time; then whoever runs this may stop it
LOOK_AFTER = 16  # times; then what a seat sees is looked at


@kernel
def _with_style(compiled: np.record, game: np.record, style: int) -> tuple[int, int, int]:
    """Return the legal plays, takes and builds, as bits, that a style prefers; all of them if it has no preference."""
    plays, takes, builds = np.int64(game.legal_plays), np.int64(game.legal_takes), np.int64(game.legal_builds)
    if style == TAKE_MUCH and takes & ~MAY_STOP | builds != 0:
        takes &= ~MAY_STOP
    elif style == TAKE_LITTLE:
        if takes & MAY_STOP:
            return 0, MAY_STOP, 0
        values = np.int64(compiled.group_values[support(game.table_ranks)])
        creeps, left = np.int64(0), plays
        while left != 0:
            bit = left & -left
            left ^= bit
            creeps |= bit * (compiled.hand_choice[bit_index(bit)] & values == 0)
        plays = creeps if creeps != 0 else plays
    elif style == BUILD_MUCH and builds != 0:
        takes = np.int64(0)
    return plays, takes, builds


@kernel
def choose(compiled: np.record, game: np.record, style: int) -> int:
    """Return a random legal action in a style of play, or -1 if there is none."""
    plays, takes, builds = _with_style(compiled, game, style)
    num_plays, num_takes, num_builds = count_bits(plays), count_bits(takes), count_bits(builds)
    if num_plays + num_takes + num_builds == 0:
        return -1
    at = random_below(game, ACTIONS, num_plays + num_takes + num_builds)
    left, first = plays, 0
    if at >= num_plays + num_takes:
        left, first, at = builds, BUILD, at - num_plays - num_takes
    elif at >= num_plays:
        left, first, at = takes, TAKE, at - num_plays
    for _ in range(at):
        left &= left - 1
    return bit_index(left & -left) + first


@kernel
def play_rows(
    compiled: np.ndarray, state: np.ndarray, steps: int, twin: np.ndarray, scratch: np.ndarray, counts: np.ndarray
) -> tuple[int, int]:
    """Play random plies in each row, and check every invariant after each; return the first faulty row and its fault.

    After a game the next one is dealt, and checked too. Without a fault the row is B. `twin` is scratch, (1,) of
    `GAME`; `counts`, (3,) int64, are added to: plies, games and sessions.
    """
    rules = compiled[0]
    for row in range(len(state)):
        game = state[row]
        for _ in range(steps):
            action = choose(rules, game, row % 4)
            if not is_legal(game, action):
                return row, LEGAL
            act(rules, game, action, scratch[0])
            counts[0] += 1
            fault = fault_of_state(rules, game, twin, scratch[0])
            if fault == SOUND and game.over:
                counts[1] += 1
                if end_session(rules, game):
                    counts[2] += 1
                    first_game(rules, game, scratch[0])
                else:
                    next_game(rules, game, scratch[0])
                fault = fault_of_state(rules, game, twin, scratch[0]) if not game.over else TURN
            if fault != SOUND:
                return row, fault
    return len(state), SOUND


@dataclass
class CheckedPlay:
    """Random games of some rules, in which every invariant is checked after every ply, and what a seat sees often."""

    rules: Rules
    seed: int

    def __post_init__(self) -> None:
        self.engine = Engine(self.rules, ROWS, seed=self.seed)
        self.counts = np.zeros(3, np.int64)
        self.times = 0

    @property
    def plies(self) -> int:
        """Plies that were played and checked."""
        return int(self.counts[0])

    def _play(self, engine: Engine, steps: int, where: str) -> None:
        row, fault = play_rows(
            engine.compiled, engine._state, steps, handle(allocate(1)), borrow_scratch(), self.counts
        )
        assert fault == SOUND, f"{where} {row} of {self.rules}, seed {self.seed}, ply {self.plies}: {FAULTS[fault]}"

    def go_on(self) -> None:
        """Play some plies in each row; what a seat sees now and then is that of a world, which is played on too."""
        self._play(self.engine, STEPS, "row")
        self.times += 1
        if self.times % LOOK_AFTER == 0:
            refresh(self.engine)
            check_decisions(self.rules, self.engine.observation, self.engine.action_mask)
            check_genuine(self.rules, self.engine.observation, self.engine.action_mask)
            seat = self.times // LOOK_AFTER % self.rules.players
            worlds = determinize(seen_by(self.engine, np.full(ROWS, seat)), self.times, self.rules)
            self._play(Engine.from_state(self.rules, worlds), STEPS, "world of row")
