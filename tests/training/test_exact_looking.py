"""What `krypenv solve --at` shows: beliefs by Bayes over all hands, and probabilities as the saved agent plays them."""

from __future__ import annotations

from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from support.commands import krypenv

from krypenv import Game, Rules, agents
from krypenv.training.solving import Look, Solved, load, look, measure, save, solve

LAST = Rules.preset("mini-last")  # two cards in each hand, two on the table, four to come
DECK = ["2D", "4S", "AD", "3D", "AS", "4D", "2S", "3S"]


@pytest.fixture(scope="module")
def solved() -> Solved:
    """An equilibrium of mini-last."""
    return solve(LAST, sees=True)


@pytest.fixture(scope="module")
def folder(solved: Solved, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which it is saved."""
    return save(tmp_path_factory.mktemp("strategies") / "last", solved)


def test_beliefs_are_those_of_bayes_and_probabilities_those_of_the_agent(solved: Solved, folder: Path) -> None:
    player = agents.make(str(folder), LAST)
    looked = 0
    for seed in range(12):
        game = Game(LAST, seed=seed)
        while not game.is_over:
            found = look(solved, game)
            if len(found.moves) > 1 and game.deal_number == 1:
                looked += 1
                for move, probability in chances(player, game).items():
                    assert {each.move: each.probability for each in found.moves}[move] == pytest.approx(probability)
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


def test_a_saved_strategy_says_the_same(solved: Solved, folder: Path) -> None:
    game = Game(LAST, seed=1)
    one, other = look(solved, game), look(load(folder), game)
    assert [each.move for each in one.moves] == [each.move for each in other.moves]
    for mine, theirs in zip(one.moves, other.moves, strict=True):
        assert mine[1:] == pytest.approx(theirs[1:])


def test_the_mean_margin_of_the_first_decision_is_the_value_of_the_game() -> None:
    """Nobody must sweep here, so the first decision has a choice. What the other seat holds is no matter."""
    rules = Rules.parse("mini-sweep forced_sweep=False")
    free, deck, margins = solve(rules, sees=True), ("AD", "AS", "2D", "2S", "3D", "3S"), []
    for table, *hand in permutations(deck, 3):
        theirs = [card for card in deck if card not in (table, *hand)][:2]
        zones = {"table": [table], "hand 0": hand, "hand 1": theirs, "stock": ["rest"]}
        lines = [f"rules: {rules}", *(f"{zone}: {' '.join(cards)}" for zone, cards in zones.items())]
        found = look(free, Game.from_position("\n".join(lines)), knows_plays=False)
        assert [each.probability for each in found.beliefs] == pytest.approx([1 / 3] * 3)
        margins.append(found.margin)
    assert np.mean(margins) == pytest.approx(free.value, abs=1e-9)


def test_a_position_says_how_many_plays_lead_there(solved: Solved) -> None:
    counts = set()
    for seed in range(12):
        game = Game(LAST, seed=seed)
        while not game.is_over:
            from_record = look(solved, game)
            from_text = look(solved, Game.from_position(game.position()), knows_plays=False)
            assert from_text.histories >= from_record.histories == 1
            if from_text.histories == 1:
                assert without_nan(from_text) == without_nan(from_record)
            counts.add(from_text.histories)
            game.push(game.legal_moves()[0])
    assert len(counts) > 1


def without_nan(found: Look) -> list[object]:
    """A look, comparable."""
    return [[each.move for each in found.moves], found.beliefs, found.comes_here]


def test_what_can_not_be_looked_at_is_refused(folder: Path, tmp_path: Path) -> None:
    start = "rules: mini-sweep players=2; hand 0: AD 2D; hand 1: 3D 3S; table: 2S; stock: AS"
    for words, sentence in (
        ([str(folder), "--at", start], "the position is one of 'mini-sweep players=2', and the strategy is for"),
        (["mini-last", "--at", start], "the position is one of 'mini-sweep players=2', and the strategy is for"),
        ([str(folder)], "--at shows what its strategy does"),
        ([str(folder), "--at", start, "--rule", "goal=high"], "leave out --rule and --out"),
        (["mini-sweep", "--at", "rules: mini-sweep players=2; captured 0: rest"], "the game is over"),
    ):
        assert sentence in krypenv("solve", *words).stderr
    response = save(tmp_path / "response", measure("greedy", Rules.preset("mini-sweep")), best_response=True)
    with pytest.raises(ValueError, match="holds best responses to an agent"):
        load(response)
    shown = krypenv("solve", folder, "--at", Game(LAST, deck=DECK).position())
    assert shown.exit_code == 0, shown.output
    assert "seat 0 in deal 1" in shown.stdout
