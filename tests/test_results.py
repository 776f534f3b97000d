"""The results of an arena: a file that survives a kill at any moment, and is not mixed with another arena's."""

import json
import shlex
import subprocess
import sys

import pytest
from filelock import FileLock
from support import some_arrays
from test_arena import HIGH, LOW, RULES, DiesOnWorkers, arena, same_games
from test_cli import krypenv

from krypenv import Rules
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import Shape
from krypenv.training import ArenaSettings, load_games, run_arena
from krypenv.training.arena.result_lines import encode
from krypenv.training.arena.results import FILE
from krypenv.training.common.folders import LOCK


def lines(folder):
    """The lines of the results, the header first, then sorted; without times and the state of the machine."""
    header, *rest = map(json.loads, (folder / FILE).read_text().splitlines())
    del header["machine"]["load"], header["crc"]
    for line in rest:
        del line["seconds"], line["crc"]
    return [header, *sorted(rest, key=lambda line: (line["match"], line["deal"]))]


# ---------------------------------------------------------------------- cut off and gone on with

KILLED = """
import os, signal, sys
from krypenv import Rules
from krypenv.training import ArenaSettings, run_arena
from krypenv.training.arena import results

folder, moment, workers = sys.argv[1], sys.argv[2], int(sys.argv[3])

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def progress(done, games):
    if moment == "between" and done >= games // 3:
        die()

append = results.Results.append
def torn(self, lines):
    if moment == "within" and self.num_games >= 60:
        data = b"".join(map(results.encode, lines))
        self.file.write(data[: 2 * len(data) // 3])
        self.file.flush()
        die()
    append(self, lines)
results.Results.append = torn

if __name__ == "__main__":
    settings = ArenaSettings(("random", "greedy", "tactician"), Rules.preset("krypkasino"), folder, deals=25, chunk=4,
                             workers=workers)
    if moment == "header":
        results.write_whole = lambda path, data: die()
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
        found.append((folder / FILE).read_bytes() if (folder / FILE).exists() else b"")
    assert not found[0]
    assert found[1].endswith(b"\n")
    assert found[1].count(b"\n") >= 1 + 25
    assert not found[2].endswith(b"\n")
    assert len(load_games(folder).deal) % (2 * 4) == 0
    agents = ("random", "greedy", "tactician")
    after = arena(folder, *agents, deals=25, chunk=4)
    whole = arena(tmp_path / "whole", *agents, deals=25, chunk=4)
    assert same_games(after, whole)
    assert same_games(after, load_games(folder))
    assert lines(folder)[1:] == lines(tmp_path / "whole")[1:]


@pytest.mark.parametrize("cut", [1, 40, 400, 1100, 2500])
def test_torn_anywhere_it_goes_on_to_the_same_results(tmp_path, cut):
    arena(tmp_path, "random", "greedy", deals=10, chunk=4)
    whole = lines(tmp_path)
    file = tmp_path / FILE
    header = file.read_bytes().index(b"\n") + 1
    file.write_bytes(file.read_bytes()[: max(header, file.stat().st_size - cut)])
    assert file.read_bytes().count(b"\n") - 1 < 10
    arena(tmp_path, "random", "greedy", deals=10, chunk=4)
    assert lines(tmp_path) == whole


def test_a_worker_that_dies_is_told_and_what_was_played_is_kept(tmp_path):
    agents = (("dying", DiesOnWorkers), "random", "greedy")
    with pytest.raises(ChildProcessError, match="a worker process has died; the same command resumes"):
        arena(tmp_path, *agents, chunk=4, workers=2)
    assert same_games(arena(tmp_path, *agents, chunk=4), arena(tmp_path / "whole", *agents, chunk=4))


def test_more_deals_extend_an_arena_and_fewer_leave_it(tmp_path):
    whole = arena(tmp_path / "whole", "random", "greedy", deals=30, chunk=8)
    for deals in (3, 11, 30, 5):
        games = arena(tmp_path / "steps", "random", "greedy", deals=deals, chunk=8)
    assert same_games(games, whole)
    assert lines(tmp_path / "steps")[1:] == lines(tmp_path / "whole")[1:]


def test_a_complete_arena_is_only_read(tmp_path):
    games = arena(tmp_path, "random", "greedy")
    before = (tmp_path / FILE).read_bytes()
    seen = []
    assert same_games(arena(tmp_path, "random", "greedy", progress=lambda *done: seen.append(done)), games)
    assert (tmp_path / FILE).read_bytes() == before
    assert seen == [(40, 40)]


# ---------------------------------------------------------------------- what the results are of


def test_the_header_says_what_the_results_are_of(tmp_path):
    arena(tmp_path, "tactician(shed=True)", "greedy", deals=2, deals_from="test", seed=3)
    header = lines(tmp_path)[0]
    assert [agent["name"] for agent in header["agents"]] == ["tactician(shed=True)", "greedy"]
    assert (header["rules"], header["deals_list"], header["seed"]) == (str(RULES), "test v1", 3)
    assert {"krypenv", "numpy", "numba"} <= set(header["machine"])
    done = krypenv(*shlex.split(header["command"])[1:])
    assert done.exit_code == 0, done.output
    assert "4 games, 4 of them played" in done.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"rules": Rules.preset("howto")},
            "other rules: krypkasino players=2, not howto players=2; give another --out",
        ),
        ({"agents": (HIGH, LOW)}, "other agents: lowest, highest, not highest, lowest"),
        ({"agents": (LOW, HIGH, "random")}, "other agents"),
        ({"deals_from": "test"}, "other deals: dev v1, not test v1"),
        ({"seed": 1}, "other seed: 0, not 1"),
        ({"chunk": 7}, "other deals in a chunk: 100, not 7"),
    ],
)
def test_a_folder_of_another_arena_is_refused_and_left_as_it_is(tmp_path, options, sentence):
    settings = {"agents": (LOW, HIGH), "rules": RULES, "out": tmp_path, "deals": 5}
    run_arena(ArenaSettings(**settings))
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(ValueError, match=sentence):
        run_arena(ArenaSettings(**{**settings, "deals": 9, **options}))
    assert (tmp_path / FILE).read_bytes() == before


def test_a_folder_of_an_earlier_version_is_gone_on_with(tmp_path):
    """It has a hash of all fields that rules had then; the text of the rules says the same and outlives new fields."""
    games = arena(tmp_path, LOW, HIGH, deals=5)
    header, *rest = (tmp_path / FILE).read_bytes().splitlines(keepends=True)
    (tmp_path / FILE).write_bytes(encode({**json.loads(header), "rules_sha256": "0" * 64}) + b"".join(rest))
    assert same_games(load_games(tmp_path), games)
    with pytest.raises(ValueError, match="other rules: krypkasino players=2, not howto players=2"):
        arena(tmp_path, LOW, HIGH, deals=5, rules=Rules.preset("howto"))
    assert len(arena(tmp_path, LOW, HIGH, deals=150).deal) == 300
    assert "rules_sha256" not in lines(tmp_path)[0]


def test_a_model_that_was_trained_on_is_another_agent(tmp_path):
    model, folder = tmp_path / "model", tmp_path / "arena"
    for seed in (1, 2):
        save_model(model, some_arrays(Shape(16, 8, 4), seed), RULES)
        card = json.loads((model / "model.json").read_text())
        if seed == 1:
            games = arena(folder, str(model), "greedy", deals=4)
            assert lines(folder)[0]["agents"][0]["weights_sha256"] == [card["weights_sha256"]]
            assert same_games(run_arena(ArenaSettings.of_folder(folder)), games)
    with pytest.raises(ValueError, match="other agents: other weights, not those of the models now"):
        arena(folder, str(model), "greedy", deals=4)
    with pytest.raises(ValueError, match="was trained for 'krypkasino players=2' and can't play"):
        arena(tmp_path / "new", str(model), "greedy", rules=Rules.preset("krypkasino", players=3))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1 of .* is not one of an arena's results"),
        ("a table\n", "line 1 of .* is not one of an arena's results"),
        ('{"format": 99}\n', "in format 99; this version reads format 1"),
    ],
)
def test_a_file_that_is_no_results_is_left_as_it_is(tmp_path, text, sentence):
    (tmp_path / FILE).write_text(text)
    for call in (load_games, lambda folder: arena(folder, LOW, HIGH), ArenaSettings.of_folder):
        with pytest.raises(ValueError, match=sentence):
            call(tmp_path)
    assert (tmp_path / FILE).read_text() == text


def test_a_line_changed_by_hand_is_named(tmp_path):
    arena(tmp_path, LOW, HIGH)
    texts = (tmp_path / FILE).read_text().splitlines(keepends=True)
    (tmp_path / FILE).write_text("".join([*texts[:3], '{"match": 0}\n', *texts[4:]]))
    with pytest.raises(ValueError, match=r"line 4 of .* the file was changed"):
        load_games(tmp_path)


def test_two_arenas_do_not_write_to_one_folder(tmp_path):
    arena(tmp_path, LOW, HIGH)
    before = (tmp_path / FILE).read_bytes()
    with FileLock(tmp_path / LOCK), pytest.raises(ValueError, match="another process is writing to"):
        arena(tmp_path, LOW, HIGH, deals=50)
    assert (tmp_path / FILE).read_bytes() == before
    arena(tmp_path, LOW, HIGH, deals=50)


def test_an_arena_of_nothing_yet_has_no_games(tmp_path):
    with pytest.raises(ValueError, match="holds no results of an arena"):
        load_games(tmp_path)
    arena(tmp_path, LOW, HIGH, deals=2)
    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes().split(b"\n")[0] + b"\n")
    with pytest.raises(ValueError, match="played no games yet"):
        load_games(tmp_path)
