"""What the search agents put in place of what they can't know: sampled worlds, and what comes after a deal."""

from __future__ import annotations

import itertools
from collections import Counter
from math import comb

import numpy as np
import pytest
from scipy.stats import chisquare
from support.games import RULES, full_deck
from support.reference import Reference
from support.solving import Solver, futures, margin, played_on, sweeping, twins

from krypenv import Engine, Rules, agents
from krypenv.agents.search.horizon import expected_margin, majority_margin, make_model, sweep_chance
from krypenv.agents.search.sampling import FEWEST_WORLDS
from krypenv.agents.search.search import RACE
from krypenv.agents.search.worlds import complete, set_root, world_seed
from krypenv.agents.workspace import make_workspaces
from krypenv.cards import TAKE
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.play import DEAL_OVER
from krypenv.kernels.scoring import sweep_gain
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import handle, kernel
from krypenv.state import State, allocate


@kernel
def _sample(
    compiled: np.ndarray, seen: np.ndarray, seed: np.uint64, whole: bool, workspaces: np.ndarray, out: np.ndarray
) -> None:
    decision = workspaces[0].decision
    set_root(compiled[0], seen, workspaces[0])
    for row in range(len(out)):
        decision.world = decision.root
        complete(compiled[0], seen, world_seed(seed, row), whole, workspaces[0])
        out[row] = decision.world


@kernel
def _sweep_gain(compiled: np.ndarray, sweeper: int, side: int) -> float:
    return sweep_gain(compiled[0], sweeper, side)


@kernel
def _expect(compiled: np.ndarray, model: np.ndarray, state: np.ndarray, number: int, side: int) -> tuple[float, float]:
    return sweep_chance(compiled[0], state[0], number), expected_margin(compiled[0], model[0], state[0], number, side)


@kernel
def _majority(compiled: np.ndarray, state: np.ndarray, side: int) -> float:
    return majority_margin(compiled[0], state[0], side)


def worlds_of(rules: Rules, seen: np.ndarray, whole: bool, count: int) -> State:
    """Worlds that agree with one observation, (count,) of `GAME`."""
    state = allocate(count)
    _sample(compile_rules(rules), seen, np.uint64(1), whole, make_workspaces(), handle(state))
    return state


# ---------------------------------------------------------------------- worlds


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_worlds_show_the_observation_that_they_were_drawn_for(rules: Rules) -> None:
    engine = Engine(rules, 8, seed=4)
    for step in range(90):
        if step % 6 == 0:
            for row in range(engine.num_games):
                seen = engine.observation[row]
                for whole in (False, True):
                    state = worlds_of(rules, seen, whole, 4)
                    worlds = Engine.from_state(rules, state)
                    assert (worlds.observation == seen).all()
                    assert (worlds.action_mask == engine.action_mask[row]).all()
                    stock = [
                        np.bincount(world.deck[world.next_card : rules.deck_size], minlength=52) for world in state
                    ]
                    hands = state.hands.astype(int).sum(axis=1)
                    assert (hands + stock + engine.state.seen[row] == rules.deck_counts).all()
        engine.step(engine.sample_actions())


Key = tuple[tuple[int, ...], ...]  # the other hands by place, each sorted; and with the whole game the stock in order


def agreeing_worlds(rules: Rules, seen: np.ndarray, whole: bool) -> Counter[Key]:
    """All deals of the unseen cards without the ranks that a seat can't hold, and how many deals look like each."""
    sizes = seen[LAYOUT["hand_size"]]
    bars = seen[LAYOUT["cannot_hold"]].reshape(-1, 13)

    def deals(left: tuple[int, ...], place: int) -> Counter[Key]:
        if place == rules.players:
            return Counter((stock,) for stock in itertools.permutations(left)) if whole else Counter([()])
        found: Counter[Key] = Counter()
        for chosen in itertools.combinations(range(len(left)), sizes[place]):
            hand = tuple(left[at] for at in chosen)
            if not any(bars[place - 1, card % 13] for card in hand):
                rest = tuple(card for at, card in enumerate(left) if at not in chosen)
                for key, count in deals(rest, place + 1).items():
                    found[(hand, *key)] += count
        return found

    return deals(tuple(np.repeat(np.arange(52), rules.deck_counts - seen[LAYOUT["seen"]]).tolist()), 1)


def found_worlds(rules: Rules, state: State, whole: bool) -> Counter[Key]:
    """How many of some worlds look alike."""
    found: Counter[Key] = Counter()
    for world in state:
        hands = [
            tuple(np.repeat(np.arange(52), world.hands[(world.seat + place) % rules.players]).tolist())
            for place in range(1, rules.players)
        ]
        stock = [tuple(world.deck[world.next_card : rules.deck_size].tolist())] if whole else []
        found[(*hands, *stock)] += 1
    return found


def check_uniform(rules: Rules, seen: np.ndarray, whole: bool) -> bool:
    """Assert that worlds come as often as all deals that agree make them likely (chi-square), if they are a few."""
    wanted = agreeing_worlds(rules, seen, whole)
    if not 3 < len(wanted) < 300:
        return False
    count = 60 * len(wanted)
    found = found_worlds(rules, worlds_of(rules, seen, whole, count), whole)
    assert set(found) <= set(wanted)
    expected = np.array(list(wanted.values())) * count / wanted.total()
    assert chisquare([found[key] for key in wanted], expected).pvalue > 1e-4
    return True


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("mini-high players=2", False),
        ("mini-low players=3", False),
        ("mini-high players=3", False),
        ("mini-high players=2 ranks=(1,10,11)", True),
        ("mini-high players=3 ranks=(1,10,11)", True),
    ],
)
def test_each_world_that_agrees_is_drawn_as_often_as_any_other(text: str, whole: bool) -> None:
    """Positions in which a missed sweep rules ranks out, with little enough unseen to try everything."""
    rules = Rules.parse(text)
    engine = Engine(rules, 400, seed=5)
    checked = 0
    for _ in range(12):
        for seen in engine.observation:
            unseen = int((rules.deck_counts - seen[LAYOUT["seen"]]).sum())
            stock = unseen - seen[LAYOUT["hand_size"]][1:].sum()
            if checked < 4 and seen[LAYOUT["cannot_hold"]].any() and unseen < 10 and (stock in (2, 3, 4) or not whole):
                checked += check_uniform(rules, seen, whole)
        engine.step(engine.sample_actions())
    assert checked == 4


def test_worlds_are_uniform_too_where_hardly_any_deal_agrees() -> None:
    """One hand may hold fives and sixes, the other sixes: one deal in some thousands, most of them found by swaps."""
    rules = RULES["krypkasino players=3"]
    engine = Engine(rules, 64, seed=6)
    while not (rows := np.flatnonzero((engine.observation[:, LAYOUT["hand_size"]][:, :3] == 2).all(axis=1))).size:
        engine.step(engine.sample_actions())
    seen = engine.observation[rows[0]].copy()
    bars = seen[LAYOUT["cannot_hold"]].reshape(5, 13)
    bars[0], bars[1] = np.isin(range(13), [4, 5], invert=True), np.arange(13) != 5
    state = worlds_of(rules, seen, False, 8000)
    fives, sixes = (rules.deck_counts - seen[LAYOUT["seen"]]).reshape(4, 13).sum(axis=0)[4:6].tolist()
    hands = np.array([world.hands[(world.seat + place) % 3] for world in state for place in (1, 2)])
    ranks = hands.reshape(-1, 2, 4, 13).sum(axis=2)
    assert (ranks[:, 0, 4:6].sum(axis=1) == 2).all()
    assert (ranks[:, 1, 5] == 2).all()
    found = np.bincount(ranks[:, 0, 5], minlength=3)
    ways = np.array([comb(sixes, held) * comb(fives, 2 - held) * comb(sixes - held, 2) for held in range(3)])
    assert chisquare(found, ways * len(state) / ways.sum()).pvalue > 1e-4


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["search", "rollout", "ismcts"])
def test_an_observation_that_no_deal_agrees_with_is_refused(name: str, threads: int) -> None:
    engine = Engine(RULES["krypkasino players=2"], 2, seed=6)
    seen = engine.observation.copy()
    seen[:, LAYOUT["cannot_hold"].start : LAYOUT["cannot_hold"].start + 13] = 1
    with pytest.raises(ValueError, match="no deal of the unseen cards gives each seat cards that it can hold"):
        agents.make(f"{name}(threads={threads})", engine.rules).act(seen, engine.action_mask)


# ---------------------------------------------------------------------- the loop over worlds


def raced(margins: np.ndarray, race: float) -> tuple[np.ndarray, int]:
    """The totals of moves over worlds, (worlds, n), -inf where they fell behind, and the worlds that were needed."""
    totals = np.zeros(margins.shape[1])
    for tried, values in enumerate(margins, 1):
        totals = totals + values
        if tried >= FEWEST_WORLDS:
            totals[totals < totals.max() - race * tried**0.5] = -np.inf
        if np.isfinite(totals).sum() == 1:
            break
    return totals, tried


@pytest.mark.parametrize("text", ["krypkasino players=2", "krypkasino players=4 teams=2", "howto players=3"])
def test_the_best_mean_is_played_and_worlds_end_when_one_move_is_left(text: str) -> None:
    rules, worlds = RULES[text], 60
    engine, fewer = Engine(rules, 30, seed=8), 0
    for seed in range(12):
        at = seed % engine.num_games
        seen, mask = engine.observation[at], engine.action_mask[at]
        plays = np.flatnonzero(mask)
        if len(plays) > 1 and plays[0] < TAKE:
            name = f"search(worlds={worlds}, plies=2)"
            moves, margins, *_ = agents.make(name, rules, seed).examine(seen, mask)  # type: ignore[attr-defined]
            totals, tried = raced(margins, RACE)
            fewer += tried < len(margins)
            agent = agents.make(name, rules, seed)
            assert agent.act(seen[None], mask[None])[0] == moves["card"][totals.argmax()]
            assert agent._workspaces["decision"]["tried"][0] == (tried if len(moves) > 1 else 0)  # type: ignore[attr-defined]
            values = agents.make(name, rules, seed).action_values(seen[None], mask[None])[0]  # type: ignore[attr-defined]
            assert values[moves["card"][totals.argmax()]] == pytest.approx(totals.max() / tried)
        engine.step(engine.sample_actions())
    assert fewer > 0


# ---------------------------------------------------------------------- after the deal


def is_last_play(reference: Reference) -> bool:
    """Whether one move ends the deal, and there is no other."""
    return sum(map(len, reference.hands)) == 1 and len(reference.legal_moves()) == 1


HORIZONS = ["mini-low players=2", "mini-low players=3", "mini-double players=4 teams=2", "mini-high players=2"]


@pytest.mark.parametrize("text", HORIZONS)
def test_the_chance_of_the_next_sweep_is_its_share_of_all_hands_that_the_leader_may_get(text: str) -> None:
    rules, likely = RULES[text], 0
    solver = Solver(rules, "sweep")
    for seed in range(20):
        for game, reference in twins(rules, seed):
            if is_last_play(reference) and reference.stock:
                ((twin, _),) = futures(reference)
                assert len(solver.moves(game)) == 1
                assert solver.make(game, 0) == DEAL_OVER
                shown = Counter(sum(twin.captured, twin.table + twin.aside))
                hidden = list((Counter(full_deck(rules)) - shown).elements())
                hands = list(itertools.combinations(hidden, len(twin.hands[twin.leader])))
                share = sum(sweeping(twin, hand) for hand in hands) / len(hands)
                likely += 0 < share < 1
                before = [margin(twin, side) for side in range(rules.num_teams)]
                twin.sweeps[twin.leader] += 1
                gains = [margin(twin, side) - before[side] for side in range(rules.num_teams)]
                assert sum(gains) == pytest.approx(0)
                for side, gain in enumerate(gains):
                    number = reference.deal_number
                    chance, gained = _expect(
                        solver.compiled, solver.workspaces["leaf_model"], solver.after, number, side
                    )
                    assert chance == pytest.approx(share)
                    assert gained == pytest.approx(share * gain)
                    assert _expect(solver.compiled, make_model("margin"), solver.after, number, side)[1] == 0
    assert likely > 5


@pytest.mark.parametrize(
    ("rules", "gains"),
    [
        ("krypkasino players=2", [-10, 10]),
        ("krypkasino players=3", [-7.5, 0, 7.5]),
        ("krypkasino players=4 teams=2", [-10, 10]),
        ("krypkasino players=5", [-6.25, 0, 0, 0, 6.25]),
        ("krypkasino players=6 teams=3", [-7.5, 0, 7.5]),
        ("krypkasino players=6 teams=2", [-10, 10]),
        ("krypkasino players=2 sweep_points=3", [-6, 6]),
        ("kasino-sweden players=2", [1, -1]),
        ("kasino-sweden players=2 goal=low", [-1, 1]),
        ("kasino-sweden players=3", [1, -0.5, -0.5]),
        ("kasino-sweden players=4 teams=2 sweep_points=3", [3, -3]),
    ],
)
def test_k3_a_sweep_costs_its_seat_and_pays_the_one_before_or_is_worth_its_points(
    rules: str, gains: list[float]
) -> None:
    """R9, R14: five points to one side and five off for another, against the mean of the others. K3: nobody pays."""
    compiled = compile_rules(Rules.parse(rules))
    sides = len(gains)
    for sweeper in range(Rules.parse(rules).players):
        found = [_sweep_gain(compiled, sweeper, (sweeper + place) % sides) for place in range(sides)]
        assert found == pytest.approx(gains)


@pytest.mark.parametrize("text", [*HORIZONS, "mini-low players=2 later_deal=((2,2),)"])
def test_a_known_deck_is_played_on_by_what_costs_least(text: str) -> None:
    rules, unique = Rules.parse(text), 0
    solver = Solver(rules)
    for seed in range(12):
        for game, reference in twins(rules, seed):
            if is_last_play(reference) and reference.stock:
                ((twin, _),) = futures(reference)
                for deals in (1, 2, 99):
                    solver.workspaces["leaf_model"]["deals"] = deals
                    margins = played_on(twin, 0, deals)
                    assert solver.value(game, 0) in margins
                    unique += len(margins) == 1
    assert unique > 20


def expected(rules: str, spades: list[int], cards: list[int], side: int = 0) -> float:
    """What a side can expect of majorities with these piles."""
    state = allocate(1)
    state.spades_won[0, : len(spades)], state.cards_won[0, : len(cards)] = spades, cards
    return float(_majority(compile_rules(Rules.parse(rules)), handle(state), side))


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
