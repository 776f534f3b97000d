"""The command line of a study: a script of one's own ends with `lab.main(STUDY)`."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import sys
from collections.abc import Iterator, Sequence
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

_loading = False  # whether a worker is loading a script, whose call of `main` then means nothing


def main(study: Study, words: Sequence[str] | None = None) -> None:
    """Run a study by the words of the command line: print its table, and write its answer and figure.

    Call it at the end of the script that defines the study as a variable. Workers load that file as a module. The same
    command resumes a study that was stopped. An error is one sentence, with exit code 2.
    """
    if _loading:
        return
    script, parser = sys._getframe(1).f_globals, _parser(study)
    it = parser.parse_args(words)
    try:
        if it.seed is not None:
            limits.check("seed", it.seed, limits.SEED)
        _run(study, it, script, command_line(["python", *sys.argv]))
    except (ValueError, OSError, ChildProcessError) as error:
        parser.exit(2, f"{parser.prog}: {one_line(str(error), 1000)}\n")
    except KeyboardInterrupt:
        parser.exit(stopping.EXIT_CODE, f"{parser.prog}: stopped; the same command resumes\n")


def _parser(study: Study) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=study.question, allow_abbrev=False)
    add = parser.add_argument
    if study.sets:
        add("sets", nargs="*", metavar="RULES", help="rule sets, as in 'mini-low goal=high' [default: the study's own]")
    else:
        add("--rules", default="krypkasino", help="preset with its fields, as in 'krypkasino forced_sweep=False'")
        add("--players", type=int, default=study.players[0], help="number of players [default: %(default)s]")
    add("--agent", default=study.agent or None, help="who plays [default: %(default)s, or a strong agent]")
    add("--deals", type=int, default=study.deals, help="number of deals [default: %(default)s]")
    add("--seed", type=int, default=0, help="seed of deals and agents [default: %(default)s]")
    add("--luck", default="off", help="take luck out of the margins of matches: auto, on or off [default: off]")
    add("--workers", type=int, default=1, help="processes; the figures don't depend on their number")
    add("--ray", action="store_true", help="work on a Ray cluster")
    add("--ray-address", help="address of the cluster; implies --ray")
    add("--out", type=Path, default=Path("runs") / study.name, help="folder of the answer [default: %(default)s]")
    return parser


def _run(study: Study, it: Any, script: dict[str, Any], command: str) -> None:
    """Run a study with what the command line says, and print its answer."""
    sets = tuple(str(Rules.parse(each)) for each in (it.sets or study.sets)) if study.sets else ()
    if sets:
        rules = Rules.parse(sets[0])
    else:
        teams = f" teams={study.teams}" if study.teams and "teams=" not in it.rules else ""
        rules = Rules.parse(f"{it.rules} players={it.players}{teams}")
    agent = typed(it.agent) if it.agent else strong_agent(rules)
    setup = Setup(rules, agent, it.deals, it.seed, luck=it.luck, sets=sets)
    executor = executor_of(it.workers, it.ray, it.ray_address)
    study.check(setup)
    if executor.sends and script.get("__file__"):
        names = [name for name, value in script.items() if value is study]
        if not names:
            raise ValueError(f"workers find the study {study.name} only if it is a variable of {script['__file__']}")
        study = _by_path(study, str(Path(script["__file__"]).resolve()), names[0])
    with progress(Console(stderr=True)) as show:
        answer = run_study(
            study, setup, it.out, command, executor, lambda done, of: show(done / max(of, 1), study.name)
        )
    print(f"{study.question} ({', '.join(sets) or rules}, {label_of(agent, rules)}, {setup.deals:,} deals)")
    print_table(*answer.table)
    print(f"wrote {it.out / RESULT} and {it.out / FIGURE}")


def _by_path(study: Study, file: str, variable: str) -> Study:
    """Return a study whose tasks travel as the file of the study and their keys."""

    def tasks(setup: Setup) -> list[Task]:
        arguments = {"file": file, "variable": variable, "setup": setup}
        return [replace(each, function=_do, arguments={**arguments, "key": each.key}) for each in study.tasks(setup)]

    return replace(study, tasks=tasks)


def _do(file: str, variable: str, setup: Setup, key: str) -> Any:
    """Do the task of a study that is defined in a file."""
    task = _tasks(file, variable, setup)[key]
    return task.function(**task.arguments)


@functools.cache
def _tasks(file: str, variable: str, setup: Setup) -> dict[str, Task]:
    study: Study = getattr(_load(file), variable)
    return {task.key: task for task in study.tasks(setup)}


@functools.cache
def _load(file: str) -> Any:
    """Load a script as a module, with the modules that lie beside it."""
    path = Path(file)
    spec = importlib.util.spec_from_file_location(f"study_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    with _as_module():
        spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _as_module() -> Iterator[None]:
    global _loading
    _loading = True
    try:
        yield
    finally:
        _loading = False
