"""Strategies as folders: agents that play them, solves that go on after a kill, what they do at a position, and why."""

from __future__ import annotations

import json
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from support.commands import krypenv

from krypenv import Game, Rules, agents
from krypenv.agents.solved import FORMAT, KIND, STRATEGY, load_strategy
from krypenv.inputs.artifacts import read_artifact, write_artifact
from krypenv.training import duplicate_match, solving
from krypenv.training.solving import solving as solving_module
from krypenv.training.solving.solving import FORMAT as KEPT_FORMAT, KIND as KEPT_KIND

SWEEP = Rules.preset("mini-sweep")
LAST = Rules.preset("mini-last")  # two cards in each hand, two on the table, four to come
DECK = ["2D", "4S", "AD", "3D", "AS", "4D", "2S", "3S"]
GAP = 1e-4


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an equilibrium of mini-sweep."""
    return solving.save(tmp_path_factory.mktemp("strategies") / "sweep", solving.solve(SWEEP, GAP, sees=True))


@pytest.fixture(scope="module")
def last(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an equilibrium of mini-last."""
    return solving.save(tmp_path_factory.mktemp("strategies") / "last", solving.solve(LAST, sees=True))


# ---------------------------------------------------------------------- as agents


def test_a_saved_equilibrium_is_an_agent_and_hardly_exploited(sweep: Path) -> None:
    player = agents.make(str(sweep), SWEEP)
    assert agents.rules_of(str(sweep)) == SWEEP
    assert solving.measure(str(sweep), SWEEP).exploitability <= GAP
    assert duplicate_match(player, "random", SWEEP, deals=400, seed=1).low > 0
    with pytest.raises(ValueError, match="make the environment with history=True"):
        player.act(np.zeros((1, SWEEP.observation_size), np.int8), np.ones((1, 105), np.int8))


def test_a_saved_best_response_wins_what_was_computed_also_with_luck_taken_out(tmp_path: Path) -> None:
    rules = Rules.parse("mini-copies")
    measured = solving.measure("tactician", rules, seeds=100)  # it draws between equal plays
    folder = solving.save(tmp_path / "response", measured, best_response=True)
    match = duplicate_match(str(folder), "tactician", rules, deals=2000, seed=2, luck="on")
    assert match.adjusted is not None
    assert match.adjusted.worth > 1
    for margin in (match, match.adjusted):
        assert margin.low - 0.02 <= measured.exploitability <= margin.high + 0.02
    with pytest.raises(ValueError, match="holds best responses to an agent"):
        solving.load(folder)


def test_a_strategy_of_another_version_or_for_other_rules_is_refused(sweep: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="can't play 'mini-mulle players=2'"):
        agents.make(str(sweep), Rules.preset("mini-mulle"))
    path, (arrays, facts) = tmp_path / STRATEGY, load_strategy(sweep)
    whole = arrays._asdict()
    for own, about, reason in (
        (whole, {**facts, "observation_version": 0}, "for observations of version 0"),
        *(({**whole, name: whole[name][:-1]}, facts, "are not those of one strategy") for name in whole),
    ):
        write_artifact(path, KIND, FORMAT, own, about)
        with pytest.raises(ValueError, match=reason):
            load_strategy(tmp_path)


def test_what_was_kept_by_another_solve_or_of_other_trees_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(solving_module, "_write", lambda *_: 1 / 0)  # as a kill at the end
        with pytest.raises(ZeroDivisionError):
            solving.solve_into(tmp_path, SWEEP, GAP, 1000)
    with pytest.raises(ValueError, match=r"holds another solve, with gap 0\.0001, not 0\.001; give another --out"):
        solving.solve_into(tmp_path, SWEEP, 1e-3, 1000)
    path = tmp_path / "solved-deals-1.safetensors"
    arrays, about = read_artifact(path, KEPT_KIND, KEPT_FORMAT)
    write_artifact(path, KEPT_KIND, KEPT_FORMAT, {**arrays, "values": arrays["values"][:-1]}, about)
    with pytest.raises(ValueError, match="belongs to other trees than this version grows; remove it"):
        solving.solve_into(tmp_path, SWEEP, GAP, 1000)


# ---------------------------------------------------------------------- what they do at a position


def test_beliefs_are_those_of_bayes_and_probabilities_those_of_the_agent(last: Path) -> None:
    player, solved = agents.make(str(last), LAST), solving.load(last)
    looked = 0
    for seed in range(12):
        game = Game(LAST, seed=seed)
        while not game.is_over:
            found = solving.look(solved, game)
            if len(found.moves) > 1 and game.deal_number == 1:
                looked += 1
                played = {each.move: each.probability for each in found.moves}
                assert played == pytest.approx(chances(player, game))
                best = max(each.margin for each in found.moves)  # whoever acts
                assert all(each.margin > best - 0.3 for each in found.moves if each.probability > 0.1)
                believed = {each.hand: each.probability for each in found.beliefs}
                for hand, probability in by_bayes(player, game).items():
                    assert believed.get(hand, 0.0) == pytest.approx(probability, abs=1e-9)
            game.push(max(found.moves, key=lambda each: each.probability).move)
    assert looked > 15


def chances(player, game: Game) -> dict[str, float]:
    """The probability of each move by an agent that tells those of its actions."""
    told = player.probabilities(game.observation(history=True)[None], game.action_mask()[None])[0]
    found: dict[str, float] = {}
    for action in game.legal_actions():
        after = game.copy()
        after.act(action)
        rest = {str(after.last_move): 1.0} if after.pending is None else chances(player, after)
        for move, probability in rest.items():
            found[move] = found.get(move, 0.0) + told[action] * probability
    return found


def by_bayes(player, game: Game) -> dict[tuple[str, ...], float]:
    """The hands that the other seat may hold in the first deal, by playing its moves from each that it may have had."""
    seat, other = game.turn, 1 - game.turn
    start, deck = Game(game.rules, deck=game.deck), game.deck
    unknown = set(deck) - set(start.table) - set(start.hand(seat))
    places = [deck.index(card) for card in start.hand(other)]
    weights: dict[tuple[str, ...], float] = {}
    for held in combinations(sorted(unknown), len(places)):
        rest = iter(sorted(unknown - set(held)))
        dealt = [card if card not in unknown else None for card in deck]
        for place, card in zip(places, held, strict=True):
            dealt[place] = card
        world, weight = Game(game.rules, deck=[card or next(rest) for card in dealt]), 1.0
        for move in map(str, game.moves):
            if move not in map(str, world.legal_moves()):
                weight = 0.0
                break
            if world.turn == other:
                weight *= chances(player, world)[move]
            world.push(move)
        if weight:
            now = tuple(world.hand(other))
            weights[now] = weights.get(now, 0.0) + weight
    total = sum(weights.values())
    return {hand: weight / total for hand, weight in weights.items()}


def test_the_mean_margin_of_the_first_decision_is_the_value_of_the_game() -> None:
    """Nobody must sweep here, so the first decision has a choice. What the other seat holds is no matter."""
    rules = Rules.parse("mini-sweep forced_sweep=False")
    free, deck, margins = solving.solve(rules, sees=True), ("AD", "AS", "2D", "2S", "3D", "3S"), []
    for table, *hand in permutations(deck, 3):
        theirs = [card for card in deck if card not in (table, *hand)][:2]
        zones = {"table": [table], "hand 0": hand, "hand 1": theirs, "stock": ["rest"]}
        lines = [f"rules: {rules}", *(f"{zone}: {' '.join(cards)}" for zone, cards in zones.items())]
        found = solving.look(free, Game.from_position("\n".join(lines)), knows_plays=False)
        assert [each.probability for each in found.beliefs] == pytest.approx([1 / 3] * 3)
        margins.append(found.margin)
    assert np.mean(margins) == pytest.approx(free.value, abs=1e-9)


# ---------------------------------------------------------------------- the commands


def test_the_commands(last: Path, tmp_path: Path) -> None:
    first = krypenv("solve", "mini-sweep", "--out", tmp_path / "sweep")
    assert "the first seat can expect -3.4889 points" in first.stdout
    krypenv("exploit", "greedy", "--rules", "mini-sweep", "--exact", "--json", tmp_path / "greedy.json")
    assert json.loads((tmp_path / "greedy.json").read_text())["exploitability"] > 0
    shown = krypenv("solve", last, "--at", Game(LAST, deck=DECK).position())
    assert shown.exit_code == 0, shown.output
    assert "seat 0 in deal 1" in shown.stdout
