"""The key under which a compiled kernel is kept: it changes with all that the kernel is made of."""

import importlib
import subprocess
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest
from numba import typeof, types as types_of_numba
from numba.core.errors import NumbaWarning

import krypenv.agents  # noqa: F401 - with agents come all kernels
from krypenv import Rules, stepping
from krypenv.agents.neural import guided, playouts
from krypenv.agents.search.worlds import Job
from krypenv.cards import NUM_KINDS
from krypenv.kernels import captures, observing, weighing
from krypenv.kernels.compiled import compile_rules
from krypenv.runtime import lean
from krypenv.runtime.hashes import kernel_hash
from krypenv.runtime.jit import JIT_IS_OFF, SPARES, handle, is_compiled, kernel, rare_kernel, records

pytestmark = pytest.mark.skipif(JIT_IS_OFF, reason="as plain Python, nothing is compiled and kept")


def kernels():
    """Every kernel of the package, by module and name."""
    found = {}
    for module in [module for name, module in sys.modules.items() if name.startswith("krypenv")]:
        for name, value in vars(module).items():
            if hasattr(value, "py_func") and value.py_func.__module__ == module.__name__:
                found[f"{module.__name__}.{name}"] = value.py_func
    return found


def hash_now(function):
    """The key as it would be in a new process."""
    kernel_hash.cache_clear()
    return kernel_hash(function)


def test_every_constant_that_a_kernel_names_is_in_its_key(monkeypatch):
    """Of every third kernel."""
    tried = 0
    for name, function in list(kernels().items())[::3]:
        before = hash_now(function)
        for constant in function.__code__.co_names:
            value = function.__globals__.get(constant)
            if isinstance(value, (int, float, np.generic)) and not isinstance(value, type):
                with monkeypatch.context() as patch:
                    patch.setitem(function.__globals__, constant, value + type(value)(1))
                    assert hash_now(function) != before, f"{name} does not depend on {constant}"
                tried += 1
        assert hash_now(function) == before
    assert tried > 100


def other_code(compiled):
    """The function of a kernel with one more constant in its code."""
    code = compiled.py_func.__code__
    return types.FunctionType(code.replace(co_consts=(*code.co_consts, 1)), compiled.py_func.__globals__)


class Inner(NamedTuple):
    number: int


class Outer(NamedTuple):
    inner: "Inner"


@kernel
def read_number(outer: "Outer"):
    return outer.inner.number


@pytest.mark.parametrize(
    ("function", "owner", "name", "changed"),
    [
        (stepping.step_rows, observing, "SIZE", observing.SIZE + 1),  # behind a module
        (playouts.slot_of_hand, playouts, "NUM_KINDS", NUM_KINDS + 1),  # of another file
        (guided.guide_rows, Job, "_fields", Job._fields[::-1]),  # a named tuple that it is given
        (read_number, Inner, "_fields", ("count",)),  # and one inside of another
        (stepping.step_rows, captures.fits, "py_func", other_code(captures.fits)),  # a kernel that it calls
        (weighing.weigh_action, captures.fits, "py_func", other_code(captures.fits)),
    ],
)
def test_what_a_kernel_is_made_of_counts(monkeypatch, function, owner, name, changed):
    own, other = function.py_func, stepping.seed_rows.py_func
    before = hash_now(own), hash_now(other)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, changed)
        assert hash_now(own) != before[0]
        assert owner is not captures.fits or hash_now(other) == before[1], "it does not call that one"
    kernel_hash.cache_clear()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Import a module from its code."""

    def load(name, code):
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(name)

    return load


def test_a_kernel_is_compiled_when_its_code_is_in_the_cache(module, monkeypatch):
    code = "from krypenv.runtime.jit import kernel\nSTEP = 1\n\n@kernel\ndef after(number):\n    return number + STEP\n"
    kept = module("kept_kernel", code)
    assert not is_compiled(kept.after)
    assert kept.after(1) == 2
    assert is_compiled(kept.after)
    monkeypatch.setattr(kept, "STEP", 2)
    kernel_hash.cache_clear()
    assert not is_compiled(kept.after), "of other code"
    kernel_hash.cache_clear()


NESTED = """
from krypenv.runtime.jit import kernel

@kernel
def add(one, other):
    return one + other

@kernel
def twice(number):
    return add(number, 1) + add(number, -1)

@kernel
def thrice(number):
    return twice(number) + number
"""


SPARED = """
from krypenv.runtime.jit import kernel, other_kernel

@other_kernel
def with_more(rules) -> "int":
    return rules.points + 1

@kernel
def count(rules):
    return with_more(rules[0]) if rules[0].counts_more else rules[0].points
"""


def test_what_only_other_rules_run_is_not_compiled_for_the_main_game(module):
    spared = module("spared", SPARED)
    fields = [("counts_more", np.bool_), ("points", np.int64)]
    other, main = (records(np.dtype(names, align=True), 1) for names in (fields, [(SPARES, np.bool_), *fields]))
    other.points, main.points, other.counts_more = 5, 5, True
    assert spared.count(handle(other)) == 6
    assert spared.count(handle(main)) == 5
    assert len(spared.with_more.inner.overloads) == 1
    main.counts_more = True
    with pytest.raises(RuntimeError, match="not compiled for them"):
        spared.count(handle(main))


def test_rules_like_the_main_game_are_a_type_that_no_other_rules_have():
    main, other = (typeof(compile_rules(Rules.preset(name))).dtype for name in ("krypkasino", "kasino-sweden"))
    assert SPARES in main.fields
    assert SPARES not in other.fields
    assert main.can_convert_to(None, other) is None  # Numba takes a record with more fields at its end for the other
    assert other.can_convert_to(None, main) is None


def test_a_kernel_that_only_kernels_call_is_not_made_machine_code(module):
    nested = module("nested", NESTED)
    assert nested.twice(5) == 10
    assert not nested.add.signatures
    assert len(nested.add.inner.signatures) == 1, "numbers that are written out are of one type with others"
    assert nested.add(5, 1) == 6, "and from Python it is called as any other"
    assert nested.twice(5) == 10


TALLY = np.dtype([("short", np.int8, 3), ("long", np.int8, 5), ("small", np.int8), ("wide", np.int32)])


@kernel
def raise_to(numbers, at, number):
    numbers[at] = max(numbers[at], number)


@kernel
def raise_all(tallies, apart):
    tally = tallies[0]
    raise_to(tally.short, tally.small, tally.wide)
    raise_to(tally.long, tally.wide, tally.small)
    raise_to(apart, 0, 9)


def test_a_kernel_is_compiled_once_for_arrays_and_integers_of_all_kinds(tmp_path, monkeypatch):
    """An array in a record is one like others, and is written to in its record; a small integer is an integer."""
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    tallies, apart = records(TALLY, 1), np.zeros(7, np.int8)
    tallies.small, tallies.wide = 2, 4
    raise_all(handle(tallies), apart)
    assert tallies.short.tolist() == [[0, 0, 4]]
    assert tallies.long.tolist() == [[0, 0, 0, 0, 2]]
    assert apart.tolist() == [9, 0, 0, 0, 0, 0, 0]
    assert len(raise_to.inner.overloads) == 1


def printed(folder, *arguments):
    """The words that a new process prints that runs in a folder."""
    run = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.slow
def test_kernels_take_in_what_is_kept_of_others(tmp_path):
    (tmp_path / "nested.py").write_text(NESTED)
    code = "import nested; print(nested.{0}(5), nested.add.inner.stats.cache_hits.total())"
    told = [printed(tmp_path, "-c", code.format(name)) for name in ("twice", "thrice", "thrice")]
    assert told == [["10", "0"], ["15", "1"], ["15", "0"]], "the last one is kept whole"


LARGE = """
import numpy as np
from krypenv.runtime.jit import kernel

TABLE = np.arange(200_000)  # so large that Numba names its place in memory, which another process does not have

@kernel
def look_up(at):
    return TABLE[at]

@kernel
def add_up(at):
    return look_up(at) + look_up(at + 1)

@kernel
def double(at):
    return 2 * add_up(at)
"""


def test_what_names_a_place_in_memory_is_not_kept(module, tmp_path):
    """Nor is any kernel that it is a part of."""
    large = module("large", LARGE)
    with pytest.warns(NumbaWarning, match="dynamic globals"):
        assert large.double(99_999) == 2 * (99_999 + 100_000)
    assert not any(is_compiled(each) for each in (large.look_up, large.add_up, large.double))
    assert not list(tmp_path.rglob("*.nbi"))


TWO_TYPES = """
import sys
import numpy as np
from krypenv.runtime.jit import handle, kernel, rare_kernel

FIELD = {"whole": (np.int64, 5), "part": (np.float64, 2.5)}

@rare_kernel
def double(row):
    return row.number + row.number

@kernel
def sum_up(rows):
    return double(rows[0]) + rows[1].number

for kind in sys.argv[1:]:
    rows = np.zeros(2, np.dtype([("number", FIELD[kind][0])], align=True))
    rows["number"] = FIELD[kind][1]
    print(sum_up(handle(rows)))
"""


@pytest.mark.slow
def test_code_of_two_processes_is_told_apart_by_a_third(tmp_path):
    """A kernel of two types of records, each compiled by a process of its own in which that is the first type."""
    (tmp_path / "two_types.py").write_text(TWO_TYPES)
    runs = ["whole"], ["part"], ["whole", "part"], ["part", "whole"]
    told = [printed(tmp_path, "two_types.py", *kinds) for kinds in runs]
    assert told == [["15"], ["7.5"], ["15", "7.5"], ["7.5", "15"]]


@kernel
def usual(number):
    return number + 1


@rare_kernel
def rare(number):
    return number + 1


@pytest.mark.parametrize(("compiled", "stays"), [(usual, False), (rare, True)])
def test_a_rare_kernel_stays_a_function_of_its_own(compiled, stays):
    compiled.inner.compile((types_of_numba.int64,))
    [found] = compiled.inner.overloads.values()
    own = found.library._final_module.get_function(found.fndesc.llvm_func_name)
    assert (b"noinline" in b" ".join(own.attributes)) == stays


CLOSED = """
import numpy as np
from krypenv.runtime.jit import kernel

def once(number):
    return number

def squared(number):
    return number * number

def make_sum(worth_of):
    @kernel
    def total(numbers):
        summed = 0
        for number in numbers:
            summed += worth_of(number)
        return summed

    return total

for worth in (once, squared):
    total = make_sum(kernel(worth))
    print(total(np.arange(4)), total.stats.cache_hits.total())
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_plain", ["0", "1"])
def test_kernels_that_close_over_others_are_kept(tmp_path, monkeypatch, is_plain):
    """A second process compiles none of them."""
    monkeypatch.setenv("KRYPENV_PLAIN_NUMBA", is_plain)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "closed.py").write_text(CLOSED)
    code = "import krypenv; krypenv.__path__.append('.'); import krypenv.closed"  # the plain way keeps the package's
    assert [printed(tmp_path, "-c", code) for _ in range(2)] == [["6", "0", "14", "0"], ["6", "1", "14", "1"]]


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
