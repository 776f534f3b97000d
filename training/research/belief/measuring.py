"""What an agent's belief knows about hidden hands: games against each of some opponents, as a study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.agents import Agent
from krypenv.cards import NO_CARD
from krypenv.engine import Engine
from krypenv.features import observation_for, want_history
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, format_margin, interval, margin_cells
from krypenv.training.evaluation.matches.mixed_table import legal_answer
from krypenv.training.lab.chunks import by_deal, chunk_tasks, stream
from krypenv.training.lab.studying import Answer, Setup, Study, Task
from krypenv.training.research.belief.gains import BINS, Gain, calibration_error, gain_of
from krypenv.training.research.belief.hidden_hands import hidden_hands, others_hands, surprise_of

QUESTION = "How much does a belief know about hidden hands?"
SUMS = ("decisions", "nats", "surprise", "effective")  # of a game, by the number of hidden cards
COLUMNS = (
    "against", "decisions", "hand's surprise", "nats gained", "95% interval", "effective worlds", "calibration error",
)  # fmt: skip


class GameSums:
    """What a belief has gained in one game so far."""

    def __init__(self) -> None:
        self.by_size: dict[int, FloatArray] = {}  # `SUMS` by the number of hidden cards
        self.bins = np.zeros((BINS, 3))

    def add(self, size: int, gain: Gain, surprise: float) -> None:
        """Add a decision in which so many cards were hidden; a surprise that is not known is nan."""
        sums = 1, gain.nats, np.nan_to_num(surprise), gain.effective
        self.by_size[size] = self.by_size.get(size, np.zeros(len(SUMS))) + sums
        self.bins += gain.bins

    def to_json(self) -> dict[str, Any]:
        """Return the sums as plain JSON values."""
        by_size = {f"{size}": self.by_size[size].round(9).tolist() for size in sorted(self.by_size)}
        return {"by size": by_size, "bins": self.bins.round(6).tolist()}


def watch_games(rules: str, agent: str, first: int, deals: int, seed: int, other: str) -> list[dict[str, Any]]:
    """Return by game what an agent's belief gains while another agent plays all other seats.

    In game n the agent has seat n mod P. Its belief is measured whenever it is to begin a play and hands are hidden.
    """
    game = Rules.parse(rules)
    player, opponent = (
        agents.make_known(name, game, stream(seed, first, at)) for at, name in enumerate((agent, other))
    )
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:], history=want_history((player, opponent)))
    rng, seats = np.random.default_rng([seed, first]), np.arange(first, first + deals) % game.players
    found = [GameSums() for _ in range(deals)]
    active = np.ones(deals, np.bool_)
    while active.any():
        is_own = engine.seat == seats
        for who, turns in ((player, active & is_own), (opponent, active & ~is_own)):
            rows = np.flatnonzero(turns)
            if not len(rows):
                continue
            if who is player:
                measure(player, engine, rows, found, rng)
            engine.step(legal_answer(who, engine.observation[rows], engine.action_mask[rows]), rows)
            active &= ~engine.finished
    return [each.to_json() for each in found]


def measure(player: Any, engine: Engine, rows: np.ndarray, found: Sequence[GameSums], rng: np.random.Generator) -> None:
    """Add what a belief gains in some rows of an engine to the sums of their games."""
    for row in rows[engine.state["pending"][rows] == NO_CARD]:
        seen = engine.observation[row]
        hidden = hidden_hands(engine.rules, seen, rng)
        if len(hidden.hands) > 1:
            truth = others_hands(engine.rules, engine.state[row : row + 1])[0]
            told = observation_for(player, engine.rules, seen[None], engine.action_mask[row : row + 1])[0]
            gain = gain_of(partial(player.log_weights, told), hidden, truth)
            found[row].add(int(truth.sum()), gain, surprise_of(engine.rules, seen, truth))


# ---------------------------------------------------------------------- the study


def belief_study(against: Sequence[str]) -> Study:
    """Return the study of an agent's belief about the hands of some opponents."""

    def tasks(setup: Setup) -> list[Task]:
        return [task for other in against for task in chunk_tasks(key(other), setup, watch_games, other=other)]

    def answer(setup: Setup, results: dict[str, Any]) -> Answer:
        found = {other: figures_of_games(by_deal(results, key(other), setup)) for other in against}
        told = [
            f"{format_margin(*bounds(each['all']))} on {other}" for other, each in found.items() if each["all"]["games"]
        ]
        sentence = f"Nats that the belief of {setup.agent} gains over uniform deals: {', '.join(told) or 'none'}."
        return Answer(sentence, COLUMNS, rows_of(found), found, draw_of(found))

    return Study("belief", QUESTION, tasks, answer, deals=200, players=(2, 3, 4, 5, 6), any_rules=True, needs=check)


def key(other: str) -> str:
    """Return the key of the games against an opponent."""
    return f"against {other}, games from"


def check(agent: Agent) -> None:
    """Raise ValueError for an agent that has no belief."""
    if not has_belief(agent):
        raise ValueError(f"{agent.name} weights no hidden hands, so there is no belief to measure")


def has_belief(agent: Agent) -> bool:
    """Return whether an agent finds some hidden hands likelier than others (`krypenv.agents.base.Believer`)."""
    return bool(getattr(agent, "believes", False))


def figures_of_games(games: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures of games against one opponent, as plain JSON values: of all decisions, and by hidden cards."""
    sizes = sorted({int(size) for game in games for size in game["by size"]})
    bins = np.sum([game["bins"] for game in games], axis=0)
    by_size = [[game["by size"].get(f"{size}", [0.0] * len(SUMS)) for size in sizes] for game in games]
    sums = np.array(by_size).reshape(len(games), len(sizes), len(SUMS))  # reshaped, as there may be no sizes
    return {
        "all": summary(sums.sum(axis=1)),
        "by hidden cards": {f"{size}": summary(sums[:, at]) for at, size in enumerate(sizes)},
        "calibration": bins.tolist(), "calibration error": calibration_error(bins),
    }  # fmt: skip


def summary(sums: FloatArray) -> dict[str, Any]:
    """Return the means of `SUMS` over decisions, (games, 4), and the mean over games of a game's mean nats."""
    sums = sums[sums[:, 0] > 0]
    decisions, _, surprise, effective = sums.sum(axis=0)
    mean, low, high = interval(sums[:, 1] / sums[:, 0])
    return {
        "games": len(sums), "decisions": int(decisions),
        "nats": plain(mean), "low": plain(low), "high": plain(high),
        "surprise": float(surprise / decisions) if surprise else None,
        "effective": float(effective / decisions) if decisions else None,
    }  # fmt: skip


def plain(figure: float) -> float | None:
    """Return a figure as JSON has it: None if it is not finite."""
    return figure if np.isfinite(figure) else None


def bounds(figures: Mapping[str, Any]) -> Interval:
    """Return the nats of a summary and their interval."""
    return figures["nats"], figures["low"], figures["high"]


def rows_of(found: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return the rows of the table: for each opponent all decisions, then those by the number of hidden cards."""
    rows: list[tuple[str, ...]] = []
    for other, each in found.items():
        error = f"{each['calibration error']:.4f}"
        parts = {f"- {size} hidden": (its, "") for size, its in each["by hidden cards"].items()}
        for name, (its, told) in {other: (each["all"], error), **parts}.items():
            if its["games"]:
                surprise = "-" if its["surprise"] is None else f"{its['surprise']:.2f}"
                cells = margin_cells(*bounds(its))
                rows.append((name, f"{its['decisions']:,}", surprise, *cells, f"{its['effective']:.0%}", told))
    return rows


def draw_of(found: Mapping[str, Mapping[str, Any]]) -> Callable[[Axes], None]:
    """Return what draws the nats by the number of hidden cards, and beside them how often cards were held."""

    def draw(axes: Axes) -> None:
        assert axes.figure is not None
        grid = axes.figure.add_gridspec(1, 2)
        axes.set_subplotspec(grid[0])
        right = axes.figure.add_subplot(grid[1])
        right.plot([0, 1], [0, 1], color="black", linewidth=0.8)
        for mark, (other, each) in zip("os^vDPX*" * len(found), found.items(), strict=False):
            known = [(int(size), its) for size, its in each["by hidden cards"].items() if its["low"] is not None]
            nats = np.array([bounds(its) for _, its in known]).reshape(-1, 3)
            errors = [nats[:, 0] - nats[:, 1], nats[:, 2] - nats[:, 0]]
            axes.errorbar([size for size, _ in known], nats[:, 0], yerr=errors, marker=mark, capsize=3, label=other)
            bins = np.array(each["calibration"])
            used = bins[bins[:, 0] > 0]
            right.plot(used[:, 1] / used[:, 0], used[:, 2] / used[:, 0], marker=mark, label=other)
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xlabel("hidden cards")
        axes.set_ylabel("nats gained over uniform deals")
        axes.legend(fontsize=8)
        right.set_xlabel("probability that a hand holds a card")
        right.set_ylabel("how often it does")

    return draw
