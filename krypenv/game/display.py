"""A game drawn as text: the present position, and a whole game deal by deal."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from krypenv.cards import ACE, PICTURES
from krypenv.game.core import Core
from krypenv.game.moves import Move
from krypenv.game.records import parse_record
from krypenv.inputs.words import is_whole, shown
from krypenv.kernels.scoring import are_best

TURN, ALL = "turn", "all"  # whose hands are shown: that of the seat to act, or all
_RANK_WORDS = {ACE: "an ace", 8: "an 8"} | dict(zip(PICTURES, ("a jack", "a queen", "a king"), strict=True))


def format_announcement(game: Core) -> str:
    """Return what must be announced now, as in ``last cards, sweep for a 6 or a queen``; empty if nothing.

    "Last cards" is announced before the first play of the last deal, a sweep whenever a card could make one.
    """
    last_hands, _ = game.rules.deal_sizes()[-1]
    held = sum(len(game.hand(seat)) for seat in range(game.rules.players))
    said = ["last cards"] if game.stock_size == 0 and held == sum(last_hands) else []
    words = [_RANK_WORDS.get(rank, f"a {rank}") for rank in game.sweep_ranks()]
    if words:
        said.append("sweep for " + " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])))
    return ", ".join(said)


def seats_shown(game: Core, render_seat: int | str | None) -> Collection[int]:
    """Return the seats whose hands are shown: the "turn", a fixed one, "all", or with None none.

    Raises ValueError for anything else.
    """
    players = game.rules.players
    if render_seat is None:
        return ()
    if isinstance(render_seat, str) and render_seat in (TURN, ALL):
        return range(players) if render_seat == ALL else (game.turn,)
    return (check_render_seat(render_seat, players),)


def check_render_seat(render_seat: Any, players: int) -> Any:
    """Return whose hand to show; raise ValueError unless it is a seat, "turn", "all" or None."""
    if render_seat is None or (isinstance(render_seat, str) and render_seat in (TURN, ALL)):
        return render_seat
    if not is_whole(render_seat, 0, players - 1):
        raise ValueError(
            f"render_seat is 'turn', 'all', None or a seat from 0 to {players - 1}, not {shown(render_seat)}"
        )
    return int(render_seat)


def format_game(game: Core, seats: Collection[int] | None = None) -> str:
    """Return a picture of the present position; with `seats`, show only the sizes of all other hands.

    With all hands it is ``str(game)``.
    """
    head = [str(game.rules), f"deal {game.deal_number} of {len(game.rules.deal_sizes())}", f"stock {game.stock_size}"]
    if game.rules.games != 1 or game.game_number > 1:
        head.insert(1, f"game {game.game_number}" + (f" of {game.rules.games}" if game.rules.games else ""))
    lines = [", ".join(head), f"  table      {_cards(game.table)}"]
    if game.set_aside:
        lines.append(f"  set aside  {_cards(game.set_aside)}")
    scores = game.scores()
    hands = [
        _cards(hand) if seats is None or seat in seats else _closed(len(hand))
        for seat, hand in enumerate(map(game.hand, range(game.rules.players)))
    ]
    width = max(map(len, hands))
    for seat, hand in enumerate(hands):
        mark = ">" if seat == game.turn else " "
        role = " (dealer)" if seat == game.dealer else ""
        counts = f"points {game.points(seat):2}  sweeps {game.sweeps(seat)}  score {scores[seat]:3}"
        lines.append(f"{mark} seat {seat}     {hand:{width}}  {counts}{role}")
    if game.is_over:
        lines.append(f"The game is over: {_result(game)}")
    elif game.pending:
        lines.append(f"Seat {game.turn} plays {game.pending} and takes {_cards(game.taken)} and more: which?")
    else:
        lines.append(f"Seat {game.turn} is to play." + (f" {_aloud(game)}" if format_announcement(game) else ""))
    return "\n".join(lines)


def format_playthrough(game: Core | str) -> str:
    """Return a game, or the game of a record's text, deal by deal: hands, moves, announcements, scores, the end."""
    if isinstance(game, str):
        game = parse_record(game, Core)
    players = range(game.rules.players)
    lines = [f"{game.rules}, seat {game.dealer} deals" + (f", game {game.game_number}" if game.game_number > 1 else "")]
    lines += [f"{name}: {text}" for name, text in game.tags.items()]
    twin = game.rewound()
    deal = 0
    for ply, move in enumerate([*game.moves, None]):
        if twin.deal_number != deal and not twin.is_over:
            deal = twin.deal_number
            lines += ["", f"Deal {deal} of {len(game.rules.deal_sizes())}", f"  table   {_cards(twin.table)}"]
            lines += [f"  aside   {_cards(twin.set_aside)}"] if twin.set_aside else []
            lines += [f"  seat {seat}  {_cards(twin.hand(seat))}" for seat in players]
            lines += [f"       {_aloud(twin)}"] if format_announcement(twin) else []
        if game.comments.get(ply):
            lines += [f"       {{{line}}}" for line in game.comments[ply].splitlines()]
        if move:
            lines.append(f"  {ply + 1:3}. seat {twin.turn} {_deed(move)}")
            twin.push(move)
            if twin.deal_number == deal and format_announcement(twin):
                lines[-1] += f"  {_aloud(twin)}"
            if twin.deal_number != deal or twin.is_over:
                lines.append(f"  scores  {_scores(twin)}")
    if game.is_over:
        lines += ["", *_final_table(game)]
    else:
        lines += ["", "Unfinished.", str(game)]
    return "\n".join(lines) + "\n"


def _cards(names: list[str] | tuple[str, ...]) -> str:
    return " ".join(names) or "-"


def _closed(size: int) -> str:
    return f"{size} card{'' if size == 1 else 's'}"


def _aloud(game: Core) -> str:
    return f'"{format_announcement(game)}"'


def _deed(move: Move) -> str:
    """Return a move in words."""
    if not move.takes:
        return f"creeps {move.card}"
    sweep = ("", ", a sweep!", ", a double sweep!")[move.sweep]
    return f"plays {move.card}, takes {_cards(move.takes)}{sweep}"


def _scores(game: Core) -> str:
    return ", ".join(f"seat {seat} {score}" for seat, score in enumerate(game.scores()))


def _result(game: Core) -> str:
    """Return who has the best score, a team by the sum of its seats (R16)."""
    sides, scores = game.rules.num_teams, game.scores()
    sums = [sum(scores[side::sides]) for side in range(sides)]
    what = "seat" if game.rules.teams is None else "team"
    best = np.flatnonzero(are_best(game.rules, np.array(sums)))
    names = " and ".join(f"{what} {side}" for side in best)
    return f"{names} {'wins' if len(best) == 1 else 'share the win'} with {sums[best[0]]}."


def _final_table(game: Core) -> list[str]:
    """Return the last lines of a game: who got what was left, and the score of each seat."""
    lines = [
        "Nobody captured, so the cards left belong to nobody."
        if game.last_capturer is None
        else f"Seat {game.last_capturer} made the last capture and has what was left on the table and aside."
    ]
    lines += ["", "seat  cards  points  sweeps  set up  score" + ("  total" if game.rules.games != 1 else "")]
    scores, players = game.scores(), game.rules.players
    for seat in range(players):
        after = game.sweeps((seat + 1) % players)
        cards, points, sweeps = len(game.captured(seat)), game.points(seat), game.sweeps(seat)
        row = f"{seat:4}  {cards:5}  {points:6}  {sweeps:6}  {after:6}  {scores[seat]:5}"
        lines.append(row + (f"  {game.totals[seat]:5}" if game.rules.games != 1 else ""))
    result = _result(game)
    return [*lines, "", result[0].upper() + result[1:]]
