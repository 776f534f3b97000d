"""Agents of one's own, named module:Class: made where a person types the name, never imported for a file."""

import ast
import copy
import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.text import SPECS
from support.arenas import same_games
from support.commands import krypenv
from support.fuzzing import Tally, attempt, mutate_text
from support.places import ROOT

from krypenv import Game, Rules, agents
from krypenv.agents.own import Typed, typed
from krypenv.envs.learner import LearnerGames
from krypenv.training import ArenaSettings, duplicate_match, run_arena
from krypenv.training.learn.run import TrainingRun
from krypenv.training.learn.settings import TrainSettings
from krypenv.ui.table import seated

RULES = Rules.preset("krypkasino")
PLAYERS = '''
import numpy as np

class Careful:
    """Plays the legal action of some rank among all; says what it was made of."""

    def __init__(self, rules, seed=0, *, depth=1, mood="calm", share=0.5):
        self.seed, self.depth, self.mood, self.share = seed, depth, mood, share

    def act(self, observations, action_masks):
        assert action_masks.dtype == np.int8
        return action_masks.argmax(axis=1)

    class Inner:
        def __init__(self, rules, seed): pass
        def act(self, observations, action_masks):
            return action_masks.argmax(axis=1)

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
'''
EVIL = "from pathlib import Path\nPath(__file__).with_name('imported').touch()\n" + PLAYERS


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A directory with modules, from which Python imports."""
    (tmp_path / "mypkg").mkdir()
    (tmp_path / "mypkg" / "__init__.py").touch()
    (tmp_path / "mypkg" / "players.py").write_text(PLAYERS)
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / "broken.py").write_text("import nothing_such\n")
    (tmp_path / "torn.py").write_text("def (\n")
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("mypkg", "mypkg.players", "evil", "broken", "torn", "leaving"):
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
    assert agents.make("mypkg.players:Needy(x='any')", RULES).x == "any"
    assert agents.make("mypkg.players:Careful.Inner", RULES).name == "mypkg.players:Careful.Inner"
    assert agents.make("krypenv.agents.scripted:Tactician(shed=True)", RULES).name == "tactician(shed=True)"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("nothing.at.all:Careful", "can't be imported: it raised ModuleNotFoundError: No module named 'nothing'"),
        ("mypkg.players:Carefull", "can't be imported: .* has no attribute 'Carefull'"),
        ("mypkg.players:function", "function is no class"),
        ("mypkg.players:np", "np is no class"),
        ("broken:A", "broken:A can't be imported: .* ModuleNotFoundError: No module named 'nothing_such'"),
        ("torn:A", "torn:A can't be imported: it raised SyntaxError"),
        ("leaving:A", "leaving:A can't be imported: it raised SystemExit: 3"),
        ("mypkg.players:NoAct", "no method act"),
        ("mypkg.players:Flat", "no method act"),
        ("mypkg.players:NoArguments", r"Class\(rules, seed, \*\*options\): too many positional arguments"),
        ("mypkg.players:Needy", "missing a required (keyword-only )?argument: 'x'"),  # Python 3.13 says more
        ("mypkg.players:Careful(deph=3)", r"no option 'deph' \(did you mean 'depth'\?\)"),
        ("mypkg.players:Careful(depth='x')", "depth is of type int"),
        ("mypkg.players:Careful(seed=3)", "no option 'seed'"),
        ("mypkg.players:Raising", "raised RuntimeError: no luck"),
        ("mypkg.players:Leaving", "raised SystemExit: 3"),
        ("mypkg.players:Closed", "has no name and takes none: it raised AttributeError: closed"),
        ("mypkg.players:", "names no agent"),
        (":Careful", "names no agent"),
        ("mypkg..players:Careful", "names no agent"),
        ("mypkg.players:Careful(depth", "names no agent"),
    ],
)
def test_what_is_wrong_is_one_sentence(here, spec, sentence):
    tally = Tally()
    with pytest.raises(ValueError, match=sentence):
        agents.make(spec, RULES)
    attempt(lambda: agents.make(spec, RULES), tally, spec)
    assert tally == {"refused": 1}


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


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "evil:Careful", "--against", "greedy", "--deals", "2"),
        ("evaluate", "greedy", "--against", "evil:Careful", "--deals", "2"),
        ("arena", "evil:Careful", "greedy", "--deals", "2", "--out", "arena"),
        ("exploit", "evil:Careful", "--seeds", "0", "--worlds", "2", "--selection", "2", "--deals", "2"),
        ("exploit", "greedy", "--own", "evil:Careful", "--seeds=0", "--worlds=2", "--selection=2", "--deals=2"),
    ],
    ids=lambda words: " ".join(words[:4]),
)
def test_commands_take_it(here, words):
    done = krypenv(*words)
    assert done.exit_code == 0, done.output
    assert was_imported(here)


def test_analyze_asks_for_an_agent_that_examines(here):
    done = krypenv("analyze", "--agent", "mypkg.players:Careful", Game(RULES, seed=1).position())
    assert done.exit_code == 2
    assert "mypkg.players:Careful can't analyse" in done.stderr


# ---------------------------------------------------------------------- from files


def test_the_mark_of_what_was_typed_is_lost_in_files_and_kept_between_processes():
    name = typed("evil:Careful")
    assert name == "evil:Careful"
    for kept in (copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
        assert type(kept) is Typed
    for lost in (json.loads(json.dumps(name)), name + "", name.strip(), f"{name}", str(name)):
        assert type(lost) is str


def test_a_string_from_a_file_imports_nothing(here):
    with pytest.raises(ValueError, match="nothing that a file names is imported"):
        agents.make_known("evil:Careful", RULES)
    rng, tally = random.Random(0), Tally()
    for _ in range(500):
        spec = mutate_text(rng.choice([*SPECS, "evil:Careful", "evil:Careful(depth=3)"]), rng, ("evil:", ":", "evil"))
        attempt(lambda spec=spec: agents.make_known(spec, RULES) if "evil" in spec else None, tally, spec)
    assert tally["refused"] > 50
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
    kept = TrainSettings.from_file({**plain(TrainSettings()), option: value})
    with pytest.raises(ValueError, match=f"nothing that .*: krypenv train --resume runs/x --{option} evil:Careful"):
        kept.typed_by(TrainSettings(resume="runs/x"))
    again = kept.typed_by(TrainSettings(resume="runs/x", opponents=("evil:Careful",)))
    assert again == kept
    named = getattr(again, option)
    assert type(named if option == "yardstick" else named[-1]) is Typed
    assert not was_imported(here)


def plain(settings):
    """Settings as they come out of a file."""
    return settings.model_dump(mode="json")


def test_a_run_that_a_file_describes_imports_nothing(here):
    kept = TrainSettings.from_file({**plain(TrainSettings()), "opponents": ["evil:Careful"]})
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
    assert importers == {"own.py"}  # after its check
    assert found == {
        "__init__.py",  # agents.make itself
        "own.py",  # typed itself
        "opponents.py",  # opponents of an environment
        "players.py",  # players of duplicate_match and what is like it
        "analysis.py",  # names that stand in it
        "sweeps.py",  # likewise
        "base.py",  # names of agents in settings that do not come from a file
        "playing.py",  # ScoreSettings, and the agent that check_score is given
        "bench_lines.py",  # names that stand in it
        "tianshou_dqn.py",  # the opponent of the command's line
        "rllib_ppo.py",  # likewise
    }


# ---------------------------------------------------------------------- agents as objects in an arena


class Lowest:
    """The lowest legal action; counts how often it was asked."""

    def __init__(self, name="lowest", rules=RULES):
        self.name, self.rules, self.calls = name, rules, 0

    def act(self, observations, action_masks):
        self.calls += 1
        return action_masks.argmax(axis=1)


class Uncopyable(Lowest):
    """What can be neither copied nor sent."""

    def __reduce_ex__(self, protocol):
        raise TypeError("holds a socket")


def test_an_arena_takes_agents(tmp_path):
    mine, tactician = Lowest(), agents.make("tactician", RULES, seed=3)
    plain = run_arena(
        ArenaSettings(agents=(mine, tactician, "random"), rules=RULES, out=tmp_path / "one", deals=6, chunk=2)
    )
    assert plain.names == ("lowest", "tactician", "random")
    assert mine.calls == 0  # copies played
    stopped = ArenaSettings(agents=(mine, tactician, "random"), rules=RULES, out=tmp_path / "two", deals=4, chunk=2)
    run_arena(stopped)
    on = run_arena(
        ArenaSettings(agents=(mine, tactician, "random"), rules=RULES, out=tmp_path / "two", deals=6, chunk=2)
    )
    assert same_games(on, plain)
    with pytest.raises(ValueError, match="an arena with agents 1 name 'lowest', not 'other'"):
        run_arena(
            ArenaSettings(
                agents=(Lowest("other"), tactician, "random"), rules=RULES, out=tmp_path / "two", deals=6, chunk=2
            )
        )


def test_agents_go_to_other_processes(tmp_path, here):
    mine = agents.make("mypkg.players:Chance", RULES, seed=1)
    one, two = (
        run_arena(
            ArenaSettings(
                agents=(mine, "greedy"), rules=RULES, out=tmp_path / f"{workers}", deals=4, chunk=2, workers=workers
            )
        )
        for workers in (1, 2)
    )
    assert same_games(one, two)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (Uncopyable(), "lowest can't be copied for each chunk: copying it raised TypeError: holds a socket"),
        (Lowest(3), "is no agent: it has a method act, a string as name"),
        (Lowest(rules=Rules.preset("mini-low")), "was made for other rules"),
        (3, "3 is no agent"),
        (None, "None is no agent"),
        (("x",), "is no agent"),
        (Lowest, "is no agent"),
    ],
)
def test_what_no_arena_takes(source, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        run_arena(ArenaSettings(agents=(source, "greedy"), rules=RULES, out=tmp_path / "arena", deals=2))
    assert not (tmp_path / "arena").exists()
