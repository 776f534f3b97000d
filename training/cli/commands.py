"""The console command `krypenv`: train, imitate, evaluate, arena, analyze, exploit, bench, doctor, show."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from krypenv.rules import Rules
from krypenv.training.cli.bench import bench
from krypenv.training.cli.doctor import doctor
from krypenv.training.cli.errors import OneSentence
from krypenv.training.cli.options import command_of, hand_over
from krypenv.training.cli.score import score

app = typer.Typer(
    cls=OneSentence,
    no_args_is_help=True,
    add_completion=False,
    help="Krypkasino: train agents, evaluate them, show games, measure the speed.",
    epilog="Example: krypenv evaluate tactician --against greedy",
)

LIST = "dev|test|SEED"
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="also write the figures to this file")]


@app.callback()
def _root() -> None:
    """Let agents of one's own in the current directory be found, as `python -m` does, after all that is installed."""
    with contextlib.suppress(OSError):
        here = os.getcwd()
        if here not in sys.path:
            sys.path.append(here)


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
    deals_from: Annotated[str | None, typer.Option(metavar=LIST, help="deals; those of --seed if not given")] = None,
    threads: Annotated[int, typer.Option(min=0, help="threads of the engine, 0 for all processors")] = 1,
    json_file: Json = None,
) -> None:
    """Play duplicate matches of an agent against others and print the margins in points a game."""
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.common.report import write_json
    from krypenv.training.evaluation.matches import check_match, duplicate_match
    from krypenv.training.evaluation.report import print_matches

    check_files(json_file)
    game = _rules(rules, players, teams, rule, [agent])
    for opponent in against:
        check_match(agent, opponent, game, deals, seed, threads, deals_from)
    results = []
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        for opponent in against:
            task = bar.add_task(f"{agent} against {opponent}")
            results.append(
                duplicate_match(
                    agent, opponent, game, deals, seed, threads,
                    lambda done, total, task=task: bar.update(task, completed=done, total=total),  # type: ignore[misc]
                    deals_from,
                )
            )  # fmt: skip
    if json_file:
        write_json(json_file, {"matches": [result.to_json() for result in results]})
    typer.echo(f"{game}: {deals} deals of {results[0].deals_from}, {results[0].games} games, seed {seed}")
    print_matches(results)


@app.command(epilog="Example: krypenv arena tactician greedy random --deals 200 --out runs/arena")
def arena(
    out: Annotated[Path, typer.Option(metavar="DIR", help="folder of the results; an arena there is gone on with")],
    agents: Annotated[
        list[str] | None, typer.Argument(help="agents and models' folders; none to go on with the arena in DIR")
    ] = None,
    players: Annotated[int | None, typer.Option(help="number of players, 2 if not given")] = None,
    teams: Annotated[int | None, typer.Option(help="number of teams; none if not given")] = None,
    rules: Annotated[str | None, typer.Option(help="preset of the rules; a model's own if no rules are given")] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="a field of the rules to change")] = None,
    deals: Annotated[
        int | None, typer.Option(help=escape("deals of each match, played in all its seatings [default: 1000]"))
    ] = None,
    deals_from: Annotated[
        str | None, typer.Option(metavar=LIST, help=escape("where the deals come from [default: dev]"))
    ] = None,
    seed: Annotated[int | None, typer.Option(help=escape("seed of what the agents do at random [default: 0]"))] = None,
    chunk: Annotated[
        int | None, typer.Option(help=escape("deals that are played and written at once [default: 100]"))
    ] = None,
    first: Annotated[
        int | None, typer.Option(help=escape("only matches in which one of the first N agents plays [default: all]"))
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="with more than two sides: one agent against several of another")
    ] = False,
    precision: Annotated[
        float | None, typer.Option(metavar="POINTS", help="let a match rest when its margins are known to ± so much")
    ] = None,
    cheaters: Annotated[bool, typer.Option("--cheaters", help="allow agents that see what is hidden")] = False,
    workers: Annotated[int, typer.Option(help="processes; the figures don't depend on them")] = 1,
    ray: Annotated[bool, typer.Option("--ray", help="play on a Ray cluster")] = False,
    ray_address: Annotated[str | None, typer.Option(help="of the cluster, if Ray doesn't find it")] = None,
    report: Annotated[bool, typer.Option("--report", help="write a page of all figures, DIR/report.html")] = False,
    json_file: Json = None,
) -> None:
    """Let agents meet each other over duplicate deals, and print who beats whom by how much.

    The results are kept in DIR. Stopped or killed, the same command goes on where it was.
    """
    from krypenv.training.arena.arena import ArenaSettings, run_arena
    from krypenv.training.arena.results import facts, read_header
    from krypenv.training.arena.standings import print_standings, standings
    from krypenv.training.cli.outputs import check_files, check_folder
    from krypenv.training.common.report import write_json
    from krypenv.training.evaluation.deals import describe_list

    options: dict[str, Any] = {
        "deals": deals, "deals_from": deals_from, "seed": seed, "chunk": chunk, "pairs": pairs or None, "first": first,
        "precision": precision, "cheaters": cheaters or None,
    }  # fmt: skip
    given = {key: value for key, value in options.items() if value is not None}
    given |= {"workers": workers, "ray": ray or ray_address is not None, "ray_address": ray_address}
    if agents:
        game = _rules(rules, players, teams, rule, agents)
        settings = ArenaSettings(agents=tuple(agents), rules=game, out=out, **given)
    else:
        if rules or players or teams or rule:
            given["rules"] = _rules(rules, players, teams, rule, [])
        settings = ArenaSettings.of_folder(out, **given)
    check_folder(out)
    page = out / "report.html" if report else None
    check_files(json_file, page)

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:

        def show(done: int, total: int) -> None:
            if not bar.tasks:
                source = describe_list(settings.deals_from)
                typer.echo(
                    f"{settings.rules}: {len(settings.agents)} agents, {len(settings.matches)} matches, "
                    f"{settings.deals} deals of {source}, {total} games, {done} of them played"
                )
                bar.add_task("games", total=total, completed=done)
            bar.update(bar.task_ids[0], completed=done)

        games = run_arena(settings, show)
    table = standings(games)
    if page:
        from krypenv.training.arena.report import write_report

        write_report(page, table, games, settings.command, facts(read_header(out)))
    if json_file:
        write_json(json_file, {"arena": read_header(out), "standings": table.to_json()})
    if settings.precision and table.deals < settings.deals:
        typer.echo(f"stopped after {table.deals} deals: every pair's interval is at most ±{settings.precision:g}")
    print_standings(table)
    for sentence in games.forfeits:
        typer.echo(f"forfeit: {sentence}")


@app.command(epilog="Example: krypenv show game.krk")
def show(
    record: Annotated[str, typer.Argument(help="a text record of a game, or - for the standard input")],
) -> None:
    """Print a recorded game deal by deal."""
    from krypenv.game.display import format_playthrough
    from krypenv.training.cli.outputs import read_text

    typer.echo(format_playthrough(read_text(record)))


app.command(epilog="Example: krypenv bench --peers --json bench.json")(bench)
app.command(epilog="Example: krypenv score tactician --quick --out scores/tactician.json")(score)
app.command(epilog="Example: krypenv doctor --json doctor.json")(doctor)


@app.command(add_help_option=False, context_settings=_PASSED_ON)
def train(ctx: typer.Context) -> None:
    """Train an agent by self-play."""
    from krypenv.training.selfplay.settings import Settings

    def start(settings: Settings) -> None:
        """Train an agent by self-play and evaluate it."""
        from krypenv.training.cli.outputs import check_folder
        from krypenv.training.selfplay.selfplay import run

        check_folder(settings.resume or settings.out or "runs")
        run(settings)

    hand_over(ctx, command_of(Settings, start), "Example: krypenv train --preset good --out runs/good")


@app.command(add_help_option=False, context_settings=_PASSED_ON)
@app.command("teach", hidden=True, add_help_option=False, context_settings=_PASSED_ON)  # the name in older versions
def imitate(ctx: typer.Context) -> None:
    """Train a network to imitate a search: initial weights for self-play."""
    from krypenv.training.imitation.imitate import ImitationSettings

    def start(settings: ImitationSettings) -> None:
        """Record games of a search against itself with its value of every move, and train a network to imitate it."""
        from krypenv.training.cli.outputs import check_folder
        from krypenv.training.evaluation.report import print_matches
        from krypenv.training.imitation.imitate import run

        check_folder(settings.out)
        print_matches(run(settings, shlex.join(["krypenv", *sys.argv[1:]])))

    hand_over(ctx, command_of(ImitationSettings, start), "Example: krypenv imitate --games 4000 --out runs/imitation")


@app.command(epilog="Example: krypenv card runs/good/model --arena runs/arena --out card.md")
def card(
    model: Annotated[Path, typer.Argument(help="a model's folder")],
    arena: Annotated[Path, typer.Option(metavar="DIR", help="folder of an arena in which it played")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="the card, in Markdown")],
    exploit: Annotated[list[Path] | None, typer.Option(metavar="FILE", help="what exploit --json wrote of it")] = None,
    title: Annotated[str, typer.Option(help="its heading")] = "Model card",
) -> None:
    """Write the card of a model: how it was made, its margins, what exploiters gain, what it can't do."""
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.experiments.model_card import model_card, write_card

    check_files(out)
    write_card(out, model_card(model, arena, exploit or [], title))
    typer.echo(f"wrote {out}")


@app.command(add_help_option=False, context_settings=_PASSED_ON)
def ablate(ctx: typer.Context) -> None:
    """Measure what each part of the training is worth."""
    from krypenv.training.experiments.ablation import AblationSettings

    def start(settings: AblationSettings) -> None:
        """Train without each part in turn, over several seeds, and print what each is worth, with intervals."""
        from krypenv.training.cli.outputs import check_folder
        from krypenv.training.experiments.ablation import ablate

        check_folder(settings.out)
        ablate(settings, shlex.join(["krypenv", *sys.argv[1:]]))

    hand_over(ctx, command_of(AblationSettings, start), "Example: krypenv ablate --seeds 3 --out runs/ablation")


@app.command(add_help_option=False, context_settings=_PASSED_ON)
def exploit(ctx: typer.Context) -> None:
    """Find lower bounds on how far an agent can be exploited."""
    from krypenv.training.cli.exploit import run
    from krypenv.training.exploit.exploiting import ExploitSettings

    function = command_of(ExploitSettings, run, argument="agent")
    hand_over(ctx, function, "Example: krypenv exploit tactician --minutes 10 --out runs/exploit")


@app.command(add_help_option=False, context_settings=_PASSED_ON)
def analyze(ctx: typer.Context) -> None:
    """Tell what the moves of a position are expected to bring, or what those of a game gave away."""
    from krypenv.training.cli.analyze import analyze as start

    hand_over(ctx, start, "Example: krypenv analyze game.krk --worlds 200 --picture game.png")


def _rules(
    preset: str | None, players: int | None, teams: int | None, fields: list[str] | None, agents: list[str]
) -> Rules:
    """Return the rules that some options name; if none is given, those of the first model among some agents."""
    from krypenv.training.common.parts import GameRules

    return GameRules(preset or "", players, teams, tuple(fields or ())).of_agents(agents)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal has no letter for is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="krypenv")


if __name__ == "__main__":
    main()
