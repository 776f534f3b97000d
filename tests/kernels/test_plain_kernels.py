"""Kernels by Numba's public means: when they are made so, where their code is kept, and that they answer alike."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import krypenv
from krypenv.doctor import report as doctor
from krypenv.runtime import hashes, jit, lean, plain

pytestmark = pytest.mark.skipif(jit.JIT_IS_OFF, reason="as plain Python, nothing is compiled")
PACKAGE = Path(krypenv.__file__).parent

GAMES = """
import hashlib, json, numpy as np
from krypenv import Engine, Rules, agents
from krypenv.runtime import jit
seen = {}
rules = Rules.preset("mini-low")
engine, digest = Engine(rules, 8, seed=1, reward="centred"), hashlib.sha256()
for _ in range(60):
    engine.step(engine.sample_actions())
    for array in (engine.observation, engine.action_mask, engine.final_scores, engine.rewards):
        digest.update(np.ascontiguousarray(array).tobytes())
seen["games"] = digest.hexdigest()
seen["tactician"] = agents.make("tactician", rules, seed=2).act(engine.observation, engine.action_mask).tolist()
print(json.dumps([jit.WHY_PLAIN, seen]))
"""


def play(folder, **variables):
    """What games and decisions come to in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", GAMES], env={**os.environ, **variables}, cwd=folder,
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_games_and_decisions_are_the_same(tmp_path):
    """The first process of the plain way compiles, the second one takes what it has kept."""
    _, expected = play(tmp_path)
    cache = tmp_path / "kept"
    for _ in range(2):  # little optimized, which halves the minutes
        why, found = play(tmp_path, KRYPENV_PLAIN_NUMBA="1", NUMBA_CACHE_DIR=str(cache), NUMBA_OPT="1")
        assert why == "KRYPENV_PLAIN_NUMBA is set"
        assert found == expected
    [folder] = cache.iterdir()
    assert folder.name == f"krypenv-{hashes.sources_digest()[:16]}"
    assert len(list(folder.rglob("*.nbi"))) > 20


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ((0, 65), "krypenv was tried with Numba 0.66 to 0.68, and this is 0.65"),
        ((0, 66), ""),
        ((0, 68), ""),
        ((0, 69), "krypenv was tried with Numba 0.66 to 0.68, and this is 0.69"),
        ((1, 0), "krypenv was tried with Numba 0.66 to 0.68, and this is 1.0"),
    ],
)
def test_a_version_that_was_not_tried_is_compiled_the_plain_way(monkeypatch, version, reason):
    monkeypatch.delenv(jit.ASK_FOR_PLAIN, raising=False)
    assert jit.why_plain(version) == reason


@pytest.mark.parametrize(("value", "is_plain"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_a_variable_asks_for_the_plain_way(monkeypatch, value, is_plain):
    monkeypatch.setenv(jit.ASK_FOR_PLAIN, value)
    assert bool(jit.why_plain(jit.NEWEST)) == is_plain


def test_internals_that_look_different_are_left_alone(monkeypatch):
    """One more entry in what Numba keeps of a kernel; a method, a flag and a module that are gone."""
    monkeypatch.delenv(jit.ASK_FOR_PLAIN, raising=False)
    assert lean.find_difference() == ""

    def rebuild(target_context, libdata, fndesc, env, signature, objectmode, lifted, typeann, reload_init, envs, more):
        pass

    changes = [
        ((lean.compiler.CompileResult, "_rebuild"), staticmethod(rebuild), "CompileResult._rebuild"),
        ((lean.FunctionCache, "_index_key"), lambda self, sig: (), "FunctionCache._index_key"),
        ((lean.CPUDispatcher, "get_overload"), lambda self, *given: None, "CPUDispatcher.get_overload"),
    ]
    for place, other, name in changes:
        with monkeypatch.context() as patch:
            patch.setattr(*place, other)
            assert jit.why_plain(jit.NEWEST) == f"Numba's internals have changed: {name} is another"
    with monkeypatch.context() as patch:
        patch.delattr(lean.JITCodeLibrary.__base__, "_finalize_dynamic_globals")
        assert "_finalize_dynamic_globals" in jit.why_plain(jit.NEWEST)
    with monkeypatch.context() as patch:
        patch.delattr(lean.compiler.Flags, "no_compile")
        assert "no_compile" in jit.why_plain(jit.NEWEST)
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "krypenv.runtime.lean")
        patch.delattr("krypenv.runtime.lean")
        patch.setitem(sys.modules, "numba.core.caching", None)
        assert jit.why_plain(jit.NEWEST).startswith("Numba's internals have changed: ")


def test_numba_s_internals_are_used_in_one_file():
    """What Numba does not document: everything but its own names, `extending` and the events of compilations."""
    users = set()
    for folder in (PACKAGE, PACKAGE / "agents", PACKAGE / "training"):
        for file in folder.rglob("*.py"):
            lines = [line.strip() for line in file.read_text().splitlines()]
            if any(line.startswith(("from numba.", "import numba.", "from llvmlite import binding")) for line in lines):
                users.add(file.relative_to(PACKAGE).as_posix())
    assert users == {"runtime/lean.py", "runtime/jit.py"}
    told = [line.strip() for line in (PACKAGE / "runtime/jit.py").read_text().splitlines() if "from numba." in line]
    assert told == ["from numba.extending import intrinsic", "from numba.core import event"]


@pytest.fixture
def package(tmp_path):
    """A copy of the sources, with the folders that a checkout links to."""
    for name in ("runtime", "kernels"):
        shutil.copytree(PACKAGE / name, tmp_path / "krypenv" / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGE / "agents" / "search", tmp_path / "agents" / "search")
    (tmp_path / "krypenv" / "agents").symlink_to("../agents", target_is_directory=True)
    return tmp_path / "krypenv"


def test_any_change_of_a_source_changes_the_folder(package):
    before = hashes.sources_digest(package)
    assert before == hashes.sources_digest(package)
    files = ["kernels/captures.py", "runtime/jit.py", "agents/search/search.py"]
    digests = {before}
    for file in files:
        with (package / file).open("a") as lines:
            lines.write("\nMORE = 1\n")
        digests.add(hashes.sources_digest(package))
    (package / "kernels" / "more.py").touch()
    digests.add(hashes.sources_digest(package))
    (package / "kernels" / "more.py").rename(package / "kernels" / "most.py")
    digests.add(hashes.sources_digest(package))
    assert len(digests) == 6
    (package / "kernels" / "notes.txt").touch()
    assert hashes.sources_digest(package) in digests
    assert hashes.sources_digest(package / "nowhere") == ""


def test_where_the_code_is_kept(tmp_path, monkeypatch):
    name = f"krypenv-{hashes.sources_digest()[:16]}"

    def folder():
        plain.cache_folder.cache_clear()
        return plain.cache_folder()

    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setattr(plain, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(plain.settings, "CACHE_DIR", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    assert folder() == tmp_path / "package" / "__pycache__" / name
    monkeypatch.setattr(plain, "PACKAGE", blocked)
    assert folder() == tmp_path / "home" / ".cache" / name
    monkeypatch.setattr(plain.settings, "CACHE_DIR", str(tmp_path / "chosen"))
    assert folder() == tmp_path / "chosen" / name
    monkeypatch.setattr(plain.settings, "CACHE_DIR", str(blocked))
    assert folder() is None
    plain.cache_folder.cache_clear()


def test_a_kernel_of_the_plain_way(tmp_path, monkeypatch):
    """It is kept in the folder if it is of this package, and in no file else; Numba's own setting stays as it was."""
    monkeypatch.setattr(plain, "cache_folder", lambda: tmp_path)
    before = plain.settings.CACHE_DIR
    made = {}
    for name in ("krypenv.kernels.some", "theirs"):
        (tmp_path / "some.py").write_text("def add(one, other):\n    return one + other\n")
        known = {"__name__": name}
        exec(compile((tmp_path / "some.py").read_text(), tmp_path / "some.py", "exec"), known)
        made[name] = plain.compile_kernel(known["add"], apart=True, parallel=False)
        assert not plain.is_compiled(made[name])
        assert made[name](20, 22) == 42
    assert before == plain.settings.CACHE_DIR
    assert plain.is_compiled(made["krypenv.kernels.some"])
    assert not plain.is_compiled(made["theirs"])
    assert len(list(tmp_path.rglob("*.nbi"))) == 1


def test_the_doctor_says_so(tmp_path):
    facts = {"is_off": False, "now": 0, "folders": [str(tmp_path)]}
    assert "way" not in doctor._kernels(facts | {"plain": ""})
    for folders in ([], facts["folders"]):
        told = doctor._kernels(facts | {"plain": "some reason", "folders": folders})
        assert told["way"] == "plain, so compiling takes longer: some reason"
