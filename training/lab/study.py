"""What every study is: a question, a list of tasks, and an answer folded from their results; and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.base import check_krypkasino
from krypenv.inputs.files import write_whole
from krypenv.rules import Rules
from krypenv.training.evaluation.arena.arena import weights_of
from krypenv.training.evaluation.luck.control import control_for, control_of
from krypenv.training.lab.effects import draw_bars, table_of
from krypenv.training.runs import HERE, Executor, Header, Progress, Task, open_run
from krypenv.training.runs.figures import png_of
from krypenv.training.runs.journal import JOURNAL
from krypenv.training.runs.machine import machine
from krypenv.training.runs.tables import write_json

RESULT, FIGURE = "result.json", "figure.png"


@dataclass(frozen=True)
class Setup:
    """What a study is run with: whose play, by which rules, how much, from which seed.

    Raises ValueError for an agent that can't play by the rules, and for another choice of luck.
    """

    rules: Rules
    agent: str
    deals: int
    seed: int = 0
    luck: str = "off"  # in which duplicate matches it is taken out of the margins: auto, on or off
    sets: tuple[str, ...] = ()  # rule sets, of a study that compares some

    def __post_init__(self) -> None:
        control_for(self.luck, [agents.make_known(self.agent, self.rules)], self.rules)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values, with a digest of what takes the luck out."""
        found = {"rules": str(self.rules), "agent": self.agent, "deals": self.deals, "seed": self.seed}
        sets = [Rules.parse(each) for each in self.sets]
        if self.luck != "off":
            found["luck"] = [self.luck, *(control_of(each).digest for each in sets or [self.rules])]
        return {**found, "sets": [str(each) for each in sets]} if sets else found


@dataclass(frozen=True)
class Answer:
    """What came out, as plain JSON values, with what a table and a picture show of it."""

    figures: Mapping[str, Any]
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] | None = None  # by default, with the columns, a table of all figures with an interval
    draw: Callable[[Axes], None] | None = None  # by default, bars of all figures with an interval

    @property
    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The columns and the rows of its table."""
        return table_of(self.figures) if self.rows is None else (self.columns, self.rows)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        columns, rows = self.table
        return {"columns": columns, "rows": rows, "figures": self.figures}


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
    fewest: int = 2  # deals; one has no interval
    needs: Callable[[Agent], Any] = lambda agent: None  # raises ValueError for an agent that can't be studied
    agent: str = ""  # whose play is studied by default; empty for a strong agent
    sets: tuple[str, ...] = ()  # rule sets, of a study that compares some; others can be given
    any_rules: bool = False  # whether it takes games that are not like Krypkasino

    def check(self, setup: Setup) -> None:
        """Raise ValueError for rules for which the study makes no sense, and for an agent that it can't change."""
        if not (self.sets or self.any_rules):
            check_krypkasino(setup.rules, f"the study {self.name}")
        if not self.sets and setup.rules.players not in self.players:
            players = ", ".join(map(str, self.players))
            raise ValueError(f"the study {self.name} is for {players} players, not {setup.rules.players}")
        if self.teams and not setup.rules.teams:
            raise ValueError(f"the study {self.name} is for teams; give rules with teams={self.teams}")
        if setup.deals < self.fewest:
            raise ValueError(f"the study {self.name} needs at least {self.fewest} deals, not {setup.deals}")
        self.needs(agents.make_known(setup.agent, setup.rules))


def run_study(
    study: Study, setup: Setup, folder: Path, command: str = "", executor: Executor = HERE,
    progress: Progress = lambda done, of: None,
) -> Answer:  # fmt: skip
    """Run a study, or resume one in the same folder, write its answer and its figure, and return the answer.

    Raises ValueError, and changes nothing, where the study can't use the setup, or the folder has another setup or is
    being written to.
    """
    study.check(setup)
    if not (folder / JOURNAL).exists() and (folder / RESULT).exists():
        raise ValueError(f"{folder} has a result without its {JOURNAL}, which is not overwritten; give another --out")
    weights = weights_of(setup.agent, agents.make_known(setup.agent, setup.rules))
    identity = {"study": study.name, **setup.to_json(), "weights_sha256": weights}
    about = {"command": command, "machine": machine()}
    with open_run(folder, Header("study", identity, about), executor) as run:
        answer = study.answer(setup, run.do_all(study.tasks(setup), progress))
        told = {"question": study.question, "runs": [{**identity, **run.about, **answer.to_json()}]}
        write_json(folder / RESULT, told)
        write_whole(folder / FIGURE, picture(study.question, answer))
    return answer


def picture(question: str, answer: Answer) -> bytes:
    """Return the figure of an answer as PNG, as high as its labels need."""
    figure = Figure(figsize=(8, 4.5), dpi=110, layout="constrained")
    axes = figure.subplots()
    if answer.draw:
        answer.draw(axes)
    else:
        draw_bars(axes, answer.figures)
    if axes.patches:
        figure.set_figheight(max(figure.get_figheight(), 0.45 * len(axes.get_yticks())))
    figure.suptitle(question, fontsize=11)
    return png_of(figure, dpi=110)
