"""Data sets: rows are the games that were played, the same however they were made; and what is refused."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import shutil
import sys
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import krypenv

from krypenv import Game, Rules
from krypenv.inputs.words import to_install
from krypenv.training.data import DataSettings, load, make_data, making
from krypenv.training.data.columns import COLUMNS, columns_of, encode_rows
from krypenv.training.data.reading import CARD
from krypenv.training.evaluation.analysis.analysis import analyze

RULES = {"krypkasino players=4 teams=2": (), "mini-high players=3 games=2": ("greedy",), "mulle-glimne": ("random",)}


@pytest.fixture(scope="module", autouse=True)
def _small_files() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "CHUNK", 2)
        yield


def settings_of(out: Path, **more: Any) -> DataSettings:
    """A small data set."""
    return DataSettings(**{"agent": "random", "rules": "mini-low", "games": 5, "out": out, **more})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of three files, which no test changes."""
    folder = tmp_path_factory.mktemp("data") / "there"
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
def test_rows_are_the_games_that_are_played(rules: str, tmp_path: Path) -> None:
    data = make_data(settings_of(tmp_path, rules=rules, against=RULES[rules]))
    its, games = Rules.parse(rules), games_of(data.arrays())
    assert len(games) == 5
    assert sum(map(len, games)) == len(data)
    for rows in games:
        game = Game(its, seed=int(rows[0]["seed"]))
        for ply, row in enumerate(rows):
            game = game.next_game() if game.is_over else game
            assert (row["ply"], row["seat"], row["deal"]) == (ply, game.turn, game.deal_number)
            assert np.array_equal(row["observation"], game.observation())
            assert np.array_equal(row["mask"], game.action_mask())
            game.act(int(row["action"]))
            assert game.pending is not None or str(game.last_move) == row["move"]
        assert game.session_over
        scores = np.array(game.totals if its.games != 1 else game.scores())
        sides, sign = scores.reshape(-1, its.num_teams).sum(axis=0), -1 if its.goal == "low" else 1
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
        (
            "mini-low players=3",
            ("random", "tactician"),
            {*permutations((0, 1, 1)), *permutations((0, 1, 2)), *permutations((0, 2, 2))},
        ),
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


def test_without_its_card_a_data_set_is_not_whole_and_files_that_are_there_are_not_played_again(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (copied / CARD).unlink()
    with pytest.raises(ValueError, match=rf"holds no whole data set: it has no {CARD}"):
        load(copied)
    monkeypatch.setattr(making, "play_rows", pytest.fail)
    told: list[tuple[int, int]] = []
    make_data(settings_of(copied), lambda done, of: told.append((done, of)))
    assert told == [(5, 5)]
    assert len(load(copied)) > 0


# ---------------------------------------------------------------------- the command


def test_the_command_tells_what_it_wrote(tmp_path: Path) -> None:
    done = krypenv("data", "greedy", "--rules", "mini-low", "--games", 3, "--out", tmp_path / "x")
    assert done.exit_code == 0, done.output
    data = load(tmp_path / "x")
    assert done.stdout.startswith(f"{data.rules}: {len(data)} decisions of 3 games, 0.0 MB in ")
    assert data.card["command"] == f"krypenv data greedy --rules mini-low --out {tmp_path / 'x'} --games 3"


def test_without_pyarrow_it_says_what_to_install(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    sentence = f"^data sets need pyarrow, which is not installed; {re.escape(to_install('data'))}"
    for use in (lambda: make_data(settings_of(tmp_path / "x")), lambda: load(folder)):
        with pytest.raises(ValueError, match=sentence):
            use()
    assert not (tmp_path / "x").exists()


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


class Trap:
    """What runs code where it is unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("it was unpickled",)


def test_torn_missing_additional_and_foreign_files_are_refused_even_with_their_digest_on_the_card(copied: Path) -> None:
    data, path = load(copied), copied / "games-00001.parquet"
    good, card = path.read_bytes(), json.loads((copied / CARD).read_bytes())
    row = {name: [values[0]] for name, values in data.arrays().items()} | {"luck": [0.0]}
    path.write_bytes(good[:-1])
    for read in (lambda: load(copied), lambda: data.arrays("ply")):
        with pytest.raises(ValueError, match=rf"{path.name} is torn or was changed"):
            read()
    for foreign in (pickle.dumps(Trap()), encode_rows(row, columns_of(data.rules, ["luck"]))):
        path.write_bytes(foreign)
        card["files"][path.name] = hashlib.sha256(foreign).hexdigest()
        (copied / CARD).write_text(json.dumps(card))
        with pytest.raises(ValueError, match=r"games-00001\.parquet .* is not Parquet, or has other columns"):
            load(copied)
    path.rename(copied / "more.parquet")
    with pytest.raises(ValueError, match=rf"{path.name} is not there; the command on the card makes it anew"):
        load(copied)
    path.write_bytes(good)
    with pytest.raises(ValueError, match=r"more\.parquet is not named by the card$"):
        load(copied)


def test_a_foreign_card_is_refused(copied: Path) -> None:
    card = json.loads((copied / CARD).read_bytes())
    for changes, sentence in (
        ({"kind": "arena"}, "kind should be 'data set', not 'arena'"),
        ({"options": ["lucky"]}, r"options\[0\] should be 'values', 'luck' or 'text', not 'lucky'"),
        ({"files": {"../x.parquet": "0" * 64}}, r"files\.\.\./x\.parquet.* should be the name of a file"),
        ({"more": 1}, "more is not known; the keys are kind, format"),
    ):
        (copied / CARD).write_text(json.dumps({**card, **changes}))
        with pytest.raises(ValueError, match=rf"{CARD} is no card of a data set: .*{sentence}"):
            load(copied)
