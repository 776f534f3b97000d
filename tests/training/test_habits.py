"""Habits: that nothing else of an agent's play changes; and what each of those of the studies allows, by the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.sampled import HAND_VALUES, STRONG, TWO, games, names_of, points_of, positions, table_of
from support.scripts import load

from krypenv import Game, agents
from krypenv.cards import NUM_KINDS, card_name
from krypenv.training.lab import Habit, play_chunk, with_habit

STUDY = load("habits")
HABITS: dict[str, Habit] = STUDY.HABITS


def allowed_by(name: str, game: Game) -> set[str]:
    """The cards that a habit allows in a game; all legal ones where it allows none, for then it does not apply."""
    masks = game.action_mask()[None]
    allowed = HABITS[name](game.rules, game.observation()[None], masks) & (masks > 0)
    return names_of(allowed[0]) or names_of(masks[0])


def takes_of(move: Any) -> list[str]:
    """The cards that a move takes."""
    text = str(move).rstrip("#").partition("x")[2]
    return [text[at : at + 2] for at in range(0, len(text), 2)]


class TestWithHabit:
    @pytest.mark.parametrize(
        "base", ["greedy", STRONG, "search(worlds=2, plies=1)", "rollout(worlds=1)", "champion(worlds=2)"]
    )
    def test_a_habit_changes_forbidden_choices_alone(self, base: str) -> None:
        engine = positions(TWO, 40)
        seen, masks = engine.observation, engine.action_mask
        allowed = np.random.default_rng(0).random(masks.shape) < 0.5
        plain = agents.make(base, TWO, 1).act(seen, masks)
        chosen = with_habit(lambda *_: allowed.copy())(base, TWO, 1).act(seen, masks)
        legal = (masks > 0) & allowed
        for row in range(len(chosen)):
            if legal[row, plain[row]] or not legal[row].any():
                assert chosen[row] == plain[row]
            else:
                assert legal[row, chosen[row]]

    def test_a_forbidden_choice_gives_way_to_the_one_valued_next(self) -> None:
        engine, network = positions(TWO), f"learned(model={agents.make(STRONG, TWO).models[0]!r}, solver=False)"
        seen, masks = engine.observation, engine.action_mask
        best = agents.make(network, TWO).act(seen, masks)

        def all_but_the_best(rules: Any, seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
            allowed = masks > 0
            allowed[np.arange(len(masks)), best] = False
            return allowed

        values = np.where(masks > 0, agents.make(network, TWO).evaluate(seen, masks)[0].astype(float), -np.inf)
        chosen = with_habit(all_but_the_best)(network, TWO, 0).act(seen, masks)
        for row, (first, second) in enumerate(zip(best, chosen, strict=True)):
            order = np.argsort(-values[row], kind="stable")
            assert first == order[0]
            assert second == order[1 if (masks[row] > 0).sum() > 1 else 0]

    @pytest.mark.parametrize("habit", [lambda rules, seen, masks: masks > 0, lambda rules, seen, masks: masks < 0])
    def test_a_habit_that_allows_all_or_nothing_changes_nothing(self, habit: Habit) -> None:
        assert play_chunk(str(TWO), STRONG, 0, 5, 0, with_habit(habit)) == [0.0] * 5

    def test_agents_without_values_can_have_no_habit(self) -> None:
        with pytest.raises(ValueError, match="random does not value its actions; champion, guided, search and"):
            with_habit(lambda rules, seen, masks: masks > 0)("random", TWO, 0)


def expected(game: Game) -> dict[str, set[str]]:
    """The cards that habits allow in a game, by its legal moves."""
    creeps = {str(move) for move in game.legal_moves() if not move.takes}
    cost: dict[str, int] = {}  # the fewest points that a card takes in with itself
    for move in game.legal_moves():
        if move.takes:
            card = str(move)[:2]
            cost[card] = min(cost.get(card, 99), points_of(card) + sum(map(points_of, takes_of(move))))
    value = {card: HAND_VALUES.get(card[0]) or int(card[0]) for card in creeps}
    aces = {card for card in creeps if card[0] == "A"}
    low = {card for card in creeps if value[card] <= 7 and not points_of(card)}
    cheap, dear = ({card for card in cost if cost[card] == bound(cost.values())} for bound in (min, max))
    creeping = {
        "creep the highest": {card for card in creeps if value[card] == max(value.values())},
        "creep the lowest": {card for card in creeps if value[card] == min(value.values())},
        "creep aces first": aces or creeps,
        "creep aces last": creeps - aces or creeps,
        "low cards first": low or creeps,
        "low cards last": creeps - low or creeps,
    }
    limits = {f"pay {most} at most": {card for card in cost if cost[card] <= most} for most in (0, 2)}
    return {
        "creep": creeps or set(cost),
        "capture": set(cost) or creeps,
        "capture the cheapest": creeps | cheap,
        "capture the dearest": creeps | dear,
        **{name: creeps | cards if creeps else set(cost) for name, cards in limits.items()},
        **{name: set(cost) | cards for name, cards in creeping.items()},
    }


def test_what_habits_allow_in_random_games() -> None:
    forbids = dict.fromkeys(expected(Game(TWO, seed=0)), 0)
    for game in games(TWO):
        for name, cards in expected(game).items():
            assert allowed_by(name, game) == cards, name
            forbids[name] += cards != names_of(game.action_mask())
    assert min(forbids.values()) > 5, forbids


def test_what_a_card_leaves() -> None:
    for game in games(TWO):
        left = STUDY.tables_left(TWO, game.observation()[None], game.action_mask()[None])[0]
        after: dict[str, list[list[int]]] = {}
        for move in game.legal_moves():
            card, taken = str(move)[:2], table_of(" ".join(takes_of(move)))[0]
            lying = game.table if move.takes else [*game.table, card]
            after.setdefault(card, []).append((table_of(" ".join(lying))[0] - taken).tolist())
        played = np.flatnonzero(left[:, 0] >= 0)
        assert {card_name(int(card)) for card in played} == set(after)
        assert all(left[card].tolist() in after[card_name(int(card))] for card in played)


def test_a_habit_leaves_the_choice_of_a_capture_alone() -> None:
    engine = positions(TWO, 2000)
    choosing = engine.action_mask[:, NUM_KINDS:].any(axis=1)
    assert choosing.sum() > 10
    seen, masks = engine.observation[choosing], engine.action_mask[choosing]
    for name, habit in HABITS.items():
        assert (habit(TWO, seen, masks)[:, NUM_KINDS:] == (masks[:, NUM_KINDS:] > 0)).all(), name


SEEK = "seek the last capture", "avoid the last capture"
CAPTURE = "capture in the last deal", "creep in the last deal"
FOUL = "foul a ten of diamonds", "spare a ten of diamonds"
TAKE = "take beside a spade", "leave beside a spade"
SET_UP = "set up sweeps", "set up no sweep"
SINGLE = "leave a single card", "leave no single card"
TWO_CARDS = "leave two cards", "leave no two cards"
CARDS = "capture the fewest cards", "capture the most cards"

LAST_DEAL = "table: 6D QC; hand 0: 6C JC; hand 1: 9C 9D"
MORE_CARDS = "table: 6D QC; hand 0: 6C JC 5C; hand 1: 9C 9D 9H"
STOCK = "; stock: 2D 2H 3C 3D 3H 3S 4S 4C"
TEN_LIES = "table: TD 9C; hand 0: AH KC 3D 4D; hand 1: 5C 6C 7C 8C"
KING_CAPTURES = "table: TD 3C 8H; hand 0: KC AD 4D; hand 1: 5C 6C 7C"
SPADE_LIES = "table: 5D 9S QC; hand 0: 5C 9H 2D; hand 1: 6C 6D 7C"  # the five takes no point, the nine a spade
QUEEN_STAYS = "table: 2C 6C QC; hand 0: 8C 7D JD; hand 1: 5C 6H QD"  # by the eight; the others leave four cards
NINE_STAYS = "table: 2C 6C 9C; hand 0: 8C 7D KD; hand 1: 5C 6H 7C"
TWO_STAY = "table: 2C 6C QC 9C; hand 0: 8C 7D 3D; hand 1: 5C 6H 7C"
EIGHT_TAKES_TWO = "table: 2C 6C QC 9D; hand 0: 8C 9H KS; hand 1: 5C 6H 7C"  # and the nine one


@pytest.mark.parametrize(
    ("position", "habits", "first", "second"),
    [
        (LAST_DEAL, SEEK, "6C", "JC"),
        (MORE_CARDS, CAPTURE, "6C", "JC 5C"),
        (TEN_LIES, FOUL, "AH KC", "3D 4D"),
        (KING_CAPTURES, FOUL, "AD", "KC 4D"),
        (SPADE_LIES, TAKE, "5C", "9H 2D"),
        (QUEEN_STAYS, SET_UP, "8C", "7D JD"),
        (NINE_STAYS, SINGLE, "8C", "7D KD"),
        (TWO_STAY, TWO_CARDS, "8C", "7D 3D"),
        (EIGHT_TAKES_TWO, CARDS, "9H KS", "8C KS"),
        # where a habit does not apply, it allows everything
        (LAST_DEAL + STOCK, SEEK, "6C JC", "6C JC"),
        (MORE_CARDS, SEEK, "6C JC 5C", "6C JC 5C"),
        (MORE_CARDS + STOCK, CAPTURE, "6C JC 5C", "6C JC 5C"),
        (TEN_LIES.replace("TD", "TC"), FOUL, "AH KC 3D 4D", "AH KC 3D 4D"),
        (TEN_LIES.replace("AH KC", "5D 6D"), FOUL, "5D 6D 3D 4D", "5D 6D 3D 4D"),
        (SPADE_LIES.replace("9S", "9C"), TAKE, "5C 9H 2D", "5C 9H 2D"),
        (SPADE_LIES.replace(": 5C", ": 5S"), TAKE, "5S 9H 2D", "5S 9H 2D"),
        (QUEEN_STAYS, SINGLE, "8C 7D JD", "8C 7D JD"),
        (QUEEN_STAYS, TWO_CARDS, "8C 7D JD", "8C 7D JD"),
    ],
)
def test_what_habits_and_their_opposites_allow(position: str, habits: tuple[str, str], first: str, second: str) -> None:
    game = Game.from_position(f"rules: krypkasino players=2; captured 1: rest; {position}")
    assert [allowed_by(name, game) for name in habits] == [set(first.split()), set(second.split())]
