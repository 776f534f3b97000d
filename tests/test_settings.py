"""Settings: made of parts, named flat on the command line and in files; and what training asks of its packages."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from krypenv import agents
from krypenv.training.cli.commands import app
from krypenv.training.common.fields import RENAMED, Command, options_of
from krypenv.training.experiments.ablation import AblationSettings
from krypenv.training.exploit.exploiting import ExploitSettings
from krypenv.training.imitation import imitate as imitation
from krypenv.training.imitation.imitate import ImitationSettings
from krypenv.training.learner.sb3_private import READ, check_versions
from krypenv.training.selfplay import selfplay
from krypenv.training.selfplay.settings import Settings
from krypenv.training.settings import GameRules, Games, Length, Network

MODELS = sorted((Path(__file__).parent.parent / "agents" / "models").glob("*/model.json"))
MODEL = str(MODELS[-1].parent)
COMMANDS = [Settings, ImitationSettings, AblationSettings, ExploitSettings]


@pytest.mark.parametrize("command", COMMANDS)
def test_parts_and_names_of_options_make_the_same_settings(command: type[Command]) -> None:
    plain = command()
    assert command().changed(**plain.flat()) == plain
    assert list(plain.flat()) == list(options_of(command))
    assert {name: option.default for name, option in options_of(command).items()} == plain.flat()
    for option in options_of(command).values():
        assert option.text[0].islower()
        assert not option.text.endswith(".")
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        plain.changed(nothing=1)


def test_parts_can_be_given_whole_or_by_the_names_of_their_options() -> None:
    whole = Settings(game=GameRules(players=4, teams=2), length=Length(frames=640), games=Games(envs=0))
    assert whole == Settings.of(preset="", players=4, teams=2, frames=640, envs=0)
    assert whole.changed(card=9).network == Network(card=9)
    assert whole.changed(card=9).game is not None
    assert whole.changed(card=9).changed(card=64) == whole


def test_commands_share_their_parts() -> None:
    kinds = [{field.name: field.type for field in dataclasses.fields(command)} for command in COMMANDS]
    for name in ("game", "network", "evaluation", "length"):
        assert len({kind[name] for kind in kinds if name in kind}) == 1
        assert sum(name in kind for kind in kinds) > 1


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.parent.name)
def test_the_settings_of_models_are_read(path: Path) -> None:
    kept = json.loads(path.read_text())["settings"]
    assert json.loads(json.dumps(Settings.from_json(kept).flat())) == Settings.renamed(kept)


@pytest.mark.parametrize("command", COMMANDS)
def test_names_of_older_versions_still_work(command: type[Command]) -> None:
    options = options_of(command)
    for old, new in RENAMED.items():
        assert new in options or command is not Settings or new in {"epsilon", "target_temperature", "proposals"}
        if new in options and old not in options:
            value = options[new].default
            assert command.renamed({old: value}) == {new: value}
            assert command().changed(**{old: value}).flat() == command().flat()
            with pytest.raises(ValueError, match=f"{old} is the old name of {new}; give one of them"):
                command().changed(**{old: value, new: value})


def test_old_names_on_the_command_line_are_hidden_and_heard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[Any] = []
    monkeypatch.setattr(selfplay, "run", given.append)
    monkeypatch.setattr(imitation, "run", lambda settings, command: given.append(settings) or [])
    words = [
        "--rivals",
        "greedy",
        "--rivals",
        "random",
        "--pull",
        "0.25",
        "--rows",
        "3",
        "--out",
        str(tmp_path / "run"),
    ]
    shown = CliRunner().invoke(app, ["train", *words])
    assert shown.exit_code == 0, shown.output
    assert (given[0].games.opponents, given[0].ppo.kl_coef, given[0].games.envs) == (("greedy", "random"), 0.25, 3)
    shown = CliRunner().invoke(app, ["teach", "--stray", "0.5", "--passes", "2", "--out", str(tmp_path / "start")])
    assert shown.exit_code == 0, shown.output
    assert (given[1].demonstrating.epsilon, given[1].cloning.bc_epochs) == (0.5, 2)
    for command in ("train", "imitate"):
        help_page = CliRunner().invoke(app, [command, "--help"]).output
        assert "--gamma" in help_page
        assert not any(re.search(rf"--{old.replace('_', '-')}\b(?!-)", help_page) for old in RENAMED)
    assert "teach" not in CliRunner().invoke(app, ["--help"]).output


def test_old_options_of_agents_still_work() -> None:
    rules = agents.rules_of(MODEL)
    assert rules is not None
    for old, new in (
        (f"guided(model={MODEL!r}, candidates=2, heat=2.0)", f"guided(model={MODEL!r}, proposals=2, temperature=2.0)"),
        (f"learned(model={MODEL!r}, solve=False)", f"learned(model={MODEL!r}, solver=False)"),
    ):
        assert agents.make(old, rules).name == agents.make(new, rules).name == new
    with pytest.raises(ValueError, match="heat is the old name of temperature; give one of them"):
        agents.make(f"guided(model={MODEL!r}, heat=2, temperature=3)", rules)
    with pytest.raises(ValueError, match="learned has no option 'heat'"):
        agents.make(f"learned(model={MODEL!r}, heat=2, temperature=3)", rules)


def test_other_versions_of_packages_are_told_in_one_sentence() -> None:
    check_versions({"sb3-contrib": READ, "stable-baselines3": "2.10.0a1"})
    for version in ("2.9.1", "1.8", "3.0.0"):
        sentence = f"training is written for sb3-contrib from {READ} on and below 3, not {version}; install the version"
        with pytest.raises(ValueError, match=re.escape(sentence)):
            check_versions({"stable-baselines3": READ, "sb3-contrib": version})
