"""Data sets: rows are the games that were played, the same however they were made; and what is refused."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import krypenv
from support.small_files import files_of

from krypenv import Engine, Game, Rules
from krypenv.inputs.words import to_install
from krypenv.training.data import DataSettings, load, make_data, making
from krypenv.training.data.card import CARD, write_card
from krypenv.training.data.columns import COLUMNS, columns_of, encode_rows
from krypenv.training.evaluation.analysis.analysis import analyze

RULES = {"krypkasino players=4 teams=2": (), "mini-high players=3 games=2": ("greedy",), "mulle-glimne": ("random",)}


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "CHUNK", 2)


def settings_of(out: Path, **more: Any) -> DataSettings:
    """A small data set."""
    return DataSettings(**{"agent": "random", "rules": "mini-low", "games": 5, "out": out, **more})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of three files, which no test changes."""
    folder = tmp_path_factory.mktemp("data") / "there"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "CHUNK", 2)
        make_data(settings_of(folder))
    return folder


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy of the data set, to be changed."""
    shutil.copytree(folder, tmp_path / "copied")
    return tmp_path / "copied"


def games_of(rows: dict[str, np.ndarray]) -> list[list[dict[str, Any]]]:
    """Rows game by game, in order."""
    games: list[list[dict[str, Any]]] = [[] for _ in range(int(rows["game"].max()) + 1)]
    for values in zip(*rows.values(), strict=True):
        row = dict(zip(rows, values, strict=True))
        games[int(row["game"])].append(row)
    return games


# ---------------------------------------------------------------------- rows


@pytest.mark.parametrize("rules", RULES)
def test_rows_are_the_games_that_an_engine_and_a_game_play(rules: str, tmp_path: Path) -> None:
    data = make_data(settings_of(tmp_path, rules=rules, against=RULES[rules]))
    its, games = Rules.parse(rules), games_of(data.arrays())
    assert len(games) == 5
    assert sum(map(len, games)) == len(data) == data.card["rows"]
    for rows in games:
        engine, game, begun = Engine(its, 1, [rows[0]["seed"]]), Game(its, seed=int(rows[0]["seed"])), True
        for ply, row in enumerate(rows):
            if game.is_over:
                game = game.next_game()
            assert (row["ply"], row["seat"], row["deal"]) == (ply, engine.seat[0], engine.state.deal_number[0])
            assert np.array_equal(row["observation"], engine.observation[0])
            assert np.array_equal(row["mask"], engine.action_mask[0])
            assert not begun or row["move"] in map(str, game.legal_moves())
            assert not engine.finished[0]
            engine.step([row["action"]])
            game.act(int(row["action"]))
            begun = game.pending is None
            assert not begun or str(game.last_move) == row["move"]
        assert engine.finished[0]
        sides = engine.final_scores[0].reshape(-1, its.num_teams).sum(axis=0)
        sign = -1 if its.goal == "low" else 1
        for row in rows:
            own = sides[row["seat"] % its.num_teams]
            assert row["score"] == own
            assert row["margin"] == pytest.approx(sign * (own - (sides.sum() - own) / (its.num_teams - 1)))


def test_games_differ_and_follow_from_the_seed(folder: Path, tmp_path: Path) -> None:
    other = make_data(settings_of(tmp_path, seed=1))
    seeds, others = (set(data.arrays("seed")["seed"]) for data in (load(folder), other))
    assert len(seeds) == 5
    assert not seeds & others


@pytest.mark.parametrize(
    ("rules", "against", "seatings"),
    [
        ("mini-low", ("random", "tactician"), {(0, 1), (1, 0), (0, 2), (2, 0)}),
        ("mini-low players=3", ("random",), {(0, 1, 1), (1, 0, 1), (1, 1, 0)}),
        ("mini-double players=4 teams=2", ("random",), {(0, 1), (1, 0)}),
    ],
)
def test_the_agents_sit_in_every_seating_equally_often_and_a_side_is_one_agent(
    rules: str, against: tuple[str, ...], seatings: set[tuple[int, ...]], tmp_path: Path
) -> None:
    own = "support.arenas:Lowest"
    data = make_data(settings_of(tmp_path, agent=own, against=against, rules=rules, games=2 * len(seatings)))
    names, sides, found = [own, *against], data.rules.num_teams, []
    for rows in games_of(data.arrays("game", "seat", "agent", "mask", "action")):
        seats = {int(row["seat"]): row["agent"] for row in rows}
        found.append(tuple(names.index(seats[seat]) for seat in range(sides)))
        assert all(seats[seat] == seats[seat % sides] for seat in seats)
        assert all(row["action"] == row["mask"].argmax() for row in rows if row["agent"] == own)
    assert sorted(found) == sorted(2 * list(seatings))


def test_values_and_luck_are_those_of_an_analysis(tmp_path: Path) -> None:
    analyst = "rollout(worlds=2)"
    data = make_data(
        settings_of(tmp_path, rules="krypkasino players=3", games=1, seed=3, analyst=analyst, luck=True, text=True)
    )
    rows, game = data.arrays(), Game(data.rules, seed=int(data.arrays("seed")["seed"][0]))
    assert list(rows) == [each.name for each in COLUMNS]
    for action in rows["action"].tolist():
        game.act(action)
    analysis = analyze(game, analyst, seed=3)
    begun = [at for at in range(len(data)) if rows["moves"][at] is not None]
    for at, play in zip(begun, analysis.plays, strict=True):
        assert rows["move"][at] == play.played.move
        assert rows["moves"][at].tolist() == [each.move for each in play.moves]
        assert rows["margins"][at].tolist() == [each.margin.mean for each in play.moves]
        assert rows["regret"][at] == play.regret
    within = np.setdiff1d(np.arange(len(data)), begun)
    assert len(within) > 0
    assert np.isnan(rows["regret"][within]).all()
    assert analysis.luck.luck.any()
    for deal, seat, luck in zip(rows["deal"], rows["seat"], rows["luck"], strict=True):
        assert luck == analysis.luck.luck[analysis.luck.deals.index(deal), seat]
    assert data.card["luck"] == analysis.luck.control


# ---------------------------------------------------------------------- the same, however it is made


def test_what_is_missing_is_played_and_another_data_set_is_left_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = making.play_rows

    def stop(games: Any) -> bytes:
        if games.first == 2:
            raise KeyboardInterrupt
        return play(games)

    with monkeypatch.context() as patch:
        patch.setattr(making, "play_rows", stop)
        with pytest.raises(KeyboardInterrupt):
            make_data(settings_of(tmp_path))
    with pytest.raises(ValueError, match=rf"holds no whole data set: it has no {CARD}"):
        load(tmp_path)
    told: list[tuple[int, int]] = []
    make_data(settings_of(tmp_path), lambda done, of: told.append((done, of)))
    assert told == [(2, 5), (4, 5), (5, 5)]
    before = files_of(tmp_path)
    for path in folder.glob("*.parquet"):
        assert before[path.name] == path.read_bytes()
    for changes, sentence in (({"seed": 1}, "seed 0, not 1; give another --out"), ({"luck": True}, "luck False, not")):
        with pytest.raises(ValueError, match=f"holds a data set with {sentence}"):
            make_data(settings_of(tmp_path, **changes))
        assert files_of(tmp_path) == before


# ---------------------------------------------------------------------- the command


def test_the_command_tells_what_it_wrote(tmp_path: Path) -> None:
    done = krypenv("data", "greedy", "--rules", "mini-low", "--games", 3, "--out", tmp_path / "x")
    assert done.exit_code == 0, done.output
    data = load(tmp_path / "x")
    assert done.stdout.startswith(f"{data.rules}: {len(data)} decisions of 3 games, 0.0 MB in ")
    assert data.card["command"] == f"krypenv data greedy --rules mini-low --out {tmp_path / 'x'} --games 3"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["search", "--against", "greedy", "--values"], "greedy can't analyse what a seat sees"),
        (["greedy", *["--against", "random"] * 30, "--players", "6"], "30 agents on 5 sides make more than 10,000 tab"),
    ],
)
def test_bad_words_are_told_in_a_sentence_before_anything_is_written(
    words: list[str], sentence: str, tmp_path: Path
) -> None:
    done = krypenv("data", *words, "--out", tmp_path / "x")
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1)
    assert sentence in done.stderr
    assert not (tmp_path / "x").exists()


def test_without_pyarrow_it_says_what_to_install(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    sentence = f"data sets need pyarrow, which is not installed; {to_install('data')}"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make_data(settings_of(tmp_path / "x"))
    assert not (tmp_path / "x").exists()
    with pytest.raises(ValueError, match=r"^data sets need pyarrow, which is not installed; "):
        load(folder)


# ---------------------------------------------------------------------- reading


def test_batches_are_all_rows_in_order_or_shuffled_by_a_seed(folder: Path) -> None:
    data = load(folder)
    assert list(data.arrays()) == [each.name for each in COLUMNS if not each.option]
    whole, parts = data.arrays("action", "observation"), list(data.batches(16, "action", "observation"))
    assert max(len(part["action"]) for part in parts) == 16
    for name in whole:
        assert np.array_equal(np.concatenate([part[name] for part in parts]), whole[name])
    mixed = [np.concatenate([part["ply"] for part in data.batches(16, "ply", seed=seed)]) for seed in (1, 1, 2)]
    assert np.array_equal(mixed[0], mixed[1])
    assert not np.array_equal(mixed[0], mixed[2])
    assert sorted(mixed[2].tolist()) == sorted(data.arrays("ply")["ply"].tolist())
    with pytest.raises(ValueError, match=r"there is no column 'acton' \(did you mean 'action'\?\); the columns are"):
        data.arrays("acton")
    with pytest.raises(ValueError, match="a batch has at least 1 row, not 0"):
        next(data.batches(0))


def test_a_torn_a_missing_and_an_additional_file_are_refused(copied: Path) -> None:
    data, path = load(copied), copied / "games-00001.parquet"
    good = path.read_bytes()
    for changed in (b"", good[:-1], good[:90] + bytes([good[90] ^ 1]) + good[91:]):
        path.write_bytes(changed)
        for read in (lambda: load(copied), lambda: data.arrays("ply")):
            with pytest.raises(ValueError, match=rf"{path.name} is torn or was changed"):
                read()
    path.unlink()
    with pytest.raises(ValueError, match=rf"{path.name} is not there; the command on the card makes it anew"):
        load(copied)
    path.write_bytes(good)
    shutil.copy(path, copied / "more.parquet")
    with pytest.raises(ValueError, match=r"more\.parquet is not named by the card$"):
        load(copied)


class Trap:
    """What runs code where it is unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("it was unpickled",)


def test_a_foreign_file_is_refused_even_with_its_digest_on_the_card(copied: Path) -> None:
    data, card = load(copied), json.loads((copied / CARD).read_bytes())
    row = {name: [values[0]] for name, values in data.arrays().items()} | {"luck": [0.0]}
    for foreign, sentence in (
        (pickle.dumps(Trap()), "is not Parquet, or has other columns"),
        (encode_rows(row, columns_of(data.rules, ["luck"])), "is not Parquet, or has other columns"),
        (encode_rows(row, columns_of(data.rules)), "has 1 rows, and the card"),
    ):
        (copied / "games-00001.parquet").write_bytes(foreign)
        card["files"][1]["sha256"] = hashlib.sha256(foreign).hexdigest()
        write_card(copied, card)
        with pytest.raises(ValueError, match=rf"games-00001\.parquet .*{sentence}"):
            load(copied)


def test_a_foreign_card_is_refused(copied: Path) -> None:
    card = json.loads((copied / CARD).read_bytes())
    for changes, sentence in (
        ({"kind": "arena"}, "its kind is 'arena', and this version of krypenv reads data set"),
        ({"rules": "mulle-glimne"}, "its columns are not those of this version of krypenv"),
        ({"rows": 1}, "its files are named twice, or have other rows than it says"),
        ({"files": [{"name": "../x.parquet", "rows": 1, "sha256": "0" * 64}]}, r"files\[0\]\.name should be the name"),
        ({"more": 1}, "more is not known; the keys are kind, format"),
    ):
        write_card(copied, {**card, **changes})
        with pytest.raises(ValueError, match=rf"{CARD} is no card of a data set: .*{sentence}"):
            load(copied)
