"""The settings of a training run: one dataclass of parts, which is also the command line of `krypenv train`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from krypenv.agents.own import Typed, is_own, refuse_import, typed
from krypenv.inputs.schema import Check, of_types
from krypenv.inputs.words import shown
from krypenv.rewards import check_reward
from krypenv.rules import Rules
from krypenv.training.common import bounds
from krypenv.training.common.fields import Command, Part, options_of, part, setting
from krypenv.training.common.parts import Evaluation, GameRules, Length, Network, a_seed, some_threads

_HARD: dict[str, Any] = {  # longer runs: softer, so that there is something left to learn, and with harder opponents
    "ent_coef": 0.05,
    "opponents": ("tactician(shed=True)", "search(worlds=8, plies=2)"),
    "against": ("tactician", "tactician(shed=True)", "search"),
    "curve_every": 180.0,
    "curve_deals": 400,
}
AGENTS = ("opponents", "against", "teacher")  # the settings that name agents
MOST_AT_ONCE = 10_000_000  # decisions between updates
PRESETS: dict[str, dict[str, Any]] = {  # frames and not minutes, so that a preset and a seed make one model
    "quick": {"demonstrations": 1000, "bc_epochs": 3, "frames": 1_500_000},
    "good": {"demonstrations": 4000, "bc_epochs": 4, "frames": 5_000_000},
    "strong": {"demonstrations": 10_000, "bc_epochs": 4, "frames": 30_000_000, **_HARD},
    "long": {"demonstrations": 40_000, "bc_epochs": 4, "frames": 400_000_000, **_HARD},
}


@dataclass(frozen=True)
class Start(Part):
    """What a run begins with: a network that is there, or demonstrations; else a network that knows nothing."""

    init_from: str = setting("", "model folder, or folder of krypenv imitate, whose weights to start from")
    demonstrations: int = setting(
        0, "games of the teacher to clone before self-play; 0 starts from random weights", bounds.DEMONSTRATIONS
    )
    teacher: str = setting("search(worlds=16, plies=2)", "agent to imitate")
    bc_epochs: int = setting(4, "passes over the demonstrations", bounds.PASSES)
    workers: int = setting(0, "processes that generate demonstrations; 0 for one per processor", bounds.WORKERS_OR_ALL)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.init_from and self.demonstrations:
            raise ValueError("init_from and demonstrations are two ways to begin; give one of them")


@dataclass(frozen=True)
class Games(Part):
    """The games that run side by side, and who the learner plays against."""

    envs: int = setting(384, "games side by side in which every seat learns", bounds.ROWS)
    opponent_envs: int = setting(128, "games side by side in which one seat plays the opponents", bounds.ROWS)
    opponents: tuple[str, ...] = setting(("tactician(shed=True)",), "scripted or search agents in the opponent pool")
    scripted_share: float = setting(
        0.25, "share of games against one of them; the rest are against the learner and its snapshots", bounds.SHARE
    )
    snapshots: int = setting(6, "past versions of the learner to keep in the pool", bounds.SNAPSHOTS)
    snapshot_every: float = setting(0.1, "fraction of the run between snapshots", bounds.PAUSE)
    opponent_temperature: float = setting(
        5.0,
        "in points: snapshots are sampled from softmax(margin against the learner / temperature); 0 for uniformly",
        bounds.POINTS_OR_NONE,
    )
    metagame_deals: int = setting(200, "duplicate deals between each new snapshot and each opponent", bounds.DEALS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.envs + self.opponent_envs == 0:
            raise ValueError("envs and opponent_envs can't both be 0")


@dataclass(frozen=True)
class Ppo(Part):
    """How the learner learns from what it has played."""

    steps: int = setting(32, "decisions of each row between updates", bounds.STEPS)
    batch: int = setting(1024, "decisions in a minibatch", bounds.BATCH)
    epochs: int = setting(2, "passes over the decisions in an update", bounds.PASSES)
    learning_rate: float = setting(1e-3, "of Adam at the start; it falls linearly to a twentieth", bounds.RATE)
    gamma: float = setting(0.95, "of rewards, per decision of a seat", bounds.SHARE)
    gae_lambda: float = setting(0.8, "of generalized advantage estimation", bounds.SHARE)
    clip: float = setting(0.2, "range of PPO's probability ratios", bounds.RATE)
    ent_coef: float = setting(0.01, "weight of the entropy bonus", bounds.WEIGHT)
    kl_coef: float = setting(0.05, "weight of the KL divergence from the EMA policy", bounds.WEIGHT)
    ema_decay: float = setting(0.98, "part of itself that the EMA policy keeps in each update", bounds.SHARE)
    vf_coef: float = setting(0.5, "weight of the value loss", bounds.WEIGHT)
    critic: bool = setting(True, "let the value function of the training see the hidden hands")


@dataclass(frozen=True)
class Rewards(Part):
    """What the learner is paid."""

    reward: str = setting("centred", "centred, points or win")
    dense: bool = setting(True, "pay rewards as points fall, not at the end of the game")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_reward(self.reward)


@dataclass(frozen=True)
class Records(Part):
    """What a run writes down on the way."""

    checkpoint_every: float = setting(30.0, "seconds between checkpoints", bounds.PAUSE)
    curve_every: float = setting(30.0, "seconds between points of the learning curve", bounds.PAUSE)
    curve_deals: int = setting(200, "duplicate deals for a point of the learning curve", bounds.DEALS)


@dataclass(frozen=True)
class Settings(Command):
    """All that decides a training run. A new one checks itself and raises ValueError with the reason."""

    preset: str = setting("", "quick (2 minutes on two cores), good (10), strong (60) or long: sets what is not given")
    game: GameRules = part(GameRules())
    also: tuple[str, ...] = setting((), "other rules that the network learns too, as in 'krypkasino players=4'")
    out: str = setting("", "folder of the run; it must not exist yet [default: runs/ and the time]")
    resume: str = setting("", "folder of a run to go on with, with its own settings")
    length: Length = part(Length())
    seed: int = a_seed()
    device: str = setting("auto", "cpu, cuda, or auto: a GPU where there is one")
    threads: int = some_threads()
    start: Start = part(Start())
    games: Games = part(Games())
    ppo: Ppo = part(Ppo())
    rewards: Rewards = part(Rewards())
    network: Network = part(Network())
    records: Records = part(Records())
    evaluation: Evaluation = part(
        Evaluation(against=("greedy", "tactician", "tactician(shed=True)")), against="opponents in the evaluations"
    )

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
        self.game_rules()
        self.other_rules()

    @classmethod
    def of(cls, **given: Any) -> Settings:
        """Return settings that a person gives, by the names of the options, as `krypenv train` takes them.

        What is not given the preset decides, which is quick if none is named. A length in minutes takes the place of
        the preset's frames, and `init_from` of its demonstrations. With `preset=""` the rest is as in `Settings()`.
        """
        given = {"preset": "quick", **cls.renamed(given)}
        _check_preset(given["preset"])
        filled = dict(PRESETS.get(given["preset"], {}))
        for name, other in (("minutes", "frames"), ("init_from", "demonstrations")):
            if name in given:
                filled.pop(other, None)
        given |= {name: _typed(given[name]) for name in AGENTS if name in given}
        return cls().changed(**{**filled, **given})

    @property
    def decisions(self) -> int:
        """The learner's decisions between two updates."""
        envs, opponent_envs = self.games.envs, self.games.opponent_envs
        return (envs + opponent_envs + len(self.also) * (envs or opponent_envs)) * self.ppo.steps

    def game_rules(self) -> Rules:
        """Return the rules that the run is about."""
        return self.game.parse()

    def other_rules(self) -> tuple[Rules, ...]:
        """Return the other rules that the network learns too."""
        return tuple(map(Rules.parse, self.also))

    def with_own_of(self, given: Settings) -> Settings:
        """Return these settings of a file, in which agents of one's own are typed if they are in those a person gives.

        Raises ValueError for one that only the file names, for nothing that a file names is imported.
        """
        kept, typed_ones = self.flat(), given.flat()
        theirs = {name for each in AGENTS for name in _names(typed_ones[each]) if isinstance(name, Typed)}
        for option in AGENTS:
            for name in _names(kept[option]):
                if is_own(name) and name not in theirs:
                    again = f"krypenv train --resume {given.resume} --{option} {shlex.quote(name)}"
                    refuse_import(name, f"to go on with the run, name it again: {again}")
        return self.changed(**{name: _typed(kept[name]) for name in AGENTS})

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Settings:
        """Return settings from the plain values of `flat`; raises ValueError where they are none."""
        if isinstance(fields, dict):
            fields = cls.renamed(fields)
        _check_fields()(fields, "settings")
        return cls().changed(**{name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()})


@lru_cache(1)
def _check_fields() -> Check:
    return of_types({name: option.kind for name, option in options_of(Settings).items()})


def _names(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _typed(value: Any) -> Any:
    """Mark what names one agent or several as typed by a person."""
    return tuple(map(typed, value)) if isinstance(value, (tuple, list)) else typed(value)


def _check_preset(preset: str) -> None:
    if preset and not (isinstance(preset, str) and preset in PRESETS):
        raise ValueError(f"preset is {', '.join(PRESETS)} or not given, not {shown(preset)}")
