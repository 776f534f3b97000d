"""Studies as scripts: the command line that `lab.main` gives them, and those in notebooks/studies."""

from __future__ import annotations

import ast
import json
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.places import ROOT
from support.sampled import STRONG, TWO, positions, table_of
from support.scripts import FOLDER, load, run_script

from krypenv import Game, Rules, agents
from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.observation import LAYOUT
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.lab import Answer, Setup, Study, compare, main
from krypenv.training.runs.journal import JOURNAL

FOUR = Rules.preset("krypkasino", players=4)
EXAMPLE = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "studies.md").read_text(encoding="utf-8"), re.DOTALL)[0]
SMALL = ["--rules", "krypkasino", "--agent", "greedy", "--deals", "120"]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The study of the documentation, in a file that tells how it is loaded."""
    path = tmp_path / "mine" / "my_study.py"
    path.parent.mkdir()
    path.write_text(f"{EXAMPLE}\nprint('loaded as', __name__)\n")
    return path


def result_of(folder: Path) -> dict[str, Any]:
    """What a study wrote, without the machine and the command line."""
    told: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return {**told, "runs": [{**run, "machine": "", "command": ""} for run in told["runs"]]}


class TestMain:
    def test_workers_load_the_file_as_a_module(self, script: Path, tmp_path: Path) -> None:
        """With a module beside it, and even without a guard, where the main module may not be run again."""
        (script.parent / "beside.py").write_text("from krypenv.training import lab\nAMONG = lab.creeping\n")
        code = f"import beside\n{script.read_text()}".replace("lab.creeping", "beside.AMONG")
        script.write_text(code.replace('if __name__ == "__main__":\n    ', ""))
        for workers in ("1", "2"):
            done = run_script(script, *SMALL, "--workers", workers, "--out", workers, folder=tmp_path)
            assert done.returncode == 0, done.stderr
        assert done.stdout.count("Should kings leave") == 1
        assert set(re.findall(r"loaded as (\w+)", done.stdout)) == {"__main__", "study_my_study"}
        assert result_of(tmp_path / "1") == result_of(tmp_path / "2")
        [run] = json.loads((tmp_path / "2" / "result.json").read_text())["runs"]
        assert run["command"].endswith(f"my_study.py {shlex.join(SMALL)} --workers 2 --out 2")

    def test_a_stopped_study_is_resumed(self, script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        study, words = runpy.run_path(str(script))["STUDY"], [*SMALL, "--out", str(tmp_path)]
        capsys.readouterr()
        main(study, words)
        whole, right = capsys.readouterr().out, result_of(tmp_path)
        assert "Should kings leave the hand early or late? (krypkasino players=2, greedy, 120 deals)" in whole
        assert all(row[0] in whole for row in right["runs"][0]["rows"])
        assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
        journal = (tmp_path / JOURNAL).read_bytes().splitlines(keepends=True)
        (tmp_path / JOURNAL).write_bytes(b"".join(journal[:3]) + journal[3][:9])
        (tmp_path / "result.json").unlink()
        main(study, words)
        assert (capsys.readouterr().out, result_of(tmp_path)) == (whole, right)
        with pytest.raises(SystemExit, match="2"):
            main(study, [*words, "--seed", "1"])
        assert "holds a study with seed 0, not 1; give another --out" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (["--deals", "0"], "deals is"),
            (["--deals", "1"], "the study kings needs at least 2 deals, not 1"),
            (["--players", "3"], "the study kings is for 2, 4 players, not 3"),
            (["--rules", "mulle"], "the study kings"),
            (["--rules", "krypkasino players=2", "--players", "4"], "players"),
            (["--rules", "krypkasino ranks=3"], "ranks"),
            (["--agent", "gredy"], "unknown agent 'gredy'"),
            (["--luck", "of"], "luck is auto, on or off, not 'of'"),
            (["--seed", "-1"], "seed is"),
            (["--workers", "0"], "workers is"),
        ],
    )
    def test_bad_input_is_one_sentence(
        self, words: list[str], reason: str, script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        study = runpy.run_path(str(script))["STUDY"]
        with pytest.raises(SystemExit, match="2"):
            main(study, [*words, "--out", str(tmp_path / "out")])
        told = capsys.readouterr().err
        assert reason in told.lower()
        assert len(told.splitlines()) == 1
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("words", "rules"),
        [
            ([], "krypkasino players=4 teams=2"),
            (["--rules", "krypkasino players=2"], "krypkasino players=2"),
            (["--rules", "krypkasino teams=3", "--players", "6"], "krypkasino players=6 teams=3"),
        ],
    )
    def test_a_study_has_rules_of_its_own_by_default(self, words: list[str], rules: str, tmp_path: Path) -> None:
        def answer(setup: Setup, results: dict[str, Any]) -> Answer:
            return Answer({"rules": str(setup.rules)})

        study = Study("x", "Which?", lambda setup: [], answer, 2, (4, 2, 6), 2 if "players=2" not in rules else None)
        main(study, [*words, "--out", str(tmp_path)])
        assert Rules.parse(result_of(tmp_path)["runs"][0]["figures"]["rules"]) == Rules.parse(rules)

    def test_a_study_that_is_no_variable_can_not_be_found_by_workers(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(SystemExit, match="2"):
            main(compare("x", "Which?", {}), [*SMALL, "--workers", "2", "--out", str(tmp_path)])
        assert "workers find the study x only if it is a variable of" in capsys.readouterr().err

    @pytest.mark.slow
    def test_a_cluster_loads_the_file_as_a_module(self, script: Path, tmp_path: Path) -> None:
        for place, words in (("here", []), ("cluster", ["--ray"])):
            done = run_script(script, *SMALL, *words, "--out", place, folder=tmp_path)
            assert done.returncode == 0, done.stderr
        assert result_of(tmp_path / "here") == result_of(tmp_path / "cluster")


# ---------------------------------------------------------------------- those in notebooks/studies

SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))
TOOLS = {"compare", "coefficients"}  # which store no answer there


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_asks_the_question_that_is_stored(name: str) -> None:
    path = FOLDER / f"{name}.py"
    question = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").splitlines()[0]
    assert question.endswith("?")
    if name not in TOOLS:
        stored = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        assert stored["question"] == question
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_runs(name: str, tmp_path: Path) -> None:
    deals = str(load(name).STUDY.fewest)
    done = run_script(FOLDER / f"{name}.py", "--deals", deals, "--out", str(tmp_path / "out"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert [*(tmp_path / "out").iterdir()]


class TestMemory:
    memory = load("memory")

    def made(self, kept: Any, deduces: str, rules: Rules, draws: int = 1) -> Any:
        return self.memory.forgetful(kept, deduces, draws, STRONG, rules, 0)

    def test_who_remembers_all_plays_as_the_network_does(self) -> None:
        engine = positions(TWO)
        network = agents.make(f"learned(model={agents.make(STRONG, TWO).models[0]!r}, solver=False)", TWO)
        plain = self.made(self.memory.ALL, self.memory.EVERY_SEAT, TWO)
        seen = engine.observation, engine.action_mask
        assert (plain.act(*seen) == network.act(*seen)).all()

    @pytest.mark.parametrize("kept", [memory.NONE, (memory.RANKS == 1) | (memory.RANKS > 10)])
    def test_what_is_imagined_agrees_with_what_is_known(self, kept: np.ndarray) -> None:
        """What lies there, the cards kept in mind, and how many have been seen; the rest is any of the other cards."""
        player = self.made(kept, self.memory.NOBODY, FOUR)
        before, part = positions(FOUR, 100).observation, LAYOUT["seen"]
        draws = [player.imagine(before, np.zeros((100, NUM_KINDS), np.int64)) for _ in range(30)]
        lying = sum(before[:, LAYOUT[name]] for name in ("hand", "table", "set_aside", "pending"))
        for after in draws:
            assert (after[:, part] >= lying).all()
            assert (after[:, part] <= FOUR.deck_counts).all()
            assert (after[:, part].sum(axis=1) == before[:, part].sum(axis=1)).all()
            assert (after[:, part][:, kept] == before[:, part][:, kept]).all()
            assert not after[:, LAYOUT["cannot_hold"]].any()
            same = np.ones(before.shape[1], np.bool_)
            same[part] = same[LAYOUT["cannot_hold"]] = False
            assert (after[:, same] == before[:, same]).all()
        assert len({after.tobytes() for after in draws}) == 30

    def test_whose_sweeps_it_draws_conclusions_from(self) -> None:
        seen = positions(FOUR, 100).observation.copy()
        seen[:, LAYOUT["cannot_hold"]] = 1
        known = np.zeros((100, NUM_KINDS), np.int64)
        its = self.memory
        for whom, places in ((its.EVERY_SEAT, range(5)), (its.OTHERS, range(1, 5)), (its.NOBODY, ())):
            after = self.made(its.ALL, whom, FOUR).imagine(seen, known)
            left = after[:, LAYOUT["cannot_hold"]].reshape(100, 5, NUM_RANKS)
            assert (left == np.isin(np.arange(5), places)[None, :, None]).all()

    def test_the_current_deal_is_remembered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """By a `Game`: of each kind at least as many as lie there, or were face up in this deal."""
        player = self.memory.forgets_deals(STRONG, TWO, 0)
        seen: list[np.ndarray] = []
        monkeypatch.setattr(player, "decide", lambda observations, masks, known: seen.append(known) or np.zeros(1))
        random = np.random.default_rng(0)
        game = Game(TWO, seed=3)
        face_up, number = list(game.table), 1  # cards of this deal that have been face up
        for _ in range(40):
            if game.deal_number != number:
                face_up, number = [], game.deal_number
            hand, state = game.hand(game.turn), np.asarray(game.state).reshape(1).view(np.recarray)
            player.act_on(state, game.action_mask()[None])
            lying, recent = ([*cards, *hand] for cards in ([*game.table, *game.set_aside], face_up))
            expected = np.maximum(table_of(" ".join(lying))[0], table_of(" ".join(recent))[0])
            assert (seen.pop()[0] == expected).all()
            move = game.legal_moves()[int(random.integers(len(game.legal_moves())))]
            face_up = [*face_up, str(move)[:2]]
            game.push(move)
        assert number > 3


def test_partners_sit_where_they_are_said_to() -> None:
    """Seats 0 and 1 are the first of their sides, 2 and 3 the second (R16)."""
    rules = Rules.preset("krypkasino", players=4, teams=2)
    made = [load("partners").with_partner("greedy", first, STRONG, rules, 0) for first in (True, False)]
    asked: list[tuple[str, int]] = []
    for each in made:
        for agent in each.agents:
            name, act = agent.name, agent.act
            agent.act = lambda seen, masks, name=name, act=act: asked.append((name, len(seen))) or act(seen, masks)
    engine = positions(rules, 200)
    for each, is_first in zip(made, (True, False), strict=True):
        asked.clear()
        each.act(engine.observation, engine.action_mask)
        early = int((engine.seat < 2).sum())
        assert dict(asked) == {"greedy": early if is_first else 200 - early, STRONG: 200 - early if is_first else early}


def played(rules: Rules, agent: str, seed: int, deals: int) -> Iterator[tuple[int, Game, int]]:
    """Games of an agent in every seat, as (deal, game after a complete play, number of the deal before that play)."""
    player = agents.make(agent, rules)
    for deal, start in enumerate(deal_seeds(seed, deals).tolist()):
        game = Game(rules, seed=start)
        while not game.is_over:
            number, plays = game.deal_number, len(game.moves)
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
            if len(game.moves) > plays:
                yield deal, game, number


@pytest.mark.parametrize("rules", [TWO, FOUR])
def test_seats_and_the_sweeps_that_open_a_deal(rules: Rules) -> None:
    """The first play of each deal is the leader's, and its sweeps are credited to the dealer, the last seat (R12)."""
    lead = load("lead")
    found = np.array(lead.play_deals(str(rules), STRONG, 0, 6, 4))
    opening, previous = np.zeros(6, int), dict[int, int]()
    scores = np.zeros((6, rules.players), int)
    for deal, game, number in played(rules, STRONG, 4, 6):
        if previous.get(deal) != number:
            opening[deal] += game.moves[-1].sweep
        previous[deal] = number
        scores[deal] = game.scores()
    assert (found[:, -1] == opening).all()
    assert (found[:, :-1] == scores).all()
    assert opening.sum() > 0
    figures = lead.answer(Setup(rules, STRONG, 6, 4), {"deals 0": found.tolist()}).figures
    over = (scores[:, -1] - scores[:, 0]).mean()  # fewer points are better
    assert figures["the leader over the dealer"]["mean"] == pytest.approx(over)
    assert figures["the leader"]["mean"] - figures["the dealer"]["mean"] == pytest.approx(over)
    assert figures["credited to the dealer by R12"]["mean"] == pytest.approx(5 * opening.mean())


class TestLuck:
    luck = load("luck")

    def test_parts_of_the_variance_are_those_that_were_put_in(self) -> None:
        random = np.random.default_rng(0)
        deals, repetitions = 40_000, 3
        whole, swapped, chance = (random.normal(scale=scale, size=shape) for scale, shape in (
            (2.0, (deals, 1, 1)), (3.0, (deals, 1, 1)), (5.0, (deals, 2, repetitions))
        ))  # fmt: skip
        margins = 1.5 + whole + swapped * np.array([1.0, -1.0])[None, :, None] + chance
        parts = self.luck.variances(margins)
        assert parts == pytest.approx({"deal": 4.0, "seat": 9.0, "chance": 25.0}, rel=0.05)
        assert sum(parts.values()) == pytest.approx(margins.var(), rel=0.01)

    def test_deals_are_played_again_with_other_choices(self) -> None:
        found = np.array(self.luck.play_deals(str(TWO), STRONG, 0, 3, 0))
        assert found.shape == (3, 2, self.luck.PLAYS)
        assert (found.std(axis=2) > 0).any()
