"""`krypenv belief`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import typer

from krypenv import agents
from krypenv.training.cli.outputs import check_folder
from krypenv.training.cli.research.study import answer_study, study_seed
from krypenv.training.lab.studying import Setup
from krypenv.training.research.belief.measuring import belief_study, has_belief
from krypenv.training.runs import limits
from krypenv.training.runs.options import Command, an_output, part, setting
from krypenv.training.runs.panels import AGENTS, LENGTH
from krypenv.training.runs.parts import GameRules, Place, rules_of_agents


@dataclass(frozen=True)
class BeliefSettings(Command):
    """The settings of `krypenv belief`."""

    command: ClassVar[str] = "belief"
    agent: str = setting("champion", "whose belief is measured, as in champion", is_argument=True, is_required=True)
    against: tuple[str, ...] = setting(
        ("tactician", "search", "champion"), "who plays all other seats; each opponent is measured apart", panel=AGENTS
    )
    game: GameRules = rules_of_agents()
    deals: int = setting(200, "games against each opponent", limits.DEALS, LENGTH)
    seed: int = study_seed()
    place: Place = part(Place())
    out: Path = an_output(Path("runs/belief"), "folder of the answer; a measurement in it is resumed", "FOLDER")


def run(settings: BeliefSettings) -> None:
    """Measure how much an agent's belief knows about hidden hands: nats gained over uniform deals, and calibration.

    If the measurement is stopped or killed, the same command resumes it, also for further opponents.
    """
    it = settings
    rules, agent = it.game.of_agents([it.agent]), agents.typed(it.agent)
    against = tuple(dict.fromkeys(map(agents.typed, it.against)))
    player, *others = (agents.make_known(name, rules) for name in (agent, *against))
    for each in (player, *others):
        if getattr(each, "cheats", False):
            raise ValueError(f"{each.name} sees what is hidden; a belief is measured among agents that don't")
    check_folder(it.out)
    if not has_belief(player):
        typer.echo(f"{player.name} weights no hidden hands in '{rules}', so it gains 0 nats by definition.")
        return
    study = belief_study(against)
    answer_study(study, Setup(rules, agent, it.deals, it.seed), it.line, it.place.executor, it.out)
