"""An agent that is another program, and version 1 of the protocol that it speaks (docs/programs.md)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from krypenv import observation
from krypenv.agents.programs.asked import Asked, view_of
from krypenv.agents.programs.peer import Peer, ProgramFailed
from krypenv.game.game import Game
from krypenv.inputs.words import one_line, shown
from krypenv.rules import Rules

VERSION = 1
BYE = {"type": "bye"}
NAME, MOVE, ERROR = "name", "move", "error"  # keys of answers: what is asked for, and what may come in its place
SECONDS = 60.0  # for a decision
TO_START = 60.0  # seconds for the first answer, at least


# ---------------------------------------------------------------------- messages


def hello(rules: Rules, seed: int, seconds: float) -> dict[str, Any]:
    """Make the first message: the versions, the rules, and the blocks of observations."""
    return {
        "type": "hello",
        "protocol": VERSION,
        "krypenv": metadata.version("krypenv"),
        "rules": str(rules),
        "fields": dataclasses.asdict(rules),
        "seed": seed,
        "seconds": seconds,
        "observation": {
            "version": observation.VERSION,
            "blocks": {name: [part.start, part.stop] for name, part in rules.layout.items()},
        },
    }


def decide(number: int, game: Game, seen: np.ndarray, seconds: float) -> dict[str, Any]:
    """Ask for a move of the seat to act in a game that shows it `seen`, (N,) int8, and nothing else."""
    return {"type": "decide", "id": number, "seconds": seconds, **view_of(game, seen)}


def check_answer(answer: Any, key: str, number: int | None = None) -> dict[str, Any]:
    """Check that an answer has a text under a key, or else under `ERROR`, and the id `number` if there is one.

    Raises ValueError, naming the fault.
    """
    checked: dict[str, Any] = answer if isinstance(answer, dict) else {}
    kinds = {ERROR if ERROR in checked else key: str} | ({} if number is None else {"id": int})
    for name, kind in kinds.items():
        if type(checked.get(name)) is not kind:
            raise ValueError(f"{name} should be of type {kind.__name__}, not {shown(checked.get(name))}")
    if number is not None and checked["id"] != number:
        raise ValueError(f"id is {shown(checked['id'])}, and that of the question is {number}")
    return checked


# ---------------------------------------------------------------------- the agent


class Program(Asked):
    """Plays what another program answers, in the protocol of docs/programs.md.

    The program is started when this object is made, and ended with it; a copy starts one of its own. Each question
    holds all that the seat may know. A move is asked for once, and then played by its staged actions.

    Args:
        command: the command that starts it; it is split into words as a shell does, and no shell is started.
        seconds: the time limit for a decision.

    Attributes:
        files: the files among the words of the command.

    Raises ValueError for an empty command, and `ProgramFailed`, a ValueError, if the program does not start or breaks
    the protocol, as `act` does too. A program without a valid answer in time is ended, and every later decision fails
    at once; one that names an illegal move goes on.
    """

    def __init__(self, rules: Rules, seed: int = 0, *, command: str = "", seconds: float = SECONDS) -> None:
        super().__init__("process", rules, seed, locals())
        self._seconds, self._asked = float(seconds), 0
        self._peer = Peer(command, BYE)
        self.files = [path for path in map(Path, self._peer.words) if path.is_file()]
        greeting, at_most = hello(rules, seed, self._seconds), max(TO_START, self._seconds)
        answer = self._peer.ask(greeting, at_most, partial(check_answer, key=NAME))
        if ERROR in answer:
            self._peer.fail(f"won't play: {one_line(answer[ERROR])}")

    def end(self) -> None:
        """End the program, as happens when this object is collected."""
        self._peer.end()

    def ask(self, games: Sequence[Game], seen: np.ndarray) -> list[str]:
        """Ask the program for a legal move in each game."""
        return [self._move_in(*pair) for pair in zip(games, seen, strict=True)]

    def _move_in(self, game: Game, seen: np.ndarray) -> str:
        self._asked += 1
        question = decide(self._asked, game, seen, self._seconds)
        answer = self._peer.ask(question, self._seconds, partial(check_answer, key=MOVE, number=self._asked))
        if ERROR in answer:
            raise ProgramFailed(self._peer.sentence(f"gives up: {one_line(answer[ERROR])}"))
        try:
            game.push(answer[MOVE])
        except ValueError as error:
            raise ProgramFailed(self._peer.sentence(f"gave no legal move: {error}")) from None
        game.pop()
        return str(answer[MOVE])
