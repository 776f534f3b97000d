"""Agents of one's own, named module:Class: made where a person types the name, never imported for a file."""

import ast
import copy
import json
import os
import pickle
import random
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from support.commands import krypenv
from support.places import ROOT

from krypenv import Rules, agents
from krypenv.agents.own import Typed, typed
from krypenv.envs.learner import LearnerGames
from krypenv.training import duplicate_match
from krypenv.training.learn.run import TrainingRun
from krypenv.training.learn.settings import TrainSettings
from krypenv.ui.table import seated

RULES = Rules.preset("krypkasino")
PLAYERS = """
import numpy as np

class Careful:
    def __init__(self, rules, seed=0, *, depth=1, mood="calm", share=0.5):
        self.seed, self.depth, self.mood, self.share = seed, depth, mood, share
    def act(self, observations, action_masks):
        return action_masks.argmax(axis=1)
    class Inner:
        def __init__(self, rules, seed): pass
        def act(self, observations, action_masks): return action_masks.argmax(axis=1)

class Named(Careful):
    name = "slow"
class Positional(Careful):
    def __init__(self, rules, seed, depth=3): self.depth = depth
class Needy(Careful):
    def __init__(self, rules, seed, *, x): self.x = x
class Chance(Careful):
    def __init__(self, rules, seed): self.rng = np.random.default_rng(seed)
    def act(self, observations, action_masks):
        return np.where(action_masks == 1, self.rng.random(action_masks.shape), -1).argmax(axis=1)

class NoAct: pass
class Flat: act = 3
class NoArguments:
    def act(self, observations, action_masks): return action_masks.argmax(axis=1)
class Raising(Careful):
    def __init__(self, rules, seed): raise RuntimeError("no\\nluck")
class Leaving(Careful):
    def __init__(self, rules, seed): raise SystemExit(3)
class Closed(Careful):
    __slots__ = ()
    def __init__(self, rules, seed): pass
    def __setattr__(self, name, value): raise AttributeError("closed")
def function(rules, seed): pass
"""
EVIL = "from pathlib import Path\nPath(__file__).with_name('imported').touch()\n" + PLAYERS


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A directory with modules, from which Python imports."""
    (tmp_path / "mypkg").mkdir()
    (tmp_path / "mypkg" / "__init__.py").touch()
    (tmp_path / "mypkg" / "players.py").write_text(PLAYERS)
    for name, text in (("evil", EVIL), ("broken", "import nothing_such\n"), ("leaving", "raise SystemExit(3)\n")):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("mypkg", "mypkg.players", "evil", "broken", "leaving"):
        sys.modules.pop(name, None)


def was_imported(here):
    return "evil" in sys.modules or (here / "imported").exists()


# ---------------------------------------------------------------------- typed


def test_it_is_made_as_the_others_are(here):
    agent = agents.make("mypkg.players:Careful(depth=3, mood='wild', share=1)", RULES, seed=7)
    assert (agent.seed, agent.depth, agent.mood, agent.share, agent.rules) == (7, 3, "wild", 1, RULES)
    assert agent.name == "mypkg.players:Careful(depth=3, mood='wild', share=1)"
    assert agents.make("mypkg.players:Named", RULES).name == "slow"
    assert agents.make("mypkg.players:Positional(depth=5)", RULES).depth == 5
    assert agents.make("mypkg.players:Careful.Inner", RULES).name == "mypkg.players:Careful.Inner"
    assert agents.make("krypenv.agents.scripted:Tactician(shed=True)", RULES).name == "tactician(shed=True)"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("nothing.at.all:Careful", "can't be imported: it raised ModuleNotFoundError: No module named 'nothing'"),
        ("mypkg.players:Carefull", "can't be imported: .* has no attribute 'Carefull'"),
        ("mypkg.players:function", "function is no class"),
        ("broken:A", "broken:A can't be imported: .* ModuleNotFoundError: No module named 'nothing_such'"),
        ("leaving:A", "leaving:A can't be imported: it raised SystemExit: 3"),
        ("mypkg.players:NoAct", "no method act"),
        ("mypkg.players:Flat", "no method act"),
        ("mypkg.players:NoArguments", r"Class\(rules, seed, \*\*options\): too many positional arguments"),
        ("mypkg.players:Needy", "can't be made: .* missing 1 required keyword-only argument: 'x'"),
        ("mypkg.players:Careful(deph=3)", r"no option 'deph' \(did you mean 'depth'\?\)"),
        ("mypkg.players:Careful(depth='x')", "depth is of type int"),
        ("mypkg.players:Careful(seed=3)", "no option 'seed'"),
        ("mypkg.players:Raising", "raised RuntimeError: no luck"),
        ("mypkg.players:Leaving", "raised SystemExit: 3"),
        ("mypkg.players:Closed", "has no name and takes none: it raised AttributeError: closed"),
        (":Careful", "names no agent"),
        ("mypkg..players:Careful", "names no agent"),
        ("mypkg.players:Careful(depth", "names no agent"),
    ],
)
def test_what_is_wrong_is_one_sentence(here, spec, sentence):
    with pytest.raises(ValueError, match=sentence) as found:
        agents.make(spec, RULES)
    assert "\n" not in str(found.value)


def test_matches_and_environments_take_it(here):
    result = duplicate_match("mypkg.players:Careful(depth=2)", "mypkg.players:Chance", RULES, deals=3)
    assert (result.agent, result.opponent) == ("mypkg.players:Careful(depth=2)", "mypkg.players:Chance")
    games = LearnerGames(RULES, 2, opponents=["mypkg.players:Chance", "random"])
    games.step(games.action_mask.argmax(axis=1))


def test_the_command_imports_from_the_current_directory(here):
    words = "evaluate", "mypkg.players:Careful(depth=3)", "--against", "mypkg.players:Named", "--deals", "2"
    code = "import sys; sys.path[:] = filter(None, sys.path)\nfrom krypenv.training.cli.commands import main; main()"
    wide = os.environ | {"COLUMNS": "200"}
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, env=wide)
    assert done.returncode == 0, done.stderr
    assert "mypkg.players:Careful(depth=3)" in done.stdout


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "greedy", "--against", "evil:Careful", "--deals", "2"),
        ("arena", "evil:Careful", "greedy", "--deals", "2", "--out", "arena"),
        ("exploit", "evil:Careful", "--seeds", "0", "--worlds", "2", "--selection", "2", "--deals", "2"),
        ("exploit", "greedy", "--own", "evil:Careful", "--seeds=0", "--worlds=2", "--selection=2", "--deals=2"),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_commands_take_it(here, words):
    done = krypenv(*words)
    assert done.exit_code == 0, done.output
    assert was_imported(here)


# ---------------------------------------------------------------------- from files


def test_the_mark_of_what_was_typed_is_lost_in_files_and_kept_between_processes():
    name = typed("evil:Careful")
    assert name == "evil:Careful"
    for kept in (copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
        assert type(kept) is Typed
    for lost in (json.loads(json.dumps(name)), name + "", name.strip(), f"{name}", str(name)):
        assert type(lost) is str


@pytest.mark.parametrize("spec", [" evil:Careful", "evil:Careful(depth=3)", "evil:Careful(", "evil:"])
def test_a_string_from_a_file_imports_nothing(here, spec):
    with pytest.raises(ValueError, match=r"nothing that a file names is imported|names no agent"):
        agents.make_known(spec, RULES)
    rng = random.Random(0)
    for _ in range(100):
        at = rng.randrange(len(spec))
        with pytest.raises(ValueError, match=r"\w"):
            agents.make_known(spec[:at] + rng.choice(["", " ", ":", "(", "evil", "."]) + spec[at + 1 :], RULES)
    assert not was_imported(here)


@pytest.mark.parametrize(
    "spec",
    [
        "evil:Careful", "process(command='true')", " llm(model='m', url='http://127.0.0.1:9/v1')",
        "sb3(path='evil.zip')", " sb3 (path='evil.zip')", "sb3", "sb3()",
    ],
)  # fmt: skip
def test_a_file_starts_no_program_asks_no_model_and_imports_nothing(here, spec):
    for refuse in (partial(agents.make_known, spec, RULES), partial(agents.check_recorded, spec)):
        with pytest.raises(ValueError, match="is named in a file"):
            refuse()
    assert not was_imported(here)


@pytest.mark.parametrize("spec", ["{}", "./{}", "{}/", "guided(model='{}')", "learned(model='{}')"])
def test_a_record_tells_nobody_which_folders_there_are(spec, here, monkeypatch):
    (here / "there").mkdir()
    monkeypatch.setattr(os.path, "isdir", lambda path: pytest.fail("a path was looked up"))
    sentences = set()
    for folder in ("there", "not_there"):
        with pytest.raises(ValueError, match="in a record, and is none of the agents that need no file") as error:
            seated(spec.format(folder), RULES, 0)
        sentences.add(str(error.value).replace(folder, "FOLDER"))
    assert len(sentences) == 1


@pytest.mark.parametrize("option", ["worlds=1000000000", "worlds=501", "worlds=1, plies=32", "worlds=1, threads=2"])
def test_a_record_seats_no_agent_that_decides_for_long(option):
    spec = f"search({option})"
    with pytest.raises(ValueError, match=r"is named in a record, where (worlds|plies|threads) is \d+ at most"):
        seated(spec, RULES, 0)
    assert seated(typed(spec), RULES, 0).rules == RULES
    assert seated("search(worlds=500, plies=2)", RULES, 0).rules == RULES


@pytest.mark.parametrize("option", ["opponents", "against", "yardstick"])
def test_the_settings_of_a_run_import_nothing(here, option):
    value = "evil:Careful" if option == "yardstick" else ["greedy", "evil:Careful"]
    kept = TrainSettings.from_file({**TrainSettings().model_dump(mode="json"), option: value})
    with pytest.raises(ValueError, match=f"nothing that .*: krypenv train --resume runs/x --{option} evil:Careful"):
        kept.typed_by(TrainSettings(resume="runs/x"))
    again = kept.typed_by(TrainSettings(resume="runs/x", opponents=("evil:Careful",)))
    assert again == kept
    named = getattr(again, option)
    assert type(named if option == "yardstick" else named[-1]) is Typed
    if option == "opponents":
        with pytest.raises(ValueError, match="nothing that a file names"):
            TrainingRun(kept, Path("runs"))
    assert not was_imported(here)


def test_only_what_is_typed_is_made_by_make():
    """In `training/` and `agents/` strings are made agents by `make_known`, but where a person gives them."""
    found, importers = set(), set()
    for path in [path for room in ("training", "agents", "krypenv") for path in ROOT.glob(f"{room}/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in ("agents.make", "typed", "agents.typed", "Typed") or name.endswith("('krypenv.agents').make"):
                found.add(path.name)
            if name.rpartition(".")[2] in ("import_module", "__import__", "resolve_name") and not ast.unparse(
                node.args[0]
            ).startswith(("'krypenv.", "f'krypenv.")):
                importers.add(path.name)
    assert importers == {"own.py", "bench_lines.py"}  # after its check; what the benchmark's own lines name
    assert found == {
        "__init__.py", "own.py",  # make and typed themselves
        "opponents.py", "players.py",  # opponents of an environment, players of matches
        "analysis.py", "sweeps.py", "bench_lines.py",  # names that stand in it
        "base.py", "playing.py",  # settings that come from no file
        "tianshou_dqn.py", "rllib_ppo.py",  # the opponent of the command's line
    }  # fmt: skip
