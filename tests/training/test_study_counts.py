"""What the scripts advice, compare and misere_large count, by games played one by one, and what they conclude."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.sampled import STRONG, TWO, points_of
from support.scripts import load

from krypenv import Game, Rules, agents
from krypenv.training import deal_seeds
from krypenv.training.lab import Setup

LOW = agents.typed("support.arenas:Lowest")  # plays without chance


def played(rules: Rules, agent: str, seed: int, deals: int, look: Callable[[Game], None]) -> list[Game]:
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


class TestAdvice:
    advice = load("advice")
    SETUP = Setup(TWO, STRONG, 40)

    def test_what_is_counted(self) -> None:
        """What sweeps move and open a deal with, what the last capture takes in, and tables that the next play sweeps.

        The last play before a deal leaves no table to the next one.
        """
        capturers: list[int | None] = []
        ends: list[list[str]] = []
        kinds: list[tuple[int, int]] = []

        def look(game: Game) -> None:
            left = game.stock_size + sum(len(game.hand(seat)) for seat in range(2))
            if left == self.advice.EARLY:
                capturers.append(game.last_capturer)
            if left == 1:
                ends.append([*game.set_aside, *game.table, *game.hand(game.turn)])
            kinds.append((len(game.table), game.deal_number))

        found = self.advice.count(str(TWO), STRONG, 0, 4, 2)
        for deal, game in enumerate(played(TWO, STRONG, 2, 4, look)):
            tables, opening = np.zeros((2, 2)), 0
            plays = kinds[deal * len(game.moves) : (deal + 1) * len(game.moves)]
            for at, move in enumerate(game.moves):
                lying, number = plays[at]
                if at == 0 or plays[at - 1][1] != number:
                    opening += move.sweep
                elif lying and at + 1 < len(game.moves):
                    tables[min(lying, 2) - 1] += 1, move.sweep > 0
            counted = found[deal]
            assert counted["moved"] == 5 * (game.sweeps(0) + game.sweeps(1))
            assert counted["opening"] == 5 * opening
            assert counted["taken"] == sum(map(points_of, ends[deal]))
            assert counted["tables"] == tables.tolist()
            assert counted["lead"] == game.scores()[1] - game.scores()[0]  # fewer points are better
            if counted["taken"]:
                assert counted["stays"] == 100 * (capturers[deal] == game.last_capturer)

    def answer(self, margins: dict[tuple[str, str], float]) -> Any:
        """The answer from noise about the mean margins given by player and habit, and about 0 for others."""
        random, game = np.random.default_rng(0), self.advice.count(str(TWO), "greedy", 0, 1, 0)[0]
        names = {own.agent: name for name, own in self.advice.setups_of(self.SETUP).items()}
        results: dict[str, Any] = {}
        for task in self.advice.tasks(self.SETUP):
            name, what = task.key.rsplit(" ", 1)[0].split(": ", 1)
            assert names[task.arguments["agent"]] == name
            around, deals = margins.get((name, what), 0.0), task.arguments["deals"]
            games = [{**game, "lead": float(lead)} for lead in random.normal(size=deals)]
            results[task.key] = games if what == "games" else random.normal(around, 1.0, deals).tolist()
        return self.advice.answer(self.SETUP, results)

    def test_advice_holds_for_those_who_lose_by_the_other_way(self) -> None:
        """And the opposite of what was measured is no support."""
        worse = self.advice.NEVER_SETS_UP
        found = self.answer(
            {("tactician", worse): -5.0, ("champion", worse): -5.0, ("search", worse): 5.0}
        ).figures["statements"]  # fmt: skip
        words = next(each.words for each in self.advice.STATEMENTS if each.rather == worse)
        assert [name for name, each in found[words].items() if each["holds"]] == ["tactician", "champion"]
        assert found[words]["champion"]["mean"] == pytest.approx(5.0, abs=0.5)
        assert found[words]["search"]["p"] < 0.001
        assert not any(each["holds"] for other, by in found.items() if other != words for each in by.values())

    def test_memories_are_asked_of_the_network_alone(self) -> None:
        found = self.answer({}).figures["statements"]
        for each in self.advice.STATEMENTS:
            asks = {each.does, each.rather} & self.advice.CHANGES.keys()
            assert set(found[each.words]) == ({"network"} if asks else set(self.advice.PLAYERS))


class TestCompare:
    compare = load("compare")

    @pytest.mark.parametrize("text", ["krypkasino", "mini-high", "mini-last goal=low"])
    def test_points_are_those_of_games_played_one_by_one(self, text: str) -> None:
        rules = Rules.parse(text)
        found = np.array(self.compare.count_points(text, LOW, 1, 12, 3))
        for game, (cards, moved, further, lead) in zip(
            played(rules, LOW, 3, 13, lambda game: None)[1:], found, strict=True
        ):
            scores = game.scores()
            assert cards == game.points(0) + game.points(1)
            assert moved == rules.sweep_points * sum(game.counted_sweeps(seat) for seat in (0, 1))
            assert further == sum(scores) - cards - (moved if rules.sweep_payer == "nobody" else 0)
            assert lead == (scores[1] - scores[0] if rules.goal == "low" else scores[0] - scores[1])
        assert found[:, 1].any()

    def test_moves_are_those_of_games_played_one_by_one(self) -> None:
        rules = Rules.parse("mini-choice")
        counts: list[int] = []
        lengths = [len(game.moves) for game in played(
            rules, LOW, 5, 3, lambda game: counts.append(len(game.legal_moves()))
        )]  # fmt: skip
        found = self.compare.count_moves("mini-choice", LOW, 0, 3, 5)
        for (mean, choice), of_game in zip(found, np.split(np.array(counts), np.cumsum(lengths)[:-1]), strict=True):
            assert (mean, choice) == pytest.approx((of_game.mean(), (of_game > 1).mean()))

    def test_margins_are_in_the_luck_of_a_game(self) -> None:
        setup = Setup(TWO, "tactician", 20, sets=("mini-low", "mini-high"))
        results: dict[str, Any] = {}
        for task in self.compare.tasks(setup):
            deals, (what, _) = task.arguments["deals"], task.key.split(": ", 1)[1].rsplit(" ", 1)
            lead = 4.0 * np.resize([1, -1], deals)  # a standard deviation of 4 points
            games = np.column_stack([*np.ones((3, deals)), lead]).tolist()
            results[task.key] = {"games": games, "moves": [[3.0, 0.5]] * deals}.get(what, [2.0, 4.0] * (deals // 2))
        for found in self.compare.answer(setup, results).figures.values():
            assert found[self.compare.LUCK]["mean"] == pytest.approx(4)
            assert found[self.compare.HIDDEN]["mean"] == pytest.approx(3 / 4)
            assert found[self.compare.SKILL]["mean"] == pytest.approx(3 * 3 / 4)


def test_margins_are_in_standard_deviations_of_a_game_of_their_match() -> None:
    """The variance of the mean is that of many samples of the same size (delta method)."""
    large, random = load("misere_large"), np.random.default_rng(0)
    means, widths = [], []
    for _ in range(1000):
        margins = random.normal(2.0, 1.0, (100, 1)) + random.normal(0.0, 1.0, (100, 2))
        sample = large.in_units(margins, margins)
        means.append(sample.mean())
        widths.append(sample.std(ddof=1) / 10)
    assert np.mean(means) == pytest.approx(2 / 2**0.5, rel=0.02)
    assert np.mean(widths) == pytest.approx(np.std(means), rel=0.1)


def test_networks_play_where_there_is_a_model_for_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folders that `krypenv train` writes."""
    shutil.copytree(str(agents.make(STRONG, TWO).models[0]), tmp_path / "runs" / "misere" / "low" / "model")
    monkeypatch.chdir(tmp_path)
    large = load("misere_large")
    assert list(large.players_of(TWO)) == ["tactician", "search", "network", "network with search"]
    assert list(large.players_of(dataclasses.replace(TWO, goal="high"))) == ["tactician", "search"]
    for spec in large.players_of(TWO).values():
        assert agents.make(spec, TWO).rules == TWO


def test_goals_are_compared_on_the_same_deals() -> None:
    large = load("misere_large")
    setup = Setup(TWO, "tactician", 4, sets=("mini-low",))
    for piece in large.pieces(setup):
        assert piece.setup == dataclasses.replace(
            setup, rules=dataclasses.replace(Rules.parse("mini-low"), goal=piece.goal), agent=piece.setup.agent
        )
    results = {task.key: task.function(**task.arguments) for task in large.tasks(setup) if "search" not in task.key}
    only = {"tactician": "tactician"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(large.answer.__globals__, "players_of", lambda rules: only)
        figures = large.answer(setup, results).figures
    found = figures[large.SWEEPS]["mini-low"]["tactician"]
    assert found["low - high"]["mean"] == pytest.approx(found["low"]["mean"] - found["high"]["mean"])
