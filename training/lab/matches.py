"""Play in chunks of deals: duplicate matches of a changed agent, and games with one agent in every seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.engine import Engine
from krypenv.features import want_history
from krypenv.rules import Rules
from krypenv.state import State
from krypenv.training.evaluation.luck.meter import control_for, is_quick
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate import play_duplicates
from krypenv.training.evaluation.matches.margins import FloatArray
from krypenv.training.evaluation.matches.mixed_table import ask
from krypenv.training.evaluation.matches.players import seed_of as seed_of
from krypenv.training.lab.effects import effects_of
from krypenv.training.lab.study import Answer, Setup, Study
from krypenv.training.runs import Task

IntArray = npt.NDArray[np.int64]
CHUNK = 100  # deals in a task
Change = Callable[[str, Rules, int], Agent]  # makes a changed agent from an agent's string, rules and a seed


def chunk_tasks(key: str, setup: Setup, function: Callable[..., Any], **options: Any) -> list[Task]:
    """Split the deals of a setup into tasks.

    A task calls `function(rules, agent, first, deals, seed, **options)`, which returns a list with an item by deal.
    """
    arguments = {"rules": str(setup.rules), "agent": setup.agent, "seed": setup.seed, **options}
    return [
        Task(f"{key} {first}", function, {**arguments, "first": first, "deals": min(CHUNK, setup.deals - first)})
        for first in range(0, setup.deals, CHUNK)
    ]


def by_deal(results: dict[str, Any], key: str, setup: Setup) -> list[Any]:
    """Join the results of `chunk_tasks` to a list with an item for each deal."""
    return [item for first in range(0, setup.deals, CHUNK) for item in results[f"{key} {first}"]]


def match_tasks(key: str, setup: Setup, change: Change) -> list[Task]:
    """Make the tasks of a duplicate match of the setup's agent with a change against the unchanged agent.

    Raises ValueError for an agent that can't be changed so.
    """
    change(setup.agent, setup.rules, setup.seed)
    return chunk_tasks(key, setup, play_chunk, change=change, luck=setup.luck)


def play_match(
    rules: str, agent: str, first: int, deals: int, seed: int, change: Change, luck: str = "off", repetition: int = 0
) -> FloatArray:
    """Play a changed agent against the unchanged one on all other sides; return its margins, (deals, seatings).

    Luck is taken out if it is measured. `repetition` seeds the agents' random choices anew on the same deals.
    """
    game = Rules.parse(rules)
    own, other = (seed_of(seed, repetition, first // CHUNK, at) for at in range(2))
    players = [change(agent, game, own), agents.make_known(agent, game, other)]
    choice = "off" if luck == "auto" and is_quick(players[1]) else luck  # changed agents don't tell
    control = control_for(choice, players, game)
    duplicates = play_duplicates(players, game, deal_seeds(seed, first + deals)[first:], control)
    return duplicates.margins if duplicates.luck is None else duplicates.margins - duplicates.luck


def play_chunk(
    rules: str, agent: str, first: int, deals: int, seed: int, change: Change, luck: str = "off"
) -> list[float]:
    """Play a changed agent against the unchanged one on all other sides; return its margins by deal."""
    return list(map(float, play_match(rules, agent, first, deals, seed, change, luck).mean(axis=1).round(9)))


def instead(other: str) -> Change:
    """Make the change that replaces an agent with another."""
    return lambda agent, rules, seed: agents.make_known(other, rules, seed)


def compare(
    name: str, question: str, changes: Mapping[str, Change], pairs: Sequence[tuple[str, str]] = (), deals: int = 2000
) -> Study:
    """Make a study of changes, each in a duplicate match of the changed player against the unchanged one.

    `pairs` name two changes to compare on the same deals, the first against the second. All margins are tested
    together.
    """

    def tasks(setup: Setup) -> list[Task]:
        return [task for label, change in changes.items() for task in match_tasks(label, setup, change)]

    def answer(setup: Setup, results: dict[str, Any]) -> Answer:
        margins = {label: np.array(by_deal(results, label, setup)) for label in changes}
        better = {f"{first} rather than {second}": margins[first] - margins[second] for first, second in pairs}
        return Answer(effects_of({**margins, **better}))

    return Study(name, question, tasks, answer, deals)


def watch(
    rules: str, agent: str, first: int, deals: int, seed: int
) -> Iterator[tuple[Engine, IntArray, State, IntArray, State]]:
    """Play deals with an agent in every seat, round by round; a round is one decision in each game.

    After each round, yield the engine; the rows of the games in play, (M,), with their states before the round, (M,);
    and the rows of the games that ended in it, (K,), with their states before it, (K,), as the engine no longer has
    their last deal. Raises `Fault` for an agent that fails.
    """
    game = Rules.parse(rules)
    player = agents.make_known(agent, game, seed_of(seed, first))
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:], history=want_history((player,)))
    rows = np.arange(deals)
    while len(rows):
        before, masks = engine.state[rows], engine.action_mask[rows]
        engine.step(ask(player, engine.observation[rows], masks, forfeits=False)[0], rows)
        over = engine.finished[rows]
        in_play, ended = (before[mask].view(np.recarray) for mask in (~over, over))
        yield engine, rows[~over], in_play, rows[over], ended
        rows = rows[~over]
