"""The champion, and the models that come with the package."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from support.commands import krypenv
from support.networks import some_network
from support.positions import play_whole_games
from support.small_files import tiny_protocol

from krypenv import Game, Rules, agents
from krypenv.agents import champion as champion_module
from krypenv.agents.champion import MODELS, SHIPPED, shipped_model
from krypenv.agents.neural.guided import Guided
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import load_model, save_model
from krypenv.agents.neural.network import inputs_of
from krypenv.agents.search.rollout import Rollout
from krypenv.agents.search.search import Search
from krypenv.training.evaluation.arena.arena import ArenaSettings, run_arena
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.evaluation.score.board import make_board
from krypenv.training.runs.journal import read_journal


def test_the_shipped_models_are_whole_and_small_and_for_the_rules_that_are_listed() -> None:
    for name, rules in SHIPPED.items():
        arrays, card = load_model(MODELS / name)
        assert (card["rules"], *card["also"]) == rules
        assert {"command", "seed", "frames", "seconds"} <= set(card)
        assert all(np.isfinite(array).all() for array in arrays.values())
        assert {shipped_model(Rules.parse(text)) for text in rules} == {MODELS / name}
    assert {path.name for path in MODELS.iterdir() if path.is_dir()} == set(SHIPPED)
    assert sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file()) < 5e6


@pytest.mark.parametrize(
    ("text", "kind", "believes"),
    [
        ("krypkasino players=2 games=3", Guided, True),
        ("krypkasino players=4", Guided, True),
        ("krypkasino players=6 teams=2", Guided, True),
        ("howto players=2", Guided, True),
        ("howto players=3", Rollout, False),
        ("kasino-sweden players=2 sweep_points=2", Search, False),
        ("mulle players=3", Rollout, False),
    ],
)
def test_the_champion_is_what_the_package_has_for_the_rules(text: str, kind: type, believes: bool) -> None:
    rules = Rules.parse(text)
    champion = agents.make("champion(worlds=2)", rules, seed=1)
    assert (champion.name, champion.rules) == ("champion(worlds=2)", rules)
    assert isinstance(champion, kind)
    assert bool(getattr(agents.make("champion", rules), "believes", False)) == believes
    note = "" if kind is Guided else f" ({kind.__name__.lower()}: no model for these rules)"
    assert agents.label_of("champion", rules) == f"champion{note}"


@pytest.mark.parametrize("text", ["kasino-sweden players=2", "kasino-finland players=4 teams=2"])
def test_the_model_of_a_relative_is_taken_where_it_is(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = Rules.parse(text)
    monkeypatch.setattr(champion_module, "MODELS", tmp_path)
    monkeypatch.setattr(champion_module, "SHIPPED", {})
    assert isinstance(agents.make("champion(worlds=2)", rules), Search)
    save_model(tmp_path / "it", some_network(inputs_of(rules)), rules)
    monkeypatch.setattr(champion_module, "SHIPPED", {"it": (str(rules),)})
    champion = agents.make("champion(worlds=2)", dataclasses.replace(rules, games=3))
    assert isinstance(champion, Guided)
    assert isinstance(agents.make("champion(worlds=0)", rules), LearnedAgent)
    play_whole_games(champion.rules, [champion], games=1)


def test_an_arena_notes_the_weights_that_it_plays_with(tmp_path: Path) -> None:
    agents_of_two = ("champion(worlds=1)", "champion(worlds=0)", "greedy")
    run_arena(ArenaSettings(agents=agents_of_two, rules=Rules.preset(players=2), out=tmp_path, deals=1))
    weights, noted = [load_model(MODELS / "two")[1]["weights_sha256"]], read_journal(tmp_path, "arena").header.identity
    assert [each["weights_sha256"] for each in noted["agents"]] == [weights, weights, []]


def test_it_beats_the_tactician() -> None:
    """The shipped networks alone, over deals that follow from the seed: the interval is above 0."""
    rules = Rules.preset(players=2)
    assert duplicate_match("champion(worlds=0)", "tactician", rules, deals=200, seed=5).low > 0


def test_every_output_says_how_it_plays_without_a_network(tmp_path: Path) -> None:
    name, label = "champion(worlds=2)", "champion(worlds=2) (search: no model for these rules)"
    file, position = tmp_path / "it.json", Game(Rules.preset("mini-low"), seed=1).position()
    for words in (
        ("evaluate", name, "--against", "greedy", "--deals", 2, "--rules", "mini-low"),
        ("arena", name, "greedy", "--deals", 2, "--rules", "mini-low", "--out", tmp_path / "out"),
        ("analyze", position, "--agent", name),
        ("exploit", name, "--rules", "mini-sweep", "--exact"),
    ):
        assert label in krypenv(*words, "--json", file, columns=400).stdout
        assert label in file.read_text()
    assert read_journal(tmp_path / "out", "arena").header.identity["agents"][0]["name"] == name
    with tiny_protocol():
        scored = tmp_path / "scores" / "score.json"
        assert label in krypenv("score", name, "--table", "two", "--quick", "--out", scored, columns=400).stdout
        assert json.loads(scored.read_text())["agent"]["name"] == name
        assert label in make_board(scored.parent).read_text()
