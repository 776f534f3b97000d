"""OpenEnv's own client plays at `krypenv serve`: episodes, what they pay, what is refused, and many at once."""

import asyncio
import json
import re
import statistics
import time
from functools import partial

import pytest
import yaml
from openenv.core import GenericEnvClient
from support.endpoint import first_listed, served
from support.places import DOCS
from websockets.exceptions import ConnectionClosed

from krypenv.envs.text_game import Terms, TextGame, read_prompt

TERMS = Terms("mini-low", opponents="random", tries=2, reward="regret", judge="search(worlds=4)")
ILLEGAL = {"move": "KS"}
CONNECT = partial(GenericEnvClient, connect_timeout_s=300, message_timeout_s=300)  # on a busy machine, too
NO_AGENT = "is no agent that a client may name"


@pytest.fixture(scope="module")
def address():
    words = ["--rules", TERMS.rules, "--against", *TERMS.opponents, "--tries", "2", "--judge", TERMS.judge]
    with served(*words, "--reward", TERMS.reward) as where:
        yield where


@pytest.fixture
def client(address):
    with CONNECT(base_url=address).sync() as one:
        yield one


def first_move(result):
    return {"move": f"MOVE: {first_listed(result.observation['text'])}"}


@pytest.mark.parametrize("options", [{}, {"reward": "centred"}, {"reward": "adjusted"}], ids=str)
def test_a_client_gets_the_episode_of_its_seed_and_no_step_beyond_it(client, options):
    with pytest.raises(RuntimeError, match="no episode has begun"):
        client.step(ILLEGAL)
    result, text = client.reset(seed=7, **options), TextGame(TERMS.changed(**options), 7)
    assert result.observation["text"] == text.view
    assert result.observation["instructions"] == read_prompt(text.rules)[0]
    while not result.done:
        result = client.step(first_move(result))
        answer = text.answer(str(text.game.legal_moves()[0]))
        assert (result.observation["move"], result.reward, result.done) == (answer.move, answer.reward, text.over)
    assert client.state()["step_count"] == text.tallies[0].moves == text.tallies[0].replies
    with pytest.raises(RuntimeError, match="the episode is over"):
        client.step(ILLEGAL)


def test_an_illegal_reply_is_told_why_and_two_end_the_episode(client):
    client.reset(seed=7)
    first, last = client.step(ILLEGAL), client.step(ILLEGAL)
    assert first.observation["fault"].startswith("KS is not in your hand.")
    assert [(each.observation["tries_left"], each.done) for each in (first, last)] == [(1, False), (0, True)]
    assert last.reward < -100


def test_what_a_client_sees_can_be_chosen(client):
    four = {"seed": 7, "rules": "krypkasino", "players": 4, "seat": 2, "opponents": "even"}
    seen = client.reset(**four).observation
    assert (seen["rules"], seen["seat"]) == ("krypkasino players=4", 2)
    own = seen["text"].split("> seat 2")[1].split("points")[0]
    assert seen["values"]["hand"] == re.findall("[A2-9TJQK][CDHS]", own)
    assert seen["values"]["moves"]
    for view, other, empty in (("text", "values", {}), ("json", "text", "")):
        assert client.reset(**four, view=view).observation == {**seen, other: empty}
    unseen = client.reset(seed=2, rules="random", listed=False).observation
    assert unseen["rules"] == str(TextGame(TERMS.changed(rules="random"), 2).rules)
    assert "moves" not in unseen["values"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"colour": 1}, "colour is not known"),
        ({"view": "card"}, "view"),
        ({"players": 9}, "players"),
        *(({"opponents": name}, NO_AGENT) for name in ("process(command='ls')", "search(worlds=100000)", "odd")),
        ({"opponents": ["greedy", "../model"]}, NO_AGENT),
        ({"judge": "llm(model='m', url='http://127.0.0.1:9')", "reward": "regret"}, NO_AGENT),
        ({"seat": 9}, "seat is a whole number from 0 to 1, not 9"),
        ({"seed": -1}, "a seed is a whole number"),
    ],
    ids=str,
)
def test_a_wrong_reset_is_refused_in_a_sentence_and_the_episode_goes_on(client, options, sentence):
    client.reset(seed=7)
    with pytest.raises(RuntimeError, match=re.escape(sentence)) as refusal:
        client.reset(**options)
    assert "\n" not in str(refusal.value)
    assert client.step(ILLEGAL).observation["fault"].startswith("KS is not in your hand.")


def test_sixty_four_sessions_play_at_once_and_those_cut_off_are_freed(address):
    """With `-s` it prints the time of a step."""
    seconds = []

    async def one(seed):
        async with CONNECT(base_url=address) as client:
            result = await client.reset(seed=seed, reward="centred")
            while not result.done:
                begun = time.monotonic()
                result = await client.step(first_move(result))
                seconds.append(time.monotonic() - begun)
            return result.reward

    async def all_of_them():
        clients = [CONNECT(base_url=address) for _ in range(64)]
        for client in clients:
            await client.reset(seed=1)
        with pytest.raises((RuntimeError, ConnectionClosed)):  # the server may close before it reads the request
            await CONNECT(base_url=address).reset()
        for client in clients:
            client._ws.transport.abort()
        await asyncio.sleep(1)
        return await asyncio.gather(*(one(number % 8) for number in range(64)))

    rewards = asyncio.run(all_of_them())
    assert rewards == rewards[:8] * 8
    assert len(set(rewards)) > 3
    print(f"a step among 64 sessions: {1000 * statistics.median(seconds):.0f} ms, {len(seconds)} steps")


def test_the_files_of_a_space_name_what_is_there():
    space = DOCS / "space"
    manifest = yaml.safe_load((space / "openenv.yaml").read_text())
    module, _, name = manifest["app"].partition(":")
    assert (manifest["spec_version"], manifest["port"], name) == (1, 8000, "app")
    assert (space / f"{module.replace('.', '/')}.py").is_file()
    about = yaml.safe_load((space / "README.md").read_text().split("---")[1])
    assert (about["sdk"], about["app_port"]) == ("docker", 8000)
    lines = [line.split() for line in (space / "Dockerfile").read_text().splitlines() if line and line[0] not in "# "]
    assert {line[0] for line in lines} <= {"FROM", "RUN", "COPY", "WORKDIR", "EXPOSE", "CMD", "ENV", "USER"}
    assert json.loads(" ".join(lines[-1][1:]))[:2] == ["uvicorn", manifest["app"]]
