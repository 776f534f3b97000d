"""What a learner plays: the positions of the lessons one by one, then a game with a guide beside its first deal.

A lesson is a file of data in `positions/`: a small position that teaches by being played.
The guide says what is possible, what an agent would do, and why, in a few sentences.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from krypenv.advice.values import Values
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.rules import Rules
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.requests import Request
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON

GUIDE = "search(worlds=60)"
OPPONENT = "greedy"
SEED = 5  # of a deal in which much can be learned
FOLDER = Path(__file__).parent / "positions"
OTHER = "Kim"  # what the texts call the other player


class Lesson(NamedTuple):
    """A position and what is to be done in it, in one language."""

    position: str  # the first seat is the learner's, and to play
    accept: tuple[str, ...]  # the moves that solve it
    then: tuple[str, ...]  # the moves that follow, which show what it was good for
    title: str
    task: str
    right: str  # what is said once it is solved
    wrong: dict[str, str]  # what is said of each other legal move

    def game(self) -> Game:
        """Return the position."""
        return Game.from_position(self.position)


@cache
def lessons_in(language: str) -> tuple[Lesson, ...]:
    """Return all lessons in their order."""
    found = []
    for path in sorted(FOLDER.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        found.append(Lesson(data["position"], tuple(data["accept"]), tuple(data["then"]), **data[language]))
    return tuple(found)


class Exercise(Hosted):
    """A game at which somebody learns; a request for another lesson puts another game in its place.

    Args:
        lesson: the lesson to begin with; the one after the last is the guided deal.
        language: of all texts.

    Attributes:
        lesson: the number of the lesson, 0 for the first.
    """

    def __init__(self, lesson: int, language: str) -> None:
        self.lesson, self._lessons = lesson, lessons_in(language)
        super().__init__(self._lessons[0].game(), (PERSON, OTHER), OPPONENT, _nowhere, language)
        self.choose(lesson)

    @property
    def is_guided(self) -> bool:
        """Whether this is the guided deal, or the game that goes on after it."""
        return self.lesson == len(self._lessons)

    def choose(self, lesson: int) -> None:
        """Go to a lesson, or begin it again; a number too high is the guided deal."""
        self.lesson = min(lesson, len(self._lessons))
        players = PERSON, OPPONENT if self.is_guided else OTHER
        game = Game(Rules.preset("krypkasino"), SEED) if self.is_guided else self._lessons[self.lesson].game()
        super().__init__(game, players, OPPONENT, _nowhere, self.language)
        self.number += self.lesson
        self._said, self._is_solved, self._is_wrong = "", False, False

    def view(self, seat: int | None) -> dict[str, Any]:
        """Return what a seat may see; once a lesson is solved it is nobody's turn."""
        return super().view(seat) | ({"turn": None} if self._is_solved else {})

    # ------------------------------------------------------------------ what is said

    def told(self) -> dict[str, Any]:
        """Return what the page shows of the lesson."""
        is_over = self.is_guided and self.game.deal_number > 1
        lesson = None if self.is_guided else self._lessons[self.lesson]
        return {
            "number": self.lesson,
            "titles": [*(each.title for each in self._lessons), self.say("lesson_guided")],
            "task": lesson.task if lesson else self.say("lesson_guided_over" if is_over else "lesson_guided_task"),
            "said": self._guidance() if self.is_guided else self._said,
            "solved": self._is_solved or is_over,
            "wrong": self._is_wrong,
        }

    @property
    def wants_advice(self) -> bool:
        """Whether the guide is to say what it would do."""
        game = self.game
        return self.is_guided and not game.is_over and game.turn == 0 and game.deal_number == 1

    def hear(self, advice: Values) -> None:
        """Take the guide's advice for the decision that the page shows."""
        self._said = told_advice(self.game, self._words[0], advice)

    def _guidance(self) -> str:
        if not self.wants_advice:
            return ""
        return f"{possible(self.game, self._words[0])} ".lstrip() + (self._said or self.say("lesson_guide_thinks"))

    # ------------------------------------------------------------------ what is done

    def do(self, seat: int | None, request: Request) -> str:
        """Do what belongs to a lesson; see `Hosted`."""
        return super().do(seat, request) if request.do in ("play", "undo", "go") else self.say("lesson_no")

    @property
    def thinker(self) -> int | None:
        """The seat of the agent to act: in a lesson nobody."""
        return super().thinker if self.is_guided else None

    def _play(self, seat: int, request: Request) -> str:
        if self.is_guided:
            reason = super()._play(seat, request)
            self._said = self._said if reason else ""
            return reason
        if self._is_solved:
            return self.say("lesson_solved")
        lesson = self._lessons[self.lesson]
        reason = super()._play(seat, request)
        if reason:
            return reason
        made = str(self.game.moves[-1]).rstrip("#")
        self._is_solved = made in lesson.accept
        self._is_wrong = not self._is_solved
        if self._is_solved:
            self._said = lesson.right
            for move in lesson.then:
                self.push(move)
        else:
            self._said = lesson.wrong[made]
            self.game.pop()
        return ""

    def _undo(self, seat: int, request: Request) -> str:
        if self.is_guided:
            self._said = ""
            return super()._undo(seat, request)
        self.choose(self.lesson)
        return ""


def _nowhere(record: bytes, is_new: bool) -> None:
    """Lessons are not saved."""


# ---------------------------------------------------------------------- the guide


def possible(game: Game, words: Narrator) -> str:
    """Return what the seat to act can do: what takes, what stays, or what it must; empty where it has one card left."""
    moves = game.legal_moves()
    hand = dict.fromkeys(game.hand(game.turn))
    if game.rules.forced_sweep and all(move.sweep for move in moves):
        return words.announcement(game)
    if len(hand) == 1:
        return ""
    taking = dict.fromkeys(move.card for move in moves if move.takes)
    staying = [card for card in hand if card not in taking]
    if not taking:
        return words.say("guide.none")
    if not staying:
        return words.say("guide.all", cards=words.cards(taking))
    return words.say("guide.some", cards=words.cards(taking), others=words.cards(staying))


def told_advice(game: Game, words: Narrator, advice: Values) -> str:
    """Tell what the guide would do, and what that is good for."""
    best = advice.advised[0]
    move = Move.parse(best.move)
    text, worth = words.choice(game, move)
    if len(advice.values) == 1:
        return words.say("hint.only", move=text)
    said = words.advice(game, move, best.sets_up)
    is_dear = worth.startswith("-") and not move.sweep
    return f"{said} {words.say('hint.dear')}" if is_dear else said
