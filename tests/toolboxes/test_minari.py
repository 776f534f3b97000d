"""Minari: games are recorded and loaded again, and so are files of `krypenv data`."""

import gymnasium
import minari
import numpy as np
import pytest
from support.places import DOCS

from krypenv import Rules, agents
from krypenv.training.data import DataSettings, load, make_data

RULES = Rules.preset("mini-low")
GAMES = 50


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A data set of games of tactician against random play, loaded again, and the games themselves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINARI_DATASETS_PATH", str(tmp_path_factory.mktemp("minari")))
        env = minari.DataCollector(gymnasium.make("Krypkasino-v0", variant="mini-low"), record_infos=True)
        agent, games = agents.make("tactician", RULES), []
        for seed in range(GAMES):
            observation, info = env.reset(seed=seed)
            actions, paid, over = [], 0.0, False
            while not over:
                actions.append(int(agent.act(observation[None], info["action_mask"][None])[0]))
                observation, reward, over, _, info = env.step(actions[-1])
                paid += reward
            games.append((actions, paid))
        env.create_dataset("krypkasino/tactician-v0", algorithm_name="tactician")
        yield minari.load_dataset("krypkasino/tactician-v0"), games


def test_what_is_loaded_is_what_was_played_and_the_environment_is_recovered(recorded):
    dataset, games = recorded
    assert dataset.total_episodes == GAMES
    for episode, (actions, paid) in zip(dataset.iterate_episodes(), games, strict=True):
        assert episode.actions.tolist() == actions
        assert episode.rewards.sum() == paid
        assert episode.terminations.tolist() == [False] * (len(actions) - 1) + [True]
        assert len(episode.observations) == len(actions) + 1
        masks = np.asarray(episode.infos["action_mask"])
        assert masks[np.arange(len(actions)), actions].all()
    env = dataset.recover_environment()
    observation, _ = env.reset(seed=0)
    np.testing.assert_array_equal(observation, dataset[0].observations[0])
    actions, paid = games[0]
    assert sum(env.step(action)[1] for action in actions) == paid


def test_files_of_krypenv_data_become_episodes(tmp_path, monkeypatch):
    """As in docs/data.md: the decisions of one seat in one game are an episode."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    make_data(DataSettings(agent="greedy", games=4, rules="mini-low", out=str(tmp_path / "greedy")))
    data = load(tmp_path / "greedy")
    page = (DOCS / "data.md").read_text(encoding="utf-8")
    code = page.split("## In Minari")[1].split("```python\n")[1].split("```")[0]
    exec(code, {"data": data})
    dataset = minari.load_dataset("krypkasino/tactician-v0")
    rows = data.arrays("game", "seat", "action", "margin")
    assert dataset.total_episodes == 4 * RULES.players
    assert dataset.total_steps == len(rows["action"])
    for episode, (game, seat) in zip(dataset.iterate_episodes(), np.ndindex(4, RULES.players), strict=True):
        own = (rows["game"] == game) & (rows["seat"] == seat)
        assert episode.actions.tolist() == rows["action"][own].tolist()
        assert episode.rewards.sum() == rows["margin"][own][0]
