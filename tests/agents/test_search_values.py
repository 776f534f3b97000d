"""What searches find positions worth: what exhaustive play of the game finds, and fair shares of what is to come."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from support.games import full_deck, small_first
from support.positions import walk
from support.solving import Depth, after_moves, is_near, margins, way

from krypenv import Game, Move, Rules, agents
from krypenv.agents.moves.record import as_move
from krypenv.agents.search.horizon import expect_margins
from krypenv.cards import TAKE, card_name, parse_card
from krypenv.state import allocate

SHORT = "later_deal=((2,0),) short_last_deal=True"
DEALS = {  # rules -> most cards in all hands together
    "mini-low players=2": 4,
    "mini-hidden players=2": 4,
    "mini-high players=2": 4,
    "mini-high players=3": 4,
    "mini-double players=3 first_deal=((2,2),) later_deal=((2,0),)": 6,
    "mini-double players=4 teams=2": 6,
    "krypkasino players=2": 5,
    "krypkasino players=2 goal=high last_capture_points=1 set_aside=spades": 4,
    "krypkasino players=6 teams=2 first_deal=((2,8),) later_deal=((2,0),)": 8,
    "krypkasino players=6 teams=3 first_deal=((2,8),) later_deal=((2,0),)": 8,
    "howto players=2 forced_sweep=False": 4,
    "howto players=3": 5,
    **{
        f"{text} first_deal=((2,{table}),) {SHORT}": 4
        for table, text in (
            (4, "kasino-sweden players=2 ranks=(1,2,4,10)"),
            (4, "kasino-sweden players=2 ranks=(1,2,5,10,12) set_aside=spades goal=low"),
            (2, "kasino-sweden players=4 teams=2 ranks=(1,2,4,10)"),
            (4, "kasino-sweden players=2 ranks=(1,2,4,10) forced_sweep=True sweep_payer=seat_before"),
            (4, "overspader players=2 ranks=(1,2,3,10) spades_above=1"),
            (4, "overspader players=2 ranks=(1,2,3,10) spades_above=1 goal=low last_capture_points=0"),
            (4, "kasino-finland players=2 ranks=(1,2,4,10) last_deal_sweeps=True sweep_limit=3"),
            (2, "kasino-finland players=2 ranks=(1,2,4,10) games=0 threshold=7 last_deal_sweeps=True"),
            (4, "mulle players=2 ranks=(1,2,10) suits=(2,3)"),
            (4, "mulle players=2 ranks=(2,4,10) suits=(1,3) double_sweep=identical mulle_points=0 goal=low"),
            (2, "mulle-glimne players=2 ranks=(1,2,3,4,5) suits=(1,3)"),
            (2, "kasino-finland players=2 ranks=(1,2,3,5) building=True"),
        )
    },
}  # fmt: skip


def positions(rules: Rules, seeds: int, held: range, is_last: bool = True) -> Iterator[Game]:
    """Positions with a choice and so many cards in all hands, of the last deal or of others."""
    for seed in range(seeds):
        for game in walk(rules, seed, held):
            if (game.stock_size == 0) == is_last and len(game.legal_moves()) > 1:
                yield game


def examined(spec: str, game: Game) -> dict[Move, float]:
    """The margin of each move that an agent which sees all hands looks at."""
    state = allocate(1)
    state[0] = game.state
    found = oracle(spec, str(game.rules)).examine_on(state)
    builds = sum(1 << value for value, *_ in game.builds)
    return {as_move(row, builds): value for row, value in zip(found.moves, found.margins[0], strict=True)}


ORACLES: dict[tuple[str, str], agents.Agent] = {}


def oracle(spec: str, text: str) -> agents.Agent:
    """An agent of these rules, which remembers the positions that it has searched before."""
    return ORACLES.setdefault((spec, text), agents.make(spec, text))


# ---------------------------------------------------------------------- best play


@pytest.mark.few(6)
@pytest.mark.parametrize(("text", "cards"), DEALS.items(), ids=DEALS)
def test_a_last_deal_is_worth_what_exhaustive_play_of_it_gives(text: str, cards: int) -> None:
    """Alpha-beta for two sides, max^n for more; what is left out is no better than a move listed of its ranks."""
    varied, rules = 0, Rules.parse(text)
    for game in positions(rules, 5, range(2, cards + 1)):
        side = game.turn % rules.num_teams
        found, real = examined("oracle-hand", game), after_moves(game, Depth(game.deal_number))
        best: dict[object, float] = {}
        for move, value in found.items():
            assert is_near(value, [each[side] for each in real[move]]), (game.position(), move)
            best[way(move)] = max(best.get(way(move), -np.inf), value)
        assert rules.capture == "optional" or found.keys() == real.keys()
        highest = max(min(each[side] for each in outcome) for outcome in real.values())
        assert max(found.values()) >= highest - 1e-9
        if rules.num_teams == 2 and not rules.building:
            for move, [outcome] in real.items():
                assert outcome[side] <= best[way(move)] + 1e-9
        varied += len(set(found.values())) > 1
    assert varied > 0


@pytest.mark.few(2)
@pytest.mark.parametrize("plies", [1, 2, 3])
@pytest.mark.parametrize(
    "text",
    [
        "mini-double players=2 first_deal=((5,12),) later_deal=((5,0),)",
        "mini-double players=3 first_deal=((3,5),) later_deal=((3,0),)",
        "mini-double players=4 teams=2 first_deal=((3,8),) later_deal=((3,0),)",
    ],
)
def test_a_line_that_is_cut_is_played_on_by_what_costs_least(text: str, plies: int) -> None:
    rules, unique = Rules.parse(text), 0
    cards = max(map(sum, (hands for hands, _ in rules.deal_sizes())))
    for game in itertools.islice(positions(rules, 9, range(cards - 1, cards + 1)), 6):
        side, real = game.turn % rules.num_teams, after_moves(game, Depth(game.deal_number, plies))
        for move, value in examined(f"oracle-hand(plies={plies})", game).items():
            wanted = {each[side] for each in real[move]}
            assert is_near(value, wanted), (game.position(), move)
            unique += len(wanted) == 1
    assert unique > 0


@pytest.mark.parametrize("deals", [1, 2, 99])
@pytest.mark.parametrize("text", ["mini-low players=2", "mini-low players=3", "mini-high players=2"])
def test_a_known_deck_is_played_on_by_what_costs_least(text: str, deals: int) -> None:
    rules, decided = Rules.parse(text), 0
    for game in positions(rules, 4, range(2, 4), is_last=False):
        side, deal = game.turn % rules.num_teams, game.deal_number
        state = np.array([game.state]).view(np.recarray)
        action = oracle(f"oracle-deck(deals={deals})", text).act_on(state, game.action_mask()[None])[0]
        real = after_moves(game, Depth(deal, last=deal + deals))
        chosen = [outcome for move, outcome in real.items() if action in first_actions(game, move)]
        worst = max(min(each[side] for each in outcome) for outcome in real.values())
        assert max(each[side] for outcome in chosen for each in outcome) >= worst - 1e-9
        decided += len(chosen) < len(real)
    assert decided > 0


def first_actions(game: Game, move: Move) -> set[int]:
    """The actions that may come next on the way to a move."""
    if game.pending is None:
        return {parse_card(move.card)}
    return {TAKE + parse_card(card) for card in Counter(move.takes) - Counter(game.taken)}


# ---------------------------------------------------------------------- after the deal


@pytest.mark.parametrize(
    ("text", "gains"),
    [
        ("mini-low players=2", [-10, 10]),
        ("mini-low players=3", [-7.5, 0, 7.5]),
        ("mini-double players=4 teams=2", [-10, 10]),
        ("mini-high players=2 sweep_points=3", [-6, 6]),
    ],
)
def test_the_next_sweep_is_expected_by_its_share_of_the_hands_that_the_leader_may_get(
    text: str, gains: list[float]
) -> None:
    """Its points go to one side, and as many are taken from another."""
    rules, likely = Rules.parse(text), 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        game = Game(rules, deck=map(card_name, small_first(rules, rng)))
        while not game.is_over:
            before, deal = game.copy(), game.deal_number
            game.push(game.legal_moves()[int(rng.integers(len(game.legal_moves())))])
            if game.is_over or game.deal_number == deal:
                continue
            piles = [card for seat in range(rules.players) for card in game.captured(seat)]
            shown = Counter(map(parse_card, [*game.table, *game.set_aside, *piles]))
            hidden = list((Counter(full_deck(rules)) - shown).elements())
            sweeping = {rank - 1 for rank in game.sweep_ranks()}
            hands = list(itertools.combinations(hidden, len(game.hand(game.turn))))
            share = sum(any(kind % 13 in sweeping for kind in hand) for hand in hands) / len(hands)
            sides = [(game.turn + place) % rules.num_teams for place in range(len(gains))]
            state = np.repeat(np.array([game.state]), len(sides)).view(np.recarray)
            found = expect_margins(rules, state, sides)
            assert found == pytest.approx(share * np.array(gains))
            likely += 0 < share < 1
            if len(before.legal_moves()) == 1:
                side = before.turn % rules.num_teams
                [value] = examined("oracle-hand", before).values()
                assert value == pytest.approx(margins(game)[side] + found[sides.index(side)])
    assert likely > 3


def expected(rules: str, spades: list[int], cards: list[int], side: int = 0) -> float:
    """What a side can expect of majorities with these piles before the last deal."""
    state = allocate(1)
    state.deal_number = 2
    state.spades_won[0, : len(spades)], state.cards_won[0, : len(cards)] = spades, cards
    return float(expect_margins(Rules.parse(rules), state, [side])[0])


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
