"""The comparison of rule sets: what its figures mean, which models it takes, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.games import some_arrays

from krypenv import Engine, Game, Rules, agents
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import Shape, inputs_of
from krypenv.game.core import MOST_MOVES
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.lab.rulesets import (
    FIRST,
    HIDDEN,
    LADDER,
    LUCK,
    OTHER,
    OTHER_RANDOM,
    SKILL,
    TRAINED,
    above_random,
    as_if_turned,
    count_moves,
    count_points,
    figures_of_set,
    find_models,
    is_idle,
    rule_sets,
    sentence_of,
    sets_of,
    tasks_of,
    turned,
)
from krypenv.training.lab.studying import Setup

MUST = "capture=maximal goal=low"
LOW = f"kasino-sweden {MUST}"


def network_of(folder: Path, text: str) -> str:
    """A model folder of an untrained network, which plays without chance."""
    rules = Rules.parse(text)
    name = "-".join(text.replace("=", "-").split())
    return str(save_model(folder / name / "model", some_arrays(Shape(16, 8, 4), 1, inputs_of(rules)), rules))


def played(agent: str, rules: Rules, seed: int, deals: int, look: Callable[[Game], None] = id) -> list[Game]:
    """Games of an agent in every seat, to the end; `look` sees each of them before each play."""
    player, games = agents.make(agent, rules), []
    for start in deal_seeds(seed, deals).tolist():
        game = Game(rules, seed=start)
        while not game.is_over:
            if game.pending is None:
                look(game)
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
        games.append(game)
    return games


def majorities(game: Game) -> int:
    """What is paid in Kasino for most spades and most cards (K5): nothing in a tie."""
    (cards, spades), (other_cards, other_spades) = game.pile_counts(0), game.pile_counts(1)
    return 2 * (spades != other_spades) + (cards != other_cards)


class TestCounts:
    @pytest.mark.parametrize("text", ["krypkasino", LOW, f"kasino-finland {MUST}", "kasino-finland capture=maximal"])
    def test_points_by_source_are_those_of_games_played_one_by_one(self, text: str, tmp_path: Path) -> None:
        """A sweep is worth five points in Krypkasino, which the seat before pays, and one in Kasino, which none pays.

        In Finland sweeps cancel (F4), and in Sweden the last capture has a point (S3).
        """
        rules, agent = Rules.parse(text), network_of(tmp_path, text)
        found = np.array(count_points(text, agent, 1, 20, 3))
        for game, (cards, sweeps, further, lead) in zip(played(agent, rules, 3, 21)[1:], found, strict=True):
            counted = [game.counted_sweeps(seat) for seat in (0, 1)]
            assert cards == game.points(0) + game.points(1)
            if rules.name == "krypkasino":
                assert (sweeps, further) == (5 * sum(counted), 0)
            else:
                cancelled = 2 * min(counted) if rules.name == "kasino-finland" else 0
                last = 1 if rules.name == "kasino-sweden" and game.last_capturer is not None else 0
                assert (sweeps, further) == (sum(counted) - cancelled, majorities(game) + last)
            own, other = game.scores()
            assert lead == (other - own if rules.goal == "low" else own - other)
        assert found[:, 1].any()

    @pytest.mark.parametrize("every", [1, 8])
    def test_moves_are_those_of_games_played_one_by_one(self, every: int, tmp_path: Path) -> None:
        agent = network_of(tmp_path, "kasino-sweden")
        found = count_moves("kasino-sweden", agent, 0, 3, 5, every)
        counts: list[int] = []

        def count(game: Game) -> None:
            try:
                counts.append(len(game.legal_moves()))
            except ValueError:  # a network that was not trained leaves large tables
                counts.append(MOST_MOVES + 1)

        played(agent, Rules.parse("kasino-sweden"), 5, 3, count)
        for deal, of_deal in enumerate(np.split(np.array(counts), 3)):  # 48 cards are played in each
            looked_at = np.array([count for play, count in enumerate(of_deal) if (deal + play + 1) % every == 0])
            assert found[deal] == [looked_at.mean(), (looked_at > 1).mean(), (looked_at > MOST_MOVES).mean()]

    def test_where_nobody_must_capture_nobody_captures_for_few_points(self) -> None:
        idle = "kasino-sweden goal=low"
        assert is_idle(Rules.parse(idle))
        assert not np.array(count_points(idle, "tactician", 0, 5, 1)).any()
        assert [task.key for task in tasks_of("it", Setup(Rules.parse(idle), "greedy", 200), {})] == [
            "it: moves 0", "it: points 0",
        ]  # fmt: skip
        for text in (
            "krypkasino",
            "kasino-sweden",
            LOW,
            "krypkasino goal=high",
            "kasino-sweden goal=low forced_sweep=1",
        ):
            assert not is_idle(Rules.parse(text.replace("=1", "=True"))), text


def test_luck_and_the_lead_are_those_of_the_agent_that_plays() -> None:
    """Who plays every seat where points and moves are counted is the agent of the setup, not always the tactician."""
    study = rule_sets("it", "How?", sets_of([LOW, "mini-low"]), agent="greedy")
    tasks = study.tasks(Setup(Rules.parse(LOW), "greedy", 2))
    counted = [task.arguments["agent"] for task in tasks if ": points" in task.key or ": moves" in task.key]
    assert counted == ["greedy"] * 4
    with pytest.raises(ValueError, match="has its own rules and agents"):
        study.check(Setup(Rules.parse(LOW), "tactician", 2))


class TestOtherGoal:
    @pytest.mark.parametrize("text", ["krypkasino", LOW])
    def test_it_plays_as_under_the_other_goal(self, text: str) -> None:
        rules = Rules.parse(text)
        engine = Engine(rules, 300, seed=1)
        for _ in range(6):
            engine.step(engine.sample_actions())
        seen = engine.observation, engine.action_mask
        there = agents.make("greedy", turned(rules), 4).act(*seen)
        assert (as_if_turned("greedy", "random", rules, 4).act(*seen) == there).all()
        assert (agents.make("greedy", rules, 4).act(*seen) != there).any()
        assert turned(turned(rules)) == rules

    def test_it_loses_for_certain(self) -> None:
        own = Setup(Rules.parse(LOW), "tactician", 60)
        task = next(task for task in tasks_of("it", own, {}) if task.key == f"it: {OTHER} 0")
        margins = task.function(**task.arguments)
        assert len(margins) == 60
        assert np.mean(margins) < -5 * np.std(margins) / 60**0.5


class TestFigures:
    def samples(self, count: int = 400) -> dict[str, np.ndarray]:
        random = np.random.default_rng(0)
        margins = {
            name: at + random.normal(0, 4, count)
            for at, name in enumerate([*LADDER, HIDDEN, OTHER, OTHER_RANDOM, TRAINED], start=1)
        }
        plain = dict.fromkeys(("legal moves", "plays with a choice", "plays beyond the list", "cards"), np.ones(count))
        return {
            **plain,
            "sweeps": np.zeros(count),
            "further": np.zeros(count),
            **margins,
            FIRST: random.normal(1, 8, count),
        }

    def test_margins_are_in_the_luck_of_a_game(self) -> None:
        samples = self.samples()
        figures = figures_of_set(samples)
        luck = samples[FIRST].std(ddof=0)
        assert figures[LUCK][0] == pytest.approx(luck)
        assert figures[LUCK][1] < 8 < figures[LUCK][2]
        steps = [samples[step].mean() / luck for step in LADDER]
        assert [figures[step][0] for step in LADDER] == pytest.approx(steps)
        assert figures[SKILL][0] == pytest.approx(sum(steps))
        assert figures["cards"] == (1, 1, 1)
        places = above_random(figures)
        assert [places[name][0] for name in ("greedy", "tactician", "search")] == pytest.approx(np.cumsum(steps))
        assert places["trained network"][0] == pytest.approx(steps[0] + steps[1] + samples[TRAINED].mean() / luck)

    def test_the_interval_of_luck_holds_it(self) -> None:
        inside = 0
        for seed in range(200):
            random, samples = np.random.default_rng(seed), self.samples(300)
            low, high = figures_of_set({**samples, FIRST: random.normal(0, 8, 300)})[LUCK][1:]
            inside += low <= 8 <= high
        assert 178 <= inside <= 199

    def test_the_sentence_names_least_and_most(self) -> None:
        figures = {name: dict.fromkeys((SKILL, HIDDEN, FIRST, OTHER), (at, at - 0.5, at + 0.5)) for name, at in
                   (("a", 1.0), ("b", 3.0), ("c", 2.0))}  # fmt: skip
        told = sentence_of({**figures, "d": {}}, "tactician")
        assert told.startswith("In standard deviations of a game with tactician in every seat, ")
        assert told.count("+1.00 (+0.50 to +1.50; a) to +3.00 (+2.50 to +3.50; b)") == 4
        assert told.endswith("Best play takes no card in d.")


class TestModels:
    def test_two_models_of_the_same_rules_are_refused(self, tmp_path: Path) -> None:
        network_of(tmp_path / "a", LOW)
        network_of(tmp_path / "b", LOW)
        for each in ("a", "b"):
            (tmp_path / "runs").mkdir(exist_ok=True)
            next((tmp_path / each).iterdir()).rename(tmp_path / "runs" / each)
        with pytest.raises(ValueError, match="were trained for the same rules; leave one of them"):
            find_models(tmp_path / "runs", sets_of([LOW, "mini-low"]))
