"""One game: an agent's move, its probabilities, what it shows of its moves, and how it is shown."""

from __future__ import annotations

import numpy as np
import pytest
from support.games import shuffle_hidden

from krypenv import Game, Rules, agents
from krypenv.advice.values import values_of
from krypenv.agents.champion import MODELS
from krypenv.agents.moves.record import as_move
from krypenv.features import observation_for

TWO = Rules.preset("krypkasino", players=2)
KASINO, GLIMNE = Rules.preset("kasino-sweden"), Rules.preset("mulle-glimne")
SPECS = {
    "random": TWO, "tactician(shed=True)": TWO, "search(worlds=3)": KASINO, "ismcts(worlds=4)": GLIMNE,
    "champion(worlds=0)": TWO, "champion(worlds=2)": TWO, "oracle-hand": GLIMNE, "oracle-cards(worlds=2)": KASINO,
    "search(worlds=2)": GLIMNE, f"{__name__}:Counting": TWO,
}  # fmt: skip


class Counting:
    """Plays by the number of earlier calls and, where it is told, of the plays of the deal."""

    needs_features = needs_history = True

    def __init__(self, rules, seed=0):
        self.calls = 0

    def act(self, observations, action_masks):
        self.calls += 1
        legal = np.flatnonzero(action_masks[0])
        return legal[[(self.calls + np.abs(observations[0].astype(int)).sum()) % len(legal)]]


def some_games(rules: Rules) -> list[Game]:
    """Games with a choice, at different points; some in the middle of a play."""
    rng, found = np.random.default_rng(3), []
    game = Game(rules, seed=5)
    while not game.is_over:
        if rng.random() < 0.15 and len(game.legal_actions()) > 1:
            found.append(game.copy())
        game.act(int(rng.choice(game.legal_actions())))
    return [*found[:6], *[game for game in found if game.pending][:4]]


def acted(agent, game: Game) -> str:
    """The move that an agent makes by its actions."""
    game, before = game.copy(), len(game.moves)
    while len(game.moves) == before:
        masks = game.action_mask()[None]
        if getattr(agent, "cheats", False):
            action = agent.act_on(np.array([game.state]).view(np.recarray), masks)[0]
        else:
            seen = game.observation(features=True, history=True)[None]
            action = agent.act(observation_for(agent, game.rules, seen, masks), masks)[0]
        game.act(int(action))
    return str(game.last_move)


@pytest.mark.parametrize(("spec", "rules"), SPECS.items(), ids=str)
def test_a_move_is_the_decision_of_act_carried_out_by_its_actions(spec, rules):
    agent, twin = (agents.make(spec, rules, seed=4) for _ in range(2))
    for game in some_games(rules):
        before = game.position() if game.pending is None else game.actions
        move = agent.move(game)
        assert move in game.legal_moves()
        assert str(move) == acted(twin, game)
        assert before == (game.position() if game.pending is None else game.actions)


@pytest.mark.parametrize("spec", ["greedy", "oracle-deck", f"{__name__}:Counting"])
def test_a_game_that_is_over_or_of_other_rules_is_refused(spec):
    rules = Rules.preset("mini-low")
    agent, game = agents.make(spec, rules), Game(rules, seed=1)
    with pytest.raises(ValueError, match=r"was made for other rules: mini-low.*, not krypkasino players=2"):
        agent.move(Game(TWO, seed=1))
    while not game.is_over:
        game.push(game.legal_moves()[0])
    with pytest.raises(ValueError, match="the game is over"):
        agent.move(game)


@pytest.mark.parametrize("spec", ["random", "champion(worlds=0)"])
def test_probabilities_are_those_of_legal_actions(spec):
    agent = agents.make(spec)
    games = some_games(TWO)
    seen, masks = (np.array([call(game) for game in games]) for call in (Game.observation, Game.action_mask))
    found = agent.probabilities(seen, masks)
    assert (found > 0).sum() == (found[masks > 0] > 0).sum()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found, [agent.probabilities(game) for game in games])
    if spec != "random":
        is_early = [game.deal_number < 12 for game in games]  # the last deal is solved
        np.testing.assert_array_equal(found.argmax(axis=1)[is_early], agent.act(seen, masks)[is_early])
    with pytest.raises(ValueError, match="other rules"):
        agent.probabilities(Game(Rules.preset("howto"), seed=1))


# ---------------------------------------------------------------------- what moves are worth

NAMES = ["rollout(worlds=20)", f"guided(model={str(MODELS / 'two')!r}, worlds=20)", "search(worlds=20)"]


@pytest.mark.parametrize("name", NAMES)
def test_margins_and_leanings_make_up_the_values_of_actions_whatever_is_hidden(name):
    compared = 0
    for game in some_games(TWO):
        if game.pending is not None or len(game.legal_moves()) < 2 or not game.stock_size:
            continue
        examiner, valuer = (agents.make(name, game.rules, 7) for _ in range(2))
        listed, margins, leanings, _ = examiner.examine(game.observation(), game.action_mask())
        moves = [as_move(row, 0) for row in listed]
        assert sorted(move.card + str(move.takes) for move in moves) == sorted(
            move.card + str(move.takes) for move in game.legal_moves()
        )
        assert np.isfinite(margins).all()
        assert len(margins) == 20
        assert (leanings <= 0).all()
        values = valuer.action_values(game.observation()[None], game.action_mask()[None])[0]
        for at, row in enumerate(listed):
            is_alone = (listed["card"] == row["card"]).sum() == 1
            if is_alone and np.isfinite(values[row["card"]]) and np.isfinite(values).sum() > 1:  # else worlds are saved
                assert values[row["card"]] == pytest.approx(margins[:, at].mean() + leanings[at])
                compared += 1
        twin = game.copy()
        shuffle_hidden(game.rules, twin.state, game.turn, np.random.default_rng(1))
        assert twin.hand(1 - game.turn) != game.hand(1 - game.turn)
        first, second = (values_of(each, agents.make(name, game.rules, 1), 30, 2) for each in (game, twin))
        assert first == second
    assert compared > 2
