"""A language model as an agent: what it is sent, which replies are moves, and what becomes of those that are none."""

import re
import shlex

import numpy as np
import pytest
from support.commands import krypenv
from support.endpoint import HANG, endpoint, first_move, greedy
from support.small_files import tiny_protocol

from krypenv import Game, agents
from krypenv.agents.programs.llm import ModelFailed
from krypenv.envs.text_game import read_prompt
from krypenv.training import evaluate
from krypenv.ui.narrator.texts import short_name

RULES = "mini-low"


def named(url, **options):
    given = {"model": "m", "url": url} | options
    return f"llm({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def test_a_model_is_told_the_rules_and_what_its_seat_may_see_and_nothing_else():
    game = Game(RULES, seed=3)
    with endpoint() as (url, requests):
        agents.make(named(url, temperature=0.5, tokens=99), RULES).move(game)
    [request] = requests
    assert [message["content"] for message in request["messages"]] == [read_prompt(game.rules)[0], game.view(0)]
    assert (request["model"], request["temperature"], request["max_completion_tokens"]) == ("m", 0.5, 99)
    assert short_name(named(url, model="org/qwen3")) == "qwen3"


@pytest.mark.parametrize("rules", [RULES, "mini-mulle", "krypkasino players=4 teams=2"])
def test_a_scripted_model_plays_what_its_replies_name(rules):
    """The first legal move of each list, also where a move takes several actions: two of them play alike."""
    with endpoint() as (url, requests):
        model = agents.make(named(url), rules)
        game = Game(rules, seed=5)
        while len(requests) < 12 and not game.is_over:
            assert model.move(game) == game.legal_moves()[0]
            game.push(game.legal_moves()[-1])
    assert model.usage.decisions == model.usage.legal_at_once == len(requests) > 4
    assert model.usage.played_at_random == 0
    assert model.usage.prompt_tokens > 100 * len(requests)


def test_a_wrong_reply_is_told_why_and_the_next_one_counts():
    def wrong_once(messages):
        return first_move(messages[:2]) if len(messages) > 2 else "I play MOVE: 7H"

    with endpoint(wrong_once) as (url, requests):
        model = agents.make(named(url), RULES)
        assert model.move(Game(RULES, seed=3)) == Game(RULES, seed=3).legal_moves()[0]
    assert requests[1]["messages"][-1]["content"].startswith("That is no legal move. 7H is not in your hand.")
    assert (model.usage.replies, model.usage.legal_at_once, model.usage.played_at_random) == (2, 0, 0)


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("I like cards.", "'I like cards' is no move"),
        ("", "'' is no move"),
        (HANG, "did not answer within 0.5 seconds"),
    ],
    ids=["nonsense", "silence", "hanging"],
)
def test_without_a_legal_reply_a_random_move_is_played_or_the_game_forfeited(reply, fault):
    game = Game("krypkasino", seed=3)
    with endpoint(lambda _: reply) as (url, requests):
        model = agents.make(named(url, seconds=0.5), seed=1)
        assert model.move(game) in game.legal_moves()
        assert model.usage.played_at_random == 1
        assert len(requests) == (1 if reply is HANG else 3)
        with pytest.raises(ModelFailed, match=re.escape(fault)):
            agents.make(named(url, seconds=0.5, illegal="forfeit")).move(game)


def test_an_endpoint_that_refuses_or_is_not_there_ends_the_match_in_one_sentence():
    with endpoint(status=401) as (refusing, _):
        for url, reason in ((refusing, ".*401"), ("http://127.0.0.1:9/v1", r"Connection error\.$")):
            with pytest.raises(ModelFailed, match=f"can't be asked: {reason}"):
                agents.make(named(url), RULES).move(Game(RULES, seed=3))


def test_a_prompt_of_ones_own_replaces_the_packages(tmp_path):
    prompt, game = tmp_path / "prompt.txt", Game(RULES, seed=3)
    prompt.write_text("Be brief.\n---\nSo: {view}\nOver to you.")
    with endpoint() as (url, requests):
        agents.make(named(url, prompt=str(prompt)), RULES).move(game)
    told = [message["content"] for message in requests[0]["messages"]]
    assert told == ["Be brief.", f"So: {game.view(0)}\nOver to you."]
    prompt.write_text("{view}")
    with pytest.raises(ValueError, match="is no prompt"):
        agents.make(named(url, prompt=str(prompt)), RULES)


def test_a_margin_comes_with_the_tokens_and_legality_of_its_match():
    with endpoint(greedy) as (url, requests):
        first, second = evaluate(agents.make(named(url), RULES), ["random", "greedy"], deals=2, seed=1)
    assert first.usage.decisions == first.usage.legal_at_once > 0
    assert first.usage.decisions + second.usage.decisions == len(requests)
    assert first.opponent_usage is None
    assert np.isclose(first.to_json()["usage"]["seconds"], first.usage.seconds)


def test_a_game_against_a_model_goes_on_by_the_command_that_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with endpoint() as (url, requests):
        told = krypenv("play", "--against", named(url), "--rules", RULES, typed="1\n").stdout
        [command] = re.findall("to go on: krypenv (.*)", told)
        assert command in krypenv("play", typed="").stdout
        before = len(requests)
        assert krypenv(*shlex.split(command), typed="1\n" * 40).exit_code == 0
    assert len(requests) > before


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words",
    [
        "evaluate --against random --deals 2",
        "arena random --deals 4 --chunk 2 --out arena",
        "score --quick --out a.json",
    ],
)
def test_all_commands_tell_tokens_seconds_and_legality_in_the_same_words(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    command, *options = words.split()
    rules = () if command == "score" else ("--rules", RULES)
    with endpoint(greedy) as (url, requests), tiny_protocol():
        done = krypenv(command, named(url), *options, *rules)
    pattern = r"([\d,]+) decisions of [\d,]+ \+ 2 tokens and 0\.\d+ s, 100\.0% legal at once, 0\.0% played at random"
    told = re.findall(pattern, done.output)
    assert sum(int(count.replace(",", "")) for count in told) == len(requests) > 0, done.output
