"""The benchmark: its lines, the patterns that choose among them, and two installations side by side."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest
from support.commands import krypenv

from krypenv.training import Settings
from krypenv.training.cli.upkeep import bench
from krypenv.training.cli.upkeep.bench_lines import PEERS, THREADS, lines


@pytest.mark.parametrize("name", [name for name in lines(4, 2) if importlib.util.find_spec(PEERS.get(name, "sys"))])
def test_every_line_makes_steps(name, monkeypatch):
    tiny = Settings.of(envs=4, opponent_envs=2, steps=8, batch=16, epochs=1, card=8, embedding=8)
    monkeypatch.setattr("krypenv.training.Settings", lambda: tiny)
    block = lines(4, 2)[name]()
    assert block.do() >= block.batch >= 1
    assert block.batch == 1 or block.do() % block.batch == 0
    assert block.threads == (2 if name.startswith(THREADS) else 1)


def test_each_peer_that_is_not_installed_is_told_by_its_line():
    for name in PEERS:
        if not importlib.util.find_spec(PEERS[name]):
            with pytest.raises(ImportError):
                lines(8, 2)[name]()


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
    assert bench.chosen(["engine", "engine, 4 players", "AEC env()"], only) == names


# ---------------------------------------------------------------------- turns and ratios


class Fake:
    """A process whose blocks take a time of their own."""

    def __init__(self, turns, side, block_seconds, threads=1):
        self.turns, self.side, self.block_seconds, self.told = turns, side, block_seconds, {"threads": threads}

    def turn(self, seconds, processor):
        blocks = max(1, round(seconds / self.block_seconds))
        self.turns.append((self.side, processor))
        return {"steps": blocks * 5, "cpu": blocks * self.block_seconds, "clock": 2 * blocks * self.block_seconds}


def test_two_take_turns_on_the_same_processor():
    turns = []
    rates = bench.take_turns([Fake(turns, 0, 0.01), Fake(turns, 1, 0.02)], 4.0)
    assert rates == pytest.approx(np.tile([[[500, 250], [250, 125]]], (bench.TURNS, 1, 1)))
    pairs = [turns[at : at + 2] for at in range(0, len(turns), 2)]
    assert all({side for side, _ in pair} == {0, 1} for pair in pairs)
    assert [pair[0][1] for pair in pairs] == [pair[1][1] for pair in pairs] == [at // 4 for at in range(40)]
    assert [pair[0][0] for pair in pairs] == [0, 1, 1, 0] * 10, "neither is favoured by a drift"


@pytest.mark.parametrize(("sides", "turns"), [(1, bench.FEWEST_TURNS), (2, bench.FEWEST_PAIRS)])
def test_slow_blocks_have_fewer_turns_and_threads_choose_their_processors(sides, turns):
    seen = []
    assert len(bench.take_turns([Fake(seen, side, 3.0, threads=2) for side in range(sides)], 0.1)) == turns
    assert {processor for _, processor in seen} == {None}


def test_the_ratio_is_that_of_what_ran_side_by_side():
    rng = np.random.default_rng(0)
    drift = np.exp(np.cumsum(rng.normal(0, 0.3, 40)))
    assert bench.ratio_of(2 * drift, drift) == pytest.approx((2, 2, 2))
    spoilt = np.where(np.arange(40) % 8 == 0, 50.0, 1.0)
    assert bench.ratio_of(2 * drift * spoilt, drift) == pytest.approx((2, 2, 2))


@pytest.mark.parametrize("pairs", [bench.FEWEST_PAIRS, bench.TURNS])
def test_the_interval_holds_the_ratio_as_often_as_it_says(pairs):
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(200):
        rates = 1.1 * rng.lognormal(0, 0.1, pairs) * rng.choice([1, 3], pairs)
        ratio, low, high = bench.ratio_of(rates, np.ones(pairs))
        assert low <= ratio <= high
        held += low <= 1.1 * 3**0.5 <= high
    assert held / 200 >= 0.95 - 3 * (0.05 * 0.95 / 200) ** 0.5


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(1.01, 1.2, "faster"), (0.8, 0.99, "slower"), (0.9, 1.1, "same"), (1.0, 1.1, "same")]
)
def test_the_verdict_is_that_of_the_interval(low, high, verdict):
    assert bench.verdict_of(low, high) == verdict


# ---------------------------------------------------------------------- the command

OTHER = """
import os
from pathlib import Path

__version__ = "other"

class Rules:
    @staticmethod
    def preset(name, players=2):
        return name

class Engine:
    def __init__(self, rules, games, threads=1):
        compiled = Path(os.environ.get("NUMBA_CACHE_DIR", "."), "compiled")
        with Path(__file__).with_name("uses").open("a") as uses:
            print(compiled.exists(), file=uses)
        compiled.touch()

    def sample_actions(self):
        print("not an answer")

    def step(self, actions):
        sum(range(1000))
"""


@pytest.fixture
def other(tmp_path, monkeypatch):
    """A folder with another krypenv, which has only an engine."""
    (tmp_path / "krypenv").mkdir()
    (tmp_path / "krypenv/__init__.py").write_text(OTHER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report_of(*words):
    """Run the command; return its report by line, and what it prints."""
    done = krypenv("bench", "--games", 8, "--seconds", 0.01, "--json", "bench.json", *words, columns=200)
    assert done.exit_code == 0, done.output
    with open("bench.json", encoding="utf-8") as file:
        report = json.load(file)
    return report | {"lines": {line.pop("what"): line for line in report["lines"]}}, done.stdout


def test_lines_alone_and_their_ratio(other, monkeypatch):
    monkeypatch.syspath_prepend(other)
    report, printed = report_of("--only", "engine", "--only", THREADS, "--only", "AEC*")
    lines, ratio = report["lines"], "several threads / one, on the clock"
    assert list(lines) == ["engine", THREADS, "AEC env()", ratio]
    for name, threads in (("engine", 1), (THREADS, 2)):
        assert (lines[name]["batch"], lines[name]["threads"]) == (8, threads)
        assert f"{lines[name]['per_cpu_second']:,.0f}" in printed
        assert f"{lines[name]['per_second']:,.0f}" in printed
    low, high = lines[ratio]["interval"]
    assert 0 < low <= lines[ratio]["ratio"] <= high
    assert f"{lines[ratio]['ratio']:.3f}" in printed
    assert (lines["AEC env()"]["verdict"], "AEC env(): ImportError: cannot" in printed) == ("not here", True)
    assert report["machine"]["cores"] >= 1
    assert report["this"]["folder"] == str(other / "krypenv")


def test_threads_are_compared_on_the_clock(other, monkeypatch):
    monkeypatch.syspath_prepend(other)
    rates = np.tile([[4, 9], [2, 3]], (bench.FEWEST_PAIRS, 1, 1))  # of each: by CPU time, by the clock
    monkeypatch.setattr(bench, "take_turns", lambda processes, seconds: rates[:, : len(processes)])
    report, _ = report_of("--only", "engine", "--only", THREADS)
    assert report["lines"]["several threads / one, on the clock"]["ratio"] == 3


def test_the_first_use_compiles_and_the_next_ones_do_not(other, monkeypatch):
    monkeypatch.syspath_prepend(other)
    report, printed = report_of("--first-use", "--only", "engine", "--only", "greedy*")
    assert (other / "krypenv/uses").read_text().split() == ["False", "True", "True", "True"]
    line = report["lines"]["engine"]
    assert f"{line['compiled']:.2f} s" in printed
    assert f"{line['kept']:.2f} s" in printed
    assert report["lines"]["greedy, decisions"]["verdict"] == "not here"


def test_a_commit_beside_this_installation(other, monkeypatch):
    file = other / "krypenv/__init__.py"
    file.write_text(OTHER.replace(", threads=1", ""))
    git = ["git", "-c", "user.name=x", "-c", "user.email=x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "old"]):
        subprocess.run([*git, *words], cwd=other, check=True)
    file.write_text(OTHER.replace("other", "this"))
    monkeypatch.setattr(bench, "CHECKOUT", other)
    monkeypatch.syspath_prepend(other)
    report, printed = report_of("--beside", "old", "--only", "engine", "--only", THREADS)
    assert (report["this"]["krypenv"], report["other"]["krypenv"]) == ("this", "other")
    engine, threads = report["lines"].values()
    assert engine["verdict"] == bench.verdict_of(*engine["interval"])
    assert engine["turns"] >= bench.FEWEST_PAIRS
    assert (threads["verdict"], f"{THREADS}: {threads['reason']}" in printed) == ("not there", True)


def test_an_installation_beside_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report, _ = report_of("--beside", sys.executable, "--only", "greedy*")
    assert report["this"] == report["other"]
    assert report["lines"]["greedy, decisions"]["turns"] >= bench.FEWEST_PAIRS


HAS_DIED = f"""#!{sys.executable}
import sys
print('{{"who": {{}}, "threads": 1}}', flush=True)
input()
sys.exit("the roof fell in")
"""


@pytest.mark.parametrize(
    ("script", "words", "sentence"),
    [
        (
            f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n',
            [],
            "has no krypenv that can be imported: ModuleNotFoundErr",
        ),
        ("#!/bin/sh\necho hello\n", [], "is no Python: it says 'hello"),
        ("#!/bin/sh\necho 5\n", [], "is no Python: it says '5"),
        ("#!/bin/sh\nexit 3\n", [], "has ended with exit code 3"),
        (HAS_DIED, [], "has ended with exit code 1: the roof fell in"),
        ("", ["--beside", "none/python"], "there is no interpreter or commit 'none/python'; name a commit of this"),
        ("", ["--peers"], "--first-use are three measurements; give one of them"),
        ("", ["--first-use"], "--first-use are three measurements; give one of them"),
        ("", ["--only", "enigne"], "no line of the benchmark fits 'enigne'; the lines are self-play, "),
        ("", ["--seconds", 0], "seconds is above 0, not 0.0"),
        ("", ["--games", 0], "games is at least 1, not 0"),
    ],
)
def test_what_can_not_be_compared_is_refused_in_one_sentence(other, monkeypatch, script, words, sentence):
    monkeypatch.syspath_prepend(other)
    path = other / "python"
    path.write_text(script)
    path.chmod(0o755)
    done = krypenv("bench", "--beside", path, "--only", "engine", *words)
    assert done.exit_code == 2
    assert done.stderr.startswith("krypenv: ")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
