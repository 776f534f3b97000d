"""The results of an arena: a file that survives a kill at any moment, and is not mixed with another arena's."""

import json
import shlex
import subprocess
import sys

import pytest
from support.arenas import HIGH, LOW, RULES, arena, same_games
from support.commands import krypenv
from support.games import some_arrays

from krypenv import Rules
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import Shape
from krypenv.training import ArenaSettings, load_games, run_arena
from krypenv.training.evaluation.arena.stored_games import chunks_of, read_results
from krypenv.training.runs.journal import JOURNAL, encode


def lines(folder):
    """The results by their place, without times."""
    return [{**chunk, "seconds": None} for chunk in chunks_of(read_results(folder).results).values()]


# ---------------------------------------------------------------------- cut off and gone on with

KILLED = """
import os, signal, sys
from krypenv import Rules
from krypenv.training import ArenaSettings, run_arena
from krypenv.training.runs import journal, tasks
from krypenv.training.runs.parts import Place

folder, moment, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

def progress(done, games):
    if moment == "between" and done >= games // 3:
        die()
    if moment == "within" and done >= 60:
        tasks.append_whole = torn

def torn(file, data):
    file.write(data[: 2 * len(data) // 3])
    file.flush()
    die()

if __name__ == "__main__":
    settings = ArenaSettings(agents=("random", "greedy", "tactician"), out=folder, deals=25, chunk=4, workers=workers)
    if moment == "header":
        journal.write_whole = die
    run_arena(settings, progress)
"""


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_to_the_same_results(tmp_path):
    folder = tmp_path / "arena"
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    found = []
    for moment, workers in (("header", 1), ("between", 2), ("within", 1)):
        done = subprocess.run([sys.executable, script, folder, moment, str(workers)], timeout=120, check=False)
        assert done.returncode == -9
        found.append((folder / JOURNAL).read_bytes() if (folder / JOURNAL).exists() else b"")
    assert not found[0]
    assert found[1].endswith(b"\n")
    assert found[1].count(b"\n") >= 1 + 7
    assert not found[2].endswith(b"\n")
    assert len(load_games(folder).deal) % (2 * 4) == 0
    agents = ("random", "greedy", "tactician")
    after = arena(folder, *agents, deals=25, chunk=4)
    whole = arena(tmp_path / "whole", *agents, deals=25, chunk=4)
    assert same_games(after, whole)
    assert same_games(after, load_games(folder))
    assert lines(folder) == lines(tmp_path / "whole")


def test_a_journal_with_lines_torn_lost_and_moved_goes_on_to_the_same_results(tmp_path):
    whole = arena(tmp_path, "random", "greedy", deals=10, chunk=2)
    before, file = lines(tmp_path), tmp_path / JOURNAL
    header, *chunks = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(header + b"".join(reversed(chunks[1:]))[:-40])
    assert same_games(arena(tmp_path, "random", "greedy", deals=10, chunk=2), whole)
    assert lines(tmp_path) == before


def test_more_deals_extend_an_arena_fewer_leave_it_and_no_more_play_nothing(tmp_path):
    whole = arena(tmp_path / "whole", "random", "greedy", deals=30, chunk=8)
    seen = []
    for deals in (3, 11, 30, 5, 30):
        seen.clear()
        games = arena(
            tmp_path / "steps", "random", "greedy", deals=deals, chunk=8, progress=lambda *at: seen.append(at)
        )
    assert seen == [(60, 60)]
    assert same_games(games, whole)
    assert lines(tmp_path / "steps") == lines(tmp_path / "whole")


# ---------------------------------------------------------------------- what the results are of


def test_the_header_says_what_the_results_are_of(tmp_path):
    arena(tmp_path, "tactician(shed=True)", "greedy", deals=2, deals_from="test", seed=3)
    _, identity, about = read_results(tmp_path).header
    assert [agent["name"] for agent in identity["agents"]] == ["tactician(shed=True)", "greedy"]
    assert (identity["rules"], identity["deals_list"], identity["seed"]) == (str(RULES), "test v1", 3)
    assert {"krypenv", "numpy", "numba"} <= set(about["machine"])
    done = krypenv(*shlex.split(about["command"])[1:])
    assert done.exit_code == 0, done.output
    assert "4 games, 4 of them played" in done.stdout


def test_a_folder_of_another_arena_is_refused_and_left_as_it_is(tmp_path):
    settings = {"agents": (LOW, HIGH), "rules": RULES, "out": tmp_path, "deals": 5}
    run_arena(ArenaSettings(**settings))
    before = (tmp_path / JOURNAL).read_bytes()
    for options, sentence in (
        ({"rules": Rules.preset("howto")}, "rules 'krypkasino players=2', not 'howto players=2'; give another --out"),
        ({"agents": (HIGH, LOW)}, "agents 1 name 'lowest', not 'highest'"),
        ({"agents": (LOW, HIGH, "random")}, "agents"),
        ({"deals_from": "test"}, "deals list 'dev v1', not 'test v1'"),
        ({"seed": 1}, "seed 0, not 1"),
        ({"chunk": 7}, "chunk 100, not 7"),
    ):
        with pytest.raises(ValueError, match=f"an arena with {sentence}"):
            run_arena(ArenaSettings(**{**settings, "deals": 9, **options}))
        assert (tmp_path / JOURNAL).read_bytes() == before


def test_a_model_that_was_trained_on_is_another_agent(tmp_path):
    model, folder = tmp_path / "model", tmp_path / "arena"
    for seed in (1, 2):
        save_model(model, some_arrays(Shape(16, 8, 4), seed), RULES)
        card = json.loads((model / "model.json").read_text())
        if seed == 1:
            games = arena(folder, str(model), "greedy", deals=4)
            assert read_results(folder).header.identity["agents"][0]["weights_sha256"] == [card["weights_sha256"]]
            assert same_games(run_arena(ArenaSettings.of_folder(folder)), games)
    with pytest.raises(ValueError, match="an arena with agents 1 weights sha256 1"):
        arena(folder, str(model), "greedy", deals=4)
    with pytest.raises(ValueError, match="was trained for 'krypkasino players=2' and can't play"):
        arena(tmp_path / "new", str(model), "greedy", rules=Rules.preset("krypkasino", players=3))
    assert not (tmp_path / "new").exists()


def test_a_file_that_is_no_results_is_left_as_it_is(tmp_path):
    data = encode({"kind": "study", "format": 1}) + b'{"key": "a", "result": 1}\n'
    (tmp_path / JOURNAL).write_bytes(data)
    for call in (load_games, lambda folder: arena(folder, LOW, HIGH), ArenaSettings.of_folder):
        with pytest.raises(ValueError, match="is of 'study' in format 1, and an arena"):
            call(tmp_path)
    assert (tmp_path / JOURNAL).read_bytes() == data


def test_an_arena_of_nothing_yet_has_no_games(tmp_path):
    with pytest.raises(ValueError, match="holds no results of an arena"):
        load_games(tmp_path)
    arena(tmp_path, LOW, HIGH, deals=2)
    (tmp_path / JOURNAL).write_bytes((tmp_path / JOURNAL).read_bytes().split(b"\n")[0] + b"\n")
    with pytest.raises(ValueError, match="played no games yet"):
        load_games(tmp_path)
