"""The duplicate challenge: an agent plays a person's very cards against the same opponents, and where it differs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.study.steps import PERSON, by_rank, margins_of

Decide = Callable[[str, int, Game], Awaitable[str]]  # an agent's move, by its name, its seat and the game
Tell = Callable[[int], Awaitable[None]]  # is told the number of moves made


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
    """Return two games of the same cards beside each other, as JSON has it: margins, deal by deal, and differences.

    `margins` are those of the seat's side, at the end and after each deal, of the first game and of the other one.
    A deal has the first decision of the seat in which they differ, if there is one: on the same table, or on tables
    that differ since an earlier deal.
    """
    mine, theirs = _decisions(game, seat), _decisions(other, seat)
    ends = _ends(game, seat), _ends(other, seat)
    deals = []
    for deal in range(1, max(ends[0]) + 1):
        pairs = zip(mine.get(deal, []), theirs.get(deal, []), strict=False)
        found = next(((one, two) for one, two in pairs if one[1] != two[1]), None)
        deals.append(
            {
                "deal": deal,
                "margins": [end.get(deal) for end in ends],
                "difference": found and _told(words, *found),
            }
        )
    return {"margins": [margins_of(each)[seat] for each in (game, other)], "deals": deals}


def _decisions(game: Game, seat: int) -> dict[int, list[tuple[Game, Move]]]:
    """Return the decisions of a seat by deal: the game before each, and the move."""
    twin, found = game.rewound(), {}  # type: tuple[Game, dict[int, list[tuple[Game, Move]]]]
    for move in game.moves:
        if twin.turn == seat:
            found.setdefault(twin.deal_number, []).append((twin.copy(), move))
        twin.push(move)
    return found


def _ends(game: Game, seat: int) -> dict[int, float]:
    """Return the margin of a seat's side after each deal."""
    twin, ends = game.rewound(), {}
    for move in game.moves:
        deal = twin.deal_number
        twin.push(move)
        ends[deal] = margins_of(twin)[seat]
    return ends


def _told(words: Narrator, mine: tuple[Game, Move], theirs: tuple[Game, Move]) -> dict[str, Any]:
    sides = [
        {
            "at": len(game.moves),
            "table": by_rank(game.table),
            "hand": game.hand(game.turn),
            "text": words.choice(game, move)[0],
        }
        for game, move in (mine, theirs)
    ]
    is_same = all(_lies(mine[0], seat) == _lies(theirs[0], seat) for seat in range(words.rules.players))
    return {"same": is_same, "mine": sides[0], "theirs": sides[1]}


def _lies(game: Game, seat: int) -> tuple[list[str], list[str], list[tuple[int, list[str], int, bool]]]:
    return game.hand(seat), game.table, game.builds
