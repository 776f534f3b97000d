"""The benchmark: its lines, the patterns that choose among them, and two installations side by side."""

import importlib.util
import json
import os
import sys

import numpy as np
import pytest
from support.commands import krypenv

from krypenv import Rules
from krypenv.training.cli.speed import benchmark, beside
from krypenv.training.cli.speed import lines as bench_lines
from krypenv.training.cli.speed.benchmark import BenchSettings, chosen
from krypenv.training.cli.speed.beside import Compared, ratio_of, verdict_of
from krypenv.training.cli.speed.lines import AEC, ENGINE, PEERS, THREADS, UNPINNED


@pytest.mark.parametrize(
    "name",
    [name for name in bench_lines.lines(8, 2) if name not in UNPINNED or importlib.util.find_spec(UNPINNED[name])],
)
def test_every_line_makes_steps(name):
    try:
        block = bench_lines.lines(8, 2)[name]()
    except ImportError:
        assert name in PEERS, "only the peers are not installed with the tests"
        pytest.skip("this peer is not installed")
    assert block.run() > 0
    assert block.batch >= 1
    assert (block.threads > 1) == name.startswith(THREADS)


def test_the_benchmark_has_its_lines(monkeypatch):
    monkeypatch.setattr(benchmark, "_timed", lambda *_: 1.0)  # they compile everything anew
    seen = []
    only = ["engine*", AEC, "*hearts*", "*krypenv"]
    settings = BenchSettings(only=tuple(only), games=32, seconds=0.01, peers=True)
    report = benchmark.benchmark(settings, seen.append)
    lines = [benchmark.Line(**line) for line in report["lines"]]
    assert {ENGINE, "engine, features block", THREADS, AEC} <= {line.what for line in lines}
    rates = [line for line in lines if line.batch]
    assert all(line.per_second > 0 and line.per_cpu_second > 0 for line in rates)
    assert [line.what for line in lines if line.seconds] == ["import krypenv"]
    assert all(line.ratio or line.seconds for line in lines if line not in rates)
    assert all(len(benchmark.table_row(line)) == len(benchmark.COLUMNS) for line in lines)
    assert len([words for words in seen if words.startswith("round")]) == benchmark.ROUNDS * len(rates)
    assert report["machine"]["cores"] >= 1
    json.dumps(report, allow_nan=False)


def test_each_peer_that_no_extra_names_is_imported_by_its_line():
    assert set(UNPINNED) < set(PEERS) < set(bench_lines.lines(8, 2))
    for name, module in UNPINNED.items():
        if not importlib.util.find_spec(module):
            with pytest.raises(ImportError):
                bench_lines.lines(8, 2)[name]()


def test_a_benchmark_of_nothing_is_refused():
    with pytest.raises(ValueError, match="games is at least 1, not 0"):
        BenchSettings(games=0)
    with pytest.raises(ValueError, match=r"no line of the benchmark fits 'enigne'; the lines are .*; engine; "):
        benchmark.benchmark(BenchSettings(only=("engine", "enigne")))


@pytest.mark.parametrize(
    ("only", "names"),
    [
        ([], ["engine", "engine, 4 players", "AEC env()"]),
        (["engine"], ["engine"]),
        (["engine*"], ["engine", "engine, 4 players"]),
        (["aec*", "ENGINE"], ["engine", "AEC env()"]),
    ],
)
def test_patterns_choose_lines(only, names):
    assert chosen(["engine", "engine, 4 players", "AEC env()"], only) == names


# ---------------------------------------------------------------------- two installations


def test_the_ratio_is_that_of_what_ran_side_by_side():
    rng = np.random.default_rng(0)
    drift = np.exp(np.cumsum(rng.normal(0, 0.3, 40)))
    assert ratio_of(2 * drift, drift) == pytest.approx((2, 2, 2))
    spoilt = np.where(np.arange(40) % 8 == 0, 50.0, 1.0)
    assert ratio_of(2 * drift * spoilt, drift) == pytest.approx((2, 2, 2))


@pytest.mark.parametrize("pairs", [beside.FEWEST_PAIRS, beside.PAIRS])
def test_the_interval_holds_the_ratio_as_often_as_it_says(pairs):
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        ratio, low, high = ratio_of(1.1 * rng.lognormal(0, 0.1, pairs) * rng.choice([1, 3], pairs), np.ones(pairs))
        assert low <= ratio <= high
        held += low <= 1.1 * 3**0.5 <= high
    assert held / 200 >= 0.95 - 3 * (0.05 * 0.95 / 200) ** 0.5


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(1.01, 1.2, "faster"), (0.8, 0.99, "slower"), (0.9, 1.1, "same"), (1.0, 1.1, "same")]
)
def test_the_verdict_is_that_of_the_interval(low, high, verdict):
    assert verdict_of(low, high) == verdict


class Fake:
    """An installation whose blocks take a time of their own."""

    def __init__(self, turns, side, block_seconds, threads=1, lacks=None):
        self.turns, self.side, self.block_seconds, self.threads, self.lacks = turns, side, block_seconds, threads, lacks

    def make(self, line, games, threads):
        return self.lacks

    def ask(self, what, **arguments):
        if what == "count":
            return {"blocks": max(1, round(arguments["seconds"] / self.block_seconds)), "seconds": 0.1}
        self.turns.append((self.side, arguments["blocks"], arguments["processor"]))
        return {"steps": arguments["blocks"] * 5, "seconds": arguments["blocks"] * self.block_seconds}


def test_both_do_the_same_work_in_turns():
    turns = []
    line = beside._compare(Fake(turns, 0, 0.01), Fake(turns, 1, 0.02), "engine", 8, 0.1, 2)
    assert (line.ratio, line.low, line.high) == pytest.approx((2, 2, 2))
    assert (line.verdict, line.this, line.other) == ("faster", pytest.approx(500), pytest.approx(250))
    pairs = [turns[at : at + 2] for at in range(0, len(turns), 2)]
    assert len(pairs) == line.pairs == beside.PAIRS
    assert all({side for side, *_ in pair} == {0, 1} for pair in pairs)
    assert len({blocks for _, blocks, _ in turns}) == 1
    assert all(pair[0][2] == pair[1][2] for pair in pairs), "the two turns of a pair are on one processor"
    firsts = [pair[0][0] for pair in pairs]
    assert [firsts[at : at + 4] for at in range(0, 40, 4)] == [[0, 1, 1, 0]] * 10


def test_slow_blocks_have_fewer_pairs_and_threads_choose_their_processors():
    turns = []
    line = beside._compare(Fake(turns, 0, 3.0, threads=2), Fake(turns, 1, 3.0, threads=2), "engine", 8, 0.01, 2)
    assert line.pairs == beside.FEWEST_PAIRS
    assert {processor for *_, processor in turns} == {None}
    assert line.verdict == "same"


@pytest.mark.parametrize(
    ("here", "there", "verdict"), [(None, "x", "not there"), ("x", None, "not here"), ("x", "y", "not there")]
)
def test_a_line_that_is_lacking_is_told(here, there, verdict):
    line = beside._compare(Fake([], 0, 1, lacks=here), Fake([], 1, 1, lacks=there), "engine", 8, 0.01, 2)
    assert line == Compared("engine", verdict, reason="; ".join(filter(None, (here, there))))
    assert len(beside.table_row(line)) == len(beside.COLUMNS)


RELATIVES = [
    "engine, kasino-sweden",
    "engine, overspader",
    "engine, kasino-finland",
    "engine, laistokasino",
    "engine, mulle",
]


def test_there_is_a_line_for_each_relative_and_an_older_version_says_that_it_is_new(monkeypatch):
    lines = bench_lines.lines(8, 2)
    assert [name for name in lines if name in RELATIVES] == RELATIVES
    worker = bench_lines.Worker()
    monkeypatch.setattr(Rules, "presets", staticmethod(lambda: ["krypkasino", "howto"]))
    for name in RELATIVES:
        with pytest.raises(LookupError, match="this line is new: the version there does not play") as reason:
            worker.make(name, 8, 2)
        lacks = f"LookupError: {reason.value}"
        told = beside._compare(Fake([], 0, 1), Fake([], 1, 1, lacks=lacks), name, 8, 0.01, 2)
        assert told == Compared(name, "not there", reason=lacks)
    assert worker.make("engine", 8, 2) == {"batch": 8, "threads": 1}


def test_an_installation_beside_itself(tmp_path):
    file = tmp_path / "beside.json"
    words = ("--only", "whole*", "--only", "greedy*", "--games", 8, "--seconds", 0.01, "--json", file)
    done = krypenv("bench", "--beside", sys.executable, *words)
    assert done.exit_code == 0, done.output
    report = json.loads(file.read_text())
    assert report["this"] == report["other"]
    assert [line["what"] for line in report["lines"]] == ["whole games in a kernel", "greedy, decisions"]
    for line in (Compared(**line) for line in report["lines"]):
        assert 0 < line.low <= line.ratio <= line.high
        assert line.verdict == verdict_of(line.low, line.high)
        assert f"{line.ratio:.3f}" in done.stdout


def script(path, text):
    """Write a program that stands for an interpreter."""
    path.write_text(text)
    path.chmod(0o755)
    return path


HAS_DIED = f"""#!{sys.executable}
import sys
for number, _ in enumerate(sys.stdin):
    if number == 2:
        sys.exit("the roof fell in")
    print('{{"krypenv": "0", "folder": "x", "threads": 1}}', flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="the programs are scripts")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"#!/bin/sh\nexec {sys.executable} -I -S $1\n", "has no krypenv that can be imported: ModuleNotFoundError"),
        ("#!/bin/sh\necho hello\n", "is no Python: it says 'hello"),
        ("#!/bin/sh\necho 5\n", "is no Python: it says '5"),
        ("#!/bin/sh\nexit 3\n", "has ended with exit code 3"),
        (HAS_DIED, "has ended with exit code 1: the roof fell in"),
    ],
    ids=["no krypenv", "no python", "a number", "ends at once", "dies"],
)
def test_another_interpreter_that_is_none(tmp_path, text, sentence):
    done = krypenv("bench", "--beside", script(tmp_path / "python", text), "--only", "whole*", "--games", 8)
    assert done.exit_code == 2
    assert done.stderr.startswith("krypenv: ")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--beside", "none/python"], "there is no interpreter 'none/python'; name the python of another environment"),
        (["--beside", sys.executable, "--peers"], "--first-use are three measurements; give one of them"),
        (["--beside", sys.executable, "--only", "x"], "no line of the benchmark fits 'x'"),
        (["--beside", sys.executable, "--seconds", 0], "seconds is above 0, not 0.0"),
    ],
)
def test_what_can_not_be_compared_is_refused(words, sentence):
    done = krypenv("bench", *words)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
