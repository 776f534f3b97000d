"""The end of a large game, solved: against a minimax that shares no code, and against the solver of whole games."""

from __future__ import annotations

import math
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from support.commands import krypenv

from krypenv import Game, Rules
from krypenv.cards import NO_CARD
from krypenv.runtime.jit import handle, records
from krypenv.state import GAME
from krypenv.training.research.exact.deal_tree import play_code
from krypenv.training.research.exact.late import grow_late, last_deals, solve_late
from krypenv.training.research.exact.looking import look
from krypenv.training.research.exact.solving import Solved, solve

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


@pytest.mark.parametrize("preset", ["mini-hidden", "mini-count"])
def test_the_deal_before_the_last_one_is_worth_what_the_solver_of_whole_games_says(preset: str) -> None:
    rules = Rules.preset(preset)
    whole, number = solve(rules, gap=1e-5), len(rules.deal_sizes()) - 1
    roots = whole.trees.roots[number - 1]
    compared = 0
    for seed in range(6):
        game = at_deal(rules, number, seed)
        late = solve_late(game, gap=1e-5)
        same = [
            at for at, root in enumerate(roots)
            if all((root[name] == game.state[name]).all() for name in ("table", "seen", "set_aside", "last_capturer"))
        ]  # fmt: skip
        for at in same:
            assert late.value == pytest.approx(float(whole.solutions[number - 1].values[at]), abs=1e-4)
        compared += len(same) > 0
    assert compared == 6


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
    return solve_late(Game.from_position(LAST), threads=1)


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


def test_the_last_deal_is_solved_with_full_hands() -> None:
    """All eight cards that are left are in both hands."""
    trees = grow_late(at_deal(Rules.preset("krypkasino", players=2), 12, 0))
    assert 1 < len(trees.forests[0].first) <= math.comb(8, 4)
    assert len(trees.ending) == 0


def test_what_cannot_be_solved_is_one_sentence() -> None:
    two, long = (Rules.parse(f"krypkasino players=2 {more}") for more in ("", "later_deal=((11,0),)"))
    for game, reason in (
        (at_deal(two, 10, 0), "deal 10 of 12 is too early to be solved"),
        (at_deal(two, 11, 0), "at most 6 cards in both hands, and this position has 8; give a later one"),
        (after(at_deal(two, 11, 0), 1), "at most 6 cards in both hands, and this position has 7"),
        (after(at_deal(long, 4, 0), 16), "with 3 and 3 cards in hand and 28 unseen there are about 2"),
        (Game(Rules.preset("krypkasino", players=4), seed=0), "late deals are solved in games like Krypkasino for two"),
        (Game(Rules.preset("kasino-sweden", players=2), seed=0), "late deals are solved in games like Krypkasino"),
    ):
        with pytest.raises(ValueError, match=reason):
            grow_late(game)


def test_the_command_shows_a_late_position(tmp_path: Path) -> None:
    path = tmp_path / "late.txt"
    path.write_text(LAST)
    done = krypenv("solve", "krypkasino", "--at", path, "--gap", "0.01")
    assert "From here on seat 0 can expect +2.0" in done.stdout
    assert "seat 0 in deal 11; hand 2D 5H" in done.stdout
    refused = krypenv("solve", "krypkasino", "--at", path, "--out", tmp_path / "out")
    assert refused.exit_code != 0
    assert "is solved from one position only" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_all_plays_are_told_apart_the_ace_of_clubs_included() -> None:
    """A public history is known by hashes of its plays: of the card, of what it took, and whether it goes on taking."""
    kinds, codes = (0, 4, 7, 8, 39, 43, 46, 47), set()
    for card, is_pending, count in product(kinds, (False, True), range(4)):
        for taken in combinations([kind for kind in kinds if kind != card], count):
            game = records(GAME, 1)
            game.pending, game.last_card = card if is_pending else NO_CARD, card
            game.taken[0, list(taken)] = 1
            codes.add(play_code(handle(game)[0]))
    assert len(codes) == len(kinds) * 2 * sum(math.comb(len(kinds) - 1, count) for count in range(4))
