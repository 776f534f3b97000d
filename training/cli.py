"""The console command `krypenv`: train, evaluate, bench, show."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from krypenv.rules import Rules

try:
    import typer
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress
    from typer.core import TyperGroup
except ImportError:
    raise SystemExit('The krypenv command needs more than the bare package: pip install "krypenv[train]"') from None


class _OneSentence(TyperGroup):
    """Commands whose ValueErrors and missing files are told in one sentence, with exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ValueError as error:
            message = str(error)
        except OSError as error:
            message = f"{error.filename2 or error.filename}: {error.strerror}" if error.filename else str(error)
        typer.echo(f"krypenv: {message}", err=True)
        raise typer.Exit(2)


app = typer.Typer(
    cls=_OneSentence,
    no_args_is_help=True,
    add_completion=False,
    help="Krypkasino: train agents, evaluate them, show games, measure the speed.",
    epilog="Example: krypenv evaluate tactician --against greedy",
)

Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="also write the figures to this file")]


@app.callback()
def _root() -> None: ...


@app.command(
    epilog="Example: krypenv evaluate tactician --against greedy --against random --deals 500 --players 4 --teams 2"
)
def evaluate(
    agent: Annotated[str, typer.Argument(help="an agent, as in greedy or 'tactician(shed=True)', or a model's folder")],
    against: Annotated[list[str], typer.Option(metavar="AGENT", help="an opponent; give it once for each")],
    deals: Annotated[int, typer.Option(help="deals, each played from every side of the table")] = 1000,
    players: Annotated[int | None, typer.Option(help="number of players, 2 if not given")] = None,
    teams: Annotated[int | None, typer.Option(help="number of teams; none if not given")] = None,
    rules: Annotated[str | None, typer.Option(help="preset of the rules; a model's own if no rules are given")] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="a field of the rules to change")] = None,
    seed: Annotated[int, typer.Option(help="the same seed gives the same figures")] = 0,
    threads: Annotated[int, typer.Option(min=0, help="threads of the engine, 0 for all processors")] = 1,
    json_file: Json = None,
) -> None:
    """Play duplicate matches of an agent against others and print the margins in points a game."""
    from krypenv import agents
    from krypenv.training.evaluation import duplicate_match
    from krypenv.training.report import print_matches, write_json

    fields = [f"{key}={value}" for key, value in (("players", players), ("teams", teams)) if value is not None]
    fields += [word.replace(" ", "") for word in rule or ()]
    game = None if rules or fields else agents.rules_of(agent)
    game = game or Rules.parse(" ".join([rules or "krypkasino", *fields]))
    results = []
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        for opponent in against:
            task = bar.add_task(f"{agent} against {opponent}")
            results.append(
                duplicate_match(
                    agent, opponent, game, deals, seed, threads,
                    lambda done, total, task=task: bar.update(task, completed=done, total=total),  # type: ignore[misc]
                )
            )  # fmt: skip
    typer.echo(f"{game}: {deals} deals, {results[0].games} games, seed {seed}")
    print_matches(results)
    if json_file:
        write_json(json_file, {"matches": [result.to_json() for result in results]})


@app.command(epilog="Example: krypenv show game.krk")
def show(record: Annotated[Path, typer.Argument(help="a text record of a game")]) -> None:
    """Print a recorded game deal by deal."""
    text = record.read_text(encoding="utf-8")
    from krypenv.display import format_playthrough

    typer.echo(format_playthrough(text))


@app.command(epilog="Example: krypenv bench --peers --json bench.json")
def bench(
    peers: Annotated[
        bool, typer.Option("--peers", help="measure OpenSpiel and PettingZoo too, where installed")
    ] = False,
    seconds: Annotated[float, typer.Option(help="how long a rate is measured in each of three rounds")] = 1.0,
    games: Annotated[int, typer.Option(help="games at once in the batch engine")] = 4096,
    threads: Annotated[int, typer.Option(help="threads of the line on several threads")] = 2,
    json_file: Json = None,
) -> None:
    """Measure the speed of engine and environment."""
    from krypenv.training.benchmark import COLUMNS, Line, benchmark, table_row
    from krypenv.training.report import print_table, write_json

    console = Console(stderr=True)
    with console.status("measuring") as status:
        report = benchmark(games, seconds, threads, peers, status.update)
    typer.echo(", ".join(f"{key} {value}" for key, value in report["machine"].items()))
    print_table(COLUMNS, [table_row(Line(**line)) for line in report["lines"]])
    if json_file:
        write_json(json_file, report)


@app.command(add_help_option=False, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def train(ctx: typer.Context) -> None:
    """Train an agent by self-play."""
    from krypenv.training.settings import Settings

    def start(settings: Settings) -> None:
        """Train an agent by self-play and evaluate it."""
        from krypenv.training.selfplay import run

        run(settings)

    trainer = typer.Typer(add_completion=False)
    trainer.command(epilog="Example: krypenv train --minutes 10")(command_of(Settings, start))
    command = typer.main.get_command(trainer)
    with command.make_context("train", ctx.args, parent=ctx.parent) as own:
        command.invoke(own)


def command_of(settings: type, run: Callable[[Any], None]) -> Callable[..., None]:
    """Return a function for typer whose options are the fields of a dataclass, and which calls `run` with an instance.

    Every field has a default; `metadata["help"]` is its help; `tuple[X, ...]` is an option that may be given more than
    once.
    """
    hints, defaults = typing.get_type_hints(settings), settings()
    tuples = {name for name, kind in hints.items() if typing.get_origin(kind) is tuple}
    parameters = []
    for field in dataclasses.fields(settings):
        kind, default = hints[field.name], getattr(defaults, field.name)
        if field.name in tuples:
            kind, default = list[typing.get_args(kind)[0]], list(default)  # type: ignore[misc]
        option = typer.Option(help=escape(field.metadata["help"]))
        annotation = Annotated[kind, option]  # type: ignore[valid-type]
        parameters.append(
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )

    def command(**values: Any) -> None:
        run(settings(**{key: tuple(value) if key in tuples else value for key, value in values.items()}))

    command.__doc__ = run.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def main() -> None:
    """Run the command line."""
    app(prog_name="krypenv")


if __name__ == "__main__":
    main()
