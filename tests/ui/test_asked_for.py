"""What is asked for is checked before any work: numbers, files, arguments, agents; and how commands end."""

import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from support.command_lines import (
    BY_SETTINGS,
    COMMANDS,
    GIVEN,
    clear,
    folder_with_games,
    run_line,
    settings_command,
    tiny_work,
)
from support.commands import krypenv
from support.places import ROOT
from support.small_files import files_of
from support.studies import played

from krypenv import Game, Rules
from krypenv.training.cli.outputs import MOST_TEXT, read_text
from krypenv.training.evaluation.arena.arena import matches
from krypenv.training.evaluation.matches import duplicate as evaluation
from krypenv.training.runs.executors import process_map
from krypenv.training.settings.base import check_number
from krypenv.ui.browser.serving import bound


def refused(*words):
    """The sentence with which a command is refused."""
    done = krypenv(*words)
    assert done.exit_code == 2, done.output
    assert re.fullmatch(r"krypenv: .+\n", done.stderr)
    return done.stderr


# ---------------------------------------------------------------------- numbers


@pytest.mark.slow  # a tiny piece of the work of every command
def test_the_legal_command_lines_are_legal():
    needs_more = {"arena teams", "arena ray"}
    with tiny_work(), folder_with_games() as folder:
        lines = {name: words for name, words in COMMANDS.items() if name not in needs_more}
        for words in [*lines.values(), *map(settings_command, BY_SETTINGS)]:
            assert run_line(words), words
            clear(folder)


@pytest.mark.parametrize(
    ("value", "high", "sentence"),
    [
        (0, 9, "it should be greater than or equal to 1, not 0"),
        (10, 9, "it should be less than or equal to 9, not 10"),
        (True, 9, "it should be a valid integer, not True"),
        (10**5000, 9, "it should be less than or equal to 9, not <int with a number of too many digits>"),
        (None, 1.0, "it should be a valid number, not None"),
        (float("nan"), 1.0, "it should be [^ ]+.*, not nan"),
    ],
    ids=range(6),
)
def test_a_number_beyond_its_bounds_is_refused(value, high, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        check_number("it", value, 1, high)
    check_number("it", high, 1, high)


def test_more_matches_than_can_be_played_are_refused():
    assert len(matches(100, 2)) == 4950
    with pytest.raises(ValueError, match="more than 10,000 matches"):
        matches(50, 6)


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize(
    "place", ["folder", "taken/below.json", "full/x", "n" * 300, "", "none/../taken/x", "/dev/null"]
)
def test_a_file_that_can_not_be_written_is_told_before_the_work(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "taken").touch()
    (tmp_path / "full").symlink_to("nowhere/at/all")
    monkeypatch.setattr(evaluation, "play_duplicates", lambda *_, **__: pytest.fail("it began"))
    before = sorted(tmp_path.rglob("*"))
    refused("evaluate", "greedy", "--against", "random", "--deals", 1, "--json", place)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("words", [*COMMANDS.values(), *map(settings_command, BY_SETTINGS)], ids=lambda words: words[0])
def test_every_output_of_every_command_is_tried_before_the_work(words):
    outputs = {"--json", "--out", "--picture", "--annotate", "--board"}
    with folder_with_games() as folder:
        (folder / "taken").touch()
        for at in [at + 1 for at, word in enumerate(words) if word in outputs]:
            place = "taken/below.png" if words[at - 1] == "--picture" else "taken/below"
            assert "taken/below" in refused(*words[:at], place, *words[at + 1 :])
            assert {path.name for path in folder.iterdir()} == GIVEN | {"taken"}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"\xff\xff", "is no text"), (b"[" + b"x" * MOST_TEXT, "has more than 1,000,000 characters"), (b"", "krypenv: ")],
    ids=range(3),
)
def test_a_file_that_can_not_be_read_is_named(tmp_path, content, sentence):
    path = tmp_path / "game.krk"
    path.write_bytes(content)
    assert sentence in refused("show", path)
    assert refused("show", tmp_path / "none") == f"krypenv: {tmp_path / 'none'}: No such file or directory\n"
    assert "Is a directory" in refused("show", tmp_path)


def test_a_closed_standard_input_is_told(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="the standard input is closed"):
        read_text("-")


# ---------------------------------------------------------------------- how commands end


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_is_told_and_a_torn_pipe_is_not(tmp_path):
    line = "-m krypenv evaluate greedy --against random --deals 2 --rules mini-low"
    words = [sys.executable, *line.split()]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (2, "krypenv: the standard output: No space left on device\n")
    reading, writing = os.pipe()
    os.close(reading)
    file = tmp_path / "match.json"
    done = subprocess.run(
        [*words, "--json", file], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=600, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
    assert file.exists()


def test_an_interruption_while_modules_are_loaded_is_one_line(tmp_path):
    (tmp_path / "pettingzoo.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    script = tmp_path / "krypenv"
    script.write_text("from krypenv.training.cli.commands import main\nmain()\n")

    def python(*words):
        own = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=own, check=False)

    for words in (("-m", "krypenv", "bench"), (str(script), "bench")):
        done = python(*words)
        assert (done.returncode, done.stderr) == (130, "krypenv: stopped\n")
    done = python("-c", "import krypenv")  # to whom it is a library an interruption is an exception
    assert "KeyboardInterrupt" in done.stderr


ENDLESS = """
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from krypenv import agents

class Endless:
    def __init__(self, rules, seed):
        self.brief, self.long = (agents.make(f"search(plies={plies})", rules, seed) for plies in (1, 32))

    def act(self, observations, action_masks):
        self.brief.act(observations, action_masks)
        Path("thinking").touch()
        return self.long.act(observations, action_masks)

class Waiting(Endless):
    def act(self, observations, action_masks):
        return ThreadPoolExecutor(1).submit(super().act, observations, action_masks).result()
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [("evaluate", "endless:Waiting", "--against", "random"),
                                   ("play", "--seat", "1", "--against", "endless:Endless")])  # fmt: skip
def test_an_interruption_ends_a_search_without_an_end(words, tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    line = [sys.executable, "-m", "krypenv", *words, "--players", "6", "--seed", "8"]
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(line, cwd=tmp_path, env=own, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "thinking").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        time.sleep(0.5)  # until it searches
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(timeout=60) == 130
        finally:
            process.kill()
        assert process.stderr.read() == b"krypenv: stopped\n"


def test_workers_say_nothing_of_an_interruption(capfd):
    def wait_for_it():
        with process_map(2) as work:
            list(work(partial(os.kill, os.getpid()), [0, signal.SIGINT, 0]))
            signal.pause()

    with pytest.raises(KeyboardInterrupt):
        wait_for_it()
    assert capfd.readouterr().err == ""


def test_a_lack_of_memory_is_one_sentence(monkeypatch):
    def ask_too_much(*_, **__):
        raise MemoryError

    monkeypatch.setattr(evaluation, "play_duplicates", ask_too_much)
    done = krypenv("evaluate", "greedy", "--against", "random")
    assert (done.exit_code, done.stderr) == (2, "krypenv: there is not enough memory for this\n")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("evaluate greedy --against random --against greddy", "unknown agent 'greddy'"),
        ("play --load none.krk", "none.krk: No such file"),
        ("play --load game.krk --players 3", "the record of --load has the rules and the deal"),
        ("play --against oracle-deck", "oracle-deck sees what is hidden"),
        ("play --players 4 --against greedy --against random", "3 other players are needed, named one by one or all"),
        ("play --rules whist", "unknown preset 'whist'"),
        ("rules --language tlh", "language should be 'en' or 'sv', not 'tlh'"),
        ("rules --players 9", "players"),
        ("table --seat 2", "the seats are 0 to 1, one for each person, so people can't have 2"),
        ("table --seat 0 --seat 0", "one for each person, so people can't have 0, 0"),
        ("table --people 3 --seat 0 --seat 1", "--people 3 needs as many --seat, not 2"),
        ("table --people 2 --against greedy", "0 other players are needed"),
        ("table --load x.krk --seed 1", "the record of --load has the rules, the deal and the seats"),
        ("table --people 7", "people should be less than or equal to 6, not 7"),
        ("table --study over.krk --seed 1", "the record of --study has the rules, the deal and the players"),
        ("table --study game.krk", "game.krk is not over, so its hands stay closed; play it to its end"),
        ("table --study torn.txt", "line 3: '6X' is no card"),
    ],
)
def test_what_does_not_fit_a_game_is_refused_before_it_begins(line, sentence, own_folder, monkeypatch):
    monkeypatch.setattr(evaluation, "play_duplicates", lambda *_, **__: pytest.fail("it began"))
    (own_folder / "game.krk").write_text(Game(Rules.preset("mini-low"), seed=1).record())
    (own_folder / "over.krk").write_text(played().record())
    (own_folder / "torn.txt").write_text("rules: mini-low\nhand 0: 2S 3C; hand 1: 4C 5D\ntable: 6X")
    before, words = files_of(own_folder), line.split()
    assert sentence in refused(*words, *["--no-open", "--port", 0] * (words[0] == "table"))
    assert {name: data for name, data in files_of(own_folder).items() if not name.endswith(".lock")} == before


def test_where_a_table_can_not_be_served_is_told_before_it_begins(own_folder):
    with bound("127.0.0.1", 0) as busy:
        port = busy.getsockname()[1]
        said = refused("table", "--no-open", "--port", port)
    assert said == f"krypenv: port {port} is busy; give another one by --port, or --port 0 for any free one\n"
    assert "'no such host' is no address of this machine" in refused("table", "--no-open", "--host", "no such host")
    assert not list(own_folder.iterdir())
