"""The named blocks of an observation, in their order; what they hold is written by `krypenv.kernels.observation`."""

from __future__ import annotations

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.families.bounds import MAX_PLAYERS

_BLOCKS: tuple[tuple[str, int, str], ...] = (
    ("hand", NUM_KINDS, "copies of each kind in the own hand"),
    ("table", NUM_KINDS, "copies of each kind on the table"),
    ("seen", NUM_KINDS, "copies of each kind seen so far in this game: the own hand and all that was ever face up"),
    ("set_aside", NUM_KINDS, "copies of each kind put aside for the last capture"),
    ("pending", NUM_KINDS, "1 at the card just played while its capture is being chosen"),
    ("taken", NUM_KINDS, "copies of each kind taken so far in that play"),
    ("seated", MAX_PLAYERS, "1 for each place with a player"),
    ("team", MAX_PLAYERS, "side of each place, counted from the own side (0: own side)"),
    ("points", MAX_PLAYERS, "points of the cards captured, with the bonus for an initial match"),
    ("sweeps", MAX_PLAYERS, "sweeps made, a double one counts two"),
    ("hand_size", MAX_PLAYERS, "cards in hand"),
    ("last_capturer", MAX_PLAYERS, "1 at the place of the last capture"),
    ("dealer", MAX_PLAYERS, "1 at the dealer's place"),
    ("turn", MAX_PLAYERS, "1 at the place that is to act"),
    ("session_total", MAX_PLAYERS, "total of the session's earlier games less the mean of all, rounded, within +-127"),
    (
        "cannot_hold",
        (MAX_PLAYERS - 1) * NUM_RANKS,
        "places 1 to 5 by rank: 1 if it can't hold the rank until the next deal",
    ),
    ("deals_left", 1, "deals to come after this one"),
    ("games_left", 1, "games of the session to come after this one, at most 127; 0 where only a threshold ends it"),
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
