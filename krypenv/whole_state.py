"""The whole state of a game as one flat int32 vector with a named layout, for critics that see everything.

Seats are absolute, up to six, and entries of absent seats are zero. The rules are not included. Rules that count more
than Krypkasino does have extra blocks after the others (K7).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box

from krypenv.cards import MAX_BUILD, NO_CARD, NO_SEAT, NUM_KINDS, NUM_RANKS
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.inputs.words import shown
from krypenv.kernels.builds import values_built
from krypenv.kernels.compiled import compile_rules
from krypenv.observation import DESCRIPTIONS as _OBSERVED, extra_blocks, slices_of
from krypenv.rules import Rules, RulesLike, as_rules
from krypenv.state import GAME, MAX_DECK

VERSION = 1  # changes whenever the layout or the meaning of an entry does
_MOST = 2**31 - 1

Block = tuple[str, int, int, int, str]  # name, entries, lowest, highest, what
_BLOCKS: tuple[Block, ...] = (
    ("hands", MAX_PLAYERS * NUM_KINDS, 0, 2, "for each seat, copies of each kind in its hand"),
    ("table", NUM_KINDS, 0, 2, "copies of each kind on the table, including those taken so far in an unfinished play"),
    ("stock", MAX_DECK, NO_CARD, NUM_KINDS - 1, "card kinds still to be dealt, the next one first, padded with -1"),
    ("seen", NUM_KINDS, 0, 2, "copies of each kind that have been face up in this game"),
    ("set_aside", NUM_KINDS, 0, 2, "copies of each kind set aside for the last capturer"),
    ("pending", NUM_KINDS, 0, 1, "1 for the card just played, while its capture is being chosen"),
    ("taken", NUM_KINDS, 0, 2, "copies of each kind taken so far in that play"),
    ("points", MAX_PLAYERS, -_MOST, _MOST, "for each seat, points of the cards it has captured, plus any bonus"),
    ("sweeps", MAX_PLAYERS, 0, _MOST, "for each seat, sweeps made; a double sweep counts as two"),
    ("last_capturer", MAX_PLAYERS, 0, 1, "1 for the seat that made the last capture"),
    ("dealer", MAX_PLAYERS, 0, 1, "1 for the dealer"),
    ("turn", MAX_PLAYERS, 0, 1, "1 for the seat to act; all 0 when the game is over"),
    ("session_total", MAX_PLAYERS, -_MOST, _MOST, "for each seat, its total score in the session's earlier games"),
    ("cannot_hold", MAX_PLAYERS * NUM_RANKS, 0, 1, "for each seat, by rank: 1 if it is known not to hold the rank"),
    ("deals_left", 1, 0, _MOST, "deals left after this one"),
    ("games_left", 1, 0, _MOST, "games left in the session after this one; 0 if only a threshold ends it"),
)
# Extra blocks, of rules that need them (K7): those that an observation has too, under these names or others.
_EXTRA: tuple[Block, ...] = (
    ("cards_won", MAX_PLAYERS, 0, MAX_DECK, "for each seat, cards in its pile"),
    ("spades_won", MAX_PLAYERS, 0, MAX_DECK, "for each seat, spades in its pile"),
    ("void_sweeps", MAX_PLAYERS, 0, _MOST, "for each seat, sweeps made that don't count"),
    ("mulles", MAX_PLAYERS, 0, _MOST, "for each seat, mulles made"),
    ("bonus", MAX_PLAYERS, -_MOST, _MOST, "for each seat, how much of its `points` is a bonus"),
    (
        "cannot_hold_special",
        2 * MAX_PLAYERS,
        0,
        1,
        "for each seat: 1 if it is known not to hold the two of spades, and 1 if not the ten of diamonds",
    ),
    ("mulle_scores", MAX_PLAYERS, 0, _MOST, "for each seat, points of the mulles made"),
    ("built", NUM_KINDS, 0, MAX_BUILD, _OBSERVED["built"]),
    ("built_twin", NUM_KINDS, 0, MAX_BUILD, _OBSERVED["built_twin"]),
    ("build_owner", MAX_BUILD, 0, MAX_PLAYERS, "for values 1 to 16: 1 more than the seat that owns the build"),
    ("build_multiple", MAX_BUILD, 0, 1, _OBSERVED["build_multiple"]),
    ("building", 1, 0, MAX_BUILD, _OBSERVED["building"]),
)
_OTHER_NAMES = {"void_sweeps": "counted_sweeps"}
DESCRIPTIONS: dict[str, str] = {name: text for name, *_, text in (*_BLOCKS, *_EXTRA)}


def _blocks_of(rules: Rules | None) -> list[Block]:
    """List the blocks of a state; without rules those of the main game."""
    needed = set() if rules is None else set(extra_blocks(rules))
    if rules is not None and rules.tie_break == "finnish":  # which looks at the points of cards alone (F7)
        needed.add("bonus")
    return [*_BLOCKS, *(block for block in _EXTRA if _OTHER_NAMES.get(block[0], block[0]) in needed)]


LAYOUT: dict[str, slice] = slices_of(_BLOCKS)  # what all rules have
SIZE: int = sum(size for _, size, *_ in _BLOCKS)


def layout_of(rules: Rules) -> dict[str, slice]:
    """Name the blocks of a state under some rules, as slices of it; the first ones are those of `LAYOUT`."""
    return slices_of(_blocks_of(rules))


def state_space(rules: Rules | None = None) -> Box:
    """Make the space of whole states, int32: (SIZE,) in the main game, more where the rules have extra blocks."""
    blocks = _blocks_of(rules)
    sizes = [size for _, size, *_ in blocks]
    low, high = (np.repeat(np.array([block[at] for block in blocks], np.int32), sizes) for at in (2, 3))
    return Box(low, high, (sum(sizes),), np.int32)


def whole_state(rules: RulesLike, game: np.record | np.ndarray) -> npt.NDArray[np.int32]:
    """Flatten the whole state of a game, a row of `krypenv.state.State`, to int32 as in `state_space(rules)`.

    Games under the same rules with equal vectors continue alike to their ends. The cards of a session's later games are
    not included. The record is trusted to be of a game under these rules.

    Raises ValueError for anything but rules and one record.
    """
    record = np.asarray(game)
    if record.dtype.fields != GAME.fields or record.size != 1:
        raise ValueError(f"a game is one record of krypenv.state.GAME, not {shown(game)}")
    game = record.reshape(())[()]
    rules = as_rules(rules)
    compiled, layout = compile_rules(rules)[0], layout_of(rules)
    out = np.zeros(max(block.stop for block in layout.values()), np.int32)
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
    for name in ("cards_won", "spades_won", "void_sweeps", "mulles", "bonus", "mulle_scores"):
        if name in layout:
            out[layout[name]] = game[name]
    if "cannot_hold_special" in layout:
        special = game["cannot_hold"][:, None] >> np.arange(NUM_RANKS, NUM_RANKS + 2) & 1
        out[layout["cannot_hold_special"]] = special.ravel()
    if rules.building:
        _write_builds(game, {name: out[part] for name, part in layout.items()})
    return out


def _write_builds(game: np.record | np.ndarray, parts: dict[str, npt.NDArray[np.int32]]) -> None:
    """Write the builds on the table, and the value of the one that the pending card makes (B1)."""
    parts["building"][:] = game["build_value"] if game["pending"] != NO_CARD else 0
    parts["built"][:], parts["built_twin"][:] = values_built(game["built"])
    for value in range(1, MAX_BUILD + 1):
        if not game["builds"] >> value & 1:
            continue
        parts["build_owner"][value - 1] = game["build_owner"][value] + 1
        parts["build_multiple"][value - 1] = game["multiple_builds"] >> value & 1
