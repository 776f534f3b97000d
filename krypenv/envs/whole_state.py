"""The whole state of a game as one flat int32 vector with a named layout, for critics that see everything.

Seats in it are absolute, up to six; places of seats that are not there are zero. The rules are not in it.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box

from krypenv.cards import NO_CARD, NO_SEAT, NUM_KINDS, NUM_RANKS
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.state import MAX_DECK
from krypenv.rules import MAX_PLAYERS, Rules

VERSION = 1  # changes whenever the layout or the meaning of an entry does
_MOST = 2**31 - 1

# name, entries, lowest, highest, what
_BLOCKS: tuple[tuple[str, int, int, int, str], ...] = (
    ("hands", MAX_PLAYERS * NUM_KINDS, 0, 2, "for each seat copies of each kind in its hand"),
    ("table", NUM_KINDS, 0, 2, "copies of each kind on the table, those taken so far in a begun play among them"),
    ("stock", MAX_DECK, NO_CARD, NUM_KINDS - 1, "kinds of the cards still to be dealt, the next one first; then -1"),
    ("seen", NUM_KINDS, 0, 2, "copies of each kind that have been face up in this game"),
    ("set_aside", NUM_KINDS, 0, 2, "copies of each kind put aside for the last capture"),
    ("pending", NUM_KINDS, 0, 1, "1 at the card just played while its capture is being chosen"),
    ("taken", NUM_KINDS, 0, 2, "copies of each kind taken so far in that play"),
    ("points", MAX_PLAYERS, -_MOST, _MOST, "points of the cards captured by each seat, with any bonus"),
    ("sweeps", MAX_PLAYERS, 0, _MOST, "sweeps made by each seat, a double one counts two"),
    ("last_capturer", MAX_PLAYERS, 0, 1, "1 at the seat of the last capture"),
    ("dealer", MAX_PLAYERS, 0, 1, "1 at the dealer"),
    ("turn", MAX_PLAYERS, 0, 1, "1 at the seat that is to act; all 0 when the game is over"),
    ("session_total", MAX_PLAYERS, -_MOST, _MOST, "score of each seat in the session's earlier games"),
    ("cannot_hold", MAX_PLAYERS * NUM_RANKS, 0, 1, "for each seat by rank: 1 if all know that it can't hold the rank"),
    ("deals_left", 1, 0, _MOST, "deals to come after this one"),
    ("games_left", 1, 0, _MOST, "games of the session to come after this one; 0 where only a threshold ends it"),
)
_ENDS = list(accumulate(size for _, size, *_ in _BLOCKS))
LAYOUT: dict[str, slice] = {name: slice(end - size, end) for end, (name, size, *_) in zip(_ENDS, _BLOCKS, strict=True)}
DESCRIPTIONS: dict[str, str] = {name: text for name, *_, text in _BLOCKS}
SIZE: int = _ENDS[-1]


def state_space() -> Box:
    """Return the space of whole states, (SIZE,) int32."""
    sizes = [size for _, size, *_ in _BLOCKS]
    low, high = (np.repeat(np.array([block[at] for block in _BLOCKS], np.int32), sizes) for at in (2, 3))
    return Box(low, high, (SIZE,), np.int32)


def whole_state(rules: Rules, game: np.record | np.ndarray) -> npt.NDArray[np.int32]:
    """Return the whole state of a game, a row of `krypenv.kernels.state.State`, as (SIZE,) int32.

    Games by the same rules with equal vectors play on alike up to their ends; the cards of a session's later games are
    not in it.
    """
    compiled = compile_rules(rules)[0]
    out = np.zeros(SIZE, np.int32)
    for name in ("hands", "table", "seen", "set_aside"):
        out[LAYOUT[name]] = game[name].ravel()
    stock = out[LAYOUT["stock"]]
    left = game["deck"][game["next_card"] : rules.deck_size]
    stock[:] = NO_CARD
    stock[: len(left)] = left
    if game["pending"] != NO_CARD:
        out[LAYOUT["pending"]][game["pending"]] = 1
        out[LAYOUT["taken"]] = game["taken"]
    out[LAYOUT["points"]] = game["points"] + game["bonus"]
    out[LAYOUT["sweeps"]] = game["sweeps"]
    for name, seat in (
        ("last_capturer", game["last_capturer"]),
        ("dealer", game["dealer"]),
        ("turn", NO_SEAT if game["over"] else game["seat"]),
    ):
        if seat != NO_SEAT:
            out[LAYOUT[name]][seat] = 1
    out[LAYOUT["session_total"]] = game["totals"]
    out[LAYOUT["cannot_hold"]] = (game["cannot_hold"][:, None] >> np.arange(NUM_RANKS) & 1).ravel()
    out[LAYOUT["deals_left"]] = compiled["num_deals"] - game["deal_number"]
    out[LAYOUT["games_left"]] = max(compiled["games"] - game["game_number"], 0)
    return out
