"""The PettingZoo environment: the library's own tests, the game behind it, rewards, masks, its page."""

import re
import warnings

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from support.environments import every_environment, play, some_environments, tie_breaks_of

from krypenv import Game, Rules, features, kasino_v0, krypkasino_v0, mulle_v0, observation
from krypenv.cards import parse_card
from krypenv.families.variants import FAMILIES
from krypenv.rewards import KINDS, illegal_reward, returns_of


def session_of(rules, seed, actions):
    """The games of a session, played with the actions of an environment."""
    games, left = [Game(rules, seed=seed)], list(actions)
    while left:
        if games[-1].is_over:
            games.append(games[-1].next_game())
        games[-1].act(left.pop(0))
    return games


@some_environments
def test_pettingzoo_s_own_tests(module, arguments, capsys):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(module.env(**arguments), num_cycles=20)
        api_test(module.raw_env(**arguments), num_cycles=200)
        seed_test(lambda: module.env(**arguments), num_cycles=60)
    # All that PettingZoo finds to say is that an observation with a mask is no plain array, as its other tests want it.
    assert {str(warning.message).split(" probably")[0] for warning in caught} == {
        "Observation space for each agent", "Observation is not a NumPy array",
    }  # fmt: skip


@pytest.mark.parametrize("module", [krypkasino_v0, kasino_v0, mulle_v0])
def test_renders(module):
    render_test(lambda **mode: module.env(players=4, teams=2, **mode))


@pytest.mark.parametrize("render_seat", ["turn", "all", None, 0, 2, np.int64(1)])
def test_texts_hold_only_the_cards_that_are_asked_for(render_seat):
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


def test_whose_hand_is_shown_is_checked():
    for wrong in (2, -1, True, 1.0, "left", (0,)):
        with pytest.raises(ValueError, match="render_seat is 'turn', 'all', None or a seat from 0 to 1"):
            krypkasino_v0.env(render_seat=wrong)


@every_environment
def test_it_is_the_game_of_its_seed(module, arguments):
    env = module.env(**arguments)
    raw, rules = env.unwrapped, env.unwrapped.rules
    for seed in (0, 5):
        *_, paid = play(env, seed, np.random.default_rng(seed))
        games = session_of(rules, seed, raw.actions)
        assert games[-1].session_over
        assert [game.actions for game in games][-1] == raw.game.actions
        worth = returns_of(rules, games[-1].totals, raw.terms.reward, tie_breaks_of(games[-1]))
        np.testing.assert_allclose(list(paid.values()), worth, atol=1e-9)
        if raw.terms.reward == "centred":
            assert sum(paid.values()) == pytest.approx(0)


@every_environment
def test_masks_and_observations(module, arguments):
    env = module.env(**arguments)
    raw = env.unwrapped
    size = raw.rules.observation_size + (features.SIZE if arguments.get("features") else 0)
    assert size == observation.SIZE + (features.SIZE if arguments.get("features") else 0) or module is not krypkasino_v0
    rng = np.random.default_rng(2)
    env.reset(seed=3)
    while not any(env.terminations.values()):
        assert env.agent_selection == f"player_{raw.game.turn}"
        for seat, agent in enumerate(env.agents):
            seen = env.observe(agent)
            np.testing.assert_array_equal(seen["action_mask"], raw.game.action_mask(seat))
            np.testing.assert_array_equal(seen["action_mask"], env.infos[agent]["action_mask"])
            np.testing.assert_array_equal(seen["observation"], raw.game.observation(seat, raw.terms.features))
            assert seen["action_mask"].any() == (agent == env.agent_selection)
            assert seen["observation"].shape == (size,)
        mask = env.infos[env.agent_selection]["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
        assert all(type(flag) is bool for flag in [*env.terminations.values(), *env.truncations.values()])
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()
        assert not env.infos[agent]["action_mask"].any()


@pytest.mark.parametrize("reward", KINDS)
@pytest.mark.parametrize("arguments", [{"players": 3}, {"players": 4, "teams": 2, "games": 2}], ids=["alone", "teams"])
def test_rewards_sparse_and_dense(reward, arguments):
    totals = []
    for dense in (False, True):
        env = krypkasino_v0.env(**arguments, reward=reward, dense=dense)
        sums, steps = np.zeros(arguments["players"]), 0
        for paid in play(env, 9, np.random.default_rng(9)):
            earned = list(paid.values())
            if len(env.agents) == arguments["players"]:
                sums += list(env.rewards.values())
                steps += any(env.rewards.values())
        assert steps > 1 if dense else steps == 1
        np.testing.assert_allclose(sums, earned)
        totals.append(sums)
    np.testing.assert_allclose(*totals)
    if "teams" in arguments:
        np.testing.assert_allclose(totals[0][:2], totals[0][2:])


@every_environment
def test_an_illegal_action_ends_the_episode(module, arguments, caplog):
    env = module.env(**arguments)
    raw = env.unwrapped
    env.reset(seed=0)
    culprit = env.agent_selection
    env.step(int(np.flatnonzero(env.infos[culprit]["action_mask"] == 0)[0]))
    assert "Illegal move made" in caplog.text
    assert all(env.terminations.values())
    rewards = dict(env.rewards)
    assert rewards.pop(culprit) == raw.terms.illegal_reward(raw.rules)
    assert not any(rewards.values())
    while env.agents:
        env.last()
        env.step(None)


@pytest.mark.parametrize(
    ("reward", "fields", "worst"),
    [  # all points and a double sweep with each card that a side is dealt
        ("points", {}, 42 + 10 * 50),
        ("points", {"players": 4, "teams": 2, "games": 4}, 4 * (42 + 10 * 48)),
        ("points", {"players": 3, "last_capture_points": 1, "sweep_points": 1}, 43 + 2 * 32),
        ("points", {"games": 0, "threshold": 100}, 99 + 42 + 10 * 50),
        ("centred", {}, 42 + 10 * 50 - 21),
        ("win", {}, 0),
    ],
)
def test_illegal_reward_is_below_any_legal_return(reward, fields, worst):
    rules = Rules.preset(**fields)
    assert -2 * worst - 100 < illegal_reward(rules, reward, dense=False) < -worst
    assert illegal_reward(rules, reward, dense=True) < -2 * worst  # something may have been earned before


def test_what_is_no_action_is_an_error():
    env = krypkasino_v0.env()
    env.reset(seed=0)
    for action in (105, -1, True, np.True_, None, 3.0, "x", [0]):
        with pytest.raises(AssertionError, match=r"^an action is a whole number from 0 to 104, not [^\n]+$"):
            env.step(action)


def test_stacked_deck():
    rules = Rules.preset("mini-low")
    deck = Game(rules, seed=8).deck
    env = krypkasino_v0.env(variant="mini-low")
    for _ in play(env, 1, np.random.default_rng(0), {"deck": deck, "whatever": 1}):
        assert env.unwrapped.game.deck == deck
    with pytest.raises(ValueError, match="deck"):
        env.reset(options={"deck": deck[:-1]})


def test_the_wrappers_say_what_the_raw_environment_says():
    env = krypkasino_v0.env(players=3, dense=True)
    assert str(env) == "krypkasino_v0"
    for _ in play(env, 6, np.random.default_rng(6)):
        layer = env
        while layer is not env.unwrapped:
            for name in ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "num_agents"):
                assert getattr(layer, name) == getattr(env.unwrapped, name)
            layer = layer.env


def test_each_variant_is_a_preset():
    """The variants are presets of the family, the first one by default, and each preset has one environment."""
    for module, family in ((krypkasino_v0, "krypkasino"), (kasino_v0, "kasino-sweden"), (mulle_v0, "mulle")):
        assert module.env().unwrapped.rules == module.raw_env().rules == Rules.preset(family)
        assert module.__all__ == ["env", "raw_env"]
        name = module.__name__.removeprefix("krypenv.")
        assert str(module.env()) == name
        has_registry = hasattr(pettingzoo, "make")  # from 1.27 on
        env = pettingzoo.make("aec", name, players=3) if has_registry else module.env(players=3)
        assert env.possible_agents == ["player_0", "player_1", "player_2"]
        assert env.metadata == {
            "name": name, "render_modes": ["human", "rgb_array", "ansi"], "is_parallelizable": False, "render_fps": 2,
        }  # fmt: skip
    for variant, preset in (("sweden", "kasino-sweden"), ("overspader", "overspader"), ("finland", "kasino-finland")):
        assert kasino_v0.env(variant=variant, players=4).unwrapped.rules == Rules.preset(preset, players=4)
    assert mulle_v0.env(variant="sassersson").unwrapped.rules == Rules.preset("mulle")
    played = [preset for family in FAMILIES for preset in family.variants.values()]
    assert sorted(played) == sorted(Rules.presets())


@pytest.mark.parametrize(
    ("module", "arguments", "sentence"),
    [
        (kasino_v0, {"variant": "fin"}, r"unknown variant 'fin'.* are sweden, overspader, finland"),
        (kasino_v0, {"variant": "kasino-sweden"}, "variants of kasino_v0"),
        (mulle_v0, {"variant": 3}, "unknown variant 3; the variants of mulle_v0 are sassersson, glimne, mini"),
        (krypkasino_v0, {"variant": "mulle"}, "the variants of krypkasino_v0 are krypkasino, "),
        (kasino_v0, {"players": 5}, "kasino-sweden is not played by 5 players"),
        (mulle_v0, {"players": 4, "teams": 3}, "4 players can't form 3 equal teams"),
        (kasino_v0, {"rules": Rules.preset("mulle")}, "kasino_v0 plays rules made from .* mulle are for mulle_v0"),
        (krypkasino_v0, {"rules": Rules.preset("overspader")}, "from overspader are for kasino_v0"),
    ],
)
def test_what_is_not_of_the_family_is_refused_in_a_sentence(module, arguments, sentence):
    for make in (module.env, module.raw_env):
        with pytest.raises(ValueError, match=sentence) as refused:
            make(**arguments)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("module", "arguments"), [(kasino_v0, {}), (kasino_v0, {"variant": "finland"}), (mulle_v0, {})]
)
def test_k6_f7_the_tie_break_decides_who_is_paid_for_the_win(module, arguments):
    """Equal totals at the end, and a tie break that favours one: that one wins, alone."""
    for seed in range(300):
        env = module.raw_env(**arguments, reward="win")
        *_, paid = play(env, seed, np.random.default_rng(seed))
        best = tie_breaks_of(env.game) == max(tie_breaks_of(env.game))
        if len(set(env.game.totals)) == 1 and not best.all():
            assert list(paid.values()) == best.tolist()
            return
    pytest.fail("no totals were equal")
