"""`krypenv ablate`: trainings over several seeds and their matches, as tasks; and what comes of variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from krypenv import agents
from krypenv.agents.neural.model_file import CARD
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import Control, control_for
from krypenv.training.evaluation.matches.deal_lists import LISTS
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.evaluation.matches.margins import margin_cells
from krypenv.training.learn.imitation.imitate import ImitationSettings, run_imitation
from krypenv.training.learn.selfplay.checkpoint import CHECKPOINT, read_checkpoint
from krypenv.training.learn.selfplay.selfplay import train
from krypenv.training.learn.selfplay.settings import Settings
from krypenv.training.research.ablation.drawing import draw
from krypenv.training.research.ablation.interquartile import Runs, summarize
from krypenv.training.research.ablation.presets import Margins, Pair, head_to_head, tell_presets
from krypenv.training.research.ablation.settings import IMITATION, PICTURE, RESULT, AblationSettings
from krypenv.training.runs import Header, Task, open_run
from krypenv.training.runs.machine import machine
from krypenv.training.runs.progress import progress
from krypenv.training.runs.tables import print_table, write_json

MODEL = f"model/{CARD}"  # written last, so its presence marks a finished run


class Player(NamedTuple):
    """A run of a training, or an agent."""

    name: str
    agent: str  # as a string
    number: int  # of the run


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


def measure_variant(
    model: str, rules: str, opponent: str, deals: int, luck: str = "off", deals_from: str = "dev"
) -> float | dict[str, float]:
    """Return the margin of a model over an opponent; if luck is measured, both the raw and the adjusted one."""
    found = duplicate_match(model, opponent, Rules.parse(rules), deals, deals_from=deals_from, luck=luck)
    return {"raw": found.margin, "adjusted": found.adjusted.margin} if found.adjusted else found.margin


def ablate(settings: AblationSettings) -> dict[str, Any]:
    """Run all unfinished trainings and matches, print the table, write it as JSON and as a picture, and return it.

    Raises ValueError if a folder holds a run with other settings, or if another run is writing to it.
    """
    console, out = Console(), Path(settings.out)
    runs = [(training, seed) for seed in range(settings.seeds) for training in settings.trainings]
    trainings = [
        Task(_run_name(training, seed), train_variant, {"settings": settings.of_run(training, seed)})
        for training, seed in runs
    ]
    pairs = [(training, name) for training in settings.trainings for name in settings.evaluation.against]
    controls = _controls(settings, pairs + head_to_head(settings))
    matches = {
        (first, second): [
            [_match(settings, one, other, control) for other in _players(settings, second)]
            for one in _players(settings, first)
        ]
        for (first, second), control in controls.items()
    }
    with open_run(out, _header(settings), settings.place.executor) as journal:
        if not settings.preset and not (out / IMITATION / MODEL).is_file():
            run_imitation(_imitation(settings))
        with progress(console) as show:
            journal.do_all(trainings, lambda done, of: show(done / of, f"{done} of {of} runs trained"))
            tasks = [task for rows in matches.values() for row in rows for task in row]
            played = journal.do_all(tasks, lambda done, of: show(done / of, f"{done} of {of} matches"))

    def margins(which: str) -> Margins:
        return {
            pair: [[_pick(played[task.key], which) for task in row] for row in rows] for pair, rows in matches.items()
        }

    found, raw = margins("adjusted"), margins("raw") if any(controls.values()) else None
    if settings.preset:
        return tell_presets(settings, found, raw)
    return _tell(settings, _by_variant(found), _by_variant(raw) if raw else None)


def _controls(settings: AblationSettings, pairs: list[Pair]) -> dict[Pair, Control | None]:
    """Return how luck is measured in the matches of each pair; raises ValueError for an agent that is not known."""
    game = settings.game_rules()
    return {
        pair: control_for(
            settings.luck, [agents.make_known(name, game) for name in pair if name not in settings.trainings], game
        )
        for pair in pairs
    }


def _players(settings: AblationSettings, name: str) -> list[Player]:
    """Return the runs of a training, or an agent alone."""
    if name not in settings.trainings:
        return [Player(name, name, 0)]
    folders = [settings.of_run(name, seed).out for seed in range(settings.seeds)]
    return [Player(_run_name(name, seed), f"{folder}/model", seed) for seed, folder in enumerate(folders)]


def _match(settings: AblationSettings, one: Player, other: Player, control: Control | None) -> Task:
    """Return a match as a task.

    Variants all play the same deals. With presets, deals follow from the numbers of the two runs: each pair of runs has
    deals of its own, so that the spread of the runs holds that of the deals too.
    """
    deals = settings.evaluation.deals
    more: dict[str, Any] = {"luck": "on" if control else "off"}
    if settings.preset:
        numbers = np.random.SeedSequence([LISTS["dev"][1], one.number, other.number])
        more["deals_from"] = int(numbers.generate_state(1, np.uint64)[0])
    return Task(
        f"{one.name}, {deals} deals against {other.name}" + (f", luck taken out by {control}" if control else ""),
        measure_variant,
        {"model": one.agent, "rules": str(settings.game_rules()), "opponent": other.agent, "deals": deals, **more},
    )


def _run_name(training: str, seed: int) -> str:
    return f"{training}, seed {seed}"


def _header(settings: AblationSettings) -> Header:
    whole: dict[str, Any] = {"rules": str(settings.game_rules())}
    if not settings.preset:
        whole |= settings.identity()
        del whole["luck"]  # it makes other tasks, so that the same runs can be measured both ways
    kind = "comparison of presets" if settings.preset else "ablation"
    return Header(kind, whole, {"command": settings.line, "machine": machine()})


def _imitation(settings: AblationSettings) -> ImitationSettings:
    """Return the settings of the imitation that all variants share."""
    return ImitationSettings.of(
        rules=str(settings.game_rules()), out=str(Path(settings.out) / IMITATION), games=settings.games,
        bc_epochs=settings.bc_epochs, context=settings.network.context, card=settings.network.card, deals=100,
        workers=settings.place.workers, ray=settings.place.ray, ray_address=settings.place.ray_address,
    )  # fmt: skip


def _pick(played: float | dict[str, float], which: str) -> float:
    """Return the raw or the adjusted margin of a match, which are one if its luck was not measured."""
    return played[which] if isinstance(played, dict) else played


# ---------------------------------------------------------------------- variants


def _by_variant(margins: Margins) -> Runs:
    """Return the margins of each run of each variant by opponent, from those by pair, a column for each run."""
    runs: Runs = {}
    for (variant, opponent), rows in margins.items():
        for run, (margin,) in zip(runs.setdefault(variant, [{} for _ in rows]), rows, strict=True):
            run[opponent] = margin
    return runs


def _tell(settings: AblationSettings, margins: Runs, raw: Runs | None) -> dict[str, Any]:
    """Print, write and return the results of all runs; `raw` are the margins with luck left in."""
    out, rules = Path(settings.out), str(settings.game_rules())
    variants = summarize(margins)
    for variant, each in summarize(raw or {}).items():
        variants[variant]["raw"] = each
    title = f"{rules}: {settings.frames / 1e6:g} million decisions, {settings.seeds} seeds"
    result = {"title": title, "command": settings.line, "settings": settings.flat(), "variants": variants}
    write_json(out / RESULT, result)
    draw(out / PICTURE, variants, title)
    print_ablation(variants, settings.evaluation.against)
    return result


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
