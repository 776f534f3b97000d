"""Parts of settings that several commands share."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from krypenv.rules import Rules
from krypenv.runtime.threads import count_threads
from krypenv.training.runs import limits, panels
from krypenv.training.runs.executors import Executor, executor_of
from krypenv.training.runs.options import Part, an_output, hyperparameter, part, setting

if TYPE_CHECKING:
    from krypenv.agents.neural.network import Shape

KRYPKASINO = "krypkasino"
DEALS_FROM = "dev|test|SEED"


@dataclass(frozen=True)
class GameRules(Part):
    """The rules of the game."""

    panel: ClassVar[str] = panels.RULES
    rules: str = setting(KRYPKASINO, "preset of the rules", decides=False)  # a header has the rules that come of it
    players: int | None = setting(None, "number of players [default: 2]", decides=False)
    teams: int | None = setting(None, "number of teams [default: none, everyone plays alone]", decides=False)
    rule: tuple[str, ...] = setting(
        (), "change a field of the rules, as in forced_sweep=False", metavar="KEY=VALUE", decides=False
    )

    @property
    def is_given(self) -> bool:
        """Whether any of them is given, where the default is to give none."""
        return self != GameRules("")

    def parse(self) -> Rules:
        """Return the rules; raises ValueError if they are invalid."""
        return Rules.parse(" ".join([self.rules, *self._changes()]))

    def of_agents(self, agents: Sequence[Any]) -> Rules:
        """Return the rules; if none are given, those of the first model among the agents, or Krypkasino's."""
        if self.rules:
            return self.parse()
        from krypenv.agents import rules_of

        changes = self._changes()
        named = [] if changes else [agent for agent in agents if isinstance(agent, str)]
        return next(filter(None, map(rules_of, named)), None) or Rules.parse(" ".join([KRYPKASINO, *changes]))

    @classmethod
    def among(cls, given: Mapping[str, Any]) -> Rules:
        """Return the rules of the options that are given, by name."""
        own = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in own}).parse()

    def _changes(self) -> list[str]:
        given = [f"{name}={value}" for name in ("players", "teams") if (value := getattr(self, name)) is not None]
        return [*given, *(word.replace(" ", "") for word in self.rule)]


def further_rules() -> Any:
    """Return the field for the rules that a network learns beside the main ones; see `rules_together`."""
    return setting((), "further rules for the same network, as in 'krypkasino players=4'", panel=panels.RULES)


def rules_together(main: Rules, further: Sequence[str]) -> tuple[Rules, ...]:
    """Return all rules that a network learns, the main ones first; raises ValueError if one can't play them all."""
    from krypenv.agents.neural.network import inputs_of

    others = tuple(map(Rules.parse, further))
    for rules in others:
        if inputs_of(rules) != inputs_of(main):
            raise ValueError(
                f"one network can't learn '{main}' and '{rules}', whose observations or action features have other "
                "entries; train a network for each"
            )
    return main, *others


def rules_of_agents() -> Any:
    """Return the field for rules that are, unless they are given, those of the first model among the agents."""
    usual = "the rules of the first model named, or krypkasino"
    return part(GameRules(""), rules=f"preset of the rules [default: {usual}]")


def a_language() -> Any:
    """Return the field for the language of what people read at a table."""
    return an_output(None, "language of the texts [default: that of the locale, or en]", "en|sv")


@dataclass(frozen=True)
class AtTable(Part):
    """Who plays with a person at a table, and the file of the game."""

    panel: ClassVar[str] = panels.AGENTS
    against: tuple[str, ...] = setting(
        (), "another player; repeatable, from your left on [default: champion at every other seat]", metavar="AGENT"
    )
    hint: str = setting("champion", "who gives hints", metavar="AGENT")
    seed: int | None = setting(None, "seed of the deal [default: a random one]", limits.SEED, panels.LENGTH)
    load: str | None = setting(None, "go on with the game of a text record", panel=panels.GAME_RECORDS, metavar="FILE")
    save: Path | None = an_output(None, "file to save the game to", "FILE")
    language: str | None = a_language()


@dataclass(frozen=True)
class Place(Part):
    """Where tasks are done, on which their results do not depend."""

    panel: ClassVar[str] = panels.LENGTH
    workers: int = setting(1, "processes; the figures don't depend on their number", limits.WORKERS, decides=False)
    ray: bool = setting(False, "work on a Ray cluster", panel=panels.RAY, decides=False)
    ray_address: str | None = setting(
        None,
        "address of the cluster; implies --ray [default: what Ray finds, or a new one]",
        panel=panels.RAY,
        metavar="ADDRESS",
        decides=False,
    )

    @property
    def executor(self) -> Executor:
        """The executor that is asked for."""
        return executor_of(count_threads(self.workers), self.ray, self.ray_address)


@dataclass(frozen=True)
class AllProcessors(Place):
    """Where tasks are done, by default on all processors."""

    panel: ClassVar[str] = panels.DEMONSTRATIONS
    workers: int = setting(
        0, "processes that play demonstrations; 0 for one per processor", limits.WORKERS_OR_ALL, decides=False
    )


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
    context: int = hyperparameter(128, "units of the layer that reads the whole observation", limits.UNITS)
    card: int = hyperparameter(64, "units of the layers that score an action", limits.UNITS)
    embedding: int = hyperparameter(8, "size of the learned embedding of each action", limits.UNITS)

    @property
    def shape(self) -> Shape:
        """The sizes as a network's `Shape`."""
        from krypenv.agents.neural.network import Shape

        return Shape(self.context, self.card, self.embedding)


@dataclass(frozen=True)
class Evaluation(Part):
    """The duplicate matches at the end, which decide no weights."""

    panel: ClassVar[str] = panels.EVALUATION
    deals: int = setting(1000, "duplicate deals of the final evaluation", limits.DEALS, decides=False)
    against: tuple[str, ...] = setting(("greedy", "tactician"), "opponents in the evaluation", decides=False)


def a_seed(text: str = "seed of deals, weights and batches", bounds: limits.Bounds = limits.SMALL_SEED) -> Any:
    """Return the field for a command's seed."""
    return setting(0, text, bounds, panels.LENGTH)


def luck_setting() -> Any:
    """Return the field that says in which matches luck is taken out of the margins."""
    return setting(
        "auto",
        "take luck out of the margins by a control variate; auto: if an agent takes long to decide",
        panel=panels.LENGTH,
        metavar="auto|on|off",
    )


def initial_weights() -> Any:
    """Return the field for a folder whose weights a network starts from."""
    return setting("", "folder of a model or of krypenv imitate whose weights to start from", panel=panels.START)


def some_threads() -> Any:
    """Return the field for the number of torch threads."""
    return setting(1, "torch threads; one is fastest for this network", limits.THREADS, panels.LENGTH)
