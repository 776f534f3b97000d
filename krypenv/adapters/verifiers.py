"""The games in verifiers: a language model plays one seat against agents, or all seats, each with its own messages.

`load_environment` makes the environment of an evaluation or a training. Needs the extra `[verifiers]`.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import verifiers.v1 as vf

from krypenv.envs.text_game import DEFAULT, Measures, Terms, TextGame, listed_names, rules_in_words, rules_of
from krypenv.game.moves import Move

__all__ = ["GameEnv", "GameEnvConfig", "GameTaskset"]

TASKSET = "krypkasino"  # the name by which verifiers finds this module
HOW = "Think as long as you need. Then end with your move on a line of its own, as in MOVE: 8Sx2H6D"


class GameConfig(vf.TasksetConfig):
    """Which game is played, and how; the fields are those of `krypenv.envs.text_game.Terms`."""

    id: str = TASKSET
    rules: str = "krypkasino players=2"
    seat: int | str = 0
    opponents: tuple[str, ...] = ("greedy",)
    levels: tuple[str, ...] = ()
    listed: bool = True
    tries: int = 3
    reward: str = "centred"
    first_seed: int = 0


class GameData(vf.TaskData):
    """A seeded episode."""

    seed: int
    terms: dict[str, Any]


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):
    """An episode to play."""


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    """Episodes of successive seeds, without end."""

    INFINITE = True

    def load(self) -> Iterator[GameTask]:
        """Make the task of each seed, with the rules as its system prompt."""
        config = self.config
        terms = {name: getattr(config, name) for name in Terms._fields if hasattr(config, name)}
        for seed in itertools.count(config.first_seed):
            rules = rules_of(Terms(**terms), np.random.default_rng(seed))
            data = GameData(
                name=f"{rules}, seed {seed}", system_prompt=f"{rules_in_words(rules)}\n\n{HOW}", seed=seed, terms=terms
            )
            yield GameTask(data, config.task)


class GameEnvConfig(vf.EnvConfig):
    """One role, which plays the learner's seat, or every seat."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


@dataclass
class _Seat:
    """A seat of the learner in an episode."""

    interaction: Any
    fault: str = ""  # of its last reply
    paid: float = 0.0
    replies: int = 0
    moves: int = 0
    regret: float = 0.0  # of its moves


class GameEnv(vf.Env[GameEnvConfig]):
    """Plays an episode: each seat of the learner has a stream of messages of its own.

    The trace of a seat has as reward its return, or the sum of its moves' rewards with `reward="regret"`; as metrics
    `margin`, the points by which it led the mean of all sides, `legal`, the share of replies with a legal move,
    `moves`, and `regret`, the points that a move gave away on average, if the environment was made with `measures`.
    """

    measures: Measures | None = None  # what a configuration can't hold

    async def run(self, task: Any, agents: Any) -> None:
        """Play the episode of a task."""
        measures = self.measures
        game = TextGame(Terms(**task.data.terms), task.data.seed, measures)
        seats: dict[int, _Seat] = {}
        async with contextlib.AsyncExitStack() as stack:
            while not game.over:
                before = game.game.copy()
                if game.seat not in seats:
                    seats[game.seat] = _Seat(await stack.enter_async_context(agents.player.interaction(task)))
                seat = seats[game.seat]
                turn = await seat.interaction.turn(f"{seat.fault}\n\n{game.view}" if seat.fault else game.view)
                if turn.terminated:
                    return
                answer = game.answer(turn.last_reply)
                seat.fault, seat.paid, seat.replies = answer.fault, seat.paid + answer.reward, seat.replies + 1
                seat.moves += bool(answer.move)
                if measures and answer.move:
                    seat.regret += measures.regret(before, Move.parse(answer.move))
            for number, each in seats.items():
                trace = each.interaction.trace
                trace.record_reward("game", each.paid + (0 if each is seat else game.returns[number]), 1.0)
                trace.record_metric("margin", game.margin(number))
                trace.record_metric("legal", each.moves / each.replies)
                trace.record_metric("moves", float(each.moves))
                if measures:
                    trace.record_metric("regret", each.regret / max(each.moves, 1))


def load_environment(terms: Terms = DEFAULT, measures: Measures | None = None, first_seed: int = 0) -> GameEnv:
    """Make the environment.

    Args:
        terms: the game; with `seat="all"` the model plays every seat, each with a stream of messages of its own.
        measures: what the rewards "regret" and "adjusted" need (`krypenv.training.measures_by`).
        first_seed: of the first task; task i has this seed + i.
    """
    sys.modules.setdefault(TASKSET, sys.modules[__name__])
    fields = terms._asdict()
    fields["rules"] = str(fields["rules"] or "krypkasino players=2")
    fields |= {name: tuple(listed_names(name, fields[name])) for name in ("opponents", "levels")}
    environment = GameEnv(GameEnvConfig(taskset={"id": TASKSET, "first_seed": first_seed, **fields}))
    environment.measures = measures
    return environment
