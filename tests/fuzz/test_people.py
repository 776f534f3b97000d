"""What people type, and what their pages send: it is carried out or answered by one sentence, and games stay whole."""

from __future__ import annotations

import contextlib
import json
import os
import random
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

from support.command_lines import BY_SETTINGS, COMMANDS, clear, folder_with_games, run_line, settings_command, tiny_work
from support.fuzzing import (
    NASTY_WORDS,
    REFUSED,
    attempt,
    check_sentence,
    fuzz,
    mutate_json,
    mutate_parts,
    mutate_text,
    seeded,
)
from support.small_files import some_folder
from support.studies import ANALYST, played
from support.tables import KEYS, Here
from support.terminals import sitting, typed

from krypenv import Game, Rules
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.requests import OF_PACE, REQUESTS, Request, parse_key, parse_message
from krypenv.ui.browser.sockets import Refused
from krypenv.ui.seats import PERSON
from krypenv.ui.study.studies import VISITS, Studies, parse_visit
from krypenv.ui.table import Table

RULES = (
    "mini-low players=2", "mini-double players=4 teams=2", "mini-low players=3 games=2", "mini-mulle players=2",
    "mini-kasino players=2 games=2", "krypkasino players=2", "mulle-glimne players=2",
)  # fmt: skip
SMALL = RULES[:5]  # whose games are short

# ---------------------------------------------------------------------- command lines

ODD_WORDS = (
    ("0", "-1", "1000000000000", "1" + "0" * 30, "nan", "inf", "-inf", "1e999", "x", "", "1.5", "-0.0"),
    ("1", "2", "0.5", "7", "greedy", "out.json", "mini-low", "mini-high players=3", "dev", "test", "centred"),
    ("--no-such", "--deals", "--seed", "--", "-x"),
    NASTY_WORDS,
)


def mutate_words(words: list[str], rng: random.Random) -> list[str]:
    """Return a command line with a word changed, or with some lost, doubled or swapped."""
    odd, at = rng.choice(ODD_WORDS), rng.randrange(1, len(words))
    if rng.random() < 0.5:
        return [*words[:at], rng.choice(odd), *words[at + 1 :]]
    return [words[0], *mutate_parts(words[1:], rng, odd)]


@contextlib.contextmanager
def tiny_work_there() -> Iterator[None]:
    """Do tiny work in a folder with games."""
    with tiny_work(), folder_with_games():
        yield


@fuzz(within=tiny_work_there, rng=seeded)
def test_a_command_line_is_carried_out_or_refused(rng: random.Random) -> None:
    by_settings = rng.random() < 0.3
    words = settings_command(rng.choice(BY_SETTINGS), rng) if by_settings else rng.choice(list(COMMANDS.values()))
    run_line(mutate_words(words, rng))
    clear(Path.cwd())


# ---------------------------------------------------------------------- in the terminal

WORDS = (
    "hint", "undo", "more", "back", "table", "save", "save x.krk", "save .", "save folder", "save n/x", "?", "", "13",
    "save " + "n" * 300, "save game.krk", "save link", "1", "2", "3", "-", "rules", "rules full", "why", "why 8s",
    "why 1", "why 99",
)  # fmt: skip


def some_line(game: Game, rng: random.Random) -> str:
    """Return what a person may type, right or wrong; no file is named outside the folder."""
    line = rng.choice(rng.choice((WORDS, NASTY_WORDS)))
    if rng.random() < 0.5 and not game.is_over:
        line = typed(rng.choice(game.legal_moves(1 << 20)))
        line = mutate_text(line, rng, WORDS) if rng.random() < 0.5 else line
    return "save /" if line.strip().lower().startswith("s") and "/" in line else line


@fuzz(share=0.3, rng=seeded)
def test_what_is_typed_is_done_or_answered_and_the_game_is_saved(rng: random.Random) -> None:
    rules = Rules.parse(rng.choice(RULES))
    table = Table(Game(rules, seed=rng.randrange(1 << 32)), rng.randrange(rules.players), ["random"], rng.randrange(99))

    def some_lines() -> Iterator[str]:
        for _ in range(30):
            assert Path("game.krk").read_bytes() == table.record()
            line, before, start = some_line(table.game, rng), table.game.position(), len(screen.getvalue())
            yield line
            said = screen.getvalue()[start:].partition(f"{line}\n")[2].partition("\n")[0]
            if said.strip() and table.game.position() == before:
                check_sentence(ValueError(said), line)

    with some_folder() as folder, mock.patch.object(os, "fsync"):
        (folder / "folder").mkdir()
        (folder / "link").symlink_to("folder")
        terminal, screen = sitting(table, some_lines())
        terminal.run()
        assert Path("game.krk").read_bytes() == table.record()
        for path in folder.glob("*.krk"):
            Game.replay(path.read_text(encoding="utf-8"))


# ---------------------------------------------------------------------- in the browser


def damaged(message: Any, rng: random.Random) -> str:
    """Return a message as it is, with another value in it, or as a damaged text."""
    kind = rng.randrange(4)
    text = json.dumps(mutate_json(message, rng) if kind == 0 else message)
    return mutate_text(text, rng, (*REQUESTS, *VISITS)) if kind == 1 else text


def some_request(hosted: Hosted, rng: random.Random) -> Any:
    """Return what a page at a table may send, right or wrong."""
    asked = rng.choice(tuple(REQUESTS))
    more: dict[str, Any] = {"stand_in": {"seat": rng.randrange(6)}, "pace": {"pace": "fast"}, "pause": {"on": True}}
    if rng.random() < 0.05:
        return {"do": "sit", "key": rng.choice(("", "x" * 22, *NASTY_WORDS))}
    if asked == "play" or rng.random() < 0.3:
        move = "8S" if hosted.game.is_over else str(rng.choice(hosted.game.legal_moves()))
        move = mutate_text(move, rng, ("x", "[9]", "=9", "+")) if rng.random() < 0.5 else move
        return {"do": "play", "edit": hosted.edit, "move": move}
    return {"do": asked, "edit": hosted.edit, **more.get(asked, {})}


@fuzz(share=4, rng=seeded)
def test_a_message_to_a_table_is_carried_out_or_changes_nothing(rng: random.Random) -> None:
    rules, people = Rules.parse(rng.choice(SMALL)), rng.choice((1, 1, 2))
    players = [PERSON if seat < people else "random" for seat in range(rules.players)]
    hosted = Hosted(Game(rules, seed=rng.randrange(1 << 32)), players, "random", lambda record, is_new: None)
    for _ in range(20):
        text = damaged(some_request(hosted, rng), rng)
        attempt(partial(parse_key, text), text)
        found = attempt(partial(parse_message, text, REQUESTS), text)
        if found is REFUSED or found["do"] in OF_PACE:
            continue
        request = Request(**found)
        before = hosted.record()
        said = hosted.do(rng.choice((0, 0, 0, 0, 1, None)), request)
        if said:
            check_sentence(ValueError(said), text)
            assert hosted.record() == before, text
        else:
            assert Game.replay(hosted.record().decode()).position() == hosted.game.position(), text
        while (seat := hosted.thinker) is not None:
            assert seat not in hosted.people or seat in hosted.stand_ins
            hosted.push(str(rng.choice(hosted.game.legal_moves())))


finished = cache(lambda rules: played(rules, players=()).record())


@fuzz(share=4, rng=seeded)
def test_a_record_or_a_position_that_a_page_sends_is_studied_or_refused(rng: random.Random) -> None:
    record = finished(rng.choice(SMALL))
    if rng.random() < 0.2:
        record = Game.replay(record).rewound().position()
    if rng.random() < 0.8:
        record = mutate_text(record, rng, ("*", "Deal 2:", '[Seed "1"]', "##", "rest", "hand 0:", ";"))
    message: Any = {"do": "open", "record": record}
    if rng.random() < 0.2:
        message["moves"] = [rng.choice(("8S", "2Cx2D", *NASTY_WORDS)) for _ in range(rng.randrange(3))]
    elif rng.random() < 0.1:
        message = {"do": "move", "at": 1, "move": "8S"}
    text = damaged(message, rng)
    request = attempt(partial(parse_visit, text), text)
    if request is REFUSED or "record" not in request:
        return
    studies = Studies(KEYS, Here, ANALYST)
    try:
        subject = studies.subject(request["record"], None)
        assert not subject.is_line or not request["record"].lstrip().startswith("["), text
        if "moves" in request:
            subject = studies.played_on(subject, 0, request["moves"])
    except Refused as reason:
        check_sentence(reason, text)
    else:
        assert subject.game.is_over or subject.is_line, text
