"""TorchRL: its wrappers take the environments as they are."""

import pytest
import torch
from torchrl.envs import PettingZooWrapper, check_env_specs

from krypenv import Rules, krypkasino_v0
from krypenv.training.examples.torchrl_ppo import Settings, make_games

GAMES = ["krypkasino players=2", "krypkasino players=4 teams=2", "kasino-finland players=3", "mulle players=2"]


@pytest.mark.parametrize("text", GAMES)
def test_gym_wrapper_takes_many_games_and_deals_the_next_ones(text):
    rules = Rules.parse(text)
    env, again = (make_games(rules, Settings(rules=text, games=4, opponent="random")) for _ in range(2))
    check_env_specs(env)
    hand = rules.layout["hand"]
    env.set_seed(7)
    seen = env.rollout(300, break_when_any_done=False)
    assert seen["action_mask"].gather(2, seen["action"][..., None]).all()
    assert (seen["observation"][..., hand].bool() | ~seen["action_mask"][..., :52]).all()
    goes_on = ~seen["next", "done"][:, :-1, 0]
    same = (seen["next", "observation"][:, :-1] == seen["observation"][:, 1:]).all(-1)
    assert (~goes_on).any()
    torch.testing.assert_close(same, goes_on)  # after an end, the next decision is one of another game
    again.set_seed(7)  # another one: after an end, TorchRL gives what it has kept at the first reset
    torch.testing.assert_close(again.reset()["observation"], seen["observation"][:, 0])
    assert not torch.equal(again.reset()["observation"], seen["observation"][:, 0])


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
