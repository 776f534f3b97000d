"""What greedy and the tactician choose: the best count in Krypkasino, and positions from the sources of the others."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import lay
from support.positions import played
from support.relatives import at

from krypenv import Engine, Game, Move, Rules, agents
from krypenv.cards import NUM_KINDS, card_name, parse_card
from krypenv.features import COLUMNS, WIDTH
from krypenv.observation import SIZE

MAIN = Rules.preset("krypkasino")
KASINO = ["kasino-sweden", "overspader", "kasino-finland"]
EVERY = ("greedy", "tactician", "search")


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


def position(name: str, deal: int, own: str, table: str, captured: str = "") -> Game:
    """A game of two at the start of a deal: own hand, table and the other's pile given."""
    named = f"{own} {table} {captured}".split()
    others = [card for card in map(card_name, range(NUM_KINDS)) if card not in named][: len(own.split())]
    pile = f"captured 1: {captured}; last-capturer: 1" if captured else "captured 1: -"
    return lay(table, own, " ".join(others), rules=name, more=f"deal: {deal}; dealer: 1; {pile}; stock: rest")


GONE = "8S 8D 8H KC KD JH JS 9D QC QH"


@pytest.mark.parametrize(
    ("deal", "own", "table", "captured", "card"),
    [
        (1, "7S 7D AH AC", "KH QD JC 9C", "", "7D"),  # a spade is not trailed if there is an alternative
        (1, "7D 7S AH AC", "KH QD JC 9C", "", "7D"),
        (2, "8C 7C AH AC", "KH QD", GONE, "8C"),  # a card of which the others have been played
    ],
)
@pytest.mark.parametrize("name", KASINO)
def test_the_card_that_helps_the_others_least_is_trailed(
    name: str, deal: int, own: str, table: str, captured: str, card: str
) -> None:
    assert chosen(position(name, deal, own, table, captured))[:2] == (card, ())


@pytest.mark.parametrize("name", KASINO)
def test_scoring_cards_are_taken_and_sweeps_prevented(name: str) -> None:
    assert "2S" in chosen(position(name, 1, "2H 7D JC KS", "2S 9C QD 8H")).takes
    assert "TD" in chosen(position(name, 1, "TC 7D JS KC", "TD 9C QD 5H")).takes
    if name != "kasino-finland":  # there lillan takes the queen and the three
        assert chosen(position(name, 1, "QC 9C 8D AH", "3D 5C 7D QD"), first="QC")[:2] == ("QC", ("5C", "7D"))


def test_a_card_is_trailed_whose_copy_is_in_the_own_hand() -> None:
    assert chosen(position("mulle", 1, "KH KH 3C 4C 6C", "QS QH JD JC TH"))[:2] == ("KH", ())


# ---------------------------------------------------------------------- builds


@pytest.mark.parametrize(
    ("table", "hands", "build", "move", "specs"),
    [
        # a build of nine is safe from a queen and a jack, and takes more than a nine alone would
        ("4S KD", ("5S 9H", "QC JC"), {}, ("5S", ("4S",), 9, ()), ("tactician", "search")),
        # the other has promised a nine; the own nine takes its build with two spades
        ("KD", ("9H 3C", "9C JC"), {"build_9": "4S 5S", "owner_9": "1"}, ("9H", (), None, (9,)), EVERY),
        # who owns a build takes it
        ("KD", ("9H 3C", "QC JC"), {"build_9": "4S 5S", "owner_9": "0"}, ("9H", (), None, (9,)), ("greedy",)),
        # the other has promised a seven, and has a seven and a jack; raised to nine, the build is out of reach
        ("KD", ("2C 9H", "7C JC"), {"build_7": "4S 3S", "owner_7": "1"}, ("2C", (), 9, (7,)), ("tactician",)),
    ],
)
def test_b1_b3_b5_builds_are_made_taken_and_raised_where_that_is_best(
    table: str, hands: tuple[str, ...], build: dict[str, str], move: tuple[object, ...], specs: tuple[str, ...]
) -> None:
    for spec in specs:
        found = chosen(at(table, *hands, **build), spec)
        assert (found.card, found.takes, found.build, found.builds) == move


@pytest.mark.parametrize("spec", ["tactician", "search"])
def test_g2_a_mulle_is_prepared_where_nobody_can_take_it(spec: str) -> None:
    """A nine and the cards that sum to it are laid together; the nine's copy takes them all later, as a mulle."""
    game = at("4S KD 5C", "9H 9H 3C", "QC JC QD")
    after = game.copy()
    after.push(chosen(game, spec))
    assert after.last_move.card == "9H"
    after.push(after.legal_moves()[0])
    after.push(chosen(after, spec))
    assert after.scores()[0] - game.scores()[0] >= 9 + 1  # the mulle, and the four of spades
