"""The console command `krypenv` and its subcommands."""

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
from rich.progress import Progress

from krypenv.rules import Rules
from krypenv.training.cli.bench import bench
from krypenv.training.cli.compare import compare
from krypenv.training.cli.doctor import doctor
from krypenv.training.cli.errors import OneSentence
from krypenv.training.cli.options import (
    DEALS_FROM,
    HelpPanel,
    JsonFile,
    OnRay,
    Page,
    Players,
    Preset,
    RayAddress,
    RuleFields,
    Teams,
    Workers,
    command_of,
    flag,
    hand_over,
    option,
)
from krypenv.training.cli.play import play
from krypenv.training.cli.score import score
from krypenv.training.cli.show import show
from krypenv.training.cli.solve import solve
from krypenv.training.cli.study import study
from krypenv.training.runs.panels import AGENTS, INPUT, LENGTH, OUTPUT


class Root(HelpPanel, OneSentence):
    """The command `krypenv`."""


app = typer.Typer(
    cls=Root,
    no_args_is_help=True,
    add_completion=False,
    help="Krypkasino: train agents, evaluate them, analyze games, measure speed.",
    epilog="Example: krypenv evaluate tactician --against greedy",
)

_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}
TRAINING, PLAYING, INSTALLATION = "Training", "Playing and measuring agents", "Installation"


@app.callback()
def _root() -> None:
    """Make custom agents in the current directory importable, as `python -m` does, after all installed packages."""
    with contextlib.suppress(OSError):
        here = os.getcwd()
        if here not in sys.path:
            sys.path.append(here)


@app.command(
    cls=Page,
    rich_help_panel=PLAYING,
    epilog="Example: krypenv evaluate tactician --against greedy --against random --deals 500 --players 4 --teams 2",
)
def evaluate(
    agent: Annotated[str, typer.Argument(help="an agent, as in greedy or 'tactician(shed=True)', or a model folder")],
    against: Annotated[list[str], option(panel=AGENTS, metavar="AGENT", help="an opponent; repeatable")],
    rules: Preset = None,
    players: Players = None,
    teams: Teams = None,
    rule: RuleFields = None,
    deals: Annotated[int, option(panel=LENGTH, help="deals, each played from every side of the table")] = 1000,
    deals_from: Annotated[
        str | None, option(panel=LENGTH, metavar=DEALS_FROM, help="list or seed of the deals", default="that of --seed")
    ] = None,
    seed: Annotated[int, option(panel=LENGTH, help="seed; the same seed gives the same figures")] = 0,
    threads: Annotated[int, option(panel=LENGTH, min=0, help="threads of the engine; 0 for one per processor")] = 1,
    json_file: JsonFile = None,
) -> None:
    """Play duplicate matches of an agent against others and print the margins in points a game."""
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.evaluation.matches.duplicate import check_match, duplicate_match
    from krypenv.training.evaluation.matches.match_tables import print_matches
    from krypenv.training.runs.tables import write_json

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


@app.command(
    cls=Page,
    rich_help_panel=PLAYING,
    epilog="Example: krypenv arena tactician greedy random --deals 200 --out runs/arena",
)
def arena(
    agents: Annotated[
        list[str] | None, typer.Argument(help="agents and model folders; none to resume the arena in DIR")
    ] = None,
    *,
    rules: Preset = None,
    players: Players = None,
    teams: Teams = None,
    rule: RuleFields = None,
    first: Annotated[
        int | None, option(panel=AGENTS, help="only play matches with one of the first N agents", default="all matches")
    ] = None,
    pairs: Annotated[
        bool, flag("--pairs", AGENTS, "with more than two sides: one agent against several copies of another")
    ] = False,
    cheaters: Annotated[bool, flag("--cheaters", AGENTS, "allow agents that see hidden cards")] = False,
    deals: Annotated[
        int | None, option(panel=LENGTH, help="deals of each match, each played in all seatings", default="1000")
    ] = None,
    deals_from: Annotated[
        str | None, option(panel=LENGTH, metavar=DEALS_FROM, help="list or seed of the deals", default="dev")
    ] = None,
    seed: Annotated[int | None, option(panel=LENGTH, help="seed of the agents' random choices", default="0")] = None,
    chunk: Annotated[int | None, option(panel=LENGTH, help="deals to play and write at a time", default="100")] = None,
    precision: Annotated[
        float | None,
        option(
            panel=LENGTH,
            metavar="POINTS",
            help="end a match once its 95% intervals are at most ± POINTS",
            default="play all deals",
        ),
    ] = None,
    workers: Workers = 1,
    ray: OnRay = False,
    ray_address: RayAddress = None,
    out: Annotated[
        Path, option(panel=OUTPUT, metavar="DIR", help="folder of the results; an arena in this folder is resumed")
    ],
    report: Annotated[bool, flag("--report", OUTPUT, "write a page of all figures, DIR/report.html")] = False,
    json_file: JsonFile = None,
) -> None:
    """Play a tournament of agents over duplicate deals, and print who beats whom and by how much.

    The results are stored in DIR. If the arena is stopped or killed, the same command resumes it.
    """
    from krypenv.training.cli.outputs import check_files, check_folder
    from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
    from krypenv.training.evaluation.arena.standings import print_standings, standings
    from krypenv.training.evaluation.arena.stored_games import facts, read_results
    from krypenv.training.evaluation.matches.deal_lists import describe_list
    from krypenv.training.runs.tables import write_json

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
        from krypenv.training.evaluation.arena.html_report import write_report

        write_report(page, table, games, settings.command, facts(read_results(out).header))
    if json_file:
        write_json(json_file, {"arena": read_results(out).header._asdict(), "standings": table.to_json()})
    if settings.precision and table.deals < settings.deals:
        typer.echo(f"stopped after {table.deals} deals: every pair's interval is at most ±{settings.precision:g}")
    print_standings(table)
    for sentence in games.forfeits:
        typer.echo(f"forfeit: {sentence}")


@app.command(rich_help_panel=TRAINING, add_help_option=False, context_settings=_PASSED_ON)
def train(ctx: typer.Context) -> None:
    """Train an agent by self-play."""
    from krypenv.training.learn.selfplay.settings import Settings

    def start(settings: Settings) -> None:
        """Train an agent by self-play and evaluate it. The defaults below are those of the preset quick."""
        from krypenv.training.cli.outputs import check_folder
        from krypenv.training.learn.selfplay.selfplay import train

        check_folder(settings.resume or settings.out or "runs")
        train(settings)

    hand_over(ctx, command_of(Settings, start), "Example: krypenv train --preset good --out runs/good")


@app.command(rich_help_panel=TRAINING, add_help_option=False, context_settings=_PASSED_ON)
def imitate(ctx: typer.Context) -> None:
    """Train a network to imitate a search: initial weights for self-play."""
    from krypenv.training.learn.imitation.imitate import ImitationSettings

    def start(settings: ImitationSettings) -> None:
        """Record games of a search against itself with the values of all moves, and train a network to imitate it."""
        from krypenv.training.cli.outputs import check_folder
        from krypenv.training.evaluation.matches.match_tables import print_matches
        from krypenv.training.learn.imitation.imitate import run_imitation

        check_folder(settings.out)
        print_matches(run_imitation(settings, shlex.join(["krypenv", *sys.argv[1:]])))

    hand_over(ctx, command_of(ImitationSettings, start), "Example: krypenv imitate --games 4000 --out runs/imitation")


@app.command(
    cls=Page,
    rich_help_panel=TRAINING,
    epilog="Example: krypenv card runs/good/model --arena runs/arena --out card.md",
)
def card(
    model: Annotated[Path, typer.Argument(help="model folder")],
    arena: Annotated[Path, option(panel=INPUT, metavar="DIR", help="folder of an arena in which the model played")],
    out: Annotated[Path, option(panel=OUTPUT, metavar="FILE", help="file to write the card to, in Markdown")],
    exploit: Annotated[
        list[Path] | None,
        option(
            panel=INPUT,
            metavar="FILE",
            help="a file of krypenv exploit --json for the model; repeatable",
            default="none, exploitability not measured",
        ),
    ] = None,
    title: Annotated[str, option(panel=OUTPUT, help="heading of the card")] = "Model card",
) -> None:
    """Write the card of a model: its training, results, exploitability and limits."""
    from krypenv.training.cli.outputs import check_files
    from krypenv.training.evaluation.arena.model_card import model_card, write_card

    check_files(out)
    write_card(out, model_card(model, arena, exploit or [], title))
    typer.echo(f"wrote {out}")


@app.command(rich_help_panel=TRAINING, add_help_option=False, context_settings=_PASSED_ON)
def ablate(ctx: typer.Context) -> None:
    """Measure what each part of training is worth."""
    from krypenv.training.research.ablation import AblationSettings

    def start(settings: AblationSettings) -> None:
        """Train without each part in turn, over several seeds, and print what each part is worth, with intervals."""
        from krypenv.training.cli.outputs import check_folder
        from krypenv.training.research.ablation import ablate

        check_folder(settings.out)
        ablate(settings, shlex.join(["krypenv", *sys.argv[1:]]))

    hand_over(ctx, command_of(AblationSettings, start), "Example: krypenv ablate --seeds 3 --out runs/ablation")


@app.command(rich_help_panel=PLAYING, add_help_option=False, context_settings=_PASSED_ON)
def exploit(ctx: typer.Context) -> None:
    """Find lower bounds on an agent's exploitability."""
    from krypenv.training.cli.exploit import run
    from krypenv.training.research.exploit.exploiting import ExploitSettings

    function = command_of(ExploitSettings, run, argument="agent")
    hand_over(ctx, function, "Example: krypenv exploit tactician --minutes 10 --out runs/exploit")


@app.command(rich_help_panel=PLAYING, add_help_option=False, context_settings=_PASSED_ON)
def analyze(ctx: typer.Context) -> None:
    """Evaluate each legal move of a position, or the moves of a recorded game."""
    from krypenv.training.cli.analyze import analyze as start

    hand_over(ctx, start, "Example: krypenv analyze game.krk --worlds 200 --picture game.png")


app.command(cls=Page, rich_help_panel=PLAYING, epilog="Example: krypenv play --rules kasino-sweden")(play)
app.command(cls=Page, rich_help_panel=PLAYING, epilog="Example: krypenv show game.krk --gif game.gif")(show)
app.command(
    cls=Page,
    rich_help_panel=PLAYING,
    epilog="Example: krypenv score tactician --quick --out scores/tactician.json",
)(score)
app.command(cls=Page, rich_help_panel=PLAYING, epilog="Example: krypenv study creep --deals 500")(study)
app.command(
    cls=Page, rich_help_panel=PLAYING, epilog="Example: krypenv compare krypkasino 'krypkasino goal=high' --deals 500"
)(compare)
app.command(cls=Page, rich_help_panel=PLAYING, epilog="Example: krypenv solve mini-sweep --out runs/sweep")(solve)
app.command(cls=Page, rich_help_panel=INSTALLATION, epilog="Example: krypenv bench --peers --json bench.json")(bench)
app.command(cls=Page, rich_help_panel=INSTALLATION, epilog="Example: krypenv doctor --json doctor.json")(doctor)


def _rules(
    preset: str | None, players: int | None, teams: int | None, fields: list[str] | None, agents: list[str]
) -> Rules:
    """Return the rules that the options name; if none is given, those of the first model among the agents."""
    from krypenv.training.runs.parts import GameRules

    return GameRules(preset or "", players, teams, tuple(fields or ())).of_agents(agents)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # don't fail on characters that the terminal can't show
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="krypenv")


if __name__ == "__main__":
    main()
