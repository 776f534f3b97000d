"""`krypenv solve`."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from krypenv.training.cli.options import RuleFields, flag, option
from krypenv.training.common import bounds
from krypenv.training.common.panels import LENGTH, OUTPUT, RULES

if TYPE_CHECKING:
    from krypenv.rules import Rules

SIZES = ("preset", "cards", "histories", "ends", "information sets", "value", "seconds")


def solve(
    preset: Annotated[str | None, typer.Argument(help="preset of the rules, as in mini-sweep")] = None,
    rule: RuleFields = None,
    listed: Annotated[
        bool, flag("--list", RULES, "solve every preset that is made for it, and print how large they are")
    ] = False,
    gap: Annotated[float, option(panel=LENGTH, metavar="POINTS", help="exploitability to reach")] = 1e-4,
    iterations: Annotated[int, option(panel=LENGTH, help="iterations for a deal, at most")] = 20_000,
    threads: Annotated[int, option(panel=LENGTH, min=0, help="threads; 0 for one per processor")] = 0,
    out: Annotated[
        Path | None, option(panel=OUTPUT, metavar="DIR", help="folder for the strategy", default="none")
    ] = None,
) -> None:
    """Compute an equilibrium of a small game for two players.

    The strategy in DIR is an agent: its folder can be named wherever an agent is. Values are margins of the first seat,
    in points a game.
    """
    from krypenv.rules import Rules
    from krypenv.training.exact.growing import SOLVED

    bounds.check("gap", gap, bounds.GAP)
    bounds.check("iterations", iterations, bounds.ITERATIONS)
    if listed == (preset is not None):
        raise ValueError("name one preset, as in krypenv solve mini-sweep, or list them all with --list")
    if listed:
        _list([Rules.parse(" ".join([name, *(rule or ())])) for name in SOLVED], gap, iterations, threads)
    else:
        _solve(Rules.parse(" ".join([preset or "", *(rule or ())])), gap, iterations, threads, out)


def _solve(rules: Rules, gap: float, iterations: int, threads: int, out: Path | None) -> None:
    from krypenv.training.cli.outputs import check_folder
    from krypenv.training.exact.solving import solve as solve_game
    from krypenv.training.exact.strategies import save

    if out:
        check_folder(out)
    start = time.perf_counter()
    with Console(stderr=True).status(f"solving {rules}"):
        solved = solve_game(rules, gap, iterations, threads, sees=out is not None)
    seconds = time.perf_counter() - start
    typer.echo(
        f"{rules}: the first seat can expect {solved.value:+.4f} points; the strategy can be exploited by "
        f"{max(solved.exploitability, 0.0):.1e} points at most ({seconds:.1f} s)"
    )
    if out:
        save(out, solved, command=shlex.join(["krypenv", *sys.argv[1:]]), seconds=round(seconds, 1))
        typer.echo(f"wrote {out}, which names an agent: krypenv evaluate {out} --against tactician")


def _list(games: list[Rules], gap: float, iterations: int, threads: int) -> None:
    from krypenv.training.common.report import print_table
    from krypenv.training.exact.counting import size_of
    from krypenv.training.exact.growing import grow
    from krypenv.training.exact.solving import solve as solve_game

    rows = []
    for rules in games:
        size = size_of(grow(rules, keeps_all=True))
        start = time.perf_counter()
        solved = solve_game(rules, gap, iterations, threads)
        seconds = time.perf_counter() - start
        own, other = size.infosets
        rows.append(
            (
                rules.name, str(rules.deck_size), f"{size.histories:,.0f}", f"{size.terminals:,.0f}",
                f"{own:,.0f} + {other:,.0f}", f"{solved.value:+.4f}", f"{seconds:.1f}",
            )
        )  # fmt: skip
    print_table(SIZES, rows)
