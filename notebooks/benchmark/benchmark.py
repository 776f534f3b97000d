"""Learners at equal compute, graded on the ladder.

`python notebooks/benchmark/benchmark.py` trains each learner on each rung with three seeds, for 5 minutes of one core
each, and writes the table and the figure. The same command goes on with a run that was stopped. A learner of your own
is a file with a function `train(rules, seed, seconds)`: `--learner my_learner.py`.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import shlex
import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:  # workers, too, find the modules beside this file
    sys.path.insert(0, str(HERE))

from ladder import LADDER, Unfit, grade
from report import cells_of, table_of, write_report

from krypenv import Engine
from krypenv.training.runs import Header, Task, commit, machine, open_run

LEARNERS = ("ppo", "ppo_one_file", "dqn", "tianshou_dqn", "nfsp", "deep_cfr", "psro", "mmd", "cfr_plus", "solver")
AGENTS = ("random", "greedy", "tactician", "search(worlds=30)", "champion")
BUDGETS = (1 / 30, 1 / 5, 1.0)  # shares of the seconds after which a policy is graded


def train_of(text: str) -> partial[Any]:
    """Find the function `train` of a learner, a name or a file with options, as in `nfsp(rate=0.01)`.

    Raises ValueError for what is neither, for a file without that function, and for a library that is missing.
    """
    name = text.partition("(")[0]
    try:
        call = cast(ast.Call, ast.parse("f" + (text.removeprefix(name) or "()"), mode="eval").body)
    except SyntaxError:
        raise ValueError(f"options of a learner are written as in nfsp(rate=0.01), not as in {text!r}") from None
    path = HERE / "learners" / f"{name}.py" if name in LEARNERS else Path(name)
    if path.suffix != ".py" or not path.is_file():
        raise ValueError(
            f"a learner is one of {', '.join(LEARNERS)}, or a file with train(rules, seed, seconds), not {text!r}"
        )
    spec = importlib.util.spec_from_file_location(f"learner_{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise ValueError(f"the learner {text} can't be imported: {error}; give --learner others without it") from error
    train = getattr(module, "train", None)
    if not callable(train):
        raise ValueError(f"{path} has no function train(rules, seed, seconds)")
    return partial(train, **{str(option.arg): ast.literal_eval(option.value) for option in call.keywords})


def digest_of(player: str) -> str:
    """Digest a learner's own file, so that it is trained anew when it was edited; nothing for the benchmark's own."""
    file = Path(inspect.getfile(train_of(player).func))
    return "" if file.parent == HERE / "learners" else f"{hashlib.sha256(file.read_bytes()).hexdigest()[:8]} "


def learn(rung: str, player: str, seed: int, seconds: float, deals: int) -> dict[str, Any]:
    """Train a learner, and grade it after each budget of processor time; grading is not counted.

    A learner that yields its policy as it goes is trained once; one that returns it is trained for each budget.
    """
    game, grades, reason = LADDER[rung], [], ""
    engine = Engine(game.rules, 64, features=True)  # whose kernels are ready before the clock starts
    engine.step(engine.sample_actions())
    budgets = [seconds * share for share in BUDGETS]
    try:
        train = train_of(player)
        if inspect.isgeneratorfunction(train):
            policies, spent, policy = train(game.rules, seed, seconds), 0.0, None
            for budget in budgets:
                while spent < budget:
                    begun = time.process_time()
                    following = next(policies, None)
                    spent += time.process_time() - begun
                    if following is None:  # it has ended; its last policy stays
                        break
                    policy = following
                grades.append([round(spent, 1), grade(policy, game, deals)])
        else:
            grades = [[budget, grade(train(game.rules, seed, budget), game, deals)] for budget in budgets]
    except Unfit as error:
        reason = str(error)
    except Exception as error:  # a ValueError would read as a wrong argument of the command
        raise RuntimeError(f"the learner {player} failed on {rung} with seed {seed}") from error
    return {"rung": rung, "player": player, "seed": seed, "grades": grades, "reason": reason}


def grade_agent(rung: str, player: str, deals: int) -> dict[str, Any]:
    """Grade an agent of the package, which is not trained."""
    reason = "only for full games" if player == "champion" and LADDER[rung].is_solved else ""
    grades = [] if reason else [[0.0, grade(player, LADDER[rung], deals)]]
    return {"rung": rung, "player": player, "seed": 0, "grades": grades, "reason": reason}


def main(
    rung: Annotated[list[str], typer.Option(help="a rung of the ladder; repeatable")] = list(LADDER),  # noqa: B006
    learner: Annotated[list[str], typer.Option(help="a learner's name, or your file; repeatable")] = list(LEARNERS),  # noqa: B006
    seconds: Annotated[float, typer.Option(min=0.1, help="processor time of a training")] = 300,
    seeds: Annotated[int, typer.Option(min=1, help="trainings of each learner on each rung")] = 3,
    first_seed: Annotated[int, typer.Option(min=0, help="seed of the first of them")] = 0,
    deals: Annotated[int, typer.Option(min=2, help="duplicate deals of a margin")] = 1000,
    agent: Annotated[list[str], typer.Option(help="an agent to grade beside them; repeatable; or none")] = list(AGENTS),  # noqa: B006
    workers: Annotated[int, typer.Option(min=1, help="processes")] = 1,
    ray: Annotated[bool, typer.Option(help="work on a Ray cluster")] = False,
    out: Annotated[Path, typer.Option(help="folder of the results")] = Path("runs/benchmark"),
) -> None:
    """Train learners for the same time, and grade them on the ladder."""
    try:
        unknown = [name for name in rung if name not in LADDER]
        if unknown:
            raise ValueError(f"a rung is one of {', '.join(LADDER)}, not {unknown[0]!r}")
        digests = {player: digest_of(player) for player in learner}
        tasks = [
            Task(f"{name} {player} {digests[player]}{seed} {seconds:g} {deals}", learn, arguments)
            for seed in range(first_seed, first_seed + seeds) for name in rung for player in learner
            for arguments in [{"rung": name, "player": player, "seed": seed, "seconds": seconds, "deals": deals}]
        ]  # fmt: skip
        players = [name for name in agent if name != "none"]
        tasks[:0] = [
            Task(f"{name} {player} {deals}", grade_agent, {"rung": name, "player": player, "deals": deals})
            for name in rung for player in players
        ]  # fmt: skip
        about = {"command": shlex.join(sys.argv), "commit": commit(), "machine": machine()}
        header = Header("benchmark", {"ladder": {name: str(game.rules) for name, game in LADDER.items()}}, about)
        with open_run(out, header, workers, ray) as run:
            for task in run.do(tasks):
                typer.echo(f"done: {task.key}")
            cells = cells_of({task.key: run.results[task.key] for task in tasks})
            write_report(out, cells, [*players, *learner])
    except ValueError as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(2) from None
    for row in table_of(cells, [*players, *learner]):
        typer.echo("  ".join(f"{word:>24}" for word in row))
    typer.echo(f"wrote {out / 'table.csv'} and {out / 'figure.png'}")


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(main)
    app()
