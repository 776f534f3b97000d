"""The settings of a training run: one dataclass, which is also the command line of `krypenv train`."""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from krypenv.agents.own import Typed, is_own, refuse_import, typed
from krypenv.inputs.schema import Check, of_dataclass
from krypenv.inputs.words import shown
from krypenv.rewards import check_reward
from krypenv.rules import Rules
from krypenv.training.common import bounds
from krypenv.training.common.fields import parse_rules, setting

_HARD: dict[str, Any] = {  # longer runs: softer, so that there is something left to learn, and with harder opponents
    "entropy": 0.05,
    "rivals": ("tactician(shed=True)", "search(worlds=8, plies=2)"),
    "against": ("tactician", "tactician(shed=True)", "search"),
    "curve_every": 180.0,
    "curve_deals": 400,
}
AGENTS = ("rivals", "against", "teacher")  # the settings that name agents
MOST_AT_ONCE = 10_000_000  # decisions between updates
PRESETS: dict[str, dict[str, Any]] = {  # frames and not minutes, so that a preset and a seed make one model
    "quick": {"lessons": 1000, "passes": 3, "frames": 1_500_000},
    "good": {"lessons": 4000, "passes": 4, "frames": 5_000_000},
    "strong": {"lessons": 10_000, "passes": 4, "frames": 30_000_000, **_HARD},
    "long": {"lessons": 40_000, "passes": 4, "frames": 400_000_000, **_HARD},
}


@dataclass(frozen=True)
class Settings:
    """All that decides a training run. A new one checks itself and raises ValueError with the reason."""

    preset: str = setting("", "quick (2 minutes on two cores), good (10), strong (60) or long: sets what is not given")
    rules: str = setting("krypkasino", "preset of the rules")
    players: int | None = setting(None, "number of players [default: 2]")
    teams: int | None = setting(None, "number of teams [default: everyone alone]")
    rule: tuple[str, ...] = setting((), "a field of the rules to change, as in forced_sweep=False")
    also: tuple[str, ...] = setting((), "other rules that the network learns too, as in 'krypkasino players=4'")
    out: str = setting("", "folder of the run; it must not exist yet [default: runs/ and the time]")
    resume: str = setting("", "folder of a run to go on with, with its own settings")
    minutes: float = setting(2.0, "length of the training, with the evaluations on the way", bounds.MINUTES)
    frames: int = setting(
        0,
        "length in decisions of the learner instead of minutes, so that the result does not depend on the machine",
        bounds.FRAMES,
    )
    seed: int = setting(0, "seed of deals, weights and batches", bounds.SMALL_SEED)
    device: str = setting("auto", "cpu, cuda, or auto: a GPU where there is one")
    threads: int = setting(1, "threads of torch; one is fastest for this network", bounds.THREADS)
    warm: str = setting("", "begin with the network of a model's folder, or of krypenv teach")
    lessons: int = setting(
        0, "begin by cloning so many games of the teacher; 0 for a network that knows nothing", bounds.LESSONS
    )
    teacher: str = setting("search(worlds=16, plies=2)", "the agent that gives the lessons")
    passes: int = setting(4, "times that the network sees each lesson", bounds.PASSES)
    workers: int = setting(0, "processes that play lessons, 0 for all processors", bounds.WORKERS_OR_ALL)
    rows: int = setting(384, "games at once in which all seats learn", bounds.ROWS)
    rival_rows: int = setting(128, "games at once in which one seat learns and rivals play the others", bounds.ROWS)
    rivals: tuple[str, ...] = setting(("tactician(shed=True)",), "scripted or search agents among the rivals")
    scripted_share: float = setting(
        0.25, "how often a rival is one of these; else it is the learner or a snapshot", bounds.SHARE
    )
    snapshots: int = setting(6, "past versions of the learner that are kept as rivals", bounds.SNAPSHOTS)
    snapshot_every: float = setting(0.1, "part of the run between snapshots", bounds.PAUSE)
    hardness: float = setting(
        5.0,
        "points: a snapshot is drawn by exp(its margin against the learner / hardness); 0 for all alike",
        bounds.POINTS_OR_NONE,
    )
    metagame_deals: int = setting(200, "duplicate deals of each new snapshot against each rival", bounds.DEALS)
    steps: int = setting(32, "decisions of each row between updates", bounds.STEPS)
    batch: int = setting(1024, "decisions in a minibatch", bounds.BATCH)
    epochs: int = setting(2, "passes over the decisions in an update", bounds.PASSES)
    learning_rate: float = setting(1e-3, "of Adam at the start; it falls linearly to a twentieth", bounds.RATE)
    discount: float = setting(0.95, "of rewards, per decision of a seat", bounds.SHARE)
    gae_lambda: float = setting(0.8, "of generalized advantage estimation", bounds.SHARE)
    clip: float = setting(0.2, "range of PPO's probability ratios", bounds.RATE)
    entropy: float = setting(0.01, "weight of the entropy bonus", bounds.WEIGHT)
    pull: float = setting(0.05, "weight of the divergence from the slow copy of the policy", bounds.WEIGHT)
    slowness: float = setting(0.98, "part of itself that the slow copy keeps in each update", bounds.SHARE)
    value_weight: float = setting(0.5, "weight of the value loss", bounds.WEIGHT)
    critic: bool = setting(True, "let the value function of the training see the hidden hands")
    reward: str = setting("centred", "centred, points or win")
    dense: bool = setting(True, "pay rewards as points fall, not at the end of the game")
    context: int = setting(128, "units of the network's layer that reads the whole observation", bounds.UNITS)
    card: int = setting(64, "units of the network's layers that score an action", bounds.UNITS)
    embedding: int = setting(8, "entries that the network learns for each action", bounds.UNITS)
    checkpoint_every: float = setting(30.0, "seconds between checkpoints", bounds.PAUSE)
    curve_every: float = setting(30.0, "seconds between points of the learning curve", bounds.PAUSE)
    curve_deals: int = setting(200, "duplicate deals for a point of the learning curve", bounds.DEALS)
    deals: int = setting(1000, "duplicate deals of the evaluation at the end", bounds.DEALS)
    against: tuple[str, ...] = setting(("greedy", "tactician", "tactician(shed=True)"), "opponents in the evaluations")

    def __post_init__(self) -> None:
        bounds.check_numbers(self)
        if self.rows + self.rival_rows == 0:
            raise ValueError("rows and rival_rows are not both 0")
        if self.decisions > MOST_AT_ONCE:
            raise ValueError(
                f"rows times steps come to at most {MOST_AT_ONCE:,} decisions, which fit into memory, "
                f"not {self.decisions:,}"
            )
        if not self.against:
            raise ValueError("against names at least one opponent for the evaluations")
        if self.device not in ("auto", "cpu", "cuda"):
            raise ValueError(f"device is auto, cpu or cuda, not {self.device!r}")
        if self.warm and self.lessons:
            raise ValueError("warm and lessons are two ways to begin; give one of them")
        _check_preset(self.preset)
        check_reward(self.reward)
        self.game_rules()
        self.other_rules()

    @classmethod
    def of(cls, **given: Any) -> Settings:
        """Return settings that a person gives, whose preset, quick if none is named, decides all the rest.

        A length in minutes takes the place of the preset's frames, and another start that of its lessons.
        """
        given = {"preset": "quick", **given}
        _check_preset(given["preset"])
        filled = dict(PRESETS.get(given["preset"], {}))
        for name, other in (("minutes", "frames"), ("warm", "lessons")):
            if name in given:
                filled.pop(other, None)
        given |= {name: _typed(given[name]) for name in AGENTS if name in given}
        return cls(**{**filled, **given})

    @property
    def decisions(self) -> int:
        """The learner's decisions between two updates."""
        return (self.rows + self.rival_rows + len(self.also) * (self.rows or self.rival_rows)) * self.steps

    def game_rules(self) -> Rules:
        """Return the rules that the run is about."""
        return parse_rules(self.rules, self.players, self.teams, self.rule)

    def other_rules(self) -> tuple[Rules, ...]:
        """Return the other rules that the network learns too."""
        return tuple(map(Rules.parse, self.also))

    def with_own_of(self, given: Settings) -> Settings:
        """Return these settings of a file, in which agents of one's own are typed if they are in those a person gives.

        Raises ValueError for one that only the file names, for nothing that a file names is imported.
        """
        theirs = {name for each in AGENTS for name in _names(getattr(given, each)) if isinstance(name, Typed)}
        for option in AGENTS:
            for name in _names(getattr(self, option)):
                if is_own(name) and name not in theirs:
                    again = f"krypenv train --resume {given.resume} --{option} {shlex.quote(name)}"
                    refuse_import(name, f"to go on with the run, name it again: {again}")
        return dataclasses.replace(self, **{name: _typed(getattr(self, name)) for name in AGENTS})

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Settings:
        """Return settings from the plain values of `dataclasses.asdict`; raises ValueError where they are none."""
        _check_fields()(fields, "settings")
        values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
        return cls(**values)


@lru_cache(1)
def _check_fields() -> Check:
    return of_dataclass(Settings)


def _names(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _typed(value: Any) -> Any:
    """Mark what names one agent or several as typed by a person."""
    return tuple(map(typed, value)) if isinstance(value, (tuple, list)) else typed(value)


def _check_preset(preset: str) -> None:
    if preset and not (isinstance(preset, str) and preset in PRESETS):
        raise ValueError(f"preset is {', '.join(PRESETS)} or not given, not {shown(preset)}")
