"""What a picture of a game shows, and where: things with rectangles, before anything is drawn."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from typing import NamedTuple

from krypenv.cards import parse_card, rank_of
from krypenv.game.display import (
    LastPlay,
    format_announcement,
    format_place,
    format_result,
    last_play,
    seat_counts,
)
from krypenv.game.game import Game
from krypenv.pictures.places import SHAPE, Rect, lay_cards
from krypenv.pictures.svg import text_width

WIDTH, HEIGHT = 960, 720  # of a picture in its own units
_EDGE, _GAP, _LINE = 12, 8, 24
_SEATS_TOP, _SEATS_HEIGHT = 40, 158
_FELT = Rect(_EDGE, 206, WIDTH - 2 * _EDGE, 296)
_TABLE = Rect(158, 216, 644, 236)
_STOCK = Rect(28, 218, 118, 272)
_ASIDE = Rect(814, 218, 118, 272)
_RIBBON = Rect(158, 457, 644, 36)
_LAST = Rect(_EDGE, 508, WIDTH - 2 * _EDGE, 54)
_BOTTOM = Rect(_EDGE, 568, WIDTH - 2 * _EDGE, 144)
_OWN_COUNTS = 340  # width of what stands beside the hand at the bottom
_CARD, _HAND_CARD, _SEAT_CARD, _ASIDE_CARD, _BUILD_CARD, _LAST_CARD = 104, 84, 60, 44, 56, 35  # widest of each place
_BUILDS = 108  # height of the builds
_SHEET = Rect(28, 214, 904, 240)
_SHEET_LABEL, _SHEET_CELL, _ROW = 400, 150, 28  # columns and rows of the sheet, at most
_LONGEST = 76  # characters of a caption in one line
_MOST_LAST = 8  # cards side by side in the line of the last play
PLAIN, BOLD = 20, 22  # sizes of texts


class Thing(NamedTuple):
    """Something in a picture."""

    kind: str  # "card", "back", "text", "panel", "felt" or "ribbon"
    place: str  # "table", "hand 0", "stock", "aside", "last", "ribbon", "seat 0", "sheet" or "head"
    rect: Rect
    text: str = ""  # the name of a card, or what is written
    style: str = ""  # "marked" for a card taken or a seat that is to act; of a text "left", "right" or "title"


class Said(NamedTuple):
    """What is written in a picture in words that come from elsewhere."""

    title: str = ""  # what the game is called; by default its rules in short
    caption: str = ""  # what was played, in place of the cards of the last play
    sheet: Sequence[Sequence[str]] = ()  # the score of a game that is over: rows of a label and a cell for each seat


def lay_out(
    game: Game,
    seats: Collection[int],
    bottom: int = 0,
    names: Sequence[str] | None = None,
    said: Said = Said(),  # noqa: B008 - it can't be changed
) -> tuple[Thing, ...]:
    """Return what a picture of a game shows, from the back to the front.

    Args:
        game: the game.
        seats: the seats whose hands are shown; the others lie face down.
        bottom: the seat at the bottom; the others follow from left to right, as they sit clockwise (R5).
        names: what the seats are called.
        said: title, caption and score in words.
    """
    players = game.rules.players
    called = [f"Seat {seat}" for seat in range(players)] if names is None else list(names)
    things = [
        Thing("text", "head", Rect(_EDGE + 4, 8, 640, 26), said.title or str(game.rules), "left"),
        Thing("text", "head", Rect(WIDTH - 284 - _EDGE, 8, 280, 26), format_place(game), "right"),
        Thing("felt", "table", _FELT),
    ]
    others = [(bottom + step) % players for step in range(1, players)]
    width = min((_BOTTOM.w + _GAP) / len(others) - _GAP, 460)
    left = (WIDTH - len(others) * (width + _GAP) + _GAP) / 2
    for number, seat in enumerate(others):
        panel = Rect(left + number * (width + _GAP), _SEATS_TOP, width, _SEATS_HEIGHT)
        head, cards = panel.inside(8).split_rows(3 * _LINE + 6)
        things += _seat(game, seat, called[seat], panel, head, cards, _SEAT_CARD, seat in seats)
    head, cards = _BOTTOM.inside(12).split_columns(_OWN_COUNTS)
    things += _seat(game, bottom, called[bottom], _BOTTOM, head, cards, _HAND_CARD, bottom in seats)
    sheet = said.sheet if game.is_over else ()
    table = _sheet(sheet) if sheet else _table(game)
    return (*things, *table, *_words(game, called, bool(sheet), said.caption))


def _seat(
    game: Game, seat: int, name: str, panel: Rect, head: Rect, cards: Rect, widest: int, is_open: bool
) -> list[Thing]:
    """Return a seat's panel: its name and role, its score, what it has, and its hand."""
    counts = seat_counts(game, seat)
    score = counts.pop("score")
    roles = ["dealer"] * (seat == game.dealer)
    roles += [] if game.rules.teams is None else [f"team {seat % game.rules.num_teams}"]
    place = f"seat {seat}"
    first, rest = head.split_rows(_LINE + 4)
    second, third = rest.split_rows(_LINE)
    words = [f"{name} {count}" for name, count in counts.items()]
    return [
        Thing("panel", place, panel, style="marked" if seat == game.turn else ""),
        Thing("text", place, first._replace(w=first.w - 92), name, "left bold"),
        Thing("text", place, Rect(first.x + first.w - 88, first.y, 88, first.h), f"score {score}", "right bold"),
        Thing("text", place, second, "  ".join(words), "left"),
        Thing("text", place, third._replace(h=_LINE), " · ".join(roles), "left"),
        *_cards(game.hand(seat) if is_open else [""] * len(game.hand(seat)), f"hand {seat}", cards, widest),
    ]


def _table(game: Game) -> list[Thing]:
    """Return the middle of the table: the cards in play, the builds, the stock, and the cards set aside."""
    taken = game.taken
    things = []
    loose, room = _TABLE.split_rows(_TABLE.h - (_BUILDS if game.builds else 0))
    width = room.w / max(1, len(game.builds))
    for number, (value, cards, owner, is_multiple) in enumerate(game.builds):
        label = f"build of {value}, seat {owner}{', multiple' if is_multiple else ''}"
        place = Rect(room.x + number * width, room.y, width - _GAP, room.h)
        head, rest = place.split_rows(26)
        things.append(Thing("text", f"build {value}", head, label))
        things += _cards(cards, f"build {value}", rest, _BUILD_CARD)
    by_rank = sorted(game.table, key=lambda name: (rank_of(parse_card(name)), parse_card(name)))
    for card in _cards(by_rank, "table", loose, _CARD):
        is_taken = card.text in taken
        if is_taken:
            taken.remove(card.text)
        things.append(card._replace(style="marked") if is_taken else card)
    head, rest = _STOCK.split_rows(26)
    backs = [Rect(rest.x + 20 + 4 * at, rest.y + 8 + 4 * at, 72, SHAPE * 72) for at in range(min(3, game.stock_size))]
    things += [Thing("text", "stock", head, f"stock {game.stock_size}"), *(Thing("back", "stock", at) for at in backs)]
    if game.rules.set_aside != "none":
        head, rest = _ASIDE.split_rows(26)
        things += [Thing("text", "aside", head, "put aside"), *_cards(game.set_aside, "aside", rest, _ASIDE_CARD)]
    return things


def _cards(names: Sequence[str], place: str, room: Rect, widest: float) -> list[Thing]:
    """Return cards laid out in a room; a name of "" is a card face down."""
    places = lay_cards(len(names), room, widest)
    return [Thing("card" if name else "back", place, rect, name) for name, rect in zip(names, places, strict=True)]


def _sheet(rows: Sequence[Sequence[str]]) -> list[Thing]:
    """Return the score of a game, row by row, in the middle of the table."""
    height = min(_SHEET.h / len(rows), _ROW)
    top = _SHEET.y + (_SHEET.h - height * len(rows)) / 2
    things = []
    for number, (label, *cells) in enumerate(rows):
        width = min((_SHEET.w - _SHEET_LABEL) / len(cells), _SHEET_CELL)
        first = Rect(_SHEET.x + (_SHEET.w - _SHEET_LABEL - width * len(cells)) / 2, top + number * height, 0, height)
        weight = " bold" if number in (0, len(rows) - 1) else ""
        things.append(Thing("text", "sheet", first._replace(w=_SHEET_LABEL), label, f"left{weight}"))
        for at, cell in enumerate(cells):
            place = first._replace(x=first.x + _SHEET_LABEL + at * width + _GAP, w=width - _GAP)
            things.append(Thing("text", "sheet", place, cell, f"right{weight}"))
    return things


def _words(game: Game, called: Sequence[str], has_sheet: bool, caption: str) -> list[Thing]:
    """Return the last play with its cards or in words, and what must be announced, or how the game ended."""
    said = format_announcement(game)
    words = format_result(game) if game.is_over else f"“{said}”" if said else ""
    width = min(_RIBBON.w, text_width(words, BOLD, True) + 40)
    height = _TABLE.y + _TABLE.h / 2 - _RIBBON.h if game.is_over and not has_sheet else _RIBBON.y
    place = Rect(_RIBBON.x + (_RIBBON.w - width) / 2, height, width, _RIBBON.h)
    ribbon = [Thing("ribbon", "ribbon", place, words)] if words else []
    play = last_play(game)
    if not caption:
        return ribbon if play is None else [*ribbon, *_play(play, called[play.seat])]
    first, second = _LAST.split_rows(_LAST.h / 2)
    lines = textwrap.wrap(caption, max(_LONGEST, len(caption) * 3 // 5))
    rects = [_LAST] if len(lines) == 1 else [first, second]
    return [*ribbon, *(Thing("text", "last", rect, line) for rect, line in zip(rects, lines, strict=True))]


def _play(play: LastPlay, name: str) -> list[Thing]:
    """Return a play as a line of words and small cards."""
    builds = f"{'and ' if play.takes else ''}{_builds_of(play)}" if _builds_of(play) else ""
    things, rest = [], _LAST
    for part in (
        f"{name} {'plays' if play.is_begun else 'played'}",
        [play.card],
        _verb(play),
        play.takes,
        builds,
    ):
        width = text_width(part, PLAIN) if isinstance(part, str) else min(len(part), _MOST_LAST) * (_LAST_CARD + _GAP)
        place, rest = rest.split_columns(width + 2 * _GAP)
        if isinstance(part, str):
            things.append(Thing("text", "last", place, part))
        else:
            things += _cards(part, "last", place.inside(2), _LAST_CARD)
    if play.sweep:
        made = ("", "Sweep!", "Double sweep!")[play.sweep]
        things.append(Thing("ribbon", "last", rest.inside(9)._replace(w=170), made))
    left = (_LAST.x + _LAST.w - max(thing.rect.x + thing.rect.w for thing in things)) / 2
    return [thing._replace(rect=thing.rect._replace(x=thing.rect.x + left)) for thing in things]


def _verb(play: LastPlay) -> str:
    """Return what a play does beside laying its card, as in "and took" or "and builds 9 with"; empty for nothing."""
    if play.build:
        return f"and {'builds' if play.is_begun else 'built'} {play.build}{' with' if play.takes else ''}"
    if play.takes or play.builds:
        return "and takes" if play.is_begun else "and took"
    return "and takes nothing" if play.is_begun else ""


def _builds_of(play: LastPlay) -> str:
    """Return the builds that a play captures, raises or joins, as in "the build of 9"; empty for none."""
    others = [value for value in play.builds if value != play.build]
    return f"the build{'s' * (len(others) > 1)} of {' and '.join(map(str, others))}" if others else ""
