"""What the page on misère says in words follows from the stored answers of studies."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from answer_tables import stored
from replicated_tables import AGAIN, Twice
from support.places import ROOT

from krypenv.training.research.misere import large, transfer
from krypenv.training.research.solved import matched, recall

MISERE = (ROOT / "docs" / "misere.md").read_text(encoding="utf-8")


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
        for cells in stored(name)["figures"]["cells"].values()
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
    of_krypkasino = {goal: found for goal, found in stored(name)["figures"].items() if goal.startswith("Krypkasino")}
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
    first, again = (stored(name) for name in ("large-2", f"large-2{AGAIN}"))
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
    both = [stored(name)["figures"] for name in ("large-2", "large-2-seed-1")]

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
