"""A game that is over, step by step: all hands, what was played, and what the moves were worth, as plain values.

In the duplicate challenge an agent plays a person's very cards against the same opponents.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from krypenv.agents import check_recorded
from krypenv.cards import parse_card, rank_of
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.notation import is_record
from krypenv.rewards import seat_margins
from krypenv.ui.browser.requests import LARGEST
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.narrator.texts import short_name
from krypenv.ui.narrator.words import starting
from krypenv.ui.seats import PERSON, players_in, tags_of
from krypenv.ui.view import END, is_over

Decide = Callable[[str, int, Game], Awaitable[str]]  # an agent's move, by its name, its seat and the game
Tell = Callable[[int], Awaitable[None]]  # is told the number of moves made


class StillPlayed(ValueError):
    """A game whose hands must stay closed, as it is not over."""


def read_study(text: str) -> Game:
    """Return the game of a record, which begins with a tag, or of a position, which may be played on from.

    Raises ValueError, with one sentence, for a text that is too long or neither, and StillPlayed for a game that is not
    over.
    """
    if len(text) > LARGEST:
        raise ValueError(f"a record has at most {LARGEST:,} characters, not {len(text):,}")
    if not is_record(text):
        return Game.from_position(text)
    game = Game.replay(text)
    if not is_over(game):
        raise StillPlayed("the game is not over")
    return game


def at_step(game: Game, at: int) -> Game:
    """Return a game as it was after some of its moves; where people agreed to end it, it goes on."""
    twin = game.rewound()
    twin.tags.pop(END, None)
    for move in game.moves[:at]:
        twin.push(move)
    return twin


def shared_moves(game: Game, other: Game) -> int:
    """Return how many moves two games of the same cards share from the beginning on."""
    pairs = zip(game.moves, other.moves, strict=False)
    return next((at for at, (one, two) in enumerate(pairs) if one != two), min(len(game.moves), len(other.moves)))


def seen_in(game: Game) -> set[Any]:
    """Return what everybody has seen of a game before each of its moves, and sees now: positions without the hands."""
    twin, found = game.rewound(), set()
    for move in (*game.moves, None):
        seats = range(game.rules.players)
        piles = tuple(tuple(sorted(twin.captured(seat))) for seat in seats)
        sizes = tuple(len(twin.hand(seat)) for seat in seats)
        builds = tuple((value, tuple(sorted(cards)), owner) for value, cards, owner, _ in twin.builds)
        found.add((tuple(sorted(twin.table)), tuple(sorted(twin.set_aside)), builds, piles, sizes, twin.turn))
        if move is not None:
            twin.push(move)
    return found


def record_for_pages(game: Game) -> str:
    """Return the record of a game that is over, without what is the host's alone.

    The table's next deals would follow from the seed. Players that a record may not seat are named without options: a
    program's command and a model's folder tell of the host's files.
    """
    twin = game.copy()
    twin.seed = None
    players = players_in(twin)
    for seat, player in enumerate(players):
        try:
            check_recorded(str(player))  # not as what the host has typed, which is trusted
        except ValueError:
            players[seat] = short_name(player)
    twin.tags |= tags_of(players)
    return twin.record()


def margins_of(game: Game) -> list[float]:
    """Return by how many points the side of each seat is ahead of the mean of the other sides, so far or at the end."""
    margins: list[float] = seat_margins(game.rules, game.scores()).tolist()
    return margins


def study_of(game: Game, words: Narrator, is_line: bool = False) -> dict[str, Any]:
    """Return a whole game, as JSON has it: the position before each move and after the last, with all hands.

    A line need not be over. Raises StillPlayed for any other game that is not over.
    """
    if not is_line and not is_over(game):
        raise StillPlayed("the game is not over")
    return {
        "title": words.title,
        "of": str(game.rules),
        "seat": words.seat,
        "names": [starting(name) for name in words.names],
        "within": [words.who(seat) for seat in range(game.rules.players)],
        "sides": [game.rules.team_of(seat) for seat in range(game.rules.players)],
        "deals": len(game.rules.deal_sizes()),
        "steps": _steps(game, words),
        "line": is_line,
        "over": is_over(game),
        "result": words.result(game) if is_over(game) else "",
    }


def any_move(game: Game) -> str:
    """Return a legal move of a game that is not over; there may be too many to list them."""
    twin, made = game.copy(), len(game.moves)
    while len(twin.moves) == made:
        twin.act(twin.legal_actions()[0])
    return str(twin.moves[-1])


def _steps(game: Game, words: Narrator) -> list[dict[str, Any]]:
    twin = game.rewound()
    steps = [_step(twin, words)]
    for number, move in enumerate(game.moves):
        before = twin.copy()
        steps[-1]["move"] = {
            "card": move.card,
            "takes": list(move.takes),
            "builds": list(move.builds),
            "text": words.choice(before, move)[0],
        }
        twin.push(move)
        told = [words.play(before, twin)]
        if twin.deal_number != before.deal_number and not twin.is_over:
            told.append(words.deal(twin))
        steps.append(_step(twin, words) | {"told": " ".join(told), "note": game.comments.get(number + 1, "")})
    return steps


def _step(game: Game, words: Narrator) -> dict[str, Any]:
    """Return a position: what lies where, and how the sides stand."""
    seats = range(game.rules.players)
    return {
        "deal": game.deal_number,
        "turn": None if game.is_over else game.turn,
        "hands": [game.hand(seat) for seat in seats],
        "table": sorted(game.table, key=lambda card: (rank_of(parse_card(card)), parse_card(card))),
        "builds": [build._asdict() for build in game.builds],
        "aside": game.set_aside,
        "stock": game.stock_size,
        "scores": game.scores(),
        "margins": margins_of(game),
        "told": "" if game.moves else _beginning(game, words),
        "note": "" if game.moves else game.comments.get(0, ""),
        "move": None,
    }


def _beginning(game: Game, words: Narrator) -> str:
    """Return which deal begins, or in a position amid one which it is."""
    dealt = sum(game.rules.deal_sizes()[game.deal_number - 1][0])
    held = sum(len(game.hand(seat)) for seat in range(game.rules.players))
    return words.deal(game) if held == dealt else f"{starting(words.place(game))}."


def decision_of(game: Game, words: Narrator, analysis: dict[str, Any], played: str | None) -> dict[str, Any]:
    """Return a decision with the values of its moves, in words.

    Args:
        game: the game before the move was made.
        words: for whom it is told.
        analysis: of a move, as `RecordedMove.to_json` has it; the move that was played is among its moves.
        played: the move that was made; None if none was yet.
    """
    values = analysis["moves"]
    regret = next((value["behind"]["mean"] for value in values if value["move"] == played), 0.0)
    return {
        "at": analysis["number"] - 1,
        "seat": analysis["seat"],
        "margin": values[0]["margin"]["mean"],
        "regret": regret,
        "mark": analysis["mark"] if played == analysis["played"]["move"] else "",
        "moves": [_value(game, words, value, value["move"] == played) for value in values],
        "more": analysis["legal"] is None or analysis["legal"] > len(values),
    }


def _value(game: Game, words: Narrator, value: dict[str, Any], is_played: bool) -> dict[str, Any]:
    margin = value["margin"]
    return {
        "move": value["move"],
        "text": words.choice(game, Move.parse(value["move"]))[0],
        "played": is_played,
        "margin": margin["mean"],
        "half": None if margin["high"] is None else margin["high"] - margin["mean"],
        "behind": value["behind"]["mean"],
        "sweeps": value["sets_up"],
    }


def told_side(words: Narrator, seat: int) -> tuple[str, str]:
    """Return what the side of a seat is called at the beginning of a sentence, and the pronoun for it."""
    side = words.rules.team_of(seat)
    is_you = side == words.own_side and len(words.members(side)) == 1
    return starting(words.side(side)), words.say(f"luck.whom.{'you' if is_you else 'side'}")


def person_of(players: Sequence[str]) -> int | None:
    """Return the only person's seat, None if nobody or several people play."""
    return players.index(PERSON) if list(players).count(PERSON) == 1 else None


# ---------------------------------------------------------------------- the challenge


def can_challenge(seat: int | None, players: Sequence[str]) -> bool:
    """Return whether an agent can take a person's place: all others are agents, which can play once more."""
    return (
        seat is not None and len(players) > 0 and all((who == PERSON) == (at == seat) for at, who in enumerate(players))
    )


async def play_again(game: Game, seat: int, players: Sequence[str], agent: str, decide: Decide, tell: Tell) -> Game:
    """Return the game that an agent plays in a person's place, with the same cards against the same opponents.

    As long as both games are the same, the opponents answer as they did to the person: their randomness makes no
    difference there. From the first difference on they decide anew.

    Args:
        game: the person's game, which is over.
        seat: the person's seat.
        players: who sat where, with agents at all other seats.
        agent: who plays in the person's place.
        decide: returns an agent's move.
        tell: is told how many moves have been made.
    """
    twin, made = game.rewound(), game.moves
    is_same = True
    while not twin.is_over:
        at = len(twin.moves)
        if twin.turn != seat and is_same:
            twin.push(made[at])
        else:
            twin.push(await decide(agent if twin.turn == seat else players[twin.turn], twin.turn, twin.copy()))
            is_same = is_same and twin.moves[at] == made[at]
        await tell(at + 1)
    return twin


def compared(game: Game, other: Game, seat: int, words: Narrator) -> dict[str, Any]:
    """Return how two games of the same cards compare, as JSON has it.

    `margins` are those of the seat's side at the end, of the first game and of the other one; `difference` is the first
    move in which they differ, None if there is none.
    """
    at = shared_moves(game, other)
    before, made = at_step(game, at), [each.moves[at : at + 1] for each in (game, other)]
    mine, theirs = ["".join(words.choice(before, move)[0] for move in moves) for moves in made]
    return {
        "margins": [margins_of(each)[seat] for each in (game, other)],
        "difference": {"at": at, "mine": mine, "theirs": theirs} if mine else None,
    }
