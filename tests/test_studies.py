"""Studies: what habits do to play, what is resumed, and what the figures mean."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from krypenv import Engine, Game, Rules, agents
from krypenv.cards import NUM_ACTIONS, NUM_KINDS, parse_card
from krypenv.observation import LAYOUT
from krypenv.training.cli.commands import app
from krypenv.training.evaluation.deals import deal_seeds
from krypenv.training.studies import creep, luck, memory, play, seat, setups, shed
from krypenv.training.studies.play import WithHabit, by_deal, match_tasks, play_chunk, with_habit
from krypenv.training.studies.registry import STUDIES, study_of
from krypenv.training.studies.study import FIGURE, JOURNAL, RESULT, Answer, Setup, Study, Task, run_study

TWO = Rules.preset("krypkasino", players=2)
STRONG = "champion(worlds=0)"


def positions(rules: Rules, rows: int = 200, seed: int = 0) -> Engine:
    """Games some random moves in, row by row further."""
    engine = Engine(rules, rows, seed)
    for move in range(40):
        engine.step(engine.sample_actions(np.arange(move * rows // 40, rows)), np.arange(move * rows // 40, rows))
    return engine


def anything(rules: Rules, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return masks > 0


def nothing(rules: Rules, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return np.zeros(masks.shape, np.bool_)


class TestHabits:
    @pytest.mark.parametrize("base", [STRONG, "search(worlds=2, plies=1)", "rollout(worlds=1)", "champion(worlds=2)"])
    def test_a_habit_changes_forbidden_choices_alone(self, base: str) -> None:
        engine = positions(TWO, 40)
        seen, masks = engine.observation, engine.action_mask
        random = np.random.default_rng(0)
        allowed = random.random(masks.shape) < 0.5
        plain = agents.make(base, TWO, 1).act(seen, masks)
        chosen = WithHabit(agents.make(base, TWO, 1), lambda *_: allowed.copy(), "h").act(seen, masks)
        legal = (masks > 0) & allowed
        for row in range(len(chosen)):
            if legal[row, plain[row]] or not legal[row].any():
                assert chosen[row] == plain[row]
            else:
                assert legal[row, chosen[row]]

    @pytest.mark.parametrize("habit", [anything, nothing])
    def test_no_habit_is_the_agent_itself(self, habit: Any) -> None:
        engine = positions(TWO)
        plain = agents.make(STRONG, TWO, 1).act(engine.observation, engine.action_mask)
        twin = WithHabit(agents.make(STRONG, TWO, 1), habit, "h").act(engine.observation, engine.action_mask)
        assert (plain == twin).all()
        assert play_chunk(str(TWO), STRONG, 0, 5, 0, partial(with_habit, habit)) == [0.0] * 5

    def test_agents_without_values_can_have_no_habit(self) -> None:
        with pytest.raises(ValueError, match="tactician does not value its actions; champion, guided, search and"):
            WithHabit(agents.make("tactician", TWO), anything, "h")

    def test_creeping_and_capturing_are_told_apart_as_the_rules_do(self) -> None:
        """By the legal moves of a `Game`: a card creeps where it takes nothing (R8)."""
        game = Game(TWO, seed=5)
        seen_both = 0
        for _ in range(60):
            seen, masks = game.observation()[None], game.action_mask()[None]
            moves = game.legal_moves()
            creeping, capturing = (
                {move.card for move in moves if bool(move.takes) is takes} for takes in (False, True)
            )
            if not masks[0, NUM_KINDS:].any():
                for habit, cards in ((creep.creep_always, creeping), (creep.capture_always, capturing)):
                    allowed = habit(TWO, seen, masks)
                    assert allowed.shape == (1, NUM_ACTIONS)
                    found = _names(allowed[0])
                    assert found == cards
                seen_both += bool(creeping) and bool(capturing)
            game.act(int(np.flatnonzero(masks[0])[0]))
            if game.is_over:
                break
        assert seen_both > 5

    def test_a_limit_forbids_dear_captures_where_a_card_can_creep(self) -> None:
        engine = positions(TWO, 400)
        seen, masks = engine.observation, engine.action_mask
        creeps = play.column(TWO, seen, masks, "creeps") > 0
        points = play.column(TWO, seen, masks, "least_points")
        legal = masks[:, :NUM_KINDS] > 0
        can_creep = (creeps & legal).any(axis=1)
        for limit in creep.LIMITS:
            allowed = creep.capture_up_to(limit, TWO, seen, masks)[:, :NUM_KINDS]
            dear = legal & ~creeps & (points > limit)
            assert not (allowed & dear)[can_creep].any()
            assert (allowed == legal)[~can_creep].all()
            assert (allowed | dear == legal)[can_creep].all()

    @pytest.mark.parametrize("name", shed.HABITS)
    def test_a_rule_of_shedding_chooses_among_the_cards_that_creep(self, name: str) -> None:
        engine = positions(TWO, 300)
        seen, masks = engine.observation, engine.action_mask
        creeps = (play.column(TWO, seen, masks, "creeps") > 0) & (masks[:, :NUM_KINDS] > 0)
        allowed = shed.HABITS[name](TWO, seen, masks)
        assert (allowed[:, NUM_KINDS:] == (masks[:, NUM_KINDS:] > 0)).all()
        assert ((allowed[:, :NUM_KINDS] | creeps) == (masks[:, :NUM_KINDS] > 0)).all()  # captures are free
        value = {"A": 14, "T": 10, "J": 11, "Q": 12, "K": 13}
        for row in range(len(masks)):
            before, after = (
                sorted(value.get(each[0]) or int(each[0]) for each in _names(some))
                for some in (creeps[row], allowed[row, :NUM_KINDS] & creeps[row])
            )
            if before:
                others = [each for each in before if each != 14]
                expected = {
                    "creep the highest card": {before[-1]},
                    "creep the lowest card": {before[0]},
                    "creep aces first": {14} if 14 in before else set(before),
                    "creep aces last": set(others or before),
                }[name]
                assert set(after) == expected


def _names(allowed: np.ndarray) -> set[str]:
    from krypenv.cards import card_name

    return {card_name(int(card)) for card in np.flatnonzero(allowed[:NUM_KINDS])}


def square(number: int, fail: bool = False) -> int:
    if fail:
        raise RuntimeError("stopped")
    return number * number


def squares(stop: int) -> Study:
    """A study of four tasks, of which those from `stop` on fail."""
    tasks = [Task(f"{number}", square, {"number": number, "fail": number >= stop}) for number in range(4)]

    def answer(setup: Setup, results: dict[str, Any]) -> Answer:
        total = sum(results.values())
        return Answer(f"{total}.", ("what", "sum"), [("squares", f"{total}")], {"sum": total}, lambda axes: None)

    return Study("squares", "What is the sum?", lambda setup: tasks, answer, deals=1)


class TestRunning:
    SETUP = Setup(TWO, "greedy", 1)

    @pytest.mark.parametrize("stop", [0, 1, 3])
    def test_a_stopped_study_is_resumed(self, stop: int, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError):
            run_study(squares(stop), self.SETUP, tmp_path, "")
        assert not (tmp_path / RESULT).exists()
        with (tmp_path / JOURNAL).open("ab") as file:
            file.write(b'["9", ')  # what a kill within a line leaves
        told: list[tuple[int, int]] = []
        assert run_study(squares(9), self.SETUP, tmp_path, "it", progress=lambda *of: told.append(of)).sentence == "14."
        assert told == [(done, 4) for done in range(stop, 5)]
        fields = json.loads((tmp_path / RESULT).read_text())
        assert (fields["answer"], fields["figures"], fields["command"]) == ("14.", {"sum": 14}, "it")
        assert (tmp_path / FIGURE).read_bytes().startswith(b"\x89PNG")
        again = run_study(squares(0), self.SETUP, tmp_path, "it")  # nothing is done twice
        assert again.sentence == "14."

    def test_another_setup_is_refused_and_nothing_changed(self, tmp_path: Path) -> None:
        run_study(squares(9), self.SETUP, tmp_path, "")
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        for setup in (Setup(TWO, "greedy", 2), Setup(TWO, "random", 1), Setup(TWO, "greedy", 1, 5)):
            with pytest.raises(ValueError, match="has a study with another setup; give another --out, or remove it"):
                run_study(squares(9), setup, tmp_path, "")
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        (tmp_path / JOURNAL).write_text("no\n")
        with pytest.raises(ValueError, match="is torn or of another version; remove it to begin anew"):
            run_study(squares(9), self.SETUP, tmp_path, "")

    def test_a_match_in_chunks_has_a_margin_for_each_deal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(play, "CHUNK", 3)
        setup = Setup(TWO, STRONG, 7, 4)
        tasks = match_tasks("x", setup, partial(with_habit, creep.creep_always))
        results = {task.key: task.function(**task.arguments) for task in tasks}
        assert [len(each) for each in results.values()] == [3, 3, 1]
        assert len(by_deal(results, "x", setup)) == 7

    def test_names(self) -> None:
        assert study_of("creep") is STUDIES["creep"]
        with pytest.raises(ValueError, match=r"there is no study 'crep' \(did you mean 'creep'\?\); they are creep,"):
            study_of("crep")


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_answers_in_small(name: str, tmp_path: Path) -> None:
    """From the command line, with what it needs at least; again, the same answer without work."""
    out = str(tmp_path / "out")
    words = ["study", name, "--deals", "6", "--out", out]
    first = CliRunner(env={"COLUMNS": "120"}).invoke(app, words)
    assert first.exit_code == 0, first.output
    fields = json.loads((tmp_path / "out" / RESULT).read_text())
    assert fields["answer"] in first.stdout
    assert fields["question"] == STUDIES[name].question
    assert len(fields["rows"]) > 1
    assert fields["deals"] == 6
    assert CliRunner(env={"COLUMNS": "120"}).invoke(app, words).stdout == first.stdout
    other = CliRunner().invoke(app, [*words[:2], "--deals", "7", "--out", out])
    assert other.exit_code != 0
    assert "has a study with another setup" in other.stderr


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    for words, reason in (
        (["crep"], "there is no study 'crep'"),
        (["creep", "--players", "3"], "the study creep is for 2, 4 players, not 3"),
        (["creep", "--deals", "-1"], "deals is"),
        (["creep", "--agent", "greedy"], "greedy does not value its actions"),
        (["creep", "--agent", "gredy"], "unknown agent 'gredy'"),
    ):
        done = CliRunner().invoke(app, ["study", *words, "--out", str(tmp_path / "out")])
        assert done.exit_code != 0
        assert reason in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_parts_of_the_variance_are_those_that_were_put_in() -> None:
    random = np.random.default_rng(0)
    deals, repetitions = 40_000, 3
    whole, swapped, chance = (random.normal(scale=scale, size=shape) for scale, shape in (
        (2.0, (deals, 1, 1)), (3.0, (deals, 1, 1)), (5.0, (deals, 2, repetitions))
    ))  # fmt: skip
    margins = 1.5 + whole + swapped * np.array([1.0, -1.0])[None, :, None] + chance
    parts = luck.variances(margins)
    assert parts == pytest.approx({"deal": 4.0, "seat": 9.0, "chance": 25.0}, rel=0.05)
    assert sum(parts.values()) == pytest.approx(margins.var(), rel=0.01)


def test_seats_of_one_agent_sum_to_nothing() -> None:
    setup = Setup(Rules.preset("krypkasino", players=3), "greedy", 5)
    results = {task.key: task.function(**task.arguments) for task in seat.tasks(setup)}
    answer = seat.answer(setup, results)
    assert sum(each["mean"] for each in answer.figures.values()) == pytest.approx(0)
    assert [row[0] for row in answer.rows] == ["the leader", "2 after the dealer", "the dealer"]


class TestMemory:
    def test_who_remembers_all_plays_as_the_network_does(self) -> None:
        engine = positions(TWO)
        plain = memory.forgetful(np.ones(NUM_KINDS, np.bool_), True, 1, STRONG, TWO, 0)
        network = agents.make(f"learned(model={agents.make(STRONG, TWO).models[0]!r}, solver=False)", TWO)
        seen = engine.observation, engine.action_mask
        assert (plain.act(*seen) == network.act(*seen)).all()

    @pytest.mark.parametrize("kept", [memory._NONE, memory._HIGH])
    def test_what_is_imagined_agrees_with_what_is_known(self, kept: np.ndarray) -> None:
        """What lies there, the cards kept in mind, and how many have been seen; the rest is any of the other cards."""
        rules = Rules.preset("krypkasino", players=4)
        engine = positions(rules, 100)
        player = memory.forgetful(kept, False, 1, STRONG, rules, 0)
        before, part = engine.observation, LAYOUT["seen"]
        draws = [player._imagine(before) for _ in range(30)]
        lying = sum(before[:, LAYOUT[name]] for name in ("hand", "table", "set_aside", "pending"))
        for after in draws:
            assert (after[:, part] >= lying).all()
            assert (after[:, part] <= rules.deck_counts).all()
            assert (after[:, part].sum(axis=1) == before[:, part].sum(axis=1)).all()
            assert (after[:, part][:, kept] == before[:, part][:, kept]).all()
            assert not after[:, LAYOUT["cannot_hold"]].any()
            same = np.ones(before.shape[1], np.bool_)
            same[part] = same[LAYOUT["cannot_hold"]] = False
            assert (after[:, same] == before[:, same]).all()
        assert len({after.tobytes() for after in draws}) == 30

    def test_a_search_has_no_network_to_make_forget(self) -> None:
        with pytest.raises(ValueError, match=r"greedy is no network, which a study of memory needs"):
            memory.forgetful(memory._NONE, True, 1, "greedy", TWO, 0)


def test_kinds_of_tables() -> None:
    names = ["", "QC", "5H", "AC", "QC QC", "5H 9S", "KS AS", "5H 5C 4D", "5H 5C 5D"]
    kinds = [setups.EMPTY, setups.PICTURE, setups.CARD, setups.CARD, setups.PAIR, setups.SUM_14, setups.SUM_14]
    tables, sums = np.zeros((len(names), NUM_KINDS), np.int8), np.zeros(len(names), np.int64)
    value = {"A": 1, "J": 11, "Q": 12, "K": 13}
    for row, text in enumerate(names):
        for name in text.split():
            tables[row, parse_card(name)] += 1
            sums[row] += value.get(name[0]) or int(name[0])
    assert setups.kinds_of_tables(tables, sums).tolist() == [*kinds, setups.SUM_14, setups.MORE]


def test_set_ups_are_those_of_games_played_one_by_one() -> None:
    """By a `Game`: after each play but the last of a deal, what lies there, and whether the next play sweeps it."""
    found = np.array(setups.play_deals(str(TWO), STRONG, 0, 3, 9))
    player = agents.make(STRONG, TWO)
    for deal, seed in enumerate(deal_seeds(9, 3).tolist()):
        game, left, counted = Game(TWO, seed=seed), None, np.zeros((len(setups.TABLES), 3), int)
        while not game.is_over:
            number, plays = game.deal_number, len(game.moves)
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
            if len(game.moves) > plays:
                if left is not None and not game.is_over:
                    counted[left] += (1, game.moves[-1].sweep > 0, game.moves[-1].sweep)
                table = np.zeros((1, NUM_KINDS), np.int8)
                for name in game.table:
                    table[0, parse_card(name)] += 1
                value = {"A": 1, "T": 10, "J": 11, "Q": 12, "K": 13}
                total = sum(value.get(name[0]) or int(name[0]) for name in game.table)
                left = int(setups.kinds_of_tables(table, np.array([total]))[0])
                if game.deal_number != number:
                    left = None
        assert (found[deal] == counted).all()


def test_the_interval_of_a_ratio() -> None:
    random = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        times = random.integers(1, 30, 300).astype(float)
        ratio, low, high = setups.ratio_interval(random.binomial(times.astype(int), 0.3).astype(float), times)
        assert low <= ratio <= high
        inside += low <= 0.3 <= high
    assert 360 <= inside <= 396
    assert np.isnan(setups.ratio_interval(np.zeros(3), np.zeros(3))[0])
