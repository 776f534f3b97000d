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
from support.commands import krypenv
from support.places import ROOT

from krypenv import Game
from krypenv.training.cli.people.table import TableSettings, rules_of
from krypenv.ui import table
from krypenv.ui.browser import seats
from krypenv.ui.browser.seats import players_at
from krypenv.ui.browser.serving import bound

LONGEST = 180  # seconds that a server may run in a test
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


def play_one(socket, heard):
    """Play a move as soon as it is this page's turn, and return what is told after it."""
    told = heard()
    while told["view"]["turn"] != told["view"]["seat"]:
        told = heard()
    made = told["moves"]
    move = told["view"]["moves"][0]["move"]
    socket.send(json.dumps({"do": "play", "edit": told["edit"], "move": move}))
    while told["moves"] <= made:
        told = heard()
    return told


def test_a_killed_table_takes_its_game_up_again(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--against", "greedy", "--seed", 5) as (process, address):
        with sitting(address) as (socket, heard):
            told = play_one(socket, heard)
        links = (tmp_path / ".table.krk-links.json").read_text()
        process.kill()
        process.wait()
    saved = Game.replay((tmp_path / "table.krk").read_text())
    assert len(saved.moves) >= told["moves"]
    with running(tmp_path) as (process, address):
        assert process.stdout.readline() == "It goes on with the game of table.krk.\n"
        with sitting(address) as (_, heard):
            assert heard()["view"]["log"][: len(told["view"]["log"])] == told["view"]["log"]
        assert (tmp_path / ".table.krk-links.json").read_text() == links
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 0
        assert out.splitlines()[-1] == "The game is saved in table.krk; krypenv table goes on with it."
        assert err == ""


@contextlib.contextmanager
def full_disk(process):
    """For the block, the process can write nothing to files."""
    before = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    yield
    with contextlib.suppress(ProcessLookupError):  # it has ended
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, before)


def test_a_new_game_that_can_not_be_saved_leaves_the_last_one_s_file_and_gets_its_own_later(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--against", "greedy") as (process, address):
        with sitting(address) as (socket, heard):
            play_one(socket, heard)
            while (told := heard())["view"]["turn"] != 0:
                pass
            with full_disk(process):
                socket.send(json.dumps({"do": "new", "edit": told["edit"]}))
                while not (told := heard())["fault"]:
                    pass
                assert told["game"] == 2
                assert re.fullmatch(r"The game can't be saved: File too large\.", told["fault"])
            first = (tmp_path / "table.krk").read_bytes()
            assert not (tmp_path / "table-2.krk").exists()
            socket.send(json.dumps({"do": "go", "edit": told["edit"]}))
            told = play_one(socket, heard)
            assert told["fault"] == ""
            assert Game.replay((tmp_path / "table-2.krk").read_text()).moves
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0].splitlines()[-1].startswith("The game is saved in table-2.krk;")
    assert (tmp_path / "table.krk").read_bytes() == first


def test_a_table_that_ends_while_the_disk_is_full_says_that_its_game_is_not_saved(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--against", "greedy") as (process, address):
        with sitting(address) as (socket, heard):
            while not (told := heard())["ready"]:
                pass
        move = told["view"]["moves"][0]["move"]
        with sitting(address) as (socket, heard), full_disk(process):
            socket.send(json.dumps({"do": "play", "edit": told["edit"], "move": move}))
            while not heard()["fault"]:
                pass
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (2, "krypenv: the game is not saved: table.krk: File too large\n")
    assert "saved in table.krk; krypenv table goes on" not in out
    assert not Game.replay((tmp_path / "table.krk").read_text()).moves, "the file is whole, as it was"


def test_agents_end_with_a_server_that_is_killed(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--against", "greedy") as (process, address):
        with sitting(address) as (_, heard):
            while not heard()["ready"]:
                pass
        thinking = children(process.pid)
        assert thinking
        process.kill()
        process.wait()
    deadline = time.monotonic() + 30
    while any(is_alive(each) for each in thinking):
        assert time.monotonic() < deadline, "agents think on though their server is gone"
        time.sleep(0.05)


def test_a_new_game_keeps_no_file_of_the_game_before_open(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--against", "greedy") as (process, address), sitting(address) as it:
        socket, heard = it
        told, files = heard(), []
        while not told["ready"]:
            told = heard()
        for number in range(2, 7):
            socket.send(json.dumps({"do": "new", "edit": told["edit"]}))
            while told["game"] < number:
                told = heard()
            files.append(len(list(Path(f"/proc/{process.pid}/fd").iterdir())))
    assert len(set(files)) == 1, files


def children(number):
    """The processes that a process has started."""
    return [int(each) for each in Path(f"/proc/{number}/task/{number}/children").read_text().split()]


def is_alive(number):
    """Whether there is a process that has not ended; nobody may have waited for its end."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2][0] != "Z"
    return False


def test_ctrl_c_while_code_is_compiled_ends_it_at_once(tmp_path):
    (tmp_path / "cache").mkdir()
    start = time.monotonic()
    with running(tmp_path, "--rules", "krypkasino", NUMBA_CACHE_DIR=tmp_path / "cache") as (process, _):
        compiled = lambda: any((tmp_path / "cache").rglob("*.nbc"))  # noqa: E731
        while not compiled():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        out, err = process.communicate(timeout=60)
    assert time.monotonic() - start < 5
    assert (process.returncode, err) == (130, "krypenv: stopped\n")
    assert "saved" not in out


def test_a_second_table_in_a_folder_leaves_the_game_to_the_first(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--against", "greedy") as (first, _):
        assert first.stdout.readline() == "The game is saved in table.krk as it goes.\n"
        with running(tmp_path) as (second, _):
            assert second.stdout.readline() == (
                "The game of table.krk is played at another table. The game is saved in table-2.krk as it goes.\n"
            )
        with running(tmp_path, "--load", "table.krk") as (third, _):
            _, err = third.communicate(timeout=60)
            assert third.returncode == 2
            assert err == "krypenv: the game of table.krk is being played already; go on with it there\n"


def test_a_record_that_was_not_written_whole_is_told_of_and_left_as_it_is(tmp_path):
    torn = tmp_path / "table.krk"
    torn.write_text(Game(rules_of(TableSettings.of()), seed=1).record()[:-40])
    before = torn.read_bytes()
    with running(tmp_path, "--load", "table.krk") as (process, _):
        _, err = process.communicate(timeout=60)
        assert (process.returncode, len(err.splitlines())) == (2, 1)
    with running(tmp_path) as (process, _):
        said = process.stdout.readline()
    assert re.fullmatch(
        r"table.krk can't be gone on with: .+\. The game is saved in table-2.krk as it goes.\n", said
    ), said
    assert torn.read_bytes() == before


def test_agents_alone_are_watched(tmp_path):
    words = ["--rules", "mini-low", "--people", 0, "--against", "greedy", "--against", "random"]
    with running(tmp_path, *words) as (process, address):
        assert [process.stdout.readline().partition(": ")[0] for _ in range(2)] == [
            "The game is saved in table.krk as it goes.\n", "to watch",
        ]  # fmt: skip
        with sitting(address) as (_, heard):
            told = heard()
            while told["moves"] < 2:
                told = heard()
            assert told["view"]["seat"] is None
            assert told["leads"]
        process.kill()
        process.wait()
    with running(tmp_path) as (process, address):
        assert process.stdout.readline() == "It goes on with the game of table.krk.\n"
        with sitting(address) as (_, heard):
            assert heard()["people"] == []


def test_each_of_two_people_gets_a_link(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--people", 2) as (process, _):
        said = [process.stdout.readline() for _ in range(4)]
    assert said[0] == "The game is saved in table.krk as it goes.\n"
    links = [re.search(r"(http\S+)/#(\S+)$", line) for line in said[1:]]
    assert Game.replay((tmp_path / "table.krk").read_text()).seed is None
    assert [line.partition(": ")[0] for line in said[1:]] == [
        "the link of Player 1",
        "the link of Player 2",
        "to watch",
    ]
    assert len({link[2] for link in links}) == 3


def test_links_outlive_the_server_and_end_with_the_game(tmp_path):
    def links_of(*words):
        with running(tmp_path, *words) as (process, _):
            said = [process.stdout.readline() for _ in range(4)]
        return [line.partition("#")[2] for line in said[1:]]

    new = ["--rules", "mini-low", "--people", 2]
    first = links_of(*new)
    assert all(first)
    assert links_of("--load", "table.krk") == first
    assert not set(links_of(*new)) & set(first), "a new game has new keys"
    for name in ("table.krk", ".table.krk-links.json", "table-2.krk", ".table-2.krk-links.json"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    (tmp_path / ".table.krk-links.json").chmod(0o644)
    with running(tmp_path, "--load", "table.krk") as (process, _):
        _, err = process.communicate(timeout=60)
    assert (process.returncode, len(err.splitlines())) == (2, 1)
    assert "only you may read" in err


def test_the_first_page_comes_before_the_engine(tmp_path):
    from urllib.request import urlopen

    start = time.monotonic()
    with running(tmp_path, "--rules", "mini-low", "--against", "greedy") as (_, address):
        for _ in range(100):
            with contextlib.suppress(OSError), urlopen(address) as answer:
                assert b"table.js" in answer.read()
                break
            time.sleep(0.05)
        assert time.monotonic() - start < 10  # two seconds on a machine that does nothing else


def test_an_unknown_agent_ends_it_with_a_sentence(tmp_path):
    with running(tmp_path, "--rules", "mini-low", "--against", "greddy") as (process, _):
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.startswith("krypenv: unknown agent 'greddy' (did you mean 'greedy'?)")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--seat", 2], "the seats are 0 to 1, one for each person, so people can't have 2"),
        (["--seat", 0, "--seat", 0], "one for each person, so people can't have 0, 0"),
        (["--people", 3], "the seats are 0 to 1"),
        (["--people", 3, "--seat", 0, "--seat", 1], "--people 3 needs as many --seat, not 2"),
        (["--players", 4, "--against", "greedy", "--against", "greedy"], "3 other players are needed"),
        (["--people", 2, "--against", "greedy"], "0 other players are needed"),
        (["--load", "x.krk", "--seed", 1], "the record of --load has the rules, the deal and the seats"),
        (["--people", 7], "people is from 0 to 6, not 7"),
        (["--host", "no such host"], "'no such host' is no address of this machine"),
        (["--rules", "krypkasinoo"], "krypkasinoo"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    done = krypenv("table", "--no-open", "--port", 0, *words)
    assert done.exit_code == 2, done.output
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(Path().glob("*.krk"))


def test_a_busy_port_is_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with bound("127.0.0.1", 0) as busy:
        port = busy.getsockname()[1]
        done = krypenv("table", "--no-open", "--port", port)
    assert (done.exit_code, done.stderr) == (
        2,
        f"krypenv: port {port} is busy; give another one by --port, or --port 0 for any free one\n",
    )


def test_who_sits_where():
    assert seats.PERSON == table.PERSON
    assert players_at(4, [1], ["a", "b", "c"]) == ["c", "person", "a", "b"]
    assert players_at(4, [0, 2], ["champion"]) == ["person", "champion", "person", "champion"]
    assert players_at(2, [0, 1], []) == ["person", "person"]
    it = TableSettings.of(players=4, teams=2, people=2)
    assert it.players(rules_of(it)) == ["person", "person", "champion", "champion"]
