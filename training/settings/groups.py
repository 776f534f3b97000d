"""Groups of settings that several commands inherit, with the titles and the order of their panels in `--help`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from krypenv.rules import Rules
from krypenv.training.settings.base import AgentName, Settings, option, output

RULES, AGENTS, LENGTH, DEALS, OPPONENTS = "Rules", "Agents", "Length and size", "Deals", "Opponents"
START, PPO, REWARDS, NETWORK, EVALUATION = "Initial weights", "PPO", "Rewards", "Network", "Evaluation"
RECORDS, GAME_RECORDS, MEASURED = "Checkpoints and curve", "Game records", "What to measure"
SEARCHES, RAY, INPUT, OUTPUT = "Policy-aware search", "Processes", "Input", "Output"
ORDER = (
    RULES, AGENTS, MEASURED, LENGTH, DEALS, START, OPPONENTS, PPO, REWARDS, NETWORK, SEARCHES, RECORDS, EVALUATION,
    GAME_RECORDS, RAY, INPUT, OUTPUT,
)  # fmt: skip

KRYPKASINO = "krypkasino"
MOST_DEALS = 1_000_000  # their scores fit into memory and resolve a hundredth of a point
LARGEST_SEED = 2**64 - 2
LARGEST_SMALL_SEED = 2**32 - 1  # NumPy's older generators take no larger one
MOST_WORKERS = 1024
DEALS_FROM = "dev|test|SEED"
Luck = Literal["auto", "on", "off"]
Language = Literal["en", "sv"] | None


def fields_option() -> Any:
    """Declare the option for fields of the rules that differ from the preset's."""
    return option((), "change a field, as in forced_sweep=False", RULES, metavar="KEY=VALUE", decides=False)


def rules_with(preset: str, fields: Sequence[str]) -> Rules:
    """Parse the rules of a preset with changed fields; raises ValueError if they are invalid."""
    return Rules.parse(" ".join([preset, *(word.replace(" ", "") for word in fields)]))


class GameSettings(Settings):
    """The rules of the game. In Python, `rules` may be a `Rules` object."""

    group: ClassVar[str] = RULES

    rules: str | None = option(KRYPKASINO, "preset of the rules", decides=False)  # a header has the rules in full
    players: int | None = option(None, "number of players [default: 2]", decides=False)
    teams: int | None = option(None, "number of teams [default: none, everyone plays alone]", decides=False)
    rule: tuple[str, ...] = fields_option()

    @field_validator("rules", mode="before")
    @classmethod
    def _as_text(cls, rules: Any) -> Any:
        return str(rules) if isinstance(rules, Rules) else rules

    @property
    def changes(self) -> list[str]:
        """The fields of the rules that are given beside the preset."""
        sizes = {"players": self.players, "teams": self.teams}
        return [*(f"{name}={value}" for name, value in sizes.items() if value is not None), *self.rule]

    @property
    def has_rules(self) -> bool:
        """Whether any of these options is given."""
        return self.rules is not None or bool(self.changes)

    def game_rules(self) -> Rules:
        """Parse the rules; raises ValueError if they are invalid."""
        return rules_with(str(self.rules or KRYPKASINO), self.changes)


class RulesOfAgents(GameSettings):
    """The rules of the game; by default those of the first model among the agents."""

    rules: str | None = option(
        None, "preset of the rules [default: the rules of the first model named, or krypkasino]", RULES, decides=False
    )

    def rules_for(self, agents: Sequence[Any]) -> Rules:
        """Choose the rules: those given, or those of the first model among the agents, or Krypkasino's."""
        from krypenv.agents import rules_of

        named = [] if self.has_rules else [agent for agent in agents if isinstance(agent, str)]
        return next(filter(None, map(rules_of, named)), None) or super().game_rules()


def rules_given(kind: type[GameSettings], given: Mapping[str, Any]) -> Rules:
    """Parse the rules from the values of settings before the settings are made."""
    return kind.model_construct(
        **{name: given[name] for name in GameSettings.model_fields if name in given}
    ).game_rules()


class Place(Settings):
    """Where tasks run, which does not change their results."""

    group: ClassVar[str] = RAY

    workers: int = option(1, "processes; no figure depends on their number", decides=False, ge=1, le=MOST_WORKERS)
    ray: bool = option(False, "work on a Ray cluster: that of RAY_ADDRESS, or a new one", decides=False)


def language_option() -> Any:
    """Declare the language of texts; a `Language`."""
    return output(None, "language of the texts [default: that of the locale, or en]")


class AtTable(GameSettings):
    """The players at a person's table, and the file of the game."""

    group: ClassVar[str] = AGENTS

    rules: str | None = option(None, "preset of the rules [default: krypkasino]", RULES)
    against: tuple[AgentName, ...] = option(
        (), "another player, from the first person's left on [default: champion at all other seats]", metavar="AGENT"
    )
    hint: AgentName = option("champion", "who gives hints", metavar="AGENT")
    seed: int | None = option(None, "seed of the deal [default: a random one]", LENGTH, ge=0, le=LARGEST_SEED)
    load: str | None = option(None, "continue the game of a text record", GAME_RECORDS, metavar="FILE")
    language: Language = language_option()

    @property
    def has_deal(self) -> bool:
        """Whether the rules or the deal are given."""
        return self.has_rules or self.seed is not None


def json_output() -> Any:
    """Declare the option `--json`, a file of the results."""
    return output(None, "also write the results to this file, as JSON", "FILE", flag="json")


def seed_option(text: str = "seed; the same seed gives the same figures", most: int = LARGEST_SEED) -> Any:
    """Declare a command's seed."""
    return option(0, text, LENGTH, ge=0, le=most)


def luck_option() -> Any:
    """Declare whether luck is taken out of the margins of matches; a `Luck`."""
    return option(
        "auto", "take luck out of the margins by a control variate; auto: if an agent takes long to decide", LENGTH
    )
