"""Games in the terminal are never lost: saved as they go, whatever ends them, each in a file of its own."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.commands import krypenv as run
from support.terminals import krypenv_in_a_terminal, sitting, some_lines

from krypenv import Game, Rules
from krypenv.training.cli import saved_games
from krypenv.ui import saving
from krypenv.ui.seats import PERSON
from krypenv.ui.table import Table

pytestmark = pytest.mark.usefixtures("own_folder")

SIGNALS = [signal.SIGHUP, signal.SIGTERM]
HELD = "is being played already; go on with it there"


def some_table(text="krypkasino players=2", seed=1):
    return Table(Game(Rules.parse(text), seed=seed), 0, ["random"], seed)


def krypenv(*words, typed="1\n"):
    return run("play", *words, typed=typed, columns=80)


def saved(name="game.krk"):
    return Game.replay(Path(name).read_text(encoding="utf-8"))


def finished():
    """The record of a person's game that is over."""
    table = some_table("mini-low players=2")
    while not table.game.is_over:
        table.game.push(table.game.legal_moves()[0])
    return table.game.record()


@pytest.mark.parametrize("name", [".", "/", "..", "folder", "link", "/dev/null", "there/x", "n" * 300, "a\0b", "\ud800",
                                  "~", "there", "nowhere", "x\x1b[2J/.."])  # fmt: skip
def test_where_a_game_can_t_be_saved_a_sentence_says_so_and_it_goes_on(name, tmp_path):
    Path("folder").mkdir()
    Path("link").symlink_to("folder")
    Path("there").write_text("a shopping list", encoding="utf-8")
    Path("nowhere").symlink_to("nothing")
    table = some_table()
    terminal, out = sitting(table, ["1", f"save {name}", "1", "quit"])
    terminal.run()
    answer = out.getvalue().partition(f"save {name}\n")[2].splitlines()[0]
    assert re.search(r"(there already; give the copy another name|directory|file|name|too long)[^.]*\.$", answer)
    assert answer.isprintable()
    assert len(answer) <= 300
    assert len(table.game.moves) >= 3, "the game went on"
    assert saved().moves == table.game.moves
    assert Path("there").read_text(encoding="utf-8") == "a shopping list"
    assert sorted(path.name for path in Path().iterdir()) == ["folder", "game.krk", "link", "nowhere", "there"]
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]


def test_copies_are_new_files_that_are_saved_again():
    table = some_table()
    lines = ["save", "save other.krk", "1", "save other.krk", "save ./game.krk", "save ~/here.krk", "1", "q"]
    terminal, out = sitting(table, lines)
    terminal.run()
    assert out.getvalue().count("The game is saved in ") == 6
    moves = table.game.moves
    assert saved().moves == moves
    assert saved("other.krk").moves == saved("../here.krk").moves == moves[: len(saved("other.krk").moves)]
    assert 2 <= len(saved("other.krk").moves) < len(moves)
    sitting(table, ["save last.krk", "q"])[0].run()
    assert saved_games.latest()[0] == Path("game.krk"), "the game is resumed, and not its copy"


# ---------------------------------------------------------------------- as it goes


def test_a_person_s_move_is_on_the_disk_before_the_others_answer_wherever_agents_go(monkeypatch, own_folder, tmp_path):
    table, plain = some_table(), Table.play_others

    def wander(self):
        assert (own_folder / "game.krk").read_bytes() == self.record()
        os.chdir(tmp_path)
        return plain(self)

    monkeypatch.setattr(Table, "play_others", wander)
    sitting(table, ["1", "1", "1"])[0].run()
    assert len(table.game.moves) >= 5
    assert saved("inner/game.krk").moves == table.game.moves
    assert not (tmp_path / "game.krk").exists()


@pytest.mark.parametrize("ending", [RuntimeError, SystemExit, KeyboardInterrupt, BrokenPipeError, *SIGNALS])
@pytest.mark.parametrize("where", ["agent", "input", "screen"])
def test_whatever_ends_it_the_game_is_saved_and_where_is_said(ending, where, monkeypatch):
    table, moves = some_table(), []
    terminal, out = sitting(table, some_lines(table, 1))
    owner, name = {
        "agent": (type(table._agents[1]), "act"), "input": (terminal, "_read"),
        "screen": (terminal._screen, "position"),
    }[where]  # fmt: skip
    plain = getattr(owner, name)

    def failing(*arguments, **named):
        if len(table.game.moves) >= 4:
            moves[:] = moves or table.game.moves
            if ending not in SIGNALS:
                raise ending("something")
            with contextlib.suppress(Exception):  # as an agent may
                os.kill(os.getpid(), ending)
                os.kill(os.getpid(), ending)  # a second one does not keep it from saving
        return plain(*arguments, **named)

    monkeypatch.setattr(owner, name, failing)
    before = [signal.getsignal(number) for number in SIGNALS]
    with contextlib.suppress(RuntimeError, SystemExit, KeyboardInterrupt, ValueError, OSError):
        terminal.run()
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert moves
    assert saved().moves == table.game.moves == moves
    assert "The game is saved in game.krk; to go on: krypenv play --load game.krk" in out.getvalue()


def test_a_full_disk_is_told_once_and_asked_about_when_leaving(monkeypatch):
    table, plain, is_full = some_table(), saving.write_whole, []

    def full(path, data, mode):
        if is_full and path.name == "game.krk":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "game.krk")
        plain(path, data, mode)

    def lines():
        yield "1"
        is_full.append(True)
        yield from ("1", "1", "quit", "save other.krk", "1", "quit")

    monkeypatch.setattr(saving, "write_whole", full)
    terminal, out = sitting(table, lines())
    with pytest.raises(OSError, match="No space left"):
        terminal.run()
    assert out.getvalue().count("The game can't be saved: game.krk: No space left on device") == 1
    assert out.getvalue().count("The game is not saved: game.krk: No space left on device") == 1
    assert len(saved().moves) < len(saved("other.krk").moves) < len(table.game.moves)


# ---------------------------------------------------------------------- whose file


def test_games_that_begin_at_once_have_files_of_their_own_which_others_leave_alone():
    Path("game-2.krk").symlink_to("nowhere")
    records = [some_table(seed=seed).record() for seed in range(4)]
    held = contextlib.ExitStack()
    with ThreadPoolExecutor(4) as pool:
        begun = list(pool.map(lambda record: saved_games.own_name(record, held), records))
    assert sorted(path.name for path in begun) == ["game-3.krk", "game-4.krk", "game-5.krk", "game.krk"]
    assert [path.read_bytes() for path in begun] == records
    assert "unfinished" not in krypenv(typed="").stdout
    Path("link.krk").symlink_to("game.krk")
    for name in ("link.krk", "game-5.krk"):
        done = krypenv("--load", name)
        assert (done.exit_code, done.stderr) == (2, f"krypenv: the game of {name} {HELD}\n")
    held.close()
    assert krypenv("--load", "link.krk").exit_code == 0
    assert Path("link.krk").readlink() == Path("game.krk"), "a link stays a link"
    assert len(saved().moves) >= 2


# ---------------------------------------------------------------------- going on


def test_an_unfinished_game_is_mentioned_where_nobody_can_be_asked_and_others_are_left_as_they_are():
    Path("over.krk").write_text(finished(), encoding="utf-8")
    Path("watched.krk").write_text(Game(Rules.preset(), seed=1).record(), encoding="utf-8")
    Path("torn.krk").write_bytes(b"\xff")
    Path("folder.krk").mkdir()
    os.mkfifo("pipe.krk")
    assert "unfinished" not in krypenv("--against", "random", typed="").stdout
    assert "game.krk has an unfinished game; to go on: krypenv play --load game.krk\n" in krypenv(typed="").stdout
    Path("a b.krk").write_bytes(some_table().record())
    assert "a b.krk has an unfinished game; to go on: krypenv play --load 'a b.krk'\n" in krypenv(typed="").stdout
    done = krypenv("--load", "over.krk")
    assert (done.exit_code, done.stderr) == (2, "krypenv: the game of over.krk is over; krypenv show prints it\n")
    assert Path("over.krk").read_text(encoding="utf-8") == finished()


@pytest.mark.slow
def test_an_unfinished_game_is_offered_and_goes_on_after_a_kill():
    options = ["--rules", "kasino-finland", "--against", "greedy", "--seat", "1", "--seed", "3"]
    code, shown = krypenv_in_a_terminal(["play", *options], ["1", signal.SIGKILL])
    assert code == -signal.SIGKILL, shown
    before = saved()
    assert len(before.moves) >= 2
    code, shown = krypenv_in_a_terminal(["play"], ["what", "n", b"\x04"])
    assert code == 0, shown
    assert f"game.krk has an unfinished game: {before.rules}, deal 1 of " in shown
    assert saved("game-2.krk").rules == Rules.preset()
    Path("game-2.krk").unlink()
    code, shown = krypenv_in_a_terminal(["play"], ["", "1", "q"])
    assert code == 0, shown
    after = saved()
    assert after.moves[: len(before.moves)] == before.moves
    assert len(after.moves) > len(before.moves)
    assert (after.tags["Seat0"], after.tags["Seat1"]) == ("greedy", PERSON)
    assert not Path("game-2.krk").exists()
