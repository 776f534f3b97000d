"""`krypenv arena`: plays, prints, goes on, and tells what is wrong in one sentence."""

import json
import os

import pytest
from support.commands import krypenv

from krypenv import Rules
from krypenv.training import ArenaSettings, load_games
from krypenv.training.evaluation.arena.payoffs import payoffs


def test_the_command_plays_prints_and_goes_on(tmp_path):
    folder, file = tmp_path / "runs" / "arena", tmp_path / "figures.json"
    done = krypenv("arena", "tactician", "greedy", "random", "--deals", 20, "--chunk", 10,
                   "--out", folder, "--json", file)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "3 agents, 3 matches, 20 deals of dev v1, 120 games, 0 of them played" in done.stdout
    games = load_games(folder)
    assert f"{payoffs(games).margin[0, 1]:+.2f}" in done.stdout
    figures = json.loads(file.read_text())
    assert figures["arena"]["about"]["deals"] == 20
    assert figures["standings"]["games"] == 120
    again = krypenv("arena", "--out", folder, "--deals", 30)
    assert again.exit_code == 0, again.output
    assert "180 games, 120 of them played" in again.stdout
    assert len(load_games(folder).deal) == 180
    printed = krypenv("arena", "--out", folder)
    assert "180 games, 180 of them played" in printed.stdout


def test_the_command_says_that_it_stopped_early(tmp_path):
    done = krypenv("arena", "greedy", "random", "--deals", 500, "--precision", 20, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "stopped after 200 deals: every pair's interval is at most ±20" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["greedy", "greddy"], "unknown agent 'greddy' (did you mean 'greedy'?)"),
        (["greedy"], "an arena needs at least two agents, not 1"),
        ([], "arena holds no results of an arena"),
        (["greedy", "greedy"], "greedy is named twice"),
        (["greedy", "random", "--deals", 0], "deals is at least 1, not 0"),
        (["greedy", "random", "--precision", -1], "precision is above 0, not -1"),
        (["greedy", "random", "--players", 9], "krypkasino is not played by 9 players"),
        (["greedy", "random", "--deals-from", "dex"], "there is no list of deals 'dex' (did you mean 'dev'?)"),
        (["greedy", "random", "--out", "taken"], "taken is a file; --out is a folder"),
        (["greedy", "random", "--out", "taken/below"], "taken/below: Not a directory"),
    ],
)
def test_the_command_tells_what_is_wrong_in_one_sentence(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").touch()
    done = krypenv("arena", "--out", "arena", *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("krypenv: ")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert os.listdir() == ["taken"]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("kasino-sweden", ()),
        ("overspader", ("--players", 4, "--teams", 2)),
        ("kasino-finland", ("--players", 3)),
        ("mulle", ("--players", 4)),
    ],
)
def test_the_commands_take_every_preset(name, size, tmp_path):
    done = krypenv("evaluate", "greedy", "--against", "random", "--rules", name, *size, "--deals", 4)
    assert done.exit_code == 0, done.output
    assert "high scores are good" in " ".join(done.output.split())
    words = ("random", "greedy", "--rules", name, *size, "--deals", 2, "--out", tmp_path)
    done = krypenv("arena", *words, "--report")
    assert done.exit_code == 0, done.output
    assert len(load_games(tmp_path).deal) == ArenaSettings(
        ("random", "greedy"), Rules.preset(name, **dict(zip(("players", "teams"), size[1::2], strict=False))),
        tmp_path / "x", deals=2,
    ).num_games  # fmt: skip
    page = next(tmp_path.glob("*.html")).read_text()
    assert "The margin is the agent&#39;s mean score minus that of the others" in page
