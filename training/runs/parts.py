"""Parts of settings that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from krypenv.agents import rules_of
from krypenv.agents.neural.network import Shape
from krypenv.rules import Rules
from krypenv.training.runs import limits, panels
from krypenv.training.runs.fields import Part, setting

KRYPKASINO = "krypkasino"


@dataclass(frozen=True)
class GameRules(Part):
    """The rules of the game."""

    panel: ClassVar[str] = panels.RULES
    rules: str = setting(KRYPKASINO, "preset of the rules")
    players: int | None = setting(None, "number of players [default: 2]")
    teams: int | None = setting(None, "number of teams [default: none, everyone plays alone]")
    rule: tuple[str, ...] = setting((), "a field of the rules to change, as in forced_sweep=False")

    def parse(self) -> Rules:
        """Return the rules; raises ValueError if they are invalid."""
        return Rules.parse(" ".join([self.rules, *self._changes()]))

    def of_agents(self, agents: Sequence[str]) -> Rules:
        """Return the rules; if none are given, those of the first model among the agents, or Krypkasino's."""
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
    """How long training lasts."""

    panel: ClassVar[str] = panels.LENGTH
    minutes: float = setting(
        2.0, "length of the run, intermediate evaluations included; replaces the preset's frames", limits.MINUTES
    )
    frames: int = setting(
        0,
        "length in decisions of the learner, which makes the result independent of the machine; 0 to use minutes",
        limits.FRAMES,
    )


@dataclass(frozen=True)
class Network(Part):
    """The sizes of a network."""

    panel: ClassVar[str] = panels.NETWORK
    context: int = setting(128, "units of the layer that reads the whole observation", limits.UNITS)
    card: int = setting(64, "units of the layers that score an action", limits.UNITS)
    embedding: int = setting(8, "size of the learned embedding of each action", limits.UNITS)

    @property
    def shape(self) -> Shape:
        """The sizes as a network's `Shape`."""
        return Shape(self.context, self.card, self.embedding)


@dataclass(frozen=True)
class Evaluation(Part):
    """The duplicate matches at the end."""

    panel: ClassVar[str] = panels.EVALUATION
    deals: int = setting(1000, "duplicate deals of the final evaluation", limits.DEALS)
    against: tuple[str, ...] = setting(("greedy", "tactician"), "opponents in the evaluation")


def a_seed() -> Any:
    """Return the field for a command's seed."""
    return setting(0, "seed of deals, weights and batches", limits.SMALL_SEED, panels.LENGTH)


def some_threads() -> Any:
    """Return the field for the number of torch threads."""
    return setting(1, "torch threads; one is fastest for this network", limits.THREADS, panels.LENGTH)
