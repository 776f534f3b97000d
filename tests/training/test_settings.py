"""Settings: made of parts, named flat on the command line and in files; and what training asks of its packages."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest
from support.places import MODELS as SHIPPED

from krypenv.training.learn.imitation.imitate import ImitationSettings
from krypenv.training.learn.learner.versions import FIRST, TOO_NEW, check_versions
from krypenv.training.learn.selfplay.settings import GameRules, Games, Length, Network, Settings
from krypenv.training.research.ablation import AblationSettings
from krypenv.training.research.exploit.exploiting import ExploitSettings
from krypenv.training.runs.options import Command, options_of

MODELS = sorted(SHIPPED.glob("*/model.json"))
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
    assert json.loads(json.dumps(Settings.from_json(kept).flat())) == kept


@pytest.mark.parametrize("version", ["2.9.2", "2.10.0a1"])
def test_versions_of_packages_that_training_is_written_for(version: str) -> None:
    check_versions({"stable-baselines3": version, "sb3-contrib": version})


@pytest.mark.parametrize("version", ["2.9.1", "1.8", "3.0.0"])
def test_other_versions_of_packages_are_told_in_one_sentence(version: str) -> None:
    sentence = f"training is written for sb3-contrib from {FIRST} on and below {TOO_NEW}, not {version}; install the"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        check_versions({"stable-baselines3": str(FIRST), "sb3-contrib": version})
