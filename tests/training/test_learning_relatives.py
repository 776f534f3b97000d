"""Networks and training of the relatives: the kernel beside torch, models on disk, and runs that learn."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.games import SMALL, decisions_of, some_arrays
from support.relatives import GLIMNE, MIXTURES, PRESETS, RELATIVES

from krypenv import Engine, Rules, agents
from krypenv.agents.neural.action_features import gather_action_features, version_of
from krypenv.agents.neural.inference import Weights
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import ModelError, load_model, save_model
from krypenv.agents.neural.network import MAIN, Shape, inputs_of
from krypenv.cards import STOP
from krypenv.training import duplicate_match
from krypenv.training.evaluation.arena.model_card import limits_of
from krypenv.training.learn.ladder import FURTHER, KRYPKASINO, ladder_of
from krypenv.training.learn.learner.torch_network import CardNetwork, Choices, NetworkAgent
from krypenv.training.learn.selfplay.selfplay import open_run, train
from krypenv.training.learn.selfplay.settings import Settings

torch.set_num_threads(1)
SWEDEN, OVERSPADER, MULLE = (Rules.preset(name) for name in ("kasino-sweden", "overspader", "mulle"))
LEARNED = {
    **{name: Rules.preset(name) for name in (*PRESETS, "mulle-glimne")},
    "pairs": RELATIVES["kasino-finland players=4 teams=2"],
}
every_learned = pytest.mark.parametrize("rules", LEARNED.values(), ids=LEARNED)
SHAPE = Shape(16, 8, 4)


def game_of(rules: Rules) -> dict[str, Any]:
    """The settings that name rules."""
    name, *words = str(rules).split()
    return {"rules": name, **{key: int(value) for key, _, value in (word.partition("=") for word in words)}}


def model_of(folder: Path, rules: Rules, seed: int = 1, **facts: Any) -> str:
    """A model folder of an untrained network."""
    return str(save_model(folder / f"model-{seed}", some_arrays(SHAPE, seed, inputs_of(rules)), rules, **facts))


# ---------------------------------------------------------------------- networks and models


@torch.no_grad()
@pytest.mark.parametrize("rules", [*RELATIVES.values(), *MIXTURES.values(), *GLIMNE.values()], ids=str)
def test_the_kernel_says_what_torch_says(rules: Rules) -> None:
    inputs = inputs_of(rules)
    arrays, (observations, masks) = some_arrays(SHAPE, 1, inputs), decisions_of(rules)
    assert arrays["read.weight"].shape[1] == rules.observation_size == observations.shape[1]
    network, agent = CardNetwork.of(arrays, inputs), LearnedAgent(Weights.of(arrays, inputs), rules, "it", solver=False)
    choices = Choices.of(gather_action_features(rules, observations, masks))
    scores = network(torch.from_numpy(observations), choices)
    logits, values = agent.evaluate(observations, masks)
    np.testing.assert_allclose(logits[masks > 0], scores.logits[scores.logits > -1e8].numpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(values, scores.values.numpy(), rtol=1e-4, atol=1e-4)
    actions = agent.act(observations, masks)
    assert (masks[range(len(masks)), actions] == 1).all()
    of_torch = NetworkAgent(network, rules, "it", solver=False).act(observations, masks)
    rows = np.flatnonzero(actions != of_torch)
    assert np.abs(logits[rows, actions[rows]] - logits[rows, of_torch[rows]]).max(initial=0) < 1e-4  # ties
    if rules.capture == "optional":
        stops = masks[:, STOP] == 1
        assert stops.any()
        assert np.isfinite(logits[stops, STOP]).all()


@every_learned
def test_a_model_plays_whole_games_by_its_path(rules: Rules, tmp_path: Path) -> None:
    model = model_of(tmp_path, rules)
    for spec in (model, f"learned(model={model!r}, temperature=1.0)"):
        player, engine, ended = agents.make(spec, rules, seed=2), Engine(rules, 8, seed=1), 0
        while ended < 8:
            actions = player.act(engine.observation, engine.action_mask)
            assert (engine.action_mask[range(8), actions] == 1).all()
            engine.step(actions)
            ended += engine.finished.sum()
    assert json.loads((Path(model) / "model.json").read_text())["features_version"] == version_of(rules) != 1


@pytest.mark.parametrize("preset", PRESETS)
def test_a_model_of_single_games_plays_sessions_too(preset: str, tmp_path: Path) -> None:
    rules, session = Rules.preset(preset), Rules.preset(preset, games=0, threshold=16)
    model = model_of(tmp_path, rules)
    player, (observations, masks) = agents.make(model, session), decisions_of(session, 8, 10)
    seen = observations[:, : rules.observation_size]  # the first game of a session has no totals yet
    assert (player.act(observations, masks) == agents.make(model, rules).act(seen, masks)).all()
    its = model_of(tmp_path, session, 2)
    assert agents.make(its, session).rules == session
    if inputs_of(session) != inputs_of(rules):
        with pytest.raises(ModelError, match=r"reads entries that .* lacks; train one for it$"):
            agents.make(its, rules)


def test_models_of_other_games_and_versions_are_refused_in_one_sentence(tmp_path: Path) -> None:
    model = model_of(tmp_path, SWEDEN)
    for other in (OVERSPADER, MULLE, Rules.preset(), Rules.preset("kasino-sweden", players=3)):
        with pytest.raises(ModelError, match="was trained for 'kasino-sweden players=2' and can't play"):
            agents.make(model, other)
    main = str(save_model(tmp_path / "main", some_arrays(SHAPE), Rules.preset()))
    with pytest.raises(ModelError, match="was trained for 'krypkasino players=2' and can't play 'kasino-sweden"):
        agents.make(main, SWEDEN)
    path = Path(model) / "model.json"
    card = json.loads(path.read_text())
    for version in (1, "further 0", None, True):
        path.write_text(json.dumps({**card, "features_version": version}))
        with pytest.raises(ModelError, match=r"was trained on action features of version .*, and this krypenv gives"):
            load_model(model)
    path.write_text(json.dumps({**card, "features_version": 1, "rules": "krypkasino players=2"}))
    with pytest.raises(ModelError, match="don't fit"):
        load_model(model)


def test_inputs_are_data_of_the_rules() -> None:
    assert inputs_of(Rules.preset()) == inputs_of(Rules.preset(players=6)) == MAIN
    assert inputs_of(Rules.preset(games=0, threshold=100)) == MAIN
    assert inputs_of(SWEDEN) == inputs_of(OVERSPADER) != inputs_of(MULLE)
    for rules in RELATIVES.values():
        inputs = inputs_of(rules)
        assert len(inputs.observation_scales) == inputs.observation == rules.observation_size
        assert len(inputs.feature_scales) == inputs.features
        assert (inputs.observation_scales > 0).all()
        assert (inputs.feature_scales > 0).all()


# ---------------------------------------------------------------------- runs


@every_learned
def test_a_run_changes_all_weights_and_leaves_a_model_that_plays(rules: Rules, tmp_path: Path) -> None:
    settings = Settings.of(out=str(tmp_path / "run"), **game_of(rules), **SMALL)
    before = open_run(settings).model.network.arrays()
    results = train(settings, quiet=True)
    assert [result.opponent for result in results] == list(ladder_of(rules).against)
    card = json.loads((tmp_path / "run" / "model" / "model.json").read_text())
    assert card["rules"] == str(rules)
    assert agents.make(str(tmp_path / "run" / "model"), rules).rules == rules
    assert "champion" not in limits_of(card)
    again = open_run(Settings(resume=str(tmp_path / "run")))
    assert again.done == 1
    after = again.model.network.arrays()
    assert all((before[name] != after[name]).any() for name in after)


def test_little_training_beats_random_and_plays_for_many_points(tmp_path: Path) -> None:
    few = {
        **SMALL,
        "envs": 128,
        "opponent_envs": 32,
        "steps": 16,
        "frames": 40_000,
        "batch": 256,
        "learning_rate": 3e-3,
    }
    train(Settings.of(out=str(tmp_path / "run"), rules="kasino-sweden", **few), quiet=True)
    player, untrained = (  # the networks alone
        agents.make(f"learned(model={model!r}, solver=False)", SWEDEN)
        for model in (str(tmp_path / "run" / "model"), model_of(tmp_path, SWEDEN))
    )
    assert duplicate_match(player, "random", SWEDEN, deals=400, seed=1).low > 1
    assert duplicate_match(player, untrained, SWEDEN, deals=400, seed=1).low > 1


def test_the_agents_around_a_learner_follow_from_the_rules() -> None:
    main, its = Settings.of(), Settings.of(rules="mulle", players=4, teams=2)
    assert main.games.opponents == KRYPKASINO.opponents
    assert main.start.demonstrations > 0
    assert its.games.opponents == FURTHER.opponents
    assert its.evaluation.against == FURTHER.against
    assert its.start.demonstrations > 0
    assert its.ppo.gamma > main.ppo.gamma
    hard = Settings.of(rules="mulle", preset="strong")
    assert hard.games.opponents == FURTHER.hard_opponents
    assert hard.length.frames == Settings.of(preset="strong").length.frames
    given = Settings.of(rules="mulle", opponents=("random",), against=("random",), gamma=0.5)
    assert (given.games.opponents, given.evaluation.against, given.ppo.gamma) == (("random",), ("random",), 0.5)


def test_one_network_learns_games_that_show_the_same(tmp_path: Path) -> None:
    also = ("overspader players=2",)
    session = open_run(Settings.of(out=str(tmp_path / "run"), rules="kasino-sweden", **SMALL, also=also))
    session.write_model("krypenv train")
    for rules in (SWEDEN, OVERSPADER):
        assert agents.make(str(tmp_path / "run" / "model"), rules).rules == rules
    for other in ("mulle players=2", "krypkasino players=2"):
        with pytest.raises(ValueError, match=r"one network can't learn 'kasino-sweden players=2' and '.*'"):
            Settings.of(rules="kasino-sweden", also=(other,))


def test_a_run_starts_from_a_model_of_the_same_game_only(tmp_path: Path) -> None:
    same, other = model_of(tmp_path, OVERSPADER), model_of(tmp_path, MULLE, 2)
    session = open_run(Settings.of(out=str(tmp_path / "run"), rules="kasino-sweden", **SMALL, init_from=same))
    read = session.model.network.arrays()["read.weight"]
    assert (read == load_model(same)[0]["read.weight"]).all()
    with pytest.raises(ValueError, match="start from a model of the same game"):
        open_run(Settings.of(out=str(tmp_path / "other"), rules="kasino-sweden", **SMALL, init_from=other))
