"""The end of a large game, solved: against a minimax, and the solver of whole games; and the agent that solves it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from support.commands import krypenv
from support.games import best_margin

from krypenv import Game, Rules, agents
from krypenv.agents.champion import make_champion
from krypenv.cards import parse_card
from krypenv.training import solving
from krypenv.training.solving import Bounds, Equilibrium
from krypenv.training.solving.late import last_deals
from krypenv.training.solving.pairs import draw_ranges

LAST = """rules: krypkasino players=2; deal: 11; dealer: 1; turn: 0; hand 0: 2D 5H; hand 1: 5D 7S; table: TC KC 7H JS
aside: JC QC KC JD JS KS; sweeps: 1 5; last-capturer: 0; cannot-hold 1: T; stock: KH KD TH 5H 3S 8D TD 4S
captured 0: 2C 5C 6C 7C 7C 8C 2D 3D 4D 6D 6D 7D 8D 3H 3H 6H 6H 7H 8H 8H 3S 4S 5S 6S 6S 7S KS; captured 1: rest
"""

TWO, HIDDEN = Rules.preset("krypkasino", players=2), Rules.preset("mini-hidden")


def at_deal(rules: Rules, number: int, seed: int) -> Game:
    """A game played at random up to the beginning of a deal."""
    game, random = Game(rules, seed=seed), np.random.default_rng(seed)
    while game.deal_number < number:
        game.push(random.choice([str(move) for move in game.legal_moves()]))
    return game


@pytest.mark.parametrize("name", ["mini-hidden", "mini-count ranks=(1,2,3,4,5)"])
def test_the_deal_before_the_last_one_is_worth_what_the_solver_of_whole_games_says(name: str) -> None:
    rules = Rules.parse(name)
    whole, number = solving.solve(rules), len(rules.deal_sizes()) - 1
    assert 0 <= whole.exploitability <= 1e-4
    roots, known = whole.trees.roots[number - 1], ("table", "seen", "set_aside", "last_capturer")
    for seed in range(3):
        game = at_deal(rules, number, seed)
        late = solving.solve_late(game)
        same = np.logical_and.reduce(
            [(roots[name] == game.state[name]).reshape(len(roots), -1).all(1) for name in known]
        )
        assert same.any()
        assert whole.solutions[number - 1].values[same] == pytest.approx(late.value, abs=2e-4)


def test_a_last_deal_is_worth_the_mean_of_minimax_over_all_hands() -> None:
    rules = Rules.preset("mini-count")
    number = len(rules.deal_sizes())
    for seed in range(4):
        game = at_deal(rules, number, seed)
        unseen = sorted(game.hand(0) + game.hand(1))
        values = []
        for own in combinations(range(len(unseen)), len(game.hand(0))):
            text = game.position().splitlines()
            hands = [[card for at, card in enumerate(unseen) if (at in own) == (seat == 0)] for seat in range(2)]
            lines = [line for line in text if not line.startswith("hand ")]
            lines += [f"hand {seat}: {' '.join(hands[seat])}" for seat in range(2)]
            dealt = Game.from_position("\n".join(lines))
            own_score, other = dealt.scores()
            values.append(best_margin(dealt, 0) - (other - own_score))
        states = np.array([game.state]).view(np.recarray)
        assert last_deals(rules, states, 1)[0] == pytest.approx(np.mean(values))


UNSEEN = ("5H", "5H", "2D", "5D", "7S", "KH", "KD", "TH", "3S", "8D", "TD", "4S")  # in LAST
KINDS = sorted(set(UNSEEN), key=parse_card)


def packed(cards: Iterable[str]) -> int:
    """A hand in LAST, two bits for each kind that is not seen."""
    return sum(1 << 2 * KINDS.index(card) for card in cards)


def ways() -> Counter[tuple[int, int]]:
    """The pairs of hands in LAST: two of twelve cards each, no tens for seat 1 (R10)."""
    found: Counter[tuple[int, int]] = Counter()
    for own in combinations(range(12), 2):
        for other in combinations(set(range(12)) - set(own), 2):
            if not any(UNSEEN[at].startswith("T") for at in other):
                found[packed(UNSEEN[at] for at in own), packed(UNSEEN[at] for at in other)] += 1
    return found


@pytest.mark.parametrize("bounds", [Bounds(samples=1), Bounds(5, 3, samples=1), Bounds(9, 1, responder=1, samples=1)])
def test_all_pairs_of_two_ranges_are_dealt_and_no_others(bounds: Bounds) -> None:
    game = Game.from_position(LAST)
    forest = solving.grow_late(game, bounds, 1).forests[0]
    found = dict(zip(map(tuple, forest.dealt.tolist()), forest.chance, strict=True))
    own, other = (set(hands.tolist()) for hands in draw_ranges(game.rules, game.state, bounds))
    if bounds.is_bounded:
        sizes = [1 if seat == bounds.responder else bounds.hands for seat in range(2)]
        assert [len(own), len(other)] == sizes
    expected = {pair: count for pair, count in ways().items() if pair[0] in own and pair[1] in other}
    assert bounds.is_bounded or expected == ways()
    assert found == pytest.approx({pair: count / sum(expected.values()) for pair, count in expected.items()})


def test_few_last_deals_estimate_the_mean_over_all_without_bias() -> None:
    rules = Rules.preset("mini-count")
    states = np.array([at_deal(rules, len(rules.deal_sizes()), seed).state for seed in range(200)]).view(np.recarray)
    exact, one, many = (last_deals(rules, states, 1, samples) for samples in (0, 1, 2000))
    assert np.abs(many - exact).mean() < 0.05 < 0.5 < np.abs(one - exact).mean()
    assert abs((one - exact).mean()) < 4 * (one - exact).std() / math.sqrt(len(states))


def test_what_cannot_be_solved_is_one_sentence() -> None:
    for rules, deal, bounds, reason in (
        ("", 10, Bounds(), "deal 10 of 12 is too early to be solved"),
        ("", 11, Bounds(), "at most 6 cards in both hands, and this position has 8; give a later one, or how many"),
        ("", 11, Bounds(1000), "with 4 and 4 cards in hand .* give a later position or fewer hands"),
        ("later_deal=((11,0),)", 4, Bounds(2), "at most 8 cards in both hands, and this position has 22"),
        ("players=4", 1, Bounds(), "late deals are solved in games like Krypkasino for two"),
    ):
        with pytest.raises(ValueError, match=reason):
            solving.grow_late(at_deal(Rules.parse(f"krypkasino {rules}"), deal, 0), bounds)


def test_the_command_shows_a_late_position(tmp_path: Path) -> None:
    path = tmp_path / "late.txt"
    path.write_text(LAST)
    bounded = krypenv("solve", "krypkasino", "--at", path, "--gap", "0.01", "--hands", 6).stdout
    assert "count alike, restricted to 6 candidate hands of each seat; the strategy" in bounded
    assert "seat 0 in deal 11; hand 2D 5H" in bounded


# ---------------------------------------------------------------------- the agent


def decision(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """The observation of the seat to act, and its mask, as one row each."""
    return game.observation(history=True)[None], game.action_mask()[None]


def test_other_decisions_of_the_agent_are_those_of_champion_and_all_follow_from_the_seed() -> None:
    game = Game(TWO, seed=3)
    assert Equilibrium(TWO, 5).act(*decision(game)) == make_champion(TWO, 5).act(*decision(game))
    game = Game(HIDDEN, seed=1)
    first, again = (Equilibrium(HIDDEN, 7, hands=8).act(*decision(game)) for _ in range(2))
    assert first == again


@pytest.mark.parametrize(
    ("text", "hands"), [("krypkasino", 1), ("krypkasino", 4), ("mini-low", 2), ("mini-double", 2), ("mini-copies", 2)]
)
def test_whole_late_deals_are_played_with_few_hands_whether_or_not_the_plays_are_known(text: str, hands: int) -> None:
    """Some of the other seat's hands agree with all that is known, so every decision is one of the solved game."""
    rules = Rules.parse(text)
    game, random = at_deal(rules, len(rules.deal_sizes()) - 1, 1), np.random.default_rng(1)
    agent, number = Equilibrium(rules, 1, hands=hands, samples=1, iterations=3), game.deal_number
    while game.deal_number == number:
        alone = Game.from_position(game.position()).observation(history=True)
        for seen in (game.observation(), alone, game.observation(history=True)):
            action = int(agent.act(seen[None], game.action_mask()[None])[0])
            assert action in game.legal_actions()
        game.act(action if game.turn == 0 else int(random.choice(game.legal_actions())))


def test_what_the_agent_cannot_do_is_one_sentence() -> None:
    for options, rules, sentence in (
        ("hands=0", "mini-hidden", "hands and iterations are 1 or more, and samples 0 or more, not 0, 200 and 4"),
        ("", "kasino-finland players=2", "late deals are solved in games like Krypkasino for two, not in"),
        ("", "krypkasino later_deal=((11,0),)", "late deals are solved with at most 8 cards in both hands"),
    ):
        with pytest.raises(ValueError, match=sentence):
            agents.make(agents.typed(f"krypenv.training.solving:Equilibrium({options})"), Rules.parse(rules))


def test_it_plays_a_whole_small_game_perfectly() -> None:
    rules = Rules.preset("mini-copies")
    trees = solving.grow_for_agents(rules)
    perfect, search = (
        solving.measure(each, rules, 1, 1, trees) for each in (Equilibrium(rules, hands=500, samples=0), "search")
    )
    assert 0 <= perfect.exploitability < 0.002 < 0.05 < search.exploitability
