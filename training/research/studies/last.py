"""The end of the game: what the cards set aside are worth, and the fight for and against the last capture."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents import Agent
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.state import State
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.lab.chunks import Change, by_deal, chunk_tasks, match_tasks, watch
from krypenv.training.lab.comparison import LABEL
from krypenv.training.lab.habits import (
    BoolArray,
    Habit,
    Int8Array,
    capturing,
    creeping,
    is_network,
    network_of,
    only_plays,
    values_of,
    with_habit,
)
from krypenv.training.lab.intervals import amounts, bars, cells, figures_of, percents, points
from krypenv.training.lab.studying import Answer, Setup, Study, Task

IntArray = npt.NDArray[np.int64]
LEFT = (24, 16, 12, 8, 6, 4, 3, 2, 1)  # cards still to be played in all hands
WHOLE_GAME = 99  # deals: more than any game has


class IgnoresPile:
    """Plays as a network that takes the cards set aside for captured ones, until so many deals are left.

    It does not solve the last deal.
    """

    def __init__(self, base: Agent, deals: int) -> None:
        self.name, self.rules, self._network, self._deals = "ignores the pile", base.rules, network_of(base), deals

    def act(self, observations: Int8Array, action_masks: Int8Array) -> Any:
        """Return an action for each row, (B,) int64."""
        seen = observations.copy()
        seen[:, LAYOUT["set_aside"]] *= seen[:, LAYOUT["deals_left"]] < self._deals
        logits, _ = self._network.evaluate(seen, action_masks)
        return np.where(action_masks > 0, logits, -np.inf).argmax(axis=1)


def ignores_pile(deals: int, agent: str, rules: Rules, seed: int) -> Agent:
    """Return an agent that ignores the pile until so many deals are left; a change of an agent for `match_tasks`."""
    return IgnoresPile(agents.make_known(agent, rules, seed), deals)


def seek(cards: int, rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """In the last deal, with so many cards in hand at most, capture if a card can."""
    return only_plays(capturing(rules, observations, masks) | ~_is_late(cards, observations), masks)


def avoid(cards: int, rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """In the last deal, with so many cards in hand at most, creep if a card can."""
    return only_plays(creeping(rules, observations, masks) | ~_is_late(cards, observations), masks)


def _is_late(cards: int, observations: Int8Array) -> BoolArray:
    """Return which rows are in the last deal, with so many cards in hand at most, (B, 1)."""
    last = observations[:, LAYOUT["deals_left"]] == 0
    late: BoolArray = last & (observations[:, LAYOUT["hand_size"]][:, :1] <= cards)
    return late


HABITS: dict[str, Habit] = {
    "seeks the last capture with two cards": partial(seek, 2),
    "avoids the last capture with two cards": partial(avoid, 2),
    "captures whenever it can in the last deal": partial(seek, 99),
    "creeps whenever it can in the last deal": partial(avoid, 99),
}
PILE: dict[str, Change] = {
    "does not solve the last deal": partial(ignores_pile, WHOLE_GAME),
    "ignores the pile in the whole game": partial(ignores_pile, 0),
    "ignores the pile until the last deal": partial(ignores_pile, 1),
    "ignores the pile until the last two deals": partial(ignores_pile, 2),
    "ignores the pile until the last four deals": partial(ignores_pile, 4),
}


def changes(setup: Setup) -> dict[str, Change]:
    """Return the habits, and for a network under rules that put cards aside, what it does without thinking of them."""
    found = {name: with_habit(habit) for name, habit in HABITS.items()}
    thinks = is_network(setup.agent, setup.rules) and setup.rules.set_aside != "none"
    return {**found, **PILE} if thinks else found


def points_left(rules: Rules, ends: State) -> tuple[IntArray, IntArray]:
    """Return what the last capture takes in, in points: the cards set aside, and all others; (B,) each.

    `ends` are states before the last decision of a game.
    """
    worth = rules.card_points.astype(np.int64)
    table: IntArray = (ends.table + ends.hands.sum(axis=1)) @ worth
    return ends.set_aside @ worth, table + np.where(ends.pending >= 0, worth[ends.pending], 0)


def watch_ends(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[Any]]:
    """Return by deal the points that the last capture took in from the pile and from the table, and its way there.

    The points are those of all cards that nobody had before the last play: its card is counted as lying on the table.
    The way is, for each number of cards of `LEFT`, whether the last capturer at that time made the last capture too;
    None where nobody had captured yet, or the last capture took no point.
    """
    game = Rules.parse(rules)
    capturers = np.full((deals, len(LEFT)), -1)
    found: list[list[Any]] = [[] for _ in range(deals)]
    for engine, rows, before, ended, ends in watch(rules, agent, first, deals, seed):
        left = game.deck_size - before.next_card + before.hand_size.sum(axis=1)
        for place, cards in enumerate(LEFT):
            here = left == cards
            capturers[rows[here], place] = before.last_capturer[here]
        if not len(ended):
            continue
        capturers[ended, LEFT.index(1)] = ends.last_capturer
        pile, table = points_left(game, ends)
        gained = engine.final_points[ended] - ends.points[:, : game.players]
        for row, aside, lying, gain in zip(ended.tolist(), pile.tolist(), table.tolist(), gained, strict=True):
            last = int(gain.argmax()) if gain.any() else -1
            way = [None if capturer < 0 or last < 0 else int(capturer == last) for capturer in capturers[row].tolist()]
            found[row] = [aside, lying, way]
    return found


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of each change, and the games to watch."""
    matches = [task for name, change in changes(setup).items() for task in match_tasks(name, setup, change)]
    return [*matches, *chunk_tasks("ends", setup, watch_ends)]


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what the last capture costs, when it is decided, and what changed players lose."""
    ends = by_deal(results, "ends", setup)
    costs = {name: interval([end[at] for end in ends]) for at, name in enumerate(("the pile", "the table"))}
    costs["both"] = interval([end[0] + end[1] for end in ends])
    stays = {cards: [end[2][at] for end in ends if end[2][at] is not None] for at, cards in enumerate(LEFT)}
    kept = {
        f"{cards} cards to play" if cards > 1 else "1 card to play": interval(each) for cards, each in stays.items()
    }
    margins = {name: np.array(by_deal(results, name, setup)) for name in changes(setup)}
    intervals = {name: interval(each) for name, each in margins.items()}
    tested = [margins["seeks the last capture with two cards"] - margins["avoids the last capture with two cards"]]
    if "ignores the pile in the whole game" in margins:
        tested.append(margins["ignores the pile in the whole game"] - margins["does not solve the last deal"])
    seeking, *lost = points(*tested)
    pile = "".join(f"; one that ignores the cards set aside has a margin of {each}" for each in lost)
    sentence = (
        f"The last capture takes in {costs['both'][0]:.1f} points, {costs['the pile'][0]:.1f} of them set aside; a "
        f"player that seeks it with its last two cards has a margin of {seeking} over one that avoids it{pile}."
    )
    rows = [(f"the last capture costs: {name}", *amounts(each)) for name, each in costs.items()]
    rows += [(f"last capturer stays: {name}", *percents(each)) for name, each in kept.items()]
    rows += [(name, *cells(each)) for name, each in intervals.items()]
    figures = figures_of({**{f"cost: {name}": each for name, each in costs.items()}, **kept, **intervals})
    return Answer(sentence, ("what", "points, or share", "95% interval"), rows, figures, bars(intervals, LABEL))


STUDY = Study(
    "last", "What does the last capture cost, and who should fight for it?", tasks, answer, deals=5000, needs=values_of
)
