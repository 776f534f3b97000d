"""Games in the terminal: whatever is typed and whenever the power fails, a game on the disk is whole and goes on."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from support.fuzzing import NASTY_WORDS, Tally, check_sentence, fuzzer, mutate_text, seeded
from support.small_files import some_folder
from support.terminals import ANSI, krypenv_in_a_terminal, sitting, typed

from krypenv import Game, Rules
from krypenv.training.cli import play, saved_games
from krypenv.ui.table import Table

RULES = (
    "mini-low players=2", "mini-double players=4 teams=2", "mini-low players=3 games=2", "mini-kasino players=2",
    "krypkasino players=2", "mini-mulle players=2", "mulle-glimne players=2",
)  # fmt: skip
WORDS = ("hint", "undo", "more", "back", "table", "save", "save x.krk", "save .", "save folder", "save n/x", "?", "",
         "save " + "n" * 300, "save game.krk", "save link", "1", "2", "3", "13", "-")  # fmt: skip
LEAVING = ("quit", "q", b"\x04", b"\x03", signal.SIGHUP, signal.SIGTERM)
SAID = ("he choices are ", "There is only one choice", "There is no ", "Type a number", "is there already",
        "is not in your hand", "not on the table", "directory", "You must sweep", "can take nothing", "can't take ",
        "must take", "You would keep no", "split into sums", "doesn't make", "too long", "nothing to take back",
        "Name a card")  # fmt: skip
WORDS += ("rules", "rules full", "why", "why 8s", "why 1", "why 99")
AT_ONCE = 40  # lines that are typed in one process


class Killed(BaseException):
    """The power failed: from here on nothing is written."""


def some_table(rng: random.Random) -> Table:
    rules = Rules.parse(rng.choice(RULES))
    return Table(Game(rules, seed=rng.randrange(1 << 32)), rng.randrange(rules.players), ["random"], rng.randrange(99))


def some_line(game: Game, rng: random.Random) -> str:
    """Return what a person may type, right or wrong; no file is named outside the folder."""
    kind = rng.randrange(4)
    if kind == 0 or game.is_over:
        line = rng.choice(WORDS)
    elif kind == 1:
        line = rng.choice(NASTY_WORDS)
    else:
        line = typed(rng.choice(game.legal_moves(1 << 20)))
        line = mutate_text(line, rng, WORDS) if kind == 2 else line
    return "save /" if line.strip().lower().startswith("s") and "/" in line else line


@fuzzer(share=0.1, rng=seeded)
def lines(tally: Tally, rng: random.Random) -> None:
    """Lines typed at a table: each is carried out, or answered by a sentence, and the game stands on the disk."""
    table = some_table(rng)

    def some_lines(out: list[Any]) -> Iterator[str]:
        for _ in range(30):
            assert Path("game.krk").read_bytes() == table.record()
            line, before, start = some_line(table.game, rng), table.game.position(), len(out[0].getvalue())
            yield line
            said = out[0].getvalue()[start:].partition(f"{line}\n")[2].partition("\n")[0]
            if table.game.position() == before and any(word in said for word in SAID):
                check_sentence(ValueError(said), line)
                tally["refused"] += 1
            else:
                tally["right"] += 1

    with some_folder() as folder, mock.patch.object(os, "fsync"):
        (folder / "folder").mkdir()
        (folder / "link").symlink_to("folder")
        out: list[Any] = []
        terminal, screen = sitting(table, some_lines(out))
        out.append(screen)
        terminal.run()
        assert Path("game.krk").read_bytes() == table.record()
        check_folder(folder)


def check_folder(folder: Path) -> None:
    """Assert that every record in a folder is whole."""
    for path in folder.glob("*.krk"):
        Game.replay(path.read_text(encoding="utf-8"))


# ---------------------------------------------------------------------- kills


@contextlib.contextmanager
def power_failing(at: int) -> Iterator[list[int]]:
    """Let the power fail at one of the calls that change files: before it or after it, and nothing is done any more."""
    calls = [0]

    def failing(plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            calls[0] += 1
            if calls[0] > at:
                raise Killed
            result = plain(*arguments, **named)
            calls[0] += 1
            if calls[0] > at:
                raise Killed
            return result

        return call

    with contextlib.ExitStack() as stack:
        for name in ("open", "link", "replace", "unlink"):
            stack.enter_context(mock.patch.object(os, name, failing(getattr(os, name))))
        stack.enter_context(mock.patch.object(os, "fsync", failing(lambda number: None)))
        yield calls


@fuzzer(share=0.5, rng=seeded)
def kills(tally: Tally, rng: random.Random) -> None:
    """A game whose process is killed at any change of a file: what is there is whole, lacks one answer, and goes on."""
    with some_folder() as folder:
        other = some_table(rng).record()
        (folder / "game.krk").write_bytes(other)
        table, plays = some_table(rng), rng.randrange(1, 12)
        with power_failing(rng.choice((rng.randrange(20), rng.randrange(12 * plays)))):
            killed_game(table, plays, rng)
        assert (folder / "game.krk").read_bytes() == other
        check_folder(folder)
        path = folder / "game-2.krk"
        if not path.exists():
            tally["refused"] += 1  # it had not begun
            return
        assert play._of_a_person(path) or table.game.session_over
        missing = unsaved(table, Game.replay(path.read_text(encoding="utf-8")))
        assert missing <= 1, f"{missing} moves of the person are lost"
        with contextlib.ExitStack() as held:
            assert saved_games.own_name(other, held) == Path("game-3.krk")
        tally["right"] += 1


def killed_game(table: Table, plays: int, rng: random.Random) -> None:
    """Begin a game as the command does, and play until it ends or the process is killed."""

    def lines() -> Iterator[str]:
        for _ in range(plays):
            yield typed(rng.choice(table.game.legal_moves(1 << 20))) if not table.game.is_over else ""

    with contextlib.ExitStack() as held, contextlib.suppress(Killed):
        sitting(table, lines(), saved_games.own_name(table.record(), held))[0].run()


def unsaved(table: Table, game: Game) -> int:
    """Return how many of the person's moves a record lacks; it is the game up to some move."""
    if game.game_number < table.game.game_number:  # the next one has been dealt, and no move of it was made
        assert game.is_over
        game = game.next_game()
    moves = table.game.moves
    assert game.moves == moves[: len(game.moves)]
    twin, missing = game.copy(), 0
    for move in moves[len(game.moves) :]:
        missing += twin.turn == table.seat
        twin.push(move)
    return missing


# ---------------------------------------------------------------------- a pseudo-terminal


@fuzzer(share=0.02, rng=seeded)
def terminal(tally: Tally, rng: random.Random) -> None:
    """Lines, strange bytes, new sizes of the window and ways to leave, in a terminal with a process."""
    with some_folder() as folder:
        words = ["play", "--rules", rng.choice(RULES).split()[0], "--against", "random", "--hint", "random"]
        words += ["--seed", str(rng.randrange(99))]
        code, shown = krypenv_in_a_terminal(words, [*some_typing(rng, AT_ONCE), rng.choice(LEAVING)])
        assert code in (0, 130), (code, shown[-1000:])
        assert "Traceback" not in shown, shown[-3000:]
        assert "The game is saved in game.krk" in shown, shown[-1000:]
        check_folder(folder)
        assert Path("game.krk").exists()
    refused = sum(ANSI.sub("", shown).count(word) for word in SAID)
    tally.update(right=1, refused=refused)


def some_typing(rng: random.Random, count: int) -> Iterator[Any]:
    """Yield what is typed: lines, bytes that the terminal hands on as they are, and sizes of the window."""
    for _ in range(count):
        kind = rng.randrange(8)
        if kind == 0:
            yield rng.choice(((1, 1), (24, 40), (50, 300), (0, 0), (24, 80)))
        elif kind == 1:
            data = bytes(each for each in rng.randbytes(rng.choice((1, 3, 200))) if each >= 32 or each == 27)
            yield data.replace(b"/", b"") + b"\n"
        elif kind < 5:
            line = rng.choice(WORDS + NASTY_WORDS)
            yield "x" if set(line) & {"\ud800", "\x00"} or len(line) > 1000 else line
        else:
            yield rng.choice(("1", "1", "2", "3"))
