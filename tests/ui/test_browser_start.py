"""The start screen's server: what it offers, games that begin and go on, people with names, links and no hints."""

from __future__ import annotations

import contextlib

import pytest
from support.tables import KEYS, page, serving

from krypenv import Rules
from krypenv.ui.browser.start import LEVELS
from krypenv.ui.narrator.texts import CATALOGUES
from krypenv.ui.seats import PERSON

TWO = (PERSON, PERSON)


@pytest.fixture
def client():
    """A client of a table at which nothing is played yet."""
    saved = lambda language: [{"file": "table.krk", "text": language}]  # noqa: E731
    with serving(lambda: None, saved=saved) as client:
        yield client


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_game_is_offered_with_all_numbers_of_players_that_it_has(client, language):
    with page(client) as one:
        assert one.until(lambda told: told["type"] == "start")["begun"] is False
        one.send(do="start", language=language)
        told = one.read(lambda told: told.get("language") == language)
        assert one.read(lambda told: "saved" in told)["saved"] == [{"file": "table.krk", "text": language}]
    assert [level["agent"] for level in told["levels"]] == list(LEVELS.values())
    assert [game["name"] for game in told["games"]] == Rules.presets()
    for game in told["games"]:
        assert game["title"]
        assert game["line"]
        sizes = [[players, teams] for players in range(2, 7) for teams in (0, 2, 3)]
        assert game["sizes"] == [size for size in sizes if has_size(game["name"], *size)]


def has_size(name, players, teams):
    """Whether a game can be played by so many."""
    with contextlib.suppress(ValueError):
        return bool(Rules.preset(name, players=players, teams=teams or None))
    return False


@pytest.mark.parametrize(
    ("rules", "player", "sentence"),
    [
        ("poker", "greedy", "Unknown preset 'poker'"),
        ("mini-low players=3", "greedy", "These rules are for 3 players, not 2."),
        ("mini-low teams=5", "greedy", "teams"),
        *(("mini-low", agent, agent.partition("(")[0]) for agent in ("os:nobody", "process(command='id')", "/etc")),
        ("mini-low", "oracle-hand", "Oracle-hand sees what is hidden"),
    ],
)
def test_what_can_not_be_played_is_said_and_the_screen_stays(client, rules, player, sentence):
    with page(client) as one:
        wrong = [{"players": (PERSON, player)}]
        wrong += [{"players": (PERSON, "greedy"), "helper": player}] if player != "greedy" else []
        for chosen in wrong:
            one.send(do="begin", rules=rules, **chosen)
            assert sentence.lower() in one.says().lower()
        assert one.told["type"] == "start"
        assert one.begin("mini-low", PERSON, "greedy")["game"] == 1


def test_a_new_game_takes_the_place_of_the_one_before_and_everybody_hears_of_it(client):
    with page(client, KEYS.host) as one:
        first = one.begin("mini-low", *TWO, names=("Ada", "Bo"), helper="", seed=5, language="sv")
        assert (first["language"], first["host"], first["hints"]) == ("sv", True, False)
        assert [link[0] for link in first["links"]] == ["Bo", "För att titta på"]
        assert [link[1].partition("#")[2] for link in first["links"]] == [KEYS.seats[1], KEYS.watch]
        assert first["view"]["players"][1]["name"] == "Bo"
        one.ask("hint")
        assert one.says() == CATALOGUES["sv"]["hints_forbidden"]
        with page(client, KEYS.seats[1]) as two:
            assert (two.told["view"]["seat"], two.told["links"], two.told["host"]) == (1, [], False)
            for asks, reason in ((two, "only_host"), (one, "not_over")):
                asks.send(do="begin", rules="mini-low", players=TWO)
                assert asks.says() == CATALOGUES["sv"][reason]
    with page(client, KEYS.host) as one, page(client, KEYS.watch) as third:
        one.send(do="start")
        assert one.read(lambda told: told["type"] == "start")["begun"]
        one.send(do="back")
        one.read(lambda told: told["type"] == "table")
        second = one.begin("mini-double", PERSON, "greedy", helper="tactician")
        assert (second["game"], second["view"]["seat"], second["adviser"]) == (2, 0, "Tactician")
        assert second["edit"] > first["edit"]
        assert third.read(lambda told: told["game"] == 2)["view"]["seat"] is None
