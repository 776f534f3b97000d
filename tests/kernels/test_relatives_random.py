"""A million random plies of the relatives with every invariant, and the piles, masks and scores recomputed."""

from __future__ import annotations

import numpy as np
import pytest
from support.reference_relatives import Relative
from support.relatives import RELATIVES, SESSIONS

from krypenv import Engine, Game, Rules
from krypenv.cards import NO_CARD, NO_SEAT, STOP
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.play import act, end_session, first_game, next_game
from krypenv.kernels.scoring import score_of
from krypenv.runtime.jit import handle, kernel
from krypenv.state import State, allocate
from krypenv.worlds.invariants import fault_of_state

PLIES = 1_000_000
ROWS, STEPS = 96, 700  # enough for some games of all rules
TEXTS = {**RELATIVES, **{text: rules for text, rules in SESSIONS.items() if rules.threshold}}


@kernel
def _act(compiled: np.ndarray, state: np.ndarray, actions: np.ndarray, scratch: np.ndarray) -> None:
    for row in range(len(state)):
        act(compiled[0], state[row], actions[row], scratch[0])


@kernel
def _find_fault(compiled: np.ndarray, state: np.ndarray, twin: np.ndarray, scratch: np.ndarray) -> tuple[int, int]:
    for row in range(len(state)):
        fault = fault_of_state(compiled[0], state[row], True, twin, scratch[0])
        if fault != 0:
            return row, fault
    return -1, 0


@kernel
def _count(compiled: np.ndarray, state: np.ndarray, out: np.ndarray) -> None:
    for row in range(len(state)):
        for seat in range(out.shape[1]):
            out[row, seat] = score_of(compiled[0], state[row], seat)


@kernel
def _renew(compiled: np.ndarray, state: np.ndarray, ended: np.ndarray, scratch: np.ndarray) -> None:
    """Go on with the next game where one is over, and note which sessions have ended."""
    for row in range(len(state)):
        ended[row] = False
        if state[row].over:
            ended[row] = end_session(compiled[0], state[row])
            if ended[row]:
                first_game(compiled[0], state[row], scratch[0])
            else:
                next_game(compiled[0], state[row], scratch[0])


class Piles:
    """The piles of many games, counted from their plays alone."""

    def __init__(self, rules: Rules, state: State) -> None:
        self.rules = rules
        self.counts = np.zeros((len(state), rules.players, 52), int)
        self.deck = rules.deck_counts.astype(int)

    def follow(self, state: State, seats: np.ndarray) -> None:
        """Add what the last plays took, if they are complete; `seats` made them."""
        done = np.flatnonzero((state.pending == NO_CARD) & state.taken.any(1))
        self.counts[done, seats[done]] += state.taken[done]
        self.counts[done, seats[done], state.last_card[done]] += 1
        last = state.last_capturer
        settled = np.flatnonzero(state.over & ~state.cut_short & (last != NO_SEAT))
        self.counts[settled, last[settled]] += self.deck - self.counts[settled].sum(1)

    def check(self, state: State) -> None:
        """Assert that every card is in one place, and that the state counts the piles as they are."""
        rules, players = self.rules, self.rules.players
        held = state.hands[:, :players].astype(int).sum(1)
        stock = np.zeros_like(held)
        places = np.arange(rules.deck_size)[None] >= state.next_card[:, None]
        rows, at = np.nonzero(places)
        np.add.at(stock, (rows, state.deck[rows, at].astype(int)), 1)
        lying = held + stock + self.counts.sum(1) + state.table + state.set_aside
        pending = np.flatnonzero(state.pending != NO_CARD)
        lying[pending, state.pending[pending]] += 1
        assert (lying == self.deck).all()
        assert (state.points[:, :players] == self.counts @ rules.card_points.astype(int)).all()
        if "cards_won" in rules.layout:
            assert (state.cards_won[:, :players] == self.counts.sum(2)).all()
            assert (state.spades_won[:, :players] == self.counts[:, :, 39:].sum(2)).all()


def at_row(rules: Rules, state: State, row: int) -> Relative:
    """Return a reference that knows as much as it needs for what is legal in a row."""
    reference = Relative.__new__(Relative)
    kinds = np.arange(52)
    reference.rules, reference.over, reference.turn = rules, False, int(state.seat[row])
    reference.table = np.repeat(kinds, state.table[row]).tolist()
    reference.hands = [np.repeat(kinds, hand).tolist() for hand in state.hands[row, : rules.players]]
    reference.pending = None if state.pending[row] == NO_CARD else int(state.pending[row])
    reference.taken = [] if reference.pending is None else np.repeat(kinds, state.taken[row]).tolist()
    return reference


def masks(state: State) -> np.ndarray:
    """Return what is legal in each row, (B, 105) bool."""
    plays, takes = (state[name][:, None] for name in ("legal_plays", "legal_takes"))  # takes and, as bit 52, a stop
    return np.concatenate([plays >> np.arange(52) & 1 == 1, takes >> np.arange(53) & 1 == 1], axis=1)


def check_end(rules: Rules, state: State, row: int, scores: np.ndarray, piles: np.ndarray) -> None:
    """Assert that the scores of a finished game are the sum of what the rules give for its piles."""
    sides = rules.num_teams
    sweeps = (state.sweeps - state.void_sweeps)[row, : rules.players]
    expected = int((piles @ rules.card_points.astype(int)).sum()) + rules.mulle_points * int(state.mulles[row].sum())
    expected += rules.sweep_points * int(sweeps.sum())
    if rules.sweeps_cancel:
        expected -= sides * min(int(sweeps[side::sides].sum()) for side in range(sides))
    if not state.cut_short[row] and state.last_capturer[row] != NO_SEAT:
        expected += rules.last_capture_points
        spades = [int(piles[side::sides, 39:].sum()) for side in range(sides)]
        cards = [int(piles[side::sides].sum()) for side in range(sides)]
        leaders = spades.count(max(spades))
        shared = rules.spades_tie == "two_share" and leaders == 2 < sides
        expected += rules.most_spades_points * (leaders == 1 or shared)
        expected += rules.most_cards_points * (cards.count(max(cards)) == 1)
        if rules.spades_above is not None:
            expected += sum(max(0, own - rules.spades_above) for own in spades)
    assert scores.sum() == expected


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
def test_a_million_random_plies_keep_every_invariant(text: str) -> None:
    rules = TEXTS[text]
    engine, rng = Engine(rules, ROWS, seed=7), np.random.default_rng(7)
    state, compiled, twin, scratch = engine.state.copy(), engine.compiled, handle(allocate(1)), borrow_scratch()
    state = state.view(np.recarray)
    piles, scores, ended = Piles(rules, state), np.zeros((ROWS, rules.players), np.int64), np.zeros(ROWS, bool)
    games = sessions = compared = 0
    for _ in range(max(STEPS, PLIES // ROWS // len(TEXTS) + 1)):
        legal, seats = masks(state), state.seat.copy()
        assert legal.any(1).all()
        for row in rng.choice(ROWS, 2):
            if state.table[row].sum() <= 10:
                assert np.flatnonzero(legal[row]).tolist() == at_row(rules, state, row).legal_actions()
                compared += 1
        wishes = rng.random(legal.shape) * legal
        wishes[::2, STOP] *= 0.01  # half of the games take what they can
        _act(compiled, handle(state), wishes.argmax(1), scratch)
        assert _find_fault(compiled, handle(state), twin, scratch) == (-1, 0)
        piles.follow(state, seats)
        piles.check(state)
        over = np.flatnonzero(state.over)
        if len(over):
            _count(compiled, handle(state), scores)
            for row in over:
                check_end(rules, state, row, scores[row], piles.counts[row])
            before = state.totals[over, : rules.players] + scores[over]
            _renew(compiled, handle(state), ended, scratch)
            stays = ~ended[over]
            assert (state.totals[over, : rules.players] == before * stays[:, None]).all()
            piles.counts[over] = 0
            games += len(over)
            sessions += int(ended.sum())
    assert games > ROWS
    assert sessions > 0
    assert compared > 100


@pytest.mark.parametrize("text", RELATIVES)
def test_k4_who_always_stops_scores_nothing(text: str) -> None:
    """Whole games in which nobody takes anything: all share the win."""
    rules = RELATIVES[text]
    engine = Engine(rules, 16, seed=3, reward="win")
    ended, largest = np.zeros(16, bool), np.zeros(16, int)
    while not ended.all():
        mask = engine.action_mask
        engine.step(np.where(mask[:, STOP] == 1, STOP, mask.argmax(1)))
        ended |= engine.finished
        largest = np.maximum(largest, engine.state.table.sum(1))
        for final in (engine.final_scores, engine.final_points, engine.final_sweeps, engine.final_tie_breaks):
            assert not final[engine.finished].any()
        assert engine.rewards is not None
        assert (engine.rewards[engine.finished] == 1 / rules.num_teams).all()
    assert (largest == rules.deck_size - 1).all()  # the last card ends the game, and the next one is dealt


@pytest.mark.parametrize("text", RELATIVES)
def test_k4_the_end_of_a_game_without_captures(text: str) -> None:
    game = Game(RELATIVES[text], seed=4)
    plays = 0
    while not game.is_over:
        legal = np.flatnonzero(game.action_mask())
        plays += game.pending is None
        game.act(int(legal[-1]) if game.pending else int(legal[0]))
    assert plays == game.rules.deck_size - game.rules.deal_sizes()[0][1]
    assert len(game.table) == game.rules.deck_size
    assert game.last_capturer is None
    assert game.scores() == [0] * game.rules.players
