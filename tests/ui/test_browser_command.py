"""`krypenv table`: what it prints, what it refuses, and that a game outlives its server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support.browsers import sitting
from support.places import ROOT

from krypenv import Game
from krypenv.training.cli.table import TableSettings
from krypenv.ui.seats import PERSON, players_at

LONGEST = 180  # seconds that a server may run in a test
pytestmark = pytest.mark.slow  # each starts the command several times
FAST = ["--no-open", "--port", "0", "--hint", "greedy"]


@contextlib.contextmanager
def running(folder, *words, **more):
    """The command, and the address that it prints."""
    own = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C", "PYTHONUNBUFFERED": "1", **more}
    line = [sys.executable, "-m", "krypenv", "table", *FAST, *map(str, words)]
    with subprocess.Popen(
        line, cwd=folder, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        watchdog = threading.Timer(LONGEST, process.kill)  # then nothing more is read
        watchdog.start()
        try:
            said = process.stdout.readline()
            yield process, re.search(r"http://[\d.:]+", said)[0]
        finally:
            watchdog.cancel()
            process.kill()


@contextlib.contextmanager
def playing(folder):
    """The command, and what a page is told that plays against an agent as soon as that is there, and how it asks."""
    with (
        running(folder, "--rules", "mini-low", "--against", "greedy") as (process, address),
        sitting(address) as (socket, heard),
    ):
        while not (told := heard())["ready"]:
            pass

        def ask(told, do, waits=True, **more):
            """Ask for something, and return what is told of it, or once it is this page's turn."""
            socket.send(json.dumps({"do": do, "edit": told["edit"], **more}))
            before = told["edit"]
            while told["edit"] == before or (waits and told["view"]["turn"] != 0 and not told["fault"]):
                told = heard()
            return told

        yield process, told, ask


@contextlib.contextmanager
def resuming(address):
    """A page that goes on with the game that the start screen offers, and what it is told of a type."""
    with sitting(address) as (socket, heard):
        while not (told := heard()).get("saved"):
            pass
        socket.send(json.dumps({"do": "resume", "file": told["saved"][0]["file"]}))
        yield lambda kind: next(told for told in iter(heard, None) if told["type"] == kind and "saved" not in told)


def first_move(told):
    """The first legal move, as a message has it."""
    return {"do": "play", "move": told["view"]["moves"][0]["move"]}


def last_line(process):
    """The last line that a server writes when it is stopped."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out.splitlines()[-1:], err


def refusal(folder):
    """What the command says that can't go on with the game of table.krk."""
    with running(folder, "--load", "table.krk") as (process, _):
        _, err = process.communicate(timeout=60)
    assert (process.returncode, len(err.splitlines())) == (2, 1)
    return err


def test_a_killed_table_takes_its_game_up_again_and_its_agents_end_with_it(tmp_path):
    with playing(tmp_path) as (process, told, ask):
        told = ask(told, waits=False, **first_move(told))
        links = (tmp_path / ".table.krk-links.json").read_text()
        thinking = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert thinking
        process.kill()
        process.wait()
    deadline = time.monotonic() + 60
    while any(map(is_alive, thinking)):
        assert time.monotonic() < deadline, "agents think on though their server is gone"
        time.sleep(0.05)
    assert len(Game.replay((tmp_path / "table.krk").read_text()).moves) >= told["moves"]
    with running(tmp_path) as (process, address):
        with resuming(address) as heard:
            assert heard("table")["view"]["log"][: len(told["view"]["log"])] == told["view"]["log"]
        assert process.stdout.readline() == "It goes on with the game of table.krk.\n"
        assert json.loads((tmp_path / ".table.krk-links.json").read_text())["seats"] == json.loads(links)["seats"]
        said = "The game is saved in table.krk; krypenv table goes on with it."
        assert last_line(process) == (0, [said], "")


def is_alive(number):
    """Whether there is a process that has not ended; nobody may have waited for its end."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0] != "Z"
    return False


@contextlib.contextmanager
def full_disk(process):
    """For the block, the process can write nothing to files."""
    before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    yield
    with contextlib.suppress(ProcessLookupError):  # it has ended
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)


def test_what_a_full_disk_can_not_take_is_told_and_leaves_the_files_whole(tmp_path):
    with playing(tmp_path) as (process, told, ask):
        told = ask(told, **first_move(told))
        with full_disk(process):
            told = ask(told, "again")
            assert (told["game"], told["fault"]) == (2, "The game can't be saved: File too large.")
        first = (tmp_path / "table.krk").read_bytes()
        assert not (tmp_path / "table-2.krk").exists()
        told = ask(told, **first_move(told))
        assert told["fault"] == ""
        made = Game.replay((tmp_path / "table-2.krk").read_text()).moves
        assert made
        with full_disk(process):
            assert ask(told, **first_move(told))["fault"]
            code, last, err = last_line(process)
    assert (code, err) == (2, "krypenv: the game is not saved: table-2.krk: File too large\n")
    assert "goes on" not in last[0]
    assert Game.replay((tmp_path / "table-2.krk").read_text()).moves == made
    assert (tmp_path / "table.krk").read_bytes() == first


def test_ctrl_c_while_code_is_compiled_ends_it_at_once(tmp_path):
    (tmp_path / "cache").mkdir()
    with running(tmp_path, "--rules", "krypkasino", NUMBA_CACHE_DIR=tmp_path / "cache") as (process, _):
        while not any((tmp_path / "cache").rglob("*.nbc")):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)  # for the whole of it takes a minute
    assert (process.returncode, err) == (130, "krypenv: stopped\n")
    assert "saved" not in out


def test_a_second_table_in_a_folder_leaves_the_game_to_the_first_and_a_torn_record_stays_as_it_is(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--against", "greedy") as (first, _):
        assert first.stdout.readline() == "The game is saved in table.krk as it goes.\n"
        with running(tmp_path) as (_, address), resuming(address) as heard:
            said = heard("start")["say"]
            assert said == "The game of table.krk is being played already; go on with it there."
        assert refusal(tmp_path) == "krypenv: the game of table.krk is being played already; go on with it there\n"
    torn = Game(TableSettings().game_rules(), seed=1).record()[:-40]
    (tmp_path / "table.krk").write_text(torn)
    assert refusal(tmp_path)
    assert (tmp_path / "table.krk").read_text() == torn


def test_each_of_two_people_gets_a_link_that_outlives_the_server_and_ends_with_the_game(tmp_path):
    def links_of(*words):
        with running(tmp_path, *words) as (process, _):
            said = [process.stdout.readline() for _ in range(4)]
        whose = ["the link of Player A", "the link of Player B", "to watch"]
        assert [line.partition(": ")[0] for line in said[1:]] == whose
        links = [re.search(r"http\S+/#(\S+)$", line)[1] for line in said[1:]]
        assert len(set(links)) == 3
        return links

    new = ["--rules", "mini-low", "--people", 2]
    first = links_of(*new)
    assert Game.replay((tmp_path / "table.krk").read_text()).seed is None
    assert links_of("--load", "table.krk") == first
    assert not set(links_of(*new)) & set(first), "a new game has new keys"
    for name in ("table.krk", ".table.krk-links.json", "table-2.krk", ".table-2.krk-links.json"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    (tmp_path / ".table.krk-links.json").chmod(0o644)
    assert "only you may read" in refusal(tmp_path)


def test_agents_sit_from_the_first_person_s_left_on():
    assert players_at(4, [1], ["a", "b", "c"]) == ["c", PERSON, "a", "b"]
    assert players_at(4, [0, 2], ["champion"]) == [PERSON, "champion"] * 2
    assert players_at(4, range(4), []) == [PERSON] * 4
    assert players_at(4, [], [*"abcd"]) == [*"abcd"]
