"""The game at a table: who sits where, what they may do to it, and its saving. Its state is the game's record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from krypenv.advice.values import Values
from krypenv.engine import IllegalMove
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.inputs.words import one_line
from krypenv.ui.browser.requests import Request
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import CATALOGUES, called, check_language, say
from krypenv.ui.narrator.words import starting
from krypenv.ui.seats import names_of, people_of, tags_of, take_back
from krypenv.ui.study.steps import margins_of
from krypenv.ui.table import next_of
from krypenv.ui.view import END, Story, is_over, view

OF_A_SEAT = ("play", "undo", "hint", "stand_in", "end")  # what is asked for by who sits there
Keep = Callable[[bytes, bool], None]  # saves a record; the flag says that a new game has begun


class Hosted:
    """A game of people and agents.

    Args:
        game: the game, which may have begun.
        players: who sits where: names of agents, and `PERSON`.
        hint: the agent that gives hints.
        keep: saves the game's record; OSError is told to the people, who play on.
        language: one of the narrator's.

    Attributes:
        adviser: the agent that gives hints.
        people: the seats of people; where there are none, who watches may deal anew and go on.
        stand_ins: those for which an agent plays, as the person is gone: the one that gives hints.
        enders: those who would end the game here; it ends when all people who are not stood in for would.
        game: the game that is being played, one of a session perhaps.
        number: which game of this table it is, 1 for the first.
        hints: whether people may ask for hints.
        goal: what the game is about, in a sentence.
        edit: how often the game has changed, undo included; a request or an answer for another edit is stale.
        fault: why the game can't be saved, in a sentence; empty if it can.

    Raises ValueError for a language that the narrator does not have.
    """

    edit = 0

    def __init__(self, game: Game, players: Sequence[str], hint: str, keep: Keep, language: str = "en") -> None:
        self.players, self.adviser = list(players), hint
        self.people = people_of(players)
        self.stand_ins: set[int] = set()
        self.enders: set[int] = set()
        self.game, self.number, self.fault, self.language = game, 1, "", check_language(language)
        self._keep = keep
        self._past: dict[int, Game] = {}
        names = names_of(players, CATALOGUES[language]["player"], game.tags)
        self._words = {seat: Narrator(game.rules, names, seat, language) for seat in (None, *range(game.rules.players))}
        self.goal = self._words[None].lines()[0][1]
        while game.pending:
            game.pop()
        kept = {name: text for name, text in game.tags.items() if name == "Hints" or name[:4] == "Name"}
        self._tags = tags_of(players) | kept
        self.hints = self._tags.get("Hints") != "no"
        game.tags |= self._tags
        self.edit += 1
        self._stories = {seat: Story(words) for seat, words in self._words.items()}

    def view(self, seat: int | None) -> dict[str, Any]:
        """Return what a seat may see, None for who only watches."""
        return view(self.game, self._words[seat], self._stories[seat])

    def say(self, key: str, count: int | None = None, **parts: Any) -> str:
        """Return a text of the page."""
        return say(self.language, key, count, **parts)

    @property
    def first_seat(self) -> int:
        """The first person's seat; 0 where nobody plays."""
        return self.people[0] if self.people else 0

    @property
    def is_over(self) -> bool:
        """Whether the game has come to its end, or has been ended by agreement."""
        return is_over(self.game)

    @property
    def thinker(self) -> int | None:
        """The seat of the agent to act, None if a person is or nobody."""
        is_agents = not self.is_over and (self.game.turn not in self.people or self.game.turn in self.stand_ins)
        return self.game.turn if is_agents else None

    def agent(self, seat: int) -> str:
        """Return the agent that plays for a seat."""
        return self.adviser if seat in self.stand_ins else self.players[seat]

    def leads(self, seat: int | None) -> bool:
        """Return whether a seat decides what goes on at the table: people do, or who watches where there are none."""
        return seat in self.people or not self.people

    def record(self) -> bytes:
        """Return the game's record, as files have it."""
        return self.game.record().encode()

    def name(self, seat: int) -> str:
        """What a seat is called where it stands alone."""
        return starting(self._words[None].names[seat])

    @property
    def helper(self) -> str:
        """What the agent that gives hints is called."""
        return called(self.adviser)

    def hint(self, seat: int, hint: Values | Move) -> dict[str, Any]:
        """Return what the agent that gives hints advises a seat, in words and numbers; no numbers if it values none."""
        words, agent = self._words[seat], self.helper
        if isinstance(hint, Move):
            said, remark = words.advice(self.game, hint, by=agent), ""
            rows: list[tuple[Any, ...]] = [(str(hint), None, None, None)]
        else:
            best = hint.advised
            said = words.advice(self.game, Move.parse(best[0].move), best[0].sets_up)
            remark = words.say("hint.prefers", agent=agent) if hint.preferred else ""
            rows = [(each.move, each.margin.mean, each.margin.half, each.sets_up) for each in best]
        keys = ("move", "text", "margin", "half", "sweeps")
        told = [(move, words.choice(self.game, Move.parse(move))[0], *numbers) for move, *numbers in rows]
        return {"by": agent, "said": said, "head": words.say("hint.head", agent=agent), "remark": remark,
                "legend": words.say("hint.legend"), "columns": [words.say("hint.margin"), words.say("hint.sweeps")],
                "rows": [dict(zip(keys, row, strict=True)) for row in told]}  # fmt: skip

    @property
    def finished(self) -> dict[int, Game]:
        """The games of this table that are over, by their numbers."""
        return self._past | ({self.number: self.game} if self.is_over else {})

    def follow(self, before: Hosted) -> None:
        """Count games and edits on from another table, and keep its games if they were of the same kind."""
        self.number, self.edit = before.number + 1, before.edit + 1
        if (before.game.rules, before.players) == (self.game.rules, self.players):
            self._past = before.finished

    def compared(self, number: int, seat: int | None) -> str:
        """Compare a game that is over with an earlier one of the same cards, in a sentence; empty if there is none."""
        games = self.finished
        game = games[number]
        first = next((each for each, other in games.items() if each < number and other.deck == game.deck), None)
        if seat is None or first is None:
            return ""
        points = margins_of(game)[seat] - margins_of(games[first])[seat]
        key = "better" if points > 0 else "worse" if points < 0 else "level"
        size = f"{abs(points):.1f}".removesuffix(".0")
        return self.say(
            f"again.{key}", number=first, points=self.say("points.count", 1 if size == "1" else 2, points=size)
        )

    # ------------------------------------------------------------------ what people and agents do

    def do(self, seat: int | None, request: Request) -> str:
        """Do what a seat asks for; return why it can't be done, in a sentence, which changes nothing, or nothing.

        Of a hint, it says only whether one may be given.
        """
        if not self.leads(seat) or (seat is None and request.do in OF_A_SEAT):
            return self.say("only_watching")
        if request.do != "stand_in" and request.edit != self.edit:
            return self.say("stale")
        reason: str = getattr(self, f"_{request.do}")(seat, request)
        return reason

    def push(self, move: str) -> None:
        """Make an agent's move; raises IllegalMove if it is none."""
        self.game.push(move)
        self.save()

    def _play(self, seat: int, request: Request) -> str:
        if self.is_over:
            return self._words[seat].say("why.over")
        if self.game.turn != seat:
            return self.say("not_your_turn", who=self._words[None].who(self.game.turn))
        try:
            self.push(request.move)
        except IllegalMove:
            return self._words[seat].why(self.game, Move.parse(request.move))
        except ValueError as error:
            return f"{one_line(str(error))}."
        self.enders.discard(seat)
        return ""

    def _undo(self, seat: int, request: Request) -> str:
        if len(self.people) > 1:
            return self.say("no_undo")
        if not take_back(self.game, seat):
            return self._words[seat].say("undo.none")
        self.save()
        return ""

    def _next(self, seat: int, request: Request) -> str:
        if not self.game.is_over or self.game.session_over:
            return self.say("no_next")
        self._begin(next_of(self.game), is_new=False)
        return ""

    def _again(self, seat: int, request: Request) -> str:
        if len(self.people) > 1 and not self.is_over:
            return self.say("not_over")
        self._begin(self.game.rewound(), is_new=True)
        return ""

    def _hint(self, seat: int, request: Request) -> str:
        if not self.hints:
            return self.say("hints_forbidden")
        return "" if self.game.turn == seat else self.say("no_hint")

    def _go(self, seat: int, request: Request) -> str:
        return ""

    def _stand_in(self, seat: int, request: Request) -> str:
        if request.seat not in self.people:
            return self.say("no_stand_in")
        self.stand_ins.add(request.seat)
        self._end_if_agreed()
        return ""

    def _end(self, seat: int, request: Request) -> str:
        """Have a seat offer to end the game, or withdraw that."""
        if self.is_over or len(self.people) < 2:
            return self.say("no_end")
        self.enders ^= {seat}
        self._end_if_agreed()
        return ""

    def _end_if_agreed(self) -> None:
        if self.enders and self.enders >= {*self.people} - self.stand_ins and not self.is_over:
            self.game.tags[END] = "agreed"
            self.save()

    def _begin(self, game: Game, is_new: bool) -> None:
        self._past = self.finished
        game.tags = dict(self._tags)
        game.comments.clear()
        self.game, self.number, self.enders = game, self.number + 1, set()
        self._stories = {seat: Story(words) for seat, words in self._words.items()}
        self.save(is_new)

    # ------------------------------------------------------------------ saving

    def save(self, is_new: bool = False) -> None:
        """Save the game, a new one to a new file; where it can't be saved, keep the reason for the people."""
        self.fault, self.edit = "", self.edit + 1
        try:
            self._keep(self.record(), is_new)
        except OSError as error:
            self.fault = self.say("not_saved", reason=one_line(error.strerror or str(error)))
