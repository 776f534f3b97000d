"""The settings of a training run: one dataclass of parts, which is also the command line of `krypenv train`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from krypenv.agents.own import Typed, is_own, refuse_import, typed
from krypenv.inputs.schema import Check, of_types
from krypenv.inputs.words import as_argument, shown
from krypenv.rewards import check_reward
from krypenv.rules import Rules
from krypenv.training.learn.ladder import KRYPKASINO, ladder_of
from krypenv.training.runs import limits, panels
from krypenv.training.runs.options import Command, Part, an_output, hyperparameter, options_of, part, setting
from krypenv.training.runs.parts import (
    Evaluation,
    GameRules,
    Length,
    Network,
    a_seed,
    further_rules,
    initial_weights,
    rules_together,
    some_threads,
)

AGENTS = ("opponents", "against", "teacher")  # the settings that name agents
MOST_AT_ONCE = 10_000_000  # decisions between updates
PRESETS: dict[str, dict[str, Any]] = {  # frames and not minutes, so that a preset and a seed make one model
    "quick": {"demonstrations": 1000, "bc_epochs": 3, "frames": 1_500_000},
    "good": {"demonstrations": 4000, "bc_epochs": 4, "frames": 5_000_000},
    "strong": {
        "demonstrations": 10_000,
        "bc_epochs": 4,
        "frames": 30_000_000,
        "ent_coef": 0.05,  # so that a longer run does not stop learning early
        "opponents": KRYPKASINO.hard_opponents,
        "against": KRYPKASINO.hard_against,
        "curve_every": 180.0,
        "curve_deals": 400,
    },
}


def defaults_of(rules: Rules, is_hard: bool = False) -> dict[str, Any]:
    """Return the settings that differ under some rules from those of Krypkasino."""
    ladder = ladder_of(rules)
    if ladder is KRYPKASINO:
        return {}
    return {
        "teacher": ladder.teacher,
        "opponents": ladder.hard_opponents if is_hard else ladder.opponents,
        "against": ladder.hard_against if is_hard else ladder.against,
        "opponent_temperature": ladder.spread,
        "gamma": ladder.gamma,
        "metagame_deals": ladder.metagame_deals,
    }


@dataclass(frozen=True)
class Start(Part):
    """The initial weights of a run: those of a model, those that imitate a teacher, or else random ones."""

    panel: ClassVar[str] = panels.START
    init_from: str = initial_weights()
    demonstrations: int = setting(
        0, "games of the teacher to imitate before self-play; 0 for none", limits.DEMONSTRATIONS
    )
    teacher: str = setting(KRYPKASINO.teacher, "agent to imitate")
    bc_epochs: int = hyperparameter(4, "passes over the demonstrations", limits.PASSES)
    workers: int = setting(
        0, "processes that play demonstrations; 0 for one per processor", limits.WORKERS_OR_ALL, decides=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.init_from and self.demonstrations:
            raise ValueError("init_from and demonstrations are two ways to begin; give one of them")


@dataclass(frozen=True)
class ParallelGames(Part):
    """The parallel games, and who the learner plays against."""

    panel: ClassVar[str] = panels.OPPONENTS
    envs: int = hyperparameter(384, "parallel games in which every seat learns", limits.ROWS)
    opponent_envs: int = hyperparameter(
        128, "parallel games in which one seat learns and opponents play the others", limits.ROWS
    )
    opponents: tuple[str, ...] = setting(KRYPKASINO.opponents, "scripted or search agents among the opponents")
    scripted_share: float = hyperparameter(
        0.25,
        "probability that an opponent is one of --opponents; otherwise it is the learner or one of its snapshots",
        limits.SHARE,
    )
    snapshots: int = hyperparameter(6, "past versions of the learner to keep as opponents", limits.SNAPSHOTS)
    snapshot_every: float = hyperparameter(0.1, "fraction of the run between snapshots", limits.PAUSE)
    opponent_temperature: float = hyperparameter(
        KRYPKASINO.spread,
        "in points: snapshots are sampled from softmax(margin against the latest snapshot / temperature); "
        "0 samples uniformly",
        limits.POINTS_OR_NONE,
    )
    metagame_deals: int = hyperparameter(
        KRYPKASINO.metagame_deals,
        "duplicate deals of each new snapshot against each scripted opponent and earlier snapshot",
        limits.DEALS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.envs + self.opponent_envs == 0:
            raise ValueError("envs and opponent_envs can't both be 0")


@dataclass(frozen=True)
class Ppo(Part):
    """How the learner learns from what it has played."""

    panel: ClassVar[str] = panels.PPO
    steps: int = hyperparameter(32, "decisions in each game between updates", limits.STEPS)
    batch: int = hyperparameter(1024, "decisions in a minibatch", limits.BATCH)
    epochs: int = hyperparameter(2, "passes over the decisions in an update", limits.PASSES)
    learning_rate: float = hyperparameter(
        1e-3, "learning rate of Adam at the start, falling linearly to a twentieth", limits.RATE
    )
    gamma: float = hyperparameter(KRYPKASINO.gamma, "discount of rewards per decision of a seat", limits.SHARE)
    gae_lambda: float = hyperparameter(0.8, "lambda of generalized advantage estimation", limits.SHARE)
    clip: float = hyperparameter(0.2, "clip range of PPO's probability ratios", limits.RATE)
    ent_coef: float = hyperparameter(0.01, "weight of the entropy bonus", limits.WEIGHT)
    kl_coef: float = hyperparameter(0.05, "weight of the KL divergence from the EMA policy", limits.WEIGHT)
    ema_decay: float = hyperparameter(0.98, "decay of the EMA policy in each update", limits.SHARE)
    vf_coef: float = hyperparameter(0.5, "weight of the value loss", limits.WEIGHT)
    critic: bool = hyperparameter(True, "let the critic see the hidden hands in training")


@dataclass(frozen=True)
class Rewards(Part):
    """The learner's rewards."""

    panel: ClassVar[str] = panels.REWARDS
    reward: str = hyperparameter("centred", "what the learner maximizes: centred, points or win")
    dense: bool = hyperparameter(True, "pay rewards as points fall, not at the end of the game")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_reward(self.reward)


@dataclass(frozen=True)
class Records(Part):
    """What a run records on the way."""

    panel: ClassVar[str] = panels.RECORDS
    checkpoint_every: float = hyperparameter(30.0, "seconds between checkpoints", limits.PAUSE)
    curve_every: float = hyperparameter(30.0, "seconds between points of the learning curve", limits.PAUSE)
    curve_deals: int = hyperparameter(200, "duplicate deals for a point of the learning curve", limits.DEALS)


class GamesPart(NamedTuple):
    """Games of a run that are alike."""

    rules: Rules
    envs: int
    seat: str  # who learns: "all" or one "random" seat


@dataclass(frozen=True)
class Settings(Command):
    """All that decides a training run. A new one checks itself and raises ValueError with the reason."""

    command: ClassVar[str] = "train"
    preset: str = setting(
        "",
        "settings for options that are not given: quick (2 minutes on two cores), good (7) or strong (53) "
        "[default: quick]",
        panel=panels.LENGTH,
        may_be_empty=True,
    )
    game: GameRules = part(GameRules())
    also: tuple[str, ...] = further_rules()
    out: str = an_output("", "folder of the run; it must be new or empty [default: runs/ and the time]")
    resume: str = an_output("", "folder of a run to resume, with its own settings")
    length: Length = part(
        Length(),
        minutes="length in minutes, with the evaluations on the way, in place of the preset's frames",
        frames="length in decisions of the learner, reproducible whatever the clock",
    )
    seed: int = a_seed()
    device: str = setting("auto", "cpu, cuda, or auto: a GPU where there is one", panel=panels.LENGTH)
    threads: int = some_threads()
    start: Start = part(Start())
    games: ParallelGames = part(ParallelGames())
    ppo: Ppo = part(Ppo())
    rewards: Rewards = part(Rewards())
    network: Network = part(Network())
    records: Records = part(Records())
    evaluation: Evaluation = part(Evaluation(against=KRYPKASINO.against), against="opponents in the evaluations")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.decisions > MOST_AT_ONCE:
            raise ValueError(
                f"envs times steps come to at most {MOST_AT_ONCE:,} decisions, which fit into memory, "
                f"not {self.decisions:,}"
            )
        if not self.evaluation.against:
            raise ValueError("against names at least one opponent for the evaluations")
        if self.device not in ("auto", "cpu", "cuda"):
            raise ValueError(f"device is auto, cpu or cuda, not {self.device!r}")
        _check_preset(self.preset)
        self.all_rules()

    @classmethod
    def of(cls, **given: Any) -> Settings:
        """Return settings from options by name, as `krypenv train` takes them."""
        return super().of(**{name: _typed(value) if name in AGENTS else value for name, value in given.items()})

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the preset, `quick` by default, and of `defaults_of` the rules.

        `minutes` replaces the preset's frames, and `init_from` its demonstrations. With `preset=""` the rest is as in
        `Settings()`.
        """
        preset = given.get("preset", "quick")
        _check_preset(preset)
        filled: dict[str, Any] = {"preset": "quick", **PRESETS.get(preset, {})}
        filled |= defaults_of(GameRules.among(given), is_hard="opponents" in filled)
        for name, other in (("minutes", "frames"), ("init_from", "demonstrations")):
            if name in given:
                filled.pop(other, None)
        return filled

    @property
    def parts(self) -> list[GamesPart]:
        """The games in which all seats learn, those against opponents, and those of other rules.

        Parts without environments are not played.
        """
        (rules, *others), envs, opponent_envs = self.all_rules(), self.games.envs, self.games.opponent_envs
        parts = [GamesPart(rules, envs, "all"), GamesPart(rules, opponent_envs, "random")]
        return parts + [GamesPart(other, envs or opponent_envs, "all") for other in others]

    @property
    def decisions(self) -> int:
        """The learner's decisions between two updates."""
        envs, opponent_envs = self.games.envs, self.games.opponent_envs
        return (envs + opponent_envs + len(self.also) * (envs or opponent_envs)) * self.ppo.steps

    def game_rules(self) -> Rules:
        """Return the main rules of the run."""
        return self.game.parse()

    def all_rules(self) -> tuple[Rules, ...]:
        """Return all rules that the network learns, the main ones first."""
        return rules_together(self.game_rules(), self.also)

    def with_own_of(self, given: Settings) -> Settings:
        """Return these settings, read from a file, with all agents marked as typed.

        Raises ValueError for a custom agent that `given`, from a person, does not name too: nothing that only a file
        names is imported.
        """
        kept, typed_ones = self.flat(), given.flat()
        theirs = {name for each in AGENTS for name in _names(typed_ones[each]) if isinstance(name, Typed)}
        for option in AGENTS:
            for name in _names(kept[option]):
                if is_own(name) and name not in theirs:
                    again = f"krypenv train --resume {given.resume} --{option} {as_argument(name)}"
                    refuse_import(name, f"to resume the run, name it again: {again}")
        return self.changed(**{name: _typed(kept[name]) for name in AGENTS})

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Settings:
        """Return settings from the plain values of `flat`; raises ValueError if any is invalid."""
        _check_fields()(fields, "settings")
        return cls().changed(**{name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()})


@lru_cache(1)
def _check_fields() -> Check:
    return of_types({name: option.kind for name, option in options_of(Settings).items()})


def _names(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _typed(value: Any) -> Any:
    """Mark the string of one agent, or those of several, as typed by a person."""
    return tuple(map(typed, value)) if isinstance(value, (tuple, list)) else typed(value)


def _check_preset(preset: str) -> None:
    if preset and not (isinstance(preset, str) and preset in PRESETS):
        raise ValueError(f"preset is {', '.join(PRESETS)} or not given, not {shown(preset)}")
