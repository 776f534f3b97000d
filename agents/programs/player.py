"""A player that is another program: it is told what its seat may see, and answers with a move."""

from __future__ import annotations

import os
from collections import OrderedDict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from krypenv.agents.base import BaseAgent, IntArray, check_options, check_seed, format_spec
from krypenv.agents.own import PROGRAM
from krypenv.agents.programs.messages import BYE, MOVE, NAME, Answer, decide, hello, read_answer
from krypenv.agents.programs.peer import Peer, ProgramFailed, split_command
from krypenv.game.game import Game
from krypenv.inputs.words import one_line
from krypenv.kernels.decision_checks import check_decisions
from krypenv.rules import Rules
from krypenv.runtime.threads import Lock, in_turn
from krypenv.worlds.determinize import check_genuine, determinize

SECONDS = 60.0  # for a decision
TO_START = 60.0  # seconds for the first answer, at least
MOST_PLANS = 100_000  # plays that were begun, of which the rest is kept


class Program(BaseAgent):
    """Plays what another program answers, in the protocol of docs/programs.md.

    The program is started when this object is made, and ended with it. It is asked for one decision after another, each
    told whole; of games it is told nothing else. A move is asked for once, and then played by its staged actions.

    Args:
        command: the command that starts it; it is split into words as a shell does, and no shell is started.
        seconds: the time limit for a decision.

    Attributes:
        title: what the program calls itself.
        files: the files among the words of the command.

    Raises ValueError for a command that names no program, and `ProgramFailed`, a ValueError, where the program does
    not start or does not answer as it should. `act` raises it too. A program that gives no answer that can be read, or
    none in time, is ended, and every later decision fails at once; one that names an illegal move goes on.
    """

    needs_history = True  # it is told the plays of the deal, where they are there to be told

    def __init__(self, rules: Rules, seed: int = 0, *, command: str = "", seconds: float = SECONDS) -> None:
        options: dict[str, Any] = {"command": command, "seconds": seconds}
        check_options(PROGRAM, Program, options)
        files = [word for word in split_command(command) if os.path.isfile(word)]
        given = options if seconds != SECONDS else {"command": command}
        self.name, self.rules, self.lock = format_spec(PROGRAM, given), rules, Lock()
        self.files = [Path(word) for word in files]
        self._made = partial(Program, rules, check_seed(seed), **options)
        self._seconds = float(seconds)
        self._asked = 0
        self._plans: OrderedDict[bytes, list[int]] = OrderedDict()  # the actions that follow, by what is seen
        self._peer = Peer(command, BYE)
        answer = self._ask(hello(rules, seed, self._seconds), max(TO_START, self._seconds), NAME)
        if answer.is_error:
            self._peer.fail(f"won't play: {one_line(answer.text)}")
        self.title = one_line(answer.text, 80)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made, ()  # a copy starts a program of its own

    def end(self) -> None:
        """End the program, as happens where this object is lost."""
        self._peer.end()

    @in_turn
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> IntArray:
        """Return the program's action for each row, (B,) int64; see `krypenv.agents.Agent`."""
        seen, masks = check_decisions(self.rules, observations, action_masks)
        check_genuine(self.rules, seen, masks)
        # A world has what the seat sees; what is made up in it is not told.
        return np.array([self._choose(*pair) for pair in zip(determinize(seen, 0, self.rules), seen, strict=True)])

    def _choose(self, world: np.ndarray, seen: np.ndarray) -> int:
        """Return the next action of a play that was begun, or the first one of the program's move."""
        key = seen[: self.rules.observation_size].tobytes()
        if key in self._plans:
            return self._recall(key)
        game = Game.at_row(self.rules, world)
        self._asked += 1
        answer = self._ask(decide(self._asked, game, seen, self._seconds), self._seconds, MOVE, self._asked)
        if answer.is_error:
            raise ProgramFailed(self._peer.sentence(f"gives up: {one_line(answer.text)}"))
        try:
            game.push(answer.text)
        except ValueError as error:
            raise ProgramFailed(self._peer.sentence(f"gave no legal move: {error}")) from None
        first, *others = list(game.actions)
        game.pop()
        self._plan(game, first, others)
        return first

    def _ask(self, message: dict[str, Any], seconds: float, key: str, number: int | None = None) -> Answer:
        """Return the answer to a message; a program that does not give one is ended."""
        answer = self._peer.ask(message, seconds)
        try:
            return read_answer(answer, key, number)
        except ValueError as error:
            self._peer.fail(f"gave a wrong answer to {message['type']}: {error}")

    def _plan(self, game: Game, action: int, others: list[int]) -> None:
        """Keep the actions that follow one, each under what its seat will see."""
        for following in others:
            game.act(action)
            self._plans.setdefault(game.observation().tobytes(), []).append(following)
            action = following
        while len(self._plans) > MOST_PLANS:  # of games that were not played on
            self._plans.popitem(last=False)

    def _recall(self, key: bytes) -> int:
        """Return a planned action; those of plays that look alike are interchangeable."""
        following = self._plans[key].pop(0)
        if not self._plans[key]:
            del self._plans[key]
        return following
