"""The duplicate challenge: an agent plays a person's very cards against the same opponents, and where it differs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from krypenv.game.game import Game
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON
from krypenv.ui.study.steps import at_step, margins_of, shared_moves

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
