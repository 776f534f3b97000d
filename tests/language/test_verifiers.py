"""verifiers plays episodes with a scripted model: one seat against agents, and every seat with its own messages."""

import asyncio

import pytest
import verifiers.v1 as vf
from support.endpoint import endpoint, first_move

from krypenv.adapters.verifiers import load_environment
from krypenv.envs.text_game import Terms, TextGame, rules_in_words
from krypenv.training import measures_by


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("NO_KEY", "none")


def run(terms, script=first_move, measures=None, first_seed=3):
    """Run the episode of a seed; return it and what the model was sent."""

    async def play(url):
        env = load_environment(terms, measures, first_seed)
        client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
        async with env.serving():
            [task] = env.taskset.take(1)
            return await env.run_episode(task, vf.ModelContext(model="m", client=client, sampling=vf.SamplingConfig()))

    with endpoint(script) as (url, requests):
        episode = asyncio.run(play(url))
    assert episode.ok, [*episode.errors, *(trace.errors for trace in episode.traces)]
    return episode, requests


@pytest.mark.parametrize("reward", ["centred", "regret"])
def test_a_seat_against_agents_is_scored_by_its_return_or_its_regret(reward):
    terms, measures = Terms("mini-sweep", opponents="random", reward=reward), measures_by("search(worlds=4)")
    episode, requests = run(terms, measures=measures)
    text, paid = TextGame(terms, 3, measures), 0.0
    system, user = (message["content"] for message in requests[0]["messages"])
    assert system.startswith(rules_in_words(text.rules))
    assert user == text.view
    while not text.over:
        paid += text.answer(str(text.game.legal_moves()[0])).reward
    [trace] = episode.traces
    assert trace.rewards["game"].score == pytest.approx(paid)
    assert trace.metrics["legal"] == 1
    assert trace.metrics["margin"] == pytest.approx(text.margin(0))
    if reward == "regret":
        assert trace.metrics["regret"] * trace.metrics["moves"] == pytest.approx(-paid)


def test_in_self_play_each_seat_has_a_stream_of_messages_of_its_own():
    episode, requests = run(Terms("mini-sweep", seat="all"))
    assert len(episode.traces) == 2
    assert sum(trace.rewards["game"].score for trace in episode.traces) == pytest.approx(0)
    for request in requests:
        seats = {message["content"].split(".")[0] for message in request["messages"] if message["role"] == "user"}
        assert len(seats) == 1


def test_replies_without_a_legal_move_end_the_episode_below_any_legal_return():
    episode, requests = run(Terms("mini-sweep", opponents="random", tries=2), lambda _: "I like cards.")
    [trace] = episode.traces
    assert trace.rewards["game"].score < -20
    assert trace.metrics["legal"] == 0
    assert requests[-1]["messages"][-1]["content"].startswith("'I like cards' is no move")


def test_environments_keep_their_own_terms_and_measures():
    measures = measures_by("search(worlds=4)")
    first = load_environment(Terms("random", levels="even", reward="regret"), measures, first_seed=2)
    second = load_environment(Terms("mini-low"))
    assert (first.measures, second.measures) == (measures, None)
    [task] = first.taskset.take(1)
    assert list(task.data.terms["levels"]) == ["even"]
    assert task.data.system_prompt.startswith(rules_in_words(TextGame(Terms("random"), 2).rules))
