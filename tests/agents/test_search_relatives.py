"""Search where captures are optional and piles count: its moves and solutions beside play that tries everything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.beside import choose
from support.games import full_deck
from support.reference_relatives import Relative
from support.relatives import MIXTURES, RELATIVES, lay
from support.solving import Solver, as_kinds, futures

from krypenv import Game, Rules, agents
from krypenv.agents.search.horizon import majority_margin
from krypenv.agents.search.search import first_action
from krypenv.agents.search.solver import MAX_N, PARANOID
from krypenv.cards import NO_CARD, card_name
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.scoring import sweep_gain
from krypenv.runtime.jit import handle, kernel
from krypenv.state import allocate
from krypenv.training.evaluation.analysis import analyze_position, analyze_record

SMALL = 8  # cards on a table whose captures the tests list


def positions(rules: Rules, seed: int, style: str = "random") -> Iterator[tuple[Game, Relative]]:
    """A game and the reference of it at each decision of one way of play."""
    rng = np.random.default_rng(seed)
    deck = rng.permutation(full_deck(rules)).tolist()
    game, reference = Game(rules, deck=map(card_name, deck)), Relative(rules, deck)
    while not reference.over:
        yield game, reference
        action = choose(reference, rng, style)
        game.act(action)
        reference.act(action)


def margin(reference: Relative, side: int) -> float:
    """By how much a side's score is better than the mean of the others (K1)."""
    scores = reference.by_side(reference.scores())
    own = scores.pop(side)
    lead = sum(scores) / len(scores) - own
    return lead if reference.rules.goal == "low" else -lead


def solve(reference: Relative, side: int) -> float:
    """The margin of a side, which it raises and all others lower, by trying everything to the end of the deal."""
    values = [margin(twin, side) if is_end else solve(twin, side) for twin, is_end in futures(reference)]
    return max(values) if reference.turn % len(reference.by_side(reference.scores())) == side else min(values)


# ---------------------------------------------------------------------- moves


@pytest.mark.parametrize("text", [*RELATIVES, *MIXTURES])
def test_moves_are_legal_and_lead_where_the_game_goes(text: str) -> None:
    rules = {**RELATIVES, **MIXTURES}[text]
    solver, choices = Solver(rules), 0
    styles = ("random", "choose", "take") if text in RELATIVES else ("choose",)
    for seed, style in enumerate(styles):
        for game, reference in positions(rules, seed, style):
            if len(reference.table) > SMALL:
                continue
            legal = {move.kinds()[:2]: move for move in game.legal_moves()}
            listed = solver.moves(game)
            choices += len(listed) > 1
            assert len(set(listed)) == len(listed)
            assert set(listed) <= set(legal)
            assert {card for card, _ in listed} == {card for card, _ in legal}
            if rules.capture == "maximal":
                assert set(listed) == set(legal)
            for place, move in enumerate(listed):
                solver.check_made(game, place, legal[move])
    assert choices > 10


@kernel
def _act(compiled: np.ndarray, state: np.ndarray, masks: np.ndarray, at: int, work: np.ndarray) -> int:
    return first_action(compiled[0], state[0], work[0].moves[at], masks[0])


@pytest.mark.parametrize("text", RELATIVES)
def test_a_move_is_made_by_its_staged_actions(text: str) -> None:
    """Each move listed, taken up anywhere on its way, is carried out by the actions that lead to it."""
    rules = RELATIVES[text]
    solver, state, staged = Solver(rules), handle(allocate(1)), 0
    for game, reference in positions(rules, 5, "choose"):
        if len(reference.table) > SMALL:
            continue
        for at, (card, takes) in enumerate(solver.moves(game)):
            twin = game.copy()
            while len(twin.moves) == len(game.moves):
                state[0] = twin.state
                action = _act(solver.compiled, state, twin.action_mask()[None], at, solver.search_scratch)
                staged += twin.state["pending"] != NO_CARD
                twin.act(int(action))
            made = twin.moves[-1].kinds()
            assert made[:2] == (card, takes)
    assert staged > 20


# ---------------------------------------------------------------------- exactness

DEALS = "first_deal=((2,{}),) later_deal=((2,0),) short_last_deal=True"
LAST_DEALS = [
    f"{text} {DEALS.format(table)}"
    for table, text in (
        (4, "kasino-sweden players=2 ranks=(1,2,4,10)"),
        (4, "kasino-sweden players=2 ranks=(1,2,4,10) goal=low"),
        (4, "kasino-sweden players=2 ranks=(1,2,5,10,12) set_aside=spades"),
        (4, "overspader players=2 ranks=(1,2,3,10) spades_above=1"),
        (4, "overspader players=2 ranks=(1,2,3,10) spades_above=1 goal=low last_capture_points=0"),
        (4, "kasino-finland players=2 ranks=(1,2,4,10)"),
        (4, "kasino-finland players=2 ranks=(1,2,4,10) last_deal_sweeps=True sweep_limit=3"),
        (2, "kasino-finland players=2 ranks=(1,2,4,10) games=0 threshold=7 last_deal_sweeps=True"),
        (2, "kasino-finland players=2 ranks=(1,2,4,10) goal=low last_deal_sweeps=True"),
        (4, "mulle players=2 ranks=(1,2,10) suits=(2,3)"),
        (4, "mulle players=2 ranks=(1,2,10) suits=(2,3) goal=low"),
        (4, "mulle players=2 ranks=(2,4,10) suits=(1,3) double_sweep=identical mulle_points=0"),
        (4, "kasino-sweden players=2 ranks=(1,2,4,10) forced_sweep=True sweep_payer=seat_before"),
        (2, "kasino-sweden players=4 teams=2 ranks=(1,2,4,10)"),
    )
]


def late(text: str, seeds: int, cards: int = 4, table: int = 7) -> Iterator[tuple[Game, Relative]]:
    """Positions of the last deal with some choice, so many cards in all hands, and a table that is not large."""
    rules = Rules.parse(text)
    for seed in range(seeds):
        for game, reference in positions(rules, seed, ("random", "choose")[seed % 2]):
            held = sum(map(len, reference.hands))
            if not reference.stock and held <= cards and 1 < len(reference.table) <= table:
                yield game, reference


@pytest.mark.parametrize("text", LAST_DEALS)
def test_no_real_move_is_better_than_those_listed(text: str) -> None:
    """Alpha-beta over the moves listed comes to what all real moves come to, and so does each of its first moves.

    What is left out is no better than a move listed of the same card that takes the same ranks.
    """
    solver, left_out, varied = Solver(Rules.parse(text)), 0, 0
    for game, reference in late(text, 8):
        if len(reference.legal_moves()) < 2:
            continue
        side = reference.turn % reference.rules.num_teams
        real = {
            move[:2]: margin(twin, side) if is_end else solve(twin, side)
            for move, (twin, is_end) in zip(reference.legal_moves(), futures(reference), strict=True)
        }
        listed = solver.moves(game)
        assert solver.value(game, side) == pytest.approx(max(real.values()), abs=1e-9)
        best: dict[tuple[int, tuple[int, ...]], float] = {}
        for card, takes in listed:
            ranks = card, tuple(sorted(kind % 13 for kind in takes))
            best[ranks] = max(best.get(ranks, -np.inf), real[card, takes])
        for card, takes in real:
            assert real[card, takes] <= best[card, tuple(sorted(kind % 13 for kind in takes))] + 1e-9
        left_out += len(real) - len(listed)
        varied += len(set(real.values())) > 1
    assert varied > 5
    assert left_out > 0 or "suits" in text or "forced" in text


@pytest.mark.parametrize("text", [text for text in LAST_DEALS if Rules.parse(text).players == 2])  # no hand is hidden
def test_the_last_deal_of_two_players_is_played_exactly(text: str) -> None:
    rules = Rules.parse(text)
    search, solved = agents.make("search(worlds=3)", rules, 1), 0
    for game, reference in late(text, 8):
        seen, mask = game.observation(), game.action_mask()
        if mask.sum() < 2:
            continue
        moves, margins = search.examine(seen, mask)
        assert len(margins) == 1
        real = {
            move[:2]: margin(twin, reference.turn) if is_end else solve(twin, reference.turn)
            for move, (twin, is_end) in zip(reference.legal_moves(), futures(reference), strict=True)
        }
        for move, value in zip(as_kinds(moves), margins[0], strict=True):
            assert value == pytest.approx(real[move], abs=1e-9)
        twin = reference.copy()
        twin.act(int(search.act(seen[None], mask[None])[0]))
        reached = margin(twin, reference.turn) if twin.over else solve(twin, reference.turn)
        assert reached == pytest.approx(max(real.values()), abs=1e-9)
        solved += 1
    assert solved > 5


@pytest.mark.parametrize("text", ["kasino-sweden", "overspader", "kasino-finland", "mulle"])
def test_what_is_remembered_of_a_position_holds_wherever_it_is_met_again(text: str) -> None:
    """Alpha-beta remembers positions, max^n none: with two sides they come to the same, majorities included."""
    rules = Rules.parse(f"{text} players=2")
    solver, count = Solver(rules, "sweep"), 0
    for seed in range(6):
        for game, reference in positions(rules, seed, "take"):
            if 3 < sum(map(len, reference.hands)) < 6 and reference.pending is None and len(reference.table) < 6:
                assert solver.values(game, PARANOID) == pytest.approx(solver.values(game, MAX_N), abs=1e-9)
                count += 1
    assert count > 20


# ---------------------------------------------------------------------- what is left out


@pytest.mark.parametrize("goal", ["high", "low"])
def test_of_many_captures_the_best_and_a_sweep_are_kept(goal: str) -> None:
    """An ace takes any union of groups of fourteen, or any aces: the best by points are kept, nothing, and a sweep."""
    table = "AC AD 2S 3C 5D 9H TD 4S"
    game = lay(f"kasino-sweden players=2 goal={goal}", table, "AS", "KD")
    solver = Solver(game.rules)
    every = solver.moves(game)
    assert not solver.search_scratch["is_cut"][0]
    assert len(every) > 10
    solver.search_scratch["keep"] = 3
    kept = solver.moves(game)
    assert solver.search_scratch["is_cut"][0]
    assert len(kept) == 4
    assert set(kept) <= set(every)
    assert any(takes == () for _, takes in kept)

    def gain(takes: tuple[int, ...]) -> float:
        """Points, and a fair share of the majorities: two points for 13 spades, each one of 26 cards that decide."""
        points = sum({9 + 13: 2, 1 + 39: 1}.get(kind, kind % 13 == 0) for kind in takes)
        worth = points + 4 / 13 * sum(kind >= 39 for kind in takes) + 2 / 52 * len(takes)
        return worth if goal == "high" else -worth

    is_sweep = {takes for _, takes in every if len(takes) == 8}
    left_out = [takes for card, takes in every if takes and (card, takes) not in kept]
    chosen = [takes for _, takes in kept if takes and takes not in is_sweep]
    assert is_sweep <= {takes for _, takes in kept}
    assert min(map(gain, chosen)) >= max(map(gain, left_out)) - 0.002  # costs are in thousandths


# ---------------------------------------------------------------------- leaf values


@kernel
def _expect(compiled: np.ndarray, state: np.ndarray, side: int) -> float:
    return majority_margin(compiled[0], state[0], side)


@kernel
def _gain(compiled: np.ndarray, sweeper: int, side: int) -> float:
    return sweep_gain(compiled[0], sweeper, side)


def expected(rules: str, spades: list[int], cards: list[int], side: int = 0) -> float:
    """What a side can expect of majorities with these piles."""
    state = allocate(1)
    state.spades_won[0, : len(spades)], state.cards_won[0, : len(cards)] = spades, cards
    return float(_expect(compile_rules(Rules.parse(rules)), handle(state), side))


def test_k5_a_majority_that_is_decided_counts_fully_or_not_at_all() -> None:
    sweden = "kasino-sweden players=2"
    assert expected(sweden, [7, 2], [20, 20]) == pytest.approx(2)  # most spades, two points; cards are open and even
    assert expected(sweden, [7, 2], [20, 20], 1) == pytest.approx(-2)
    assert expected(sweden, [6, 7], [27, 20]) == pytest.approx(-2 + 1)
    assert expected(sweden, [6, 7], [26, 26]) == pytest.approx(-2)  # a tie: nobody
    assert expected(f"{sweden} goal=low", [6, 7], [27, 20]) == pytest.approx(2 - 1)
    assert expected("overspader players=2", [9, 4], [26, 26]) == pytest.approx(3)  # O1
    assert expected("kasino-finland players=3", [7, 3, 3], [20, 10, 10]) == pytest.approx(
        2 + expected("kasino-finland players=3 most_spades_points=0", [7, 3, 3], [20, 10, 10])
    )


def test_who_is_ahead_expects_more_and_never_more_than_there_is() -> None:
    for rules, most in (("kasino-sweden players=2", 3), ("kasino-finland players=2", 3), ("mulle players=2", 1)):
        values = [expected(rules, [3 + lead, 3], [10 + 2 * lead, 10]) for lead in range(5)]
        assert values[0] == pytest.approx(0)
        assert values == sorted(set(values))
        assert values[-1] < most


@pytest.mark.parametrize(
    ("rules", "gains"),
    [
        ("kasino-sweden players=2", [1, -1]),
        ("kasino-sweden players=2 goal=low", [-1, 1]),
        ("kasino-sweden players=3", [1, -0.5, -0.5]),
        ("kasino-sweden players=4 teams=2 sweep_points=3", [3, -3]),
    ],
)
def test_k3_a_sweep_is_worth_its_points_where_nobody_pays(rules: str, gains: list[float]) -> None:
    compiled, sides = compile_rules(Rules.parse(rules)), len(gains)
    for sweeper in range(Rules.parse(rules).players):
        assert [_gain(compiled, sweeper, (sweeper + place) % sides) for place in range(sides)] == pytest.approx(gains)


# ---------------------------------------------------------------------- analysis


def test_an_analysis_holds_the_move_that_was_played_and_says_what_it_looked_at() -> None:
    game = lay("kasino-sweden players=2", "8C 8H TD TS 4C", "8D", "KD")
    game.push("8Dx8H")
    record = analyze_record(game)
    (play,) = record.plays
    assert play.legal == 4  # nothing, either eight, both
    assert play.played.move == "8Dx8H"
    assert {value.move for value in play.moves} == {"8D", "8Dx8C", "8Dx8H", "8Dx8C8H"}
    assert len({value.margin.mean for value in play.moves if len(value.move) == 5}) == 1
    game.pop()
    position = analyze_position(game)
    assert {value.move for value in position.moves} == {"8D", "8Dx8C", "8Dx8C8H"}
    assert (position.legal, position.was_cut, position.worlds) == (4, False, 1)
    # both eights, then the king is the last card, and all the rest belongs to the last capture
    assert position.best.move == "8Dx8C8H"
    assert position.best.margin.mean == max(solve_game(game, move) for move in map(str, game.legal_moves()))


def solve_game(game: Game, move: str) -> int:
    """The margin of seat 0 after a move and the only reply, by trying both."""
    twin = game.copy()
    twin.push(move)
    replies = []
    for reply in twin.legal_moves():
        twin.push(reply)
        scores = twin.scores()
        replies.append(scores[0] - scores[1])
        twin.pop()
    return min(replies)


def test_the_chance_of_a_sweep_is_that_of_a_card_that_can() -> None:
    game = lay("kasino-sweden players=2", "3C", "5D 9D", "8H 2H")
    chances = {value.move: value.sets_up for value in analyze_position(game).moves}
    assert chances == {"5D": 1, "9D": 0}  # the other hand is known: 3 + 5 make eight
