"""Habits: what each allows, by the rules, and that nothing else of an agent's play changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import sampled
from support.sampled import HAND_VALUES, STRONG, TWO, games, names_of, points_of, positions

from krypenv import Game, agents
from krypenv.cards import NUM_KINDS, card_name
from krypenv.training.lab import (
    HABITS,
    Habit,
    WithHabit,
    play_chunk,
    tables_left,
    values_of,
    with_habit,
)

SHEDDING = [
    "creep the highest card",
    "creep the lowest card",
    "creep aces first",
    "creep aces last",
    "creep low cards without points first",
    "creep low cards without points last",
]
PAYS = "pays {} at most for a capture"


def allowed_by(name: str, game: Game) -> set[str]:
    """The cards that a habit allows in a game; all legal ones where it allows none, for then it does not apply."""
    masks = game.action_mask()[None]
    allowed = HABITS[name](game.rules, game.observation()[None], masks) & (masks > 0)
    return names_of(allowed[0]) or names_of(masks[0])


def creeps_of(game: Game) -> set[str]:
    """The cards that creep."""
    return {str(move) for move in game.legal_moves() if not move.takes}


def captures_of(game: Game) -> dict[str, list[list[str]]]:
    """What each card that captures can take."""
    found: dict[str, list[list[str]]] = {}
    for move in game.legal_moves():
        if move.takes:
            found.setdefault(str(move).partition("x")[0], []).append(takes_of(move))
    return found


def takes_of(move: Any) -> list[str]:
    text = str(move).rstrip("#").partition("x")[2]
    return [text[at : at + 2] for at in range(0, len(text), 2)]


def network() -> Any:
    return agents.make(f"learned(model={agents.make(STRONG, TWO).models[0]!r}, solver=False)", TWO)


class TestWithHabit:
    @pytest.mark.parametrize("base", [STRONG, "search(worlds=2, plies=1)", "rollout(worlds=1)", "champion(worlds=2)"])
    def test_a_habit_changes_forbidden_choices_alone(self, base: str) -> None:
        engine = positions(TWO, 40)
        seen, masks = engine.observation, engine.action_mask
        allowed = np.random.default_rng(0).random(masks.shape) < 0.5
        plain = agents.make(base, TWO, 1).act(seen, masks)
        chosen = WithHabit(agents.make(base, TWO, 1), lambda *_: allowed.copy(), "h").act(seen, masks)
        legal = (masks > 0) & allowed
        for row in range(len(chosen)):
            if legal[row, plain[row]] or not legal[row].any():
                assert chosen[row] == plain[row]
            else:
                assert legal[row, chosen[row]]

    def test_a_forbidden_choice_gives_way_to_the_one_valued_next(self) -> None:
        engine, agent = positions(TWO), network()
        seen, masks = engine.observation, engine.action_mask
        best = agent.act(seen, masks)

        def all_but_the_best(rules: Any, seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
            allowed = masks > 0
            allowed[np.arange(len(masks)), best] = False
            return allowed

        values = np.where(masks > 0, values_of(agent)(seen, masks).astype(float), -np.inf)
        chosen = WithHabit(agent, all_but_the_best, "h").act(seen, masks)
        for row, (first, second) in enumerate(zip(best, chosen, strict=True)):
            order = np.argsort(-values[row], kind="stable")
            assert first == order[0]
            assert second == order[1 if (masks[row] > 0).sum() > 1 else 0]

    @pytest.mark.parametrize("habit", [lambda rules, seen, masks: masks > 0, lambda rules, seen, masks: masks < 0])
    def test_a_habit_that_allows_all_or_nothing_changes_nothing(self, habit: Habit) -> None:
        engine = positions(TWO)
        plain = agents.make(STRONG, TWO, 1).act(engine.observation, engine.action_mask)
        twin = WithHabit(agents.make(STRONG, TWO, 1), habit, "h").act(engine.observation, engine.action_mask)
        assert (plain == twin).all()
        assert play_chunk(str(TWO), STRONG, 0, 5, 0, with_habit(habit)) == [0.0] * 5

    def test_agents_without_values_can_have_no_habit(self) -> None:
        with pytest.raises(ValueError, match="random does not value its actions; champion, guided, search and"):
            WithHabit(agents.make("random", TWO), lambda rules, seen, masks: masks > 0, "h")


class TestHabits:
    """By the legal moves of a `Game`."""

    @pytest.mark.parametrize("name", HABITS)
    def test_a_habit_leaves_the_choice_of_a_capture_alone(self, name: str) -> None:
        engine = positions(TWO, 2000)
        choosing = engine.action_mask[:, NUM_KINDS:].any(axis=1)
        assert choosing.sum() > 10
        seen, masks = engine.observation[choosing], engine.action_mask[choosing]
        assert (HABITS[name](TWO, seen, masks)[:, NUM_KINDS:] == (masks[:, NUM_KINDS:] > 0)).all()

    def test_creeping_and_capturing_are_told_apart(self) -> None:
        both = 0
        for game in games(TWO):
            captures, creeps = set(captures_of(game)), creeps_of(game)
            assert allowed_by("creep whenever possible", game) == (creeps or captures)
            assert allowed_by("capture whenever possible", game) == (captures or creeps)
            both += bool(captures) and bool(creeps)
        assert both > 20

    @pytest.mark.parametrize("limit", [0, 1, 2, 3, 4, 6])
    def test_a_limit_forbids_dear_captures_where_a_card_can_creep(self, limit: int) -> None:
        for game in games(TWO):
            captures, creeps = captures_of(game), creeps_of(game)
            cheap = {
                card
                for card, ways in captures.items()
                if points_of(card) + min(sum(map(points_of, way)) for way in ways) <= limit
            }
            assert allowed_by(PAYS.format(limit), game) == (creeps | cheap if creeps else set(captures))

    @pytest.mark.parametrize(("name", "bound"), [("fewest", min), ("most", max)])
    def test_captures_of_the_fewest_and_the_most_points(self, name: str, bound: Any) -> None:
        several = 0
        for game in games(TWO):
            cost = {
                card: points_of(card) + min(sum(map(points_of, way)) for way in ways)
                for card, ways in captures_of(game).items()
            }
            kept = {card for card in cost if cost[card] == bound(cost.values())}
            assert allowed_by(f"capture the {name} points", game) == creeps_of(game) | kept
            several += len(set(cost.values())) > 1
        assert several > 10

    def test_what_a_card_leaves(self) -> None:
        for game in games(TWO):
            left = tables_left(TWO, game.observation()[None], game.action_mask()[None])[0]
            after: dict[str, list[list[int]]] = {}
            for move in game.legal_moves():
                card, taken = str(move).partition("x")[0], sampled.table_of(" ".join(takes_of(move)))[0]
                lying = game.table if move.takes else [*game.table, card]
                stays = sampled.table_of(" ".join(lying))[0] - taken
                after.setdefault(card, []).append(stays.tolist())
            played = np.flatnonzero(left[:, 0] >= 0)
            assert {card_name(int(card)) for card in played} == set(after)
            assert all(left[card].tolist() in after[card_name(int(card))] for card in played)

    def test_captures_of_the_fewest_and_the_most_cards(self) -> None:
        text = "rules: krypkasino players=2; table: 2C 6C QC 9D; hand 0: 8C 9H KS; hand 1: 5C 6H 7C; captured 1: rest"
        game = Game.from_position(text)  # the eight takes two cards, the nine one
        assert allowed_by("capture the fewest cards", game) == {"9H", "KS"}
        assert allowed_by("capture the most cards", game) == {"8C", "KS"}

    @pytest.mark.parametrize("name", SHEDDING)
    def test_a_rule_of_shedding_chooses_among_the_cards_that_creep(self, name: str) -> None:
        several = 0
        for game in games(TWO):
            creeps = creeps_of(game)
            value = {card: HAND_VALUES.get(card[0]) or int(card[0]) for card in creeps}
            aces = {card for card in creeps if card[0] == "A"}
            neutral = {card for card in creeps if value[card] <= 7 and not points_of(card)}
            kept = {
                "creep the highest card": {card for card in creeps if value[card] == max(value.values())},
                "creep the lowest card": {card for card in creeps if value[card] == min(value.values())},
                "creep aces first": aces or creeps,
                "creep aces last": creeps - aces or creeps,
                "creep low cards without points first": neutral or creeps,
                "creep low cards without points last": creeps - neutral or creeps,
            }[name]
            assert allowed_by(name, game) == set(captures_of(game)) | kept
            several += kept != creeps
        assert several > 5

    def test_aces_and_kings_beside_a_ten_of_diamonds(self) -> None:
        fouls, spares = (f"creep {which} ace or king beside a ten of diamonds" for which in ("an", "no"))
        lies = "rules: krypkasino players=2; table: TD 9C; hand 0: AH KC 3D 4D; hand 1: 5C 6C 7C 8C; captured 1: rest"
        game = Game.from_position(lies)
        assert allowed_by(fouls, game) == {"AH", "KC"}
        assert allowed_by(spares, game) == {"3D", "4D"}
        for other in (lies.replace("TD", "TC"), lies.replace("AH KC", "5D 6D")):
            game = Game.from_position(other)
            assert allowed_by(fouls, game) == allowed_by(spares, game) == names_of(game.action_mask())
        game = Game.from_position(
            "rules: krypkasino players=2; table: TD 3C 8H; hand 0: KC AD 4D; hand 1: 5C 6C 7C; captured 1: rest"
        )  # the king captures
        assert allowed_by(fouls, game) == {"AD"}
        assert allowed_by(spares, game) == {"KC", "4D"}

    def test_a_neutral_card_while_a_spade_lies(self) -> None:
        takes, leaves = (f"take {which} neutral card while a spade lies there" for which in ("a", "no"))
        text = "rules: krypkasino players=2; table: 5D 9S QC; hand 0: 5C 9H 2D; hand 1: 6C 6D 7C; captured 1: rest"
        game = Game.from_position(text)  # the five takes no point, the nine takes a spade
        assert allowed_by(takes, game) == {"5C"}
        assert allowed_by(leaves, game) == {"9H", "2D"}
        for other in (text.replace("9S", "9C"), text.replace("hand 0: 5C", "hand 0: 5S")):
            game = Game.from_position(other)
            assert allowed_by(takes, game) == allowed_by(leaves, game) == names_of(game.action_mask())

    def test_two_cards_left_and_single_ones(self) -> None:
        text = "rules: krypkasino players=2; table: 2C 6C QC; hand 0: 8C 7D JD; hand 1: 5C 6H 7C; captured 1: rest"
        game = Game.from_position(text)  # the eight leaves the queen, the others four cards
        assert allowed_by("leave two cards if it can", game) == {"8C", "7D", "JD"}
        assert allowed_by("leave a single card but a picture", game) == {"8C", "7D", "JD"}
        game = Game.from_position(text.replace("QC", "9C").replace("JD", "KD"))
        assert allowed_by("leave a single card but a picture", game) == {"8C"}
        assert allowed_by("leave no single card but a picture", game) == {"7D", "KD"}
        game = Game.from_position(text.replace("QC", "QC 9C").replace("JD", "3D"))
        assert allowed_by("leave two cards if it can", game) == {"8C"}
        assert allowed_by("never leave two cards if it can", game) == {"7D", "3D"}

    @pytest.mark.parametrize(("stock", "now"), [("", True), ("stock: 2D 2H 3C 3D 3H 3S 4S 4C", False)])
    def test_the_last_capture_is_fought_for_in_the_last_deal(self, stock: str, now: bool) -> None:
        text = "rules: krypkasino players=2; table: 6D QC; hand 0: 6C JC; hand 1: 9C 9D; captured 1: rest"
        game = Game.from_position(f"{text}; {stock}")
        assert allowed_by("seeks the last capture with two cards", game) == ({"6C"} if now else {"6C", "JC"})
        assert allowed_by("avoids the last capture with two cards", game) == ({"JC"} if now else {"6C", "JC"})
        more = Game.from_position(f"{text}; {stock}".replace("6C JC", "6C JC 5C").replace("9C 9D", "9C 9D 9H"))
        for name in ("seeks", "avoids"):
            assert allowed_by(f"{name} the last capture with two cards", more) == {"6C", "JC", "5C"}
        assert allowed_by("captures whenever it can in the last deal", more) == ({"6C"} if now else {"6C", "JC", "5C"})
        assert allowed_by("creeps whenever it can in the last deal", more) == (
            {"JC", "5C"} if now else {"6C", "JC", "5C"}
        )

    def test_a_set_up_is_a_chance_for_the_next_seat(self) -> None:
        """The eight leaves a queen, which a queen sweeps; after any other card no single card takes all."""
        text = "rules: krypkasino players=2; table: 2C 6C QC; hand 0: 8C 7D JD; hand 1: 5C 6H QD; captured 1: rest"
        game = Game.from_position(text)
        assert allowed_by("sets up whenever it can", game) == {"8C"}
        assert allowed_by("never sets up a sweep if it can", game) == {"7D", "JD"}
