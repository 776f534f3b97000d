"""`krypenv play`: a game at the table in the terminal."""

from __future__ import annotations

import secrets
from itertools import count
from pathlib import Path
from typing import Annotated

from krypenv.training.cli.options import Players, RuleFields, Teams, flag, option
from krypenv.training.cli.outputs import check_files, read_text
from krypenv.training.common.panels import AGENTS, GAME_RECORDS, LENGTH, OUTPUT, RULES


def play(
    rules: Annotated[str | None, option(panel=RULES, help="preset of the rules", default="krypkasino")] = None,
    players: Players = None,
    teams: Teams = None,
    rule: RuleFields = None,
    against: Annotated[
        list[str] | None,
        option(
            panel=AGENTS,
            metavar="AGENT",
            help="another player; repeatable, from your left on",
            default="champion at every other seat",
        ),
    ] = None,
    seat: Annotated[int | None, option(panel=AGENTS, help="your seat", default="0, which leads the first deal")] = None,
    hint: Annotated[str, option(panel=AGENTS, metavar="AGENT", help="who gives hints")] = "champion",
    seed: Annotated[int | None, option(panel=LENGTH, min=0, help="seed of the deal", default="a random one")] = None,
    load: Annotated[
        str | None, option(panel=GAME_RECORDS, metavar="FILE", help="go on with the game of a text record")
    ] = None,
    save: Annotated[
        Path | None,
        option(
            panel=OUTPUT,
            metavar="FILE",
            help="file to save the game to",
            default="the file of --load, or game.krk or game-2.krk and so on",
        ),
    ] = None,
    four_colours: Annotated[bool, flag("--four-colours", OUTPUT, "write clubs green and diamonds blue")] = False,
    no_colour: Annotated[bool, flag("--no-colour", OUTPUT, "write without colour, as with NO_COLOR=1")] = False,
) -> None:
    """Play against agents in the terminal.

    The game is saved when it ends and when you leave, even if the connection is lost.
    """
    from rich.console import Console

    from krypenv.agents import typed
    from krypenv.game.game import Game
    from krypenv.training.common.parts import GameRules
    from krypenv.ui.table import Table, named_in
    from krypenv.ui.terminal import Terminal

    if load and (rules or players or teams or rule or seed is not None):
        raise ValueError("the record of --load has the rules and the deal; leave out their options")
    path = save or (Path(load) if load and load != "-" else _free_name())
    check_files(path)
    opponents = list(map(typed, against or ["champion"]))
    if load:
        game = Game.replay(read_text(load))
        named = named_in(game)
        if named:
            seat = named[0] if seat is None else seat
            opponents = opponents if against else named[1]
        if game.is_over and not game.session_over:
            game = game.next_game()
    else:
        game = Game(GameRules(rules or "", players, teams, tuple(rule or ())).of_agents([]), seed)
    of_agents = secrets.randbits(32) if seed is None else seed
    table = Table(game, 0 if seat is None else seat, opponents, of_agents)
    console = Console(no_color=True if no_colour else None)
    Terminal(table, path, typed(hint), console, four_colours).run()


def _free_name() -> Path:
    """Return the first name of a file in this folder that is not taken."""
    names = (Path("game.krk" if number == 1 else f"game-{number}.krk") for number in count(1))
    return next(path for path in names if not path.exists())
