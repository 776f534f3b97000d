"""Habits: that nothing else of an agent's play changes; and what each of those of the studies allows, by the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.sampled import HAND_VALUES, STRONG, TWO, games, names_of, points_of, positions
from support.scripts import load

from krypenv import Game, agents
from krypenv.cards import NUM_KINDS
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


def test_a_habit_leaves_the_choice_of_a_capture_alone() -> None:
    engine = positions(TWO, 2000)
    choosing = engine.action_mask[:, NUM_KINDS:].any(axis=1)
    assert choosing.sum() > 10
    seen, masks = engine.observation[choosing], engine.action_mask[choosing]
    for name, habit in HABITS.items():
        assert (habit(TWO, seen, masks)[:, NUM_KINDS:] == (masks[:, NUM_KINDS:] > 0)).all(), name
