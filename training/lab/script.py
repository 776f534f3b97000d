"""The command line of a study: a script of one's own ends with `lab.main(STUDY)`."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from krypenv.agents import label_of, typed
from krypenv.inputs.words import command_line, one_line
from krypenv.rules import Rules
from krypenv.runtime import stopping
from krypenv.training.lab.matches import strong_agent
from krypenv.training.lab.study import FIGURE, RESULT, Setup, Study, run_study
from krypenv.training.runs import Task, executor_of, limits
from krypenv.training.runs.progress import progress
from krypenv.training.runs.tables import print_table

MODULE = "study_"  # begins the names under which workers load scripts


def main(study: Study, words: Sequence[str] | None = None) -> None:
    """Run a study by the words of the command line: print its table, and write its answer and figure.

    Call it at the end of the script that defines the study as a variable. Workers load that file as a module, where
    this call does nothing. The same command resumes a study that was stopped. An error is one sentence, and the exit
    code then is 2.
    """
    script = sys._getframe(1).f_globals
    if script["__name__"].startswith(MODULE):
        return
    parser, given = parser_of(study), sys.argv[1:] if words is None else words
    it = parser.parse_args(given)
    try:
        _run(study, it, script, command_line(["python", sys.argv[0], *given]))
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: {one_line(str(error), 1000)}\n")
    except KeyboardInterrupt:
        parser.exit(stopping.EXIT_CODE, f"{parser.prog}: stopped; the same command resumes\n")


def parser_of(study: Study) -> argparse.ArgumentParser:
    """Return the command line of a study."""
    parser = argparse.ArgumentParser(description=study.question, allow_abbrev=False)
    add = parser.add_argument
    if study.sets:
        add("sets", nargs="*", metavar="RULES", help="rule sets, as in 'mini-low goal=high' [default: the study's own]")
    else:
        add("--rules", default="krypkasino", help="preset with its fields, as in 'krypkasino forced_sweep=False'")
        add("--players", type=int, help=f"number of players [default: that of the rules, or {study.players[0]}]")
    add("--agent", default=study.agent, help=f"who plays [default: {study.agent or 'a strong agent'}]")
    add("--deals", type=int, default=study.deals, help="number of deals [default: %(default)s]")
    add("--seed", type=int, default=0, help="seed of deals and agents [default: %(default)s]")
    add("--luck", default="off", help="take luck out of the margins of matches: auto, on or off [default: off]")
    add("--workers", type=int, default=1, help="processes, on which no figure depends [default: %(default)s]")
    add("--ray", action="store_true", help="work on a Ray cluster")
    add("--ray-address", help="address of the cluster; implies --ray")
    add("--out", type=Path, default=Path("runs") / study.name, help="folder of the answer [default: %(default)s]")
    return parser


def _run(study: Study, it: argparse.Namespace, script: dict[str, Any], command: str) -> None:
    """Run a study with what the command line says, and print its answer."""
    limits.check("deals", it.deals, limits.DEALS)
    limits.check("seed", it.seed, limits.SEED)
    sets = [Rules.parse(text) for text in it.sets or study.sets] if study.sets else []
    rules = sets[0] if sets else rules_of(study, it.rules, it.players)
    agent = typed(it.agent) if it.agent else strong_agent(rules)
    setup = Setup(rules, agent, it.deals, it.seed, it.luck, tuple(map(str, sets)))
    executor = executor_of(it.workers, it.ray, it.ray_address)
    if executor.sends and "__file__" in script:
        study = by_path(study, script)
    with progress(Console(stderr=True)) as show:
        answer = run_study(
            study, setup, it.out, command, executor, lambda done, of: show(done / max(of, 1), study.name)
        )
    played = ", ".join(setup.sets) or str(rules)
    print(f"{study.question} ({played}, {label_of(agent, rules)}, {setup.deals:,} deals)")
    print_table(*answer.table)
    print(f"wrote {it.out / RESULT} and {it.out / FIGURE}")


def rules_of(study: Study, text: str, players: int | None) -> Rules:
    """Return the rules of a text, where the study says how many players and teams there are unless the text does."""
    words = [text]
    if players or "players=" not in text:
        words.append(f"players={players or study.players[0]}")
    if study.teams and "teams=" not in text:
        words.append(f"teams={study.teams}")
    return Rules.parse(" ".join(words))


def by_path(study: Study, script: dict[str, Any]) -> Study:
    """Return a study of a script whose tasks travel as the path of the file and their keys.

    Raises ValueError if the study is no variable of the script.
    """
    file = str(Path(script["__file__"]).resolve())
    variable = next((name for name, value in script.items() if value is study), "")
    if not variable:
        raise ValueError(f"workers find the study {study.name} only if it is a variable of {file}")

    def tasks(setup: Setup) -> list[Task]:
        its = {"file": file, "variable": variable, "setup": setup}
        return [replace(each, function=_do, arguments={**its, "key": each.key}) for each in study.tasks(setup)]

    return replace(study, tasks=tasks)


def _do(file: str, variable: str, setup: Setup, key: str) -> Any:
    """Do a task of the study that is a variable of a file."""
    task = _tasks_of(file, variable, setup)[key]
    return task.function(**task.arguments)


@functools.cache
def _tasks_of(file: str, variable: str, setup: Setup) -> dict[str, Task]:
    study: Study = getattr(_load(Path(file)), variable)
    return {task.key: task for task in study.tasks(setup)}


@functools.cache
def _load(path: Path) -> Any:
    """Load a script as a module, which finds the modules that lie beside it."""
    spec = importlib.util.spec_from_file_location(f"{MODULE}{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file")
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module
