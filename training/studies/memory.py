"""Memory: what does a player lose that forgets the cards it has seen, or does not use what forced sweeps reveal?"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.champion import Champion
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.observation import LAYOUT
from krypenv.rules import Rules
from krypenv.training.evaluation.matches import confidence_interval
from krypenv.training.studies.play import BoolArray, Change, by_deal, match_tasks, told
from krypenv.training.studies.study import Answer, Setup, Study, Task

DRAWS = 8  # memories that a forgetful player imagines for a decision
_LYING = ("hand", "table", "set_aside", "pending")  # cards that a player sees without any memory
_RANKS = np.arange(NUM_KINDS) % NUM_RANKS + 1
_HIGH = (_RANKS == 1) | (_RANKS > 10)  # aces and pictures


class Forgetful:
    """Plays as a network that does not know which cards it has seen before.

    It knows how many, and what it sees now. For each decision it imagines some memories that agree with that, each as
    likely as the next, and plays the action with the best mean log probability. It does not solve the last deal.

    Args:
        base: a network, or the champion without worlds.
        kept: (52,) bool, the kinds of which it remembers all cards.
        deduces: it knows which ranks the others can't hold, because they have not swept (R10).
        draws: memories imagined.
    """

    def __init__(self, base: Agent, kept: BoolArray, deduces: bool, draws: int, seed: int) -> None:
        network = base.player if isinstance(base, Champion) else base
        if not isinstance(network, LearnedAgent):
            raise ValueError(f"{base.name} is no network, which a study of memory needs; champion(worlds=0) is one")
        self.name, self.rules, self._network = "forgetful", base.rules, network
        self._kept, self._deduces, self._draws = kept, deduces, draws
        self._random = np.random.default_rng(seed)

    def act(self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
        """Return an action for each row, (B,) int64."""
        total = np.zeros(action_masks.shape)
        for _ in range(self._draws):
            logits, _ = self._network.evaluate(self._imagine(observations), action_masks)
            logits = np.where(action_masks > 0, logits, -np.inf).astype(float)
            total += logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return total.argmax(axis=1)

    def _imagine(self, observations: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """Return observations with the cards seen before drawn anew among all that may have been."""
        imagined = observations.copy()
        if not self._deduces:
            imagined[:, LAYOUT["cannot_hold"]] = 0
        if self._kept.all():
            return imagined
        seen = observations[:, LAYOUT["seen"]]
        sure = sum(observations[:, LAYOUT[name]].astype(np.int64) for name in _LYING)
        sure = np.where(self._kept, seen, sure)
        pool = np.where(self._kept, 0, self.rules.deck_counts - sure)
        for row, (known, left) in enumerate(zip(sure, pool, strict=True)):
            missing = int(seen[row].sum() - known.sum())
            imagined[row, LAYOUT["seen"]] = known + self._random.multivariate_hypergeometric(left, missing)
        return imagined


def forgetful(kept: BoolArray, deduces: bool, draws: int, agent: str, rules: Rules, seed: int) -> Agent:
    """Return a forgetful agent; a change of an agent for `match_tasks`."""
    return Forgetful(agents.make_known(agent, rules, seed), kept, deduces, draws, seed)


_ALL, _NONE = np.ones(NUM_KINDS, np.bool_), np.zeros(NUM_KINDS, np.bool_)
CHANGES: dict[str, Change] = {
    "remembers all, does not solve the last deal": partial(forgetful, _ALL, True, 1),
    "and does not use what forced sweeps reveal": partial(forgetful, _ALL, False, 1),
    "remembers aces and pictures": partial(forgetful, _HIGH, True, DRAWS),
    "remembers nothing": partial(forgetful, _NONE, True, DRAWS),
    "remembers nothing, reveals unused": partial(forgetful, _NONE, False, DRAWS),
}


def tasks(setup: Setup) -> list[Task]:
    """Return the matches of each forgetful player against the one that remembers."""
    return [task for name, change in CHANGES.items() for task in match_tasks(name, setup, change)]


def answer(setup: Setup, results: dict[str, Any]) -> Answer:
    """Tell what each kind of memory is worth."""
    margins = {name: np.array(by_deal(results, name, setup)) for name in CHANGES}
    intervals = {name: confidence_interval(each) for name, each in margins.items()}
    plain = margins["remembers all, does not solve the last deal"]
    cards = confidence_interval(plain - margins["remembers nothing"])
    reveals = confidence_interval(plain - margins["and does not use what forced sweeps reveal"])
    sentence = (
        f"To remember the cards is worth {_points(cards)} to this network, and to use what forced sweeps reveal "
        f"{_points(reveals)}."
    )

    def draw(axes: Axes) -> None:
        means = np.array(list(intervals.values()))
        axes.barh(list(intervals), means[:, 0], xerr=[means[:, 0] - means[:, 1], means[:, 2] - means[:, 0]], capsize=4)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.invert_yaxis()
        axes.set_xlabel("points a game against the same player with all its memory")

    return Answer(
        sentence,
        ("memory", "margin", "95% interval"),
        [(name, *told(each)) for name, each in margins.items()],
        {name: {"mean": mean, "low": low, "high": high} for name, (mean, low, high) in intervals.items()},
        draw,
    )


def _points(interval: tuple[float, float, float]) -> str:
    mean, low, high = interval
    sure = "" if low > 0 or high < 0 else " (not told apart from zero)"
    return f"{mean:.1f} points a game ({low:.1f} to {high:.1f}){sure}"


STUDY = Study("memory", "What is it worth to remember the cards?", tasks, answer, deals=2000)
