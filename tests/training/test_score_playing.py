"""Scores that follow from play alone: margins, runs that go on where they were killed, forfeits, agents from Python."""

from __future__ import annotations

import contextlib
import json
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.small_files import arenas, tiny_protocol

from krypenv import agents
from krypenv.training.evaluation.arena.shards import play_shard
from krypenv.training.evaluation.score import playing as run
from krypenv.training.evaluation.score import protocol
from krypenv.training.evaluation.score import score_file as results
from krypenv.training.evaluation.score.playing import ScoreSettings, check_score, journal_of, score_agent, tasks_of
from krypenv.training.runs.journal import JOURNAL


@pytest.fixture(autouse=True)
def _tiny() -> Iterator[None]:
    with tiny_protocol():
        yield


def plain(path: Path) -> dict[str, Any]:
    """The fields of a score file without what depends on the machine."""
    fields = json.loads(path.read_text())
    for table in fields["tables"].values():
        del table["milliseconds"]
    return {key: fields[key] for key in ("agent", "protocol", "tables")}


def shards_played(settings: ScoreSettings, stop: int = -1) -> list[Any]:
    """Play for a score; return the shards that were played until it was done, or interrupted after so many."""
    played: list[Any] = []
    play = run.play_chunk

    def playing(shard: Any) -> Any:
        if len(played) == stop:
            raise KeyboardInterrupt
        played.append(shard)
        return play(shard)

    with mock.patch.object(run, "play_chunk", playing), contextlib.suppress(KeyboardInterrupt):
        score_agent(settings)
    return played


def stopped_after(chunks: int, settings: ScoreSettings) -> Path:
    """Interrupt a score after some chunks; return its journal."""
    assert len(shards_played(settings, chunks)) == chunks
    assert not settings.out.exists()
    return journal_of(settings.out) / JOURNAL


def test_margins_are_those_of_games_played_one_by_one(tmp_path: Path) -> None:
    """Each deal from every side: the others' mean score less the own, and of that the mean."""
    score = score_agent(ScoreSettings(agent="greedy", out=tmp_path / "a.json", table=("three",), deals=2))
    table = protocol.TABLES["three"]
    for at, opponent in enumerate(table.opponents):
        for deal in range(2):
            shard = [task.arguments["shard"] for task in tasks_of("greedy", table, 2, score.digest)][at]
            played, margins = play_shard(shard), []
            for own, line in enumerate(played["scores"][deal]):
                assert sum(line) == table.rules.total_points  # what sweeps cost, others are paid (R9)
                others = [each for side, each in enumerate(line) if side != own]
                margins.append(sum(others) / len(others) - line[own])
            found = score.tables["three"]
            assert math.isclose(found.raw[at, deal], np.mean(margins)), opponent
            luck = np.mean([line[own] for own, line in enumerate(played["luck"][deal])])
            assert math.isclose(found.luck[at, deal], luck, abs_tol=0.002)
            assert found.margins[at, deal] == found.raw[at, deal] - found.luck[at, deal]


def test_more_deals_begin_with_the_same_ones(tmp_path: Path) -> None:
    one, shorter = (
        score_agent(ScoreSettings(agent="tactician", out=tmp_path / f"{deals}.json", deals=deals)).tables
        for deals in (6, 4)
    )
    assert list(one) == list(shorter) == ["two", "three"]
    for name, table in shorter.items():
        assert (table.margins == one[name].margins[:, :4]).all()
        assert table.luck.any()
    mean, low, high = one["two"].interval
    assert low < mean < high
    assert mean == pytest.approx(one["two"].margins.mean())


@pytest.mark.parametrize(
    ("chunks", "cut"), [(0, b""), (1, b'{"key":"two, opp'), (5, b'{"key":"two, opponent 0, deals from 0","result":{}}')]
)
def test_a_killed_run_is_resumed(chunks: int, cut: bytes, tmp_path: Path) -> None:
    settings = ScoreSettings(agent="tactician", out=tmp_path / "one.json", deals=6)
    score_agent(settings)
    again = settings.changed(out=tmp_path / "two.json")
    journal = stopped_after(chunks, again)
    with journal.open("ab") as file:
        file.write(cut)  # what a kill within a line leaves
    assert len(shards_played(again)) == 12 - chunks
    assert plain(again.out) == plain(settings.out)
    assert not journal.parent.exists()


def test_a_run_that_was_killed_before_its_first_chunk_is_resumed(tmp_path: Path) -> None:
    settings = ScoreSettings(agent="greedy", out=tmp_path / "a.json", table=("two",), deals=2)
    journal = stopped_after(0, settings)
    header = journal.read_bytes()
    for size in (0, len(header) // 2, len(header) - 1):
        journal.parent.mkdir(exist_ok=True)
        journal.write_bytes(header[:size])
        assert len(shards_played(settings)) == 2
        settings.out.unlink()


def test_a_run_that_was_killed_before_its_journal_was_removed_is_done(tmp_path: Path) -> None:
    settings = ScoreSettings(agent="greedy", out=tmp_path / "a.json", table=("two",), deals=2)
    journal = stopped_after(1, settings)
    kept = journal.read_bytes()
    score_agent(settings)
    whole = settings.out.read_bytes()
    journal.parent.mkdir()
    journal.write_bytes(kept)
    assert shards_played(settings) == []
    assert not journal.parent.exists()
    assert settings.out.read_bytes() == whole
    journal.parent.mkdir()
    journal.write_bytes(kept)
    fields = json.loads(whole)
    fields["agent"]["name"] = "other"
    del fields["checksum"]
    results.write_score(settings.out, fields)
    with pytest.raises(ValueError, match="there already"):
        score_agent(settings)
    assert journal.read_bytes() == kept


def test_a_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    settings = ScoreSettings(agent="greedy", out=tmp_path / "a.json", deals=4)
    path = stopped_after(3, settings)
    good = path.read_bytes()
    header, *lines = good.splitlines(keepends=True)
    for agent, deals, tables, other in (
        ("tactician", 4, (), "agent name 'greedy', not 'tactician'"),
        ("greedy", 2, (), "deals 4, not 2"),
        ("greedy", 4, ("two",), r"tables \['two', 'three'\], not \['two'\]"),
    ):
        with pytest.raises(ValueError, match=f"holds a score with {other}; give another --out"):
            score_agent(ScoreSettings(agent=agent, out=settings.out, table=tables, deals=deals))
        assert path.read_bytes() == good
    for data in (
        b"\xff\xfe\n" + lines[0],
        b"".join(lines),
        header + lines[0].replace(b'"points":[[', b'"points":[[1', 1) + lines[1],
        arenas()[0][1],
    ):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"line [12] of .*; remove the file to begin anew|is of ('arena'|None)"):
            score_agent(settings)
        assert path.read_bytes() == data
        assert not settings.out.exists()
    path.write_bytes(good)
    assert len(shards_played(settings)) == 8 - 3


def test_an_agent_that_fails_forfeits_and_the_file_says_so(tmp_path: Path) -> None:
    path, name = tmp_path / "a.json", "support.small_files:Failing"
    score = score_agent(ScoreSettings(agent=name, out=path, table=("two",), deals=2))
    assert score.tables["two"].forfeits == 8
    points = protocol.TABLES["two"].rules.total_points
    assert (score.tables["two"].raw == -points).all()
    assert score.agent == name
    assert check_score(path, agent=name) == (2, 4)


def test_agents_made_in_python_are_scored_under_their_names(tmp_path: Path) -> None:
    """A maker and an object play as the string of the same agent does, and are passed again to be verified."""
    rules = protocol.TABLES["two"].rules
    named = agents.make("greedy", rules)
    named.name = "mine"
    by_name = score_agent(ScoreSettings(agent="tactician", out=tmp_path / "string.json", table=("two",), deals=2))
    for number, source in enumerate((("made", lambda rules, seed: agents.make("tactician", rules, seed)), named)):
        path = tmp_path / f"{number}.json"
        score = score_agent(ScoreSettings(agent=source, out=path, table=("two",), deals=2))
        name = ("made", "mine")[number]
        assert (score.agent, score.weights, score.command) == (name, (), "")
        assert (score.tables["two"].raw == by_name.tables["two"].raw).all() == (name == "made")
        with pytest.raises(ValueError, match=f"is of the agent '{name}', which is neither in the package nor"):
            check_score(path)
        assert check_score(path, share=1.0, agent=source) == (4, 4)
        with pytest.raises(ValueError, match=f"is of the agent {name}, not of random"):
            check_score(path, share=1.0, agent="random")
    assert list(score_agent(ScoreSettings(agent=named, out=tmp_path / "all.json", deals=2)).tables) == ["two"]


def test_agents_made_in_python_have_names_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()

    def maker(rules: Any, seed: int) -> Any:
        return agents.make("greedy", rules, seed)

    lock = threading.Lock()
    kinds = "an agent is a string, a pair of a name and maker"
    for source, reason in (
        *(((name, maker), "names another agent, or a folder here; give the agent a name of its own")
          for name in ("greedy", "search(worlds=9)", "folder", "module:Class")),
        *((source, kinds) for source in ((), (3, maker), ("", maker), ("a\nb", maker), object())),
        (("mine",), f"mine can't play table two: {kinds}"),
        (("mine", "greedy"), f"mine can't play table two: {kinds}"),
        (("mine", lambda rules, seed: 1 / 0), "mine can't be made: its maker raised ZeroDivisionError"),
        (("mine", lambda rules, seed: 3), "mine is no agent"),
        (("mine", lambda rules, seed: agents.make("oracle-hand", rules, seed)), "sees what is hidden"),
        (("mine", lambda *given: lock and maker(*given)), "mine can't be sent to other processes"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=reason):
            score_agent(ScoreSettings(agent=source, out=tmp_path / "a", table=("two",), deals=2, workers=2))
    with pytest.raises(ValueError, match="deals is a multiple of 2"):
        ScoreSettings(agent="greedy", out=tmp_path / "a", deals=3)
    assert [each.name for each in tmp_path.iterdir() if each.name != ".lock"] == ["folder"]
