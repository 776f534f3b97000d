"""Example M of the rulebook: table 2, 6 and Q, hand 7, 8, J and K. Is it better to set up a queen than to creep?"""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS, card_name
from krypenv.one_game import Game
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.lab.chunks import by_deal, chunk_tasks, stream
from krypenv.training.lab.habits import values_of
from krypenv.training.lab.intervals import bars, cells, figures_of, points
from krypenv.training.lab.strong_positions import play_each
from krypenv.training.lab.studying import Answer, Setup, Study, Task

TABLE, HAND = (2, 6, 12), (7, 8, 11, 13)  # ranks
NAMES = {7: "7 creeps", 8: "8 takes 6 and 2", 11: "J creeps", 13: "K creeps"}
ADVICE = NAMES[8]


def play_examples(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[float]]:
    """Return by position the margins after the four cards, played out by an agent that takes every seat.

    All suits are random, and so is where all other cards lie. It is the leader's turn in the first deal, with four
    cards in each hand.
    """
    game = Rules.parse(rules)
    random = np.random.default_rng([seed, first])
    states = np.stack([Game.from_position(example(game, random)).state for _ in range(deals)]).view(np.recarray)
    found = []
    for position in play_each(game, agent, stream(seed, first), states):
        by_rank = {play.card % NUM_RANKS + 1: play.margin for play in position.plays}
        found.append([by_rank[rank] for rank in HAND])
    return found


def example(rules: Rules, random: np.random.Generator) -> str:
    """Return the text of a random position of the example."""
    left = np.repeat(np.arange(NUM_KINDS), rules.deck_counts).tolist()
    random.shuffle(left)

    def take(rank: int) -> str:
        return card_name(left.pop(next(at for at, kind in enumerate(left) if kind % NUM_RANKS + 1 == rank)))

    def some(count: int) -> str:
        return " ".join(card_name(left.pop()) for _ in range(count))

    table, hand = " ".join(map(take, TABLE)), " ".join(map(take, HAND))
    hands = [f"hand {seat}: {hand if seat == 0 else some(len(HAND))}" for seat in range(rules.players)]
    dealt = sum(rules.players * to_hand + to_table for to_hand, to_table in rules.first_batches)
    stock = some(rules.deck_size - dealt)
    return "\n".join([f"rules: {rules}", *hands, f"table: {table}", f"stock: {stock}", "captured 1: rest"])


def tasks(setup: Setup) -> list[Task]:
    """Return chunks of positions."""
    return chunk_tasks("examples", setup, play_examples)


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Compare the rulebook's play with each of the others."""
    margins = dict(zip(NAMES.values(), np.array(by_deal(results, "examples", setup)).T, strict=True))
    others = [name for name in NAMES.values() if name != ADVICE]
    differences = [margins[ADVICE] - margins[name] for name in others]
    behind = {f"{ADVICE} rather than {name}": interval(each) for name, each in zip(others, differences, strict=True)}
    every = {**{name: interval(each) for name, each in margins.items()}, **behind}
    told = ", ".join(f"{each} over the {name[0]}" for name, each in zip(others, points(*differences), strict=True))
    return Answer(
        f"The margin of the 8 is {told}.", ("what", "margin", "95% interval"),
        [(name, *cells(each)) for name, each in every.items()], figures_of(every),
        bars(behind, "points a game by which the 8 is better"),
    )  # fmt: skip


STUDY = Study("example", "Example M: set up a queen, or creep?", tasks, answer, deals=20_000, needs=values_of)
