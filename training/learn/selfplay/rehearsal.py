"""A rehearsal: a small throwaway run that compiles every kernel before the clock starts."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console

from krypenv.training.learn.selfplay.settings import Settings
from krypenv.training.runs.progress import compiling

PLAYED = ("rules", "players", "teams", "rule", "also", "device", "threads", "teacher", "opponents", "against")
SMALL: dict[str, Any] = {
    "workers": 1, "bc_epochs": 1, "epochs": 1, "steps": 16, "batch": 64, "context": 8, "card": 8, "embedding": 2,
    "snapshot_every": 0.5, "curve_deals": 2, "metagame_deals": 2, "curve_every": 1e9, "checkpoint_every": 1e9,
}  # fmt: skip


class Playable(Protocol):
    """A run, as far as a rehearsal needs it."""

    def play(self, console: Console) -> object:
        """Train until the frames are played."""


Make = Callable[[Settings, Path], Playable]  # a class of runs


def rehearse(kind: Make, settings: Settings, console: Console) -> None:
    """Do in small what a run of these settings will do, once per process; say so if that compiles kernels.

    The run itself, its folder and its random numbers are not touched.
    """
    with compiling(console):
        _rehearse(kind, in_small(settings))


@functools.cache
def _rehearse(kind: Make, settings: Settings) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kind(settings, Path(folder)).play(Console(quiet=True))


def in_small(settings: Settings) -> Settings:
    """Return settings for two short updates with a snapshot between them, by the same agents.

    Only settings that decide which kernels are called are kept.
    """
    given = settings.flat()
    taken = {name: given[name] for name in PLAYED}
    games = {"envs": 4, "opponent_envs": 4, "demonstrations": 2 * len(settings.all_rules())}
    least = {name: min(given[name], most) for name, most in games.items()}
    small = Settings().changed(**taken, **least, **SMALL)
    return small.changed(frames=small.decisions + 1)
