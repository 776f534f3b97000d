"""`krypenv belief`, exact where all hands can be listed, and the study of what sight is worth."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.positions import played
from typer.testing import CliRunner

from krypenv import Engine, Rules, determinize
from krypenv.agents.own import typed
from krypenv.cards import NUM_KINDS
from krypenv.training.cli.commands import app
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.lab.studying import Setup
from krypenv.training.research.belief import hidden_hands as hiding
from krypenv.training.research.belief import sight
from krypenv.training.research.belief.gains import BINS, EDGES, calibrate, calibration_error, gain_of
from krypenv.training.research.belief.hidden_hands import (
    HiddenHands,
    count_hands,
    hidden_hands,
    list_hands,
    log_shares,
    others_hands,
    surprise_of,
)
from krypenv.training.research.belief.measuring import belief_study, watch_games

TWO, THREE = Rules.preset("krypkasino", players=2), Rules.preset("krypkasino", players=3)
LOW = Rules.preset("mini-low", players=2)
RNG = np.random.default_rng


class Uniform:
    """Plays the first legal action, and believes that all hands are alike."""

    believes = True

    def __init__(self, rules, seed=0):
        self.rules, self.name = rules, "uniform"

    def act(self, observations, action_masks):
        return action_masks.argmax(axis=1)

    def log_weights(self, observation, hands):
        return np.zeros(len(hands))


class Impossible(Uniform):
    """Gives no hand any probability."""

    def log_weights(self, observation, hands):
        return np.full(len(hands), -np.inf)


# ---------------------------------------------------------------------- hands


@pytest.mark.parametrize("size", range(5))
def test_hands_are_listed_with_their_shares_of_deals(size: int) -> None:
    copies = np.zeros(52, np.int64)
    copies[:6] = 2, 1, 2, 0, 1, 2
    deck = [kind for kind in range(52) for _ in range(copies[kind])]
    counted = Counter(tuple(np.bincount(hand, minlength=52)) for hand in itertools.combinations(deck, size))
    hands = list_hands(copies, size)
    assert {tuple(hand) for hand in hands.tolist()} == set(counted)
    assert len(hands) == len(counted) <= count_hands(copies, size)
    for hand, log in zip(hands.astype(int), log_shares(hands, copies), strict=True):
        assert np.exp(log) == pytest.approx(counted[tuple(hand)] / counted.total())


def test_listed_hands_are_those_that_are_sampled_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where sweeps that were not made bar cards (R10)."""
    engine = played(LOW, 160, 7)
    barred = engine.state.cannot_hold[np.arange(160), 1 - engine.seat] > 0
    several = [row for row in np.flatnonzero(barred) if len(hidden_hands(LOW, engine.observation[row], RNG(0))[0]) > 5]
    assert len(several) > 3
    for row in several[:6]:
        listed = hidden_hands(LOW, engine.observation[row], RNG(0))
        assert listed.are_all
        with monkeypatch.context() as patch:
            patch.setattr(hiding, "MOST_HANDS", 0)
            sampled = hidden_hands(LOW, engine.observation[row], RNG(0))
        assert not sampled.are_all
        counted = Counter(hand.tobytes() for hand in sampled.hands)
        assert set(counted) <= {hand.tobytes() for hand in listed.hands}
        shares = np.array([counted[hand.tobytes()] / len(sampled.hands) for hand in listed.hands])
        np.testing.assert_allclose(shares, np.exp(listed.logs), atol=0.06)
        truth = others_hands(LOW, engine.state[row : row + 1])[0]
        (log,) = listed.logs[(listed.hands == truth).all(axis=(1, 2))]
        assert surprise_of(LOW, engine.observation[row], truth) == pytest.approx(-log)


def test_hands_lie_by_place_from_the_next_seat_on() -> None:
    engine = played(THREE, 20, 5)
    for row in range(20):
        state, seat = engine.state[row : row + 1], int(engine.seat[row])
        expected = [state.hands[0, (seat + place) % 3] for place in (1, 2)]
        np.testing.assert_array_equal(others_hands(THREE, state)[0], expected)
        world = determinize(engine.observation[row], 0, THREE)
        assert (others_hands(THREE, world).sum(axis=2) == others_hands(THREE, state).sum(axis=2)).all()


# ---------------------------------------------------------------------- gains


def known(number: int = 12) -> tuple[HiddenHands, np.ndarray]:
    """All hands of two cards out of some single ones, and one of them."""
    copies = np.zeros(52, np.int64)
    copies[:number] = 1
    hands = list_hands(copies, 2)
    return HiddenHands(hands[:, None], log_shares(hands, copies), True), hands[17][None]


@pytest.mark.parametrize("are_all", [True, False])
def test_a_uniform_belief_gains_nothing(are_all: bool) -> None:
    hidden, truth = known()
    gain = gain_of(lambda hands: np.full(len(hands), 3.0), hidden._replace(are_all=are_all), truth)
    assert gain.nats == pytest.approx(0.0)
    assert gain.effective == pytest.approx(1.0)
    assert calibration_error(gain.bins) == pytest.approx(0.0)  # of 12 cards each is held in one of six hands


def test_who_knows_the_hand_gains_the_log_of_the_count() -> None:
    hidden, truth = known()
    gain = gain_of(lambda hands: np.where((hands == truth).all(axis=(1, 2)), 0.0, -np.inf), hidden, truth)
    assert gain.nats == pytest.approx(np.log(66))
    assert gain.effective == pytest.approx(1 / 66)
    assert calibration_error(gain.bins) == pytest.approx(0.0)


def test_a_sample_gains_about_what_the_whole_does_and_no_more_than_its_size_allows() -> None:
    hidden, truth = known()
    weights = RNG(3).normal(size=NUM_KINDS).tolist()

    def believe(hands: np.ndarray) -> np.ndarray:
        return hands[:, 0] @ np.array(weights)

    exact, found = gain_of(believe, hidden, truth), []
    for seed in range(60):
        drawn = RNG(seed).choice(len(hidden.hands), 500, p=np.exp(hidden.logs))
        sample = HiddenHands(hidden.hands[drawn], np.full(500, -np.log(500)), False)
        found.append(gain_of(believe, sample, truth).nats)
        sure = gain_of(lambda hands: 1e3 * (hands == truth).all(axis=(1, 2)), sample, truth)
        assert sure.nats <= np.log(501)
    assert np.mean(found) == pytest.approx(exact.nats, abs=3 * np.std(found) / 60**0.5 + 0.5 / (500 * exact.effective))


def test_a_belief_that_excludes_the_truth_is_refused() -> None:
    hidden, truth = known()
    with pytest.raises(ValueError, match="gives the true hands no probability"):
        gain_of(lambda hands: np.where((hands == truth).all(axis=(1, 2)), -np.inf, 0.0), hidden, truth)


def test_calibration_counts_cards_by_the_probability_that_they_had() -> None:
    """Three single cards, of which a hand has one; by the belief with 0.7, 0.2 and 0.1."""
    copies = np.zeros(52, np.int64)
    copies[[3, 8, 20]] = 1
    hands = list_hands(copies, 1)
    order = [int(hand.argmax()) for hand in hands]
    shares = np.array([{3: 0.7, 8: 0.2, 20: 0.1}[kind] for kind in order])
    bins = calibrate(shares, HiddenHands(hands[:, None], log_shares(hands, copies), True), hands[[order.index(8)]])
    places = [int(np.searchsorted(EDGES, chance, side="right")) - 1 for chance in (0.7, 0.2, 0.1)]
    assert bins[:, 0].nonzero()[0].tolist() == sorted(places)
    assert [bins[place].tolist() for place in places] == [
        pytest.approx([1, chance, held]) for chance, held in ((0.7, 0), (0.2, 1), (0.1, 0))
    ]
    assert calibration_error(bins) == pytest.approx((0.7 + 0.8 + 0.1) / 3)


# ---------------------------------------------------------------------- games


@pytest.mark.parametrize("rules", [LOW, THREE, Rules.preset("mulle-glimne")], ids=str)
def test_games_with_an_agent_of_one_s_own(rules: Rules) -> None:
    """It sits in each seat in turn. Every play that it begins while hands are hidden counts."""
    games = watch_games(str(rules), typed(f"{__name__}:Uniform"), 0, rules.players, 5, "greedy")
    assert len(games) == rules.players
    for number, game in enumerate(games):
        engine = Engine(rules, 1, deal_seeds(5, rules.players)[number : number + 1])
        dealt = engine.state.hand_size[0].copy()
        sizes = {int(size): sums for size, sums in game["by size"].items()}
        assert max(sizes) == sum(dealt) - dealt[number] - number
        for decisions, nats, surprise, effective in sizes.values():
            assert decisions >= 1
            assert nats == pytest.approx(0.0, abs=1e-6)
            assert effective == pytest.approx(decisions)
            assert (surprise > 0) == (rules == LOW)
        assert np.array(game["bins"]).shape == (BINS, 3)
    with pytest.raises(ValueError, match="gives the true hands no probability"):
        watch_games(str(rules), typed(f"{__name__}:Impossible"), 0, 1, 5, "greedy")


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["belief", *words])


def done_in(folder: Path) -> list[str]:
    """The lines of the tasks that are done."""
    return (folder / "journal.jsonl").read_text().splitlines()[1:]


def test_the_command_measures_and_resumes(tmp_path: Path) -> None:
    words = (f"{__name__}:Uniform", "--rules", "mini-low", "--deals", "3", "--out", str(tmp_path))
    done = run(*words, "--against", "random")
    assert done.exit_code == 0, done.output
    assert "Nats that the belief of" in done.output
    assert "+0.00 (+0.00 to +0.00) on random" in done.output
    first = done_in(tmp_path)
    assert run(*words, "--against", "random", "--against", "greedy").exit_code == 0
    assert done_in(tmp_path)[:1] == first
    assert len(done_in(tmp_path)) == 2
    result = json.loads((tmp_path / "result.json").read_text())
    assert list(result["figures"]) == ["random", "greedy"]
    each = result["figures"]["greedy"]
    assert each["all"]["decisions"] == sum(its["decisions"] for its in each["by hidden cards"].values()) > 20
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    again = run(*words, "--against", "random", "--seed", "1")
    assert "holds a study with seed 0, not 1" in again.output


def test_who_has_no_belief_gains_nothing_by_definition(tmp_path: Path) -> None:
    done = run("search", "--rules", "mini-low", "--out", str(tmp_path / "none"))
    assert done.exit_code == 0
    assert "search weights no hidden hands in 'mini-low players=2" in done.output
    assert "so it gains 0 nats by definition" in " ".join(done.output.split())
    assert not (tmp_path / "none").exists()
    for words in (("oracle-hand",), ("greedy", "--against", "oracle-cards")):
        assert "sees what is hidden" in run(*words).output
    with pytest.raises(ValueError, match="greedy weights no hidden hands"):
        belief_study(["random"]).check(Setup(LOW, "greedy", 1))


# ---------------------------------------------------------------------- sight


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("krypkasino players=2", [0, 1, 2, 3, 4, 6]), ("krypkasino players=4", [0, 1, 2, 3, 4, 5]),
        ("mulle players=2", [0, 1, 2, 3, 4, 5]), ("mini-high players=3", [0, 1, 2]),
    ],
)  # fmt: skip
def test_as_many_cards_are_seen_as_hands_have(text: str, seen: list[int]) -> None:
    assert sight.numbers(Rules.parse(text)) == seen


def test_a_search_that_sees_has_the_options_of_the_one_that_does_not() -> None:
    assert sight.seer("champion(worlds=0)", 2) == sight.seer("runs/mine/model", 2) == "oracle-cards(cards=2)"
    assert sight.seer("search(worlds=5, plies=2, threads=2)", 0) == "oracle-cards(cards=0, worlds=5, plies=2)"


@pytest.mark.parametrize("rules", [LOW, Rules.preset("kasino-finland", players=3)], ids=str)
def test_sight_is_measured_by_any_rules(rules: Rules) -> None:
    setup = Setup(rules, "search(worlds=2)", 3)
    sight.STUDY.check(setup)
    results = {task.key: task.function(**task.arguments) for task in sight.tasks(setup)}
    found = sight.answer(setup, results)
    numbers = sight.numbers(rules)
    assert [row[0] for row in found.rows][: len(numbers)] == [sight.label(number) for number in numbers]
    most = f"{sight.label(numbers[-1])}"
    added = found.figures[f"{most}, over none"]["mean"]
    assert added == pytest.approx(found.figures[most]["mean"] - found.figures["sees 0 cards"]["mean"])
