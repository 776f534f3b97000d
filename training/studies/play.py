"""Play that studies have in common: an agent with one habit changed, duplicate matches in chunks, self-play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.champion import Champion, shipped_model
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.search.sampler import Sampler
from krypenv.cards import NUM_KINDS
from krypenv.features import COLUMNS, WIDTH, append_features
from krypenv.kernels.scoring import leads
from krypenv.observation import SIZE
from krypenv.rules import Rules
from krypenv.training.arena.shards import AgentSource, Shard, play_shard
from krypenv.training.evaluation.deals import deal_seeds
from krypenv.training.evaluation.matches import confidence_interval
from krypenv.training.studies.study import Setup, Task

CHUNK = 100  # deals of a task
BoolArray = npt.NDArray[np.bool_]
# Which of the legal actions a habit allows, (B, 105) bool, from rules, observations and masks. A row in which it allows
# none, or all, is one that it does not concern.
Habit = Callable[[Rules, npt.NDArray[np.int8], npt.NDArray[np.int8]], BoolArray]
Change = Callable[[str, Rules, int], Agent]  # makes a changed agent from the string of one, rules and a seed


def strong_agent(rules: Rules) -> str:
    """Return the string of a strong agent that decides in microseconds: the package's network, or the best script."""
    return "champion(worlds=0)" if shipped_model(rules) else "tactician(shed=True)"


class WithHabit:
    """Plays as another agent, but for one habit: where that forbids its choice, its best allowed action.

    The other agent must value actions: a network does by its logits, and a search by its expected margins.
    """

    def __init__(self, base: Agent, habit: Habit, name: str) -> None:
        self.base, self.habit, self.name, self.rules = base, habit, name, base.rules
        judge = base.player if isinstance(base, Champion) else base
        if not isinstance(judge, (LearnedAgent, Sampler)):
            raise ValueError(f"{base.name} does not value its actions; champion, guided, search and networks do")
        self._judge: LearnedAgent | Sampler = judge

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Return an action for each row, (B,) int64."""
        chosen = self.base.act(observations, action_masks)
        allowed = self.habit(self.rules, observations, action_masks) & (action_masks > 0)
        forbidden = np.flatnonzero(allowed.any(axis=1) & ~allowed[np.arange(len(chosen)), chosen])
        if len(forbidden):
            values = self._values(observations[forbidden], action_masks[forbidden])
            chosen[forbidden] = np.where(allowed[forbidden], values, -np.inf).argmax(axis=1)
        return chosen

    def _values(self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        if isinstance(self._judge, LearnedAgent):
            return self._judge.evaluate(observations, masks)[0]
        values = self._judge.action_values(observations, masks)
        return np.where(np.isfinite(values), values, -1e6)  # pruned actions come last, and are there


def column(
    rules: Rules, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8], name: str
) -> npt.NDArray[np.int8]:
    """Return an entry of the features block for each card, (B, 52) int8; see `krypenv.features.COLUMNS`."""
    block = append_features(rules, observations, masks)[:, SIZE:].reshape(len(masks), NUM_KINDS, WIDTH)
    entries: npt.NDArray[np.int8] = block[:, :, COLUMNS[name].start]
    return entries


def only_plays(plays: BoolArray, masks: npt.NDArray[np.int8]) -> BoolArray:
    """Return a habit's answer that concerns the play of cards alone: (B, 52) bool to (B, 105)."""
    allowed = masks > 0
    allowed[:, :NUM_KINDS] &= plays
    return allowed


def chunk_tasks(key: str, setup: Setup, function: Callable[..., list[Any]], **more: Any) -> list[Task]:
    """Return tasks over the deals of a setup, in chunks.

    Each calls `function(rules, agent, first, deals, seed, **more)`, which returns a list with an item for each deal.
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
    return chunk_tasks(key, setup, play_chunk, change=change)


def habit_tasks(habits: dict[str, Habit], setup: Setup) -> list[Task]:
    """Return the tasks of the matches of the agent with each habit against itself without, under the habits' names."""
    return [task for name, habit in habits.items() for task in match_tasks(name, setup, partial(with_habit, habit))]


def play_chunk(rules: str, agent: str, first: int, deals: int, seed: int, change: Change) -> list[float]:
    """Return the margins of a changed agent against the agent as it is on all other sides, by deal."""
    game = Rules.parse(rules)
    sides = game.num_teams
    seatings = tuple(tuple(int(side != own) for side in range(sides)) for own in range(sides))
    members: dict[int, AgentSource] = {0: ("changed", partial(change, agent)), 1: agent}
    seeds = deal_seeds(seed, first + deals)[first:]
    lines = play_shard(Shard(0, first // CHUNK, first, seeds, seatings, members, game, seed))
    if any(line["forfeits"] for line in lines):
        raise RuntimeError(f"a player failed: {next(line['forfeits'] for line in lines if line['forfeits'])}")
    scores = np.array([line["scores"] for line in lines], float)  # (deals, seatings, sides)
    own = scores[:, np.arange(sides), np.arange(sides)]
    margins = leads(game, own, (scores.sum(axis=2) - own) / (sides - 1)).mean(axis=1)
    return [round(margin, 9) for margin in margins.tolist()]


def with_habit(habit: Habit, agent: str, rules: Rules, seed: int) -> Agent:
    """Return an agent with a habit; a change of an agent for `match_tasks`."""
    return WithHabit(agents.make_known(agent, rules, seed), habit, "habit")


def told(samples: Sequence[float] | npt.NDArray[np.float64]) -> tuple[str, str]:
    """Return a mean and its 95% interval as two cells of a table."""
    mean, low, high = confidence_interval(np.asarray(samples))
    return f"{mean:+.2f}", f"{low:+.2f} to {high:+.2f}"
