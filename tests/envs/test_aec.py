"""The PettingZoo environment: the library's own tests, and each episode beside the games of its seed."""

import importlib
import re

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from support.games import EACH, every_rules

from krypenv import Game, Rules, kasino_v0, krypkasino_v0, mulle_v0
from krypenv.cards import parse_card
from krypenv.families.variants import FAMILIES, family_of
from krypenv.rewards import illegal_reward, returns_of
from krypenv.whole_state import whole_state

STATE_TEST = importlib.import_module("pettingzoo.test.state_test")  # without its parallel half
ALL_BLOCKS = {"features": True, "history": True, "reward": "win", "dense": True}
some_rules = pytest.mark.parametrize("rules", [EACH[name] for name in ("two", "session", "finland to 5", "glimne")])
some_terms = pytest.mark.parametrize("terms", [{}, {"reward": "points", "dense": True}, ALL_BLOCKS], ids=str)


def module_of(rules):
    """The module of the environments of a family."""
    return importlib.import_module(f"krypenv.{family_of(rules.name).module}")


def play(env, seed, rng):
    """Play an episode at random; yields after each step what each agent was paid in `last()` so far."""
    env.reset(seed=seed)
    paid = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        paid[agent] += reward
        is_over = terminated or truncated
        env.step(None if is_over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        yield paid


@some_rules
@some_terms
@pytest.mark.filterwarnings("error", "ignore:Observation (space for each agent|is not a NumPy array)")  # for the mask
def test_pettingzoo_s_own_tests_pass(rules, terms, capsys):
    module, arguments = module_of(rules), {"rules": rules, **terms}
    api_test(module.env(**arguments), num_cycles=20)
    api_test(module.raw_env(**arguments), num_cycles=100)
    seed_test(lambda: module.env(**arguments), num_cycles=30)
    STATE_TEST.test_state_space(module.env(**arguments))
    STATE_TEST.test_state(module.env(**arguments), num_cycles=3)


def test_pettingzoo_s_test_of_render_modes_passes():
    render_test(lambda **mode: mulle_v0.env(players=4, teams=2, **mode))


def assert_shows(env, game):
    """Assert that all layers of an environment show a game: whose turn it is, masks, observations, the whole state."""
    raw = env.unwrapped
    blocks = raw.terms.features, raw.terms.history
    assert env.agent_selection == f"player_{0 if game.session_over else game.turn}"
    for seat, agent in enumerate(env.possible_agents):
        seen = env.observe(agent)
        np.testing.assert_array_equal(seen["action_mask"], game.action_mask(seat))
        np.testing.assert_array_equal(seen["action_mask"], env.infos[agent]["action_mask"])
        np.testing.assert_array_equal(seen["observation"], game.observation(seat, *blocks))
        assert env.terminations[agent] is game.session_over
        assert env.truncations[agent] is False
    state = env.state()
    assert state in env.state_space
    np.testing.assert_array_equal(state, whole_state(raw.rules, game.state))
    layer = env
    while layer is not raw:
        for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents"):
            assert getattr(layer, name) == getattr(raw, name)
        layer = layer.env


@pytest.mark.few(8)
@every_rules
@some_terms
def test_an_episode_is_the_session_of_its_seed(rules, terms):
    """Rewards are the change of what the scores are worth: after each step if they are dense, else in the last one."""
    env, rng = module_of(rules).env(rules=rules, **terms), np.random.default_rng(1)
    terms = env.unwrapped.terms
    env.reset(seed=3)
    game, worth, paid = Game(rules, seed=3), np.zeros(rules.players), dict.fromkeys(env.agents, 0.0)
    actions = []
    while not game.session_over:
        assert_shows(env, game)
        paid[env.agent_selection] += env.last()[1]
        actions.append(int(rng.choice(game.legal_actions())))
        env.step(actions[-1])
        game.act(actions[-1])
        before = worth
        if terms.dense or game.session_over:
            now = np.add(game.totals, 0 if game.is_over else game.scores())
            worth = returns_of(rules, now, terms.reward, game.tie_breaks() if game.session_over else None)
        assert list(env.rewards.values()) == pytest.approx((worth - before).tolist())
        if game.is_over and not game.session_over:
            game = game.next_game()
    assert_shows(env, game)
    assert env.unwrapped.actions == actions
    for agent in env.agent_iter():
        paid[agent] += env.last()[1]
        env.step(None)
    assert list(paid.values()) == pytest.approx(worth.tolist())
    if terms.reward == "centred":
        assert sum(paid.values()) == pytest.approx(0)


@pytest.mark.parametrize(
    ("module", "arguments"), [(kasino_v0, {}), (kasino_v0, {"variant": "finland"}), (mulle_v0, {})]
)
def test_k6_f7_the_tie_break_decides_who_is_paid_for_the_win(module, arguments):
    """Equal totals at the end, and a tie break that favours one: that one wins, alone."""
    for seed in range(300):
        env = module.raw_env(**arguments, reward="win")
        *_, paid = play(env, seed, np.random.default_rng(seed))
        if len(set(env.game.totals)) == 1 and len(env.game.winners) == 1:
            assert list(paid.values()) == [seat in env.game.winners for seat in range(2)]
            return
    pytest.fail("no totals were equal")


# ---------------------------------------------------------------------- illegal actions


@some_rules
@some_terms
def test_an_illegal_action_ends_the_episode_and_costs_its_agent(rules, terms, caplog):
    env = module_of(rules).env(rules=rules, **terms)
    raw = env.unwrapped
    env.reset(seed=0)
    culprit = env.agent_selection
    env.step(int(np.flatnonzero(env.infos[culprit]["action_mask"] == 0)[0]))
    assert "Illegal move made" in caplog.text
    assert all(env.terminations.values())
    assert env.rewards == dict.fromkeys(env.agents, 0) | {culprit: raw.terms.illegal_reward(raw.rules)}
    while env.agents:
        env.last()
        env.step(None)


@pytest.mark.parametrize(
    ("reward", "fields", "worst"),
    [  # all points and a double sweep with each card that a side is dealt
        ("points", {}, 42 + 10 * 50),
        ("points", {"players": 4, "teams": 2, "games": 4}, 4 * (42 + 10 * 50)),
        ("points", {"players": 3, "last_capture_points": 1, "sweep_points": 1}, 43 + 2 * 33),
        ("points", {"games": 0, "threshold": 100}, 100 + 42 + 10 * 50),
        ("centred", {}, 42 + 10 * 50 + 21),
        ("win", {}, 0),
    ],
)
def test_the_reward_of_an_illegal_action_is_below_any_legal_return(reward, fields, worst):
    rules = Rules.preset(**fields)
    assert illegal_reward(rules, reward, dense=False) == -worst - 1
    before = 1 if reward == "win" else rules.num_teams * worst  # which may have been earned
    assert illegal_reward(rules, reward, dense=True) == -before - worst - 1


def test_what_is_no_action_is_an_error():
    env = krypkasino_v0.env()
    env.reset(seed=0)
    for action in (105, -1, True, np.True_, None, 3.0, "x", [0]):
        with pytest.raises(AssertionError, match=r"^an action is a whole number from 0 to 104, not [^\n]+$"):
            env.step(action)


# ---------------------------------------------------------------------- arguments


def test_options_stack_the_deck():
    deck = Game(Rules.preset("mini-low"), seed=8).deck
    env = krypkasino_v0.env(variant="mini-low")
    env.reset(seed=1, options={"deck": deck, "whatever": 1})
    assert env.unwrapped.game.deck == deck
    with pytest.raises(ValueError, match="deck"):
        env.reset(options={"deck": deck[:-1]})


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.module)
def test_each_variant_is_a_preset(family):
    module = importlib.import_module(f"krypenv.{family.module}")
    assert module.__all__ == ["env", "raw_env"]
    assert module.env().unwrapped.rules == module.raw_env().rules == Rules.preset(family.variants[family.default])
    for variant, preset in family.variants.items():
        assert module.env(variant=variant).unwrapped.rules == Rules.preset(preset)
    has_registry = hasattr(pettingzoo, "make")  # from 1.27 on
    name = f"krypenv/{family.module.replace('_', '-')}"
    env = pettingzoo.make("aec", name, players=3) if has_registry else module.env(players=3)
    assert str(module.env()) == family.module
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert env.metadata == {
        "name": family.module, "render_modes": ["human", "rgb_array", "ansi"], "is_parallelizable": False,
        "render_fps": 2,
    }  # fmt: skip


def test_each_preset_has_one_environment():
    played = [preset for family in FAMILIES for preset in family.variants.values()]
    assert sorted(played) == sorted(Rules.presets())


# ---------------------------------------------------------------------- what a person sees


@pytest.mark.parametrize("render_seat", ["turn", "all", None, np.int64(1)])
def test_a_text_holds_only_the_cards_that_are_asked_for(render_seat):
    env = krypkasino_v0.env(players=3, render_mode="ansi", render_seat=render_seat)
    for _ in play(env, 1, np.random.default_rng(3)):
        text, game = env.render(), env.unwrapped.game
        open_seats = {"turn": [game.turn], "all": [0, 1, 2], None: []}.get(render_seat, [render_seat])
        known = [*game.table, *game.set_aside]
        if game.pending:
            known += [game.pending, *game.taken]
        for seat in range(3):
            if seat in open_seats:
                known += game.hand(seat)
            else:
                line = re.search(rf"^[> ] seat {seat} .*", text, re.MULTILINE)[0]
                assert f" {len(game.hand(seat))} card" in line
        found = re.findall(r"\b[2-9TJQKA][CDHS]\b", text)
        assert sorted(map(parse_card, found)) == sorted(map(parse_card, known))
