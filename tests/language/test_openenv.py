"""OpenEnv's own client plays: episodes, what they show and pay, what is refused, and many sessions at once."""

import asyncio
import contextlib
import json
import re
import socket
import statistics
import subprocess
import sys
import threading
import time

import pytest
import uvicorn
import yaml
from openenv.core import GenericEnvClient
from support.places import DOCS
from websockets.exceptions import ConnectionClosed

from krypenv.adapters.openenv import make_app
from krypenv.envs.text_game import Terms, TextGame
from krypenv.training import measures_by

TERMS = Terms("mini-low", opponents="greedy")
MEASURES = measures_by("search(worlds=4)")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="module")
def address():
    config = uvicorn.Config(make_app(TERMS, MEASURES), host="127.0.0.1", port=free_port(), log_level="critical")
    server = uvicorn.Server(config)
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{config.port}"
    server.should_exit = True


def first_move(result):
    return re.findall(r"Your moves: ([^,.\n]+)", result.observation["text"])[-1]


async def episode(client, **options):
    """Play the first legal moves; return all results."""
    results = [await client.reset(**options)]
    while not results[-1].done:
        results.append(await client.step({"move": f"MOVE: {first_move(results[-1])}"}))
    return results


def talk(address, talking):
    """Let a coroutine function talk to the server through a client of its own."""

    async def play():
        async with GenericEnvClient(base_url=address) as client:
            return await talking(client)

    return asyncio.run(play())


@pytest.mark.parametrize("reward", ["centred", "regret", "adjusted"])
def test_a_client_gets_the_episode_of_its_seed(address, reward):
    async def play(client):
        return await episode(client, seed=7, reward=reward), await client.state()

    results, state = talk(address, play)
    text = TextGame(TERMS._replace(reward=reward), 7, MEASURES)
    assert results[0].observation["text"] == text.view
    assert "Goal\n" in results[0].observation["instructions"]
    for result in results[1:]:
        answer = text.answer(str(text.game.legal_moves()[0]))
        assert (result.observation["move"], result.reward, result.done) == (answer.move, answer.reward, text.over)
    assert (state["legal_moves"], state["illegal_replies"]) == (len(results) - 1, 0)


def test_an_illegal_reply_is_told_why_and_three_end_the_episode(address):
    async def play(client):
        await client.reset(seed=7)
        return [await client.step({"move": "KS"}) for _ in range(3)]

    results = talk(address, play)
    assert results[0].observation["fault"].startswith("KS is not in your hand.")
    assert [result.observation["tries_left"] for result in results] == [2, 1, 0]
    assert [result.done for result in results] == [False, False, True]
    assert results[2].reward < -100


def test_what_a_client_sees_can_be_chosen(address):
    async def play(client):
        first = await client.reset(seed=7, rules="krypkasino", players=4, seat=2, levels="even", view="both")
        return first.observation, (await client.reset(seed=2, rules="random", view="json")).observation

    seen, unseen = talk(address, play)
    assert (seen["rules"], seen["seat"]) == ("krypkasino players=4", 2)
    own = seen["text"].split("> seat 2")[1].split("points")[0]
    assert seen["values"]["hand"] == re.findall("[A2-9TJQK][CDHS]", own)
    assert seen["values"]["moves"]
    assert unseen["rules"] == str(TextGame(TERMS._replace(rules="random"), 2).rules)
    assert unseen["text"] == ""


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rules": "nope"}, "unknown preset 'nope'"),
        ({"colour": 1}, "unexpected keyword argument 'colour'"),
        ({"opponents": "process(command='ls')"}, "is no opponent that a client may name"),
        ({"opponents": "llm(model='m', url='http://127.0.0.1:9')"}, "is no opponent that a client may name"),
        ({"opponents": "search(worlds=100000)"}, "is no opponent that a client may name"),
        ({"opponents": ["greedy", "../model"]}, "is no opponent that a client may name"),
        ({"opponents": 3}, "opponents are a name, or a list of names, not 3"),
        ({"view": "picture"}, "unknown view 'picture'"),
        ({"seat": 9}, "seat is a whole number from 0 to 1, not 9"),
        ({"seed": -1}, "a seed is a whole number"),
    ],
    ids=str,
)
def test_a_wrong_reset_is_refused_in_a_sentence_and_the_episode_goes_on(address, options, sentence):
    async def play(client):
        await client.reset(seed=7)
        with pytest.raises(RuntimeError, match=re.escape(sentence)) as refusal:
            await client.reset(**options)
        assert "\n" not in str(refusal.value)
        return await client.step({"move": "KS"})

    assert talk(address, play).observation["fault"].startswith("KS is not in your hand.")


def test_a_step_before_a_reset_or_after_the_end_is_refused(address):
    async def play(client):
        with pytest.raises(RuntimeError, match="no episode has begun"):
            await client.step({"move": "KS"})
        await episode(client, seed=7)
        with pytest.raises(RuntimeError, match="the episode is over"):
            await client.step({"move": "KS"})

    talk(address, play)


def test_sixty_four_sessions_play_at_once_and_those_cut_off_are_freed(address):
    """With `-s` it prints the time of a step."""
    seconds = []

    async def one(seed):
        async with GenericEnvClient(base_url=address) as client:
            result = await client.reset(seed=seed)
            while not result.done:
                begun = time.monotonic()
                result = await client.step({"move": first_move(result)})
                seconds.append(time.monotonic() - begun)
            return result.reward

    async def cut_off():
        clients = [GenericEnvClient(base_url=address) for _ in range(64)]
        for client in clients:
            await client.reset(seed=1)
        with pytest.raises((RuntimeError, ConnectionClosed)):  # the server may close before it reads the request
            await GenericEnvClient(base_url=address).reset()
        for client in clients:
            client._ws.transport.abort()
        await asyncio.sleep(1)

    async def all_of_them():
        await cut_off()
        return await asyncio.gather(*(one(number % 8) for number in range(64)))

    rewards = asyncio.run(all_of_them())
    assert rewards == rewards[:8] * 8
    assert len(set(rewards)) > 3
    print(f"a step among 64 sessions: {1000 * statistics.median(seconds):.0f} ms, {len(seconds)} steps")


def test_the_command_serves_what_its_options_say():
    port = free_port()
    words = ["serve", "--rules", "mini-low", "--against", "random", "--reward", "regret", "--port", port, "--no-listed"]
    line = [sys.executable, "-m", "krypenv", *map(str, words)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert f"http://127.0.0.1:{port}" in server.stdout.readline()
            for _ in range(600):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            with GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
                seen = client.reset(seed=3).observation
        finally:
            server.terminate()
    assert seen["rules"] == "mini-low players=2"
    assert "Your moves" not in seen["text"]


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
    assert lines[0][0] == "FROM"
    assert json.loads(" ".join(lines[-1][1:]))[:2] == ["uvicorn", manifest["app"]]
