"""What memory of earlier deals is worth: against brute force over all that a forgetful player can do; the study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from krypenv import Game, Rules, agents
from krypenv.agents.solved import keys_of
from krypenv.training.lab.studying import FIGURE, Setup, run_study
from krypenv.training.research.solved import matched, recall
from krypenv.training.solving.growing import grow
from krypenv.training.solving.insight import merge, without_memory, worth_of_memory, worth_of_sight
from krypenv.training.solving.policies import owners_of
from krypenv.training.solving.saving import save
from krypenv.training.solving.solving import Solved, respond, solve, with_policies

Needed = frozenset[tuple[Any, int]]  # decisions by what is seen, with their choices
TINY = (  # of eight cards, four of them in each deal; memory is worth something to the first seat
    "ranks=(1,3,5,7) forced_sweep=False goal=high",
    "ranks=(2,4,6,8) goal=high",
    "ranks=(1,2,8,9)",
)


def tiny(fields: str) -> Rules:
    return Rules.parse(f"mini-hidden players=2 suits=(3,) packs=2 first_deal=((2,0),) {fields}")


class BruteForce:
    """All histories of a game against a player, and what a forgetful seat can see in them."""

    def __init__(self, rules: Rules, player: Any, seat: int) -> None:
        self.player, self.seat = player, seat
        self.margins: dict[Needed, float] = {}  # times their chance, by the own choices they need
        decks = Counter(by_hands(deck) for deck in set(permutations(Game(rules).deck)))
        for deck, count in decks.items():
            game = Game(rules, deck=list(deck))
            assert deck[:4] == (*sorted(game.hand(0)), *sorted(game.hand(1)))
            self.follow(game, count / decks.total(), {}, self.begin(game))

    @staticmethod
    def begin(game: Game) -> tuple[Any, ...]:
        """What begins a deal: the deal, both hands, what lies on the table, and the plays so far."""
        hands = [tuple(sorted(game.hand(seat))) for seat in range(2)]
        lying = tuple(sorted(game.table)), tuple(sorted(game.set_aside))
        return game.deal_number, hands, lying, len(game.moves)

    def follow(self, game: Game, chance: float, own: dict[Any, int], begun: tuple[Any, ...]) -> None:
        if game.is_over:
            scores = game.scores()
            margin = scores[1 - self.seat] - scores[self.seat]
            if game.rules.goal == "high":
                margin = -margin
            needed = frozenset(own.items())
            self.margins[needed] = self.margins.get(needed, 0.0) + chance * margin
            return
        if game.deal_number != begun[0]:
            begun = self.begin(game)
        actions = game.legal_actions()
        if len(actions) == 1:
            chances = [1.0]
        elif game.turn == self.seat:
            deal, hands, lying, before = begun
            plays = tuple(map(str, game.moves[before:]))
            seen = deal, hands[self.seat], lying, plays, game.pending, tuple(sorted(game.taken))
            for action in actions:
                if own.get(seen, action) == action:
                    after = game.copy()
                    after.act(action)
                    self.follow(after, chance, {**own, seen: action}, begun)
            return
        else:
            told = self.player.probabilities(game.observation(history=True)[None], game.action_mask()[None])[0]
            chances = told[actions].tolist()
        for action, probability in zip(actions, chances, strict=True):
            if probability:
                after = game.copy()
                after.act(action)
                self.follow(after, chance * probability, own, begun)

    def best(self) -> float:
        """The margin of the best of all pure strategies."""
        return best_of(self.margins)


def by_hands(deck: Sequence[str]) -> tuple[str, ...]:
    """The deck with each hand, two cards in a row, in one order."""
    return tuple(card for at in range(0, len(deck), 2) for card in sorted(deck[at : at + 2]))


def best_of(margins: dict[Needed, float]) -> float:
    """The largest sum of margins whose choices a strategy makes, over all pure strategies.

    Decisions that no history links, given those before, are tried apart from each other.
    """
    total = 0.0
    for part in parts_of(margins):
        seen = Counter(seen for needed in part for seen, _ in needed).most_common(1)
        if not seen:
            total += sum(part.values())
            continue
        ((first, _),) = seen
        found = []
        for chosen in {action for needed in part for at, action in needed if at == first}:
            left: dict[Needed, float] = {}
            for needed, margin in part.items():
                if all(action == chosen for at, action in needed if at == first):
                    rest = frozenset(pair for pair in needed if pair[0] != first)
                    left[rest] = left.get(rest, 0.0) + margin
            found.append(best_of(left))
        total += max(found)
    return total


def parts_of(margins: dict[Needed, float]) -> list[dict[Needed, float]]:
    """The margins in parts that have no decision in common."""
    parts: list[tuple[set[Any], dict[Needed, float]]] = []
    for needed, margin in margins.items():
        seen, part = {seen for seen, _ in needed}, {needed: margin}
        apart = []
        for others, there in parts:
            if others & seen:
                seen |= others
                part |= there
            else:
                apart.append((others, there))
        parts = [*apart, (seen, part)]
    return [part for _, part in parts]


def arbitrary(solved: Solved) -> Solved:
    """Policies of both seats at random, the same where a strategy as a file can't tell information sets apart."""
    random, policies = np.random.default_rng(0), []
    for forest in solved.trees.forests:
        owner = owners_of(forest)
        keys, places = np.unique(keys_of(solved.trees.rules, forest.seen), axis=0, return_inverse=True)
        weights = random.exponential(size=(len(keys), np.diff(forest.choice).max())) ** 2
        found = weights[places.reshape(-1)[owner], np.arange(len(owner)) - forest.choice[owner]]
        policies.append(found / np.bincount(owner, found)[owner])
    return respond(with_policies(solved.trees, policies), 1)


@pytest.mark.parametrize("fields", TINY)
def test_a_forgetful_player_wins_what_the_best_of_all_its_strategies_does(fields: str, tmp_path: Path) -> None:
    """Against an equilibrium, and against any other policy."""
    solved = solve(tiny(fields), threads=1, sees=True)
    for name, policies in (("equilibrium", solved), ("arbitrary", arbitrary(solved))):
        player = agents.make(str(save(tmp_path / name, policies)), solved.trees.rules)
        best = best_of(BruteForce(solved.trees.rules, player, 0).margins)
        assert without_memory(policies, 0) == pytest.approx(best, abs=1e-6)
        assert policies.best[0] > without_memory(policies, 0) + 0.003


@pytest.mark.parametrize("name", ["mini-sweep", "mini-choice", "mini-copies", "mini-last"])
def test_memory_is_never_a_burden(name: str) -> None:
    """It is worth less than sight of the other hand, which the seat can infer in the last deal by memory alone."""
    solved = solve(Rules.preset(name), threads=1)
    assert worth_of_memory(solved) > -1e-9
    assert worth_of_memory(solved) < worth_of_sight(solved) + 1e-3


def test_memory_is_worth_nothing_in_a_single_deal() -> None:
    rules = Rules.preset("mini-hidden", ranks=(1, 2, 3, 4), first_deal=((3, 2),))
    solved = solve(rules, threads=1)
    assert len(solved.trees.forests) == 1
    assert worth_of_memory(solved) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", ["mini-choice", "mini-hidden", "mini-kasino"])
def test_decisions_that_look_alike_have_the_same_choices(name: str) -> None:
    trees = grow(Rules.preset(name))
    fewer = 0
    for forest, roots in zip(trees.forests, trees.roots, strict=True):
        merged = merge(trees.rules, forest, roots)
        fewer += len(merged.classes) - (len(merged.choice) - 1)
        seats = np.full(len(merged.choice) - 1, -1)
        seats[merged.classes] = forest.seat
        actions = np.full(merged.choice[-1], -1)
        actions[merged.place] = forest.actions
        assert np.array_equal(seats[merged.classes], forest.seat)
        assert np.array_equal(actions[merged.place], forest.actions)
        assert np.array_equal(np.diff(merged.choice)[merged.classes], np.diff(forest.choice))
    assert fewer > 0


def test_the_study_in_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = (matched.Size(4, ((((2, 0),), ((2, 0),)),), (matched.MAXIMAL, matched.OPTIONAL)),)
    monkeypatch.setattr(recall, "SIZES", sizes)
    setup = Setup(Rules.preset(matched.BASE), "tactician", 2)
    found = run_study(recall.STUDY, setup, tmp_path / "out", "krypenv study recall")
    assert [row[:2] for row in found.rows] == [
        (recall.MEMORY, f"8 cards, {kind}")
        for kind in ("must capture, forced sweeps", "optional captures, forced sweeps", "must capture, free sweeps")
    ]
    for low, high, difference in ((float(row[2]), float(row[3]), float(row[4])) for row in found.rows):
        assert min(low, high) >= 0
        assert low - high == pytest.approx(difference, abs=2e-4)
    assert "told apart in: none" in found.sentence
    assert (tmp_path / "out" / FIGURE).read_bytes().startswith(b"\x89PNG")
