"""The official score: a frozen protocol, deals that follow from the agent, and a board of groups."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from support.places import TESTS

from krypenv import agents
from krypenv.agents.champion import MODELS
from krypenv.training.evaluation.arena.arena import play_shard
from krypenv.training.evaluation.score import board, protocol
from krypenv.training.evaluation.score.playing import identity_of, tasks_of
from krypenv.training.evaluation.score.protocol import TABLES, OfficialTable, are_common, deals_of

FROZEN = TESTS / "score_v1.json"
DIGEST = "0123456789abcdef" * 4


def frozen_play(table: OfficialTable) -> dict[str, str]:
    """What each opponent of a panel makes of the first two deals against greedy, as a hash."""
    found = {}
    for task in tasks_of("greedy", table, protocol.CHUNK, DIGEST):
        shard = task.arguments["shard"]
        few = dataclasses.replace(shard, deal_seeds=shard.deal_seeds[:2])
        played = play_shard(few)
        scores = json.dumps([played["scores"], played["luck"]])
        found[table.opponents[shard.match]] = hashlib.sha256(scores.encode()).hexdigest()[:16]
    return found


@pytest.mark.parametrize("name", TABLES)
def test_the_protocol_is_frozen(name: str) -> None:
    """Rules, panel, deals and the panel's play are those of the version; a difference needs a new version."""
    kept = json.loads(FROZEN.read_text())
    table = TABLES[name]
    assert kept["protocol"] == protocol.VERSION
    assert list(kept["tables"]) == list(TABLES)
    assert kept["tables"][name] == {
        "rules": str(table.rules), "control": table.control.digest, "play": frozen_play(table),
    }  # fmt: skip
    assert kept["deals"] == [f"{seed:016x}" for seed in deals_of(400, DIGEST)[[0, 1, 50, 51, 100, 399]].tolist()]


def test_half_of_the_deals_are_common_to_all_and_half_follow_from_the_agent() -> None:
    common = are_common(400)
    assert common.sum() == 200
    one, other = deals_of(400, DIGEST), deals_of(400, "1" * 64)
    assert len(set(one.tolist())) == 400
    assert (one[common] == other[common]).all()
    assert not set(one[~common].tolist()) & set(other[~common].tolist())
    assert (one[:100] == deals_of(100, DIGEST)).all()  # a longer list begins with the shorter one


def test_an_agent_that_is_changed_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its options, its weights, its file or the version; and by nothing else."""
    tables = [TABLES["two"]]
    names = "greedy", "tactician", "tactician(shed=True)", "champion", "champion(worlds=0)", f"{MODELS / 'two'}"
    found = [identity_of(name, tables).digest for name in names]
    assert len(set(found)) == len(found)
    assert identity_of("greedy", tables).digest == found[0]
    one = identity_of("champion", tables)
    for key, value in (("weights_sha256", ["0" * 64]), ("version", "0.0.1"), ("files_sha256", ["0" * 64])):
        assert one.model_copy(update={key: value}).digest != one.digest
    path = tmp_path / "own.py"
    monkeypatch.syspath_prepend(tmp_path)
    path.write_text("from support.arenas import Lowest\n\n\nclass Own(Lowest):\n    pass\n")
    for more in ("", "# another line\n"):
        path.write_text(path.read_text() + more)
        identity = identity_of(agents.typed("own:Own"), tables)
        assert identity.files_sha256 == [hashlib.sha256(path.read_bytes()).hexdigest()]


# ---------------------------------------------------------------------- the board


def test_agents_are_grouped_by_differences_deal_by_deal() -> None:
    noise, others = (np.random.default_rng(seed).normal(size=400) for seed in (0, 1))
    best, same, worse = 1 + noise, 1 + np.where(are_common(400), noise, others), 0.9 + noise
    # on the common deals a tenth of a point is told apart, though not on those of an agent's own
    assert board.compare(best, worse)[2] < 1e-6
    assert board.groups([best, best, worse]) == ["A", "A", "B"]
    assert board.compare(best, same) == (0.0, 0.0, 1.0)
    assert board.groups([1.2 + 5 * others, best]) == ["A", "A"]


def test_agents_share_a_letter_if_and_only_if_they_are_not_told_apart() -> None:
    """Also where the middle one of three is told apart from neither of the others."""
    noises = np.random.default_rng(0).normal(size=(3, 400))
    scores = [lead + noise for lead, noise in zip((0.24, 0.12, 0.0), noises, strict=True)]
    assert board.groups(scores) == ["A", "AB", "B"]
    assert board.groups([20 + noises[0], 10 + noises[1], noises[2]]) == ["A", "B", "C"]


def test_groups_are_corrected_for_the_number_of_pairs() -> None:
    """Of ten equal agents few boards tell any two apart: 5 of 100 by the rule, where without it most would."""
    random = np.random.default_rng(5)
    are_told_apart = [len(set(board.groups(random.normal(size=(10, 100))))) > 1 for _ in range(200)]
    assert 0 < np.mean(are_told_apart) < 0.12


def test_common_deals_that_went_too_well_are_marked() -> None:
    """An agent that looks up the common deals: it is far better there than on its own."""
    random = np.random.default_rng(2)
    fair = random.normal(0, 4, 400)
    assert not board.is_suspect(fair)
    assert board.is_suspect(fair + 10 * are_common(400))
    assert sum(board.is_suspect(random.normal(size=100)) for _ in range(2000)) < 12  # one of a thousand
