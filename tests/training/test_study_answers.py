"""What the figures of studies mean: by games played one by one, and by numbers that were put in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.sampled import STRONG, TWO, points_of, positions, table_of

from krypenv import Engine, Game, Rules, agents
from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.observation import LAYOUT
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import holm, share_interval
from krypenv.training.lab import strong_positions as sampling
from krypenv.training.lab.intervals import amounts, p_value, points
from krypenv.training.lab.strong_positions import (
    Position,
    TriedPlay,
    kinds_of_tables,
    play_each,
    sample_positions,
)
from krypenv.training.lab.studying import Setup
from krypenv.training.research.studies import (
    creep,
    example,
    last,
    luck,
    memory,
    partners,
    seat,
    setups,
    variants,
)

FOUR = Rules.preset("krypkasino", players=4)


def played(rules: Rules, agent: str, seed: int, deals: int) -> Iterator[tuple[int, Game, int]]:
    """Games of an agent in every seat, as (deal, game after a complete play, number of the deal before that play)."""
    player = agents.make(agent, rules)
    for deal, start in enumerate(deal_seeds(seed, deals).tolist()):
        game = Game(rules, seed=start)
        while not game.is_over:
            number, plays = game.deal_number, len(game.moves)
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
            if len(game.moves) > plays:
                yield deal, game, number


def test_kinds_of_tables() -> None:
    names = ["", "QC", "5H", "AC", "QC QC", "5H 9S", "KS AS", "5H 5C 4D", "5H 5C 5D"]
    kinds = [sampling.EMPTY, sampling.PICTURE, sampling.CARD, sampling.CARD, *[sampling.PAIR] * 3, sampling.SUM_14]
    tables, sums = zip(*map(table_of, names), strict=True)
    assert kinds_of_tables(np.array(tables), np.array(sums)).tolist() == [*kinds, sampling.MORE]


def test_set_ups_are_those_of_games_played_one_by_one() -> None:
    """After each play but the last of a deal: what lies there, and whether the next play sweeps it."""
    found = np.array(setups.count_sweeps(str(TWO), STRONG, 0, 3, 9))
    counted, left = np.zeros_like(found), dict[int, int | None]()
    for deal, game, number in played(TWO, STRONG, 9, 3):
        before = left.get(deal)
        if before is not None and not game.is_over:
            counted[deal, before] += (1, game.moves[-1].sweep > 0, game.moves[-1].sweep)
        counts, total = table_of(" ".join(game.table))
        left[deal] = int(kinds_of_tables(counts[None], np.array([total]))[0])
        if game.deal_number != number:
            left[deal] = None
    assert (found == counted).all()
    assert counted[:, :, 1].sum() > 3


@pytest.mark.parametrize("rules", [TWO, FOUR])
def test_seats_and_the_sweeps_that_open_a_deal(rules: Rules) -> None:
    """The first play of each deal is the leader's, and its sweeps are credited to the dealer, the last seat (R12)."""
    found = np.array(seat.play_deals(str(rules), STRONG, 0, 6, 4))
    opening, previous = np.zeros(6, int), dict[int, int]()
    scores = np.zeros((6, rules.players), int)
    for deal, game, number in played(rules, STRONG, 4, 6):
        if previous.get(deal) != number:
            opening[deal] += game.moves[-1].sweep
        previous[deal] = number
        scores[deal] = game.scores()
    assert (found[:, -1] == opening).all()
    assert (found[:, :-1] == scores).all()
    assert opening.sum() > 0


def test_seats_of_one_agent_sum_to_nothing() -> None:
    setup = Setup(Rules.preset("krypkasino", players=3), "greedy", 5)
    results = {task.key: task.function(**task.arguments) for task in seat.tasks(setup)}
    answer = seat.answer(setup, results)
    names = ["the leader", "2 after the dealer", "the dealer"]
    assert sum(answer.figures[name]["mean"] for name in names) == pytest.approx(0)
    assert [row[0] for row in answer.rows] == [*names, "credited to the dealer by R12"]


def test_ends_are_those_of_games_played_one_by_one() -> None:
    found = last.watch_ends(str(TWO), STRONG, 0, 5, 2)
    for deal, (aside, table, way) in enumerate(found):
        game = Game(TWO, seed=int(deal_seeds(2, 5)[deal]))
        player, capturers = agents.make(STRONG, TWO), {}
        while not game.is_over:
            left = game.stock_size + sum(len(game.hand(seat)) for seat in range(2))
            if left <= max(last.LEFT) and not game.pending:
                capturers[left] = game.last_capturer
            if left == 1 and not game.pending:
                assert aside == sum(map(points_of, game.set_aside))
                assert table == sum(map(points_of, [*game.table, *game.hand(game.turn)]))
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
        if aside + table:
            assert way == [int(capturers[cards] == game.last_capturer) for cards in last.LEFT]


class TestPositions:
    def test_a_play_is_what_a_game_says_it_is(self) -> None:
        """Its points, whether it creeps, what it leaves, and the margin at the end when the agent plays on."""
        engine = positions(TWO, 60)
        several = (engine.action_mask[:, :NUM_KINDS] > 0).sum(axis=1) > 1
        states = engine.state[several][:12].view(np.recarray)
        player = agents.make(STRONG, TWO)
        for state, position in zip(states, play_each(TWO, STRONG, 0, states), strict=True):
            seat = int(state.seat)
            here = Engine.from_state(TWO, state[None].view(np.recarray))
            legal = np.flatnonzero(here.action_mask[0, :NUM_KINDS]).tolist()
            assert [play.card for play in position.plays] == legal
            assert position.hand == state.hand_size[seat]
            for play in position.plays:
                one = here.copy()
                one.step(np.array([play.card]))
                while one.state.pending[0] >= 0:
                    one.step(player.act(one.observation, one.action_mask))
                assert play.points == one.state.points[0, seat] - state.points[seat]
                assert play.creeps == (one.state.table[0, play.card] == state.table[play.card] + 1)
                assert play.leaves == kinds_of_tables(one.state.table, one.state.table_sum)[0]
                while not one.finished[0]:
                    one.step(player.act(one.observation, one.action_mask))
                scores = one.final_scores[0]
                assert play.margin == scores[1 - seat] - scores[seat]

    def test_the_best_play_is_the_agent_s_own(self) -> None:
        engine = positions(TWO, 60)
        several = (engine.action_mask[:, :NUM_KINDS] > 0).sum(axis=1) > 1
        network = agents.make(f"learned(model={agents.make(STRONG, TWO).models[0]!r}, solver=False)", TWO)
        chosen = network.act(engine.observation[several], engine.action_mask[several])
        found = play_each(TWO, STRONG, 0, engine.state[several].view(np.recarray))
        best = [position.best(lambda play: True) for position in found]
        assert [play.card for play in best if play] == chosen.tolist()

    def test_one_position_a_deal_with_a_choice(self) -> None:
        found = sample_positions(str(FOUR), STRONG, 0, 30, 1)
        assert len(found) == 30
        assert sum(each is not None for each in found) > 20
        assert all(len(each[1]) > 1 for each in found if each)
        hands = {each[0] for each in found if each}
        assert hands <= {2, 3, 4, 5}
        assert len(hands) > 1

    def test_captures_are_compared_with_creeping_by_their_price(self) -> None:
        def made(points: int, margin: float, other: float, value: float) -> Position:
            capture = TriedPlay(1, False, points, sampling.PICTURE, value, margin)
            return Position(
                2, [capture, capture._replace(value=value - 1, margin=99.0), TriedPlay(2, True, 0, 5, 0.0, other)]
            )

        found = [made(0, 5.0, 1.0, 3.0), made(2, 1.0, 4.0, -3.0), made(7, 0.0, 2.0, 0.0)]
        creeps_alone = Position(2, [TriedPlay(2, True, 0, 5, 0.0, 1.0)])
        everything = creep.differences([*found, creeps_alone], creep.CASES["in general"])
        assert everything == {0: [4.0], 1: [], 2: [-3.0], 3: [-2.0]}
        assert creep.differences(found, creep.CASES["more cards in hand"]) == {0: [], 1: [], 2: [], 3: []}
        assert creep.differences(found, creep.CASES["it leaves one card"]) == everything


class TestMemory:
    def test_who_remembers_all_plays_as_the_network_does(self) -> None:
        engine = positions(TWO)
        plain = memory.forgetful(memory.ALL, memory.EVERY_SEAT, 1, STRONG, TWO, 0)
        network = agents.make(f"learned(model={agents.make(STRONG, TWO).models[0]!r}, solver=False)", TWO)
        seen = engine.observation, engine.action_mask
        assert (plain.act(*seen) == network.act(*seen)).all()

    @pytest.mark.parametrize("kept", [memory.NONE, memory.HIGH])
    def test_what_is_imagined_agrees_with_what_is_known(self, kept: np.ndarray) -> None:
        """What lies there, the cards kept in mind, and how many have been seen; the rest is any of the other cards."""
        engine = positions(FOUR, 100)
        player = memory.forgetful(kept, memory.NOBODY, 1, STRONG, FOUR, 0)
        before, part = engine.observation, LAYOUT["seen"]
        known = np.zeros((100, NUM_KINDS), np.int64)
        draws = [player.imagine(before, known) for _ in range(30)]
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
        for whom, places in ((memory.EVERY_SEAT, range(5)), (memory.OTHERS, range(1, 5)), (memory.NOBODY, ())):
            after = memory.forgetful(memory.ALL, whom, 1, STRONG, FOUR, 0).imagine(seen, known)
            left = after[:, LAYOUT["cannot_hold"]].reshape(100, 5, NUM_RANKS)
            assert (left == np.isin(np.arange(5), places)[None, :, None]).all()

    def test_the_current_deal_is_remembered(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """By a `Game`: of each kind at least as many as lie there, or were face up in this deal."""
        player = memory.forgets_deals(STRONG, TWO, 0)
        seen: list[np.ndarray] = []
        monkeypatch.setattr(player, "_decide", lambda observations, masks, known: seen.append(known) or np.zeros(1))
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

    def test_a_search_has_no_network_to_make_forget(self) -> None:
        with pytest.raises(ValueError, match="greedy is no network, which this study needs"):
            memory.forgetful(memory.NONE, memory.EVERY_SEAT, 1, "greedy", TWO, 0)


def test_who_ignores_the_pile_sees_none() -> None:
    engine = positions(TWO, 300)
    network = agents.make(f"learned(model={agents.make(STRONG, TWO).models[0]!r}, solver=False)", TWO)
    seen, masks = engine.observation, engine.action_mask
    assert (last.ignores_pile(last.WHOLE_GAME, STRONG, TWO, 0).act(seen, masks) == network.act(seen, masks)).all()
    blind = seen.copy()
    blind[:, LAYOUT["set_aside"]] = 0
    assert (last.ignores_pile(0, STRONG, TWO, 0).act(seen, masks) == network.act(blind, masks)).all()


def test_partners_sit_where_they_are_said_to() -> None:
    """Seats 0 and 1 are the first of their sides, 2 and 3 the second (R16)."""
    rules = Rules.preset("krypkasino", players=4, teams=2)
    made = [partners.with_partner("greedy", first, STRONG, rules, 0) for first in (True, False)]
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


def test_example_m_is_the_rulebook_s() -> None:
    random = np.random.default_rng(0)
    for rules in (TWO, FOUR):
        for _ in range(20):
            game = Game.from_position(example.example(rules, random))
            ranks = ["".join(sorted(name[0] for name in cards)) for cards in (game.table, game.hand(0))]
            assert ranks == ["26Q", "78JK"]
            assert game.turn == 0
            assert game.deal_number == 1
            moves = {str(move)[0]: len(move.takes) for move in game.legal_moves()}
            assert moves == {"7": 0, "8": 2, "J": 0, "K": 0}
    assert len(example.play_examples(str(TWO), STRONG, 0, 3, 0)[0]) == 4


def test_variants_are_those_that_can_be_played() -> None:
    two, four = (variants.setups(Setup(rules, STRONG, 1)) for rules in (TWO, FOUR))
    assert list(two) == list(variants.VARIANTS)
    assert set(two) - set(four) >= {"six on the table (V1)"}
    assert two["spades set aside (V3)"].rules == Rules.preset("krypkasino", set_aside="spades")
    assert not two["second, no forced sweep (H5)"].rules.forced_sweep


def test_points_are_counted_by_source() -> None:
    """In each deal the cards' points are the deck's, and what moves by sweeps is 5 for each (R9)."""
    found = np.array(variants.count_points(str(TWO), STRONG, 0, 4, 0))
    assert (found[:, 0] == 42).all()
    sweeps = {deal: sum(map(game.sweeps, range(2))) for deal, game, _ in played(TWO, STRONG, 0, 4)}
    leads = {deal: game.scores()[1] - game.scores()[0] for deal, game, _ in played(TWO, STRONG, 0, 4)}
    assert found[:, 1].tolist() == [5 * sweeps[deal] for deal in range(4)]
    assert found[:, 2].tolist() == [leads[deal] for deal in range(4)]


def test_parts_of_the_variance_are_those_that_were_put_in() -> None:
    random = np.random.default_rng(0)
    deals, repetitions = 40_000, 3
    whole, swapped, chance = (random.normal(scale=scale, size=shape) for scale, shape in (
        (2.0, (deals, 1, 1)), (3.0, (deals, 1, 1)), (5.0, (deals, 2, repetitions))
    ))  # fmt: skip
    margins = 1.5 + whole + swapped * np.array([1.0, -1.0])[None, :, None] + chance
    parts = luck.variances(margins)
    assert parts == pytest.approx({"deal": 4.0, "seat": 9.0, "chance": 25.0}, rel=0.05)
    assert sum(parts.values()) == pytest.approx(margins.var(), rel=0.01)


def test_the_interval_of_a_ratio() -> None:
    random = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        times = random.integers(1, 30, 300).astype(float)
        ratio, low, high = share_interval(random.binomial(times.astype(int), 0.3).astype(float), times)
        assert low <= ratio <= high
        inside += low <= 0.3 <= high
    assert 360 <= inside <= 396
    assert np.isnan(share_interval(np.zeros(3), np.zeros(3))[0])


def test_p_values_are_adjusted_by_holm() -> None:
    """The 15 tests of Benjamini and Hochberg (1995, section 4.1), of which familywise control at 5% rejects three."""
    tests = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
        1.0,
    ]  # fmt: skip
    assert (holm(tests) < 0.05).tolist() == [True] * 3 + [False] * 12
    assert holm(tests)[:4] == pytest.approx([15 * 0.0001, 14 * 0.0004, 13 * 0.0019, 12 * 0.0095])
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])  # in any order
    assert holm([0.6, 0.7]).tolist() == [1, 1]
    assert len(holm([])) == 0


def test_p_values_of_samples() -> None:
    """By Student's sleep data (1908), whose t test has p = 0.002833; and where there is no spread, or one sample."""
    assert p_value([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]) == pytest.approx(0.002833, abs=1e-6)
    assert [p_value(each) for each in ([0.0, 0.0], [2.0, 2.0], [5.0])] == [1, 0, 1]


def test_margins_in_words() -> None:
    """A margin is signed, and so are its bounds; a note tells what all tests of the answer together leave open."""
    clear, close = [1.0, 3.0] * 20, [-5.5, 6.5] * 80
    assert points(clear) == ["+2.0 points a game (+1.7 to +2.3)"]
    assert points(np.negative(clear)) == ["-2.0 points a game (-2.3 to -1.7)"]
    assert points([-4.0, 5.0])[0].endswith("; not told apart from zero)")
    alone, together = points(np.add(close, 0.5))[0], points(np.add(close, 0.5), [-1.0, 1.0])[0]
    assert alone == "+1.0 points a game (+0.1 to +1.9)"
    assert together == "+1.0 points a game (+0.1 to +1.9; not told apart from zero)"


def test_amounts_have_no_sign() -> None:
    assert amounts((3.0, 2.0, 4.0)) == ("3.00", "2.00 to 4.00")
