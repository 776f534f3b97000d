"""Settings: made of parts, named flat on the command line and in files; and what training asks of its packages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.commands import SETTINGS, krypenv, settings_of

from krypenv.training.learn.learner.versions import FIRST, TOO_NEW, check_versions
from krypenv.training.learn.selfplay.settings import GameRules, Length, Network, ParallelGames, Settings
from krypenv.training.runs import panels
from krypenv.training.runs.options import Command, options_of

ARENA: dict[str, Any] = {"agents": ("greedy", "random"), "out": "o"}
COMMANDS = [SETTINGS[name] for name in ("train", "imitate", "exploit")]


@pytest.mark.parametrize("command", COMMANDS)
def test_parts_and_names_of_options_make_the_same_settings(command: type[Command]) -> None:
    plain = command()
    assert command().changed(**plain.flat()) == plain
    assert list(plain.flat()) == list(options_of(command))
    assert {name: option.default for name, option in options_of(command).items()} == plain.flat()
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        plain.changed(nothing=1)


@pytest.mark.parametrize("name", SETTINGS)
def test_every_option_has_a_text_and_a_panel(name: str) -> None:
    assert SETTINGS[name].command == name
    for option in options_of(SETTINGS[name]).values():
        assert option.text[0].islower()
        assert not option.text.endswith(".")
        assert option.panel in panels.ORDER or (option.is_argument and not option.panel)
        assert not option.is_tuned or option.word in (int, float, bool, str)
        assert option.decides or option.name not in ("agent", "agents")


BY_RULES = {"players", "teams", "seat", "at"}  # numbers whose bounds follow from rules or a game


@pytest.mark.parametrize("name", SETTINGS)
def test_every_number_has_bounds_and_is_refused_outside_of_them(name: str) -> None:
    options = options_of(SETTINGS[name]).values()
    given = ARENA if name == "arena" else {option.name: "greedy" for option in options if option.is_required}
    assert {option.name for option in options if option.word in (int, float) and not option.bounds} <= BY_RULES
    for option in options:
        if option.bounds:
            for wrong in (option.bounds.low - 1, option.bounds.high + 1, float("nan"), True):
                with pytest.raises(ValueError, match=rf"^({option.name} is |an? \w+ needs at least )"):
                    SETTINGS[name].of(**{**given, option.name: wrong})


def test_parts_can_be_given_whole_or_by_the_names_of_their_options() -> None:
    whole = Settings(game=GameRules(players=4, teams=2), length=Length(frames=640), games=ParallelGames(envs=0))
    assert whole == Settings.of(preset="", players=4, teams=2, frames=640, envs=0)
    assert whole.changed(card=9).network == Network(card=9)
    assert whole.changed(card=9).game is not None
    assert whole.changed(card=9).changed(card=64) == whole


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("train", {}),
        ("train", {"preset": "strong", "gamma": 0.5, "critic": False, "also": ("krypkasino players=4",)}),
        ("train", {"preset": "", "minutes": 3.0, "reward": "win"}),
        ("train", {"minutes": 2.0, "rules": "kasino-sweden", "against": ("greedy", "random")}),
        ("train", {"init_from": "a model", "players": 4, "rule": ("games=2", "forced_sweep=False")}),
        ("imitate", {"games": 9, "learning_rate": 0.5, "rules": "kasino-sweden", "ray_address": "a:1"}),
        ("exploit", {"agent": "greedy", "exact": True, "own": ("random", "greedy"), "deals_from": "7"}),
        ("arena", {**ARENA, "pairs": True, "precision": 0.5, "first": 1, "workers": 2, "rule": ("games=2",)}),
        ("score", {"agent": "greedy", "out": Path("x.json"), "table": ("two",), "quick": True}),
        ("score", {"check": Path("x.json"), "share": 0.5}),
        ("data", {"agent": "greedy", "against": ("random",), "analyst": "search", "out": "o", "workers": 2}),
        ("solve", {"preset": "mini-sweep", "gap": 0.01, "rule": ("packs=1",)}),
        ("evaluate", {"agent": "greedy", "against": ("random", "tactician(shed=True)"), "deals_from": "test"}),
        ("analyze", {"source": "game.krk", "open": True, "mistake": 4.0, "annotate": Path("x.krk")}),
        ("play", {"seat": 1, "against": ("greedy",), "no_colour": True}),
        ("table", {"seat": (1,), "against": ("greedy",), "seed": 3, "language": "sv", "open": False}),
        ("rules", {"preset": "mulle", "players": 4, "teams": 2, "full": True, "language": "sv"}),
        ("show", {"record": "-", "gif": Path("x.gif"), "seconds": 0.5}),
        ("bench", {"only": ("engine*",), "first_use": True}),
        ("doctor", {"json": Path("d.json")}),
    ],
)
def test_the_printed_command_line_asks_for_the_same(name: str, given: dict[str, Any]) -> None:
    settings = SETTINGS[name].of(**given)
    assert settings_of(settings.line) == settings


def test_the_printed_command_line_has_only_what_differs_from_the_defaults() -> None:
    assert Settings.of(frames=5, card=64, gamma=0.5).line == "krypenv train --frames 5 --set gamma=0.5"
    assert Settings.of(rules="kasino-sweden").line == "krypenv train --rules kasino-sweden"
    assert SETTINGS["arena"].of(**ARENA, deals=9).line == "krypenv arena greedy random --out o --deals 9"


def test_what_identifies_a_run_does_not_depend_on_where_it_is_done() -> None:
    arena = SETTINGS["arena"].of(**ARENA)
    assert arena.changed(workers=2, ray=True, out="p", json=Path("j"), deals=7).identity() == arena.identity()
    assert arena.changed(chunk=7).identity() == {**arena.identity(), "chunk": 7}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--set", "gama=1"], "there is no setting 'gama' (did you mean 'gamma'?); krypenv train --settings lists"),
        (["--set", "gamma"], "--set takes NAME=VALUE, as in bc_epochs=4, not 'gamma'"),
        (["--set", "seed=1"], "seed is an option of its own; give --seed"),
        (["--set", "gamma=2"], "gamma is from 0 to 1, not 2.0"),
        (["--set", "gamma=x"], "gamma is a number, not 'x'"),
        (["--set", "card=1.5"], "card is a whole number, not '1.5'"),
        (["--set", "critic=no"], "critic is True or False, not 'no'"),
        (["--set", "reward=wins"], "wins"),
    ],
)
def test_what_is_no_hyperparameter_is_told_in_one_sentence(words: list[str], sentence: str) -> None:
    done = krypenv("train", *words)
    assert done.exit_code == 2
    assert done.stderr.startswith("krypenv: ")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_hyperparameters_are_listed_with_their_values_bounds_and_texts(tmp_path: Path) -> None:
    done = krypenv("train", "--preset", "strong", "--set", "card=9", "--settings", columns=400)
    assert done.exit_code == 0, done.output
    for option in options_of(Settings).values():
        row = re.search(rf"^│ {option.name} +(\S+) +(.*?) *│$", done.stdout, re.MULTILINE)
        assert bool(row) == option.is_tuned, option.name
        if row:
            assert row[1] == str(Settings.of(preset="strong", card=9).flat()[option.name])
            assert row[2] == option.text + (f" ({option.bounds})" if option.bounds else "")
    assert len(re.findall(r"^╭─ ", done.stdout, re.MULTILINE)) == 6


def test_other_versions_of_packages_than_training_is_written_for_are_told_in_one_sentence() -> None:
    for version in ("2.9.2", "2.10.0a1"):
        check_versions({"stable-baselines3": version, "sb3-contrib": version})
    for version in ("2.9.1", "1.8", "3.0.0"):
        sentence = f"training is written for sb3-contrib from {FIRST} on and below {TOO_NEW}, not {version}; install"
        with pytest.raises(ValueError, match=re.escape(sentence)):
            check_versions({"stable-baselines3": str(FIRST), "sb3-contrib": version})
