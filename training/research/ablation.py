"""`krypenv ablate`: what each part of training is worth, from runs without it over several seeds, with intervals."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from rich.console import Console
from scipy.stats import bootstrap, trim_mean

from krypenv import agents
from krypenv.agents.neural.model_file import CARD
from krypenv.inputs.files import write_whole
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import control_for
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.evaluation.matches.margins import margin_cells
from krypenv.training.learn.imitation.imitate import ImitationSettings, run_imitation
from krypenv.training.learn.ladder import KRYPKASINO, ladder_of
from krypenv.training.learn.selfplay.checkpoint import CHECKPOINT, read_checkpoint
from krypenv.training.learn.selfplay.selfplay import train
from krypenv.training.learn.selfplay.settings import Settings, defaults_of
from krypenv.training.runs import Header, Task, limits, open_run, panels
from krypenv.training.runs.machine import machine
from krypenv.training.runs.options import Command, an_output, part, setting
from krypenv.training.runs.parts import Evaluation, GameRules, Network, Place, luck_setting
from krypenv.training.runs.progress import progress
from krypenv.training.runs.tables import print_table, write_json

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
WHOLE: dict[str, Any] = {
    "curve_every": 1e9,
    "deals": 1,
    "curve_deals": 1,
    "metagame_deals": 50,
}  # settings of every run
RESAMPLES = 2000
Margins = dict[str, list[dict[str, float]]]  # of each run of a variant, against each opponent
MODEL = f"model/{CARD}"  # written last, so its presence marks a finished run


@dataclass(frozen=True)
class AblationSettings(Command):
    """All settings of an ablation. A new instance checks itself and raises ValueError with the reason."""

    command: ClassVar[str] = "ablate"
    game: GameRules = part(GameRules())
    out: str = an_output("runs/ablation", "folder of all runs; the same command resumes an unfinished ablation")
    seeds: int = setting(3, "runs of each variant", limits.RUNS, panels.LENGTH, decides=False)  # more tasks, not others
    frames: int = setting(
        2_000_000, "length of each run in decisions of the learner", limits.FRAMES._replace(low=1), panels.LENGTH
    )
    games: int = setting(
        1000,
        "games to demonstrate; all runs that begin with imitation share them",
        limits.DEMONSTRATIONS._replace(low=1),
        panels.DEMONSTRATIONS,
    )
    bc_epochs: int = setting(3, "passes over the demonstrations", limits.PASSES, panels.DEMONSTRATIONS, is_tuned=True)
    network: Network = part(Network(), embedding=None)
    place: Place = part(Place(2), workers="runs at a time, each on one thread", ray="train on a Ray cluster")
    evaluation: Evaluation = part(
        Evaluation(2000, KRYPKASINO.hard_against),
        deals="duplicate deals of each run against each opponent",
        against="opponents in the evaluation",
    )
    luck: str = luck_setting()
    only: tuple[str, ...] = setting(
        (), "variants to run, besides the full training [default: all]", panel=panels.LENGTH, decides=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.only:
            if name not in VARIANTS:
                raise ValueError(f"there is no variant {name!r}; there are {', '.join(VARIANTS)}")
        if not self.evaluation.against:
            raise ValueError("against names at least one opponent")

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the opponents of the rules' ladder."""
        return {"against": ladder_of(GameRules.among(given)).hard_against}

    def game_rules(self) -> Rules:
        """Return the rules of all runs."""
        return self.game.parse()

    @property
    def variants(self) -> list[str]:
        """The variants to run, `ALL` first."""
        return [name for name in VARIANTS if name == ALL or not self.only or name in self.only]


def train_variant(settings: Settings) -> str:
    """Train a run, or resume it, and return its folder.

    Raises ValueError where the folder holds a run with other settings.
    """
    folder = Path(settings.out)
    is_begun = (folder / CHECKPOINT).exists()
    if is_begun and read_checkpoint(folder).settings != settings:
        raise ValueError(f"{folder} holds a run with other settings; choose another folder with --out")
    if not (folder / MODEL).is_file():
        train(settings.changed(resume=str(folder)) if is_begun else settings, quiet=True)
    return str(folder)


def measure_variant(model: str, rules: str, opponent: str, deals: int, luck: str = "off") -> float | dict[str, float]:
    """Return the margin of a model over an opponent; if luck is measured, both the raw and the adjusted one."""
    found = duplicate_match(model, opponent, Rules.parse(rules), deals, deals_from="dev", luck=luck)
    return {"raw": found.margin, "adjusted": found.adjusted.margin} if found.adjusted else found.margin


def ablate(settings: AblationSettings) -> dict[str, Any]:
    """Run all unfinished variants, print the table, write it as JSON and as a picture, and return it.

    Raises ValueError if a folder holds a run with other settings, or if another run is writing to it.
    """
    console, out, rules, evaluation = Console(), Path(settings.out), str(settings.game_rules()), settings.evaluation
    imitation = ImitationSettings.of(
        rules=rules, out=str(out / IMITATION), games=settings.games, bc_epochs=settings.bc_epochs,
        context=settings.network.context, card=settings.network.card, deals=100, workers=settings.place.workers,
        ray=settings.place.ray, ray_address=settings.place.ray_address,
    )  # fmt: skip
    runs = [(variant, seed) for seed in range(settings.seeds) for variant in settings.variants]
    folders = {each: f"{out / RUNS / folder_name(each[0])}-{each[1]}" for each in runs}
    trainings = [
        Task(f"{variant}, seed {seed}", train_variant, {"settings": _settings_of(settings, variant, seed, folder)})
        for (variant, seed), folder in folders.items()
    ]
    game = settings.game_rules()
    controls = {name: control_for(settings.luck, [agents.make_known(name, game)], game) for name in evaluation.against}
    matches = {
        (each, name): Task(
            f"{each[0]}, seed {each[1]}, {evaluation.deals} deals against {name}"
            + (f", luck taken out by {control}" if control else ""),
            measure_variant,
            {
                "model": f"{folder}/model", "rules": rules, "opponent": name, "deals": evaluation.deals,
                "luck": "on" if control else "off",
            },
        )
        for each, folder in folders.items()
        for name, control in controls.items()
    }  # fmt: skip
    whole = {"rules": rules, **settings.identity()}
    del whole["luck"]  # it makes other tasks, so that the same runs can be measured both ways
    header = Header("ablation", whole, {"command": settings.line, "machine": machine()})
    with open_run(out, header, settings.place.executor) as journal:
        if not (out / IMITATION / MODEL).is_file():
            run_imitation(imitation)
        with progress(console) as show:
            journal.do_all(trainings, lambda done, of: show(done / of, f"{done} of {of} runs trained"))
            played = journal.do_all([*matches.values()], lambda done, of: show(done / of, f"{done} of {of} matches"))

    def margins(which: str) -> Margins:
        return {
            variant: [
                {name: _pick(played[matches[(variant, seed), name].key], which) for name in evaluation.against}
                for seed in range(settings.seeds)
            ]
            for variant in settings.variants
        }

    return _tell(settings, margins("adjusted"), margins("raw") if any(controls.values()) else None)


def _pick(played: float | dict[str, float], which: str) -> float:
    """Return the raw or the adjusted margin of a match, which are one if its luck was not measured."""
    return played[which] if isinstance(played, dict) else played


def _tell(settings: AblationSettings, margins: Margins, raw: Margins | None) -> dict[str, Any]:
    """Print, write and return the results of all runs; `raw` are the margins with luck left in."""
    out, rules = Path(settings.out), str(settings.game_rules())
    variants = summarize(margins)
    for variant, each in summarize(raw or {}).items():
        variants[variant]["raw"] = each
    result = {"command": settings.line, "settings": settings.flat(), "variants": variants}
    write_json(out / RESULT, result)
    title = f"{rules}: {settings.frames / 1e6:g} million decisions, {settings.seeds} seeds"
    draw(out / PICTURE, variants, title)
    print_ablation(variants, settings.evaluation.against)
    return result


def _settings_of(settings: AblationSettings, variant: str, seed: int, folder: str) -> Settings:
    whole: dict[str, Any] = {
        "rules": str(settings.game_rules()), "out": folder, "seed": seed,
        "frames": settings.frames, "init_from": str(Path(settings.out) / IMITATION),
        "against": settings.evaluation.against[:1],
    }  # fmt: skip
    by_rules = defaults_of(settings.game_rules())
    return Settings(network=settings.network).changed(**{**by_rules, **WHOLE, **whole, **VARIANTS[variant]})


def folder_name(variant: str) -> str:
    """Return the name of a variant's runs, as in no-self-play."""
    return variant.replace(",", "").replace(" ", "-")


def summarize(margins: Margins) -> dict[str, Any]:
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
    """Print a row for each variant: its mean margin against each opponent, and its gain over the full training.

    Where luck was measured, they are those with luck taken out, and the gain with luck left in comes last.
    """
    has_luck = any("raw" in each for each in variants.values())
    rows = [
        (
            name,
            *(f"{np.mean(each['margins'][opponent]):+.1f}" for opponent in against),
            *_gain_cells(each),
            *(_gain_cells(each["raw"]) if has_luck else ()),
        )
        for name, each in variants.items()
    ]
    raw = ("with luck left in", "95% interval") if has_luck else ()
    print_table(("training", *against, "gain on the whole", "95% interval", *raw), rows)


def _gain_cells(each: dict[str, Any]) -> tuple[str, str]:
    return margin_cells(each["gain"], each["low"], each["high"], 1) if each["gain"] is not None else ("", "")


def draw(path: Path, variants: dict[str, Any], title: str) -> None:
    """Draw the gains over the full training with their intervals, and each run, averaged over opponents, as a dot.

    The variants are also the description in the file.
    """
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
    figure.savefig(picture, format="png", dpi=120, metadata={"Software": None, "Description": "; ".join(variants)})
    write_whole(path, picture.getvalue())
