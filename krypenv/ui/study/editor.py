"""The editor of positions: what a page changes in one, what it is told of it, and the way back."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from krypenv.cards import NUM_KINDS, card_name
from krypenv.game.game import Game
from krypenv.inputs.words import one_line
from krypenv.notation import LINE_END, NotationError
from krypenv.rules import Rules
from krypenv.ui.browser.texts import say
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.words import starting
from krypenv.ui.study import boards
from krypenv.ui.study.boards import Board
from krypenv.ui.study.visits import LARGEST

MOST_BACK = 200  # changes that can be taken back


class Checked(NamedTuple):
    """Whether a text is a position that can be studied."""

    error: str = ""  # why not, in a sentence; empty if it is
    fault: str = ""  # the key of the entry that is wrong; empty if none by itself
    game: Game | None = None


class Editor:
    """A position that a page sets up.

    Args:
        language: of what is told.

    Attributes:
        text: of the position, whatever was typed.
        number: of the change after which it stands as it does.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self.text, self.number = "", 0
        self._board: Board | None = None  # the last that could be read
        self._error: NotationError | None = None  # why the text can't be read
        self._past: list[str] = []
        self._is_typing = False

    def begin(self, text: str) -> None:
        """Begin with a text."""
        self._past.clear()
        self._take(text)

    def take(self, text: str, is_typed: bool) -> None:
        """Take a text, which need not make sense yet; one step back undoes all that was typed key by key.

        Raises ValueError for one that is too long.
        """
        if len(text) > LARGEST:
            raise ValueError(f"a position has at most {LARGEST:,} characters, not {len(text):,}")
        self._change(LINE_END.sub("\n", text), is_typed)

    def do(self, request: dict[str, Any]) -> None:
        """Change the board as a page asks for; raises ValueError, with a sentence, if it can't be done."""
        if self._error or self._board is None:
            raise ValueError(self.say("editor_mend"))
        self._change(self._changed(self._board, **request))

    def back(self) -> None:
        """Take the last change back."""
        if self._past:
            self._take(self._past.pop())
            self._is_typing = False

    def say(self, key: str, **parts: Any) -> str:
        """Return a text of the page."""
        return say(self._language, key, **parts)

    def _change(self, text: str, is_typed: bool = False) -> None:
        if text != self.text and not (is_typed and self._is_typing):
            self._past = [*self._past[1 - MOST_BACK :], self.text]
        self._is_typing = is_typed
        self._take(text)

    def _take(self, text: str) -> None:
        self.text, self.number, self._error = text, self.number + 1, None
        try:
            self._board = boards.read_board(text)
        except NotationError as error:
            self._error = error

    def _changed(self, board: Board, do: str, **its: Any) -> str:
        """Return the text after a change."""
        text, rules = self.text, board.rules
        if do == "put":
            return boards.put(text, board, its["card"], its["to"], its.get("from"))
        if do == "rest":
            return boards.with_rest(text, board, its["to"])
        if do == "number":
            return boards.with_number(text, board, its["key"], its["seat"], its["number"])
        if do == "clear":
            return boards.empty(rules)
        if do == "shuffle":
            return boards.dealt(rules)
        key, value = its["key"], its["value"]
        if key == "preset":
            return boards.with_preset(text, board, value)
        if key == "rules":
            return boards.with_rules(text, board, Rules.parse(value))
        if key in ("players", "deal", "turn"):
            if not value.isdecimal() or len(value) > 3:
                raise ValueError(f"{key} is a number, not {one_line(value, 80)!r}")
            if key == "players":
                return boards.with_players(text, board, int(value))
            if key == "turn":
                return boards.with_turn(text, board, int(value))
            return boards.with_deal(text, board, int(value), random.Random())
        return boards.with_value(text, board, key, value)

    # ------------------------------------------------------------------ what is told

    def told(self) -> dict[str, Any]:
        """Return the board as JSON has it: the last one that could be read, and why the text can't be if it can't."""
        board = self._board
        return {
            "number": self.number,
            "text": self.text,
            "error": one_line(str(self._error)) if self._error else "",
            "undo": bool(self._past),
            "board": board and _told_board(board, self._language),
        }

    def check(self) -> Checked:
        """Return whether the text is a position; the first time, code is compiled for it."""
        text, board = self.text, self._board
        if self._error:
            return Checked(one_line(str(self._error)))
        try:
            return Checked(game=Game.from_position(text))
        except NotationError as error:
            return Checked(one_line(str(error)), boards.fault_of(board.entries, error) if board else "")

    def told_check(self, number: int, checked: Checked) -> dict[str, Any]:
        """Return what was found of the text after a change, in words."""
        game, told = checked.game, ""
        turn = None if game is None or game.is_over else game.turn
        if game and turn is None:
            told = self.say("editor_over")
        elif game and turn is not None:
            who = starting(Narrator(game.rules, language=self._language).who(turn))
            told = self.say("editor_ready", who=who, number=game.deal_number, of=len(game.rules.deal_sizes()))
        return {
            "number": number,
            "error": checked.error,
            "fault": checked.fault,
            "told": told,
            "turn": turn,
            "last": game.last_capturer if game else None,
            "dealer": game.dealer if game else None,
        }


def _told_board(board: Board, language: str) -> dict[str, Any]:
    rules, left = board.rules, board.left
    names = Narrator(rules, language=language).names
    return {
        "rules": str(rules),
        "preset": rules.name,
        "presets": Rules.presets(),
        "players": rules.players,
        "counts": list(boards.counts_of(rules.name)),
        "names": [starting(name) for name in names],
        "deck": [
            {"card": card_name(kind), "left": max(0, left[kind])}
            for kind in range(NUM_KINDS)
            if rules.deck_counts[kind]
        ],
        "left": sum(max(0, count) for count in left),
        "rest": board.rest,
        "places": [_told_place(board, zone) for zone in _shown_zones(board)],
        "builds": [int(zone.split()[1]) for zone in board.zones if zone.startswith("build ")],
        "dealer": _seat(board, "dealer", rules.players - 1),
        "last": _seat(board, "last-capturer", None),
        "deal": board.deals.index(board.stock) + 1 if board.stock in board.deals else None,
        "deals": len(board.deals),
        "sweeps": _sweeps(board),
    }


def _shown_zones(board: Board) -> list[str]:
    """Return the zones that the page shows: those in which there may well be cards, and those in which there are."""
    usual = ("hand", "captured", "table", "stock", *["aside"] * bool(board.rules.aside_kinds.any()))
    return [
        zone
        for zone, names in board.zones.items()
        if zone.split()[0] in usual or names or zone == board.rest or zone in board.entries.entries
    ]


def _told_place(board: Board, zone: str) -> dict[str, Any]:
    word, _, number = zone.partition(" ")
    return {
        "key": zone,
        "kind": word,
        "seat": int(number) if word in ("hand", "captured") else None,
        "value": int(number) if word == "build" else None,
        "owner": _seat(board, f"owner {number}", None) if word == "build" else None,
        "cards": board.zones[zone],
        "rest": zone == board.rest,
    }


def _seat(board: Board, key: str, default: int | None) -> int | None:
    """Return the seat in an entry as far as it can be read."""
    value = board.entries.value(key)
    is_one = value.isdecimal() and len(value) < 3 and int(value) < board.rules.players
    return int(value) if is_one else default


def _sweeps(board: Board) -> list[int]:
    """Return the sweeps of the seats as far as they can be read."""
    try:
        return board.entries.numbers("sweeps", board.rules.players)
    except NotationError:
        return [0] * board.rules.players
