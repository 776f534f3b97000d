"""Positions as plain values for JSON, from one seat's view (docs/programs.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from krypenv.game.display import format_view, seat_counts
from krypenv.game.game import Game
from krypenv.game.moves import Move, list_some

MOST_MOVES = 200  # that are listed where captures are optional


def seen_values(
    game: Game,
    seat: int,
    numbers: np.ndarray,
    plays: Iterable[tuple[int, Move]] | None = None,
    listed: bool = True,
) -> dict[str, Any]:
    """Describe a position as a seat sees it: docs/programs.md has the keys.

    Args:
        game: the game; hidden cards are not read.
        seat: the seat.
        numbers: its observation, (N,) int8.
        plays: the plays of the deal in order, each with its seat; None if they are not known.
        listed: list the legal moves, as values and in the text.
    """
    options: dict[str, Any] = {}
    if listed:
        moves, are_all = list_some(game, MOST_MOVES) if game.turn == seat else ([], True)
        options = {"moves": [str(move) for move in moves], "more_moves": not are_all}
    records = None if plays is None else [{"seat": player, "move": str(move)} for player, move in plays]
    text = format_view(game, seat, listed)
    if records and not game.plays:
        moves_of_seats = ", ".join(f"seat {play['seat']} {play['move']}" for play in records)
        text += f"\nPlays of this deal: {moves_of_seats}."
    return {
        "seat": seat,
        "hand": game.hand(seat),
        "dealer": game.dealer,
        "deal": game.deal_number,
        "deals": int(game.compiled["num_deals"][0]),
        "stock": game.stock_size,
        "table": game.table,
        "builds": [
            {"value": value, "cards": cards, "owner": owner, "multiple": is_multiple}
            for value, cards, owner, is_multiple in game.builds
        ],
        "set_aside": game.set_aside,
        "last_capturer": game.last_capturer,
        "seats": [_seat_values(game, each) for each in range(game.rules.players)],
        "pending": game.pending,
        "taken": game.taken,
        "building": game.building,
        **options,
        "plays": records,
        "text": text,
        "numbers": numbers[: game.rules.observation_size].tolist(),
    }


def _seat_values(game: Game, seat: int) -> dict[str, int]:
    """Describe the public part of a seat: its team, the size of its hand, and its counts."""
    counts = {name.replace(" ", "_"): count for name, count in seat_counts(game, seat).items()}
    return {"team": game.rules.team_of(seat), "hand_size": len(game.hand(seat)), **counts}
