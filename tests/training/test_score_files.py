"""Score files: margins as of single games, runs that go on after a kill, replays, what is refused; and the command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import krypenv
from support.small_files import scores, tiny_protocol

from krypenv import agents
from krypenv.agents.champion import MODELS
from krypenv.training.evaluation.arena.arena import play_shard
from krypenv.training.evaluation.score import protocol
from krypenv.training.evaluation.score.playing import ScoreSettings, check_score, journal_of, score_agent, tasks_of
from krypenv.training.evaluation.score.protocol import Score, encode, read_score
from krypenv.training.runs.journal import JOURNAL

FAILING = "support.small_files:Failing"


@pytest.fixture(autouse=True)
def _tiny() -> Iterator[None]:
    with tiny_protocol():
        yield


def scored(path: Path, agent: Any = "tactician", deals: int = 2, table: tuple[str, ...] = ("two",)) -> Score:
    """Play an agent for a score."""
    return score_agent(ScoreSettings(agent=agent, out=path, deals=deals, table=table))


# ---------------------------------------------------------------------- playing


def test_margins_are_those_of_games_played_one_by_one(tmp_path: Path) -> None:
    """Each deal from every side: the others' mean score less the own, and of that the mean."""
    score = scored(tmp_path / "a.json", "greedy", table=("three",))
    table, found = protocol.TABLES["three"], score.tables["three"]
    for at, task in enumerate(tasks_of("greedy", table, 2, score.identity.digest)):
        played = play_shard(task.arguments["shard"])
        for deal in range(2):
            margins = []
            for own, line in enumerate(played["scores"][deal]):
                assert sum(line) == table.rules.total_points  # what sweeps cost, others are paid (R9)
                others = [each for side, each in enumerate(line) if side != own]
                margins.append(sum(others) / len(others) - line[own])
            luck = np.mean([line[own] for own, line in enumerate(played["luck"][deal])])
            assert found.raw[at, deal] == pytest.approx(np.mean(margins))
            assert found.margins[at, deal] == pytest.approx(np.mean(margins) - luck, abs=0.002)


def plain(path: Path) -> dict[str, Any]:
    """The fields of a score file without what depends on the machine."""
    fields = json.loads(path.read_text())
    for table in fields["tables"].values():
        del table["milliseconds"]
    return {key: fields[key] for key in ("agent", "protocol", "tables")}


@pytest.mark.parametrize("games", [0, 4])
def test_a_killed_run_is_resumed(games: int, tmp_path: Path) -> None:
    scored(tmp_path / "whole.json", deals=4, table=())
    settings = ScoreSettings(agent="tactician", out=tmp_path / "again.json", deals=4)

    def stop(done: int, of: int) -> None:
        if done >= games:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_agent(settings, stop)
    assert not settings.out.exists()
    journal = journal_of(settings.out) / JOURNAL
    with journal.open("ab") as file:
        file.write(b'{"key":"two, opp')  # what a kill within a line leaves
    kept = journal.read_bytes()
    for other in ({"agent": "greedy"}, {"deals": 2}, {"table": ("two",)}) if games else ():
        with pytest.raises(ValueError, match=r"holds a score with .*, not .*; give another --out"):
            score_agent(settings.changed(**other))
    assert score_agent(settings).agent == "tactician"
    assert plain(tmp_path / "again.json") == plain(tmp_path / "whole.json")
    assert not journal.parent.exists()
    whole = settings.out.read_bytes()
    journal.parent.mkdir()  # as after a kill just before the journal was removed
    journal.write_bytes(kept)
    score_agent(settings)
    assert (settings.out.read_bytes(), journal.parent.exists()) == (whole, False)


def test_an_agent_that_fails_forfeits_and_the_file_says_so(tmp_path: Path) -> None:
    score = scored(tmp_path / "a.json", FAILING)
    assert (score.agent, score.tables["two"].forfeits) == (FAILING, 8)
    assert (score.tables["two"].raw == -protocol.TABLES["two"].rules.total_points).all()
    assert check_score(tmp_path / "a.json", agent=FAILING) == (2, 4)


def test_agents_made_in_python_are_scored_under_names_of_their_own(tmp_path: Path) -> None:
    """An agent plays as the string of the same agent does, and is passed again to be verified."""
    mine, path = agents.make("tactician", protocol.TABLES["two"].rules), tmp_path / "mine.json"
    for name in ("greedy", "search(worlds=9)", str(tmp_path), "module:Class", "", "a\nb", 3):
        mine.name = name
        with pytest.raises(ValueError, match="give the agent a name of its own"):
            ScoreSettings(agent=mine, out=path)
    mine.name = "mine"
    score = scored(path, mine, table=())
    assert (list(score.tables), score.agent, score.command) == (["two"], "mine", "")
    assert (score.tables["two"].raw == scored(tmp_path / "string.json").tables["two"].raw).all()
    with pytest.raises(ValueError, match="unknown agent 'mine'"):
        check_score(path)
    assert check_score(path, share=1.0, agent=mine) == (4, 4)


# ---------------------------------------------------------------------- files


def forged(data: bytes, change: Callable[[Any], Any]) -> bytes:
    """A score file that was changed by somebody who knows how to make a checksum."""
    fields = json.loads(data)
    del fields["checksum"]
    change(fields)
    return encode(fields)


def of_two(name: str, value: Any) -> Callable[[Any], Any]:
    """A change of a field of table two."""
    return lambda it: it["tables"]["two"].update({name: value})


def of_deal(at: int, value: Any) -> Callable[[Any], Any]:
    """A change of a number of the last deal against greedy at table two."""
    return lambda it: it["tables"]["two"]["opponents"]["greedy"][-1].__setitem__(at, value)


def test_a_score_is_verified_by_replaying_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    scored(path, deals=6, table=())
    assert check_score(path) == (4, 24)
    assert check_score(path, share=1.0) == (24, 24)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"forfeits":0', b'"forfeits":1', 1))
    with pytest.raises(ValueError, match="was changed, for it does not agree with its checksum"):
        check_score(path)
    for change, reason in (
        (of_deal(0, 99), "a replay: table two, against greedy, deal 5 has 99 to"),
        (of_deal(2, 3.0), "deal 5 has .* points with 3.0 of luck and not"),
    ):
        path.write_bytes(forged(whole, change))
        with pytest.raises(ValueError, match=reason):
            check_score(path, share=1.0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda it: it.update(protocol="krypenv-score-0"), "of protocol 'krypenv-score-0', and this version"),
        (lambda it: it["tables"].update(nine=it["tables"]["two"]), "tables.nine is no table; they are two, three"),
        (lambda it: it["tables"]["two"]["opponents"].pop("greedy"), "is not the panel of the protocol"),
        (lambda it: it["tables"]["two"]["opponents"]["greedy"].pop(), "tables.two is not whole"),
        (of_two("deals", 2), "tables.two is not whole"),
        (of_two("control", "0" * 12), "two has luck taken out by '000000000000', and this version"),
        (of_deal(1, 0.5), r"tables.two.opponents.greedy\[3\]\[1\] should be a valid integer, not 0.5"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, change: Callable[[Any], Any], reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(forged(scores()[0], change))
    with pytest.raises(ValueError, match=reason) as error:
        read_score(path)
    assert str(error.value).startswith(f"{path} is no score of this protocol: ")


# ---------------------------------------------------------------------- the command


def test_the_command_plays_checks_and_makes_a_board(tmp_path: Path) -> None:
    folder = tmp_path / "scores"
    for number, agent in enumerate(("greedy", "tactician(shed=True)")):
        out = krypenv("score", agent, "--quick", "--out", folder / f"{number}.json").stdout
        assert "tactician(shed=True)" in out
        assert "three" in out
    assert "of 16 deals replayed, all as in the file" in krypenv("score", "--check", folder / "0.json").stdout
    assert krypenv("score", "--board", folder).exit_code == 0
    page = (folder / "leaderboard.md").read_text()
    for name in ("two", "three"):
        part = page.partition(f"## {name}")[2].partition("## ")[0]
        assert "| A | `greedy` |" in part
        assert "| A | `tactician(shed=True)` |" in part  # four deals tell nothing apart


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "give one of --out FILE to play, --check FILE to verify and --board FOLDER"),
        ("greedy --table tow --out x.json", "no table 'tow' (did you mean 'two'?); they are two, three"),
        (f"{MODELS / 'two'} --out x.json", "can't play table two"),
        ("oracle-hand --out x.json", "sees what is hidden"),
        ("greedy --table two --table two --out x.json", "a table is named twice"),
        ("greedy --out good.json", "good.json is there already, and a score is not overwritten"),
        ("greedy --out nowhere", "nowhere: Too many levels of symbolic links"),
        ("--board twice", "tactician has two scores at table two, in twice/a.json and in twice/b.json"),
        ("greedy --check good.json", "good.json was made with the agent 'tactician', and here it is 'greedy'"),
        ("--check version.json", "version.json was made with krypenv '0.0.0', and here it is"),
        ("--check own.json", "is named in a file, and nothing that a file names is imported or started"),
        (f"--check forfeits.json {FAILING}", "table two has 1 forfeited games, and the replay 4"),
    ],
)
def test_bad_input_to_the_command(words: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    good, own, _ = scores()
    (tmp_path / "nowhere").symlink_to("nowhere/at/all")
    (tmp_path / "twice").mkdir()
    files = {
        "good": good, "own": own, "twice/a": good, "twice/b": good, "forfeits": forged(own, of_two("forfeits", 1)),
        "version": forged(good, lambda it: it["agent"].update(version="0.0.0")),
    }  # fmt: skip
    for name, data in files.items():
        (tmp_path / f"{name}.json").write_bytes(data)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    done = krypenv("score", *words.split())
    assert done.exit_code == 2
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("krypenv: ")
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before
