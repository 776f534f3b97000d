"""Parts of settings that several commands have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from krypenv.agents import rules_of
from krypenv.agents.neural.network import Shape
from krypenv.rules import Rules
from krypenv.training.common import bounds
from krypenv.training.common.fields import Part, setting

KRYPKASINO = "krypkasino"


@dataclass(frozen=True)
class GameRules(Part):
    """Which rules are played."""

    rules: str = setting(KRYPKASINO, "preset of the rules")
    players: int | None = setting(None, "number of players [default: 2]")
    teams: int | None = setting(None, "number of teams [default: everyone alone]")
    rule: tuple[str, ...] = setting((), "a field of the rules to change, as in forced_sweep=False")

    def parse(self) -> Rules:
        """Return the rules; raises ValueError where there are none."""
        return Rules.parse(" ".join([self.rules, *self._changes()]))

    def of_agents(self, agents: Sequence[str]) -> Rules:
        """Return the rules; if none are given, those of the first model among some agents."""
        if self.rules:
            return self.parse()
        changes = self._changes()
        trained = () if changes else filter(None, map(rules_of, agents))
        return next(iter(trained), None) or Rules.parse(" ".join([KRYPKASINO, *changes]))

    def _changes(self) -> list[str]:
        given = [f"{name}={value}" for name in ("players", "teams") if (value := getattr(self, name)) is not None]
        return [*given, *(word.replace(" ", "") for word in self.rule)]


@dataclass(frozen=True)
class Length(Part):
    """How long a training lasts."""

    minutes: float = setting(2.0, "length of the training, with the evaluations on the way", bounds.MINUTES)
    frames: int = setting(
        0,
        "length in decisions of the learner instead of minutes, so that the result does not depend on the machine",
        bounds.FRAMES,
    )


@dataclass(frozen=True)
class Network(Part):
    """The sizes of a network."""

    context: int = setting(128, "units of the network's layer that reads the whole observation", bounds.UNITS)
    card: int = setting(64, "units of the network's layers that score an action", bounds.UNITS)
    embedding: int = setting(8, "entries that the network learns for each action", bounds.UNITS)

    @property
    def shape(self) -> Shape:
        """The sizes, as networks have them."""
        return Shape(self.context, self.card, self.embedding)


@dataclass(frozen=True)
class Evaluation(Part):
    """The duplicate matches at the end."""

    deals: int = setting(1000, "duplicate deals of the evaluation at the end", bounds.DEALS)
    against: tuple[str, ...] = setting(("greedy", "tactician"), "opponents in the evaluation")


def a_seed() -> Any:
    """Return the field of a command's seed."""
    return setting(0, "seed of deals, weights and batches", bounds.SMALL_SEED)


def some_threads() -> Any:
    """Return the field of the threads of torch."""
    return setting(1, "threads of torch; one is fastest for this network", bounds.THREADS)
