"""Data sets: rows are the games that were played, the same however they were made; and what is refused."""

from __future__ import annotations

import hashlib
import json
import pickle
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
from krypenv.training.runs.journal import JOURNAL

RULES = {  # with who plays, and who sits on the other sides
    "krypkasino": ("random", ("greedy",)),
    "krypkasino players=4 teams=2": ("random", ()),
    "mini-high players=3 games=2": ("random", ("greedy", "tactician")),
    "kasino-finland": ("random", ("greedy",)),
    "mulle-glimne": ("random", ()),
}


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "CHUNK", 2)


def settings_for(rules: str, out: Path, **more: Any) -> DataSettings:
    """A small data set of some rules."""
    agent, against = RULES[rules]
    return DataSettings(**{"agent": agent, "against": against, "rules": rules, "games": 5, "out": out, **more})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of three files, which no test changes."""
    folder = tmp_path_factory.mktemp("data") / "there"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "CHUNK", 2)
        make_data(settings_for("krypkasino", folder))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The card and the rows in a folder."""
    return {path.name: path.read_bytes() for path in [folder / CARD, *folder.glob("*.parquet")]}


def games_of(rows: dict[str, np.ndarray]) -> list[list[dict[str, Any]]]:
    """Rows game by game, in order."""
    names, games = list(rows), [[] for _ in range(int(rows["game"].max()) + 1)]  # type: ignore[var-annotated]
    for values in zip(*rows.values(), strict=True):
        games[int(values[names.index("game")])].append(dict(zip(names, values, strict=True)))
    return games


# ---------------------------------------------------------------------- rows


@pytest.mark.parametrize("rules", RULES)
def test_rows_are_the_games_that_an_engine_and_a_game_play(rules: str, tmp_path: Path) -> None:
    """Decision by decision: seats, observations and masks, legal moves, and scores at the end."""
    data = make_data(settings_for(rules, tmp_path / "data"))
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
            assert row["mask"][row["action"]] == 1
            assert not begun or row["move"] in map(str, game.legal_moves())
            assert not engine.finished[0]
            engine.step([row["action"]])
            game.act(int(row["action"]))
            begun = game.pending is None
            assert not begun or str(game.last_move) == row["move"]
        assert engine.finished[0]
        assert game.session_over
        sides = engine.final_scores[0].reshape(-1, its.num_teams).sum(axis=0)
        sign = -1 if its.goal == "low" else 1
        for row in rows:
            own = sides[row["seat"] % its.num_teams]
            assert row["score"] == own
            assert row["margin"] == pytest.approx(sign * (own - (sides.sum() - own) / (its.num_teams - 1)))


def test_games_differ_and_follow_from_the_seed(folder: Path, tmp_path: Path) -> None:
    rows = load(folder).arrays("seed", "move")
    assert len(set(rows["seed"])) == 5
    other = make_data(settings_for("krypkasino", tmp_path, seed=1)).arrays("seed", "move")
    assert not set(rows["seed"]) & set(other["seed"])


@pytest.mark.parametrize(
    ("rules", "against", "seatings"),
    [
        ("mini-low", (), {(0, 0)}),
        ("mini-low", ("random", "tactician"), {(0, 1), (1, 0), (0, 2), (2, 0)}),
        ("mini-low players=3", ("random",), {(0, 1, 1), (1, 0, 1), (1, 1, 0)}),
        ("mini-double players=4 teams=2", ("random",), {(0, 1), (1, 0)}),
    ],
)
def test_the_agents_change_places(
    rules: str, against: tuple[str, ...], seatings: set[tuple[int, ...]], tmp_path: Path
) -> None:
    """Each seating as often as the others; a side's seats have the same agent."""
    games = 2 * len(seatings)
    data = make_data(DataSettings(agent="greedy", against=against, rules=rules, games=games, out=tmp_path))
    names, sides = ["greedy", *against], data.rules.num_teams
    found = []
    for rows in games_of(data.arrays("game", "seat", "agent")):
        seats = {int(row["seat"]): row["agent"] for row in rows}
        found.append(tuple(names.index(seats[seat]) for seat in range(sides)))
        assert all(seats[seat] == seats[seat % sides] for seat in seats)
    assert set(found) == seatings
    assert all(found.count(each) == 2 for each in seatings)


def test_an_agent_of_ones_own_has_the_name_by_which_it_was_called(tmp_path: Path) -> None:
    data = make_data(DataSettings(agent="support.arenas:Lowest", rules="mini-low", games=1, out=tmp_path))
    rows = data.arrays("agent", "mask", "action")
    assert set(rows["agent"]) == {"support.arenas:Lowest"}
    assert (rows["action"] == rows["mask"].argmax(axis=1)).all()


# ---------------------------------------------------------------------- what is asked for


@pytest.mark.parametrize(
    ("rules", "agent"), [("krypkasino players=3", "random"), ("kasino-sweden", "search(worlds=2)")]
)
def test_values_and_luck_are_those_of_an_analysis(rules: str, agent: str, tmp_path: Path) -> None:
    analyst = "rollout(worlds=2)" if agent == "random" else None
    data = make_data(
        DataSettings(agent=agent, rules=rules, games=1, seed=3, values=True, analyst=analyst, luck=True, out=tmp_path)
    )
    rows, game = data.arrays(), Game(data.rules, seed=int(data.arrays("seed")["seed"][0]))
    for action in rows["action"].tolist():
        game.act(action)
    analysis = analyze(game, analyst or agent, seed=3)
    begun = [at for at in range(len(data)) if rows["moves"][at] is not None]
    assert len(begun) == len(analysis.plays) == len(game.moves)
    for at, play in zip(begun, analysis.plays, strict=True):
        assert rows["move"][at] == play.played.move
        assert rows["moves"][at].tolist() == [each.move for each in play.moves]
        assert rows["margins"][at].tolist() == [each.margin.mean for each in play.moves]
        assert rows["regret"][at] == play.regret
    within = np.setdiff1d(np.arange(len(data)), begun)
    assert len(within) > 0 or agent != "random"
    assert np.isnan(rows["regret"][within]).all()
    assert not rows["mask"][within, :52].any()  # a card has been played before
    assert analysis.luck.luck.any()
    for deal, seat, luck in zip(rows["deal"], rows["seat"], rows["luck"], strict=True):
        assert luck == analysis.luck.luck[analysis.luck.deals.index(deal), seat]
    assert data.card["luck"] == analysis.luck.control


def test_columns_are_there_where_they_are_asked_for(folder: Path) -> None:
    plain = [each.name for each in COLUMNS if not each.option]
    assert list(load(folder).arrays()) == plain == [each["name"] for each in load(folder).card["columns"]]
    assert {each.name for each in COLUMNS} - set(plain) == {"moves", "margins", "regret", "luck"}


# ---------------------------------------------------------------------- the same, however it is made


def test_what_is_missing_is_played_and_what_is_there_is_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an interruption there is no card, so nothing to load; the same call goes on."""
    settings, told, play = settings_for("krypkasino", tmp_path), [], making.play_rows

    def stop(games: Any) -> bytes:
        if games.first == 2:
            raise KeyboardInterrupt
        return play(games)

    monkeypatch.setattr(making, "play_rows", stop)
    with pytest.raises(KeyboardInterrupt):
        make_data(settings)
    with pytest.raises(ValueError, match=rf"holds no whole data set: it has no {CARD}"):
        load(tmp_path)
    monkeypatch.setattr(making, "play_rows", play)
    make_data(settings, lambda done, of: told.append((done, of)))
    assert told == [(2, 5), (4, 5), (5, 5)]
    same = {name: data for name, data in contents(folder).items() if name != CARD}
    assert {name: data for name, data in contents(tmp_path).items() if name != CARD} == same
    before = contents(tmp_path)
    make_data(settings)
    assert contents(tmp_path) == before


def test_a_folder_of_another_data_set_is_refused_and_untouched(folder: Path) -> None:
    before = files_of(folder)
    for changes, sentence in (
        ({"seed": 1}, "seed 0, not 1; give another --out"),
        ({"games": 6}, "games 5, not 6"),
        ({"against": ()}, r"against \['greedy'\], not \[\]"),
        ({"luck": True}, "luck False, not True"),
        ({"players": 3}, "rules"),
    ):
        with pytest.raises(ValueError, match=f"holds a data set with {sentence}"):
            make_data(settings_for("krypkasino", folder).changed(**changes))
        assert files_of(folder) == before


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
        (["nobody"], "unknown agent 'nobody'"),
        (["greedy", "--values"], "greedy can't analyse what a seat sees; of the agents with a name"),
        (["search", "--against", "greedy", "--values"], "greedy can't analyse what a seat sees"),
        (["greedy", *["--against", "random"] * 30, "--players", "6"], "30 agents on 5 sides make more than 10,000 tab"),
    ],
)
def test_bad_words_are_told_in_a_sentence(words: list[str], sentence: str, tmp_path: Path) -> None:
    done = krypenv("data", *words, "--out", tmp_path / "x")
    assert done.exit_code == 2
    assert done.stderr.startswith("krypenv: ")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_without_pyarrow_it_says_what_to_install(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    sentence = f"data sets need pyarrow, which is not installed; {to_install('data')}"
    done = krypenv("data", "greedy", "--rules", "mini-low", "--games", 1, "--out", tmp_path / "x")
    assert (done.exit_code, done.stderr) == (2, f"krypenv: {sentence}\n")
    assert not (tmp_path / "x").exists()
    with pytest.raises(ValueError, match=r"^data sets need pyarrow, which is not installed; "):
        load(folder)


# ---------------------------------------------------------------------- reading


def test_batches_are_all_rows(folder: Path) -> None:
    data = load(folder)
    whole, parts = data.arrays("action", "observation"), list(data.batches(64, "action", "observation"))
    assert {part["action"].shape for part in parts[:2]} == {(64,)}
    assert {part["observation"].shape[1:] for part in parts} == {(data.rules.observation_size,)}
    for name in whole:
        assert np.array_equal(np.concatenate([part[name] for part in parts]), whole[name])
    mixed = [np.concatenate([part["ply"] for part in data.batches(64, "ply", seed=seed)]) for seed in (1, 1, 2)]
    assert np.array_equal(mixed[0], mixed[1])
    assert not np.array_equal(mixed[0], mixed[2])
    assert sorted(mixed[2].tolist()) == sorted(data.arrays("ply")["ply"].tolist())


def test_bad_questions_are_told(folder: Path) -> None:
    data = load(folder)
    with pytest.raises(ValueError, match=r"there is no column 'acton' \(did you mean 'action'\?\); the columns are"):
        data.arrays("acton")
    with pytest.raises(ValueError, match="there is no column 'luck'"):
        next(data.batches(1, "luck"))
    with pytest.raises(ValueError, match="a batch has at least 1 row, not 0"):
        next(data.batches(0))


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy of the data set, to be changed."""
    shutil.copytree(folder, tmp_path / "copied")
    return tmp_path / "copied"


def test_a_torn_or_changed_file_is_refused(copied: Path) -> None:
    path = copied / "games-00001.parquet"
    good = path.read_bytes()
    for data in (b"", good[:1], good[:-1], good + b"x", good[:90] + bytes([good[90] ^ 1]) + good[91:]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=rf"{path.name} is torn or was changed; remove it, and the command on"):
            load(copied)
    path.unlink()
    with pytest.raises(ValueError, match=rf"{path.name} is not there; the command on the card makes it anew"):
        load(copied)


def test_a_file_that_tears_after_it_was_loaded_or_that_the_card_does_not_name_is_refused(copied: Path) -> None:
    data = load(copied)
    (copied / "games-00002.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"games-00002\.parquet is torn or was changed"):
        data.arrays("ply")
    shutil.copy(copied / "games-00000.parquet", copied / "more.parquet")
    with pytest.raises(ValueError, match=r"more\.parquet is not named by the card$"):
        load(copied)


class Trap:
    """What runs code where it is unpickled."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("it was unpickled",)


def foreign_file(kind: str, folder: Path) -> bytes:
    """The bytes of a file that is none of a data set, whatever its digest."""
    if kind == "pickle":
        return pickle.dumps(Trap())
    if kind == "text":
        return b"PAR1 and no more"
    rows = {name: [values[0]] for name, values in load(folder).arrays().items()}
    return encode_rows({**rows, "luck": [0.0]}, columns_of(load(folder).rules, False, kind == "another column"))


NO_ROWS = "is not Parquet, or has other columns"


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [("pickle", NO_ROWS), ("text", NO_ROWS), ("another column", NO_ROWS), ("fewer rows", "has 1 rows, and the card")],
)
def test_a_foreign_file_is_refused_even_with_its_digest_on_the_card(kind: str, sentence: str, copied: Path) -> None:
    data = foreign_file(kind, copied)
    (copied / "games-00001.parquet").write_bytes(data)
    card = json.loads((copied / CARD).read_bytes())
    card["files"][1]["sha256"] = hashlib.sha256(data).hexdigest()
    write_card(copied, card)
    with pytest.raises(ValueError, match=rf"games-00001\.parquet .*{sentence}"):
        load(copied)


def test_a_foreign_card_is_refused(copied: Path) -> None:
    card = json.loads((copied / CARD).read_bytes())
    for changes, sentence in (
        ({"kind": "arena"}, "its kind is 'arena', and this version of krypenv reads data set"),
        ({"format": 2}, "its format is 2, and this version of krypenv reads 1"),
        ({"observation": 9}, "its observation is 9"),
        ({"rules": "mulle-glimne"}, "its columns are not those of this version of krypenv"),
        ({"rules": "nothing"}, "nothing"),
        ({"analysts": ["search"]}, "its columns are not those of this version of krypenv"),
        ({"rows": 1}, "its files are named twice, or have other rows than it says"),
        ({"files": [{"name": "../x.parquet", "rows": 1, "sha256": "0" * 64}]}, r"files\[0\]\.name should be the name"),
        ({"files": []}, "files should have at least 1 item"),
        ({"more": 1}, "more is not known; the keys are kind, format"),
    ):
        write_card(copied, {**card, **changes})
        with pytest.raises(ValueError, match=rf"{CARD} is no card of a data set: .*{sentence}"):
            load(copied)


def test_a_folder_without_a_data_set_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"nowhere holds no whole data set: it has no {CARD}"):
        load(tmp_path / "nowhere")
    (tmp_path / JOURNAL).touch()
    with pytest.raises(ValueError, match="holds no whole data set"):
        load(tmp_path)
