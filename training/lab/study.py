"""A study: a question, a list of tasks, and an answer computed from their results; its run and its command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import create_model

from krypenv import agents
from krypenv.agents import label_of
from krypenv.agents.base import is_main
from krypenv.agents.champion import shipped_model
from krypenv.inputs.words import command_line
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.meter import control_for, control_of
from krypenv.training.evaluation.matches.players import weights_of
from krypenv.training.lab.effects import draw_bars, table_of
from krypenv.training.runs import Header, Progress, Task as Task, open_run
from krypenv.training.runs.progress import bar_of
from krypenv.training.runs.tables import print_table, save_figure, write_json
from krypenv.training.settings import groups
from krypenv.training.settings.base import AgentName, File, check_number, option, output
from krypenv.training.settings.bridge import app_of

RESULT, FIGURE = "result.json", "figure.png"


@dataclass(frozen=True)
class Setup:
    """The setup of a study: rules, agent, number of deals and seed.

    Raises ValueError for a number out of bounds, for an agent that can't play by the rules, and for an unknown choice
    of luck.
    """

    rules: Rules
    agent: str
    deals: int
    seed: int = 0
    luck: str = "off"  # whether duplicate matches take it out of the margins: auto, on or off
    sets: tuple[str, ...] = ()  # rule sets that the study compares, if any

    def __post_init__(self) -> None:
        check_number("deals", self.deals, 2, groups.MOST_DEALS)  # a single one has no interval
        check_number("seed", self.seed, 0, groups.LARGEST_SEED)
        control_for(self.luck, [agents.make_known(self.agent, self.rules)], self.rules)

    def to_json(self) -> dict[str, Any]:
        """Convert the setup to plain JSON values, with a digest of each control variate."""
        identity = {"rules": str(self.rules), "agent": self.agent, "deals": self.deals, "seed": self.seed}
        sets = [Rules.parse(rules) for rules in self.sets]
        if self.luck != "off":
            identity["luck"] = [self.luck, *(control_of(rules).digest for rules in sets or [self.rules])]
        return {**identity, "sets": [str(rules) for rules in sets]} if sets else identity


@dataclass(frozen=True)
class Answer:
    """The figures of an answer as plain JSON values, with its table and its picture."""

    figures: Mapping[str, Any]
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] | None = None  # by default, with the columns, a table of all figures with an interval
    draw: Callable[[Axes], None] | None = None  # by default, bars of all figures with an interval

    @property
    def table(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """The columns and the rows of its table."""
        return table_of(self.figures) if self.rows is None else (self.columns, self.rows)


@dataclass(frozen=True)
class Study:
    """A question, its tasks, and how their results answer it."""

    name: str
    question: str
    tasks: Callable[[Setup], Sequence[Task]]  # raises ValueError for a setup that can't be studied
    answer: Callable[[Setup, dict[str, Any]], Answer]  # from the tasks' results by their keys
    deals: int  # by default
    rules: str = "krypkasino"  # by default
    agent: str = ""  # by default; empty for a strong agent
    sets: tuple[str, ...] = ()  # rule sets that the study compares by default, if any
    any_rules: bool = False  # whether the study accepts games that are not like Krypkasino


def run_study(
    study: Study, setup: Setup, folder: Path, command: str = "", workers: int = 1, ray: bool = False,
    progress: Progress = lambda done, of: None,
) -> Answer:  # fmt: skip
    """Run a study, or resume one in the same folder; write its answer and its figure, and return the answer.

    Raises ValueError, and changes nothing, if the study can't use the setup, or the folder holds another setup or is
    being written to.
    """
    if not (study.sets or study.any_rules or is_main(setup.rules)):
        raise ValueError(f"the study {study.name} knows only games like Krypkasino, not '{setup.rules}'")
    tasks = study.tasks(setup)
    weights = weights_of(setup.agent, agents.make_known(setup.agent, setup.rules))
    identity = {"study": study.name, **setup.to_json(), "weights_sha256": weights}
    with open_run(folder, Header("study", identity, {"command": command}), workers, ray) as run:
        answer = study.answer(setup, run.do_all(tasks, progress))
        columns, rows = answer.table
        fields = {**identity, **run.about, "columns": columns, "rows": rows, "figures": answer.figures}
        write_json(folder / RESULT, {"question": study.question, "runs": [fields]})
        figure = Figure(figsize=(8, 4.5), dpi=110, layout="constrained")
        axes = figure.subplots()
        answer.draw(axes) if answer.draw else draw_bars(answer.figures, axes)
        if axes.patches:  # bars: a height that fits their labels
            figure.set_figheight(max(figure.get_figheight(), 0.45 * len(axes.get_yticks())))
        figure.suptitle(study.question, fontsize=11)
        save_figure(folder / FIGURE, figure, dpi=110)
    return answer


# ---------------------------------------------------------------------- the command line


def main(study: Study, words: Sequence[str] | None = None) -> None:
    """Run a study from the command line: print its table, and write its answer and figure.

    Call it at the end of the script that defines the study. The same command resumes a study that was stopped. An error
    is one sentence, with exit code 2.
    """
    arguments = list(sys.argv[1:] if words is None else words)

    def run(settings: Any) -> None:
        sets = tuple(str(Rules.parse(text)) for text in settings.sets) if study.sets else ()
        rules = Rules.parse(sets[0]) if sets else settings.game_rules()
        setup = Setup(rules, settings.agent or strong_agent(rules), settings.deals, settings.seed, settings.luck, sets)
        command = command_line("python", sys.argv[0], *arguments)
        with bar_of(study.name) as show:
            answer = run_study(study, setup, settings.out, command, settings.workers, settings.ray, show)
        print(f"{study.question} ({', '.join(sets) or rules}, {label_of(setup.agent, rules)}, {setup.deals:,} deals)")
        print_table(*answer.table)
        print(f"wrote {settings.out / RESULT} and {settings.out / FIGURE}")

    run.__doc__ = study.question
    if code := app_of(_settings_of(study), run)(arguments, prog_name=Path(sys.argv[0]).name, standalone_mode=False):
        sys.exit(code)


def _settings_of(study: Study) -> type[groups.Place]:
    """Make the settings of a study's command line, of one game or of several rule sets."""
    fields: dict[str, Any] = {
        "agent": (AgentName | None, option(study.agent or None, "who plays [default: a strong agent]", groups.AGENTS)),
        "deals": (int, option(study.deals, "number of deals", groups.LENGTH, ge=2, le=groups.MOST_DEALS)),
        "seed": (int, groups.seed_option("seed of deals and agents")),
        "luck": (groups.Luck, option("off", "take luck out of the margins of matches", groups.LENGTH)),
        "out": (File, output(Path("runs") / study.name, "folder of the answer", "DIR")),
    }
    bases: Any = groups.Place if study.sets else (groups.GameSettings, groups.Place)
    if study.sets:
        fields["sets"] = tuple[str, ...], option(study.sets, "rule sets", metavar="RULES", is_argument=True)
    else:
        fields["rules"] = str | None, option(study.rules, "preset of the rules", groups.RULES, decides=False)
    settings: type[groups.Place] = create_model("StudySettings", __base__=bases, **fields)
    return settings


def strong_agent(rules: Rules) -> str:
    """Choose a strong and quick agent's string: the package's network for the rules, or a small search."""
    return "champion(worlds=0)" if shipped_model(rules) else "search(worlds=10, plies=0)"
