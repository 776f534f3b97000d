"""Compiling ahead: another process makes what a game needs, in the order in which it is needed, and holds up nobody."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from krypenv import Game, Rules
from krypenv.runtime import plain
from krypenv.ui.ahead import HINT, OTHERS, REMARK, Ahead, mark_of
from krypenv.ui.table import Table
from krypenv.ui.terminal import Terminal

MINI = Rules.preset("mini-low")


@pytest.fixture(autouse=True)
def marks(tmp_path, monkeypatch):
    """The folder of the marks that say what was compiled before."""
    monkeypatch.setattr(plain, "cache_folder", lambda: tmp_path)
    return tmp_path


def done(*arguments):
    """What compiles ahead, once it has come to its end."""
    with contextlib.closing(Ahead(*arguments)) as ahead:
        for part in (OTHERS, HINT, REMARK):
            ahead.wait(part)
            assert ahead.is_done(part)
    return ahead


@pytest.mark.slow
def test_what_was_compiled_before_takes_no_process(marks):
    done(MINI, ["greedy"], "tactician")
    assert len(list(marks.iterdir())) == 3
    assert done(MINI, ["greedy"], "tactician")._pool is None
    assert done(MINI, ["greedy"], "greedy")._parts.keys() == {HINT}


def test_it_is_done_with_what_fails_and_leaves_no_mark_of_it(marks, capfd):
    done(MINI, ["oracle-deck", "none/such", "no_module:A"], "nobody", int)  # no table is a number
    assert capfd.readouterr() == ("", "")
    assert list(marks.iterdir()) == [mark_of(HINT, str(MINI), str(("nobody",)))], (
        "nobody is no agent, so there is no hint"
    )


def test_it_ends_when_it_is_closed_and_nobody_waits_for_one_that_was_killed(monkeypatch, marks):
    monkeypatch.setattr(plain, "cache_folder", lambda: None)
    killed, closed = (Ahead(Rules.preset(), ["champion"], "champion") for _ in range(2))
    [process] = killed._pool._processes.values()
    process.kill()
    killed.wait(REMARK)
    assert killed.is_done(OTHERS)
    [process] = closed._pool._processes.values()
    assert process.is_alive()
    closed.close()
    assert not process.is_alive()
    assert closed.is_done(HINT)


def test_a_person_is_told_what_they_wait_for(tmp_path):
    out, waits, lines = io.StringIO(), [], iter(["1", "hint", "q"])
    ahead = SimpleNamespace(is_done=waits.__contains__, wait=waits.append)
    console = Console(file=out, width=80, force_terminal=True, _environ={"TERM": "xterm"})
    table = Table(Game(MINI, seed=3), 0, ["random"])
    Terminal(table, tmp_path / "game.krk", "greedy", console, read=lambda _: next(lines), ahead=ahead).run()
    assert waits == [OTHERS, HINT]
    assert "Compiling, once" in out.getvalue()


@pytest.mark.slow  # it compiles
def test_what_was_compiled_ahead_is_not_compiled_again(tmp_path):
    program = """
from krypenv import Game, Rules
from krypenv.runtime.jit import compilations
from krypenv.ui.ahead import HINT, REMARK, Ahead
from krypenv.ui.choices import choices_of
from krypenv.ui.table import Table, hint_of

if __name__ == "__main__":
    rules = Rules.preset("mini-low")
    ahead = Ahead(rules, ["greedy"], "tactician")
    ahead.wait(REMARK)
    compiled = []
    with compilations(lambda: compiled.append(1)):
        table = Table(Game(rules, seed=1), 0, ["greedy"])
        hint_of(table.game, "tactician")
        while not table.game.is_over:
            table.game.push(choices_of(table.game).moves[0])
            list(table.play_others())
    print("compiled", len(compiled))
"""
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, path], env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.stdout == "compiled 0\n", done.stderr
    assert any(Path(tmp_path / "cache").rglob("*.nbi"))
