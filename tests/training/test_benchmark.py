"""The benchmark: its lines, the patterns that choose among them, and another commit measured in turn."""

import json
import re
import subprocess
from functools import partial

import pytest
from support.commands import krypenv

from krypenv.training import TrainSettings
from krypenv.training.cli import bench
from krypenv.training.cli.bench_lines import LINES, PEERS
from krypenv.training.learn import run

SOME = ("self-play, learning included", "engine, features block", "AEC env()")


@pytest.mark.parametrize("name", [*SOME, "greedy, decisions", "learned, decisions", *PEERS])
def test_a_line_makes_steps_or_lacks_a_peer(name, monkeypatch):
    tiny = TrainSettings(envs=4, steps=8, batch=16, epochs=1, card=8, embedding=8)
    monkeypatch.setattr(run, "TrainingRun", lambda _, folder, made=run.TrainingRun: made(tiny, folder))
    try:
        line = PEERS[name][1]() if name in PEERS else LINES[name]()
        steps = next(line), next(line)
    except ImportError:
        assert name in PEERS
    else:
        assert min(steps) >= 1
    assert all(ours in LINES for ours, _ in PEERS.values())


def turn(seen, side, block_seconds, seconds):
    """A turn of a line whose blocks of five steps take a time of their own."""
    seen.append(side)
    blocks = max(1, round(seconds / block_seconds))
    return {"steps": 5 * blocks, "cpu": blocks * block_seconds, "clock": 2 * blocks * block_seconds}


def test_two_take_turns_and_neither_is_favoured_by_a_drift():
    seen = []
    sides = [partial(turn, seen, 0, 0.01), partial(turn, seen, 1, 0.02)]
    line = bench.measure(sides, 4.0)
    assert (line["ratio"], *line["interval"]) == pytest.approx((2, 2, 2))
    assert (line["per_cpu_second"], line["per_second"], line["turns"]) == pytest.approx((500, 250, bench.TURNS))
    assert seen[2:] == [0, 1, 1, 0, 1, 0, 0, 1] * 10
    assert bench.measure(sides, 4.0, 1)["per_second"] == 125


# ---------------------------------------------------------------------- the command

OTHER = """
class Rules:
    @staticmethod
    def preset(name, players):
        return name

class Engine:
    def __init__(self, rules, games, **options):
        assert not options

    def sample_actions(self):
        print("not an answer")

    def step(self, actions):
        sum(range(1000))
"""


@pytest.fixture
def other(tmp_path, monkeypatch):
    """A checkout whose only commit has another krypenv, which has only an engine on one thread, and no JAX."""
    (tmp_path / "krypenv").mkdir()
    for name, text in (("krypenv/__init__", OTHER), ("jax", "raise ImportError('not here')")):
        (tmp_path / f"{name}.py").write_text(text)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "old"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "CHECKOUT", tmp_path)
    return tmp_path


def test_lines_are_measured_beside_peers_and_a_commit_and_others_say_what_is_missing(other):
    slower = OTHER.replace("1000", "10000").replace("        assert not options\n", "        pass\n")
    (other / "krypenv/__init__.py").write_text(slower)
    patterns = ("engine", "engine, several*", "AEC*", "OpenSpiel hearts, moves", "pgx*")
    done = krypenv(
        *("bench", "--seconds", 0.01, "--json", "bench.json", "--peers", "--beside", "old"),
        *(word for pattern in patterns for word in ("--only", pattern)), columns=80,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    report = json.loads((other / "bench.json").read_text(encoding="utf-8"))
    assert report["machine"]["cores"] >= 1
    lines = {line["what"]: line for line in report["lines"]}
    assert len(lines) == len(patterns)
    engine, hearts = lines["engine"], lines["OpenSpiel hearts, moves"]
    low, high = engine["interval"]
    assert 0 < low <= engine["ratio"] <= high < 1
    assert (engine["against"], hearts["against"]) == ("old", "engine")
    for text in (
        rf"engine +│ +{engine['per_cpu_second']:,.0f} │ +{engine['per_second']:,.0f} │",
        rf"engine +│ +old │ +{engine['ratio']:.3f} │ +{low:.3f} to {high:.3f} │",
        rf"OpenSpiel hearts, moves │ +engine │ +{hearts['ratio']:.3f} │",
        r"AEC env\(\): ModuleNotFoundError: No module named 'krypenv\.krypkasino_v0'",
        r"engine, several threads: AssertionError",
        r"pgx sparrow_mahjong: ImportError: not here; docs/speed\.md says how to install it",
    ):
        assert re.search(text, done.stdout), text
