"""The settings of `krypenv ablate`, and those of every run that it trains: variants of one training, or presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from krypenv.rules import Rules
from krypenv.training.learn.ladder import KRYPKASINO, ladder_of
from krypenv.training.learn.selfplay.settings import PRESETS, Settings, defaults_of
from krypenv.training.runs import limits, panels
from krypenv.training.runs.options import Command, an_output, options_of, part, setting
from krypenv.training.runs.parts import Evaluation, GameRules, Network, Place, luck_setting

ALL = "all of it"
IMITATION, RUNS, RESULT, PICTURE = "imitation", "runs", "ablation.json", "ablation.png"
VARIANTS: dict[str, dict[str, Any]] = {  # settings that differ from those of `ALL`
    ALL: {},
    "no imitation": {"init_from": ""},
    "no self-play": {"frames": 1},
    "no KL to the EMA policy": {"kl_coef": 0.0},
    "no entropy bonus": {"ent_coef": 0.0},
    "no hidden hands for the critic": {"critic": False},
    "no opponents, all seats learn": {"envs": 512, "opponent_envs": 0},
    "snapshots all alike": {"opponent_temperature": 0.0},
}
UNMEASURED: dict[str, Any] = {"curve_every": 1e9, "curve_deals": 1, "deals": 1}  # of every run; they change no weights
WHOLE: dict[str, Any] = {**UNMEASURED, "metagame_deals": 50}  # of every variant
OF_VARIANTS = ("only", "frames", "games", "bc_epochs", "context", "card")  # options that a preset has no use for


@dataclass(frozen=True)
class AblationSettings(Command):
    """All settings of an ablation. A new instance checks itself and raises ValueError with the reason."""

    command: ClassVar[str] = "ablate"
    game: GameRules = part(GameRules())
    out: str = an_output("runs/ablation", "folder of all runs; the same command resumes an unfinished ablation")
    preset: tuple[str, ...] = setting(
        (),
        "train this preset of krypenv train in place of the variants; presets also play each other",
        panel=panels.LENGTH,
        decides=False,
    )
    seeds: int = setting(  # more tasks, not others
        3, "runs of each variant or preset", limits.RUNS, panels.LENGTH, decides=False
    )
    frames: int = setting(
        2_000_000, "length of each run in decisions of the learner", limits.FRAMES._replace(low=1), panels.LENGTH
    )
    games: int = setting(
        1000,
        "games of demonstrations, shared by all runs that begin with imitation",
        limits.DEMONSTRATIONS._replace(low=1),
        panels.DEMONSTRATIONS,
    )
    bc_epochs: int = setting(3, "passes over the demonstrations", limits.PASSES, panels.DEMONSTRATIONS, is_tuned=True)
    network: Network = part(Network(), embedding=None)
    place: Place = part(Place(2), workers="runs at a time, each on one thread", ray="train on a Ray cluster")
    evaluation: Evaluation = part(
        Evaluation(2000, KRYPKASINO.hard_against),
        deals="duplicate deals of each match",
        against="opponents in the evaluation",
    )
    beside: tuple[str, ...] = setting(
        (),
        "an agent that was trained longer, to play against the presets' runs",
        panel=panels.EVALUATION,
        decides=False,
    )
    luck: str = luck_setting()
    only: tuple[str, ...] = setting(
        (), "variants to run, besides the full training [default: all]", panel=panels.LENGTH, decides=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for names, known, kind in ((self.only, VARIANTS, "variant"), (self.preset, PRESETS, "preset")):
            for name in names:
                if name not in known:
                    raise ValueError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
        if not self.evaluation.against:
            raise ValueError("against names at least one opponent")
        options, own = options_of(type(self)), self.flat()
        for name in OF_VARIANTS:
            if self.preset and own[name] != options[name].default:
                raise ValueError(f"{name} is for variants of one training, and preset trains whole presets; give one")
        if self.beside and not self.preset:
            raise ValueError("beside names agents that play against presets; give at least one preset, too")

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the opponents of the rules' ladder."""
        return {"against": ladder_of(GameRules.among(given)).hard_against}

    def game_rules(self) -> Rules:
        """Return the rules of all runs."""
        return self.game.parse()

    @property
    def trainings(self) -> list[str]:
        """The trainings to run: presets from the shortest to the longest, or variants, `ALL` first."""
        if self.preset:
            return [name for name in PRESETS if name in self.preset]
        return [name for name in VARIANTS if name == ALL or not self.only or name in self.only]

    def of_run(self, training: str, seed: int) -> Settings:
        """Return the settings of a run."""
        folder = f"{Path(self.out) / RUNS / folder_name(training)}-{seed}"
        if self.preset:
            given = {**vars(self.game), **UNMEASURED, "preset": training, "seed": seed, "out": folder}
            return Settings.of(**given, workers=1, threads=1)
        whole: dict[str, Any] = {
            "rules": str(self.game_rules()), "out": folder, "seed": seed,
            "frames": self.frames, "init_from": str(Path(self.out) / IMITATION),
            "against": self.evaluation.against[:1],
        }  # fmt: skip
        by_rules = defaults_of(self.game_rules())
        return Settings(network=self.network).changed(**{**by_rules, **WHOLE, **whole, **VARIANTS[training]})


def folder_name(training: str) -> str:
    """Return the name of a training's runs, as in no-self-play."""
    return training.replace(",", "").replace(" ", "-")
