"""The official score: a frozen protocol, its board of groups, and files that are verified by replaying them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import krypenv
from support.places import TESTS
from support.programs import odd
from support.small_files import forged, scores, tiny_protocol

from krypenv import agents
from krypenv.agents.champion import MODELS
from krypenv.training.evaluation.arena.arena import play_shard
from krypenv.training.evaluation.score import board, protocol
from krypenv.training.evaluation.score.playing import ScoreSettings, check_score, identity_of, score_agent, tasks_of
from krypenv.training.evaluation.score.protocol import TABLES, OfficialTable, Score, are_common, deals_of, read_score

FROZEN = TESTS / "score_v1.json"
DIGEST = "0123456789abcdef" * 4


def frozen_play(table: OfficialTable) -> dict[str, str]:
    """What each opponent of a panel makes of the first deal against greedy, as a hash."""
    found = {}
    for task in tasks_of("greedy", table, protocol.CHUNK, DIGEST):
        shard = task.arguments["shard"]
        few = dataclasses.replace(shard, deal_seeds=shard.deal_seeds[:1])
        played = play_shard(few)
        scores = json.dumps([played["scores"], played["luck"]])
        found[table.opponents[shard.match]] = hashlib.sha256(scores.encode()).hexdigest()[:16]
    return found


@pytest.mark.slow
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
    program = odd(tmp_path, "plays")
    for spec, file in (("own:Own", path), (program, tmp_path / "odd.py")):
        for more in ("", "# another line\n"):
            file.write_text(file.read_text() + more)
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            assert digest in identity_of(agents.typed(spec), tables).files_sha256


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


FAILING = "support.small_files:Failing"


@pytest.fixture(name="tiny")
def _tiny() -> Iterator[None]:
    """The tiny protocol in place of the official one."""
    with tiny_protocol():
        yield


def scored(path: Path, agent: Any = "tactician", deals: int = 2, table: tuple[str, ...] = ("two",)) -> Score:
    """Play an agent for a score."""
    return score_agent(ScoreSettings(agent=agent, out=path, deals=deals, table=table))


# ---------------------------------------------------------------------- playing


@pytest.mark.usefixtures("tiny")
def test_an_agent_that_fails_forfeits_and_the_file_says_so(tmp_path: Path) -> None:
    score = scored(tmp_path / "a.json", FAILING)
    assert (score.agent, score.tables["two"].forfeits) == (FAILING, 8)
    assert (score.tables["two"].raw == -protocol.TABLES["two"].rules.total_points).all()
    assert check_score(tmp_path / "a.json", agent=FAILING) == (2, 4)


@pytest.mark.usefixtures("tiny")
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


def of_two(name: str, value: Any) -> Callable[[Any], Any]:
    """A change of a field of table two."""
    return lambda it: it["tables"]["two"].update({name: value})


def of_deal(at: int, value: Any) -> Callable[[Any], Any]:
    """A change of a number of the last deal against greedy at table two."""
    return lambda it: it["tables"]["two"]["opponents"]["greedy"][-1].__setitem__(at, value)


@pytest.mark.usefixtures("tiny")
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


@pytest.mark.usefixtures("tiny")
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


@pytest.mark.usefixtures("tiny")
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
