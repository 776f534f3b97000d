"""The official score: a frozen protocol, files that follow from play alone and can't be changed, a board with ties."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from support.places import TESTS
from support.small_files import arenas, scores, tiny_protocol
from typer.testing import CliRunner

from krypenv import agents
from krypenv.agents.champion import MODELS
from krypenv.training.cli.commands import app
from krypenv.training.evaluation.arena.shards import play_shard
from krypenv.training.evaluation.score import board, protocol
from krypenv.training.evaluation.score import playing as run
from krypenv.training.evaluation.score import score_file as results
from krypenv.training.evaluation.score.identity import digest_of, identity_of
from krypenv.training.evaluation.score.playing import ScoreSettings, check_score, journal_of, play_score, tasks_of
from krypenv.training.evaluation.score.protocol import TABLES, OfficialTable, are_common, deals_of, table_of
from krypenv.training.evaluation.score.score_file import TableScore, read_score
from krypenv.training.runs.journal import JOURNAL
from krypenv.training.runs.parts import Place

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


def test_a_longer_list_of_deals_begins_with_the_shorter_one() -> None:
    assert (deals_of(400, DIGEST)[:100] == deals_of(100, DIGEST)).all()
    assert len(set(deals_of(400, DIGEST).tolist())) == 400


def test_half_of_the_deals_are_common_to_all_and_half_follow_from_the_agent() -> None:
    common = are_common(400)
    assert common.sum() == 200
    one, other = deals_of(400, DIGEST), deals_of(400, "1" * 64)
    assert (one[common] == other[common]).all()
    assert not set(one[~common].tolist()) & set(other[~common].tolist())


def test_an_agent_that_is_changed_has_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its options, its weights, its file or the version; and by nothing else."""
    tables = [TABLES["two"]]
    found = [
        digest_of(identity_of(name, tables))
        for name in (
            "greedy",
            "tactician",
            "tactician(shed=True)",
            "champion",
            "champion(worlds=0)",
            str(MODELS / "two"),
        )
    ]
    assert len(set(found)) == len(found)
    assert digest_of(identity_of("greedy", tables)) == found[0]
    one = identity_of("champion", tables)
    for key, value in (("weights_sha256", ["0" * 64]), ("version", "0.0.1"), ("files_sha256", ["0" * 64])):
        assert digest_of(one | {key: value}) != digest_of(one)
    monkeypatch.syspath_prepend(tmp_path)
    text = "class Own:\n    name = 'own'\n    def __init__(self, rules, seed=0): self.rules = rules\n"
    text += "    def act(self, observations, action_masks): return action_masks.argmax(axis=1)\n"
    own = []
    for number, more in enumerate(("", "# another line\n")):
        (tmp_path / f"own_{number}.py").write_text(text + more)
        identity = identity_of(agents.typed(f"own_{number}:Own"), tables)
        own.append(identity["files_sha256"])
        assert own[-1] == [hashlib.sha256((text + more).encode()).hexdigest()]
    assert own[0] != own[1]


@pytest.fixture
def tiny() -> Iterator[None]:
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
        play_score(settings)
    return played


def stopped_after(chunks: int, settings: ScoreSettings) -> Path:
    """Interrupt a score after some chunks; return its journal."""
    assert len(shards_played(settings, chunks)) == chunks
    assert not settings.out.exists()
    return journal_of(settings.out) / JOURNAL


@pytest.mark.usefixtures("tiny")
class TestScores:
    def test_margins_are_those_of_games_played_one_by_one(self, tmp_path: Path) -> None:
        """Each deal from every side: the others' mean score less the own, and of that the mean."""
        score = play_score(ScoreSettings("greedy", tmp_path / "a.json", ("three",), 2))
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

    def test_the_file_depends_on_agent_and_protocol_alone(self, tmp_path: Path) -> None:
        one = play_score(ScoreSettings("tactician", tmp_path / "one.json", (), 6))
        play_score(ScoreSettings("tactician", tmp_path / "two.json", (), 6, place=Place(2)))
        assert plain(tmp_path / "one.json") == plain(tmp_path / "two.json")
        assert list(one.tables) == ["two", "three"]
        shorter = play_score(ScoreSettings("tactician", tmp_path / "less.json", (), 4))
        for name, table in shorter.tables.items():
            assert (table.margins == one.tables[name].margins[:, :4]).all()
            assert table.luck.any()
        mean, low, high = one.tables["two"].interval
        assert low < mean < high
        assert mean == pytest.approx(one.tables["two"].margins.mean())

    @pytest.mark.parametrize("chunks", [0, 1, 5])
    @pytest.mark.parametrize("cut", [b'{"key":"two, opp', b'{"key":"two, opponent 0, deals from 0","result":{}}', b""])
    def test_a_killed_run_is_resumed(self, chunks: int, cut: bytes, tmp_path: Path) -> None:
        settings = ScoreSettings("tactician", tmp_path / "one.json", (), 6)
        play_score(settings)
        again = dataclasses.replace(settings, out=tmp_path / "two.json")
        journal = stopped_after(chunks, again)
        with journal.open("ab") as file:
            file.write(cut)  # what a kill within a line leaves
        assert len(shards_played(again)) == 12 - chunks
        assert plain(again.out) == plain(settings.out)
        assert not journal.parent.exists()

    def test_a_run_that_was_killed_before_its_first_chunk_is_resumed(self, tmp_path: Path) -> None:
        settings = ScoreSettings("greedy", tmp_path / "a.json", ("two",), 2)
        journal = stopped_after(0, settings)
        header = journal.read_bytes()
        for size in (0, 1, len(header) // 2, len(header) - 1):
            journal.parent.mkdir(exist_ok=True)
            journal.write_bytes(header[:size])
            assert len(shards_played(settings)) == 2
            settings.out.unlink()

    def test_a_run_that_was_killed_before_its_journal_was_removed_is_done(self, tmp_path: Path) -> None:
        settings = ScoreSettings("greedy", tmp_path / "a.json", ("two",), 2)
        journal = stopped_after(1, settings)
        kept = journal.read_bytes()
        play_score(settings)
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
            play_score(settings)
        assert journal.read_bytes() == kept

    def test_a_journal_of_another_run_is_refused(self, tmp_path: Path) -> None:
        settings = ScoreSettings("greedy", tmp_path / "a.json", (), 4)
        path = stopped_after(3, settings)
        good = path.read_bytes()
        header, *lines = good.splitlines(keepends=True)
        for agent, deals, tables, other in (
            ("tactician", 4, (), "agent name 'greedy', not 'tactician'"),
            ("greedy", 2, (), "deals 4, not 2"),
            ("greedy", 4, ("two",), r"tables \['two', 'three'\], not \['two'\]"),
        ):
            with pytest.raises(ValueError, match=f"holds a score with {other}; give another --out"):
                play_score(ScoreSettings(agent, settings.out, tables, deals))
            assert path.read_bytes() == good
        for data in (
            b"no\n" + lines[0],
            b"{}\n" + lines[0],
            b"\xff\xfe\n" + lines[0],
            b"".join(lines),
            header + lines[0].replace(b'"points":[[', b'"points":[[1', 1) + lines[1],
            header + lines[0][:-20] + b"\n" + lines[1],
            arenas()[0][1],
        ):
            path.write_bytes(data)
            with pytest.raises(
                ValueError, match=r"line [12] of .*; remove the file to begin anew|is of ('arena'|None)"
            ):
                play_score(settings)
            assert path.read_bytes() == data
            assert not settings.out.exists()
        path.write_bytes(good)
        assert len(shards_played(settings)) == 8 - 3

    def test_a_score_is_verified_by_replaying_it(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        play_score(ScoreSettings("tactician", path, (), 6))
        assert check_score(path) == (4, 24)
        assert check_score(path, share=1.0, seed=3) == (24, 24)
        whole = path.read_text()
        fields = json.loads(whole)
        fields["tables"]["two"]["opponents"]["greedy"][4][0] += 1
        path.write_text(json.dumps(fields))
        with pytest.raises(ValueError, match="was changed, for it does not agree with its checksum"):
            check_score(path)
        del fields["checksum"]
        path.write_bytes(results.encode(fields))  # by somebody who knows how
        with pytest.raises(ValueError, match="differs from a replay: table two, against greedy, deal 4 has"):
            check_score(path, share=1.0)
        for change, reason in (
            (lambda it: it["opponents"]["greedy"][4].__setitem__(2, 3.0), "deal 4 has 3.0 points of luck and not"),
            (lambda it: it.update(control="0" * 12), "two has luck taken out by '000000000000', and this version"),
            (lambda it: it.pop("control"), "control is missing"),
            (lambda it: it["opponents"]["greedy"][4].pop(), "greedy"),
        ):
            fields = json.loads(whole)
            del fields["checksum"]
            change(fields["tables"]["two"])
            path.write_bytes(results.encode(fields))
            with pytest.raises(ValueError, match=reason):
                check_score(path, share=1.0)

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        play_score(ScoreSettings("tactician", path, ("two",), 2))
        good = json.loads(path.read_text())
        del good["checksum"]
        changes: list[tuple[Any, str]] = [
            (lambda it: it.update(protocol="krypenv-score-0"), "of protocol 'krypenv-score-0', and this version"),
            (lambda it: it.update(format=2), "format"),
            (lambda it: it.update(tables={}), "it has no table"),
            (lambda it: it["tables"].update(nine=it["tables"]["two"]), "tables.nine is no table; they are two, three"),
            (lambda it: it["tables"]["two"]["opponents"].pop("greedy"), "is not the panel of the protocol"),
            (lambda it: it["tables"]["two"].update(deals=1), "is not whole"),
            (lambda it: it["tables"]["two"]["opponents"].update(greedy=[[1, 2, 0.5]]), "is not whole"),
            (lambda it: it["tables"]["two"]["opponents"].update(greedy=[[1, 0.5, 0], [2, 3, 0]]), "not whole"),
            (lambda it: it.pop("agent"), "agent is missing"),
        ]
        for change, reason in changes:
            fields = json.loads(json.dumps(good))
            change(fields)
            path.write_bytes(results.encode(fields))
            with pytest.raises(ValueError, match=reason) as error:
                read_score(path)
            assert str(path) in str(error.value)
        path.write_text("no")
        with pytest.raises(ValueError, match=r"a\.json"):
            read_score(path)

    def test_bad_input_is_one_sentence_and_overwrites_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text("mine")
        for settings, reason in (
            (lambda: ScoreSettings("greedy", path, (), 2), "is there already, and a score is not overwritten"),
            (lambda: ScoreSettings("greedy", tmp_path / "b", ("tow",), 2), r"no table 'tow' \(did you mean 'two'\?\)"),
            (lambda: ScoreSettings("gredy", tmp_path / "b", (), 2), "gredy can't play table two: unknown agent"),
            (lambda: ScoreSettings("oracle-hand", tmp_path / "b", ("two",), 2), "sees what is hidden"),
            (lambda: ScoreSettings("greedy", tmp_path / "b", ("two", "two"), 2), "a table is named twice"),
            (lambda: ScoreSettings("greedy", tmp_path / "b", (), 3), "deals is a multiple of"),
            (lambda: ScoreSettings("greedy", tmp_path / "b", (), 2, place=Place(0)), "workers"),
        ):
            with pytest.raises(ValueError, match=reason):
                play_score(settings())
        assert [each.name for each in tmp_path.iterdir() if each.name != ".lock"] == ["a.json"]
        assert path.read_text() == "mine"

    def test_an_agent_that_fails_forfeits_and_the_file_says_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.syspath_prepend(tmp_path)
        (tmp_path / "failing.py").write_text(
            "class Failing:\n    name = 'failing'\n    def __init__(self, rules, seed=0): self.rules = rules\n"
            "    def act(self, observations, action_masks): raise RuntimeError('no')\n"
        )
        path = tmp_path / "a.json"
        score = play_score(ScoreSettings("failing:Failing", path, ("two",), 2))
        assert score.tables["two"].forfeits == 8
        points = protocol.TABLES["two"].rules.total_points
        assert (score.tables["two"].raw == -points).all()
        assert score.agent == "failing:Failing"
        with pytest.raises(ValueError, match="to have it imported, name it: krypenv score"):
            check_score(path)
        assert check_score(path, agent="failing:Failing") == (2, 4)

    def test_agents_made_in_python_are_scored_under_their_names(self, tmp_path: Path) -> None:
        """A maker and an object play as the string of the same agent does, and are passed again to be verified."""
        rules = protocol.TABLES["two"].rules
        named = agents.make("greedy", rules)
        named.name = "mine"
        by_name = play_score(ScoreSettings("tactician", tmp_path / "string.json", ("two",), 2))
        for number, source in enumerate((("made", lambda rules, seed: agents.make("tactician", rules, seed)), named)):
            path = tmp_path / f"{number}.json"
            score = play_score(ScoreSettings(source, path, ("two",), 2))
            name = ("made", "mine")[number]
            assert (score.agent, score.weights, score.command) == (name, (), "")
            assert (score.tables["two"].raw == by_name.tables["two"].raw).all() == (name == "made")
            with pytest.raises(ValueError, match=f"is of the agent '{name}', which is neither in the package nor"):
                check_score(path)
            assert check_score(path, share=1.0, agent=source) == (4, 4)
            with pytest.raises(ValueError, match=f"is of the agent {name}, not of random"):
                check_score(path, share=1.0, agent="random")
        assert list(play_score(ScoreSettings(named, tmp_path / "all.json", (), 2)).tables) == ["two"]

    def test_agents_made_in_python_have_names_of_their_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "folder").mkdir()

        def maker(rules: Any, seed: int) -> Any:
            return agents.make("greedy", rules, seed)

        for name in ("greedy", "search(worlds=9)", "folder", "module:Class"):
            with pytest.raises(ValueError, match="names another agent, or a folder here; give the agent a name of its"):
                ScoreSettings((name, maker), tmp_path / "a")
        for source in ((), (3, maker), ("", maker), ("a\nb", maker), object(), None):
            with pytest.raises(ValueError, match="an agent is a string, a pair of a name and maker"):
                ScoreSettings(source, tmp_path / "a")  # type: ignore[arg-type]
        for wrong, reason in (
            (("mine",), "mine can't play table two: an agent is a string, a pair"),
            (("mine", "greedy"), "mine can't play table two: an agent is a string, a pair"),
            (("mine", lambda rules, seed: 1 / 0), "mine can't be made: its maker raised ZeroDivisionError"),
            (("mine", lambda rules, seed: 3), "mine is no agent"),
            (("mine", lambda rules, seed: agents.make("oracle-hand", rules, seed)), "sees what is hidden"),
        ):
            with pytest.raises(ValueError, match=reason):
                play_score(ScoreSettings(wrong, tmp_path / "a", ("two",), 2))
        with pytest.raises(ValueError, match="mine can't be sent to other processes"):
            play_score(ScoreSettings(("mine", maker), tmp_path / "a", ("two",), 2, place=Place(2)))
        assert [each.name for each in tmp_path.iterdir() if each.name != ".lock"] == ["folder"]

    def test_the_command_plays_checks_and_makes_a_board(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def krypenv(*words: str) -> str:
            done = CliRunner(env={"COLUMNS": "100"}).invoke(app, ["score", *words])
            assert done.exit_code == 0, done.output
            return done.stdout

        folder = tmp_path / "scores"
        for number, agent in enumerate(("greedy", "tactician(shed=True)")):
            out = krypenv(agent, "--quick", "--out", str(folder / f"{number}.json"))
            assert "tactician(shed=True)" in out
            assert "three" in out
        assert "of 16 deals replayed, all as in the file" in krypenv("--check", str(folder / "0.json"))
        krypenv("--board", str(folder))
        page = (folder / "board.md").read_text()
        for name in ("two", "three"):
            part = page.partition(f"## {name}")[2].partition("## ")[0]
            assert "| 1 | `greedy` |" in part
            assert "| 1 | `tactician(shed=True)` |" in part  # four deals tell nothing apart

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            ("", "give one of --out FILE to play, --check FILE to verify and --board FOLDER"),
            ("greedy --out x --check y", "give one of"),
            ("--out x.json", "name the agent to score"),
            ("gredy --out x.json", "unknown agent 'gredy' (did you mean 'greedy'?)"),
            ("greedy --table tow --out x.json", "no table 'tow' (did you mean 'two'?); they are two, three"),
            (f"{MODELS / 'two'} --table three --out x.json", "can't play table three"),
            (f"{MODELS / 'two'} --out x.json", "can't play table two"),
            ("oracle-hand --out x.json", "sees what is hidden"),
            ("oracle-hand --table two --out x.json", "sees what is hidden"),
            ("greedy --workers 0 --out x.json", "workers is at least 1, not 0"),
            ("greedy --out good.json", "good.json is there already, and a score is not overwritten"),
            ("greedy --out good.json/x.json", "good.json/x.json: Not a directory"),
            ("greedy --out .", ".: Is a directory"),
            (f"greedy --out {'n' * 252}", "File name too long"),
            ("greedy --out nowhere", "nowhere is not a plain file that could be replaced"),
            ("--board none", "none has no score files; krypenv score writes them"),
            ("--board twice", "tactician has two scores at table two, in twice/a.json and in twice/b.json; keep one"),
            ("--check none.json", "none.json: No such file or directory"),
            ("--check .", ".: not a plain file"),
            ("--check good.json --share 1.5", "share is from 0 to 1, not 1.5"),
            ("--check good.json --share -0.1", "share is from 0 to 1, not -0.1"),
            ("--check good.json --share nan", "share is from 0 to 1, not nan"),
            ("--check good.json --seed -1", "seed is at least 0, not -1"),
            ("greedy --check good.json", "good.json is of the agent tactician, not of greedy"),
            ("--check odd.json", "of protocol 'krypenv-score-0', and this version of krypenv knows krypenv-score-1"),
            ("--check points.json --share 1", "table three, against greedy, deal 1 has"),
            ("--check forfeits.json --share 1", "table two has 1 forfeited games, and the replay 0"),
            ("--check oracle.json", "oracle-hand sees what is hidden"),
            ("--check gone.json", "of the agent 'gone', which is neither"),
            (
                "--check own.json",
                "to have it imported, name it: krypenv score 'support.small_files:Failing' --check own.json",
            ),
            (
                "support.small_files:Absent --check own.json",
                "own.json is of the agent support.small_files:Failing; to have it imported",
            ),
            (
                "--check own_forfeits.json support.small_files:Failing",
                "table two has 1 forfeited games, and the replay 4",
            ),
        ],
    )
    def test_bad_input_to_the_command(
        self, words: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        good, own, _ = scores()
        (tmp_path / "nowhere").symlink_to("nowhere/at/all")
        (tmp_path / "twice").mkdir()
        for name, data in (("good", good), ("own", own), ("twice/a", good), ("twice/b", good)):
            (tmp_path / f"{name}.json").write_bytes(data)
        for name, base, change in (
            ("odd", good, lambda it: it.update(protocol="krypenv-score-0")),
            ("points", good, lambda it: it["tables"]["three"]["opponents"]["greedy"][1].__setitem__(0, 9)),
            ("forfeits", good, lambda it: it["tables"]["two"].update(forfeits=1)),
            ("own_forfeits", own, lambda it: it["tables"]["two"].update(forfeits=1)),
            ("oracle", good, lambda it: it["agent"].update(name="oracle-hand")),
            ("gone", good, lambda it: it["agent"].update(name="gone")),
        ):
            fields = json.loads(base)
            del fields["checksum"]
            change(fields)
            (tmp_path / f"{name}.json").write_bytes(results.encode(fields))  # by somebody who knows how
        before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
        done = CliRunner(env={"COLUMNS": "160"}).invoke(app, ["score", *words.split()])
        assert done.exit_code == 2
        assert reason in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("krypenv: ")
        assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_a_board_ranks_by_differences_deal_by_deal() -> None:
    noise = np.random.default_rng(0).normal(size=(2, 400))

    def table(offset: float, margins: Any = noise) -> TableScore:
        return TableScore("two", 400, offset + margins, np.zeros((2, 400)), 1.0, 0)

    own = np.where(are_common(400), noise, np.random.default_rng(1).normal(size=(2, 400)))
    best, same, worse = table(1.0), table(1.0, own), table(0.9, own)
    # on the common deals a tenth of a point is told apart, though not on those of an agent's own
    assert board.p_value(board.compare(best, worse)) < 1e-6
    assert board.ranks([worse, best, table(1.0)]) == [3, 1, 1]
    assert board.compare(best, same) == (0.0, 0.0)
    assert board.p_value((0.0, 0.0)) == 1.0
    unlike = table(1.2, np.random.default_rng(1).normal(size=(2, 400)) * 5)
    assert board.ranks([best, unlike]) == [1, 1]
    line = board._table([("mine:Careful(way='a|b')", best)]).splitlines()[-1]
    assert line.startswith("| 1 | <code>mine&#58;Careful(way='a&#124;b')</code> | +0.97 |")


def test_ranks_are_corrected_for_the_number_of_pairs() -> None:
    """Of ten equal agents few boards tell any two apart: 5 of 100 by the rule, where without it most would."""
    random, told = np.random.default_rng(5), []
    for _ in range(200):
        margins = random.normal(size=(10, 1, 100))
        tables = [TableScore("two", 100, each, np.zeros((1, 100)), 1.0, 0) for each in margins]
        told.append(max(board.ranks(tables)) > 1)
    assert 0 < np.mean(told) < 0.12


def test_common_deals_that_went_too_well_are_marked() -> None:
    """An agent that looks up the common deals: it is far better there than on its own."""
    random = np.random.default_rng(2)
    margins = random.normal(0, 10, (6, 400))
    fair = TableScore("two", 400, margins, np.zeros((6, 400)), 1.0, 0)
    prepared = TableScore("two", 400, margins + 10 * are_common(400), np.zeros((6, 400)), 1.0, 0)
    assert not fair.is_suspect
    assert prepared.is_suspect
    assert board.halves_text(prepared).endswith(" !")
    many = [
        TableScore("two", 100, random.normal(size=(2, 100)), np.zeros((2, 100)), 1.0, 0).is_suspect for _ in range(2000)
    ]
    assert sum(many) < 12  # one of a thousand, within what chance allows


def test_every_table_can_be_played_by_the_shipped_agents() -> None:
    for table in TABLES.values():
        for name in (*table.opponents, "champion"):
            assert agents.make(name, table.rules).rules == table.rules
        assert table_of(table.name) is table
        assert sum(map(len, table.seatings)) == table.rules.num_teams**2
