"""The history block: the plays of the current deal, as everybody at the table has seen them, and nothing else."""

import copy

import gymnasium as gym
import numpy as np
import pytest
from support.relatives import BUILDING

from krypenv import Engine, Game, Rules, kasino_v0
from krypenv.cards import STOP, card_name, parse_card
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course
from krypenv.envs.learner import LearnerGames
from krypenv.envs.resampling import resampled
from krypenv.features import width_of
from krypenv.observation import HISTORY_COLUMNS, history_columns, history_shape, history_size

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


@pytest.mark.parametrize("text", RULES)
def test_the_block_holds_the_plays_of_the_deal(text):
    rules = Rules.parse(text)
    seeds = np.array([3, 4], np.uint64)
    engine, plain = (Engine(rules, 2, seeds, history=history) for history in (True, False))
    games = [Game(rules, seed=int(seed)) for seed in seeds]
    size = rules.observation_size
    rows_seen = 0
    for _ in range(min(2 * rules.deck_size * rules.games, 150)):
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


def play(rules: Rules, path: tuple[int, ...]) -> Game:
    """The game of a course's path."""
    course, actions = Course(CoursePlan(rules)), []
    for action in path:
        actions += [] if course.turn == CHANCE else [action]
        course = course.after(action)
    game = Game(rules, deck=[card_name(kind) for kind in course.state["deck"][: rules.deck_size]])
    for action in actions:
        game.act(action)
    return game


@pytest.mark.parametrize(
    "text", ["krypkasino players=3", "kasino-sweden players=2", "howto players=2", next(iter(BUILDING))]
)
def test_hidden_cards_change_nothing_of_it(text):
    rules = Rules.parse(text)
    rng = np.random.default_rng(1)
    course, looks, changed, restaged = Course(CoursePlan(rules)), 0, 0, 0
    while course.turn != TERMINAL:
        if course.turn == CHANCE:
            kinds, chances = zip(*course.chance_outcomes(), strict=True)
            course = course.after(int(rng.choice(kinds, p=chances)))
            continue
        if rng.random() < 0.2:
            twin = resampled(course, course.turn, looks)
            game, other = play(rules, course.path), play(rules, twin.path)
            assert (game.observation(history=True) == other.observation(history=True)).all()
            assert game.legal_actions() == other.legal_actions()
            looks, changed = looks + 1, changed + (game.deck != other.deck)
            restaged += twin.path.count(STOP) != course.path.count(STOP)
        course = course.after(int(rng.choice(course.legal_actions())))
    assert looks > 3
    assert changed > 1
    assert (restaged > 0) == rules.building  # a stop that others would see would tell what the hand allowed


def test_it_comes_after_the_features_in_every_environment():
    rules = Rules.preset("kasino-sweden")
    width = width_of(rules, True)
    engine = Engine(rules, 2, np.array([5, 6], np.uint64), features=True, history=True)
    env = kasino_v0.env(features=True, history=True)
    env.reset(seed=5)
    single = gym.make("Kasino-v0", features=True, history=True).unwrapped
    vector = gym.make_vec("Kasino-v0", num_envs=2, features=True, history=True)
    first, _ = single.reset(seed=5)
    both, _ = vector.reset(seed=[5, 6])
    assert first.shape == single.observation_space.shape == (width + history_size(rules),)
    assert (both == engine.observation).all()
    assert (first == engine.observation[0]).all()
    for _ in range(12):
        agent = env.agent_selection
        assert (env.observe(agent)["observation"] == engine.observation[0]).all()
        assert env.observation_space(agent)["observation"].contains(env.observe(agent)["observation"])
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


def test_copies_and_saved_games_remember():
    rules = Rules.preset("krypkasino")
    engine = Engine(rules, 3, 1, history=True)
    games = LearnerGames(rules, 3, "all", seed=1, history=True)
    for _ in range(7):
        actions = engine.sample_actions()
        engine.step(actions)
        games.step(games.engine.sample_actions())
    twins = [engine.copy(), copy.deepcopy(engine), engine.select([0, 1, 2])]
    other = LearnerGames(rules, 3, "all", seed=2, history=True)
    other.load(games.save())
    assert (other.observation == games.observation).all()
    actions = engine.sample_actions()
    for each in (engine, *twins):
        each.step(actions)
        assert (each.observation == engine.observation).all()


def test_plays_before_a_state_are_unknown_but_for_the_last():
    rules = Rules.preset("krypkasino")
    engine = Engine(rules, 1, 1, history=True)
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
