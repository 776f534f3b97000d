"""What one seat may see of a game, as text: for language models, for players at a distance, for logs."""

from __future__ import annotations

import numpy as np

from krypenv.cards import card_names
from krypenv.game.core import Core
from krypenv.game.display import format_game, format_playing
from krypenv.game.positions import barred_names

_MOST_LISTED = 200  # moves; of more, it is told how to write one


def format_view(game: Core, seat: int) -> str:
    """Return all that a seat may know of a game and that matters, and nothing else, as text; see `Game.view`."""
    rules, seats = game.rules, range(game.rules.players)
    game.hand(seat)  # raises ValueError where there is no such seat
    partners = [other for other in seats if other != seat and rules.teams and (other - seat) % rules.num_teams == 0]
    team = f", in a team with seat {' and seat '.join(map(str, partners))}" if partners else ""
    lines = [f"You are seat {seat}{team}."]
    lines += format_game(game, [seat]).splitlines()
    last = lines.pop()  # who is to play
    if game.last_capturer is not None:
        lines.append(f"  the last capture so far is seat {game.last_capturer}'s")
    if game.game_number > 1:
        lines.append(f"  totals     {', '.join(f'seat {each} {total}' for each, total in enumerate(game.totals))}")
    unseen = rules.deck_counts.astype(np.int64) - game.state["seen"] - game.state["hands"][seat]
    lines.append(f"  unseen     {' '.join(card_names(unseen.tolist())) or '-'}")
    for other in seats:
        barred = barred_names(game, other)
        if other != seat and barred:
            lines.append(f"  seat {other} can't hold {' '.join(barred)}")
    plays = _plays(game, seat)
    lines += ["Plays:", *plays] if plays else []
    lines.append(last)
    if game.turn == seat:
        lines.append(_moves(game))
    return "\n".join(lines)


def _plays(game: Core, seat: int) -> list[str]:
    """Return the plays of this deal in words, and those before it that followed the seat's last one."""
    if not game.actions:
        return []
    twin, lines, deal, first, own = game.rewound(), [], 0, 0, 0
    for ply, move in enumerate(game.moves):
        if twin.deal_number != deal:
            deal, first = twin.deal_number, ply
        if twin.turn == seat:
            own = ply
        lines.append(f"  {ply + 1:3}. seat {twin.turn} {format_playing(twin, move)}")
    return lines[min(own, first if deal == game.deal_number else len(lines)) :]


def _moves(game: Core) -> str:
    """Return the legal moves of the seat to act as records write them, or how to write one if they are too many."""
    try:
        moves = game.legal_moves(_MOST_LISTED)
    except ValueError:
        return f"You have more than {_MOST_LISTED} moves: play a card, alone or with what it takes, as in 8Sx2H6D."
    return f"Your moves: {', '.join(map(str, moves))}."
