"""The end of a large game, solved: against a minimax that shares no code, and against the solver of whole games."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from support.commands import krypenv

from krypenv import Game, Rules
from krypenv.cards import parse_card
from krypenv.training.solving import Bounds, Solved, Trees, grow_late, look, measure_late, solve, solve_late
from krypenv.training.solving.late import last_deals
from krypenv.training.solving.pairs import draw_ranges

LAST = """rules: krypkasino players=2; deal: 11; dealer: 1; turn: 0; hand 0: 2D 5H; hand 1: 5D 7S; table: TC KC 7H JS
aside: JC QC KC JD JS KS; sweeps: 1 5; last-capturer: 0; cannot-hold 1: T; stock: KH KD TH 5H 3S 8D TD 4S
captured 0: 2C 5C 6C 7C 7C 8C 2D 3D 4D 6D 6D 7D 8D 3H 3H 6H 6H 7H 8H 8H 3S 4S 5S 6S 6S 7S KS; captured 1: rest
"""


def at_deal(rules: Rules, number: int, seed: int) -> Game:
    """A game played at random up to the beginning of a deal."""
    game, random = Game(rules, seed=seed), np.random.default_rng(seed)
    while game.deal_number < number:
        game.push(random.choice([str(move) for move in game.legal_moves()]))
    return game


def minimax(game: Game, start: int) -> int:
    """The margin of seat 0 that is still to come, with open hands."""
    if game.is_over:
        return margin(game) - start
    found = []
    for move in game.legal_moves():
        after = game.copy()
        after.push(str(move))
        found.append(minimax(after, start))
    return max(found) if game.turn == 0 else min(found)


def margin(game: Game) -> int:
    """The lead of seat 0: in misère the other's points less its own."""
    own, other = game.scores()
    return other - own


@pytest.mark.parametrize("name", ["mini-hidden", "mini-count ranks=(1,2,3,4,5)"])
def test_the_deal_before_the_last_one_is_worth_what_the_solver_of_whole_games_says(name: str) -> None:
    rules = Rules.parse(name)
    whole, number = solve(rules), len(rules.deal_sizes()) - 1
    assert 0 <= whole.exploitability <= 1e-4
    roots, known = whole.trees.roots[number - 1], ("table", "seen", "set_aside", "last_capturer")
    for seed in range(3):
        game = at_deal(rules, number, seed)
        late = solve_late(game)
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
            values.append(minimax(dealt, margin(dealt)))
        states = np.array([game.state]).view(np.recarray)
        assert last_deals(rules, states, 1)[0] == pytest.approx(np.mean(values))


@pytest.fixture(scope="module")
def solved() -> Solved:
    """An equilibrium of the second half of a deal of the full game."""
    return solve_late(Game.from_position(LAST), threads=1, bounds=Bounds(samples=2))


def test_an_equilibrium_of_a_late_deal_of_the_full_game(solved: Solved) -> None:
    assert solved.exploitability <= 1e-4
    game = Game.from_position(LAST)
    found = look(solved, game, knows_plays=False)
    assert {each.move for each in found.moves} == {str(move) for move in game.legal_moves()}
    assert sum(each.probability for each in found.moves) == pytest.approx(1.0)
    best = max(each.margin for each in found.moves)
    assert all(each.margin > best - 0.01 for each in found.moves if each.probability > 0.01)
    believed = {each.hand: each.probability for each in found.beliefs}
    assert len(believed) == 28  # two of ten cards less two tens
    assert all(not card.startswith("T") for hand in believed for card in hand)  # it did not sweep with one (R10)
    assert len(set(np.round(list(believed.values()), 9))) == 1  # no kind is left twice, so all hands are alike


def after(game: Game, plays: int) -> Game:
    """A game after some first legal plays."""
    for _ in range(plays):
        game.push(str(game.legal_moves()[0]))
    return game


UNSEEN = ("5H", "5H", "2D", "5D", "7S", "KH", "KD", "TH", "3S", "8D", "TD", "4S")  # in LAST
KINDS = sorted(set(UNSEEN), key=parse_card)
Ways = Mapping[tuple[int, int], float]  # in how many each pair of packed hands is dealt


def packed(cards: Iterable[str]) -> int:
    """A hand in LAST, two bits for each kind that is not seen."""
    return sum(1 << 2 * KINDS.index(card) for card in cards)


@pytest.fixture(scope="module")
def ways() -> Ways:
    """The pairs of hands in LAST: two of twelve cards each, no tens for seat 1 (R10)."""
    found: Counter[tuple[int, int]] = Counter()
    for own in combinations(range(12), 2):
        for other in combinations(set(range(12)) - set(own), 2):
            if not any(UNSEEN[at].startswith("T") for at in other):
                found[packed(UNSEEN[at] for at in own), packed(UNSEEN[at] for at in other)] += 1
    return found


@pytest.mark.parametrize("bounds", [Bounds(samples=1), Bounds(5, 3, samples=1), Bounds(9, 1, responder=1, samples=1)])
def test_all_pairs_of_two_ranges_are_dealt_and_no_others(ways: Ways, bounds: Bounds) -> None:
    game = Game.from_position(LAST)
    forest = grow_late(game, bounds, 1).forests[0]
    found = dict(zip(map(tuple, forest.dealt.tolist()), forest.chance, strict=True))
    own, other = (set(hands.tolist()) for hands in draw_ranges(game.rules, game.state, bounds))
    if bounds.is_bounded:
        sizes = [1 if seat == bounds.responder else bounds.hands for seat in range(2)]
        assert [len(own), len(other)] == sizes
    expected = {pair: count for pair, count in ways.items() if pair[0] in own and pair[1] in other}
    assert bounds.is_bounded or expected == ways
    assert found == pytest.approx({pair: count / sum(expected.values()) for pair, count in expected.items()})


def chances(ways: Ways, seat: int) -> dict[int, float]:
    """How likely each hand of a seat is, if each pair of hands is dealt in so many ways."""
    found: Counter[int] = Counter()
    for pair, count in ways.items():
        found[pair[seat]] += count / sum(ways.values())
    return found


def test_ranges_grow_and_give_every_hand_its_chance(ways: Ways) -> None:
    """On average over ranges a hand is as likely as in the whole deal; larger ranges hold the smaller ones."""
    game, draws = Game.from_position(LAST), 300
    average = dict.fromkeys(ways, 0.0)
    for seed in range(draws):
        small, large = (draw_ranges(game.rules, game.state, Bounds(hands, seed)) for hands in (3, 6))
        assert all(set(few) < set(more) for few, more in zip(small, large, strict=True))
        pairs = set(product(small.own.tolist(), small.other.tolist())) & set(ways)
        for pair in pairs:
            average[pair] += ways[pair] / sum(ways[each] for each in pairs)
    for seat in range(2):
        found, expected = chances(average, seat), chances(ways, seat)
        worst = max(abs(found[hand] - expected[hand]) for hand in expected)
        assert worst < 5 * math.sqrt(max(expected.values()) / draws)


def test_the_seat_to_act_may_be_dealt_the_hand_that_it_has() -> None:
    game = Game.from_position(LAST)
    for seed in range(5):
        own, _ = draw_ranges(game.rules, game.state, Bounds(4, seed, known=0))
        assert packed(["2D", "5H"]) in own
    solved = solve_late(game, gap=0.01, threads=1, bounds=Bounds(8, known=0, samples=1))
    assert {each.move for each in look(solved, game, knows_plays=False).moves} == set(map(str, game.legal_moves()))


SPEC = "champion(worlds=0)"


def test_what_a_best_response_gains_with_each_own_hand_adds_up_to_exploitability() -> None:
    """Told its own hand only, and all hands that the other may hold, the responder knows no more than in the deal."""
    game = after(Game.from_position(LAST), 2)
    whole = grow_late(game, Bounds(samples=1), 1)
    exact, forest = gains_of(whole), whole.forests[0]
    for seat in range(2):
        hands, places = np.unique(forest.dealt[:, seat], return_inverse=True)
        gained: dict[int, float] = {}
        for seed in range(1000):
            bounds = Bounds(seed=seed, responder=seat, samples=1)
            hand = int(draw_ranges(game.rules, game.state, bounds)[seat][0])
            if hand not in gained:
                gained[hand] = gains_of(grow_late(game, bounds, 1))[seat]
            if len(gained) == len(hands):
                break
        likely = np.bincount(places, forest.chance).tolist()
        mean = sum(chance * gained[hand] for hand, chance in zip(hands.tolist(), likely, strict=True))
        assert mean == pytest.approx(exact[seat])
    assert max(exact) > 0


def gains_of(trees: Trees) -> tuple[float, float]:
    """What best responses gain on an agent in a tree, by seat."""
    return measure_late(SPEC, trees, threads=1, sees_plays=True).gains


def test_few_last_deals_estimate_the_mean_over_all_without_bias() -> None:
    rules = Rules.preset("mini-count")
    states = np.array([at_deal(rules, len(rules.deal_sizes()), seed).state for seed in range(200)]).view(np.recarray)
    exact, one, many = (last_deals(rules, states, 1, samples) for samples in (0, 1, 2000))
    assert np.abs(many - exact).mean() < 0.05 < 0.5 < np.abs(one - exact).mean()
    assert abs((one - exact).mean()) < 4 * (one - exact).std() / math.sqrt(len(states))


def test_what_cannot_be_solved_is_one_sentence() -> None:
    two, long = (Rules.parse(f"krypkasino players=2 {more}") for more in ("", "later_deal=((11,0),)"))
    whole, first = at_deal(two, 11, 0), at_deal(long, 4, 0)
    for game, bounds, reason in (
        (at_deal(two, 10, 0), Bounds(), "deal 10 of 12 is too early to be solved"),
        (whole, Bounds(), "at most 6 cards in both hands, and this position has 8; give a later one, or how many"),
        (after(at_deal(long, 4, 0), 16), Bounds(), "with 3 and 3 cards in hand and 28 unseen there are about 2"),
        (Game(Rules.preset(players=4), seed=0), Bounds(), "late deals are solved in games like Krypkasino for two"),
        (Game(Rules.preset("kasino-sweden", players=2), seed=0), Bounds(), "late deals are solved in games like Krypk"),
        (whole, Bounds(1000), r"with 4 and 4 cards in hand .* give a later position or fewer hands"),
        (first, Bounds(2), "at most 8 cards in both hands, and this position has 22"),
    ):
        with pytest.raises(ValueError, match=reason):
            grow_late(game, bounds)
    with pytest.raises(ValueError, match="hands and samples are 0, for all, or more, not -1 and 0"):
        Bounds(-1)


def test_the_command_shows_a_late_position(tmp_path: Path) -> None:
    path, last, small = tmp_path / "late.txt", tmp_path / "last.txt", tmp_path / "small.txt"
    path.write_text(LAST)
    last.write_text(at_deal(Rules.preset(players=2), 12, 0).position())
    small.write_text(Game(Rules.preset("mini-sweep"), seed=0).position())
    assert (
        "if all hands that the seats may hold count alike; the strategy"
        in krypenv("solve", "krypkasino", "--at", last).stdout
    )
    bounded = krypenv("solve", "krypkasino", "--at", path, "--gap", "0.01", "--hands", 6).stdout
    assert "count alike, restricted to 6 candidate hands of each seat; the strategy" in bounded
    assert "seat 0 in deal 11; hand 2D 5H" in bounded
    for arguments, reason in (
        (("krypkasino", "--at", path, "--out", tmp_path / "out"), "is solved from one position only"),
        (("krypkasino", "--hands", 6), "--hands bounds what the seats may hold at a position; give one with --at"),
        (("mini-sweep", "--at", small, "--hands", 6), "is solved as a whole, with all hands; leave out --hands"),
    ):
        assert reason in " ".join(krypenv("solve", *arguments).stderr.split())
    assert not (tmp_path / "out").exists()
