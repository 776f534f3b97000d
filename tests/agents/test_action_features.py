"""What networks are told of each legal action, beside slow references that try all captures, moves and hands."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from support import builds, built_moves, maximal_moves, optional_moves
from support.games import RULES, full_deck, lay, small_first, stacked
from support.reference import Reference, rank
from support.relatives import BUILDING, GLIMNE, MIXTURES, OPTIONAL, RELATIVES

from krypenv import Engine, Game, Rules
from krypenv.agents.moves.record import JUDGED_CAPTURES
from krypenv.agents.neural.action_features import COLUMNS, WIDTH, features_of, gather_action_features
from krypenv.cards import STOP, parse_card
from krypenv.features import columns_of as block_columns_of, shape_of
from krypenv.worlds.determinize import determinize

GAMES = {**RULES, **RELATIVES, **GLIMNE}
LOW = MIXTURES["kasino-sweden players=2 goal=low"]


def told_of(game: Game) -> dict[int, np.ndarray]:
    """The features of each legal action."""
    found = gather_action_features(game.rules, game.observation()[None], game.action_mask()[None])
    assert found.actions.tolist() == game.legal_actions()
    return dict(zip(found.actions.tolist(), found.features.astype(np.int64), strict=True))


# ---------------------------------------------------------------------- beside the references


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("style", ["random", "creep"])
def test_where_captures_are_maximal_features_are_those_of_the_reference(rules: Rules, style: str) -> None:
    rng = np.random.default_rng(len(str(rules)))
    deck = rng.permutation(full_deck(rules)).tolist() if style == "random" else small_first(rules, rng)
    engine, reference = stacked(rules, np.array([deck])), Reference(rules, deck)
    while not reference.over:
        asker, legal = maximal_moves.Asker(reference, rules), reference.legal_actions()
        found = gather_action_features(rules, engine.observation, engine.action_mask)
        assert found.actions.tolist() == legal
        for action, features in zip(legal, found.features.astype(np.int64), strict=True):
            plays = asker.plays(action)
            assert any(maximal_moves.agree(features, play.features) for play in plays), (
                action,
                features - plays[0].features,
            )
        action = int(rng.choice(legal))
        if style == "creep" and reference.pending is None:
            counts = {kind: len(reference.captures(rank(kind))) for kind in legal}
            action = int(rng.choice([kind for kind in legal if counts[kind] != 1] or legal))
        reference.act(action)
        if not reference.over:
            engine.step([action])


@pytest.mark.parametrize(
    "rules", [*(rules for text, rules in OPTIONAL.items() if "players=4" not in text or "teams" in text), LOW], ids=str
)
def test_where_captures_are_optional_features_are_those_of_a_best_move(rules: Rules) -> None:
    replies, acts, unlisted, is_listed = 0, Counter[int](), 0, features_of(rules).columns["listed"]
    for game in optional_moves.positions(rules, 14, seed=4):
        best, shown, largest = [], [], 0
        for action, features in told_of(game).items():
            told = [optional_moves.expected(game, action, move) for move in optional_moves.moves_after(game, action)]
            best += [each["worth"][0] for each in told if "worth" in each]
            largest = max(largest, len(told))
            if features[is_listed][0]:
                fitting = [each for each in told if optional_moves.agree(game, features, each)]
                assert fitting, (game.position(), action)
                shown += [each["worth"][0] for each in fitting if "worth" in each]
            else:  # moves alike begin with another action
                unlisted += 1
            acts[min(action // 52, 2)] += 1
        if best and largest <= JUDGED_CAPTURES:
            assert max(shown) > max(best) - 1e-6, game.position()
            replies += 1
    assert replies > 3
    assert acts[0] > 5
    assert unlisted < 0.2 * acts.total()


@pytest.mark.parametrize("rules", [next(iter(BUILDING.values())), *GLIMNE.values()], ids=str)
def test_b2_where_cards_are_built_each_action_is_told_by_a_move_that_it_leads_to(rules: Rules) -> None:
    listed, total, replies, columns = 0, 0, 0, features_of(rules).columns
    for game in builds.positions(rules, 1):
        if game.stock_size == 0:  # the end of a game gives what is left to the last capturer
            break
        for action, row in told_of(game).items():
            total += 1
            if not row[columns["listed"]][0]:
                continue
            listed += 1
            moves = [move for move in game.legal_moves() if action in builds.first_actions(game, move)]
            fitting = [move for move in moves if builds.effects(game, move) == builds.told(rules, row)]
            assert fitting, (game.position(), action)
            is_low = rules.goal == "low"  # then what is won is bad, and nobody takes what need not be taken
            keeps = [10 * built_moves.kept(game, move) * (-1 if is_low else 1) for move in fitting]
            assert min(abs(keep - row[columns["keep"]][0]) for keep in keeps) < 0.51 or max(keeps) > 127
            expected = [None if is_low else built_moves.reply(game, move) for move in fitting]
            if None not in expected:
                replies += 1
                off = [abs(min(10 * each, 127) - row[columns["reply"]][0]) for each in expected]
                assert min(off) < 0.51, (game.position(), action, fitting, expected, row[columns["reply"]])
    assert listed > 0.8 * total > 50
    assert replies > 0 or rules.goal == "low"


# ---------------------------------------------------------------------- what it is told of


@pytest.mark.parametrize("rules", [*GAMES.values(), *MIXTURES.values()], ids=str)
def test_actions_counts_and_first_columns_are_those_of_masks_and_of_the_features_block(rules: Rules) -> None:
    engine, (rows_of_block, width) = Engine(rules, 32, seed=5, features=True), shape_of(rules)
    stops, is_main = 0, features_of(rules).version == 1
    for step in range(50):
        if step % 7 == 0:
            found = gather_action_features(rules, engine.observation, engine.action_mask)
            rows, actions = np.nonzero(engine.action_mask)
            assert found.counts.tolist() == np.bincount(rows, minlength=engine.num_games).tolist()
            assert found.actions.tolist() == actions.tolist()
            assert found.features.shape == (len(actions), features_of(rules).width)
            block = engine.observation[:, rules.observation_size :].reshape(-1, rows_of_block, width)
            kinds = np.where(actions == STOP, 52, actions % 52)
            assert not is_main or (found.features[:, :width] == block[rows, kinds]).all()
            stops += (actions == STOP).sum()
        engine.step(engine.sample_actions())
    assert stops > 0 or rules.capture == "maximal"


@pytest.mark.parametrize("rules", [*GAMES.values(), Rules.parse("kasino-sweden players=2 capture=maximal")], ids=str)
def test_nothing_depends_on_hidden_cards_or_on_rows_before(rules: Rules) -> None:
    engine = Engine(rules, 12, seed=5)
    for step in range(60):
        if step % 9 == 0:
            found = gather_action_features(rules, engine.observation, engine.action_mask)
            world = Engine.from_state(rules, determinize(engine.observation, step, rules))
            other = gather_action_features(rules, world.observation, world.action_mask)
            assert all((mine == its).all() for mine, its in zip(found, other, strict=True))
            for row, end in reversed([*enumerate(np.cumsum(found.counts))]):  # with the scratch as later rows leave it
                one = slice(row, row + 1)
                alone = gather_action_features(rules, engine.observation[one], engine.action_mask[one])
                assert (alone.features == found.features[end - found.counts[row] : end]).all()
        engine.step(engine.sample_actions())


# ---------------------------------------------------------------------- columns


def test_columns_are_data_of_the_rules() -> None:
    for rules in (*RULES.values(), *RELATIVES.values(), *GLIMNE.values()):
        columns = features_of(rules).columns
        covered = sorted(at for part in columns.values() for at in range(part.start, part.stop))
        assert covered == list(range(features_of(rules).width))
        assert set(features_of(rules).descriptions) == set(columns)
        if features_of(rules).version != 1:  # these networks are told of a move, and not of a card
            assert list(features_of(rules).descriptions) == list(columns)
        else:
            assert list(columns)[: len(block_columns_of(rules))] == list(block_columns_of(rules))
    assert features_of(Rules.preset()).columns == COLUMNS
    assert (features_of(Rules.preset()).version, features_of(Rules.preset()).width, WIDTH) == (1, 87, 87)
    assert len({features_of(rules).version for rules in RELATIVES.values()} - {1}) == 1


def test_every_feature_of_builds_is_described_and_used() -> None:
    rules = Rules.preset("mulle-glimne")
    assert list(features_of(rules).descriptions) == list(features_of(rules).columns)
    engine, largest = Engine(rules, 256, seed=1), np.zeros(features_of(rules).width, np.int64)
    for _ in range(80):
        found = gather_action_features(rules, engine.observation, engine.action_mask)
        largest = np.maximum(largest, np.abs(found.features.astype(np.int64)).max(axis=0))
        engine.step(engine.sample_actions())
    unused = {name for name, part in features_of(rules).columns.items() if not largest[part].any()}
    of_piles = {f"{kind}_{what}" for kind in ("cards", "spades") for what in ("lead", "open", "sure")}
    assert unused == {"cards", "spades"} | of_piles  # where piles count


# ---------------------------------------------------------------------- by hand


def test_a_position_of_krypkasino_by_hand() -> None:
    """A four and Storan lie there; what a creeping five, and what the taking ten leaves."""
    game = lay("4C TD", "5H TC 9S", "KC KD 2H", more="captured 1: rest; stock: -")
    rows = told_of(game)
    five, ten = rows[2 * 13 + 4], rows[9]
    assert five[COLUMNS["left"]].tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0]
    # an ace (14) takes 4 + 10, a four, a five, a nine (4 + 5) and a ten take something; Storan costs 3
    assert np.flatnonzero(five[COLUMNS["own_takers"]]).tolist() == [8, 9]
    assert five[COLUMNS["price"]].tolist() == [3, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]
    assert ten[COLUMNS["left"]].tolist() == [0, 0, 0, 1] + [0] * 9
    assert ten[COLUMNS["points"]].tolist() == [3]
    assert not ten[COLUMNS["own_takers"]].any()
    # the next seat holds K K 2, and takes nothing; if it creeps with a five, the nine must sweep 4 + 5
    assert ten[COLUMNS["taker_chance"]].tolist() == [0]
    assert not ten[COLUMNS["risk"]].any()  # but no five is unseen


def test_a_position_of_kasino_by_hand() -> None:
    """Most cards and spades are the other side's, so only points and sweeps are worth anything."""
    game = Game.from_position(
        "rules: kasino-sweden players=2; table: 4D AC; hand 0: AH QH 4C; hand 1: KC KD 4H; "
        "captured 1: rest; stock: -; last-capturer: 1"
    )
    rows = told_of(game)
    ace, queen = (
        {name: rows[parse_card(card)][part].tolist() for name, part in features_of(game.rules).columns.items()}
        for card in ("AH", "QH")
    )
    assert ace["gain"] == [20]
    assert (ace["reply"], ace["keep"], ace["worth"]) == ([10], [3], [13])  # the next seat holds a four, and sweeps
    assert ace["left"] == [0, 0, 0, 1] + [0] * 9
    assert ace["takers"] == [0, 0, 0, 1] + [0] * 11  # the four of hearts
    assert ace["takes"] == [0, 0, 0, 10] + [0] * 11  # a sweep
    assert queen["gain"] == [0]
    assert queen["left_cards"] == [3]
    assert queen["takers"] == [0, 0, 0, 1] + [0] * 8 + [2, 0, 0]  # a king takes the queen and the ace
    assert queen["own_takers"] == [1, 0, 0, 1] + [0] * 11
    assert queen["takes"] == [0, 0, 0, 0] + [0] * 8 + [10, 0, 0]
    assert queen["cards_sure"] == queen["spades_sure"] == [-1]
