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
from krypenv.training.runs import limits
from krypenv.training.runs.panels import GAME_RECORDS, LENGTH, OUTPUT, RULES

if TYPE_CHECKING:
    from krypenv.one_game import Game
    from krypenv.rules import Rules
    from krypenv.training.research.exact.solving import Solved

MOST_BELIEFS = 10  # hands that are listed
SIZES = ("preset", "cards", "histories", "ends", "information sets", "value", "seconds")


def solve(
    preset: Annotated[
        str | None,
        typer.Argument(
            metavar="PRESET|DIR", help="preset of the rules, as in mini-sweep; with --at also the folder of a strategy"
        ),
    ] = None,
    rule: RuleFields = None,
    listed: Annotated[
        bool, flag("--list", RULES, "solve every preset that is made for it, and print how large they are")
    ] = False,
    gap: Annotated[float, option(panel=LENGTH, metavar="POINTS", help="exploitability to reach")] = 1e-4,
    iterations: Annotated[int, option(panel=LENGTH, help="iterations for a deal, at most")] = 20_000,
    threads: Annotated[int, option(panel=LENGTH, min=0, help="threads; 0 for one per processor")] = 0,
    at: Annotated[
        str | None,
        option(
            panel=GAME_RECORDS,
            metavar="POSITION|RECORD",
            help="show what the strategy does there: a file, the text itself, or - for the standard input",
            default="none",
        ),
    ] = None,
    out: Annotated[
        Path | None, option(panel=OUTPUT, metavar="DIR", help="folder for the strategy", default="none")
    ] = None,
) -> None:
    """Compute an equilibrium of a small game for two players.

    The strategy in DIR is an agent: its folder can be named wherever an agent is. Values are margins of the first seat,
    in points a game. If it is killed, the same command with --out goes on where it was.
    """
    from krypenv.agents.solved import is_strategy
    from krypenv.rules import Rules
    from krypenv.training.research.exact.growing import SOLVED

    limits.check("gap", gap, limits.GAP)
    limits.check("iterations", iterations, limits.ITERATIONS)
    if listed == (preset is not None):
        raise ValueError("name one preset, as in krypenv solve mini-sweep, or list them all with --list")
    if listed and at:
        raise ValueError("--at shows one strategy, and --list solves many games; name the game of the position")
    if preset is not None and is_strategy(preset):
        if at is None:
            raise ValueError(f"{preset} is solved; --at shows what its strategy does at a position")
        if rule or out:
            raise ValueError(f"{preset} has its own rules, and is saved; leave out --rule and --out")
        _look(preset, at)
    elif listed:
        _list([Rules.parse(" ".join([name, *(rule or ())])) for name in SOLVED], gap, iterations, threads)
    else:
        _solve(Rules.parse(" ".join([preset or "", *(rule or ())])), gap, iterations, threads, out, at)


def _solve(rules: Rules, gap: float, iterations: int, threads: int, out: Path | None, at: str | None) -> None:
    from krypenv.training.cli.outputs import check_folder
    from krypenv.training.research.exact.looking import check_position
    from krypenv.training.research.exact.solving import solve as solve_game
    from krypenv.training.research.exact.strategies import solve_into

    game = _game_at(at) if at else None
    if game:
        check_position(rules, game[0])
    if out:
        check_folder(out)
    start = time.perf_counter()
    with Console(stderr=True).status(f"solving {rules}"):
        if out:
            command = shlex.join(["krypenv", *sys.argv[1:]])
            solved = solve_into(out, rules, gap, iterations, threads, command=command)
        else:
            solved = solve_game(rules, gap, iterations, threads, sees=bool(game))
    typer.echo(
        f"{rules}: the first seat can expect {solved.value:+.4f} points; the strategy can be exploited by "
        f"{max(solved.exploitability, 0.0):.1e} points at most ({time.perf_counter() - start:.1f} s)"
    )
    if out:
        typer.echo(f"wrote {out}, which names an agent: krypenv evaluate {out} --against tactician")
    if game:
        _print_look(solved, *game)


def _game_at(source: str) -> tuple[Game, bool]:
    """Return the game of a position or a record, and whether its plays are known."""
    from krypenv.one_game import Game
    from krypenv.training.cli.analyze import is_record, read_source

    text = read_source(source)
    return (Game.replay(text), True) if is_record(text) else (Game.from_position(text), False)


def _look(folder: str, at: str) -> None:
    """Print what a saved strategy does at a position."""
    from krypenv.rules import Rules
    from krypenv.training.research.exact.looking import check_position, load_facts, load_solved

    game = _game_at(at)
    check_position(Rules.parse(load_facts(folder)["rules"]), game[0])
    with Console(stderr=True).status(f"reading {folder}"):
        solved = load_solved(folder)
    _print_look(solved, *game)


def _print_look(solved: Solved, game: Game, knows_plays: bool) -> None:
    from krypenv.training.research.exact.looking import look
    from krypenv.training.runs.tables import print_table

    found = look(solved, game, knows_plays)
    hand, table = (" ".join(cards) or "empty" for cards in (game.hand(found.seat), game.table))
    typer.echo(f"{game.rules}: seat {found.seat} in deal {game.deal_number}; hand {hand}; table {table}")
    if len(found.moves) == 1:
        typer.echo(f"It has no choice: {found.moves[0].move} is the only move.")
        return
    if found.histories > 1:
        typer.echo(
            f"{found.histories} sequences of plays lead to this position, and the strategy may differ between them; "
            "this is the likeliest one. A record tells which it was."
        )
    if not found.comes_here:
        typer.echo("The seat's own strategy never comes here, so what it would do here is worth little.")
    if not found.is_explained:
        typer.echo("The other seat's strategy never comes here, so all hands that it may hold count alike.")
    rows = [(each.move, f"{each.probability:.1%}", f"{each.margin:+.4f}") for each in found.moves]
    print_table(("move", "probability", "margin"), rows)
    typer.echo(f"margin: what the seat can expect of this deal and those after it; {found.margin:+.4f} in all")
    print_table(
        ("other hand", "belief"),
        [(" ".join(each.hand) or "empty", f"{each.probability:.1%}") for each in found.beliefs[:MOST_BELIEFS]],
    )
    if rest := found.beliefs[MOST_BELIEFS:]:
        typer.echo(f"and {len(rest)} other hands, {sum(each.probability for each in rest):.1%} together")


def _list(games: list[Rules], gap: float, iterations: int, threads: int) -> None:
    from krypenv.training.research.exact.counting import size_of
    from krypenv.training.research.exact.growing import grow
    from krypenv.training.research.exact.solving import solve as solve_game
    from krypenv.training.runs.tables import print_table

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
    typer.echo("information sets: of each seat, without the order in which the cards of a capture were named")
