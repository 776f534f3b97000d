"""What search and other agents lose to an equilibrium: against walks with the engine, and by hand over the trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from krypenv import Game, Rules, agents
from krypenv.cards import card_name
from krypenv.envs.chance import CoursePlan
from krypenv.training.solving.beliefs import (
    BELIEFS,
    CAUSES,
    CONTINUATIONS,
    EQUILIBRIUM,
    LEAVES,
    Way,
    leaf_values,
    lost_by,
    node_values,
    searched,
)
from krypenv.training.solving.deal_tree import Forest
from krypenv.training.solving.saving import save
from krypenv.training.solving.solving import (
    Solved,
    evaluate,
    grow_for_agents,
    lost_to_equilibrium,
    measure,
    respond,
    solve,
    solve_trees,
    with_policies,
)

GAP = 1e-4
WAYS = [Way(*each) for each in product(BELIEFS, CONTINUATIONS, LEAVES)]
Policy = Callable[[Game], np.ndarray]  # from a game to the probability of each action


@cache
def solved(name: str) -> Solved:
    """A small game, solved once."""
    return solve(Rules.preset(name), gap=GAP, threads=1, sees=True)


# ---------------------------------------------------------------------- head to head


def decks(rules: Rules) -> Iterator[list[int]]:
    """All decks that differ in who gets what; they are equally likely."""
    cards = np.repeat(np.arange(52), rules.deck_counts).tolist()
    places = [
        [draw.place for draw in deal if draw.seat == seat]
        for deal in CoursePlan(rules, sorted_deals=True).deals
        for seat in dict.fromkeys(draw.seat for draw in deal)
    ]

    def fill(left: Sequence[int], groups: Sequence[list[int]], deck: list[int]) -> Iterator[list[int]]:
        if not groups:
            yield list(deck)
            return
        for taken in combinations(left, len(groups[0])):
            for place, at in zip(groups[0], taken, strict=True):
                deck[place] = cards[at]
            yield from fill([at for at in left if at not in taken], groups[1:], deck)

    return fill(range(len(cards)), places, [0] * len(cards))


def played(game: Game, policies: Sequence[Policy]) -> float:
    """The margin of seat 0 between two policies, over all plays with a given deck."""
    if game.is_over:
        own, other = game.scores()
        return float(other - own if game.rules.goal == "low" else own - other)
    chances, total = policies[game.turn](game), 0.0
    for action in np.flatnonzero(chances).tolist():
        after = game.copy()
        after.act(action)
        total += chances[action] * played(after, policies)
    return total


def mask_of(game: Game) -> np.ndarray:
    """The legal actions of a game."""
    mask = np.zeros(game.rules.num_actions, np.int8)
    mask[game.legal_actions()] = 1
    return mask


@pytest.mark.parametrize("name", ["mini-sweep", "mini-kasino", pytest.param("mini-last", marks=pytest.mark.slow)])
def test_what_random_play_loses_is_what_a_walk_with_the_engine_finds(name: str, tmp_path: Path) -> None:
    """Every deck and every play, by an equilibrium as it is saved, in both seats."""
    rules = Rules.preset(name)
    player = agents.make(str(save(tmp_path / "equilibrium", solved(name))), rules)
    known: dict[bytes, np.ndarray] = {}

    def perfect(game: Game) -> np.ndarray:
        seen = game.observation(history=True)
        key = seen.tobytes()
        if key not in known:
            known[key] = player.probabilities(seen[None], mask_of(game)[None])[0]  # type: ignore[attr-defined]
        return known[key]

    def random(game: Game) -> np.ndarray:
        mask = mask_of(game)
        return mask / mask.sum()

    games = [Game(rules, deck=[card_name(card) for card in deck]) for deck in decks(rules)]
    leads = [np.mean([played(game, pair) for game in games]) for pair in ((random, perfect), (perfect, random))]
    trees = grow_for_agents(rules)
    equilibrium = measure(str(tmp_path / "equilibrium"), rules, trees=trees)
    found = lost_to_equilibrium(equilibrium, measure("random", rules, trees=trees))
    assert found == pytest.approx((leads[1] - leads[0]) / 2, abs=1e-9)
    assert found > 0.5


@pytest.mark.parametrize("name", ["mini-sweep", "mini-last", "mini-kasino"])
def test_nobody_loses_more_to_an_equilibrium_than_to_a_best_response(name: str) -> None:
    rules = Rules.preset(name)
    trees = grow_for_agents(rules)
    perfect = solve_trees(trees, GAP, threads=1)
    assert lost_to_equilibrium(perfect, perfect) == 0
    for agent in ("random", "greedy", "tactician", "search(worlds=10)"):
        measured = measure(agent, rules, 2, trees=trees)
        assert -GAP <= lost_to_equilibrium(perfect, measured) <= measured.exploitability + GAP
    for way in WAYS:
        found = respond(searched(perfect, way))
        assert -GAP <= lost_to_equilibrium(perfect, found) <= found.exploitability + GAP


def test_two_policies_are_worth_what_the_solver_says() -> None:
    found = solved("mini-last")
    again = evaluate(with_policies(found.trees, [each.policy for each in found.solutions]))
    for one, other in zip(again.solutions, found.solutions, strict=True):
        assert one.values == pytest.approx(other.values)


# ---------------------------------------------------------------------- causes


@pytest.mark.parametrize("name", ["mini-sweep", "mini-last", "mini-kasino", "mini-mulle"])
def test_nothing_is_lost_with_exact_beliefs_and_the_equilibrium_s_own_values(name: str) -> None:
    """One move better by these is all that a player can gain, and in an equilibrium there is none."""
    assert lost_by(solved(name), Way("exact", EQUILIBRIUM)) == pytest.approx(0, abs=GAP)


def by_hand(forest: Forest, policy: np.ndarray, seat: int, way: Way, leaves: np.ndarray) -> dict[int, np.ndarray]:
    """What a search thinks of each choice in a seat's information sets: node by node, down from the first hands."""
    worth: dict[int, np.ndarray] = {}
    weights: dict[int, float] = {}

    def below(node: int, chance: float) -> float:
        """Walk below a node, and return what it is worth as the search goes on."""
        if node < 0:
            return float(leaves[-1 - node])
        infoset, edge = int(forest.infoset[node]), int(forest.edge[node])
        chances = policy[forest.choice[infoset] : forest.choice[infoset + 1]]
        mover = int(forest.seat[infoset])
        weighed = chances if way.beliefs == "exact" and mover != seat else np.ones(len(chances))
        children = forest.children[edge : edge + len(chances)].tolist()
        found = np.array([below(child, chance * each) for child, each in zip(children, weighed, strict=True)])
        if mover == seat:
            worth[infoset] = worth.get(infoset, 0.0) + chance * found
            weights[infoset] = weights.get(infoset, 0.0) + chance
        if way.continuation == EQUILIBRIUM:
            return float(chances @ found)
        return float(found.max() if mover == 0 else found.min())

    for node, chance in zip(forest.first.tolist(), forest.chance.tolist(), strict=True):
        below(node, chance)
    return {at: (1 - 2 * seat) * each / weights[at] for at, each in worth.items() if weights[at]}


@pytest.mark.parametrize("name", ["mini-last", "mini-kasino"])
@pytest.mark.parametrize("way", [way for way in WAYS if way.leaf == EQUILIBRIUM], ids="/".join)
def test_a_search_plays_what_is_best_by_its_beliefs(name: str, way: Way) -> None:
    whole = solved(name)
    forest, solution = whole.trees.forests[0], whole.solutions[0]
    found = searched(whole, way).solutions[0].policy
    goes_on = forest.follower >= 0
    leaves = forest.gain.copy()
    leaves[goes_on] += whole.solutions[1].values[forest.follower[goes_on]]
    for seat in range(2):
        expected = by_hand(forest, solution.policy, seat, way, leaves)
        assert len(expected) > 50
        for infoset, worth in expected.items():
            played = found[forest.choice[infoset] : forest.choice[infoset + 1]]
            is_best = worth > worth.max() - 1e-9
            assert played == pytest.approx(is_best / is_best.sum())


def test_with_open_hands_the_last_decision_takes_the_best_end() -> None:
    whole = solved("mini-last")
    forest = whole.trees.forests[0]
    leaves = leaf_values(forest, whole.solutions[1].values)
    values = node_values(forest, leaves)
    for node, infoset in enumerate(forest.infoset.tolist()):
        first = int(forest.edge[node])
        children = forest.children[first : first + int(forest.choice[infoset + 1] - forest.choice[infoset])]
        if (children < 0).all():
            ends = leaves[-1 - children]
            assert values[node] == (ends.max() if forest.seat[infoset] == 0 else ends.min())


def test_what_search_loses_in_a_small_game_is_split() -> None:
    found = {name: lost_by(solved("mini-last"), way) for name, way in CAUSES.items()}
    expected = {"uniform/open": 0.108, "exact/open": 0.005, "uniform/equilibrium": 0.103, "leaf of search": 0.227}
    assert found == pytest.approx(expected, abs=0.002)


def test_the_agent_loses_what_a_search_with_its_leaf_value_loses() -> None:
    rules = Rules.preset("mini-last")
    trees = grow_for_agents(rules)
    perfect = solve_trees(trees, GAP, threads=1)
    agent, model = measure("search(worlds=300)", rules, 2, trees=trees), respond(searched(perfect, Way(leaf="search")))
    assert lost_to_equilibrium(perfect, agent) == pytest.approx(lost_to_equilibrium(perfect, model), abs=0.02)
    assert agent.exploitability == pytest.approx(model.exploitability, abs=0.02)


@pytest.mark.parametrize("name", ["mini-choice", "mini-sweep"])
def test_where_hands_matter_little_nothing_is_lost(name: str) -> None:
    assert lost_by(solved(name), Way()) == pytest.approx(0, abs=2 * GAP)


def test_an_unknown_way_to_value_moves_is_refused() -> None:
    for way in (Way("sure"), Way(continuation="closed"), Way(leaf="margin")):
        with pytest.raises(ValueError, match=r"a search values moves by .* or .*, not '(sure|closed|margin)'"):
            searched(solved("mini-sweep"), way)
