"""Settings: fields of a model from which the command line, its checks, files and what identifies a run follow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import SETTINGS, settings_of

from krypenv import Rules
from krypenv.agents.own import Typed
from krypenv.training.settings.base import about, bounds_of, kind_of, options_of

ARENA: dict[str, Any] = {"agents": ("greedy", "random"), "out": "o"}
NEEDED = {"arena": ARENA, "score": {"board": "b"}, "data": {"agent": "x", "out": "o"}}
ELSEWHERE = {"players", "teams", "seat", "at", "marks"}  # numbers that rules, a game or other numbers bound


def needed(name: str) -> dict[str, Any]:
    """The least that has to be given."""
    fields = options_of(SETTINGS[name])
    rest = {key: ("x",) if kind_of(field)[1] else "x" for key, field in fields.items() if field.is_required()}
    return NEEDED.get(name, rest)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_wrong_value_is_refused_in_one_sentence_and_every_number_has_bounds(name: str) -> None:
    given = needed(name)
    assert SETTINGS[name].command == name
    for key, field in options_of(SETTINGS[name]).items():
        kind, is_repeated = kind_of(field)
        assert kind not in (int, float) or bounds_of(field) or key in ELSEWHERE
        beyond = {"ge": -1, "gt": 0, "le": 1}
        wrong: list[Any] = [
            getattr(each, end) + step for each in field.metadata for end, step in beyond.items() if hasattr(each, end)
        ]
        wrong += [float("nan"), "x", True] if kind in (int, float) else [""] if kind in (str, Path) else ["x"]
        for value in wrong:
            with pytest.raises(ValueError, match=rf"^{about(field)['flag'] or key} [^\n]+$"):
                SETTINGS[name](**{**given, key: (value,) if is_repeated else value})
    with pytest.raises(TypeError, match=r"^\w+\(\) got an unexpected keyword argument 'nothing'; it takes "):
        SETTINGS[name](**given, nothing=1)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("train", {"gamma": 0.5, "critic": False, "also": ("krypkasino players=4",), "opponents": ("past", "greedy")}),
        ("exploit", {"agent": "greedy", "exact": True, "own": ("random", "greedy"), "deals_from": "7"}),
        ("arena", {**ARENA, "first": 1, "workers": 2, "rule": ("games=2",)}),
        ("data", {"agent": "greedy", "against": ("random",), "analyst": "search", "out": "o", "ray": True}),
        ("analyze", {"source": "game.krk", "open": True, "marks": (1.0, 3.0, 4.0), "annotate": "x.krk"}),
        ("table", {"seat": (1,), "against": ("greedy",), "seed": 3, "language": "sv", "open": False}),
        ("doctor", {"json_file": "d.json"}),
    ],
)
def test_the_printed_command_line_and_a_file_give_the_same(name: str, given: dict[str, Any]) -> None:
    settings = SETTINGS[name](**given)
    assert settings_of(settings.line) == settings
    stored = json.loads(json.dumps({key: getattr(settings, key) for key in options_of(SETTINGS[name])}, default=str))
    assert SETTINGS[name].from_file(stored) == settings


def test_a_command_line_and_what_identifies_a_run_leave_out_what_does_not_matter() -> None:
    arena = SETTINGS["arena"](**ARENA)
    assert arena.changed(deals=9).line == "krypenv arena greedy random --out o --deals 9"
    assert arena.changed(workers=2, ray=True, out="p", json_file="j", deals=7).identity() == arena.identity()
    assert arena.changed(chunk=7).identity() == {**arena.identity(), "chunk": 7}


def test_agents_are_typed_by_a_person_unless_a_file_names_them() -> None:
    given = {"agent": "evil:Careful", "against": ("greedy",)}
    kept = SETTINGS["evaluate"].from_file({**given, "against": ["greedy"]})
    assert type(SETTINGS["evaluate"](**given).agent) is Typed
    assert type(kept.agent) is type(kept.changed(seed=1).agent) is str
    assert type(kept.changed(agent="evil:Careful").agent) is Typed


def test_values_of_python_and_numpy_and_rules_are_taken() -> None:
    rules = Rules.preset(players=4)
    arena = SETTINGS["arena"](agents=["greedy", "random"], out="o", seed=np.int64(3), rules=rules)
    assert (arena.agents, arena.seed, arena.game_rules()) == (("greedy", "random"), 3, rules)
