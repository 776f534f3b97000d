"""A game as text: the present position, what one seat may see of it, and how the game ended."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from krypenv.cards import ACE, NO_CARD, PICTURES, card_names
from krypenv.game.moves import Move, play_of
from krypenv.game.positions import barred_names
from krypenv.inputs.words import is_whole, shown
from krypenv.observation import extra_blocks

if TYPE_CHECKING:
    from krypenv.game.game import Game

TURN, ALL = "turn", "all"  # whose hands are shown: that of the seat to act, or all
MOST_LISTED = 200  # moves in the view of a seat; of more, it says how to write one
_WIDTHS = {"sweeps": 1, "score": 3}  # digits of a count by its name, 2 of all others
_RANK_WORDS = {ACE: "an ace", 8: "an 8"} | dict(zip(PICTURES, ("a jack", "a queen", "a king"), strict=True))


def format_announcement(game: Game) -> str:
    """Write the announcement that the rules ask for now, as in ``last cards, sweep for a 6 or a queen``, or "".

    "Last cards" is announced before the first play of the last deal. Where a sweep is forced or costs the seat before,
    one is announced whenever a card could make it.
    """
    is_last, ranks = announced(game)
    parts = ["last cards"] if is_last else []
    words = [_RANK_WORDS.get(rank, f"a {rank}") for rank in ranks]
    if words:
        parts.append("sweep for " + " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])))
    return ", ".join(parts)


def announced(game: Game) -> tuple[bool, list[int]]:
    """Find what the rules announce now: whether the last deal begins, and the ranks that could sweep, 1 to 13."""
    last_hands, _ = game.rules.deal_sizes()[-1]
    held = sum(len(game.hand(seat)) for seat in range(game.rules.players))
    warns = game.rules.forced_sweep or game.rules.sweep_payer == "seat_before"
    return game.stock_size == 0 and held == sum(last_hands), game.sweep_ranks() if warns else []


def seats_shown(game: Game, render_seat: int | str | None) -> Collection[int]:
    """List the seats whose hands are shown; see `check_render_seat`."""
    players = game.rules.players
    seat = check_render_seat(render_seat, players)
    return () if seat is None else range(players) if seat == ALL else (game.turn if seat == TURN else seat,)


def check_render_seat(render_seat: Any, players: int) -> Any:
    """Check whose hands to show and return it: a seat, "turn", "all", or None for none; else raise ValueError."""
    if render_seat is None or (isinstance(render_seat, str) and render_seat in (TURN, ALL)):
        return render_seat
    if not is_whole(render_seat, 0, players - 1):
        raise ValueError(
            f"render_seat is 'turn', 'all', None or a seat from 0 to {players - 1}, not {shown(render_seat)}"
        )
    return int(render_seat)


def format_game(game: Game, seats: Collection[int] | None = None) -> str:
    """Write the present position, with the hands of some seats and the sizes of the others.

    Without `seats` all hands are open, as in ``str(game)``.
    """
    head = f"{game.rules}, {format_place(game)}, stock {game.stock_size}"
    lines = [head, f"  table      {format_cards(game.table)}"]
    for value, cards, owner, is_multiple in game.builds:
        lines.append(f"  build {value:2}   {format_cards(cards)}  (seat {owner}{', multiple' if is_multiple else ''})")
    if game.set_aside:
        lines.append(f"  set aside  {format_cards(game.set_aside)}")
    hands = [
        format_cards(hand) if seats is None or seat in seats else _closed(len(hand))
        for seat, hand in enumerate(map(game.hand, range(game.rules.players)))
    ]
    width = max(map(len, hands))
    for seat, hand in enumerate(hands):
        mark = ">" if seat == game.turn else " "
        role = " (dealer)" if seat == game.dealer else ""
        counts = [f"{name} {count:{_WIDTHS.get(name, 2)}}" for name, count in seat_counts(game, seat).items()]
        lines.append(f"{mark} seat {seat}     {hand:{width}}  {'  '.join(counts)}{role}")
    if game.game_number > 1:
        lines.append(f"  totals     {', '.join(f'seat {seat} {total}' for seat, total in enumerate(game.totals))}")
    if game.is_over:
        lines.append(format_result(game))
    elif game.pending:
        does = f"builds {game.building} with" if game.building else "takes"
        lines.append(f"Seat {game.turn} plays {game.pending} and {does} {' '.join(game.taken) or 'nothing'} so far.")
    else:
        aloud = format_announcement(game)
        lines.append(f"Seat {game.turn} is to play." + (f' "{aloud}"' if aloud else ""))
    return "\n".join(lines)


def format_place(game: Game) -> str:
    """Name the deal in play, and in a session of several games the game."""
    deal = f"deal {game.deal_number} of {len(game.rules.deal_sizes())}"
    if game.rules.games == 1 and game.game_number == 1:
        return deal
    return f"game {game.game_number}" + (f" of {game.rules.games}" if game.rules.games else "") + f", {deal}"


def seat_counts(game: Game, seat: int) -> dict[str, int]:
    """Count for a seat, by name, points, sweeps, what only some rules count (K7), and the score."""
    row, blocks = game.state, extra_blocks(game.rules)
    some = {
        "cards_won": ("cards", int(row["cards_won"][seat])),
        "spades_won": ("spades", int(row["spades_won"][seat])),
        "counted_sweeps": ("counted", game.counted_sweeps(seat)),
        "mulles": ("mulles", game.mulles(seat)),
        "mulle_scores": ("for mulles", game.mulle_scores(seat)),
    }
    counts = {"points": game.points(seat), "sweeps": game.sweeps(seat)}
    counts |= dict(count for block, count in some.items() if block in blocks)
    return counts | {"score": game.scores()[seat]}


def last_play(game: Game) -> tuple[int, Move] | None:
    """Find the seat and the move of the last play, of an unfinished one so far; None before the first."""
    row = game.state
    card, takes, sweep, build, builds = play_of(row)
    if game.pending:
        return game.turn, Move(game.pending, tuple(game.taken), 0, game.building)
    return None if card == NO_CARD else (int(row["last_seat"]), Move.of_kinds(card, takes, sweep, build, builds))


def format_cards(names: list[str] | tuple[str, ...]) -> str:
    """List cards, or "-" for none."""
    return " ".join(names) or "-"


def _closed(size: int) -> str:
    return f"{size} card{'' if size == 1 else 's'}"


def format_result(game: Game) -> str:
    """Write who has won a game that is over, as in "The game is over: seat 0 wins."."""
    if not game.session_over:
        return "The game is over, and the session goes on."
    winners = " and ".join(f"seat {seat}" for seat in game.winners)
    return f"The game is over: {winners} {'wins' if len(game.winners) == 1 else 'win'}."


# ---------------------------------------------------------------------- what one seat may see


def format_view(game: Game, seat: int, listed: bool = True) -> str:
    """Write all that a seat may know and that matters, and nothing that is hidden from it; see `Game.view`.

    Without `listed` its legal moves are left out.
    """
    rules, seats = game.rules, range(game.rules.players)
    game.hand(seat)  # raises ValueError where there is no such seat
    partners = [other for other in seats if other != seat and rules.teams and (other - seat) % rules.num_teams == 0]
    team = f", in a team with seat {' and seat '.join(map(str, partners))}" if partners else ""
    lines = [f"You are seat {seat}{team}."]
    lines += format_game(game, [seat]).splitlines()
    last_line = lines.pop()  # whose turn it is
    if game.last_capturer is not None:
        lines.append(f"  the last capture so far is seat {game.last_capturer}'s")
    unseen = rules.deck_counts.astype(np.int64) - game.state["seen"] - game.state["hands"][seat]
    lines.append(f"  unseen     {' '.join(card_names(unseen.tolist())) or '-'}")
    for other in seats:
        barred = barred_names(game, other)
        if other != seat and barred:
            lines.append(f"  seat {other} can't hold {' '.join(barred)}")
    plays = _plays(game, seat)
    lines += ["Plays:", *plays] if plays else []
    lines.append(last_line)
    if game.turn == seat and listed:
        lines.append(_moves(game))
    return "\n".join(lines)


def _plays(game: Game, seat: int) -> list[str]:
    """List the plays of this deal, and of the deal before it those from the last play of the seat on."""
    plays = game.plays
    last_own = max((ply for ply, (_, player, _) in enumerate(plays) if player == seat), default=0)
    return [
        f"  {ply + 1:3}. seat {player} {move}"
        for ply, (deal, player, move) in enumerate(plays)
        if deal == game.deal_number or ply >= last_own
    ]


def _moves(game: Game) -> str:
    """List the legal moves of the seat to act as `push` reads them; if they are too many, say how to write one."""
    try:
        moves = game.legal_moves(MOST_LISTED)
    except ValueError:
        return f"You have more than {MOST_LISTED} moves: play a card, alone or with what it takes, as in 8Sx2H6D."
    return f"Your moves: {', '.join(map(str, moves))}."
