"""The layout of a picture of a game: its items with their rectangles, before anything is drawn."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Sequence
from typing import NamedTuple

from krypenv.cards import parse_card, rank_of
from krypenv.game.display import format_announcement, format_place, format_result, last_play, seat_counts
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.pictures.svg import SHAPE, Rect, text_width

WIDTH, HEIGHT = 960, 720  # of a picture in its own units
_EDGE, _GAP, _LINE = 12, 8, 24
_SMALLEST = 28.0  # width of a card that can still be read; more of them overlap
_SEATS_TOP, _SEATS_HEIGHT = 40, 158
_FELT = Rect(_EDGE, 206, WIDTH - 2 * _EDGE, 296)
_TABLE = Rect(158, 216, 644, 236)
_STOCK = Rect(28, 218, 118, 272)
_ASIDE = Rect(814, 218, 118, 272)
_RIBBON = Rect(158, 457, 644, 36)
_LAST = Rect(_EDGE, 508, WIDTH - 2 * _EDGE, 54)
_BOTTOM = Rect(_EDGE, 568, WIDTH - 2 * _EDGE, 144)
_OWN_COUNTS = 340  # width of the counts beside the hand at the bottom
_CARD, _HAND_CARD, _SEAT_CARD, _ASIDE_CARD, _BUILD_CARD, _LAST_CARD = 104, 84, 60, 44, 56, 35  # widest of each place
_BUILDS = 108  # height of the builds
_SHEET = Rect(28, 214, 904, 240)
_SHEET_LABEL, _SHEET_CELL, _ROW = 400, 150, 28  # columns and rows of the sheet, at most
_LONGEST = 76  # characters of a caption in one line
_MOST_LAST = 8  # cards side by side in the line of the last play
PLAIN, BOLD = 20, 22  # sizes of texts


class Item(NamedTuple):
    """An item of a picture."""

    kind: str  # "card", "back", "text", "panel", "felt" or "ribbon"
    place: str  # "table", "hand 0", "stock", "aside", "last", "ribbon", "seat 0", "sheet" or "head"
    rect: Rect
    text: str = ""  # the name of a card, or a line of text
    style: str = ""  # "marked" for a card taken or the seat to act; of a text "left" or "right", and "bold"


class Said(NamedTuple):
    """The words of a picture that a narrator gives."""

    title: str = ""  # the name of the game, by default its rules in short
    caption: str = ""  # the last play in words, in place of its cards
    sheet: Sequence[Sequence[str]] = ()  # the score of a game that is over: rows of a label and a cell for each seat


def lay_out(
    game: Game,
    seats: Collection[int],
    bottom: int = 0,
    names: Sequence[str] | None = None,
    said: Said = Said(),  # noqa: B008 - it can't be changed
) -> tuple[Item, ...]:
    """Lay out a picture of a game, from the back to the front.

    Args:
        game: the game.
        seats: the seats whose hands are shown; the others lie face down.
        bottom: the seat at the bottom; the others follow from left to right, as they sit clockwise (R5).
        names: the names of the seats, by default their numbers.
        said: title, caption and score in words.
    """
    players = game.rules.players
    names = [f"Seat {seat}" for seat in range(players)] if names is None else names
    items = [
        Item("text", "head", Rect(_EDGE + 4, 8, 640, 26), said.title or str(game.rules), "left"),
        Item("text", "head", Rect(WIDTH - 284 - _EDGE, 8, 280, 26), format_place(game), "right"),
        Item("felt", "table", _FELT),
    ]
    others = [(bottom + step) % players for step in range(1, players)]
    width = min((_BOTTOM.w + _GAP) / len(others) - _GAP, 460)
    left = (WIDTH - len(others) * (width + _GAP) + _GAP) / 2
    for number, seat in enumerate(others):
        panel = Rect(left + number * (width + _GAP), _SEATS_TOP, width, _SEATS_HEIGHT)
        head, cards = panel.inside(8).split_rows(3 * _LINE + 6)
        items += _seat(game, seat, names[seat], panel, head, cards, _SEAT_CARD, seat in seats)
    head, cards = _BOTTOM.inside(12).split_columns(_OWN_COUNTS)
    items += _seat(game, bottom, names[bottom], _BOTTOM, head, cards, _HAND_CARD, bottom in seats)
    sheet = said.sheet if game.is_over else ()
    table = _sheet(sheet) if sheet else _table(game)
    return (*items, *table, *_words(game, names, bool(sheet), said.caption))


def _seat(
    game: Game, seat: int, name: str, panel: Rect, head: Rect, cards: Rect, widest: int, is_open: bool
) -> list[Item]:
    """Lay out a seat's panel: its name and role, its score and counts, and its hand."""
    counts = seat_counts(game, seat)
    score = counts.pop("score")
    roles = ["dealer"] * (seat == game.dealer)
    roles += [] if game.rules.teams is None else [f"team {seat % game.rules.num_teams}"]
    place = f"seat {seat}"
    first, rest = head.split_rows(_LINE + 4)
    second, third = rest.split_rows(_LINE)
    words = [f"{name} {count}" for name, count in counts.items()]
    return [
        Item("panel", place, panel, style="marked" if seat == game.turn else ""),
        Item("text", place, first._replace(w=first.w - 92), name, "left bold"),
        Item("text", place, Rect(first.x + first.w - 88, first.y, 88, first.h), f"score {score}", "right bold"),
        Item("text", place, second, "  ".join(words), "left"),
        Item("text", place, third._replace(h=_LINE), " · ".join(roles), "left"),
        *_cards(game.hand(seat) if is_open else [""] * len(game.hand(seat)), f"hand {seat}", cards, widest),
    ]


def _table(game: Game) -> list[Item]:
    """Lay out the middle of the table: loose cards, builds, the stock, and the cards set aside."""
    taken = game.taken
    items = []
    loose, room = _TABLE.split_rows(_TABLE.h - (_BUILDS if game.builds else 0))
    width = room.w / max(1, len(game.builds))
    for number, (value, cards, owner, is_multiple) in enumerate(game.builds):
        label = f"build of {value}, seat {owner}{', multiple' if is_multiple else ''}"
        place = Rect(room.x + number * width, room.y, width - _GAP, room.h)
        head, rest = place.split_rows(26)
        items.append(Item("text", f"build {value}", head, label))
        items += _cards(cards, f"build {value}", rest, _BUILD_CARD)
    by_rank = sorted(game.table, key=lambda name: (rank_of(parse_card(name)), parse_card(name)))
    for card in _cards(by_rank, "table", loose, _CARD):
        is_taken = card.text in taken
        if is_taken:
            taken.remove(card.text)
        items.append(card._replace(style="marked") if is_taken else card)
    head, rest = _STOCK.split_rows(26)
    backs = [Rect(rest.x + 20 + 4 * at, rest.y + 8 + 4 * at, 72, SHAPE * 72) for at in range(min(3, game.stock_size))]
    items += [Item("text", "stock", head, f"stock {game.stock_size}"), *(Item("back", "stock", at) for at in backs)]
    if game.rules.set_aside != "none":
        head, rest = _ASIDE.split_rows(26)
        items += [Item("text", "aside", head, "put aside"), *_cards(game.set_aside, "aside", rest, _ASIDE_CARD)]
    return items


def _cards(names: Sequence[str], place: str, room: Rect, widest: float) -> list[Item]:
    """Lay out cards in a room; a name of "" is a card face down."""
    places = lay_cards(len(names), room, widest)
    return [Item("card" if name else "back", place, rect, name) for name, rect in zip(names, places, strict=True)]


def _sheet(rows: Sequence[Sequence[str]]) -> list[Item]:
    """Lay out the score of a game, row by row, in the middle of the table."""
    height = min(_SHEET.h / len(rows), _ROW)
    top = _SHEET.y + (_SHEET.h - height * len(rows)) / 2
    items = []
    for number, (label, *cells) in enumerate(rows):
        width = min((_SHEET.w - _SHEET_LABEL) / len(cells), _SHEET_CELL)
        first = Rect(_SHEET.x + (_SHEET.w - _SHEET_LABEL - width * len(cells)) / 2, top + number * height, 0, height)
        weight = " bold" if number in (0, len(rows) - 1) else ""
        items.append(Item("text", "sheet", first._replace(w=_SHEET_LABEL), label, f"left{weight}"))
        for column, cell in enumerate(cells):
            place = first._replace(x=first.x + _SHEET_LABEL + column * width + _GAP, w=width - _GAP)
            items.append(Item("text", "sheet", place, cell, f"right{weight}"))
    return items


def _words(game: Game, names: Sequence[str], has_sheet: bool, caption: str) -> list[Item]:
    """Lay out the last play, and in a ribbon the announcement or the result."""
    announcement = format_announcement(game)
    words = format_result(game) if game.is_over else f"“{announcement}”" if announcement else ""
    width = min(_RIBBON.w, text_width(words, BOLD, True) + 40)
    height = _TABLE.y + _TABLE.h / 2 - _RIBBON.h if game.is_over and not has_sheet else _RIBBON.y
    place = Rect(_RIBBON.x + (_RIBBON.w - width) / 2, height, width, _RIBBON.h)
    ribbon = [Item("ribbon", "ribbon", place, words)] if words else []
    play = last_play(game)
    if not caption:
        return ribbon if play is None else [*ribbon, *_play(play[1], names[play[0]], bool(game.pending))]
    first, second = _LAST.split_rows(_LAST.h / 2)
    lines = textwrap.wrap(caption, max(_LONGEST, len(caption) * 3 // 5))
    rects = [_LAST] if len(lines) == 1 else [first, second]
    return [*ribbon, *(Item("text", "last", rect, line) for rect, line in zip(rects, lines, strict=True))]


def _play(move: Move, name: str, is_begun: bool) -> list[Item]:
    """Lay out a play as a line of words and small cards."""
    builds = f"{'and ' if move.takes else ''}{_builds_of(move)}" if _builds_of(move) else ""
    items, rest = [], _LAST
    plays = f"{name} {'plays' if is_begun else 'played'}"
    for part in (plays, [move.card], _verb(move, is_begun), move.takes, builds):
        width = text_width(part, PLAIN) if isinstance(part, str) else min(len(part), _MOST_LAST) * (_LAST_CARD + _GAP)
        place, rest = rest.split_columns(width + 2 * _GAP)
        if isinstance(part, str):
            items.append(Item("text", "last", place, part))
        else:
            items += _cards(part, "last", place.inside(2), _LAST_CARD)
    if move.sweep:
        made = ("", "Sweep!", "Double sweep!")[move.sweep]
        items.append(Item("ribbon", "last", rest.inside(9)._replace(w=170), made))
    left = (_LAST.x + _LAST.w - max(item.rect.x + item.rect.w for item in items)) / 2
    return [item._replace(rect=item.rect._replace(x=item.rect.x + left)) for item in items]


def _verb(move: Move, is_begun: bool) -> str:
    """Name what a play does with its card, as in "and took" or "and builds 9 with"; empty for nothing."""
    if move.build:
        return f"and {'builds' if is_begun else 'built'} {move.build}{' with' if move.takes else ''}"
    if move.takes or move.builds:
        return "and takes" if is_begun else "and took"
    return "and takes nothing" if is_begun else ""


def _builds_of(move: Move) -> str:
    """Name the builds that a play captures, raises or joins, as in "the build of 9"; empty for none."""
    others = [value for value in move.builds if value != move.build]
    return f"the build{'s' * (len(others) > 1)} of {' and '.join(map(str, others))}" if others else ""


def lay_cards(count: int, room: Rect, widest: float) -> list[Rect]:
    """Place cards side by side in rows in the middle of a room, as wide as they fit, up to `widest`.

    Cards that would be too small to read overlap from left to right instead.
    """

    def fit(width: float) -> tuple[int, int]:
        """Count the rows and columns of cards of a width that fit."""
        return int((room.h + _GAP) // (SHAPE * width + _GAP)), int((room.w + _GAP) // (width + _GAP))

    widths = (float(width) for width in range(int(widest), int(_SMALLEST), -1))
    width = next((width for width in widths if math.prod(fit(width)) >= count), _SMALLEST)
    most_rows, most_columns = fit(width)
    rows = math.ceil(count / max(1, most_columns, math.ceil(count / max(1, most_rows))))
    columns = math.ceil(count / max(1, rows))
    step = min(width + _GAP, (room.w - width) / max(1, columns - 1))
    down = SHAPE * width + _GAP
    top = room.y + (room.h - rows * down + _GAP) / 2
    places = []
    for number in range(count):
        row, column = divmod(number, columns)
        left = room.x + (room.w - (min(columns, count - row * columns) - 1) * step - width) / 2
        places.append(Rect(left + column * step, top + row * down, width, SHAPE * width))
    return places
