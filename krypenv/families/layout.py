"""The named blocks of an observation, in order; `krypenv.kernels.observation` writes them."""

from __future__ import annotations

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.families.bounds import MAX_PLAYERS

_BLOCKS: tuple[tuple[str, int, str], ...] = (
    ("hand", NUM_KINDS, "copies of each kind in your hand"),
    ("table", NUM_KINDS, "copies of each kind on the table"),
    ("seen", NUM_KINDS, "copies of each kind you have seen in this game: your hand and all cards ever face up"),
    ("set_aside", NUM_KINDS, "copies of each kind set aside for the last capturer"),
    ("pending", NUM_KINDS, "1 for the card just played, while its capture is being chosen"),
    ("taken", NUM_KINDS, "copies of each kind taken so far in that play"),
    ("seated", MAX_PLAYERS, "1 for each place with a player"),
    ("team", MAX_PLAYERS, "side of each place, counted from your side, which is 0"),
    ("points", MAX_PLAYERS, "points of the cards captured, plus any bonus"),
    ("sweeps", MAX_PLAYERS, "sweeps made; a double sweep counts as two"),
    ("hand_size", MAX_PLAYERS, "cards in hand"),
    ("last_capturer", MAX_PLAYERS, "1 for the place that made the last capture"),
    ("dealer", MAX_PLAYERS, "1 for the dealer"),
    ("turn", MAX_PLAYERS, "1 for the place to act"),
    ("session_total", MAX_PLAYERS, "score in the session's earlier games minus the mean of all, rounded, within +-127"),
    (
        "cannot_hold",
        (MAX_PLAYERS - 1) * NUM_RANKS,
        "for places 1 to 5, by rank: 1 if that hand can't contain the rank before the next deal",
    ),
    ("deals_left", 1, "deals left after this one"),
    ("games_left", 1, "games left in the session after this one, at most 127; 0 if only a threshold ends it"),
)


def _layout() -> dict[str, slice]:
    layout, start = {}, 0
    for name, size, _ in _BLOCKS:
        layout[name] = slice(start, start + size)
        start += size
    return layout


OBSERVATION: dict[str, slice] = _layout()
OBSERVATION_SIZE: int = sum(size for _, size, _ in _BLOCKS)
DESCRIPTIONS: dict[str, str] = {name: text for name, _, text in _BLOCKS}
