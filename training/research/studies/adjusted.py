"""Luck taken out: how much narrower the intervals of matches are, and for how much more time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.agents import Agent
from krypenv.engine import Engine
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import control_of
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate_deals import play_duplicates
from krypenv.training.evaluation.matches.margins import FloatArray, adjust, interval, margin_cells
from krypenv.training.lab.chunks import CHUNK, stream
from krypenv.training.lab.intervals import figures_of
from krypenv.training.lab.studying import Answer, Setup, Study, Task

MATCHES = {  # by label: the rules, and the two agents
    "Krypkasino, 2": ("krypkasino", "champion", "search(worlds=200)"),
    "Krypkasino, 2, small searches": ("krypkasino", "search(worlds=30)", "search(worlds=10)"),
    "Krypkasino, 4": ("krypkasino players=4", "champion", "tactician(shed=True)"),
    "Krypkasino, 4 in pairs": ("krypkasino players=4 teams=2", "champion", "search(worlds=30)"),
    "Sweden": ("kasino-sweden", "champion", "search(worlds=30)"),
    "Finland": ("kasino-finland", "champion", "search(worlds=30)"),
    "Mulle": ("mulle", "champion", "search(worlds=30)"),
    "Glimne, 4 in pairs": ("mulle-glimne players=4 teams=2", "champion", "search(worlds=30)"),
}
AXIS = np.arange(10, 1001)  # deals, in the figure


class Timed(Meter):
    """A meter that measures its own processor time."""

    seconds = 0.0

    def look(self, engine: Engine, rows: np.ndarray) -> None:
        """Do what a meter does, and add the seconds."""
        began = time.process_time()
        super().look(engine, rows)
        self.seconds += time.process_time() - began


def play_deals(label: str, first: int, deals: int, seed: int) -> dict[str, Any]:
    """Return margins and luck of a match by deal, and the processor seconds that its agents and the meter took."""
    text, *names = MATCHES[label]
    rules = Rules.parse(text)
    meter = Timed(rules, control_of(rules))
    players: list[Agent] = [agents.make_known(name, rules, stream(seed, first, at)) for at, name in enumerate(names)]
    seeds = deal_seeds(seed, first + deals)[first:]
    play_duplicates(players, rules, seeds[:1], meter)  # compiles
    meter.seconds = 0.0
    found = play_duplicates(players, rules, seeds, meter)
    assert found.luck is not None
    return {
        "margins": found.margins.mean(axis=1).round(9).tolist(), "luck": found.luck.mean(axis=1).round(9).tolist(),
        "playing": round(float(found.played.seconds.sum()), 3), "measuring": round(meter.seconds, 3),
    }  # fmt: skip


def tasks(setup: Setup) -> list[Task]:
    """Return chunks of deals of each match."""
    return [
        Task(
            f"{label}, deals from {first}", play_deals,
            {"label": label, "first": first, "deals": min(CHUNK, setup.deals - first), "seed": setup.seed},
        )
        for label in MATCHES for first in range(0, setup.deals, CHUNK)
    ]  # fmt: skip


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell for each match both margins, how wide their intervals are, and what the adjustment took."""
    rows, figures, spreads, worths = [], {}, {}, []
    for label, (text, *names) in MATCHES.items():
        chunks = [results[f"{label}, deals from {first}"] for first in range(0, setup.deals, CHUNK)]
        margins, luck = (np.concatenate([chunk[name] for chunk in chunks]) for name in ("margins", "luck"))
        playing, measuring = (sum(chunk[name] for chunk in chunks) for name in ("playing", "measuring"))
        control = control_of(Rules.parse(text))
        raw, found = interval(margins), adjust(margins, luck, str(control))
        adjusted = found.margin, found.low, found.high
        narrower = (found.high - found.low) / (raw[2] - raw[1])
        brought, more = interval(luck), measuring / playing
        spreads[label] = float(margins.std(ddof=1)), float((margins - luck).std(ddof=1))
        worths.append(found.worth)
        cells = (*(", ".join(margin_cells(*each)) for each in (raw, adjusted)), f"{narrower:.2f}", f"{found.worth:.2f}")
        rows.append((f"{label}: {names[0]} over {names[1]}", *cells, f"{more:.1%}", ", ".join(margin_cells(*brought))))
        figures[label] = {
            **figures_of({"raw": raw, "adjusted": adjusted, "luck": brought}), "width": narrower,
            "worth": found.worth, "more time": more, "control": found.control,
        }  # fmt: skip
    sentence = (
        f"With luck taken out, a deal is worth {min(worths):.1f} to {max(worths):.1f} deals as played, in Krypkasino "
        f"for two {worths[0]:.1f}."
    )

    def draw(axes: Axes) -> None:
        for number, label in enumerate((next(iter(spreads)), "Krypkasino, 4 in pairs", "Mulle")):
            for spread, line, what in zip(spreads[label], ("--", "-"), ("raw", "luck taken out"), strict=True):
                axes.loglog(AXIS, half_width(spread), line, color=f"C{number}", label=f"{label}, {what}")
        axes.set_xlabel("duplicate deals")
        axes.set_ylabel("± of the 95% interval, points a game")
        axes.grid(which="both", alpha=0.3)
        axes.legend(fontsize=8, loc="upper right")

    columns = ("match", "margin", "luck taken out", "width", "a deal is worth", "more time", "mean luck")
    return Answer(sentence, columns, rows, figures, draw)


def half_width(spread: float) -> FloatArray:
    """Return half the width of the 95% interval after each number of deals of `AXIS`, for a standard deviation."""
    half: FloatArray = 1.96 * spread / np.sqrt(AXIS)
    return half


STUDY = Study(
    "adjusted", "How much narrower are intervals with luck taken out?", tasks, answer, deals=200, fewest=2,
    sets={label: rules for label, (rules, *_) in MATCHES.items()}, agent="champion",
)  # fmt: skip
