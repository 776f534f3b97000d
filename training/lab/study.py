"""What every study is: independent pieces of work, and an answer that is made from all their results.

The runner writes each result to a journal as it comes, so that a study that was stopped is resumed, and then the
answer's table, sentence and figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.base import check_krypkasino
from krypenv.agents.neural.model_file import read_card
from krypenv.inputs.files import append_whole, naming, read_file, write_whole
from krypenv.rules import Rules
from krypenv.training.arena.arena import weights_of
from krypenv.training.arena.result_lines import encode, parse
from krypenv.training.common.machine import machine
from krypenv.training.common.processes import pool_of
from krypenv.training.common.report import write_json

JOURNAL, RESULT, FIGURE = "journal.jsonl", "result.json", "figure.png"
Progress = Callable[[int, int], None]  # pieces of work done, of how many


@dataclass(frozen=True)
class Setup:
    """What a study is run with: whose play, by which rules, how much, from which seed."""

    rules: Rules
    agent: str  # who plays in general; interventions change one habit of it
    deals: int
    seed: int = 0
    models: tuple[str, ...] = ()  # folders, for a study that compares rule sets

    def __post_init__(self) -> None:
        agents.make_known(self.agent, self.rules)  # raises ValueError where there is none

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {"rules": str(self.rules), "agent": self.agent, "deals": self.deals, "seed": self.seed}


@dataclass(frozen=True)
class Task:
    """A piece of work: `function(**arguments)` returns plain JSON values; any process can do it."""

    key: str
    function: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What came out."""

    sentence: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    figures: dict[str, Any]  # the numbers behind it, as plain JSON values
    draw: Callable[[Axes], None]


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
    sets: Mapping[str, str] = field(default_factory=dict)  # rules by label, of a study that compares rule sets
    agent: str = ""  # whose play is studied, where the study says it

    @property
    def rules(self) -> Rules | None:
        """The first of the rule sets that are compared, None if the study is about any rules."""
        return Rules.parse(next(iter(self.sets.values()))) if self.sets else None

    def check(self, setup: Setup) -> None:
        """Raise ValueError for rules for which the study makes no sense, and for an agent that it can't change."""
        if self.sets and (setup.rules, setup.agent) != (self.rules, self.agent):
            raise ValueError(f"the study {self.name} has its own rules and agents; give neither")
        if setup.models and not self.sets:
            raise ValueError(f"the study {self.name} has no use for trained models; those that compare rules have")
        if not self.sets:
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
    study: Study, setup: Setup, folder: Path, command: str, workers: int = 1,
    progress: Progress = lambda done, tasks: None,
) -> Answer:  # fmt: skip
    """Run a study, or resume one in the same folder, write its files, and return its answer.

    Raises ValueError, and changes nothing, where the folder has another setup, or the study can't use this one.
    """
    study.check(setup)
    tasks = list(study.tasks(setup))
    weights = weights_of(setup.agent, agents.make_known(setup.agent, setup.rules))
    header: dict[str, Any] = {"study": study.name, **setup.to_json(), "weights_sha256": weights}
    if study.sets:
        trained = {str(agents.rules_of(folder)): read_card(folder)["weights_sha256"] for folder in setup.models}
        header |= {"sets": dict(study.sets), "models_sha256": trained}
    done = _read_journal(folder / JOURNAL, header)
    if not (folder / JOURNAL).exists() and (folder / RESULT).exists():
        raise ValueError(f"{folder} has a result without its {JOURNAL}, which is not overwritten; give another --out")
    left = [task for task in tasks if task.key not in done]
    progress(len(done), len(tasks))
    folder.mkdir(parents=True, exist_ok=True)
    with naming(folder / JOURNAL), (folder / JOURNAL).open("ab", buffering=0) as file, pool_of(_do, workers) as do:
        if not done and not file.tell():
            append_whole(file, encode(header))
        for key, result in do(left):
            done[key] = result
            append_whole(file, encode({"key": key, "result": result}))
            progress(len(done), len(tasks))
    answer = study.answer(setup, done)
    write_json(
        folder / RESULT,
        {
            **header, "question": study.question, "answer": answer.sentence, "columns": answer.columns,
            "rows": answer.rows, "figures": answer.figures, "command": command, "machine": machine(),
        },
    )  # fmt: skip
    write_whole(folder / FIGURE, picture(study, answer))
    return answer


def picture(study: Study, answer: Answer) -> bytes:
    """Return the figure of an answer as PNG."""
    import io

    figure = Figure(figsize=(8, 4.5), dpi=110, layout="constrained")
    axes = figure.subplots()
    answer.draw(axes)
    if axes.patches or len(study.sets) > 1:  # rows: as high as their labels need
        figure.set_figheight(max(4.5, 0.4 * len(axes.get_yticks())))
    figure.suptitle(study.question, fontsize=11)
    data = io.BytesIO()
    figure.savefig(data, format="png", metadata={"Software": None})
    return data.getvalue()


def _do(task: Task) -> tuple[str, Any]:
    return task.key, partial(task.function, **task.arguments)()


def _read_journal(path: Path, header: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a journal by key, without a last line that was cut off.

    A journal without results is no study yet: another one may begin in its place.
    """
    if not path.exists():
        return {}
    data = read_file(path)
    whole = data[: data.rfind(b"\n") + 1]
    try:
        lines = [parse(line, signed=True) for line in whole.split(b"\n")[:-1]]
        has_header = lines[0].keys() - {"crc"} == header.keys() if lines else encode(header).startswith(data)
        if not has_header:
            raise ValueError("no header of a study")
        done = {each["key"]: each["result"] for each in lines[1:]}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is torn or of another version; remove it to begin anew") from None
    if lines and {key: each for key, each in lines[0].items() if key != "crc"} != header:
        if done:
            raise ValueError(f"{path.parent} has a study with another setup; give another --out, or remove it")
        whole = b""
    if len(whole) < len(data):
        write_whole(path, whole)
    return done
