"""verifiers plays episodes with a scripted model: one seat against agents, and every seat with its own messages."""

import asyncio
import json
import os
import subprocess
import sysconfig
from pathlib import Path

import pytest
import verifiers.v1 as vf
from support.endpoint import endpoint, first_move

from krypenv.adapters.verifiers import load_environment
from krypenv.envs.text_game import Terms, TextGame, read_prompt

MODULE = """from krypenv.adapters.verifiers import GameEnv, GameTaskset
__all__ = ["GameEnv", "GameTaskset"]
"""


def run(terms, script=first_move, first_seed=3):
    """Run the episode of a seed; return its traces and what the model was sent."""

    async def play(url):
        env = load_environment(terms, first_seed)
        client = vf.EvalClientConfig(base_url=url)
        async with env.serving():
            [task] = env.taskset.take(1)
            return await env.run_episode(task, vf.ModelContext(model="m", client=client, sampling=vf.SamplingConfig()))

    with endpoint(script) as (url, requests):
        episode = asyncio.run(play(url))
    assert episode.ok, [*episode.errors, *(trace.errors for trace in episode.traces)]
    return episode.traces, requests


@pytest.mark.parametrize("reward", ["centred", "regret"])
def test_a_seat_against_agents_is_scored_by_its_return_or_its_regret(reward):
    terms = Terms("mini-sweep", opponents="random", reward=reward, judge="search(worlds=4)")
    [trace], requests = run(terms)
    text = TextGame(terms, 3)
    assert [message["content"] for message in requests[0]["messages"]] == [read_prompt(text.rules)[0], text.view]
    while not text.over:
        text.answer(str(text.game.legal_moves()[0]))
    assert trace.rewards["game"].score == pytest.approx(text.tallies[0].paid)
    assert trace.metrics["legal"] == 1
    assert trace.metrics["margin"] == pytest.approx(text.margin(0))
    if reward == "regret":
        assert trace.metrics["regret"] * trace.metrics["moves"] == pytest.approx(-text.tallies[0].paid)


def test_in_self_play_each_seat_has_a_stream_of_messages_of_its_own():
    traces, requests = run(Terms("mini-sweep", seat="all"))
    assert len(traces) == 2
    assert sum(trace.rewards["game"].score for trace in traces) == pytest.approx(0)
    for request in requests:
        seats = {message["content"].split(".")[0] for message in request["messages"] if message["role"] == "user"}
        assert len(seats) == 1


def test_replies_without_a_legal_move_end_the_episode_below_any_legal_return():
    [trace], requests = run(Terms("mini-sweep", tries=2), lambda _: "I like cards.")
    assert trace.rewards["game"].score < -20
    assert trace.metrics["legal"] == 0
    assert requests[-1]["messages"][-1]["content"].startswith("'I like cards' is no move")


def test_each_episode_of_unseen_rules_is_told_its_own():
    first, second = load_environment(Terms("random", opponents=("even", "hard")), 2).taskset.take(2)
    assert [each.data.system_prompt for each in (first, second)] == [
        read_prompt(TextGame(Terms("random"), seed).rules)[0] for seed in (2, 3)
    ]


def test_the_command_of_verifiers_evaluates_a_model(tmp_path):
    (tmp_path / "krypkasino.py").write_text(MODULE)
    command = Path(sysconfig.get_path("scripts")) / "vf-eval"
    options = {"rules": "mini-sweep", "opponents": "tactician", "reward": "regret", "judge": "search(worlds=4)"}
    taskset = [word for name, value in options.items() for word in (f"--env.taskset.{name}", value)]
    with endpoint() as (url, _):
        client = ["-m", "m", "--client.base-url", url]
        subprocess.run(
            [command, "krypkasino", "-n", "2", "--no-push", "--no-rich", *taskset, *client],
            cwd=tmp_path, env=os.environ | {"PYTHONPATH": os.pathsep.join([os.getcwd(), str(tmp_path)])}, check=True,
        )  # fmt: skip
    [results] = tmp_path.glob("outputs/*/traces.jsonl")
    episodes = [json.loads(line) for line in results.read_text().splitlines()]
    assert [episode["ok"] for episode in episodes] == [True, True]
    for [trace] in (episode["traces"] for episode in episodes):
        metrics = trace["metrics"]
        assert metrics["legal"] == 1
        assert trace["rewards"]["game"]["score"] == pytest.approx(-metrics["regret"] * metrics["moves"])
