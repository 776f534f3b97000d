"""What the guide and the page of its evidence say in words follows from the stored answers of studies."""

from __future__ import annotations

import re
from typing import Any

import pytest
from answer_tables import stored
from replicated_tables import AGAIN, PAGES, Twice, on_both_seeds, p_values_of
from result_tables import read
from scipy.special import ndtri
from scipy.stats import t
from support.places import ROOT

from krypenv.training.evaluation.matches.margins import holm
from krypenv.training.lab.intervals import ALONE, LEVEL
from krypenv.training.lab.replication import effects_in
from krypenv.training.research.studies import advice, statements

PAGE = (ROOT / "docs" / "results" / "strategy.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "strategy.md").read_text(encoding="utf-8")
TRAINING = (ROOT / "docs" / "results" / "training.md").read_text(encoding="utf-8")
MISERE = (ROOT / "docs" / "misere.md").read_text(encoding="utf-8")


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
    told = f"By the rule tried first, half the larger p value squared, {len(held)} effects hold instead of {len(now)}. "
    assert told + f"Gone are, {in_words(now - held)}. New are, {in_words(held - now)}." in PAGE


def p_value_of(match: dict[str, Any]) -> float:
    """Return the p value of a stored match with luck taken out, by Student's t, from its interval."""
    freedom, found = match["deals"] - 1, match["adjusted"]
    error = (found["high"] - found["low"]) / 2 / t.ppf(0.975, freedom)
    return float(2 * t.sf(abs(found["margin"]) / error, freedom))


def test_what_the_page_of_training_says_of_expert_iteration() -> None:
    """No network of its runs is told apart from the package's, with Holm's correction over them all."""
    p_values = [p_value_of(match) for match in read("trained/expert")["matches"]]
    assert len(p_values) == 15
    assert "corrected for fifteen tests, none is told apart" in TRAINING
    assert min(p_values) < LEVEL < min(holm(p_values))


def test_what_the_page_of_training_says_of_one_network_for_all_tables() -> None:
    names = re.search(r"<!-- generated: trained (family-.*) -->", TRAINING)[1].split()
    matches = [read(f"trained/{name}")["matches"][0] for name in names]
    assert {match["opponent"] for match in matches} == {"champion(worlds=0)"}
    p_values = holm([p_value_of(match) for match in matches])
    told = [match for match, p in zip(matches, p_values, strict=True) if p < LEVEL]
    assert len(matches) == 8
    said = "not told apart from the package's four, `champion(worlds=0)`, but between two, corrected for eight tests"
    assert said in TRAINING
    assert [(match["rules"], match["adjusted"]["margin"] < 0) for match in told] == [("krypkasino players=2", True)]


TABLE_WORDS = {"advice-2": "with two players", "advice-4": "with four", "advice-howto": "under `howto`"}
STATEMENT_WORDS = {
    "make the cheapest capture rather than the dearest": "the cheapest capture",
    "choosing is better than the cheapest": "choosing over it",
    "leave no single card but a picture, rather than one": "single cards",
    "leave no two cards rather than two": "no two cards",
    "but with a reason: always doing so is worse too": "always setting up",
    "creeping on principle is worse than to choose": "creeping on principle",
    "pay up to two points rather than none": "paying up to two points",
}
PLAYER_WORDS = {"tactician": "`tactician`", "search": "`search`", "network": "network", "champion": "champion"}


def in_words(effects: set[tuple[str, ...]]) -> str:
    """Return effects as the page lists them: by table the statements, each with the players in brackets."""
    tables, listed = [], 0
    for name, words in TABLE_WORDS.items():
        parts = []
        for statement, short in STATEMENT_WORDS.items():
            players = [PLAYER_WORDS[each] for each in PLAYER_WORDS if (name, "statements", statement, each) in effects]
            listed += len(players)
            if players:
                parts.append(f"{short} ({', '.join(players)})")
        if parts:
            tables.append(f"{words}, {' and '.join([', '.join(parts[:-1]), parts[-1]] if parts[1:] else parts)}")
    assert listed == len(effects)
    return "; ".join(tables)


ADVICE = ("advice-2", f"advice-2{AGAIN}")
PAIR = ("network", "champion")  # the strongest two


def signs_of(name: str) -> dict[str, dict[str, int]]:
    """By statement the signs that hold, by player."""
    study = Twice(name)
    return {words: study.signs("statements", words) for words in study.first["statements"]}


def test_what_the_pages_say_of_who_advice_holds_for() -> None:
    """The guide counts what the table of the evidence shows on both seeds."""
    first, signs = stored(ADVICE[0])["figures"]["statements"], signs_of(ADVICE[0])
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
        words: sum(stored(four)["figures"]["statements"][words][player]["mean"] for four in names for player in PAIR)
        / sum(stored(two)["figures"]["statements"][words][player]["mean"] for two in ADVICE for player in PAIR)
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
    moved = [each[advice.SWEEPS]["mean"] for name in names for each in stored(name)["figures"]["by player"].values()]
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
        for player, figure in stored(name)["figures"]["statements"][words].items()
        if player == "network" or "network" not in claim
    ]
    assert (round(min(found)), round(max(found))) == bounds
    assert claim in GUIDE


def test_what_the_guide_says_of_sweeps_and_the_last_capture_holds_for_each_player() -> None:
    players = [figures for name in ADVICE for figures in stored(name)["figures"]["by player"].values()]
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
        for figure in stored(name)["figures"]["statements"]["lead rather than deal"].values()
    ]
    assert len(spreads) == 8
    assert (round(min(spreads)), round(max(spreads))) == (42, 48)
    assert "A game's margin has a standard deviation of 42 to 48 points" in GUIDE
    few, many = ((ndtri(0.95) * spread / 9) ** 2 for spread in (min(spreads), max(spreads)))
    assert (round(few, -1), round(many, -1)) == (60, 80)
    assert "Who is nine points a game better needs sixty to eighty games to be ahead with 95%" in GUIDE


def test_what_the_guide_says_of_tables_and_of_the_last_capturer_holds_for_each_player() -> None:
    players = [figures for name in ADVICE for figures in stored(name)["figures"]["by player"].values()]
    single, larger, stays = (
        [each[what]["mean"] for each in players] for what in (advice.SINGLE, advice.LARGER, advice.STAYS)
    )
    assert 18 < min(single) < max(single) < 22
    assert (round(min(larger)), round(max(larger))) == (5, 10)
    assert "One table in five with a single card is swept, and 5 to 10% of the larger ones" in GUIDE
    assert 50 < min(stays) < max(stays) < 54
    assert "Eight cards before the end, the last capturer stays it in half of the games" in GUIDE
