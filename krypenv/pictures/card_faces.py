"""The faces and the back of cards as SVG, 100 wide: an index in two corners, and the pips or a figure between them."""

from __future__ import annotations

import functools

from krypenv.cards import (
    ACE,
    CLUBS,
    DIAMONDS,
    HEARTS,
    JACK,
    KING,
    PICTURES,
    QUEEN,
    SPADES,
    TEN,
    card_symbol,
    parse_card,
    rank_of,
    suit_of,
)
from krypenv.pictures.svg import SHAPE, Rect, box, sign, text

CARD_WIDTH, CARD_HEIGHT = 100, round(100 * SHAPE)
WHITE, EDGE, BACK, LIGHT = "#fcfbf7", "#78746c", "#223e7a", "#7e98ce"
GOLD, INK, SKIN, PAPER = "#ecb630", "#2c262c", "#f7daba", "#fcf3dc"
TWO_COLOURS = {CLUBS: "#16181e", DIAMONDS: "#c41624", HEARTS: "#c41624", SPADES: "#16181e"}
FOUR_COLOURS = {**TWO_COLOURS, CLUBS: "#0a7a3c", DIAMONDS: "#1854be"}

_L, _C, _R = 37, 50, 63  # columns of pips
_ROWS = (24, 54.67, 85.33, 116)  # of four pips
_TOP, _MIDDLE, _BOTTOM = _ROWS[0], CARD_HEIGHT / 2, _ROWS[3]
_CORNERS = tuple((x, y) for x in (_L, _R) for y in (_TOP, _BOTTOM))
_SIX = (*_CORNERS, (_L, _MIDDLE), (_R, _MIDDLE))
_EIGHT = tuple((x, y) for x in (_L, _R) for y in _ROWS)
PIPS: dict[int, tuple[tuple[float, float], ...]] = {  # by rank; those below the middle stand on their heads
    ACE: (),
    2: ((_C, _TOP), (_C, _BOTTOM)),
    3: ((_C, _TOP), (_C, _MIDDLE), (_C, _BOTTOM)),
    4: _CORNERS,
    5: (*_CORNERS, (_C, _MIDDLE)),
    6: _SIX,
    7: (*_SIX, (_C, 47)),
    8: (*_SIX, (_C, 47), (_C, 93)),
    9: (*_EIGHT, (_C, _MIDDLE)),
    TEN: (*_EIGHT, (_C, 39), (_C, 101)),
}
_FRAME = Rect(28.5, 9, 43, CARD_HEIGHT - 18)
_HAIR = {JACK: "#966229", QUEEN: "#ce963c", KING: "#80746c"}
_ROBE = "M29.5 72V60L36 51.5 45 47H55L64 51.5 70.5 60V72Z"
_COLLARS = {
    JACK: "M41 48H59L50 58Z",
    QUEEN: "M39 50H61L56 60 50 63 44 60Z",
    KING: "M36 51.5 45 46H55L64 51.5 57 72H43Z",
}
_HEADS = {  # hair, and a beard
    JACK: "M37.5 35.5H62.5L63 46H37Z",
    QUEEN: "M37.5 35.5H62.5L63 55H37Z",
    KING: "M37.5 35.5H62.5L63 45H37ZM40.5 38.5 45 41H55L59.5 38.5 57 49 50 53 43 49Z",
}
_HATS = {  # a cap with a feather, and crowns
    JACK: "M35 31V27.5H36.8L37 22 43 18H57L60 24 64 16.5 70 12.5 68.5 20 63.5 27.5H65V31Z",
    QUEEN: "M38.5 31 37 20 43 24.5 50 16 57 24.5 63 20 61.5 31Z",
    KING: "M37 31 34.5 17 42 23 45.5 14 50 21 54.5 14 58 23 65.5 17 63 31Z",
}


def _path(way: str, fill: str, more: str = "") -> str:
    return f'<path d="{way}" fill="{fill}"{more}/>'


def _figure(rank: int, colour: str) -> str:
    """Draw the upper half of a jack, queen or king in a frame."""
    line = f' stroke="{INK}" stroke-width="0.9"'
    beard = _path(_HEADS[rank].partition("Z")[2] or "M50 50Z", _HAIR[rank])
    return "".join(
        [
            _path(_ROBE, colour),
            _path(_COLLARS[rank], PAPER if rank == KING else GOLD),
            _path("M30 62 34 60V72H30ZM66 62 70 60V72H66Z", GOLD),
            f'<circle cx="50" cy="35.5" r="12.5" fill="{_HAIR[rank]}"/>',
            _path(_HEADS[rank].partition("Z")[0] + "Z", _HAIR[rank]),
            f'<ellipse cx="50" cy="37.5" rx="9.5" ry="11" fill="{SKIN}"/>',
            beard,
            f'<circle cx="46.2" cy="36" r="1.2" fill="{INK}"/><circle cx="53.8" cy="36" r="1.2" fill="{INK}"/>',
            _path("M44.4 33H47.8M52.2 33H55.6M50 36.5 48.8 40.5 50.4 40.7", "none", line),
            _path("M47.4 43.5 50 44.3 52.6 43.5", "none", ' stroke="#b0323c" stroke-width="1.4"'),
            _path(_HATS[rank], colour if rank == JACK else GOLD),
            box(Rect(36, 27.5, 28, 3.5), GOLD if rank == JACK else colour, 1),
        ]
    )


def _blank() -> str:
    return box(Rect(0, 0, CARD_WIDTH, CARD_HEIGHT), EDGE, 9) + box(
        Rect(1.2, 1.2, CARD_WIDTH - 2.4, CARD_HEIGHT - 2.4), WHITE, 8
    )


def card_of(name: str, four_colours: bool = False) -> str:
    """Draw the face of a card, or for no name the back."""
    return card_face(name, four_colours) if name else card_back()


@functools.lru_cache(maxsize=104)
def card_face(name: str, four_colours: bool = False) -> str:
    """Draw the face of a card."""
    card = parse_card(name)
    rank, suit = rank_of(card), suit_of(card)
    colour = (FOUR_COLOURS if four_colours else TWO_COLOURS)[suit]
    half = text(card_symbol(name)[:-1], Rect(3, 2, 25, 30), colour, 33, True) + sign(suit, 15.5, 44, 33, colour)
    if rank in PICTURES:
        half += _figure(rank, colour)
    both = f'{half}<g transform="rotate(180 {_C} {_MIDDLE:g})">{half}</g>'
    if rank in PICTURES:
        shield = f'<circle cx="{_C}" cy="{_MIDDLE:g}" r="14.7" fill="{WHITE}" stroke="{colour}" stroke-width="1.5"/>'
        emblem = shield + sign(suit, _C, _MIDDLE, 28, colour)
        return _blank() + box(_FRAME, PAPER, 3) + both + emblem + box(_FRAME, colour, 3, 1.2)
    pips = [sign(suit, x, y, 26, colour, y > _MIDDLE) for x, y in PIPS[rank]]
    return "".join([_blank(), both, *pips, sign(suit, _C, _MIDDLE, 60, colour) if rank == ACE else ""])


@functools.cache
def card_back() -> str:
    """Draw the back of the cards."""
    places = [(7 + 17.2 * (column + 0.5), 7 + 18 * (row + 0.5)) for row in range(7) for column in range(5)]
    large = "".join(f"M{x:g} {y - 7.5:g}l6 7.5-6 7.5-6-7.5Z" for x, y in places)
    small = "".join(f"M{x:g} {y - 4:g}l3.2 4-3.2 4-3.2-4Z" for x, y in places)
    return _blank() + box(Rect(7, 7, 86, CARD_HEIGHT - 14), BACK, 5) + _path(large, LIGHT) + _path(small, BACK)
