"""Play in chunks of deals: duplicate matches of a changed agent, and one agent watched in every seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.engine import Engine
from krypenv.features import observation_for, want_history
from krypenv.inputs.words import describe_error
from krypenv.rules import Rules
from krypenv.state import State
from krypenv.training.evaluation.luck.control import control_for, is_quick
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate import play_duplicates
from krypenv.training.evaluation.matches.margins import FloatArray
from krypenv.training.lab.effects import effects_of
from krypenv.training.lab.study import Answer, Setup, Study
from krypenv.training.runs import Task

IntArray = npt.NDArray[np.int64]
CHUNK = 100  # deals of a task
Change = Callable[[str, Rules, int], Agent]  # makes a changed agent from the string of one, rules and a seed


def chunk_tasks(key: str, setup: Setup, function: Callable[..., Any], **more: Any) -> list[Task]:
    """Return tasks over the deals of a setup, in chunks.

    Each calls `function(rules, agent, first, deals, seed, **more)`, which returns a list with an item for each deal.
    """
    given = {"rules": str(setup.rules), "agent": setup.agent, "seed": setup.seed, **more}
    return [
        Task(f"{key} {first}", function, {**given, "first": first, "deals": min(CHUNK, setup.deals - first)})
        for first in range(0, setup.deals, CHUNK)
    ]


def by_deal(results: dict[str, Any], key: str, setup: Setup) -> list[Any]:
    """Return the items of all deals from the results of `chunk_tasks`."""
    return [item for first in range(0, setup.deals, CHUNK) for item in results[f"{key} {first}"]]


def match_tasks(key: str, setup: Setup, change: Change) -> list[Task]:
    """Return the tasks of a duplicate match of the setup's agent, changed, against itself as it is.

    Raises ValueError for an agent that can't be changed so.
    """
    change(setup.agent, setup.rules, setup.seed)
    return chunk_tasks(key, setup, play_chunk, change=change, luck=setup.luck)


def play_match(
    rules: str, agent: str, first: int, deals: int, seed: int, change: Change, luck: str = "off", repetition: int = 0
) -> FloatArray:
    """Return the margins of a changed agent against the agent as it is on all other sides, (deals, seatings).

    If luck is measured, it is taken out. Repetitions of the same deals have other random choices of the agents.
    """
    game = Rules.parse(rules)
    makers: list[Callable[[Rules, int], Agent]] = [partial(change, agent), partial(agents.make_known, agent)]
    players = [make(game, stream(seed, repetition, first // CHUNK, at)) for at, make in enumerate(makers)]
    choice = "off" if luck == "auto" and is_quick(players[1]) else luck  # changed agents tell nothing
    control = control_for(choice, players, game)
    meter = Meter(game, control) if control else None
    found = play_duplicates(players, game, deal_seeds(seed, first + deals)[first:], meter)
    return found.margins if found.luck is None else found.margins - found.luck


def play_chunk(
    rules: str, agent: str, first: int, deals: int, seed: int, change: Change, luck: str = "off"
) -> list[float]:
    """Return the margins of a changed agent against the agent as it is on all other sides, by deal."""
    margins: list[float] = play_match(rules, agent, first, deals, seed, change, luck).mean(axis=1).round(9).tolist()
    return margins


def instead(other: str) -> Change:
    """Return the change of an agent that puts another one in its place."""
    return lambda agent, rules, seed: agents.make_known(other, rules, seed)


def compare(
    name: str, question: str, changes: Mapping[str, Change], pairs: Sequence[tuple[str, str]] = (), deals: int = 2000
) -> Study:
    """Return a study of changes, each in a duplicate match of the changed player against the player as it is.

    `pairs` name changes of which the first is compared with the second, on the same deals. All margins are tested
    together.
    """

    def tasks(setup: Setup) -> list[Task]:
        return [task for label, change in changes.items() for task in match_tasks(label, setup, change)]

    def answer(setup: Setup, results: dict[str, Any]) -> Answer:
        margins = {label: np.array(by_deal(results, label, setup)) for label in changes}
        better = {f"{one} rather than {other}": margins[one] - margins[other] for one, other in pairs}
        return Answer(effects_of({**margins, **better}))

    return Study(name, question, tasks, answer, deals)


def watch(
    rules: str, agent: str, first: int, deals: int, seed: int
) -> Iterator[tuple[Engine, IntArray, State, IntArray, State]]:
    """Play deals with an agent in every seat, and yield the engine after each round of decisions, one in each game.

    Beside it stand the games that are not over, (M,), and what they were before, (M,); the games that the round has
    ended, (K,), which are in the engine no more, and what they were before, (K,). Raises ValueError for an agent that
    fails.
    """
    game = Rules.parse(rules)
    player = agents.make_known(agent, game, stream(seed, first))
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:], history=want_history((player,)))
    rows = np.arange(deals)
    while len(rows):
        before, masks = engine.state[rows], engine.action_mask[rows]
        try:
            engine.step(player.act(observation_for(player, game, engine.observation[rows], masks), masks), rows)
        except Exception as error:
            raise ValueError(f"{player.name} {describe_error(error)}") from None
        over = engine.finished[rows]
        states = (before[which].view(np.recarray) for which in (~over, over))
        yield engine, rows[~over], next(states), rows[over], next(states)
        rows = rows[~over]


def stream(*numbers: int) -> int:
    """Return the seed of an agent's random choices in one piece of work."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
