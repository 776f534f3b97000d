"""`krypenv ablate`: what each part of training is worth, from runs without it over several seeds, with intervals."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from rich.console import Console
from scipy.stats import bootstrap, trim_mean

from krypenv.agents.neural.model_file import CARD
from krypenv.inputs.files import read_json, write_whole
from krypenv.inputs.schema import a_record, a_table, number, sentence_of, whole
from krypenv.rules import Rules
from krypenv.training.common import bounds, panels
from krypenv.training.common.fields import Command, part, setting
from krypenv.training.common.folders import writing_to
from krypenv.training.common.ladder import KRYPKASINO, ladder_of
from krypenv.training.common.parts import Evaluation, GameRules, Network
from krypenv.training.common.processes import pool_of
from krypenv.training.common.report import print_table, write_json
from krypenv.training.evaluation.matches import duplicate_match
from krypenv.training.imitation.imitate import ImitationSettings
from krypenv.training.imitation.imitate import run as imitate
from krypenv.training.selfplay.checkpoint import CHECKPOINT, read_checkpoint
from krypenv.training.selfplay.selfplay import run
from krypenv.training.selfplay.settings import Settings, defaults_of

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
OLD_NAMES = {  # of variants; runs stored under them and command lines with them still work
    "no warm start": "no imitation",
    "no pull towards the slow copy": "no KL to the EMA policy",
    "no pull towards the EMA policy": "no KL to the EMA policy",
    "no rivals, all seats learn": "no opponents, all seats learn",
}
WHOLE: dict[str, Any] = {
    "curve_every": 1e9,
    "deals": 1,
    "curve_deals": 1,
    "metagame_deals": 50,
}  # settings of every run
RESAMPLES = 2000
_check_result = a_record({"deals": whole(1), "margins": a_table(number())})
MODEL = f"model/{CARD}"  # written last, so its presence marks a finished run


@dataclass(frozen=True)
class AblationSettings(Command):
    """All settings of an ablation. A new instance checks itself and raises ValueError with the reason."""

    game: GameRules = part(GameRules())
    out: str = setting(
        "runs/ablation", "folder of all runs; the same command resumes an unfinished ablation", panel=panels.OUTPUT
    )
    seeds: int = setting(3, "runs of each variant", bounds.RUNS, panels.LENGTH)
    frames: int = setting(
        2_000_000, "length of each run in decisions of the learner", bounds.FRAMES._replace(low=1), panels.LENGTH
    )
    games: int = setting(
        1000,
        "games to demonstrate; all runs that begin with imitation share them",
        bounds.DEMONSTRATIONS._replace(low=1),
        panels.DEMONSTRATIONS,
    )
    bc_epochs: int = setting(3, "passes over the demonstrations", bounds.PASSES, panels.DEMONSTRATIONS)
    network: Network = part(Network(), embedding=None)
    workers: int = setting(2, "runs at a time, each on one thread", bounds.WORKERS, panels.LENGTH)
    evaluation: Evaluation = part(
        Evaluation(2000, KRYPKASINO.hard_against),
        deals="duplicate deals of each run against each opponent",
        against="opponents in the evaluation",
    )
    only: tuple[str, ...] = setting(
        (), "variants to run, besides the full training [default: all]", panel=panels.LENGTH
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "only", tuple(OLD_NAMES.get(name, name) for name in self.only))
        for name in self.only:
            if name not in VARIANTS:
                raise ValueError(f"there is no variant {name!r}; there are {', '.join(VARIANTS)}")
        if not self.evaluation.against:
            raise ValueError("against names at least one opponent")

    @classmethod
    def of(cls, **given: Any) -> AblationSettings:
        """Return settings from options by name; opponents that are not given are those of the rules' ladder."""
        settings = cls().changed(**given)
        return (
            settings if "against" in given else settings.changed(against=ladder_of(settings.game_rules()).hard_against)
        )

    def game_rules(self) -> Rules:
        """Return the rules of all runs."""
        return self.game.parse()

    @property
    def variants(self) -> list[str]:
        """The variants to run, `ALL` first."""
        return [name for name in VARIANTS if name == ALL or not self.only or name in self.only]


@dataclass(frozen=True)
class _Task:
    """One run of one variant."""

    settings: Settings
    evaluation: Evaluation


def _train(task: _Task) -> str:
    """Do or resume a run, store its margins, and return its folder. Finished work is not repeated.

    Raises ValueError where the folder holds a run with other settings.
    """
    folder, rules = Path(task.settings.out), task.settings.game_rules()
    if (folder / CHECKPOINT).exists() and read_checkpoint(folder).settings != task.settings:
        raise ValueError(f"{folder} holds a run with other settings; choose another folder with --out")
    if not (folder / MODEL).is_file():
        is_begun = (folder / CHECKPOINT).exists()
        run(task.settings.changed(resume=str(folder)) if is_begun else task.settings, quiet=True)
    result, deals = _read_result(folder) if (folder / RESULT).exists() else {}, task.evaluation.deals
    margins = result["margins"] if result.get("deals") == deals else {}
    for name in task.evaluation.against:
        if name not in margins:
            match = duplicate_match(str(folder / "model"), name, rules, deals, deals_from="dev")
            margins[name] = match.margin
            write_json(folder / RESULT, {"deals": deals, "margins": margins})
    return str(folder)


def ablate(settings: AblationSettings, command: str = "") -> dict[str, Any]:
    """Run all unfinished variants, print the table, write it as JSON and as a picture, and return it.

    Raises ValueError if a folder holds a run with other settings, or if another process is writing to it.
    """
    console, out = Console(), Path(settings.out)
    imitation = ImitationSettings.of(
        rules=str(settings.game_rules()), out=str(out / IMITATION), games=settings.games, bc_epochs=settings.bc_epochs,
        context=settings.network.context, card=settings.network.card, deals=100,
    )  # fmt: skip
    tasks = [
        _Task(_settings_of(settings, variant, seed), settings.evaluation)
        for seed in range(settings.seeds)
        for variant in settings.variants
    ]
    with writing_to(out):
        if not (out / IMITATION / MODEL).is_file():
            imitate(imitation, command)
        with pool_of(_train, settings.workers) as train:
            for done, folder in enumerate(train(tasks), 1):
                console.print(f"{done} of {len(tasks)} runs: {folder}", highlight=False)
        return _tell(settings, command)


def _tell(settings: AblationSettings, command: str) -> dict[str, Any]:
    """Print, write and return the results of all runs."""
    out, rules = Path(settings.out), str(settings.game_rules())
    margins = {
        variant: [
            {name: _margins(Path(f"{_folder(settings, variant)}{seed}"))[name] for name in settings.evaluation.against}
            for seed in range(settings.seeds)
        ]
        for variant in settings.variants
    }
    variants = summarize(margins)
    result = {"command": command, "settings": settings.flat(), "variants": variants}
    write_json(out / RESULT, result)
    title = f"{rules}: {settings.frames / 1e6:g} million decisions, {settings.seeds} seeds"
    draw(out / PICTURE, variants, title)
    print_ablation(variants, settings.evaluation.against)
    return result


def _settings_of(settings: AblationSettings, variant: str, seed: int) -> Settings:
    whole: dict[str, Any] = {
        "rules": str(settings.game_rules()), "out": f"{_folder(settings, variant)}{seed}", "seed": seed,
        "frames": settings.frames, "init_from": str(Path(settings.out) / IMITATION),
        "against": settings.evaluation.against[:1],
    }  # fmt: skip
    by_rules = defaults_of(settings.game_rules())
    return Settings(network=settings.network).changed(**{**by_rules, **WHOLE, **whole, **VARIANTS[variant]})


def _folder(settings: AblationSettings, variant: str) -> str:
    """Return the folder of a variant's runs without the seed; that of an old name if it has runs."""
    runs = Path(settings.out) / RUNS
    names = [name.replace(",", "").replace(" ", "-") for name in (variant, *_old_names(variant))]
    return str(runs / next((name for name in names if list(runs.glob(f"{name}-[0-9]*"))), names[0])) + "-"


def _old_names(variant: str) -> list[str]:
    return [old for old, new in OLD_NAMES.items() if new == variant]


def _margins(folder: Path) -> dict[str, float]:
    return dict(_read_result(folder)["margins"])


def _read_result(folder: Path) -> dict[str, Any]:
    """Return the margins stored in a run's folder; raises ValueError with the file's name if they are invalid."""
    path = folder / RESULT
    result: dict[str, Any] = read_json(path)
    try:
        _check_result(result, "")
    except ValueError as error:
        raise ValueError(f"{path} is not what an ablation keeps of a run: {sentence_of(error)}; remove it") from None
    return result


def summarize(margins: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    """Return the margins of each variant's runs, and its gain over the first variant, `ALL`, with an interval.

    The gain is the interquartile mean, over runs and opponents, of the margin minus the mean margin of `ALL` against
    the same opponent, so that opponents of different strength count equally. As in Agarwal et al. 2021 (rliable),
    opponents are tasks, and the runs of each task are resampled separately. The gain of `ALL` is None. The bounds are
    None for single runs.
    """
    summary: dict[str, Any] = {}
    whole: list[list[float]] = []
    for variant, runs in margins.items():
        scores = {name: [run[name] for run in runs] for name in runs[0]}
        tasks = list(scores.values())
        gain, low, high = interquartile_gain(tasks, whole) if whole else (None, None, None)
        whole = whole or tasks
        summary[variant] = {"margins": scores, "gain": gain, "low": low, "high": high}
    return summary


def interquartile_gain(scores: list[list[float]], whole: list[list[float]]) -> tuple[float, float | None, float | None]:
    """Return the interquartile mean of all gains over the mean of `ALL`, with a stratified bootstrap interval.

    `scores` and `whole`, those of `ALL`, hold the runs of each task. With a single run per task there is no interval.
    """
    tasks = [np.asarray(runs, np.float64) for runs in (*scores, *whole)]

    def gain(*samples: npt.NDArray[np.float64], axis: int = -1) -> Any:
        runs, base = samples[: len(scores)], samples[len(scores) :]
        gains = [one - other.mean(axis=axis, keepdims=True) for one, other in zip(runs, base, strict=True)]
        return trim_mean(np.concatenate(gains, axis=axis), 0.25, axis=axis)

    found = float(gain(*tasks))
    if min(map(len, tasks)) < 2:
        return found, None, None
    interval = bootstrap(
        tuple(tasks), gain, n_resamples=RESAMPLES, vectorized=True, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    return found, float(interval.low), float(interval.high)


def print_ablation(variants: dict[str, Any], against: tuple[str, ...]) -> None:
    """Print a row for each variant: its mean margin against each opponent, and its gain over the full training."""
    rows = [
        (
            name,
            *(f"{np.mean(each['margins'][opponent]):+.1f}" for opponent in against),
            "" if each["gain"] is None else f"{each['gain']:+.1f}",
            "" if each["low"] is None else f"{each['low']:+.1f} to {each['high']:+.1f}",
        )
        for name, each in variants.items()
    ]
    print_table(("training", *against, "gain on the whole", "95% interval"), rows)


def draw(path: Path, variants: dict[str, Any], title: str) -> None:
    """Draw the gains over the full training with their intervals, and each run, averaged over opponents, as a dot."""
    figure = Figure(figsize=(8, 1.4 + 0.45 * len(variants)), layout="constrained")
    axes = figure.subplots()
    whole = next(iter(variants.values()))["margins"]
    for place, each in enumerate(reversed(variants.values())):
        runs = np.mean([np.asarray(each["margins"][name]) - np.mean(whole[name]) for name in whole], axis=0)
        axes.plot(runs, np.full(len(runs), place), "o", color="grey", markersize=4, alpha=0.6)
        if each["low"] is not None:
            axes.plot([each["low"], each["high"]], [place, place], color="tab:blue", linewidth=3)
        if each["gain"] is not None:
            axes.plot(each["gain"], place, "|", color="black", markersize=14)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(variants)), list(reversed(variants)))
    axes.set_xlabel("points a game gained on the whole: interquartile mean, 95% interval, runs")
    axes.set_title(title, fontsize=10)
    axes.grid(axis="x", alpha=0.3)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=120)
    write_whole(path, picture.getvalue())
