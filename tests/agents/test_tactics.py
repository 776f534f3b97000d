"""What greedy and the tactician choose: the best count in Krypkasino, and positions from the sources of the others."""

from __future__ import annotations

import numpy as np
import pytest
from support.builds import at
from support.positions import played
from support.relatives import OPTIONAL

from krypenv import Engine, Game, Move, Rules, agents
from krypenv.agents.neural.action_features import features_of, gather_action_features
from krypenv.cards import NUM_KINDS, card_name, parse_card
from krypenv.features import COLUMNS, WIDTH
from krypenv.observation import SIZE

MAIN = Rules.preset("krypkasino")
KASINO = ["kasino-sweden", "overspader", "kasino-finland"]
in_each = pytest.mark.parametrize("name", KASINO)


def chosen(game: Game, spec: str = "tactician", first: str = "") -> Move:
    """The move of an agent, from a first card on if one is given, carried out by its actions."""
    agent, twin = agents.make(spec, game.rules, 1), game.copy()
    if first:
        twin.act(parse_card(first))
    while len(twin.moves) == len(game.moves):
        twin.act(int(agent.act(twin.observation()[None], twin.action_mask()[None])[0]))
    return twin.moves[-1]


# ---------------------------------------------------------------------- Krypkasino


def column(engine: Engine, name: str) -> np.ndarray:
    """One entry of the features block for each legal action, (B, 105) floats; nan where illegal."""
    block = engine.observation[:, SIZE:].reshape(-1, NUM_KINDS, WIDTH)[:, :, COLUMNS[name].start].astype(float)
    values = np.concatenate([block, block, np.full((len(block), 1), np.nan)], axis=1)
    return np.where(engine.action_mask == 1, values, np.nan)


@pytest.mark.parametrize(("spec", "is_greedy"), [("greedy", True), ("tactician", False)])
def test_greedy_takes_the_fewest_points_and_the_tactician_expects_the_next_sweep(spec: str, is_greedy: bool) -> None:
    engine = played(MAIN, 512, 45, features=True)
    count = column(engine, "least_points" if is_greedy else "points") + 5 * column(engine, "sweeps")
    count -= 0 if is_greedy else column(engine, "chance") / 20
    actions = agents.make(spec, MAIN).act(engine.observation, engine.action_mask)
    loss = count[np.arange(len(count)), actions] - np.nanmin(count, axis=1)
    assert loss.max() <= (0 if is_greedy else 5 * 0.01 + 1e-9)  # the block has the chance in whole percent


def test_tactician_sheds_the_highest_card_where_all_creep_alike() -> None:
    engine = played(MAIN, 4096, 45, features=True)
    alike = (np.nan_to_num(column(engine, "creeps"), nan=1) == 1).all(axis=1)
    alike &= np.nansum(column(engine, "chance") + column(engine, "points"), axis=1) == 0
    hand_value = np.array(MAIN.hand_values)[np.arange(NUM_KINDS) % 13]
    plays = engine.action_mask[alike, :NUM_KINDS]
    assert len(plays) > 20
    actions = agents.make("tactician(shed=True)", MAIN).act(engine.observation[alike], engine.action_mask[alike])
    np.testing.assert_array_equal(hand_value[actions], (plays * hand_value).max(axis=1))


# ---------------------------------------------------------------------- Kasino and Mulle


@pytest.mark.parametrize("rules", OPTIONAL.values(), ids=str)
def test_the_tactician_plays_an_action_of_the_best_worth(rules: Rules) -> None:
    engine, tactician = Engine(rules, 32, seed=7), agents.make("tactician", rules)
    listed, worth = (features_of(rules).columns[name].start for name in ("listed", "worth"))
    for _ in range(20):
        found = gather_action_features(rules, engine.observation, engine.action_mask)
        played = tactician.act(engine.observation, engine.action_mask)
        rows = np.repeat(np.arange(32), found.counts)
        for row in range(32):
            its = found.features[rows == row]
            values = np.where(its[:, listed] == 1, its[:, worth], -128)
            assert values[found.actions[rows == row] == played[row]] == values.max()
        engine.step(played)


def position(name: str, deal: int, own: str, table: str, captured: str = "", seed: int = 0) -> Game:
    """A game of two at the start of a deal: own hand, table and the other's pile given, all else shuffled."""
    rules = Rules.preset(name)
    rest = rules.deck_counts.copy()
    for card in f"{own} {table} {captured}".split():
        rest[parse_card(card)] -= 1
    cards = [card_name(kind) for kind in np.random.default_rng(seed).permutation(np.repeat(np.arange(NUM_KINDS), rest))]
    size = len(own.split())
    return Game.from_position(
        f"rules: {rules}; deal: {deal}; dealer: 1; turn: 0; hand 0: {own}; hand 1: {' '.join(cards[:size])}; "
        f"table: {table}; captured 1: {captured or '-'}; last-capturer: {'1' if captured else '-'}; "
        f"stock: {' '.join(cards[size:])}"
    )


@in_each
def test_scoring_cards_are_not_left_on_the_table(name: str) -> None:
    assert "2S" in chosen(position(name, 1, "2H 7D JC KS", "2S 9C QD 8H")).takes
    assert "TD" in chosen(position(name, 1, "TC 7D JS KC", "TD 9C QD 5H")).takes


@in_each
def test_a_spade_is_not_trailed_if_there_is_an_alternative(name: str) -> None:
    for own in ("7S 7D AH AC", "7D 7S AH AC"):
        assert chosen(position(name, 1, own, "KH QD JC 9C"))[:2] == ("7D", ())


@in_each
def test_a_card_is_trailed_of_which_the_others_have_been_played(name: str) -> None:
    gone = "8S 8D 8H KC KD JH JS 9D QC QH"
    assert chosen(position(name, 2, "8C 7C AH AC", "KH QD", gone))[:2] == ("8C", ())


@pytest.mark.parametrize("name", ["kasino-sweden", "overspader"])  # in Finland lillan takes the queen and the three
def test_a_card_is_left_that_could_have_been_taken_to_prevent_a_sweep(name: str) -> None:
    assert chosen(position(name, 1, "QC 9C 8D AH", "3D 5C 7D QD"), first="QC")[:2] == ("QC", ("5C", "7D"))


def test_a_card_is_trailed_whose_copy_is_in_the_own_hand() -> None:
    assert chosen(position("mulle", 1, "KH KH 3C 4C 6C", "QS QH JD JC TH"))[:2] == ("KH", ())


# ---------------------------------------------------------------------- builds


@pytest.mark.parametrize("spec", ["tactician", "search"])
def test_b1_points_that_the_opponent_cannot_take_are_built_up(spec: str) -> None:
    """The opponent holds a queen and a jack: a build of nine is safe, and takes more than a nine alone would."""
    game = at("4S KD", "5S 9H", "QC JC")
    move = chosen(game, spec)
    assert (move.card, move.build, move.takes) == ("5S", 9, ("4S",))


@pytest.mark.parametrize("spec", ["greedy", "tactician", "search"])
def test_b1_a_build_of_the_other_is_taken(spec: str) -> None:
    """The opponent has promised a nine; the own nine takes its build with two spades."""
    game = at("KD", "9H 3C", "9C JC", build_9="4S 5S", owner_9="1")
    assert chosen(game, spec).builds == (9,)


@pytest.mark.parametrize("spec", ["tactician", "search"])
def test_g2_a_mulle_is_prepared_where_nobody_can_take_it(spec: str) -> None:
    """A nine and the cards that sum to it are laid together; the nine's copy takes them all later, as a mulle."""
    game = at("4S KD 5C", "9H 9H 3C", "QC JC QD")
    move = chosen(game, spec)
    assert move.card == "9H"
    after = game.copy()
    after.push(move)
    after.push(after.legal_moves()[0])
    final = chosen(after, spec)
    gained = after.copy()
    gained.push(final)
    assert gained.scores()[0] - game.scores()[0] >= 9 + 1  # the mulle, and the four of spades


def test_b3_a_build_is_raised_out_of_the_opponents_reach() -> None:
    """The opponent has promised a seven, and has a seven and a jack; raised to nine, the build is out of reach."""
    game = at("KD", "2C 9H", "7C JC", build_7="4S 3S", owner_7="1")
    move = chosen(game)
    assert (move.card, move.build, move.builds) == ("2C", 9, (7,))
