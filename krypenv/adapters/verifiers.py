"""The games in verifiers: a language model plays one seat against agents, or all seats, each with its own messages.

`load_environment` makes the environment of an evaluation or a training. Needs the extra `[verifiers]`.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from krypenv.envs.text_game import DEFAULT, REGRET, Terms, TextGame, read_prompt

__all__ = ["GameEnv", "GameTaskset"]

TASKSET = "krypkasino"  # the name by which verifiers finds this module


class GameConfig(Terms, vf.TasksetConfig):
    """Which game is played, and how."""

    id: str = TASKSET
    first_seed: int = 0


class GameData(vf.TaskData):
    """A seeded episode."""

    seed: int
    terms: Terms


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):
    """An episode to play."""


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    """Episodes of successive seeds, without end."""

    INFINITE = True

    def load(self) -> Iterator[GameTask]:
        """Make the task of each seed, with the rules as its system prompt."""
        terms = Terms(**self.config.model_dump(include=set(Terms.model_fields)))
        for seed in itertools.count(self.config.first_seed):
            rules = terms.rules_by(seed)
            system = read_prompt(rules)[0]
            data = GameData(name=f"{rules}, seed {seed}", system_prompt=system, seed=seed, terms=terms)
            yield GameTask(data, self.config.task)


class GameEnvConfig(vf.EnvConfig):
    """One role, which plays the learner's seat, or every seat."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class GameEnv(vf.Env[GameEnvConfig]):
    """Plays an episode: each seat of the learner has a stream of messages of its own.

    The trace of a seat has as reward its return, or the sum of its moves' rewards with `reward="regret"`; as metrics
    `margin`, the points by which it led the mean of the others, `legal`, the share of replies with a legal move,
    `moves`, and with `reward="regret"` `regret`, the points that a move gave away on average.
    """

    async def run(self, task: Any, agents: Any) -> None:
        """Play the episode of a task."""
        game, fault, streams = TextGame(task.data.terms, task.data.seed), "", dict[int, Any]()
        async with contextlib.AsyncExitStack() as stack:
            while not game.over:
                if game.seat not in streams:
                    streams[game.seat] = await stack.enter_async_context(agents.player.interaction(task))
                turn = await streams[game.seat].turn(f"{fault}\n\n{game.view}".lstrip())
                if turn.terminated:
                    return
                fault = game.answer(turn.last_reply).fault
            for seat, stream in streams.items():
                tally = game.tallies[seat]
                stream.trace.record_reward("game", tally.paid, 1.0)
                metrics = {"margin": game.margin(seat), "legal": tally.moves / tally.replies, "moves": tally.moves}
                if game.terms.reward == REGRET:
                    metrics["regret"] = tally.regret / max(tally.moves, 1)
                for name, value in metrics.items():
                    stream.trace.record_metric(name, float(value))


def load_environment(terms: Terms = DEFAULT, first_seed: int = 0) -> GameEnv:
    """Make the environment.

    Args:
        terms: the game, its opponents by name; with `seat="all"` the model plays every seat.
        first_seed: of the first task; task i has this seed + i.
    """
    sys.modules.setdefault(TASKSET, sys.modules[__name__])
    return GameEnv(GameEnvConfig(taskset={"id": TASKSET, "first_seed": first_seed, **terms.model_dump()}))
