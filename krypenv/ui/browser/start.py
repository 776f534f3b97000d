"""What can be played at a table, for its start screen: games with their rules, levels of agents, and the choice."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse

from krypenv.envs.opponents import LEVELS
from krypenv.ui.narrator.texts import CATALOGUES, called, say
from krypenv.ui.seats import PERSON

if TYPE_CHECKING:
    from krypenv.game.game import Game  # it loads the engine, for which no page is to wait

LONGEST = 300  # characters of rules as text
PATIENCE = 2.0  # seconds that a page waits for examples; the engine may be compiled for them
_ONE = threading.Lock()  # rules are worked out one after another, whoever asks


class Choice(NamedTuple):
    """What is to be played, as a page has chosen it: a game of a file, or a new one."""

    file: str = ""
    rules: str = ""  # as text
    players: Sequence[str] = ()  # who sits where: names of agents, and `PERSON`
    names: Sequence[str] = ()  # of people, by seat; empty for one without
    language: str = ""  # of the texts; empty for that of the table
    seed: int | None = None  # of the deal; None for a deal that follows from no seed
    helper: str | None = None  # the agent that gives hints; empty to forbid them, None for that of the command line


@lru_cache(maxsize=4)
def offered(language: str) -> dict[str, Any]:
    """Return the games, each with its line and how many can play it, the levels of agents, and the languages."""
    from krypenv.families.variants import MOST_PLAYERS, PRESETS
    from krypenv.rules import Rules
    from krypenv.ui.narrator.narrator import Narrator

    games = []
    for name in PRESETS:
        sizes = []
        for players, teams in [(count, teams) for count in range(2, MOST_PLAYERS[name] + 1) for teams in (None, 2, 3)]:
            with contextlib.suppress(ValueError):
                Rules.preset(name, players=players, teams=teams)
                sizes.append([players, teams or 0])
        line = say(language, f"game.{name}" if f"game.{name}" in CATALOGUES[language] else "game.mini")
        title = Narrator(Rules.preset(name), language=language).title
        games.append({"name": name, "title": title, "line": line, "small": name.startswith("mini"), "sizes": sizes})
    levels = [{"agent": agent, "text": say(language, f"level.{level}")} for level, agent in LEVELS.items()]
    languages = [[each, texts["language"]] for each, texts in CATALOGUES.items()]
    return {"games": games, "levels": levels, "languages": languages}


def dealt_as(choice: Choice, trusted: Mapping[str, str]) -> tuple[Game, list[str], str]:
    """Deal the game of a choice, and return who plays it, and who gives hints if the choice names an agent.

    Args:
        choice: of a new game.
        trusted: agents that the host has typed, by their names: a page may name no others that run code of their own.

    Raises ValueError for rules, a number of players and agents that don't fit.
    """
    from krypenv.rules import Rules
    from krypenv.ui.table import dealt, seated

    rules = Rules.parse(choice.rules)
    if len(choice.players) != rules.players:
        raise ValueError(f"these rules are for {rules.players} players, not {len(choice.players)}")
    *players, helper = (trusted.get(each, each) for each in (*choice.players, choice.helper or ""))
    for player in {*players, helper or PERSON} - {PERSON}:
        seated(player, rules, 0)
    game = dealt(rules, choice.seed)
    game.tags |= {f"Name{seat}": name for seat, name in enumerate(choice.names[: rules.players]) if name}
    game.tags |= {"Hints": "no"} if choice.helper == "" else {}
    return game, players, helper


def told_of(game: Game, players: Sequence[str], language: str) -> str:
    """Return which game it is, how far it has come and against whom it is played, on a line."""
    from krypenv.ui.narrator.narrator import Narrator

    words = Narrator(game.rules, language=language)
    others = ", ".join(dict.fromkeys(called(player) for player in players if player != PERSON))
    return " · ".join(filter(None, (words.table_title, words.place(game), others)))


# ---------------------------------------------------------------------- the rules of any game


async def serve_rules(request: Request) -> JSONResponse:
    """Answer with the rules that `of` names, in the `language`; with an error in a sentence if they can't be played."""
    of, language = request.query_params.get("of", ""), request.query_params.get("language", "en")
    try:
        if len(of) > LONGEST:
            raise ValueError(f"rules have at most {LONGEST} characters")
        told = await asyncio.to_thread(_told, of, language, False)
        with contextlib.suppress(asyncio.TimeoutError):
            told = await asyncio.wait_for(asyncio.shield(asyncio.to_thread(_told, of, language, True)), PATIENCE)
    except ValueError as error:
        return JSONResponse({"say": str(error)}, 400)
    return JSONResponse(told)


@lru_cache(maxsize=64)
def _told(of: str, language: str, with_examples: bool) -> dict[str, Any]:
    """Return a title, and paragraphs under headings."""
    from krypenv.rules import Rules
    from krypenv.ui.narrator.narrator import Narrator

    with _ONE if with_examples else contextlib.nullcontext():
        words = Narrator(Rules.parse(of), language=language)
        parts = words.in_full() if with_examples else [(heading, [line]) for heading, line in words.lines()]
        return {"title": words.table_title, "parts": parts}
