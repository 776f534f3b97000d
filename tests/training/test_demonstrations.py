"""Demonstrations: the same bytes however they were made, what they replay, what is refused, and cloning."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from support.small_files import files_of

from krypenv import Engine, Rules, agents
from krypenv.agents.neural.action_features import gather_action_features
from krypenv.inputs.artifacts import read_artifact
from krypenv.rewards import running_scores
from krypenv.training.learn.imitation.cloning import BehaviourCloning, clone_behaviour
from krypenv.training.learn.imitation.demonstrations import (
    KIND,
    VERSION,
    TeachingPlan,
    file_of,
    make_demonstrations,
    play_demonstrations,
    read_demonstrations,
)
from krypenv.training.learn.imitation.imitate import (
    ImitationSettings,
    load_start,
    make_policy,
    run_imitation,
    save_start,
)

torch.set_num_threads(1)
SEARCH, ROLLOUT = "search(worlds=2, plies=1)", "rollout(worlds=1)"
PLAN = TeachingPlan(("krypkasino players=2",), SEARCH, seed=3, chunk=3, temperature=1.0, epsilon=0.2)
PLANS = [
    PLAN,
    TeachingPlan(("krypkasino players=4 teams=2",), ROLLOUT, seed=0, chunk=2, temperature=2.0, epsilon=0.5),
    TeachingPlan(("howto players=3",), ROLLOUT, seed=7, chunk=2, temperature=0.5, epsilon=0.0),
    TeachingPlan(("mini-high players=2 games=2",), SEARCH, seed=1, chunk=3, temperature=1.0, epsilon=0.3),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files of demonstrations."""
    folder = tmp_path_factory.mktemp("demonstrations") / "there"
    assert make_demonstrations(folder, PLAN, games=10) == 4
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The files of demonstrations in a folder."""
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


def test_the_files_depend_on_the_plan_alone(folder: Path) -> None:
    """Each file on its own has the same bytes, and no file is like another."""
    for number in (3, 1):
        assert play_demonstrations(PLAN, number) == (folder / file_of(number)).read_bytes()
    assert len(set(contents(folder).values())) == 4
    assert play_demonstrations(dataclasses.replace(PLAN, seed=4), 2) not in contents(folder).values()


def test_what_is_missing_is_made_anew_and_what_is_there_is_kept(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    shutil.copytree(folder, there)
    (there / file_of(1)).unlink()
    kept = (there / file_of(2)).stat().st_mtime_ns
    told: list[tuple[int, int]] = []
    assert make_demonstrations(there, PLAN, 10, progress=lambda done, games: told.append((done, games))) == 4
    assert contents(there) == contents(folder)
    assert (there / file_of(2)).stat().st_mtime_ns == kept
    assert told == [(9, 12), (12, 12)]
    assert make_demonstrations(there, PLAN, 13) == 5


def test_a_folder_of_another_plan_is_refused_and_untouched(folder: Path) -> None:
    before = files_of(folder)
    for field, value in (
        ("seed", 4),
        ("teacher", ROLLOUT),
        ("chunk", 5),
        ("epsilon", 0.1),
        ("rules", ("howto players=2",)),
    ):
        told = value[0] if isinstance(value, tuple) else value
        sentence = rf"holds .*demonstrations with {field} .*, not .*{re.escape(str(told))}.*; give another --out"
        with pytest.raises(ValueError, match=sentence):
            make_demonstrations(folder, dataclasses.replace(PLAN, **{field: value}), 10)
    assert files_of(folder) == before


@pytest.mark.parametrize(("plan", "gamma"), list(zip(PLANS, (0.8, 1.0, 0.8, 0.8), strict=True)), ids=str)
def test_a_replay_shows_what_a_plain_engine_shows(plan: TeachingPlan, gamma: float, tmp_path: Path) -> None:
    """Game after game by hand: what the seats saw and held, and their returns as slow discounted sums."""
    make_demonstrations(tmp_path, plan, plan.chunk)
    demonstration, rules = read_demonstrations(tmp_path, plan, 0, gamma), plan.rules_of(0)
    actions = read_artifact(tmp_path / file_of(0), KIND, VERSION).arrays["actions"]
    dealt = plan.deal(0)
    games = [dealt.select([row]) for row in range(plan.chunk)]
    streams: list[list[tuple[int, int, list[float]]]] = [[] for _ in games]  # rows, their seats, gains
    live, row = list(range(plan.chunk)), 0
    starts = np.cumsum(demonstration.features.counts) - demonstration.features.counts
    while live:
        ended = []
        for number in live:
            engine = games[number]
            seat, mask = int(engine.seat[0]), engine.action_mask[0]
            assert np.array_equal(demonstration.observations[row], engine.observation[0])
            others = [engine.state.hands[0, (seat + place) % rules.players] for place in range(1, rules.players)]
            assert demonstration.hidden[row].tolist() == np.concatenate(others).tolist()
            features = gather_action_features(rules, engine.observation, engine.action_mask)
            part = slice(starts[row], starts[row] + demonstration.features.counts[row])
            assert demonstration.features.actions[part].tolist() == np.flatnonzero(mask).tolist()
            assert np.array_equal(demonstration.features.features[part], features.features)
            values = demonstration.values[part]
            assert not np.isnan(values).any()
            assert np.isfinite(values[list(np.flatnonzero(mask)).index(actions[row])]) or plan.epsilon
            assert np.isfinite(values).any()
            before = centred(rules, running_scores(rules, engine.state)[0])
            engine.step([actions[row]])
            if engine.finished[0]:
                after = centred(rules, engine.final_scores[0])
                ended.append(number)
            else:
                after = centred(rules, running_scores(rules, engine.state)[0])
            streams[number].append((row, seat, [new - old for new, old in zip(after, before, strict=True)]))
            row += 1
        live = [number for number in live if number not in ended]
    assert row == len(demonstration.returns) == len(actions)
    for stream in streams:
        for place, (row, seat, _) in enumerate(stream):
            total, weight = 0.0, 1.0
            for later, (_, actor, gains) in enumerate(stream[place:]):
                if later and actor == seat:
                    weight *= gamma
                total += weight * gains[seat]
            assert abs(total - demonstration.returns[row]) < 1e-4


def centred(rules: Rules, scores: np.ndarray) -> list[float]:
    """What each seat has won: the mean of all sides' scores less its own side's; a side's score is its seats' sum."""
    sides = [
        sum(int(scores[seat]) for seat in range(side, rules.players, rules.num_teams))
        for side in range(rules.num_teams)
    ]
    return [sum(sides) / len(sides) - sides[seat % len(sides)] for seat in range(rules.players)]


def test_values_are_the_teachers() -> None:
    """Of legal actions alone, and the same as a teacher of the same seed gives."""
    engine = Engine(Rules.preset(), 50, seed=2)
    for _ in range(11):
        engine.step(engine.sample_actions())
    for name in (SEARCH, ROLLOUT):
        teacher, twin = (agents.make(name, engine.rules, seed=5) for _ in range(2))
        values = teacher.action_values(engine.observation, engine.action_mask)
        assert values.shape == (50, 105)
        assert not np.isfinite(values[engine.action_mask == 0]).any()
        best = twin.act(engine.observation, engine.action_mask)
        assert (values[np.arange(50), best] == values.max(1)).all()
        assert (values[engine.action_mask.sum(1) == 1].max(1) == 0).all()


def test_champion_teaches_with_what_was_played(tmp_path: Path) -> None:
    """Its values are those of a twin that sees the plays of the deal, and not of one that doesn't."""
    plan = dataclasses.replace(PLAN, teacher="champion(worlds=6)", chunk=2)
    (tmp_path / file_of(0)).write_bytes(play_demonstrations(plan, 0))
    arrays = read_artifact(tmp_path / file_of(0), KIND, VERSION).arrays
    for history in (True, False):
        twin, engine, told, at = plan.make_teacher(0), plan.deal(0, history), [], 0
        rows = np.arange(plan.chunk)
        while len(rows):
            masks = engine.action_mask[rows]
            told.append(twin.action_values(engine.observation[rows], masks)[masks > 0])
            engine.step(arrays["actions"][at : at + len(rows)], rows)
            at += len(rows)
            rows = rows[~engine.finished[rows]]
        assert np.array_equal(np.concatenate(told).astype(np.float16), arrays["values"]) == history


def test_who_values_no_actions_cannot_teach() -> None:
    for teacher in ("random", "greedy", "tactician", "ismcts", "oracle-deck", "champion(worlds=0)"):
        with pytest.raises(ValueError, match=r"can't teach, as .* search, rollout, guided, and champion with worlds"):
            dataclasses.replace(PLAN, teacher=teacher)
        with pytest.raises(ValueError, match="can't teach"):
            ImitationSettings.of(teacher=teacher)


SETTINGS = ImitationSettings.of(rules=PLAN.rules[0], teacher=SEARCH, games=10, seed=3, context=16, card=8, embedding=4)
HOW = BehaviourCloning(bc_epochs=5, batch=64, learning_rate=0.01, target_temperature=1.0, gamma=0.9)
SEED = 1


def test_cloning_lowers_the_regret_and_depends_on_its_arguments_alone(folder: Path) -> None:
    first, again, other, weights = make_policy(SETTINGS), make_policy(SETTINGS), make_policy(SETTINGS), []
    told: list[tuple[float, float]] = []
    regret = clone_behaviour(first, folder, PLAN, 4, HOW, SEED, lambda done, regret: told.append((done, regret)))
    assert regret == told[-1][1] < 0.7 * told[0][1]
    assert told[-1][0] == 1
    torch.manual_seed(99)
    assert clone_behaviour(again, folder, PLAN, 4, HOW, SEED) == regret
    clone_behaviour(other, folder, PLAN, 4, HOW, SEED + 1)
    weights = [each.state_dict() for each in (first, again, other)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not torch.equal(weights[0]["network.read.weight"], weights[2]["network.read.weight"])
    assert all(torch.equal(value, weights[0][f"network.{name}"]) for name, value in first.ema.state_dict().items())


def test_a_start_is_a_model_and_its_critic(tmp_path: Path) -> None:
    policy, rules = make_policy(SETTINGS), SETTINGS.game_rules()
    save_start(tmp_path, policy, rules, seed=3)
    fresh = make_policy(SETTINGS.changed(seed=4))
    load_start(fresh, tmp_path)
    for name, value in policy.state_dict().items():
        assert torch.equal(value, fresh.state_dict()[name])
    assert agents.make(str(tmp_path / "model"), rules).rules == rules
    begun = make_policy(SETTINGS.changed(seed=5, init_from=str(tmp_path))).state_dict()
    assert all(torch.equal(value, begun[name]) for name, value in policy.state_dict().items())
    for wrong, reason in (
        ({"card": 9}, "the settings ask for"),
        ({"rules": "krypkasino players=3"}, "for another number of players"),
    ):
        with pytest.raises(ValueError, match=reason):
            load_start(make_policy(SETTINGS.changed(**wrong)), tmp_path)
    with pytest.raises(ValueError, match="nothing is no model"):
        run_imitation(SETTINGS.changed(init_from=str(tmp_path / "nothing"), out=str(tmp_path / "run")))
    assert not (tmp_path / "run").exists()
    data = (tmp_path / "critic.safetensors").read_bytes()
    for torn in (b"", data[:20], data[:-4], b"\x80\x04pickle"):
        (tmp_path / "critic.safetensors").write_bytes(torn)
        with pytest.raises(ValueError, match="is torn"):
            load_start(fresh, tmp_path)
    (tmp_path / "critic.safetensors").unlink()
    load_start(fresh, tmp_path)


ALSO = ("krypkasino players=4 teams=2", "krypkasino players=3")


def test_one_network_imitates_a_teacher_at_several_tables(tmp_path: Path) -> None:
    """Files play the rules in turn, the critic sees the hands of the largest table, and the model plays them all."""
    settings = SETTINGS.changed(also=ALSO, games=6, out=str(tmp_path), deals=2, against=("random",))
    plan = settings.plan()
    assert (plan.rules, plan.chunk) == ((PLAN.rules[0], *ALSO), 2)
    run_imitation(settings)
    assert len(contents(tmp_path / "demonstrations")) == 3
    for number, rules in enumerate(plan.rules):
        assert plan.rules_of(number) == Rules.parse(rules)
        shown = read_demonstrations(tmp_path / "demonstrations", plan, number, 0.9)
        cards = shown.hidden.reshape(len(shown.hidden), 3, -1).sum(2)
        seats = Rules.parse(rules).players - 1
        assert cards[:, :seats].any(0).all()
        assert not cards[:, seats:].any()
        agent = agents.make(str(tmp_path / "model"), Rules.parse(rules))
        assert agent.rules == Rules.parse(rules)


def test_settings_that_no_imitation_can_have_are_told() -> None:
    for fields, reason in (
        ({"also": ("mulle players=2",)}, r"one network can't learn 'krypkasino players=2' and 'mulle players=2'"),
        ({"also": ALSO, "games": 2}, "3 rule sets need a demonstration each at least, not 2 in all"),
        ({"teacher": "serch"}, "unknown agent"),
        ({"players": 9}, "not played by 9 players"),
    ):
        with pytest.raises(ValueError, match=reason):
            ImitationSettings.of(**fields)
