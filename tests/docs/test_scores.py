"""Stored scores are whole, their games are those that the agents play now, and the board is that of the files."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import pytest
from support.places import DOCS, ROOT

from krypenv.training.evaluation.score.board import DATA, PAGE, make_board
from krypenv.training.evaluation.score.playing import check_chunk, identity_of, tasks_of
from krypenv.training.evaluation.score.protocol import DEALS, QUICK, TABLES, read_score

FOLDER = DOCS / "results" / "scores"
SCORES = sorted(FOLDER.glob("*.json"))
EACH = pytest.mark.parametrize("path", SCORES, ids=lambda path: path.stem)
BY_AGENT = [[*paths] for _, paths in itertools.groupby(SCORES, lambda path: path.stem.partition("-")[0])]
ONE_OF_EACH = [paths[sum(paths[0].read_bytes()) % len(paths)] for paths in BY_AGENT]


@EACH
def test_a_stored_score_is_whole_and_of_the_weights_in_the_package(path: Path) -> None:
    score = read_score(path)
    assert score.identity == identity_of(score.agent, [TABLES[name] for name in score.tables])
    words = shlex.split(score.command)
    assert words[:2] == ["krypenv", "score"]
    assert words[words.index("--out") + 1] == str(path.relative_to(ROOT))
    assert {table.deals for table in score.tables.values()} == {QUICK if "--quick" in words else DEALS}
    assert not any(table.forfeits for table in score.tables.values())


@pytest.mark.slow
@pytest.mark.parametrize("path", ONE_OF_EACH, ids=lambda path: path.stem)
def test_a_chunk_of_a_stored_score_of_each_agent_is_what_it_plays_now(path: Path) -> None:
    """At a table, against an opponent, and for a chunk that follow from the digest of the agent."""
    score = read_score(path)
    number = int(score.identity.digest[:8], 16)
    name = list(score.tables)[number % len(score.tables)]
    tasks = list(tasks_of(score.agent, TABLES[name], score.tables[name].deals, score.identity.digest))
    assert check_chunk(path, score, name, tasks[number % len(tasks)].arguments["shard"]) == 0


def test_the_board_is_that_of_the_files(tmp_path: Path) -> None:
    assert SCORES
    for path in SCORES:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    make_board(tmp_path)
    for name in (PAGE, DATA):
        assert (FOLDER / name).read_text(encoding="utf-8") == (tmp_path / name).read_text(encoding="utf-8")
