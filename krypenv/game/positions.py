"""Positions of a game as text that a person can read and write (docs/notation.md)."""

from __future__ import annotations

import numpy as np

from krypenv.cards import RANK_NAMES, card_name, card_names
from krypenv.families.bounds import LILLAN, STORAN
from krypenv.game.core import Core
from krypenv.kernels.compiled import compile_rules

AT_ONCE = "at once"  # how a game can have ended (F6)
CLASSES = (*RANK_NAMES, card_name(LILLAN), card_name(STORAN))  # by class (`rank_classes`)


def format_position(game: Core) -> str:
    """Return a game's position as lines ``key: value``."""
    state, seats, compiled = game.state, range(game.rules.players), compile_rules(game.rules)[0]

    def cards(counts: np.ndarray) -> str:
        return " ".join(card_names(counts.tolist())) or "-"

    stock = game.deck[game.rules.deck_size - game.stock_size :]
    lines = [
        f"rules: {game.rules}",
        f"deal: {game.deal_number}",
        f"dealer: {game.dealer}",
        f"turn: {'-' if game.is_over else game.turn}",
        *(f"hand {seat}: {cards(state['hands'][seat])}" for seat in seats),
        f"table: {cards(state['table'])}",
        *(f"build {value}: {' '.join(names)}" for value, names, _, _ in game.builds),
        *(f"owner {value}: {owner}" for value, _, owner, _ in game.builds),
        f"aside: {cards(state['set_aside'])}",
        *(f"captured {seat}: {' '.join(game.captured(seat)) or '-'}" for seat in seats),
        f"sweeps: {' '.join(str(game.sweeps(seat)) for seat in seats)}",
        *(
            [f"counted: {' '.join(str(game.counted_sweeps(seat)) for seat in seats)}"]
            if compiled["judges_sweeps"]
            else []
        ),
        *([f"mulles: {' '.join(str(game.mulles(seat)) for seat in seats)}"] if "mulles" in game.rules.layout else []),
        *(
            [f"mulle-scores: {' '.join(str(game.mulle_scores(seat)) for seat in seats)}"]
            if game.rules.mulle_by_value
            else []
        ),
        f"last-capturer: {'-' if game.last_capturer is None else game.last_capturer}",
    ]
    for seat in seats:
        barred = barred_names(game, seat)
        lines += [f"cannot-hold {seat}: {' '.join(barred)}"] if barred else []
    if game.pending:
        lines += [f"pending: {game.pending}"] + ([f"building: {game.building}"] if game.building else [])
        lines += [f"took: {' '.join(game.taken) or '-'}"]
    for key, numbers in (("bonus", state["bonus"][: len(seats)]), ("totals", state["totals"][: len(seats)])):
        lines += [f"{key}: {' '.join(map(str, numbers))}"] if numbers.any() else []
    lines += [f"game: {game.game_number}"] if game.game_number > 1 else []
    lines += [f"ended: {AT_ONCE}"] if game.ended_at_once else []
    return "\n".join([*lines, f"stock: {' '.join(stock) or '-'}"]) + "\n"


def barred_names(game: Core, seat: int) -> list[str]:
    """Return the ranks that everybody knows a hand doesn't hold, with 2S and TD where these have their own values."""
    return [name for each, name in enumerate(CLASSES) if game.state["cannot_hold"][seat] >> each & 1]
