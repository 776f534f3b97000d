"""Compiled kernels: what their kept code depends on, who finds it again, and the way by Numba's public means."""

import importlib
import os
import subprocess
import sys
import types

import numpy as np
import pytest
from numba import typeof
from numba.core.errors import NumbaWarning

import krypenv.agents  # noqa: F401 - with agents come all kernels
from krypenv import Rules, cards, stepping
from krypenv.agents.neural import guided, playouts
from krypenv.agents.search.worlds import Job
from krypenv.cards import NUM_KINDS
from krypenv.kernels import captures
from krypenv.kernels.compiled import compile_rules
from krypenv.runtime import hashes, jit, lean, plain
from krypenv.runtime.hashes import kernel_hash
from krypenv.runtime.jit import JIT_IS_OFF, SPARES, handle, is_compiled, kernel, records

pytestmark = pytest.mark.skipif(JIT_IS_OFF, reason="as plain Python, nothing is compiled and kept")


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Import a module from its code."""

    def load(name, code):
        (tmp_path / f"{name}.py").write_text("from krypenv.runtime.jit import kernel, other_kernel\n" + code)
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(name)

    return load


# ---------------------------------------------------------------------- the key of a kernel's code


def hash_now(function):
    """The key as it would be in a new process."""
    kernel_hash.cache_clear()
    return kernel_hash(function)


def test_every_constant_that_a_kernel_names_is_in_its_key(monkeypatch):
    """Of every third kernel of the package."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("krypenv")]
    kernels = {value.py_func for module in modules for value in vars(module).values() if hasattr(value, "py_func")}
    tried = 0
    for function in sorted(kernels, key=lambda each: (each.__module__, each.__qualname__))[::3]:
        before = hash_now(function)
        for constant in function.__code__.co_names:
            value = function.__globals__.get(constant)
            if isinstance(value, (int, float, np.generic)) and not isinstance(value, type):
                with monkeypatch.context() as patch:
                    patch.setitem(function.__globals__, constant, value + type(value)(1))
                    assert hash_now(function) != before, f"{function.__qualname__} does not depend on {constant}"
                tried += 1
    assert tried > 100


@kernel
def name_stop():
    return cards.STOP


def other_code(compiled):
    """The function of a kernel with one more constant in its code."""
    code = compiled.py_func.__code__
    return types.FunctionType(code.replace(co_consts=(*code.co_consts, 1)), compiled.py_func.__globals__)


@pytest.mark.parametrize(
    ("function", "owner", "name", "changed"),
    [
        (name_stop, cards, "STOP", 0),  # behind a module
        (playouts.slot_of_hand, playouts, "NUM_KINDS", NUM_KINDS + 1),  # of another file
        (guided.Guided._loop.decide_rows, Job, "_fields", Job._fields[::-1]),  # a named tuple that it is given
        (stepping.step_rows, captures.fits, "py_func", other_code(captures.fits)),  # a kernel that it calls
    ],
)
def test_what_a_kernel_is_made_of_is_in_its_key(monkeypatch, function, owner, name, changed):
    own, other = function.py_func, stepping.seed_rows.py_func
    before = hash_now(own), hash_now(other)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, changed)
        assert hash_now(own) != before[0]
        assert owner is not captures.fits or hash_now(other) == before[1], "it does not call that one"
    kernel_hash.cache_clear()


def test_a_kernel_is_compiled_when_its_code_is_in_the_cache(load, monkeypatch):
    kept = load("kept_kernel", "STEP = 1\n@kernel\ndef after(number):\n    return number + STEP\n")
    assert not is_compiled(kept.after)
    assert kept.after(1) == 2
    assert is_compiled(kept.after)
    monkeypatch.setattr(kept, "STEP", 2)
    kernel_hash.cache_clear()
    assert not is_compiled(kept.after), "of other code"
    kernel_hash.cache_clear()


def test_kernels_work_where_nothing_can_be_cached(monkeypatch):
    def refuse(self, *given):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr(lean._PackageCache, "__init__", refuse)
    assert kernel(lambda number: 2 * number)(21) == 42


def test_what_names_a_place_in_memory_is_not_kept(load, tmp_path):
    """Nor is a kernel that it is a part of: Numba names large arrays by their place, which another process has not."""
    code = "import numpy as np\nTABLE = np.arange(200_000)\n@kernel\ndef look_up(at):\n    return TABLE[at]\n"
    large = load("large", code + "@kernel\ndef double(at):\n    return 2 * look_up(at)\n")
    with pytest.warns(NumbaWarning, match="dynamic globals"):
        assert large.double(99_999) == 199_998
    assert not list(tmp_path.rglob("*.nbi"))


def test_two_processes_that_fill_a_cache_at_once_write_two_files(tmp_path, monkeypatch):
    """Each has read the index before the other writes it; one entry is lost, and none leads to the other's code."""
    ours, theirs = (lean._CacheFiles(str(tmp_path), "kernel", "stamp") for _ in range(2))
    monkeypatch.setattr(theirs, "_load_index", dict)
    ours.save("main rules", "main code")
    theirs.save("other rules", "other code")
    found = {key: lean._CacheFiles(str(tmp_path), "kernel", "stamp").load(key) for key in ("main rules", "other rules")}
    assert found == {"main rules": None, "other rules": "other code"}
    ours.save("main rules", "main code")
    again = lean._CacheFiles(str(tmp_path), "kernel", "stamp")
    assert [again.load(key) for key in ("main rules", "other rules")] == ["main code", "other code"]


# ---------------------------------------------------------------------- what is compiled, and for which types

SPARED = """
@other_kernel
def with_more(rules) -> "int":
    return rules.points + 1

@kernel
def count(rules):
    return with_more(rules[0]) if rules[0].counts_more else rules[0].points
"""


def test_what_only_other_rules_run_is_not_compiled_for_the_main_game(load):
    spared = load("spared", SPARED)
    fields = [("counts_more", np.bool_), ("points", np.int64)]
    other, main = (records(np.dtype(names, align=True), 1) for names in (fields, [(SPARES, np.bool_), *fields]))
    other.points, main.points, other.counts_more = 5, 5, True
    assert (spared.count(handle(other)), spared.count(handle(main))) == (6, 5)
    assert len(spared.with_more.inner.overloads) == 1
    main.counts_more = True
    with pytest.raises(RuntimeError, match="not compiled for them"):
        spared.count(handle(main))


def test_rules_like_the_main_game_are_a_type_that_no_other_rules_have():
    main, other = (typeof(compile_rules(Rules.preset(name))).dtype for name in ("krypkasino", "kasino-sweden"))
    assert (SPARES in main.fields, SPARES in other.fields) == (True, False)
    assert main.can_convert_to(None, other) is None  # Numba takes a record with more fields at its end for the other
    assert other.can_convert_to(None, main) is None


# ---------------------------------------------------------------------- from process to process


def printed(folder, code, **variables):
    """The words that a new process prints that runs some code in a folder."""
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, cwd=folder,
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


KERNELS = """
import numpy as np
from krypenv.runtime.jit import handle, kernel, rare_kernel

@rare_kernel
def double(row):
    return row.number + row.number

def close_over(worth_of):
    @kernel
    def total(rows):
        return worth_of(rows[0]) + rows[1].number
    return total

sum_up = close_over(double)

def sum_of(kind, number):
    rows = np.zeros(2, np.dtype([("number", kind)], align=True))
    rows["number"] = number
    return sum_up(handle(rows))
"""


@pytest.mark.slow
def test_kernels_of_two_types_are_told_apart_and_not_compiled_again(tmp_path):
    """Each of the first two processes has a type of records that the other has not; a third one finds both.

    The kernel closes over another one.
    """
    (tmp_path / "some.py").write_text(KERNELS)
    kinds = "sum_of(np.int64, 5)", "sum_of(np.float64, 2.5)"
    for shown, told in ((kinds[:1], "15"), (kinds[1:], "7.5"), (kinds, "15 7.5"), (kinds[::-1], "7.5 15")):
        code = f"from some import *\nprint({', '.join(shown)}, sum_up.stats.cache_misses.total())"
        assert printed(tmp_path, code) == [*told.split(), "1" if len(shown) == 1 else "0"]


GAMES = """
import hashlib, numpy as np
from krypenv import Engine, Rules
from krypenv.runtime import jit
engine, digest = Engine(Rules.preset("mini-low"), 8, seed=1), hashlib.sha256()
for _ in range(60):
    engine.step(engine.sample_actions())
    for array in (engine.observation, engine.action_mask, engine.final_scores):
        digest.update(np.ascontiguousarray(array).tobytes())
print(digest.hexdigest(), jit.WHY_PLAIN.replace(" ", "-"))
"""


@pytest.mark.slow
def test_games_of_the_plain_way_are_the_same(tmp_path):
    """The first process of the plain way compiles, the second one takes what it has kept."""
    [expected] = printed(tmp_path, GAMES)
    plainly = {"KRYPENV_PLAIN_NUMBA": "1", "NUMBA_CACHE_DIR": str(tmp_path / "kept"), "NUMBA_OPT": "1"}  # 1: quicker
    for _ in range(2):
        assert printed(tmp_path, GAMES, **plainly) == [expected, "KRYPENV_PLAIN_NUMBA-is-set"]
    [folder] = (tmp_path / "kept").iterdir()
    assert folder.name == f"krypenv-{hashes.sources_digest()[:16]}"
    assert len(list(folder.rglob("*.nbi"))) > 5


# ---------------------------------------------------------------------- the plain way, by public means


@pytest.mark.parametrize(
    ("version", "value", "reason"),
    [
        ((0, 65), "", "krypenv was tried with Numba 0.66 to 0.68, and this is 0.65"),
        ((0, 66), "", ""),
        ((0, 68), "0", ""),
        ((0, 69), "", "krypenv was tried with Numba 0.66 to 0.68, and this is 0.69"),
        ((0, 68), "yes", "KRYPENV_PLAIN_NUMBA is set"),
    ],
)
def test_versions_that_were_not_tried_and_a_variable_ask_for_the_plain_way(monkeypatch, version, value, reason):
    monkeypatch.setenv(jit.ASK_FOR_PLAIN, value)
    assert jit.why_plain(version) == reason


@pytest.mark.parametrize(
    ("owner", "name", "other", "reason"),
    [
        (lean.FunctionCache, "_index_key", lambda self, sig: (), "FunctionCache._index_key is another"),
        (lean.compiler.Flags, "no_compile", None, "no_compile is no flag"),
    ],
)
def test_internals_of_numba_that_look_different_are_left_alone(monkeypatch, owner, name, other, reason):
    monkeypatch.delenv(jit.ASK_FOR_PLAIN, raising=False)
    assert jit.why_plain(jit.NEWEST) == ""
    monkeypatch.setattr(owner, name, other) if other else monkeypatch.delattr(owner, name)
    assert jit.why_plain(jit.NEWEST) == f"Numba's internals have changed: {reason}"


def test_any_change_of_a_source_changes_the_folder_of_the_plain_way(tmp_path):
    """Those of folders that a checkout links to, too."""
    package, linked = tmp_path / "krypenv", tmp_path / "agents"
    package.mkdir()
    linked.mkdir()
    (package / "agents").symlink_to("../agents", target_is_directory=True)
    digests = [hashes.sources_digest(package)]
    for change in (
        lambda: (package / "some.py").write_text("SOME = 1\n"),
        lambda: (package / "some.py").write_text("SOME = 2\n"),
        lambda: (linked / "some.py").touch(),
        lambda: (package / "some.py").rename(package / "more.py"),
    ):
        change()
        digests.append(hashes.sources_digest(package))
    assert len(set(digests)) == 5
    (package / "notes.txt").touch()
    assert hashes.sources_digest(package) == digests[-1]


def test_the_plain_way_keeps_code_where_it_may_write(tmp_path, monkeypatch):
    name, blocked = f"krypenv-{hashes.sources_digest()[:16]}", tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for package, chosen, folder in (
        (tmp_path / "package", "", tmp_path / "package" / "__pycache__" / name),
        (blocked, "", tmp_path / "home" / ".cache" / name),
        (blocked, str(tmp_path / "chosen"), tmp_path / "chosen" / name),
        (blocked, str(blocked), None),
    ):
        monkeypatch.setattr(plain, "PACKAGE", package)
        monkeypatch.setattr(plain.settings, "CACHE_DIR", chosen)
        plain.cache_folder.cache_clear()
        assert plain.cache_folder() == folder
    plain.cache_folder.cache_clear()
