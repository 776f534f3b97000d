"""How luck is measured in a run that can be resumed: stored in its header, so that one run measures it in one way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from krypenv.agents import Agent
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import Control, control_for, make_control
from krypenv.training.runs import Header
from krypenv.training.runs.journal import JOURNAL, one, read_journal


def plain_control(control: Control | None) -> dict[str, Any] | None:
    """Return a control variate as plain JSON values, for the identity of a header under "luck"."""
    return dataclasses.asdict(control) if control else None


def control_in(header: Header) -> Control | None:
    """Return by which control variate luck is measured; None where it is not, as in runs of older versions."""
    stored = header.identity.get("luck")
    return Control(**stored) if stored else None


def control_of_run(folder: Path, kind: str, choice: str, agents: Iterable[Agent], rules: Rules) -> Control | None:
    """Return how luck is measured in a run; with "auto", a run in the folder goes on as it began.

    Raises ValueError as `control_for` does, and where luck can't be measured as before.
    """
    chosen = control_for(choice, agents, rules)
    begun = read_journal(folder, kind) if (folder / JOURNAL).exists() else None
    if not begun or not begun.results:
        return chosen
    stored = control_in(begun.header)
    if choice != "auto" and bool(stored) != bool(chosen):
        was, other = ("taken", "on") if stored else ("not taken", "off")
        raise ValueError(
            f"{folder} holds {one(kind)} with luck {was} out; resume it with --luck {other}, or give another --out"
        )
    if stored:
        here = make_control(Rules.parse(begun.header.identity["rules"]), stored.shares, stored.redeals)
        if here != stored:
            raise ValueError(
                f"{folder} holds {one(kind)} whose luck another version measured ({stored.digest}, here "
                f"{here.digest}); resume it there, or give another --out"
            )
    return stored
