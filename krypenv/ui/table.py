"""A game with its players: a person at one seat, and agents at the others."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from krypenv import agents
from krypenv.advice.values import Values, gives_values, values_of
from krypenv.agents.base import Agent
from krypenv.cards import card_name
from krypenv.game.base_agent import move_of
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.inputs.words import command_line, printable
from krypenv.rules import Rules
from krypenv.ui.narrator.words import starting
from krypenv.ui.seats import PERSON, agents_among, names_of, players_at, tags_of

SWEEP_WORLDS = 200  # in which it is counted how often the next seat sweeps


class CantGoOn(ValueError):
    """An agent has no move. The message says who, and no more: the cause may tell cards that the person can't see."""


class Table:
    """A game of one person against agents.

    Args:
        game: the game, which may have begun.
        seat: the person's seat.
        opponents: the agents at the other seats, as `krypenv.agents.make` reads them, from the person's left on; one
            alone plays all of them.
        seed: of the agents' random choices, each of which has one of its own.

    Attributes:
        game: the game that is being played, one of a session perhaps.
        seat: the person's seat.
        players: who sits where: names of agents, and `PERSON`.

    Raises ValueError for a wrong seat, and for agents that don't exist, don't play these rules, or see hidden cards.
    """

    def __init__(self, game: Game, seat: int, opponents: Sequence[str], seed: int = 0) -> None:
        self.players = players_at(game.rules.players, [seat], opponents)
        self.game, self.seat, self._seed = game, seat, seed
        self._agents = {
            at: seated(spec, game.rules, seed_at(seed, at)) for at, spec in enumerate(self.players) if at != seat
        }
        game.tags |= tags_of(self.players)

    @property
    def names(self) -> list[str]:
        """What the seats are called: "You", and agents by their names, with letters of seats if several share one."""
        return names_of(self.players, "You")

    @property
    def is_yours(self) -> bool:
        """Whether the person is to play."""
        return self.game.turn == self.seat

    def play_others(self) -> Iterator[Move]:
        """Play the agents' moves up to the person's next decision, or to the end of the game; yield each.

        Raises CantGoOn for an agent that fails.
        """
        while not self.game.is_over and not self.is_yours:
            try:
                move = move_of(self._agents[self.game.turn], self.game)
            except Exception as error:
                raise CantGoOn(f"{starting(self.names[self.game.turn])} can't go on") from error
            self.game.push(move)
            yield move

    def next_game(self) -> None:
        """Begin the session's next game."""
        self.game = next_of(self.game)
        self.game.tags |= tags_of(self.players)

    def record(self) -> bytes:
        """Return the game's record, as files have it."""
        return self.game.record().encode()


def hint_of(game: Game, spec: str) -> Values | Move:
    """Return what the moves of the seat to act are worth by an agent, or its move if it values none.

    The agent is made anew with a fixed seed, so that a position has one hint, whoever asks for it and how often.
    """
    seed = seed_at(0, -1)  # of no table and no seat
    helper = seated(spec, game.rules, seed)
    if gives_values(helper):
        return values_of(game, helper, SWEEP_WORLDS, seed)
    return move_of(helper, game)


def dealt(rules: Rules, seed: int | None = None) -> Game:
    """Return a new game at a table; without a seed that a person chose, no card of its deck tells of another."""
    return Game(rules, seed, secret_deck(rules) if seed is None else None)


def next_of(game: Game) -> Game:
    """Return the next game of a table's session; see `dealt`."""
    return game.next_game(secret_deck(game.rules) if game.seed is None else None)


def secret_deck(rules: Rules) -> list[str]:
    """Return the deck's names in an order that follows from no seed: some of its cards tell nothing of the others."""
    names = [card_name(kind) for kind, count in enumerate(rules.deck_counts.tolist()) for _ in range(count)]
    secrets.SystemRandom().shuffle(names)
    return names


def seed_at(seed: int, seat: int) -> int:
    """Return the seed of a seat's agent, from which neither the table's seed, and so the deck, nor others' follow."""
    return int.from_bytes(hashlib.sha256(f"{seed} {seat}".encode()).digest()[:8], "big")


def check_players(rules: Rules, seat: int, opponents: Sequence[str]) -> None:
    """Raise ValueError if a person and these agents can't play a game; agents of one's own are not made for that."""
    for spec in players_at(rules.players, [seat], opponents):
        if spec != PERSON and not agents.is_own(spec):
            seated(spec, rules, 0)


def is_seated_by_record(players: Sequence[str]) -> bool:
    """Check whether a record may seat all agents of a game, so that a command need not name them."""
    try:
        for spec in agents_among(players):
            agents.check_recorded(str(spec))  # not as a person has typed it
    except ValueError:
        return False
    return True


def command_to_resume(command: str, path: Path, players: Sequence[str]) -> str:
    """Write the command line that continues a saved game; it names agents that a record may not seat."""
    named = [] if is_seated_by_record(players) else agents_among(players)
    options = [word for spec in named for word in ("--against", spec)]
    return printable(command_line("krypenv", command, "--load", str(path), *options))


def seated(spec: str, rules: Rules, seed: int) -> Agent:
    """Return an agent that may sit at a table; raise ValueError for one that sees hidden cards.

    Agents that only a record names are those of `krypenv.agents.check_recorded`.
    """
    agents.check_recorded(spec)
    agent = agents.make_known(spec, rules, seed)
    if getattr(agent, "cheats", False):
        raise ValueError(f"{agent.name} sees what is hidden, so it can't play here")
    return agent
