"""What building is for, as positions that greedy and the tactician play."""

from __future__ import annotations

import pytest
from support.builds import at

from krypenv import Game, Move, agents


def chosen(game: Game, spec: str = "tactician") -> Move:
    """The move of an agent, carried out by its actions."""
    agent, twin = agents.make(spec, game.rules, 1), game.copy()
    while len(twin.moves) == len(game.moves):
        twin.act(int(agent.act(twin.observation()[None], twin.action_mask()[None])[0]))
    return twin.moves[-1]


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


def test_b5_who_owns_a_build_raises_or_takes_it_and_greedy_does_so_at_once() -> None:
    game = at("KD", "9H 3C", "QC JC", build_9="4S 5S", owner_9="0")
    assert chosen(game, "greedy").builds == (9,)


def test_b3_a_build_is_raised_out_of_the_opponents_reach() -> None:
    """The opponent has promised a seven, and has a seven and a jack; raised to nine, the build is out of reach."""
    game = at("KD", "2C 9H", "7C JC", build_7="4S 3S", owner_7="1")
    move = chosen(game)
    assert (move.card, move.build, move.builds) == ("2C", 9, (7,))
