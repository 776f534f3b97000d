"""The history block: the plays of the current deal, as everybody at the table has seen them, and nothing else."""

import random

import gymnasium as gym
import numpy as np
import pytest
from support.hidden import twin_of
from support.relatives import BUILDING

from krypenv import Engine, Game, Rules, kasino_v0
from krypenv.cards import parse_card
from krypenv.envs.learner import LearnerGames
from krypenv.features import width_of
from krypenv.observation import HISTORY_COLUMNS, history_columns, history_shape, history_size

MAIN = Rules.preset("krypkasino")
RULES = [
    "krypkasino players=2",
    "krypkasino players=4 teams=2",
    "howto players=3 games=2",
    "kasino-finland players=3",
    "mulle players=2",
    "mulle-glimne players=2",
    next(iter(BUILDING)),
    "mini-high players=2 games=3",
    "mini-low players=2 first_deal=((2,0),) later_deal=((1,1),)",
]


def block(rules: Rules, observation: np.ndarray) -> np.ndarray:
    """The history block of an observation, (M, WIDTH): it comes last."""
    return observation[-history_size(rules) :].reshape(history_shape(rules))


def expected(rules: Rules, game: Game, seat: int) -> np.ndarray:
    """The block by the moves of a game since the last deal."""
    twin, moves, deal = game.rewound(), [], 0
    for move in game.moves:
        moves = moves if twin.deal_number == deal else []
        deal = twin.deal_number
        moves.append((twin.turn, move))
        twin.push(move)
    out = np.zeros(history_shape(rules), np.int8)
    for row, (player, move) in zip(out, moves if game.deal_number == deal else [], strict=False):
        row[HISTORY_COLUMNS["who"]][(player - seat) % rules.players] = 1
        row[HISTORY_COLUMNS["card"]][parse_card(move.card)] = 1
        for name in move.takes:
            row[HISTORY_COLUMNS["takes"]][parse_card(name)] += 1
        if move.build:
            row[history_columns(rules)["build"]][move.build] = 1
        for value in move.builds:
            row[history_columns(rules)["builds"]][value] = 1
    return out


@pytest.mark.few(3)
@pytest.mark.parametrize("text", RULES)
def test_the_block_holds_the_plays_of_the_deal(text):
    rules = Rules.parse(text)
    seeds = np.array([3, 4], np.uint64)
    engine, plain = (Engine(rules, 2, seeds, history=history) for history in (True, False))
    games = [Game(rules, seed=int(seed)) for seed in seeds]
    size = rules.observation_size
    rows_seen = 0
    for _ in range(min(2 * rules.deck_size * rules.games, 110)):
        assert engine.observation.shape == (2, size + history_size(rules))
        assert (engine.observation[:, :size] == plain.observation).all()
        for row, game in enumerate(games):
            found = block(rules, engine.observation[row])
            assert (found == expected(rules, game, game.turn)).all()
            assert (game.observation(history=True) == engine.observation[row]).all()
            rows_seen = max(rows_seen, int(found[:, HISTORY_COLUMNS["card"]].sum()))
        actions = engine.sample_actions()
        engine.step(actions)
        plain.step(actions)
        for row, game in enumerate(games):
            game.act(int(actions[row]))
            if game.is_over:
                for seat in range(rules.players):
                    whole = block(rules, game.observation(seat, history=True))
                    assert (whole == expected(rules, game, seat)).all()
                if game.session_over:
                    return
                games[row] = game.next_game()
    assert rows_seen > 0


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "text", ["krypkasino players=3", "kasino-sweden players=2", "howto players=2", next(iter(BUILDING))]
)
def test_hidden_cards_change_nothing_of_it(text):
    """Nor does a stop, which would tell others what the hand allowed."""
    rules, chance = Rules.parse(text), random.Random(1)
    game, changed = Game(rules, seed=3), 0
    while not game.is_over:
        twin = twin_of(game, game.turn, chance, 20) if game.pending is None and chance.random() < 0.3 else None
        if twin is not None:
            assert (game.observation(history=True) == twin.observation(history=True)).all()
            assert game.legal_actions() == twin.legal_actions()
            changed += 1
        game.act(chance.choice(game.legal_actions()))
    assert changed > 1


def test_it_comes_after_the_features_in_every_environment():
    rules = Rules.preset("kasino-sweden")
    engine = Engine(rules, 2, np.array([5, 6], np.uint64), features=True, history=True)
    env = kasino_v0.env(features=True, history=True)
    env.reset(seed=5)
    single = gym.make("Kasino-v0", features=True, history=True).unwrapped
    vector = gym.make_vec("Kasino-v0", num_envs=2, features=True, history=True)
    assert single.observation_space.shape == (width_of(rules, True) + history_size(rules),)
    assert (single.reset(seed=5)[0] == engine.observation[0]).all()
    assert (vector.reset(seed=[5, 6])[0] == engine.observation).all()
    for _ in range(12):
        seen = env.observe(env.agent_selection)["observation"]
        assert (seen == engine.observation[0]).all()
        assert env.observation_space(env.agent_selection)["observation"].contains(seen)
        actions = engine.sample_actions()
        env.step(int(actions[0]))
        engine.step(actions)
    assert block(rules, engine.observation[0]).any()


def test_the_last_observation_of_an_episode_has_the_last_deal():
    rules = Rules.preset("mini-high")
    games = LearnerGames(rules, 8, 0, "random", history=True, seed=1)
    hands = sum(rules.deal_sizes()[-1][0])
    ended = 0
    while ended < 8:
        games.step(games.engine.sample_actions())
        for row in np.flatnonzero(games.done):
            ended += 1
            final = block(rules, games.final_observation[row])
            assert final[:, HISTORY_COLUMNS["card"]].sum() == hands
            assert (final[:hands, HISTORY_COLUMNS["who"]].sum(axis=1) == 1).all()
            assert not block(rules, games.observation[row])[1:, HISTORY_COLUMNS["card"]].any()  # at most one play since


def test_saved_games_remember():
    games, other = (LearnerGames(MAIN, 3, "all", seed=seed, history=True) for seed in (1, 2))
    for _ in range(7):
        games.step(games.engine.sample_actions())
    other.load(games.save())
    assert (other.observation == games.observation).all()


def test_plays_before_a_state_are_unknown_but_for_the_last():
    rules, engine = MAIN, Engine(MAIN, 1, 1, history=True)
    while block(rules, engine.observation[0])[:, HISTORY_COLUMNS["card"]].sum() < 3:
        engine.step(engine.sample_actions())
    later = Engine.from_state(rules, engine.state, history=True)
    known, found = block(rules, engine.observation[0]), block(rules, later.observation[0])
    assert (found[2] == known[2]).all()
    assert not found[:2].any()
    later.set_state(engine.state, record=engine.record)
    assert (later.observation == engine.observation).all()
    for wrong in (engine.record[:, 1:], engine.record.astype(int), np.full_like(engine.record, 60), 7):
        with pytest.raises(ValueError, match="record is what the engine's own one was, int8 of shape"):
            later.set_state(engine.state, record=wrong)
    assert (later.observation == engine.observation).all()
