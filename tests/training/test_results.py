"""The results of an arena: a folder that more deals extend, and that is not mixed with another arena's."""

import json
import shlex

import pytest
from support.arenas import HIGH, LOW, RULES, arena, same_games
from support.commands import krypenv
from support.games import some_arrays

from krypenv import Rules
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import Shape
from krypenv.training import ArenaSettings, load_games, run_arena, standings
from krypenv.training.runs.journal import JOURNAL, encode, read_journal


def test_more_deals_extend_an_arena_and_fewer_leave_it(tmp_path):
    whole = arena(tmp_path / "whole", "random", "greedy", deals=30, chunk=8, luck="on")
    for deals in (3, 11, 30, 5, 30):
        seen = []
        games = arena(tmp_path / "steps", "random", "greedy", deals=deals, chunk=8, luck="on",
                      progress=lambda *at, seen=seen: seen.append(at))  # fmt: skip
    assert seen == [(60, 60)]
    assert same_games(games, whole)
    assert standings(games).adjusted.margin[0, 1] == standings(whole).adjusted.margin[0, 1]


def test_the_header_says_what_the_results_are_of(tmp_path):
    run_arena(
        ArenaSettings(agents=("tactician(shed=True)", "greedy"), out=tmp_path, deals=2, deals_from="test", seed=3)
    )
    _, identity, about = read_journal(tmp_path, "arena").header
    assert [agent["name"] for agent in identity["agents"]] == ["tactician(shed=True)", "greedy"]
    assert (identity["rules"], identity["deals_list"], identity["seed"]) == (str(RULES), "test v1", 3)
    assert {"krypenv", "numpy", "numba"} <= set(about["machine"])
    done = krypenv(*shlex.split(about["command"])[1:])
    assert done.exit_code == 0, done.output
    assert "4 games, 4 of them played" in done.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rules": Rules.preset("howto")}, "rules 'krypkasino players=2', not 'howto players=2'; give another --out"),
        ({"agents": (HIGH, LOW)}, "agents 1 name 'lowest', not 'highest'"),
        ({"agents": (LOW, HIGH, "random")}, "agents"),
        ({"deals_from": "test"}, "deals list 'dev v1', not 'test v1'"),
        ({"seed": 1}, "seed 0, not 1"),
        ({"chunk": 7}, "chunk 100, not 7"),
        ({"luck": "on"}, "luck None, not 'rollouts by"),
    ],
)
def test_a_folder_of_another_arena_is_refused_and_left_as_it_is(tmp_path, options, sentence):
    arena(tmp_path, LOW, HIGH, deals=2)
    before = (tmp_path / JOURNAL).read_bytes()
    with pytest.raises(ValueError, match=f"an arena with {sentence}"):
        arena(tmp_path, *options.pop("agents", (LOW, HIGH)), deals=9, **options)
    assert (tmp_path / JOURNAL).read_bytes() == before


def test_a_model_that_was_trained_on_is_another_agent(tmp_path):
    model, folder = tmp_path / "model", tmp_path / "arena"
    for seed in (1, 2):
        save_model(model, some_arrays(Shape(16, 8, 4), seed), RULES)
        card = json.loads((model / "model.json").read_text())
        if seed == 1:
            games = arena(folder, str(model), "greedy", deals=4)
            identity = read_journal(folder, "arena").header.identity
            assert identity["agents"][0]["weights_sha256"] == [card["weights_sha256"]]
            assert same_games(arena(folder, str(model), "greedy", deals=4), games)
    with pytest.raises(ValueError, match="an arena with agents 1 weights sha256 1"):
        arena(folder, str(model), "greedy", deals=4)
    with pytest.raises(ValueError, match="was trained for 'krypkasino players=2' and can't play"):
        arena(tmp_path / "new", str(model), "greedy", rules=Rules.preset("krypkasino", players=3))
    assert not (tmp_path / "new").exists()


def test_a_folder_without_games_of_an_arena_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds no results of an arena"):
        load_games(tmp_path)
    arena(tmp_path, LOW, HIGH, deals=2)
    (tmp_path / JOURNAL).write_bytes((tmp_path / JOURNAL).read_bytes().split(b"\n")[0] + b"\n")
    with pytest.raises(ValueError, match="played no games yet"):
        load_games(tmp_path)
    data = encode({"kind": "study", "format": 1}) + b'{"key": "a", "result": 1}\n'
    (tmp_path / JOURNAL).write_bytes(data)
    for call in (load_games, lambda folder: arena(folder, LOW, HIGH)):
        with pytest.raises(ValueError, match="is of 'study' in format 1, and an arena"):
            call(tmp_path)
    assert (tmp_path / JOURNAL).read_bytes() == data
