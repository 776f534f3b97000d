"""The advice of the rulebooks, each piece tested against play that does the opposite, and against free play."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv.cards import ACE, DIAMONDS, KING, NUM_KINDS, NUM_RANKS, SPADES, TEN, card_of
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, holm, interval
from krypenv.training.research.lab.chunks import Change, by_deal, chunk_tasks, match_tasks
from krypenv.training.research.lab.habits import (
    BoolArray,
    Habit,
    Int8Array,
    capturing,
    cards_left,
    column,
    creeping,
    first_of,
    is_network,
    only_plays,
    values_of,
    with_habit,
)
from krypenv.training.research.lab.intervals import LEVEL, Kind, bars, cells, figures_of, intervals_in, p_value
from krypenv.training.research.lab.studying import Answer, Setup, Study, Task
from krypenv.training.research.studies import creep, example, last, memory, setups, shed

_RANKS, _SUITS = np.arange(NUM_KINDS) % NUM_RANKS + 1, np.arange(NUM_KINDS) // NUM_RANKS
_STORAN = LAYOUT["table"].start + card_of(TEN, DIAMONDS)


def least_points(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card captures, it is one that takes the fewest points."""
    return first_of(capturing(rules, observations, masks), column(rules, observations, masks, "least_points"), masks)


def most_points(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card captures, it is one that takes the most points."""
    return first_of(capturing(rules, observations, masks), -column(rules, observations, masks, "least_points"), masks)


def fewest_cards(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card captures, it is one that takes the fewest cards."""
    return first_of(capturing(rules, observations, masks), -cards_left(rules, observations, masks), masks)


def most_cards(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """If a card captures, it is one that takes the most cards."""
    return first_of(capturing(rules, observations, masks), cards_left(rules, observations, masks), masks)


def fouls_storan(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """While the ten of diamonds lies on the table, creep an ace or a king where one can creep."""
    fouls = creeping(rules, observations, masks) & np.isin(_RANKS, (ACE, KING))
    return only_while_storan(fouls, observations, masks)


def spares_storan(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """While the ten of diamonds lies on the table, creep no ace and no king where there is another play."""
    legal = masks[:, :NUM_KINDS] > 0
    fouls = creeping(rules, observations, masks) & np.isin(_RANKS, (ACE, KING))
    return only_while_storan(legal & ~fouls, observations, masks)


def takes_neutral(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """While a spade lies on the table, capture without taking points where a card can."""
    return only_plays(~_spade_lies(observations) | _neutral(rules, observations, masks), masks)


def leaves_spade(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """While a spade lies on the table, don't capture without taking points where there is another play."""
    return only_plays(~_spade_lies(observations) | ~_neutral(rules, observations, masks), masks)


def _neutral(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    return capturing(rules, observations, masks) & (column(rules, observations, masks, "least_points") == 0)


def _spade_lies(observations: Int8Array) -> BoolArray:
    lies: BoolArray = observations[:, LAYOUT["table"]][:, _SUITS == SPADES].max(axis=1, keepdims=True) > 0
    return lies


def only_while_storan(plays: BoolArray, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Allow some plays alone, (B, 52), in rows in which the ten of diamonds lies on the table."""
    return only_plays(plays | (observations[:, [_STORAN]] == 0), masks)


def leaves_two(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Leave two cards on the table where a play does."""
    return first_of(masks[:, :NUM_KINDS] > 0, cards_left(rules, observations, masks) != 2, masks)


def never_leaves_two(rules: Rules, observations: Int8Array, masks: Int8Array) -> BoolArray:
    """Leave one, three or more cards on the table where a play does."""
    return first_of(masks[:, :NUM_KINDS] > 0, cards_left(rules, observations, masks) == 2, masks)


HABITS: dict[str, Habit] = {
    "capture the fewest points": least_points,
    "capture the most points": most_points,
    "capture the fewest cards": fewest_cards,
    "capture the most cards": most_cards,
    "take a neutral card while a spade lies there": takes_neutral,
    "take no neutral card while a spade lies there": leaves_spade,
    "creep an ace or king beside a ten of diamonds": fouls_storan,
    "creep no ace or king beside a ten of diamonds": spares_storan,
    "leave two cards if it can": leaves_two,
    "never leave two cards if it can": never_leaves_two,
}
UNCHANGED, EXAMPLE = "plays as it likes", "example"
APART = "not told apart"
WORDS = ("confirmed", "refuted", APART)
KINDS = {  # of bars, also without colour
    "confirmed": Kind("confirmed", "✓", "#2f7d5b"),
    "refuted": Kind("refuted", "✗", "#b5482f"),
    APART: Kind(APART, "?", "#b9bec6"),
}


@dataclass(frozen=True)
class Advice:
    """A piece of advice, and the two players whose difference tests it: changes of a study, or the unchanged player."""

    source: str
    words: str
    does: str
    rather: str
    study: str  # where the changes come from, and where more is said


ENGLISH, SECOND = "rulebook", "second"
# The rulebook also says "it is not always best to creep": that is the test of "creep whenever possible", once more.
ADVICE: tuple[Advice, ...] = (
    Advice(ENGLISH, "avoid taking in scoring cards by creeping, or by capturing cards that don't score",
           "pays 0 at most for a capture", "capture whenever possible", "creep"),
    Advice(ENGLISH, "get rid of your higher cards early", "creep the highest card", "creep the lowest card", "shed"),
    Advice(ENGLISH, "get rid of aces early", "creep aces first", "creep aces last", "shed"),
    Advice(ENGLISH, "Example M, capture with the 8 to set up a queen", EXAMPLE, "the best creeping card", "example"),
    Advice(ENGLISH, "keep track of what cards have been played", memory.WHOLE, memory.NOTHING, "memory"),
    Advice(ENGLISH, "pay attention to the play of your left-hand opponent",
           memory.WHOLE, memory.NEXT_REVEALS, "memory"),
    Advice(SECOND, "creep whenever possible", "creep whenever possible", UNCHANGED, "creep"),
    Advice(SECOND, "take a neutral card rather than a spade or ace",
           "capture the fewest points", "capture the most points", "advice"),
    Advice(SECOND, "keep your captures tiny", "capture the fewest cards", "capture the most cards", "advice"),
    Advice(SECOND, "taking one neutral card is safer than leaving a spade",
           "take a neutral card while a spade lies there", "take no neutral card while a spade lies there", "advice"),
    Advice(SECOND, "if the ten of diamonds lies there, foul the layout with aces or kings",
           "creep an ace or king beside a ten of diamonds", "creep no ace or king beside a ten of diamonds", "advice"),
    Advice(SECOND, "aim for the very last capture", "seeks the last capture with two cards",
           "avoids the last capture with two cards", "last"),
    Advice(SECOND, "avoid being two below full layout (read as: leave no two cards)",
           "never leave two cards if it can", "leave two cards if it can", "advice"),
    Advice(SECOND, "keep spare neutral cards for creeping", "creep low cards without points last",
           "creep low cards without points first", "shed"),
    Advice(SECOND, "count aces as they appear", memory.ACES, memory.NOTHING, "memory"),
    Advice(SECOND, "track the ten of diamonds", memory.STORAN, memory.NOTHING, "memory"),
    Advice(SECOND, "skill lies in forcing opponents into sweeps", UNCHANGED,
           "never sets up a sweep if it can", "setups"),
)  # fmt: skip


def changes(setup: Setup) -> dict[str, Change]:
    """Return all changes of a player that the advice needs, and that this one can have."""
    every = {**creep.HABITS, **shed.HABITS, **last.HABITS, **setups.HABITS, **HABITS}
    found = {name: with_habit(habit) for name, habit in every.items()}
    if is_network(setup.agent, setup.rules):
        found |= memory.CHANGES
        if setup.rules.players == 2:
            found[memory.NEXT_REVEALS] = memory.CHANGES[memory.NO_REVEALS]
    named = {name for advice in ADVICE for name in (advice.does, advice.rather)}
    return {name: change for name, change in found.items() if name in named}


def has_example(setup: Setup) -> bool:
    """Return whether the position of example M can arise in the first deal."""
    return sum(to_hand for to_hand, _ in setup.rules.first_batches) > len(example.HAND)


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of all changes, and the example."""
    found = [task for name, change in changes(setup).items() for task in match_tasks(name, setup, change)]
    return [*found, *(chunk_tasks(EXAMPLE, setup, example.play_examples) if has_example(setup) else [])]


@dataclass(frozen=True)
class Verdict:
    """What came out for a piece of advice."""

    advice: Advice
    opposite: Interval  # by how many points following it is better than the opposite
    p_value: float  # of that difference, adjusted for the number of tests (Holm)
    free: Interval | None  # margin over the player that chooses freely, where a habit follows the advice
    free_p_value: float

    @property
    def word(self) -> str:
        """Whether following the advice is better than the opposite."""
        return _word(self.opposite, self.p_value, "confirmed", "refuted")

    @property
    def free_word(self) -> str:
        """Whether following the advice is better than to choose freely."""
        return _word(self.free, self.free_p_value, "better", "worse") if self.free else ""


def _word(found: Interval, p_value: float, better: str, worse: str) -> str:
    return APART if p_value >= LEVEL else better if found[0] > 0 else worse


def verdicts(setup: Setup, results: dict[str, Any]) -> list[Verdict]:
    """Return what came out for each piece of advice that could be tested; each column is a family of tests (Holm)."""
    margins = {name: np.array(by_deal(results, name, setup)) for name in changes(setup)}
    habits = {name: each for name, each in margins.items() if name not in memory.CHANGES}  # who forgets is not free
    margins[UNCHANGED] = np.zeros(setup.deals)
    tested: dict[Advice, FloatArray] = {}
    for advice in ADVICE:
        if advice.does in margins and advice.rather in margins:
            tested[advice] = margins[advice.does] - margins[advice.rather]
        elif advice.does == EXAMPLE and has_example(setup):
            plays = dict(zip(example.NAMES.values(), np.array(by_deal(results, EXAMPLE, setup)).T, strict=True))
            eight = plays.pop(example.ADVICE)
            tested[advice] = eight - max(plays.values(), key=np.mean)
    free = {advice: habits[advice.does] for advice in tested if advice.does in habits}
    sure = dict(zip(tested, holm(list(map(p_value, tested.values()))), strict=True))
    free_sure = dict(zip(free, holm(list(map(p_value, free.values()))), strict=True))
    return [
        Verdict(
            advice, interval(each), float(sure[advice]),
            interval(free[advice]) if advice in free else None, float(free_sure.get(advice, 1.0)),
        )
        for advice, each in tested.items()
    ]  # fmt: skip


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell which advice is better than its opposite, and which is better than to choose freely."""
    found = verdicts(setup, results)
    said = {word: [each.advice.words for each in found if each.word == word] for word in WORDS}
    told = "; ".join(f"{len(names)} {word}{_list(names, word)}" for word, names in said.items())
    free = [each.free_word for each in found if each.free]
    against = ", ".join(f"{free.count(word)} {word}" for word in ("better", "worse", APART))
    opposite = {each.advice.words: each.opposite for each in found}
    figures: dict[str, Any] = {
        **figures_of(opposite),
        "p values": {each.advice.words: each.p_value for each in found},
        "over free play": figures_of({each.advice.words: each.free for each in found if each.free}),
        "p values over free play": {each.advice.words: each.free_p_value for each in found if each.free},
        "tests": {each.advice.words: f"{each.advice.does}, less: {each.advice.rather}" for each in found},
    }
    return Answer(
        f"Of {len(found)} pieces of advice, against their opposites: {told}. Of {len(free)} habits, against free play: "
        f"{against}.",
        ("what", "over its opposite", "verdict", "over free play"),
        [
            (
                f"{each.advice.source}: {each.advice.words}", "\n".join(cells(each.opposite)),
                f"{each.word}\n{_told(each.p_value)}",
                "\n".join((*cells(each.free), each.free_word)) if each.free else "-",
            )
            for each in found
        ],
        figures, draw_of(figures),
    )  # fmt: skip


def draw_of(figures: Mapping[str, Any]) -> Callable[[Axes], None]:
    """Return what draws by how much each piece of advice is better than its opposite, by its verdict."""
    found = intervals_in(figures)
    kinds = {name: KINDS[_word(each, figures["p values"][name], *WORDS[:2])] for name, each in found.items()}
    return bars(found, "points a game by which following it is better than its opposite", kinds)


def _told(p_value: float) -> str:
    return f"p = {p_value:.3f}" if p_value >= 0.001 else "p < 0.001"


def _list(names: Sequence[str], word: str) -> str:
    return f" ({'; '.join(names)})" if names and word == "refuted" else ""


STUDY = Study("advice", "Is the advice of the rulebooks right?", tasks, answer, deals=2000, needs=values_of)
