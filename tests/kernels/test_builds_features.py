"""The features of games with builds, against every legal move of small tables."""

from __future__ import annotations

import numpy as np
import pytest
from support.optional_moves import entries, positions, takers, worth
from support.relatives import BUILDING, GLIMNE

from krypenv import Game, Move
from krypenv.cards import STOP, TAKE, TAKE_BUILD, parse_card

TRIED = {**GLIMNE, **{text: rules for text, rules in BUILDING.items() if rules.games == 1}}


def captures_after(game: Game, action: int) -> list[Move]:
    """Return the moves that build nothing, and that begin with what has been played and taken and then an action."""
    moves = [move for move in game.legal_moves() if move.build is None]
    if action < TAKE:
        return [move for move in moves if parse_card(move.card) == action]
    taken = [parse_card(name) for name in game.taken]
    if action == STOP:
        return [move for move in moves if [*map(parse_card, move.takes)] == taken and not move.builds]
    wanted = [*taken, action - TAKE]
    return [move for move in moves if [*map(parse_card, move.takes)][: len(wanted)] == wanted]


def gain(game: Game, move: Move) -> float:
    """Return what a move is worth at once to the seat to act."""
    after, seat = game.copy(), game.turn
    after.push(move)
    return float(worth(game, move)) + after.mulle_scores(seat) - game.mulle_scores(seat)


@pytest.mark.parametrize("text", TRIED)
def test_b1_g2_the_row_of_an_action_describes_a_capture_that_is_worth_most(text: str) -> None:
    rules, tried, with_builds = TRIED[text], 0, 0
    for game in positions(rules, 25, seed=1):
        for action in [action for action in game.legal_actions() if action <= STOP and not game.building]:
            seat, found, moves = game.turn, entries(game, action), captures_after(game, action)
            if not moves:
                assert found["creeps"] == [1]
                continue
            best, described = max(gain(game, move) for move in moves), set()
            for move in moves:
                after = game.copy()
                after.push(move)
                if after.deal_number != game.deal_number or after.is_over:
                    break
                if gain(game, move) > best - 1e-9:
                    cards, spades = np.subtract(after.pile_counts(seat), game.pile_counts(seat)).tolist()
                    made = (
                        after.points(seat) - game.points(seat),
                        cards,
                        spades,
                        after.mulles(seat) - game.mulles(seat),
                    )
                    described.add((*made, move.sweep, cards == 0))
                    with_builds += bool(move.builds)
            else:
                row = (*(found[name][0] for name in ("points", "cards", "spades", "mulle", "sweeps")),)
                assert (*row, bool(found["creeps"][0])) in described
                tried += 1
    assert tried > 20
    assert with_builds > 1


def test_b1_b6_what_a_build_leaves_to_the_next_seat() -> None:
    rules = TRIED["mulle-glimne players=2"]
    game = Game.from_position(
        "rules: mulle-glimne players=2; table: 5D KH; hand 0: 4S 9C; hand 1: 9D QC; build 12: 7C 5C; owner 12: 1; "
        "captured 1: rest"
    )
    trails = entries(game, parse_card("4S"))
    assert trails["creeps"] == [1]
    kinds = takers(rules, [*game.table, "4S"])
    assert parse_card("9D") in kinds
    assert trails["left_points"] == [1]  # the four of spades; the cards of the build count nothing
    assert trails["take_chance"] == [100]  # seat 1 has both unseen cards, and either takes something
    assert trails["chance"] == [0]  # the build and the loose cards are not one capture
    game.act(parse_card("4S"))
    game.act(105 + 9)
    laid = entries(game, TAKE + parse_card("5D"))
    assert (laid["creeps"], laid["points"], laid["cards"]) == ([0], [0], [0])
    assert laid["left_points"] == [1]


def test_b6_the_chance_of_a_sweep_of_a_lone_build() -> None:
    game = Game.from_position(
        "rules: mulle-glimne players=2; table: KH; hand 0: KC 2C; hand 1: QC 3D; build 12: 7C 5C; owner 12: 1; "
        "captured 1: rest"
    )
    game.act(parse_card("KC"))
    take = entries(game, TAKE + parse_card("KH"))
    assert (take["sweeps"], take["chance"], take["take_chance"]) == ([0], [100], [100])
    assert TAKE_BUILD + 12 not in game.legal_actions()
