"""Score files: verified by a replay, refused if they were changed, never overwritten; and the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import krypenv
from support.small_files import scores, tiny_protocol

from krypenv.agents.champion import MODELS
from krypenv.training.evaluation.score.playing import ScoreSettings, check_score, score_agent
from krypenv.training.evaluation.score.score_file import encode, read_score


@pytest.fixture(autouse=True)
def _tiny() -> Iterator[None]:
    with tiny_protocol():
        yield


def forged(data: bytes, change: Callable[[Any], Any]) -> bytes:
    """A score file that was changed by somebody who knows how to make a checksum."""
    fields = json.loads(data)
    del fields["checksum"]
    change(fields)
    return encode(fields)


def of_two(name: str, value: Any = None) -> Callable[[Any], Any]:
    """A change of a field of table two: another value, or without one, gone."""
    return lambda it: it["tables"]["two"].pop(name) if value is None else it["tables"]["two"].update({name: value})


def of_deal(at: int, value: Any) -> Callable[[Any], Any]:
    """A change of a number of the last deal against greedy at table two."""
    return lambda it: it["tables"]["two"]["opponents"]["greedy"][-1].__setitem__(at, value)


def test_a_score_is_verified_by_replaying_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    score_agent(ScoreSettings(agent="tactician", out=path, deals=6))
    assert check_score(path) == (4, 24)
    assert check_score(path, share=1.0) == (24, 24)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"deals":6', b'"deals":4', 1))
    with pytest.raises(ValueError, match="is not whole"):
        check_score(path)
    path.write_bytes(whole.replace(b'"forfeits":0', b'"forfeits":1', 1))
    with pytest.raises(ValueError, match="was changed, for it does not agree with its checksum"):
        check_score(path)
    for change, reason in (
        (of_deal(0, 99), "a replay: table two, against greedy, deal 5 has 99 to"),
        (of_deal(2, 3.0), "deal 5 has 3.0 points of luck and not"),
    ):
        path.write_bytes(forged(whole, change))
        with pytest.raises(ValueError, match=reason):
            check_score(path, share=1.0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda it: it.update(protocol="krypenv-score-0"), "of protocol 'krypenv-score-0', and this version"),
        (lambda it: it.update(format=2), "format should be 1, not 2"),
        (lambda it: it.update(tables={}), "tables should have at least 1 item"),
        (lambda it: it["tables"].update(nine=it["tables"]["two"]), "tables.nine is no table; they are two, three"),
        (lambda it: it["tables"]["two"]["opponents"].pop("greedy"), "is not the panel of the protocol"),
        (lambda it: it["tables"]["two"]["opponents"]["greedy"].pop(), "tables.two is not whole"),
        (of_two("deals", 2), "tables.two is not whole"),
        (of_two("control", "0" * 12), "two has luck taken out by '000000000000', and this version"),
        (of_two("control"), "tables.two.control is missing"),
        (of_deal(1, 0.5), r"tables.two.opponents.greedy\[3\]\[1\] should be a valid integer, not 0.5"),
        (lambda it: it.pop("agent"), "agent is missing"),
        (lambda it: it["agent"].update(name="a\nb"), "agent.name should be a text on one line"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, change: Callable[[Any], Any], reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(forged(scores()[0], change))
    with pytest.raises(ValueError, match=reason) as error:
        read_score(path)
    assert str(error.value).startswith(f"{path} is no score of this protocol: ")


def test_the_command_plays_checks_and_makes_a_board(tmp_path: Path) -> None:
    folder = tmp_path / "scores"
    for number, agent in enumerate(("greedy", "tactician(shed=True)")):
        out = krypenv("score", agent, "--quick", "--out", folder / f"{number}.json").stdout
        assert "tactician(shed=True)" in out
        assert "three" in out
    assert "of 16 deals replayed, all as in the file" in krypenv("score", "--check", folder / "0.json").stdout
    assert krypenv("score", "--board", folder).exit_code == 0
    page = (folder / "board.md").read_text()
    for name in ("two", "three"):
        part = page.partition(f"## {name}")[2].partition("## ")[0]
        assert "| 1 | `greedy` |" in part
        assert "| 1 | `tactician(shed=True)` |" in part  # four deals tell nothing apart


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "give one of --out FILE to play, --check FILE to verify and --board FOLDER"),
        ("--out x.json", "name the agent to score"),
        ("gredy --out x.json", "unknown agent 'gredy' (did you mean 'greedy'?)"),
        ("greedy --table tow --out x.json", "no table 'tow' (did you mean 'two'?); they are two, three"),
        (f"{MODELS / 'two'} --table three --out x.json", "can't play table three"),
        (f"{MODELS / 'two'} --out x.json", "can't play table two"),
        ("oracle-hand --out x.json", "sees what is hidden"),
        ("greedy --table two --table two --out x.json", "a table is named twice"),
        ("greedy --out good.json", "good.json is there already, and a score is not overwritten"),
        ("greedy --out good.json/x.json", "good.json/x.json: Not a directory"),
        ("greedy --out nowhere", "nowhere: Too many levels of symbolic links"),
        ("--board none", "none has no score files; krypenv score writes them"),
        (
            "--board twice",
            "tactician has two scores at table two, in twice/a.json and in twice/b.json; keep one of them",
        ),
        ("--check none.json", "none.json: No such file or directory"),
        ("greedy --check good.json", "good.json was made with the agent 'tactician', and here it is 'greedy'"),
        ("--check version.json", "version.json was made with krypenv '0.0.0', and here it is"),
        ("--check oracle.json", "oracle-hand sees what is hidden"),
        ("--check gone.json", "unknown agent 'gone'"),
        ("--check own.json", "is named in a file, and nothing that a file names is imported or started"),
        ("support.small_files:Absent --check own.json", "with the agent 'support.small_files:Failing', and here it is"),
        ("--check forfeits.json support.small_files:Failing", "table two has 1 forfeited games, and the replay 4"),
    ],
)
def test_bad_input_to_the_command(words: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    good, own, _ = scores()
    (tmp_path / "nowhere").symlink_to("nowhere/at/all")
    (tmp_path / "twice").mkdir()
    for name, data in (("good", good), ("own", own), ("twice/a", good), ("twice/b", good)):
        (tmp_path / f"{name}.json").write_bytes(data)
    for name, base, change in (
        ("forfeits", own, of_two("forfeits", 1)),
        ("version", good, lambda it: it["agent"].update(version="0.0.0")),
        ("oracle", good, lambda it: it["agent"].update(name="oracle-hand")),
        ("gone", good, lambda it: it["agent"].update(name="gone")),
    ):
        (tmp_path / f"{name}.json").write_bytes(forged(base, change))
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    done = krypenv("score", *words.split())
    assert done.exit_code == 2
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("krypenv: ")
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before
