"""What the guide and the page on misère say in words follows from the stored answers of studies."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from replicated_tables import AGAIN, PAGES, Twice, on_both_seeds, p_values_of
from scipy.special import ndtri
from support.places import ROOT

from krypenv.training.evaluation.matches.margins import holm
from krypenv.training.research.lab.intervals import ALONE, LEVEL
from krypenv.training.research.lab.replication import effects_in
from krypenv.training.research.misere import large, transfer
from krypenv.training.research.solved import matched, recall
from krypenv.training.research.studies import advice, statements

PAGE = (ROOT / "docs" / "results" / "strategy.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "strategy.md").read_text(encoding="utf-8")
MISERE = (ROOT / "docs" / "misere.md").read_text(encoding="utf-8")


def figures_of(name: str) -> dict[str, Any]:
    """The numbers behind a stored answer."""
    return json.loads((ROOT / f"docs/results/studies/{name}/result.json").read_text())["figures"]


@pytest.mark.parametrize(("page", "text", "told"), [
    ("misere", MISERE, ("All {} effects are measured again", "Holm's correction over all {}")),
    ("strategy", PAGE, ("Holm's correction over all {} effects of these tables",)),
])  # fmt: skip
def test_the_pages_say_how_many_effects_are_tested_together(page: str, text: str, told: tuple[str, ...]) -> None:
    for words in told:
        assert words.format(len(p_values_of(page))) in text
    shown = re.findall(r"<!-- generated: (?:misere|advice|by_player) (?:\w+ )?(\S+) -->", text)
    assert list(dict.fromkeys(shown)) == list(PAGES[page])


def test_what_the_page_says_of_the_rule_that_was_tried_first() -> None:
    """Of two p values, half the larger one squared: which effects would hold, and of whom."""
    found = {}
    for name in PAGES["strategy"]:
        one, other = (dict(effects_in(figures)) for figures in on_both_seeds(name))
        for path, effect in one.items():
            again = other[path]
            larger = max(effect[ALONE], again[ALONE])
            holds = larger < LEVEL and effect["mean"] * again["mean"] > 0
            found[(name, *path)] = larger**2 / 2 if holds else 1.0
    held = {place for place, p in zip(found, holm([*found.values()]), strict=True) if p < LEVEL}
    now = {place for place, p in p_values_of("strategy").items() if p < LEVEL}
    assert f"{len(held)} effects hold instead of {len(now)}" in PAGE

    def holders(places: set[tuple[str, ...]], name: str, words: str) -> set[str]:
        return {player for *place, player in places if place == [name, "statements", words]}

    cheapest = "advice-2", "make the cheapest capture rather than the dearest"
    assert "the cheapest capture for `search` and the network only" in PAGE
    assert holders(held, *cheapest) == {"search", "network"} < holders(now, *cheapest)
    single = "advice-4", "leave no single card but a picture, rather than one"
    assert "single cards at four for the network only" in PAGE
    assert holders(held, *single) == {"network"} < holders(now, *single)


def test_what_the_page_says_of_matched_small_games_holds() -> None:
    study = Twice("matched-2")
    signs = {what: study.signs("differences", what) for what in study.first["differences"]}
    games = list(study.first["differences"][matched.FIRST])
    assert signs[matched.FIRST] == dict.fromkeys(games, 1)
    assert signs[matched.HAND] == {each: -1 for each in games if "must capture" in each}
    assert signs["exploitability of tactician"] == dict.fromkeys(games, 1)
    assert signs["exploitability of greedy"] == {
        each: -1 for each in games if each.startswith("8 cards") and each.endswith("forced sweeps")
    }
    assert signs["exploitability of search(worlds=10)"] == {}
    assert all(low > 0 > high for low, high in means_of(study, matched.FIRST))
    assert max(max(both) for both in means_of(study, matched.MIXING)) < 0.0185
    leads = means_of(study, matched.FIRST)[:5]  # of seed 0
    (least, most), (second, further) = (sorted(abs(found[at]) for found in leads)[::4] for at in (0, 1))
    assert f"by {least:.2f} to {most:.2f} SD, with `goal=high` the second by {second:.2f} to {further:.2f}" in MISERE
    for cards, words in (("8", "0.02 SD against 0.04 with eight cards"), ("10", "0.04 against 0.05 with ten")):
        means = study.first["differences"][matched.HAND][f"{cards} cards, must capture, free sweeps"]["means"]
        assert re.findall(r"0\.\d\d", words) == [f"{mean:.2f}" for mean in means]
        assert words in MISERE


def test_what_the_page_says_of_optional_captures_holds() -> None:
    """Where nothing is forced, perfect players of misère come out even, in every game of both seeds."""
    idle = [
        games["low"]
        for name in ("matched-2", "matched-2-seed-1")
        for cells in figures_of(name)["cells"].values()
        for rules, games in cells.items()
        if rules.startswith("optional captures, free sweeps")
    ]
    assert len(idle) == 8
    assert all(f"{abs(each[matched.FIRST]):.2f}" == "0.00" for each in idle)
    assert max(round(each[matched.SPREAD], 2) for each in idle) == 0.03
    assert "the lead is 0.00 points, the SD 0.03 at most" in MISERE


def test_what_the_page_says_of_memory_holds() -> None:
    """The largest mean of both seeds, and that nothing is told apart."""
    study = Twice("recall-2")
    assert list(study.first["differences"]) == [recall.MEMORY]
    assert study.signs("differences", recall.MEMORY) == {}
    both = means_of(study, recall.MEMORY)
    assert len(both) == 10
    assert f"worth {max(map(max, both)):.3f} SD at most between perfect players" in MISERE


def means_of(study: Twice, what: str) -> list[list[float]]:
    """The means of a measure with the goals low and high, in all games of the first seed and then of the second."""
    return [each["means"] for found in study.at("differences", what) for each in found.values()]


TRANSFERS = ("transfer-2", f"transfer-2{AGAIN}")


@pytest.mark.parametrize("name", TRANSFERS)
def test_what_the_page_says_of_transfer_in_krypkasino_holds(name: str) -> None:
    """Of its claims each follows from the curves of both seeds; what saves or costs is told apart from scratch."""
    trunk, scratch, whole = "all but both heads", transfer.SCRATCH, "all weights"
    turned, features = "all weights, outputs negated", "layers of the actions"
    of_krypkasino = {goal: found for goal, found in figures_of(name).items() if goal.startswith("Krypkasino")}
    assert len(of_krypkasino) == 2
    for goal, found in of_krypkasino.items():
        mean = {arm: np.mean(runs, axis=0) for arm, runs in found["margins"].items()}
        games = [round(decisions / found["decisions of a game"]) for decisions in found["decisions"]]
        assert mean[trunk][1] > mean[scratch][3]
        assert (games[1], games[3]) == (84, 336)
        assert mean[whole][:5].max() < -49.5
        assert round(found["decisions"][4], -3) >= 65_000
        assert min(each[0] for each in found["margins"][turned]) > 0
        saving = {arm for arm, sign in Twice(TRANSFERS[0]).signs(goal, "gained").items() if sign > 0}
        assert saving == {trunk, turned, features}
        assert found["saved"][features]["low"] > 0
        assert found["saved"][features]["mean"] > found["saved"][trunk]["mean"] / 2
    assert "With fresh heads on it, 84 games teach more Krypkasino than 336 from scratch" in MISERE
    assert "lose by 50 points a game for 65,000 decisions" in MISERE


def test_what_the_page_says_of_transfer_in_finland_holds() -> None:
    """Nothing that is kept helps, on either seed."""
    study = Twice(TRANSFERS[0])
    goals = [goal for goal in study.first if goal.startswith("Finland")]
    gained = [each for goal in goals for found in study.at(goal, "gained") for each in found.values()]
    assert len(gained) == 12
    assert max(each["mean"] for each in gained) < 0
    assert sum(len(study.signs(goal, "gained")) for goal in goals) == 5
    assert "from scratch, one of six not significantly" in MISERE


def test_what_the_page_says_of_large_games_holds() -> None:
    """Both seeds have the same models, and each claim holds for the strongest two."""
    first, again = (
        json.loads((ROOT / f"docs/results/studies/{name}/result.json").read_text())
        for name in ("large-2", f"large-2{AGAIN}")
    )
    assert first["models_sha256"] == again["models_sha256"]
    assert (first["seed"], again["seed"]) == (0, 1)
    study = Twice("large-2")
    strongest = set(first["figures"]["strongest"])
    assert strongest == set(again["figures"]["strongest"])

    def sign_for_both(*path: str, then: Sequence[str] = ()) -> int:
        found = {study.signs(*path, then=then).get(player, 0) for player in strongest}
        return found.pop() if len(found) == 1 else 0

    for label in large.SETS:  # the wrong goal is worse than none: who beats random play with each goal
        assert sign_for_both("cells", label, large.SKILL, then=("in SD",)) == 1
    signs = {
        quantity: [sign_for_both("differences", game, quantity) for game in large.GAMES]
        for quantity in large.QUANTITIES
    }
    assert large.GAMES[0] == "Krypkasino"
    assert signs[large.SWEEPS] == [1, -1, -1, -1]  # they change sides
    assert signs[large.LEAD] == [-1, 0, 0, -1]
    assert signs[large.SIGHT] == [0, -1, -1, -1]
    assert signs[large.SKILL] == [0, 0, 0, 0]
    for game in large.GAMES[1:]:
        assert study.sign("differences", game, large.LEAD, large.TACTICIAN) == -1
        assert study.sign("differences", game, large.SIGHT, large.TACTICIAN) == 1
    for game in (large.GAMES[0], large.GAMES[3]):
        assert study.signs("differences", game, large.LEAD) == dict.fromkeys(large.PLAYERS, -1)


def test_the_ranges_of_large_games_are_over_players_and_both_seeds() -> None:
    both = [figures_of(name) for name in ("large-2", "large-2-seed-1")]

    def means(quantity: str, games: Sequence[str], players: Sequence[str]) -> list[float]:
        return [
            figures["differences"][game][quantity][player]["mean"]
            for figures in both
            for game in games
            for player in players
        ]

    krypkasino, *others, finland = large.GAMES
    leads = means(large.LEAD, (krypkasino, finland), large.PLAYERS)
    assert f"from the first seat by {-max(leads):.2f} to {-min(leads):.2f} SD in Krypkasino and Finland" in MISERE
    assert max(means(large.LEAD, others, [large.TACTICIAN])) < -0.3
    sight = means(large.SIGHT, large.GAMES[1:], both[0]["strongest"])
    assert f"it is {-max(sight):.2f} to {-min(sight):.2f} SD less for the strongest two players" in MISERE
    assert min(means(large.SIGHT, large.GAMES[1:], [large.TACTICIAN])) > 0
    moved = {
        goal: [
            figures["cells"][f"{krypkasino}, {goal}"][large.SWEEPS][player]["points"]["mean"]
            for figures in both
            for player in large.PLAYERS
        ]
        for goal in ("low", "high")
    }
    (least, most), (fewer, more) = ((min(each), max(each)) for each in moved.values())
    assert f"{least:.0f} to {most:.0f} points a game in misère, and {fewer:.0f} to {more:.0f} for high" in MISERE


ADVICE = ("advice-2", f"advice-2{AGAIN}")
PAIR = ("network", "champion")  # the strongest two


def signs_of(name: str) -> dict[str, dict[str, int]]:
    """By statement the signs that hold, by player."""
    study = Twice(name)
    return {words: study.signs("statements", words) for words in study.first["statements"]}


def test_what_the_pages_say_of_who_advice_holds_for() -> None:
    """The guide counts what the table of the evidence shows on both seeds."""
    first, signs = figures_of(ADVICE[0])["statements"], signs_of(ADVICE[0])
    assert {sign for each in signs.values() for sign in each.values()} == {1}
    shared = {
        each.words: signs[each.words]
        for each in statements.STATEMENTS
        if each.source == statements.GUIDE and len(first[each.words]) == 4
    }
    everyone = [words for words, players in shared.items() if len(players) == 4]
    strongest = [
        words for words, players in shared.items() if {"network", "champion"} <= set(players) and words not in everyone
    ]
    assert (len(shared), len(everyone)) == (18, 12)
    assert strongest == [
        "but with a reason: always doing so is worse too",
        "pay up to two points rather than none",
        "choosing is better than the cheapest",
        "no rule for the last deal: capturing is worse than to choose",
        "no rule for the last deal: creeping is worse than to choose",
    ]
    assert [words for words, players in shared.items() if not players] == ["choosing is better than up to two points"]
    assert "An agent that never pays more is not told apart from one that chooses" in GUIDE
    assert "Eighteen statements behind these points were measured with four agents" in GUIDE
    assert "twelve hold for all, five more for the strongest two" in GUIDE
    for words, players in signs.items():
        [row] = [line for line in PAGE.splitlines() if line.startswith(f"| {words} |")][:1]
        names = "all" if len(players) == 4 else ", ".join(players) or "none"
        assert row.endswith(f"| {names} |")
        assert row.count("**+") == len(players)


def test_what_the_guide_says_of_the_rulebooks() -> None:
    """Each piece of their advice against its opposite; and no rule is better than to choose freely."""
    signs = signs_of(ADVICE[0])
    for whole in (
        "creep the highest card rather than the lowest",
        "keep low cards without points rather than give them away",
        "avoid taking in scoring cards rather than capture on principle",
        "make the cheapest capture rather than the dearest",
        "set up sweeps: never doing so is worse than to choose",
        "creeping on principle is worse than to choose",
    ):
        assert set(signs[whole].values()) == {1}
        assert len(signs[whole]) == 4
    theirs = [
        each.words
        for each in statements.STATEMENTS
        if each.source == statements.RULEBOOKS
        and each.does in statements.HABITS
        and each.does != "pays 0 at most for a capture"
    ]
    assert len(theirs) == 6
    assert not any(signs[words] for words in theirs)
    free = [each.words for each in statements.STATEMENTS if each.does == statements.UNCHANGED]
    assert all(sign > 0 for words in free for sign in signs[words].values())
    assert "five pieces beat their opposites" in GUIDE
    assert "six are not told apart, and no rule beats free choice" in GUIDE


def test_what_the_guide_says_of_tables_of_four() -> None:
    """Which of its statements hold for the strongest two there, and how much of the points is left of each."""
    names = ("advice-4", f"advice-4{AGAIN}")
    signs = signs_of(names[0])
    held = [
        each.words
        for each in statements.STATEMENTS
        if each.source == statements.GUIDE and {"network", "champion"} <= set(signs[each.words])
    ]
    assert held == [
        "set up sweeps: never doing so is worse than to choose",
        "leave no single card but a picture, rather than one",
        "choosing is better than to leave none",
        "creeping on principle is worse than to choose",
        "capturing on principle is worse than to choose",
        "creep the highest card rather than the lowest",
        "choosing is better than the highest",
        "keep low cards without points rather than give them away",
        "make the cheapest capture rather than the dearest",
    ]
    assert {sign for each in signs.values() for sign in each.values()} == {1}
    for words in (
        "never paying for a capture is worse than to choose",
        "pay up to two points rather than none",
        "lead rather than deal",
        "no rule for the last deal: capturing is worse than to choose",
        "no rule for the last deal: creeping is worse than to choose",
    ):
        assert signs[words] == {"network": 1}
    shares = {
        words: sum(figures_of(four)["statements"][words][player]["mean"] for four in names for player in PAIR)
        / sum(figures_of(two)["statements"][words][player]["mean"] for two in ADVICE for player in PAIR)
        for words in held
    }
    cheapest = shares.pop(held[-1])
    assert 0.25 < min(shares.values()) < max(shares.values()) < 0.5
    assert 0.5 < cheapest < 0.8
    assert "the rules of points 1, 2, 3, 5 and 6 hold for the strongest two, mostly for a quarter to a half" in GUIDE
    assert "prices, the lead and the last deal hold for the network alone" in GUIDE


def test_what_the_guide_says_of_the_second_description() -> None:
    names = ("advice-howto", f"advice-howto{AGAIN}")
    signs = signs_of(names[0])
    for words in (
        "set up sweeps: never doing so is worse than to choose",
        "creeping on principle is worse than to choose",
        "capturing on principle is worse than to choose",
        "never paying for a capture is worse than to choose",
        "make the cheapest capture rather than the dearest",
        "lead rather than deal",
    ):
        assert set(PAIR) <= set(signs[words])
    for words in (
        "leave no single card but a picture, rather than one",
        "creep the highest card rather than the lowest",
        "keep low cards without points rather than give them away",
    ):
        assert not signs[words]
    assert {sign for each in signs.values() for sign in each.values()} == {1}
    moved = [each[advice.SWEEPS]["mean"] for name in names for each in figures_of(name)["by player"].values()]
    assert (round(min(moved)), round(max(moved))) == (10, 15)
    assert (
        "sweeps move 10 to 15 points. Set-ups, neither principle, paying, the cheapest capture and the lead hold there"
        in GUIDE
    )
    assert "single, high and low cards are not told apart" in GUIDE


RANGES = {  # what the guide says of some statements together, and the least and the most of it
    "always leaving the safest table costs 31 to 47 points a game": (
        (31, 47), ["set up sweeps: never doing so is worse than to choose"]),
    "leaving none beats leaving one by five to ten points a game": (
        (5, 10), ["leave no single card but a picture, rather than one"]),
    "Either rule costs seven to fourteen points a game": (
        (7, 14), ["creeping on principle is worse than to choose", "capturing on principle is worse than to choose"]),
    "Never paying for one costs three to nine points a game": (
        (3, 9), ["never paying for a capture is worse than to choose"]),
    "these beat their opposites by 14 to 16": ((14, 16), ["creep the highest card rather than the lowest"]),
    "and 8 to 11 points a game": ((8, 11), ["keep low cards without points rather than give them away"]),
    "Free choice beats the rules by 10 to 17": ((10, 17), ["choosing is better than the highest"]),
    "and 5 to 9.": ((5, 9), ["choosing is better than to keep them"]),
    "beats making the dearest by three to eight points a game": (
        (3, 8), ["make the cheapest capture rather than the dearest"]),
    "free choice beats that by four to eight": ((4, 8), ["choosing is better than to leave none"]),
    "Count them out: that is worth two points a game to the network": (
        (2, 2), ["count out the hands of the last deal"]),
    "Memory is worth nine to ten points a game to the network": ((9, 10), ["remember the cards"]),
    "The leader is four to eight points a game ahead of the dealer": ((4, 8), ["lead rather than deal"]),
}  # fmt: skip


@pytest.mark.parametrize("claim", RANGES)
def test_the_guide_has_the_least_and_the_most_of_all_players(claim: str) -> None:
    """On both seeds; of the network alone where only it is named."""
    bounds, statements = RANGES[claim]
    found = [
        figure["mean"]
        for name in ADVICE
        for words in statements
        for player, figure in figures_of(name)["statements"][words].items()
        if player == "network" or "network" not in claim
    ]
    assert (round(min(found)), round(max(found))) == bounds
    assert claim in GUIDE


def test_what_the_guide_says_of_sweeps_and_the_last_capture_holds_for_each_player() -> None:
    players = [figures for name in ADVICE for figures in figures_of(name)["by player"].values()]
    assert len(players) == 8
    moved, opening, taken = (
        [each[what]["mean"] for each in players] for what in (advice.SWEEPS, advice.OPENING, advice.TAKEN)
    )
    assert (round(min(moved)), round(max(moved))) == (42, 59)
    assert (round(min(opening)), round(max(opening))) == (9, 10)
    assert "sweeps move 42 to 59, nine to ten of them when a deal begins" in GUIDE
    assert 4.4 < min(taken) < max(taken) < 4.8
    assert all(each[advice.ASIDE]["mean"] > each[advice.TAKEN]["mean"] / 2 for each in players)
    assert "It costs about five points whoever plays, more than half of them set aside" in GUIDE


def test_what_the_guide_says_of_luck_follows_from_the_games_of_each_player() -> None:
    spreads = [
        figure["spread"]
        for name in ADVICE
        for figure in figures_of(name)["statements"]["lead rather than deal"].values()
    ]
    assert len(spreads) == 8
    assert (round(min(spreads)), round(max(spreads))) == (42, 48)
    assert "A game's margin has a standard deviation of 42 to 48 points" in GUIDE
    few, many = ((ndtri(0.95) * spread / 9) ** 2 for spread in (min(spreads), max(spreads)))
    assert (round(few, -1), round(many, -1)) == (60, 80)
    assert "Who is nine points a game better needs sixty to eighty games to be ahead with 95%" in GUIDE


def test_what_the_guide_says_of_tables_and_of_the_last_capturer_holds_for_each_player() -> None:
    players = [figures for name in ADVICE for figures in figures_of(name)["by player"].values()]
    single, larger, stays = (
        [each[what]["mean"] for each in players] for what in (advice.SINGLE, advice.LARGER, advice.STAYS)
    )
    assert 18 < min(single) < max(single) < 22
    assert (round(min(larger)), round(max(larger))) == (5, 10)
    assert "One table in five with a single card is swept, and 5 to 10% of the larger ones" in GUIDE
    assert 50 < min(stays) < max(stays) < 54
    assert "Eight cards before the end, the last capturer stays it in half of the games" in GUIDE
