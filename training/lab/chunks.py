"""Play that studies have in common: work in chunks of deals, duplicate matches, and one agent in every seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.champion import shipped_model
from krypenv.engine import Engine
from krypenv.features import observation_for, want_history
from krypenv.inputs.words import describe_error
from krypenv.rules import Rules
from krypenv.state import State
from krypenv.training.evaluation.luck.control import control_for, is_slow
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate_deals import play_duplicates
from krypenv.training.evaluation.matches.margins import FloatArray, own_margins, without_luck
from krypenv.training.lab.studying import LEFT_IN, TAKEN_OUT, Setup, Task

CHUNK = 100  # deals of a task
Change = Callable[[str, Rules, int], Agent]  # makes a changed agent from the string of one, rules and a seed


def strong_agent(rules: Rules) -> str:
    """Return the string of a strong agent that is quick: the package's network for the rules, or a small search."""
    return "champion(worlds=0)" if shipped_model(rules) else "search(worlds=10, plies=0)"


def chunk_tasks(key: str, setup: Setup, function: Callable[..., Any], **more: Any) -> list[Task]:
    """Return tasks over the deals of a setup, in chunks.

    Each calls `function(rules, agent, first, deals, seed, **more)`, which returns a list with an item for each deal, or
    two such lists as `play_chunk` does.
    """
    return [
        Task(
            f"{key} {first}", function,
            {
                "rules": str(setup.rules), "agent": setup.agent, "first": first,
                "deals": min(CHUNK, setup.deals - first), "seed": setup.seed, **more,
            },
        )
        for first in range(0, setup.deals, CHUNK)
    ]  # fmt: skip


def by_deal(results: dict[str, Any], key: str, setup: Setup) -> list[Any]:
    """Return the items of all deals from the results of `chunk_tasks`."""
    return [item for first in range(0, setup.deals, CHUNK) for item in results[f"{key} {first}"]]


def match_tasks(key: str, setup: Setup, change: Change) -> list[Task]:
    """Return the tasks of a duplicate match of the setup's agent, changed, against itself as it is."""
    return chunk_tasks(key, setup, play_chunk, change=change, luck=setup.luck)


class Match(NamedTuple):
    """The margins of a duplicate match, (deals, seatings) in points."""

    played: FloatArray
    adjusted: FloatArray | None  # with luck taken out, where it is measured


def play_match(rules: str, agent: str, first: int, deals: int, seed: int, change: Change, luck: str = "off") -> Match:
    """Play duplicate deals of a changed agent against the agent as it is on all other sides."""
    game = Rules.parse(rules)
    makers: list[Callable[[Rules, int], Agent]] = [partial(change, agent), partial(agents.make_known, agent)]
    players = [make(game, stream(seed, 0, first // CHUNK, at)) for at, make in enumerate(makers)]
    meter = meter_of(Meter, luck, agent, players, game)
    found = play_duplicates(players, game, deal_seeds(seed, first + deals)[first:], meter)
    if found.played.luck is None:
        return Match(found.margins, None)
    adjusted = without_luck(game, found.scores, found.played.luck.reshape(found.scores.shape))
    return Match(found.margins, own_margins(game, adjusted))


def meter_of(kind: type[Meter], luck: str, agent: str, players: Sequence[Agent], rules: Rules) -> Meter | None:
    """Return a meter if luck is to be taken out, which with "auto" follows from the agent."""
    choice = "off" if luck == "auto" and not is_slow(agent) else luck  # names of changed agents tell nothing
    control = control_for(choice, players, rules)
    return kind(rules, control) if control else None


def play_chunk(
    rules: str, agent: str, first: int, deals: int, seed: int, change: Change, luck: str = "off"
) -> list[float] | dict[str, list[float]]:
    """Return the margins of a changed agent against the agent as it is on all other sides, by deal.

    If luck is measured, they are those with luck taken out and with luck left in, under `TAKEN_OUT` and `LEFT_IN`.
    """
    match = play_match(rules, agent, first, deals, seed, change, luck)
    if match.adjusted is None:
        return _plain(match.played)
    return {TAKEN_OUT: _plain(match.adjusted), LEFT_IN: _plain(match.played)}


def _plain(margins: FloatArray) -> list[float]:
    """Return margins, (deals, seatings), as means by deal."""
    return margins.mean(axis=1).round(9).tolist()


def instead(other: str) -> Change:
    """Return the change of an agent that puts another one in its place."""
    return partial(_instead, other)


def _instead(other: str, agent: str, rules: Rules, seed: int) -> Agent:
    return agents.make_known(other, rules, seed)


class Round(NamedTuple):
    """A decision in each of some games, just made; a game that it has finished is in the engine no more."""

    engine: Engine  # after the decision
    rows: npt.NDArray[np.int64]  # (M,) the games that are not over
    before: State  # (M,) what they were before
    ended: npt.NDArray[np.int64]  # (K,) the games that it has ended
    ends: State  # (K,) what they were before


def watch(rules: str, agent: str, first: int, deals: int, seed: int) -> Iterator[Round]:
    """Play deals with an agent in every seat, and yield each round of decisions."""
    game = Rules.parse(rules)
    player = agents.make_known(agent, game, stream(seed, first))
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:], history=want_history((player,)))
    rows = np.arange(deals)
    while len(rows):
        before = _some(engine.state, rows)
        step(engine, player, rows)
        over = engine.finished[rows]
        yield Round(engine, rows[~over], _some(before, ~over), rows[over], _some(before, over))
        rows = rows[~over]


def step(engine: Engine, player: Agent, rows: npt.NDArray[Any]) -> None:
    """Play a decision in some games; raises ValueError for an agent that fails."""
    try:
        masks = engine.action_mask[rows]
        seen = observation_for(player, engine.rules, engine.observation[rows], masks)
        engine.step(player.act(seen, masks), rows)
    except Exception as error:
        raise ValueError(f"{player.name} {describe_error(error)}") from None


def _some(state: State, rows: npt.NDArray[Any]) -> State:
    return state[rows].view(np.recarray)


def stream(*numbers: int) -> int:
    """Return the seed of an agent's random choices in one piece of work."""
    return int(np.random.SeedSequence(numbers).generate_state(1)[0])
