"""What one seat may see of a game, as plain values, for tables outside this process: a function of the record alone."""

from __future__ import annotations

from typing import Any

from krypenv.engine import IllegalMove
from krypenv.game.core import Core
from krypenv.game.display import LastPlay, last_play
from krypenv.game.moves import Move
from krypenv.ui.narrator.choice import group_of
from krypenv.ui.narrator.happened import what_is_taken
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.words import starting

MOST_MOVES = 200  # that are listed; of more, a person names the cards that a card takes


def view(game: Core, words: Narrator) -> dict[str, Any]:
    """Return all that the narrator's seat may know of a game, as JSON has it, and nothing else.

    For a seat of None, who only watches, it holds no hand and no moves.
    """
    seat = words.seat
    log, last, swept = _log(game, words)
    return {
        "title": words.title,
        "seat": seat,
        "players": [_player(game, words, each, swept[each]) for each in range(game.rules.players)],
        "teams": _teams(game, words),
        "table": game.table,
        "builds": [
            {"value": value, "cards": cards, "owner": owner, "multiple": is_multiple}
            for value, cards, owner, is_multiple in game.builds
        ],
        "aside": game.set_aside,
        "stock": game.stock_size,
        "deal": {"number": game.deal_number, "of": len(game.rules.deal_sizes())},
        "session": {"number": game.game_number, "of": game.rules.games},
        "turn": None if game.is_over else game.turn,
        "hand": [] if seat is None else game.hand(seat),
        **_choices(game, words),
        "announcement": words.announcement(game),
        "log": log,
        "last": last,
        "over": game.is_over,
        "session_over": game.session_over,
        **_end(game, words),
    }


def _player(game: Core, words: Narrator, seat: int, swept: list[str]) -> dict[str, Any]:
    """Return what everybody may know of a seat. Its pile lies face down until the end, but for cards that swept."""
    rules = game.rules
    return {
        "seat": seat,
        "name": starting(words.names[seat]),
        "team": rules.team_of(seat) if rules.teams else None,
        "dealer": seat == game.dealer,
        "cards": len(game.hand(seat)),
        "pile": game.pile_counts(seat)[0],
        "swept": swept,
        "taken": game.captured(seat) if game.is_over else None,
        "points": game.points(seat),
        "sweeps": game.sweeps(seat),
        "score": game.scores()[seat],
        "total": game.totals[seat],
    }


def _teams(game: Core, words: Narrator) -> list[dict[str, Any]]:
    """Return the sides of a game of partners, with their scores; none where everyone plays alone."""
    scores = game.scores()
    return [
        {
            "name": starting(words.side(side)),
            "seats": words.members(side),
            "score": sum(scores[seat] for seat in words.members(side)),
        }
        for side in range(game.rules.teams or 0)
    ]


# ---------------------------------------------------------------------- what may be chosen


def _choices(game: Core, words: Narrator) -> dict[str, Any]:
    """Return the moves of a seat whose turn it is, and what its cards may do or why they can't be played.

    `moves` is None where there are too many to list.
    """
    if game.is_over or game.turn != words.seat:
        return {"moves": [], "whys": {}}
    try:
        moves: list[Move] | None = game.legal_moves(MOST_MOVES)
    except ValueError:
        moves = None
    if moves is not None and len(moves) > MOST_MOVES:
        moves = None
    return {
        "moves": None if moves is None else [_move(game, words, move) for move in moves],
        "whys": {card: words.why_card(game, card) for card in dict.fromkeys(game.hand(game.turn))},
    }


def _move(game: Core, words: Narrator, move: Move) -> dict[str, Any]:
    """Return a legal move: as records write it, what it takes, what it gains at once, and a sentence about it."""
    twin, seat = game.copy(), game.turn
    twin.push(move)
    play = LastPlay(seat, move.card, move.takes, move.sweep, False, move.build or 0, move.builds)
    group = group_of(move)
    return {
        "move": str(move),
        "kind": group,
        "card": move.card,
        "takes": list(move.takes),
        "builds": list(move.builds),
        "build": move.build,
        "sweep": move.sweep,
        "what": what_is_taken(words, game, play) if group == "take" else "",
        "gain": twin.scores()[seat] - game.scores()[seat],
        "text": words.why(game, move),
    }


def refusal(game: Core, words: Narrator, text: str) -> str:
    """Return why a move can't be made that a person has asked for, as records write it; empty if it can.

    Raises ValueError for what is no move at all.
    """
    move = Move.parse(text)
    twin = game.copy()
    try:
        twin.push(move)
    except IllegalMove:
        return words.why(game, move)
    return ""


# ---------------------------------------------------------------------- what has happened


def _log(game: Core, words: Narrator) -> tuple[list[dict[str, Any]], dict[str, Any] | None, list[list[str]]]:
    """Return what has happened so far, told deal by deal, the last play by itself, and by seat the cards that swept."""
    twin = game.rewound()
    log: list[dict[str, Any]] = []
    swept: list[list[str]] = [[] for _ in range(game.rules.players)]
    last = None
    deal = 0
    for move in game.moves:
        if twin.deal_number != deal:
            deal = twin.deal_number
            log.append({"deal": deal, "seat": None, "text": words.deal(twin)})
        before = twin.copy()
        twin.push(move)
        swept[before.turn] += [move.card] * bool(move.sweep)
        log.append({"deal": deal, "seat": before.turn, "text": words.play(before, twin)})
        last = before
    if twin.deal_number != deal and not twin.is_over:
        log.append({"deal": twin.deal_number, "seat": None, "text": words.deal(twin)})
    return log, None if last is None else _last(words, last, twin, log), swept


def _last(words: Narrator, before: Core, game: Core, log: list[dict[str, Any]]) -> dict[str, Any]:
    play = last_play(game)
    assert play
    told = next(each["text"] for each in log[::-1] if each["seat"] is not None)
    return {
        "seat": play.seat,
        "card": play.card,
        "takes": list(play.takes),
        "builds": [
            {"value": value, "cards": cards}
            for value, cards, *_ in before.builds
            if value in play.builds and not play.build
        ],
        "build": play.build or None,
        "sweep": play.sweep,
        "gains": [new - old for new, old in zip(game.scores(), before.scores(), strict=True)],
        "text": told,
    }


def _end(game: Core, words: Narrator) -> dict[str, Any]:
    """Return every point by its source, and who won, of a game that is over."""
    if not game.is_over:
        return {"sheet": None, "result": ""}
    sheet = words.sheet(game)
    return {
        "sheet": {
            "names": [starting(name) for name in words.names],
            "entries": [{"label": entry.label, "points": list(entry.points)} for entry in sheet.entries],
            "scores": list(sheet.scores),
            "sides": list(sheet.sides),
            "totals": list(sheet.totals),
        },
        "result": words.result(game),
    }
