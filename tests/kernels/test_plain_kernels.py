"""Kernels by Numba's public means: when they are made so, where their code is kept, and that they answer alike."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import krypenv
from krypenv.runtime import hashes, jit, lean, plain

pytestmark = pytest.mark.skipif(jit.JIT_IS_OFF, reason="as plain Python, nothing is compiled")
PACKAGE = Path(krypenv.__file__).parent

GAMES = """
import hashlib, numpy as np
from krypenv import Engine, Rules
from krypenv.runtime import jit
engine, digest = Engine(Rules.preset("mini-low"), 8, seed=1), hashlib.sha256()
for _ in range(60):
    engine.step(engine.sample_actions())
    for array in (engine.observation, engine.action_mask, engine.final_scores):
        digest.update(np.ascontiguousarray(array).tobytes())
print(digest.hexdigest(), jit.WHY_PLAIN)
"""


def play(folder, **variables):
    """What games come to in a new process, and why their kernels are plain."""
    done = subprocess.run(
        [sys.executable, "-c", GAMES], env={**os.environ, **variables}, cwd=folder,
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().partition(" ")


@pytest.mark.slow
def test_games_are_the_same(tmp_path):
    """The first process of the plain way compiles, the second one takes what it has kept."""
    expected, _, why = play(tmp_path)
    assert not why
    cache = tmp_path / "kept"
    for _ in range(2):  # little optimized, which halves the minutes
        found, _, why = play(tmp_path, KRYPENV_PLAIN_NUMBA="1", NUMBA_CACHE_DIR=str(cache), NUMBA_OPT="1")
        assert (found, why) == (expected, "KRYPENV_PLAIN_NUMBA is set")
    [folder] = cache.iterdir()
    assert folder.name == f"krypenv-{hashes.sources_digest()[:16]}"
    assert len(list(folder.rglob("*.nbi"))) > 5


TRIED = "krypenv was tried with Numba 0.66 to 0.68, and this is "


@pytest.mark.parametrize(
    ("version", "value", "reason"),
    [
        ((0, 65), "", f"{TRIED}0.65"),
        ((0, 66), "", ""),
        ((0, 68), "0", ""),
        ((0, 69), "", f"{TRIED}0.69"),
        ((1, 0), "", f"{TRIED}1.0"),
        ((0, 68), "1", "KRYPENV_PLAIN_NUMBA is set"),
        ((0, 68), "yes", "KRYPENV_PLAIN_NUMBA is set"),
    ],
)
def test_versions_that_were_not_tried_and_a_variable_ask_for_the_plain_way(monkeypatch, version, value, reason):
    monkeypatch.setenv(jit.ASK_FOR_PLAIN, value)
    assert jit.why_plain(version) == reason


def test_internals_that_look_different_are_left_alone(monkeypatch):
    """One more entry in what Numba keeps of a kernel; a method, a flag and a module that are gone."""
    monkeypatch.delenv(jit.ASK_FOR_PLAIN, raising=False)
    assert lean.find_difference() == ""

    def rebuild(target_context, libdata, fndesc, env, signature, objectmode, lifted, typeann, reload_init, envs, more):
        pass

    plain_now = partial(jit.why_plain, jit.NEWEST)
    for owner, name, other in (
        (lean.compiler.CompileResult, "_rebuild", staticmethod(rebuild)),
        (lean.FunctionCache, "_index_key", lambda self, sig: ()),
        (lean.CPUDispatcher, "get_overload", lambda self, *given: None),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, other)
            assert plain_now() == f"Numba's internals have changed: {owner.__name__}.{name} is another"
    gone = (lean.JITCodeLibrary.__base__, "_finalize_dynamic_globals"), (lean.compiler.Flags, "no_compile")
    for owner, name in gone:
        with monkeypatch.context() as patch:
            patch.delattr(owner, name)
            assert name in plain_now()
    with monkeypatch.context() as patch:
        patch.delitem(sys.modules, "krypenv.runtime.lean")
        patch.delattr("krypenv.runtime.lean")
        patch.setitem(sys.modules, "numba.core.caching", None)
        assert plain_now().startswith("Numba's internals have changed: ")


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


def test_any_change_of_a_source_changes_the_folder(tmp_path):
    """Those of folders that a checkout links to, too."""
    package, linked = tmp_path / "krypenv", tmp_path / "agents"
    for folder in (package / "kernels", linked):
        folder.mkdir(parents=True)
        (folder / "some.py").write_text("SOME = 1\n")
    (package / "agents").symlink_to("../agents", target_is_directory=True)
    digests = {before := hashes.sources_digest(package)}
    for change in (
        lambda: (package / "kernels" / "some.py").write_text("SOME = 2\n"),
        lambda: (linked / "some.py").write_text("SOME = 1\nMORE = 1\n"),
        (package / "kernels" / "more.py").touch,
        lambda: (package / "kernels" / "more.py").rename(package / "kernels" / "most.py"),
    ):
        change()
        digests.add(hashes.sources_digest(package))
    assert len(digests) == 5
    (package / "kernels" / "notes.txt").touch()
    assert hashes.sources_digest(package) in digests - {before}
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


def test_a_numba_without_such_a_cache_compiles_too(monkeypatch, tmp_path):
    """One whose kernels have no private cache still makes them, also of what closes over another kernel."""
    monkeypatch.setattr(plain, "njit", lambda **options: lambda function: lambda number: function(number))
    monkeypatch.setattr(plain, "cache_folder", lambda: tmp_path)

    def doubled(number):
        return add(number, number)

    def add(one, other):
        return one + other

    doubled.__module__ = "krypenv.somewhere"
    assert plain.compile_kernel(doubled)(21) == 42
