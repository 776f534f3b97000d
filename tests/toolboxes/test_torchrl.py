"""TorchRL: its wrappers take the environments as they are, and the batched one is what TorchRL expects."""

import gymnasium
import numpy as np
import pytest
import torch
from torchrl.envs import (
    ActionMask,
    Compose,
    GymEnv,
    GymWrapper,
    PettingZooWrapper,
    RewardSum,
    TransformedEnv,
    check_env_specs,
)
from torchrl.modules import MaskedCategorical
from torchrl.objectives.value import GAE

from krypenv import IllegalMove, Rules, krypkasino_v0
from krypenv.adapters.torchrl import KrypenvEnv
from krypenv.rewards import illegal_reward

MINI = Rules.preset("mini-low")
GAMES = ["krypkasino players=2", "krypkasino players=4 teams=2", "kasino-finland players=3", "mulle players=2"]


# ------------------------------------------------------------------ its own wrappers


def test_gym_env_takes_one_game_with_its_mask():
    env = GymEnv("Krypkasino-v0")
    env.auto_register_info_dict()
    env = TransformedEnv(env, ActionMask())
    check_env_specs(env)
    env.set_seed(1)
    seen = env.rollout(1000)
    chosen = seen["action_mask"].gather(-1, seen["action"].argmax(-1, keepdim=True))
    assert chosen.all()
    assert seen["next", "terminated"].sum() == 1
    assert seen["next", "reward"].min() > illegal_reward(Rules(), "centred", False)


def test_gym_wrapper_takes_many_games_and_deals_the_next_ones():
    own = gymnasium.make_vec("Krypkasino-v0", num_envs=4, players=3)
    env = GymWrapper(own)
    check_env_specs(env)
    seen = env.rollout(60, break_when_any_done=False)
    assert seen.shape == (4, 60)
    goes_on = ~seen["next", "done"][:, :-1, 0]
    same = (seen["next", "observation"][:, :-1] == seen["observation"][:, 1:]).all(-1)
    assert (~goes_on).any()
    torch.testing.assert_close(same, goes_on)  # after an end, the next decision is one of another game


@pytest.mark.parametrize("group_map", [None, {"seats": ["player_0", "player_1", "player_2"]}])
def test_pettingzoo_wrapper_takes_all_seats(group_map):
    env = PettingZooWrapper(krypkasino_v0.env(players=3), use_mask=True, group_map=group_map)
    check_env_specs(env)
    env.set_seed(5)
    seen = env.rollout(1000)
    acting = torch.cat([seen[group, "mask"] for group in env.group_map], 1)
    masks = torch.cat([seen[group, "action_mask"] for group in env.group_map], 1)
    actions = torch.cat([seen[group, "action"] for group in env.group_map], 1)
    earned = torch.cat([seen["next", group, "reward"] for group in env.group_map], 1).sum(0).flatten()
    assert (acting.sum(1) == 1).all()  # one seat acts at a time
    assert masks.gather(2, actions[..., None])[..., 0][acting].all()
    assert seen["next", "done"].sum() == 1
    assert earned.sum() == 0  # centred
    assert earned.abs().sum() > 0
    unwrapped = env._env.unwrapped
    assert earned.tolist() == [unwrapped._paid[seat] for seat in range(3)]


# ------------------------------------------------------------------ the batched environment


@pytest.mark.parametrize("seat", [0, "random", "all"])
@pytest.mark.parametrize("text", GAMES)
def test_its_specs_hold_in_all_games(text, seat):
    env = KrypenvEnv(Rules.parse(text), 3, seat=seat, features=True, dense=True, device="cpu")
    check_env_specs(env, break_when_any_done="both")
    seen = env.rollout(300, break_when_any_done=False)
    assert seen.device == torch.device("cpu")
    assert seen["action_mask"].gather(2, seen["action"][..., None]).all()
    assert seen["next", "done"].any()


def test_it_plays_the_games_of_the_vector_environment():
    options = {"opponents": "greedy", "dense": True, "features": True}
    env, own = KrypenvEnv(Rules(), 6, **options), gymnasium.make_vec("Krypkasino-v0", num_envs=6, **options)
    env.set_seed(7)
    now, (observations, infos) = env.reset(), own.reset(seed=7)
    ends = 0
    for _ in range(80):
        np.testing.assert_array_equal(now["observation"], observations)
        np.testing.assert_array_equal(now["action_mask"], infos["action_mask"] == 1)
        actions = np.where(infos["action_mask"], np.arange(105), -1).max(axis=1)
        step, now = env.step_and_maybe_reset(now.set("action", torch.from_numpy(actions)))
        observations, rewards, ended, _, infos = own.step(actions)
        np.testing.assert_allclose(step["next", "reward"][:, 0], rewards)
        np.testing.assert_array_equal(step["next", "terminated"][:, 0], ended)
        np.testing.assert_array_equal(step["next", "done"][:, 0], ended)
        for row in np.flatnonzero(ended):
            np.testing.assert_array_equal(step["next", "observation"][row], infos["final_obs"][row])
        ends += ended.sum()
    assert ends >= 6


def test_a_partial_reset_abandons_those_games_alone():
    env = KrypenvEnv(Rules(), 4)
    env.set_seed(1)
    first = env.reset()["observation"].clone()
    before = env.rollout(3, auto_reset=False, tensordict=env.reset())[:, -1]["next"]
    chosen = torch.tensor([[True], [False], [True], [False]])
    after = env.reset(before.clone().set("_reset", chosen))
    torch.testing.assert_close(after["observation"][[1, 3]], before["observation"][[1, 3]])
    for row in (0, 2):
        assert not torch.equal(after["observation"][row], before["observation"][row])
        assert not torch.equal(after["observation"][row], first[row])
    again = env.reset()["observation"]  # of games that have just begun, nothing is thrown away
    torch.testing.assert_close(again[[0, 2]], after["observation"][[0, 2]])
    assert (again[[1, 3]] != after["observation"][[1, 3]]).any()


def test_a_seed_repeats_and_another_does_not():
    env = KrypenvEnv(Rules(), 4, seat="random", opponents="tactician")
    seen = []
    for seed in (3, 3, 4):
        env.set_seed(seed)
        torch.manual_seed(0)
        seen.append(env.rollout(30, break_when_any_done=False))
    assert (seen[0] == seen[1]).all()
    assert not torch.equal(seen[0]["observation"], seen[2]["observation"])
    assert len(seen[0]["seat"].unique()) == 2


def test_all_seats_earn_and_are_not_mixed():
    env = KrypenvEnv(Rules.preset("krypkasino", players=3), 4, seat="all", dense=True)
    env = TransformedEnv(env, Compose(RewardSum(), ActionMask()))
    seen = env.rollout(150, break_when_any_done=False)
    torch.testing.assert_close(seen["next", "reward"].sum(-1), torch.zeros(4, 150), atol=1e-4, rtol=0)
    assert seen["next", "reward"].shape == (4, 150, 3)
    ended = seen["next", "done"][..., 0]
    totals = seen["next", "episode_reward"][ended]  # what each seat earned in a game: its margin over the others
    assert len(totals)
    torch.testing.assert_close(totals * 3, (totals * 3).round())  # a mean of three whole scores minus one of them
    assert (seen["seat"].unique() == torch.arange(3)).all()
    seen["state_value"] = seen["next", "state_value"] = torch.zeros(4, 150, 1)
    with pytest.raises(RuntimeError, match="shape"):
        GAE(gamma=0.9, lmbda=0.9, value_network=None)(seen)


def test_at_the_end_a_masked_policy_stays_finite():
    env = KrypenvEnv(MINI, 8)
    seen = env.rollout(60, break_when_any_done=False)
    ended = seen["next", "done"][..., 0]
    assert ended.any()
    assert seen["next", "action_mask"][ended].all()
    assert not seen["next", "action_mask"][~ended].all(-1).any()
    policy = MaskedCategorical(logits=torch.zeros(8, 60, MINI.num_actions), mask=seen["next", "action_mask"])
    assert policy.probs.isfinite().all()


def test_an_illegal_action_is_refused_and_nothing_is_done():
    env = KrypenvEnv(Rules(), 2)
    now = env.reset()
    with pytest.raises(IllegalMove, match="stop is illegal in row 0"):
        env.step(now.clone().set("action", torch.tensor([104, 104])))
    torch.testing.assert_close(env.reset()["observation"], now["observation"])
