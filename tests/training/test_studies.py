"""What the scripts of studies count, by games played one by one, how their players play, and what they conclude."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.sampled import STRONG, TWO, points_of, positions, table_of
from support.scripts import load

from krypenv import Game, Rules, agents
from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.observation import LAYOUT
from krypenv.training import deal_seeds
from krypenv.training.lab import Setup

FOUR = Rules.preset("krypkasino", players=4)
LOW = agents.typed("support.arenas:Lowest")  # plays without chance


class Played(NamedTuple):
    """A game that is over, and what was seen before its plays."""

    game: Game
    opening: int  # sweeps that open a deal
    tables: list[list[int]]  # single cards and larger tables left to the next play in a deal, and those that it swept
    capturer: int | None  # the last capturer, eight cards before the end
    last: list[str]  # the cards that are left for the last play
    moves: list[int]  # legal moves, by play


def played(rules: Rules, agent: str, seed: int, deals: int) -> list[Played]:
    """Play games of an agent in every seat, one by one; the last play leaves no table to the next one."""
    player, found = agents.make(agent, rules), []
    for start in deal_seeds(seed, deals).tolist():
        game, number, opening, capturer = Game(rules, seed=start), 0, 0, None
        tables, moves = np.zeros((2, 2), int), list[int]()
        while not game.is_over:
            if game.pending is None:
                is_fresh, number, lying = game.deal_number != number, game.deal_number, len(game.table)
                hands = [game.hand(seat) for seat in range(rules.players)]
                capturer = game.last_capturer if game.stock_size + sum(map(len, hands)) == 8 else capturer
                last = [*game.set_aside, *game.table, *game.hand(game.turn)]
                moves.append(len(game.legal_moves()))
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
            if game.is_over or game.pending is None:
                opening += is_fresh * game.moves[-1].sweep
                if lying and not (is_fresh or game.is_over):
                    tables[min(lying, 2) - 1] += 1, game.moves[-1].sweep > 0
        found.append(Played(game, opening, tables.tolist(), capturer, last, moves))
    return found


@pytest.mark.parametrize("rules", [TWO, FOUR])
def test_lead_counts_scores_and_the_sweeps_that_open_a_deal(rules: Rules) -> None:
    """The first play of each deal is the leader's, and its sweeps are credited to the dealer, the last seat (R12)."""
    lead = load("lead")
    found = lead.play_deals(str(rules), STRONG, 0, 6, 4)
    games = played(rules, STRONG, 4, 6)
    assert found == [[*each.game.scores(), each.opening] for each in games]
    assert sum(each.opening for each in games) > 0
    figures = lead.answer(Setup(rules, STRONG, 6, 4), {"deals 0": found}).figures
    over = np.mean([each.game.scores()[-1] - each.game.scores()[0] for each in games])  # fewer points are better
    assert figures["the leader over the dealer"]["mean"] == pytest.approx(over)
    assert figures["the leader"]["mean"] - figures["the dealer"]["mean"] == pytest.approx(over)
    opening = np.mean([each.opening for each in games])
    assert figures["credited to the dealer by R12"]["mean"] == pytest.approx(5 * opening)


@pytest.mark.parametrize("text", ["krypkasino", "mini-high", "mini-last goal=high"])
def test_compare_and_misere_large_count_points(text: str) -> None:
    rules = Rules.parse(text)
    found = np.array(load("compare").count_points(text, LOW, 1, 12, 3))
    for each, (cards, moved, further, lead) in zip(played(rules, LOW, 3, 13)[1:], found, strict=True):
        game, scores = each.game, each.game.scores()
        assert cards == game.points(0) + game.points(1)
        assert moved == rules.sweep_points * sum(game.counted_sweeps(seat) for seat in (0, 1))
        assert further == sum(scores) - cards - (moved if rules.sweep_payer == "nobody" else 0)
        assert lead == (scores[1] - scores[0] if rules.goal == "low" else scores[0] - scores[1])
    assert found[:, 1].any()
    assert load("misere_large").play_alone(text, LOW, 1, 12, 3) == found[:, [3, 1]].tolist()


def test_compare_counts_moves() -> None:
    found = load("compare").count_moves("mini-choice", LOW, 0, 3, 5)
    counts = [np.array(each.moves) for each in played(Rules.parse("mini-choice"), LOW, 5, 3)]
    assert found == [[pytest.approx(each.mean()), pytest.approx((each > 1).mean())] for each in counts]


class TestAdvice:
    advice = load("advice")

    def test_what_is_counted(self) -> None:
        """What sweeps move and open a deal with, what the last capture takes in, and tables that are swept at once."""
        for counted, each in zip(self.advice.count(str(TWO), STRONG, 0, 4, 2), played(TWO, STRONG, 2, 4), strict=True):
            assert counted["lead"] == each.game.scores()[1] - each.game.scores()[0]  # fewer points are better
            assert counted["moved"] == 5 * (each.game.sweeps(0) + each.game.sweeps(1))
            assert counted["opening"] == 5 * each.opening
            assert counted["tables"] == each.tables
            assert counted["taken"] == sum(map(points_of, each.last))
            if counted["taken"]:
                assert counted["stays"] == 100 * (each.capturer == each.game.last_capturer)

    def test_advice_holds_for_those_who_lose_by_the_other_way(self) -> None:
        """And the opposite of what was measured is no support; memories are asked of the network alone."""
        worse, setup, random = "set up no sweep", Setup(TWO, STRONG, 40), np.random.default_rng(0)
        game, results = self.advice.count(str(TWO), "greedy", 0, 1, 0)[0], dict[str, Any]()
        names = {own.agent: name for name, own in self.advice.setups_of(setup).items()}
        for task in self.advice.tasks(setup):
            name, what = task.key.rsplit(" ", 1)[0].split(": ", 1)
            assert names[task.arguments["agent"]] == name
            around = {"tactician": -5.0, "champion": -5.0, "search": 5.0}.get(name, 0.0) if what == worse else 0.0
            noise = random.normal(around, 1.0, task.arguments["deals"]).tolist()
            results[task.key] = [{**game, "lead": lead} for lead in noise] if what == "games" else noise
        found = self.advice.answer(setup, results).figures["statements"]
        for each in self.advice.STATEMENTS:
            asks, of = {each.does, each.rather} & self.advice.CHANGES.keys(), found[each.words]
            assert set(of) == ({"network"} if asks else set(self.advice.PLAYERS))
            holds = ["tactician", "champion"] if each.rather == worse else []
            assert [name for name, effect in of.items() if effect["holds"]] == holds
            if holds:
                assert of["champion"]["mean"] == pytest.approx(5.0, abs=0.5)
                assert of["search"]["p"] < 0.001


def test_compare_tells_margins_in_the_luck_of_a_game() -> None:
    compare = load("compare")
    setup = Setup(TWO, "tactician", 20, sets=("mini-low", "mini-high"))
    results: dict[str, Any] = {}
    for task in compare.tasks(setup):
        deals, (what, _) = task.arguments["deals"], task.key.split(": ", 1)[1].rsplit(" ", 1)
        lead = 4.0 * np.resize([1, -1], deals)  # a standard deviation of 4 points
        games = np.column_stack([*np.ones((3, deals)), lead]).tolist()
        results[task.key] = {"games": games, "moves": [[3.0, 0.5]] * deals}.get(what, [2.0, 4.0] * (deals // 2))
    for found in compare.answer(setup, results).figures.values():
        assert found[compare.LUCK]["mean"] == pytest.approx(4)
        assert found[compare.HIDDEN]["mean"] == pytest.approx(3 / 4)
        assert found[compare.SKILL]["mean"] == pytest.approx(3 * 3 / 4)


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


def test_goals_are_compared_on_the_same_deals(monkeypatch: pytest.MonkeyPatch) -> None:
    large, setup = load("misere_large"), Setup(TWO, "tactician", 4, sets=("mini-low",))
    monkeypatch.setitem(large.answer.__globals__, "players_of", lambda rules: {"tactician": "tactician"})
    for piece in large.pieces(setup):
        rules = dataclasses.replace(Rules.parse("mini-low"), goal=piece.goal)
        assert piece.setup == dataclasses.replace(setup, rules=rules)
    results = {task.key: task.function(**task.arguments) for task in large.tasks(setup)}
    found = large.answer(setup, results).figures[large.SWEEPS]["mini-low"]["tactician"]
    assert found["low - high"]["mean"] == pytest.approx(found["low"]["mean"] - found["high"]["mean"])


def test_late_measures_what_agents_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer cards, agents and hands; an equilibrium wins no more than a best response."""
    late = load("late")
    small = {
        "FEW": 2, "MORE": 3, "WHOLE": 4, "RARER": 2, "HANDS": (2, 0), "SAMPLES": 1, "SMALL": "mini-sweep",
        "ASKED": {"greedy": 1, "tactician": 1}, "COMPARED": ("greedy",), "MOST_HANDS": {"tactician": 2},
    }  # fmt: skip
    for name, value in small.items():
        monkeypatch.setitem(late.tasks.__globals__, name, value)
    setup = Setup(TWO, "greedy", 2)
    figures = late.answer(setup, {task.key: task.function(**task.arguments) for task in late.tasks(setup)}).figures
    for name in ("greedy", "tactician"):
        lost, best = (figures[f"{what}, 2 cards, {name}"]["mean"] for what in (late.LOST, late.BEST))
        assert -1e-6 < lost <= best + 1e-6
    told = figures["bounds"][f"{late.BOUND}, 2 cards, all hands, greedy"]["mean"]
    assert told == pytest.approx(figures[f"{late.BEST}, 2 cards, greedy"]["mean"])
    assert figures["mini-sweep"] == pytest.approx({late.RESOLVED: 0, "search": 0}, abs=0.01)


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
