"""What every study is: a list of tasks, and an answer folded from all their results: a table, a sentence, a figure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.base import check_krypkasino
from krypenv.agents.neural.model_file import read_card
from krypenv.inputs.files import write_whole
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.arena import weights_of
from krypenv.training.evaluation.luck.control import control_for, control_of
from krypenv.training.lab.intervals import bars, intervals_in
from krypenv.training.runs import HERE, Executor, Header, Progress, Task, open_run
from krypenv.training.runs.figures import png_of
from krypenv.training.runs.journal import JOURNAL
from krypenv.training.runs.machine import machine
from krypenv.training.runs.tables import write_json

TAKEN_OUT, LEFT_IN = "luck taken out", "luck left in"  # the two margins of a match whose luck was measured
RESULT, FIGURE = "result.json", "figure.png"


@dataclass(frozen=True)
class Setup:
    """What a study is run with: whose play, by which rules, how much, from which seed."""

    rules: Rules
    agent: str  # who plays in general; interventions change one habit of it
    deals: int
    seed: int = 0
    models: tuple[str, ...] = ()  # folders, for a study that compares rule sets
    luck: str = "off"  # in which duplicate matches it is taken out of the margins: auto, on or off
    sets: tuple[str, ...] = ()  # rule sets, of a study that compares some

    def __post_init__(self) -> None:
        player = agents.make_known(self.agent, self.rules)  # raises ValueError where there is none
        control_for(self.luck, [player], self.rules)  # and for another choice

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        found = {"rules": str(self.rules), "agent": self.agent, "deals": self.deals, "seed": self.seed}
        return {**found, "sets": list(self.sets)} if self.sets else found


@dataclass(frozen=True)
class Answer:
    """What came out; give its fields by name."""

    sentence: str = ""
    columns: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    figures: dict[str, Any] = field(default_factory=dict)  # the numbers behind it, as plain JSON values
    draw: Callable[[Axes], None] | None = None  # by default, bars of all figures that are intervals
    raw: Answer | None = None  # the same with luck left in, where it was taken out of matches


@dataclass(frozen=True)
class Study:
    """A question, the work that it takes, and how the results answer it."""

    name: str
    question: str
    tasks: Callable[[Setup], Sequence[Task]]
    answer: Callable[[Setup, dict[str, Any]], Answer]  # from the tasks' results by their keys
    deals: int  # by default
    players: tuple[int, ...] = (2, 4)  # numbers of players for which it makes sense, the default first
    teams: int | None = None  # by default; a study with teams needs them
    fewest: int = 1  # deals
    needs: Callable[[Agent], Any] = lambda agent: None  # raises ValueError for an agent that can't be studied
    sets: Any = ()  # a tuple of rule sets, or rule sets by label, of a study that compares some
    agent: str = ""  # whose play is studied, where the study says it
    any_rules: bool = False  # whether it takes games that are not like Krypkasino

    @property
    def rules(self) -> Rules | None:
        """The first of the rule sets that are compared, None if the study is about any rules."""
        sets = self.sets.values() if isinstance(self.sets, Mapping) else self.sets
        return Rules.parse(next(iter(sets))) if self.sets else None

    def check(self, setup: Setup) -> None:
        """Raise ValueError for rules for which the study makes no sense, and for an agent that it can't change."""
        if isinstance(self.sets, Mapping) and (setup.rules, setup.agent) != (self.rules, self.agent):
            raise ValueError(f"the study {self.name} has its own rules and agents; give neither")
        if setup.models and not self.sets:
            raise ValueError(f"the study {self.name} has no use for trained models; those that compare rules have")
        if not (self.sets or self.any_rules):
            check_krypkasino(setup.rules, f"the study {self.name}")
        if setup.rules.players not in self.players:
            players = ", ".join(map(str, self.players))
            raise ValueError(f"the study {self.name} is for {players} players, not {setup.rules.players}")
        if self.teams and not setup.rules.teams:
            raise ValueError(f"the study {self.name} is for teams; give --teams {self.teams}")
        if setup.deals < self.fewest:
            raise ValueError(f"the study {self.name} needs at least {self.fewest} deals, not {setup.deals}")
        self.needs(agents.make_known(setup.agent, setup.rules))


def run_study(
    study: Study, setup: Setup, folder: Path, command: str, executor: Executor = HERE,
    progress: Progress = lambda done, tasks: None,
) -> Answer:  # fmt: skip
    """Run a study, or resume one in the same folder, write its files, and return its answer.

    Raises ValueError, and changes nothing, where the study can't use the setup, or the folder has another setup or is
    being written to.
    """
    study.check(setup)
    if not (folder / JOURNAL).exists() and (folder / RESULT).exists():
        raise ValueError(f"{folder} has a result without its {JOURNAL}, which is not overwritten; give another --out")
    weights = weights_of(setup.agent, agents.make_known(setup.agent, setup.rules))
    identity: dict[str, Any] = {"study": study.name, **setup.to_json(), "weights_sha256": weights}
    if isinstance(study.sets, Mapping):
        trained = {str(agents.rules_of(model)): read_card(model)["weights_sha256"] for model in setup.models}
        identity |= {"sets": dict(study.sets), "models_sha256": trained}
    if setup.luck != "off":
        texts = study.sets.values() if isinstance(study.sets, Mapping) else setup.sets
        played = list(map(Rules.parse, texts)) or [setup.rules]
        identity["luck"] = [setup.luck, *(control_of(rules).digest for rules in played)]
    about = {"command": command, "machine": machine()}
    with open_run(folder, Header("study", identity, about), executor) as run:
        answer = _answer(study, setup, run.do_all(study.tasks(setup), progress))
        figures = {**identity, "question": study.question, **_plain(answer), **run.about}
        if answer.raw:
            figures["raw"] = _plain(answer.raw)
        write_json(folder / RESULT, figures)
        write_whole(folder / FIGURE, picture(study, answer.draw or bars(intervals_in(answer.figures), "points a game")))
    return answer


def _answer(study: Study, setup: Setup, results: dict[str, Any]) -> Answer:
    """Return the answer from results, by margins with luck taken out where it was measured, with the raw one beside."""
    measured = {
        key for key, result in results.items() if isinstance(result, dict) and result.keys() == {TAKEN_OUT, LEFT_IN}
    }
    if not measured:
        return study.answer(setup, results)
    adjusted, raw = (
        study.answer(setup, {key: result[which] if key in measured else result for key, result in results.items()})
        for which in (TAKEN_OUT, LEFT_IN)
    )
    return dataclasses.replace(adjusted, raw=raw)


def _plain(answer: Answer) -> dict[str, Any]:
    return {
        "answer": answer.sentence, "columns": answer.columns, "rows": answer.rows, "figures": answer.figures,
    }  # fmt: skip


def picture(study: Study, draw: Callable[[Axes], None]) -> bytes:
    """Return the figure of an answer as PNG."""
    figure = Figure(figsize=(8, 4.5), dpi=110, layout="constrained")
    axes = figure.subplots()
    draw(axes)
    if axes.patches or len(study.sets) > 1:  # rows: as high as their labels need
        figure.set_figheight(max(figure.get_figheight(), 0.45 * len(axes.get_yticks())))
    elif axes.images:  # cells of a table
        figure.set_figheight(max(figure.get_figheight(), 0.22 * len(axes.get_yticks())))
    figure.suptitle(study.question, fontsize=11)
    return png_of(figure, dpi=110)
