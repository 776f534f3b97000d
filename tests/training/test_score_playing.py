"""Scores that follow from play alone: margins, runs that go on where they were killed, forfeits, agents from Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.small_files import tiny_protocol

from krypenv import agents
from krypenv.training.evaluation.arena.games import play_shard
from krypenv.training.evaluation.score import protocol
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


def stopped_after(games: int, settings: ScoreSettings) -> Path:
    """Interrupt a score after so many games; return its journal."""

    def stop(done: int, of: int) -> None:
        if done >= games:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_agent(settings, stop)
    assert not settings.out.exists()
    return journal_of(settings.out) / JOURNAL


def test_margins_are_those_of_games_played_one_by_one(tmp_path: Path) -> None:
    """Each deal from every side: the others' mean score less the own, and of that the mean."""
    score = score_agent(ScoreSettings(agent="greedy", out=tmp_path / "a.json", table=("three",), deals=2))
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


def test_more_deals_begin_with_the_same_ones(tmp_path: Path) -> None:
    one, shorter = (
        score_agent(ScoreSettings(agent="tactician", out=tmp_path / f"{deals}.json", deals=deals)).tables
        for deals in (6, 4)
    )
    assert list(one) == list(shorter) == ["two", "three"]
    for name, table in shorter.items():
        assert (table.margins == one[name].margins[:, :4]).all()
        assert (table.raw != table.margins).any()
    mean, low, high = one["two"].interval
    assert low < mean < high
    assert mean == pytest.approx(one["two"].margins.mean())


@pytest.mark.parametrize("games", [0, 4, 30])
def test_a_killed_run_is_resumed(games: int, tmp_path: Path) -> None:
    score_agent(ScoreSettings(agent="tactician", out=tmp_path / "whole.json", deals=4))
    settings = ScoreSettings(agent="tactician", out=tmp_path / "again.json", deals=4)
    journal = stopped_after(games, settings)
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
    path, name = tmp_path / "a.json", "support.small_files:Failing"
    score = score_agent(ScoreSettings(agent=name, out=path, table=("two",), deals=2))
    assert (score.agent, score.tables["two"].forfeits) == (name, 8)
    assert (score.tables["two"].raw == -protocol.TABLES["two"].rules.total_points).all()
    assert check_score(path, agent=name) == (2, 4)


def test_agents_made_in_python_are_scored_under_their_names(tmp_path: Path) -> None:
    """An agent plays as the string of the same agent does, and is passed again to be verified."""
    mine = agents.make("tactician", protocol.TABLES["two"].rules)
    mine.name = "mine"
    by_name = score_agent(ScoreSettings(agent="tactician", out=tmp_path / "string.json", table=("two",), deals=2))
    path = tmp_path / "mine.json"
    score = score_agent(ScoreSettings(agent=mine, out=path, deals=2))
    assert (list(score.tables), score.agent, score.command) == (["two"], "mine", "")
    assert (score.tables["two"].raw == by_name.tables["two"].raw).all()
    with pytest.raises(ValueError, match="unknown agent 'mine'"):
        check_score(path)
    assert check_score(path, share=1.0, agent=mine) == (4, 4)


def test_agents_made_in_python_have_names_of_their_own(tmp_path: Path) -> None:
    mine = agents.make("greedy", protocol.TABLES["two"].rules)
    for name in ("greedy", "search(worlds=9)", str(tmp_path), "module:Class", "", "a\nb", 3):
        mine.name = name
        with pytest.raises(ValueError, match="give the agent a name of its own"):
            ScoreSettings(agent=mine, out=tmp_path / "a")
    with pytest.raises(ValueError, match="deals is a multiple of 2"):
        ScoreSettings(agent="greedy", out=tmp_path / "a", deals=3)
    assert not list(tmp_path.iterdir())
