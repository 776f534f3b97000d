"""Who sits where: people at some seats, and agents at the others, as records say it. It loads no engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING

from krypenv.ui.narrator.texts import called

if TYPE_CHECKING:
    from krypenv.game.game import Game  # it loads the engine, for which no page is to wait

PERSON = "person"
NO_TAGS: Mapping[str, str] = {}
_TAG = "Seat{}"  # of a record: who sits there


def players_at(count: int, seats: Sequence[int], agents: Sequence[str]) -> list[str]:
    """Return who sits at each of some seats: people, and from the first person's left on agents, or one for all seats.

    Raises ValueError, with one sentence, for seats that there are not, and for too many or too few agents.
    """
    if not all(0 <= seat < count for seat in seats) or len(set(seats)) < len(seats):
        raise ValueError(
            f"the seats are 0 to {count - 1}, one for each person, so people can't have {', '.join(map(str, seats))}"
        )
    around = [((seats[0] if seats else 0) + step) % count for step in range(count)]
    free = [seat for seat in around if seat not in seats]
    if len(agents) not in {1, len(free)} or (agents and not free):
        raise ValueError(
            f"{len(free)} other players are needed, named one by one or all by one name, not {len(agents)}"
        )
    players = [PERSON] * count
    for number, seat in enumerate(free):
        players[seat] = agents[number if len(agents) > 1 else 0]
    return players


def tags_of(players: Sequence[str]) -> dict[str, str]:
    """Return the tags by which a record says who sits where."""
    return {_TAG.format(seat): player for seat, player in enumerate(players)}


def players_in(game: Game) -> list[str]:
    """Return who sits where by a game's record: names of agents, and `PERSON`; none if it does not say."""
    players = [game.tags.get(_TAG.format(seat), "") for seat in range(game.rules.players)]
    return players if all(players) else []


def take_back(game: Game, seat: int) -> bool:
    """Take back a seat's last move and all after it; return whether there was one."""
    twin, seats = game.rewound(), []
    for move in game.moves:
        seats.append(twin.turn)
        twin.push(move)
    if seat not in seats:
        return False
    while game.pending:
        game.pop()
    for _ in range(seats[::-1].index(seat) + 1):
        game.pop()
    return True


def people_of(players: Sequence[str]) -> list[int]:
    """Return the seats of people."""
    return [seat for seat, player in enumerate(players) if player == PERSON]


def agents_among(players: Sequence[str]) -> list[str]:
    """Return the agents, from the first person's left on, or one that has all their seats: `players_at` seats them."""
    first = (people_of(players) or [0])[0]
    found = [player for player in (*players[first:], *players[:first]) if player != PERSON]
    return found[:1] if len(set(found)) == 1 else found


def names_of(players: Sequence[str], person: str, tags: Mapping[str, str] = NO_TAGS) -> list[str]:
    """Name the seats within sentences: agents by their names, people by those of a record, or by `person`.

    A name that several seats have is followed by the letter of the seat, since numbers often follow a name.
    """
    plain = [
        (tags.get(f"Name{seat}") or person.format(letter=ascii_uppercase[seat])) if player == PERSON else called(player)
        for seat, player in enumerate(players)
    ]
    return [name if plain.count(name) == 1 else f"{name} {ascii_uppercase[seat]}" for seat, name in enumerate(plain)]
