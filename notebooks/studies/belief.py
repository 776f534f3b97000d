"""How much does a belief know about hidden hands?

A belief gives every combination of hidden hands a weight. Its gain in a decision is the log of the probability that
it gives the true hands, less the log of their probability by uniform deals, in nats.
"""

from __future__ import annotations

import itertools
from collections import Counter
from math import comb, log
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import Engine, Rules, agents, determinize
from krypenv.cards import NO_CARD, NUM_KINDS
from krypenv.features import observation_for, want_history
from krypenv.training import deal_seeds, lab

AGAINST = ("tactician(shed=True)", "search", "champion(worlds=0)", "champion")
MOST = 25_000  # hands are listed if there are at most so many ways to deal them, else sampled
SAMPLES = 1000
BINS = np.linspace(0, 1, 21)  # of predicted probabilities


def list_hands(rules: Rules, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return all hands, (W, 1, 52), that agree with an observation and the log of their shares; None if too many."""
    layout, size = rules.layout, int(seen[rules.layout["hand_size"]][1])
    if rules.players > 2 or rules.building or "cannot_hold_special" in layout:
        return None
    is_barred = np.tile(seen[layout["cannot_hold"]][:13], 4) > 0
    deck = np.repeat(np.arange(NUM_KINDS), np.where(is_barred, 0, rules.deck_counts - seen[layout["seen"]]))
    if comb(len(deck), size) > MOST:
        return None
    ways = Counter(itertools.combinations(deck.tolist(), size))
    hands = np.array([np.bincount(hand, minlength=NUM_KINDS) for hand in ways], np.int8)
    return hands[:, None], np.log([*ways.values()]) - log(ways.total())


def hands_in(rules: Rules, state: np.ndarray) -> np.ndarray:
    """Return the hands of the seats that are not to act, from the next one on, (B, P - 1, 52)."""
    seats = (state["seat"][:, None] + np.arange(1, rules.players)) % rules.players
    return np.asarray(state["hands"][np.arange(len(state))[:, None], seats], np.int8)


def measure(player: Any, engine: Engine, row: int, rng: np.random.Generator) -> tuple[int, list[float], np.ndarray]:
    """Return the number of hidden cards, the nats gained and the effective share of worlds, and calibration counts.

    The gain is exact where hands are listed. Of sampled hands, to which the true ones are added, it is too low by
    about half of one over the effective number of samples.
    """
    rules, seen = engine.rules, engine.observation[row]
    truth = hands_in(rules, engine.state[row : row + 1])
    told = observation_for(player, rules, seen[None], engine.action_mask[row : row + 1])[0]
    listed = list_hands(rules, seen)
    if listed:
        hands, uniform = listed
        (at,) = np.flatnonzero((hands == truth).all(axis=(1, 2)))
    else:
        worlds = determinize(np.repeat(seen[None], SAMPLES, axis=0), rng, rules)
        hands, at = np.concatenate([hands_in(rules, worlds), truth]), SAMPLES
        uniform = np.full(SAMPLES + 1, -log(SAMPLES + 1))
    logs = uniform + player.log_weights(told, hands)
    logs -= np.logaddexp.reduce(logs)
    effective = np.exp(-np.logaddexp.reduce(2 * logs - uniform))
    holds = (hands > 0).reshape(len(hands), -1)
    predicted, chance = np.exp(logs) @ holds, np.exp(uniform) @ holds
    is_open = (chance > 1e-9) & (chance < 1 - 1e-9)
    held, predicted = (truth > 0).ravel()[is_open], predicted[is_open].clip(0, 1)
    bins = np.searchsorted(BINS[1:-1], predicted, side="right")
    counts = [np.bincount(bins, each, len(BINS) - 1) for each in (np.ones_like(predicted), predicted, held)]
    return int(truth.sum()), [logs[at] - uniform[at], effective], np.stack(counts, axis=1)


def play(rules: str, agent: str, first: int, deals: int, seed: int, other: str) -> list[dict[str, Any]]:
    """Return what the agent's belief gains in each deal, while another agent has all other seats.

    In deal n the agent has seat n mod P. Its belief is measured whenever it begins a play and hands are hidden.
    """
    game = Rules.parse(rules)
    players = [agents.make_known(name, game, lab.seed_of(seed, first, at)) for at, name in enumerate((agent, other))]
    if not getattr(players[0], "believes", False):
        raise ValueError(f"{agent} weights no hidden hands, so there is no belief to measure")
    engine = Engine(game, deals, deal_seeds(seed, first + deals)[first:], history=want_history(players))
    rng, seats = np.random.default_rng([seed, first]), np.arange(first, first + deals) % game.players
    found: list[dict[str, Any]] = [{"decisions": [], "bins": np.zeros((len(BINS) - 1, 3))} for _ in range(deals)]
    active = np.ones(deals, np.bool_)
    while active.any():
        is_own = engine.seat == seats
        for player, rows in zip(players, map(np.flatnonzero, (active & is_own, active & ~is_own)), strict=True):
            if not len(rows):
                continue
            for row in rows[engine.state["pending"][rows] == NO_CARD] if player is players[0] else ():
                if engine.observation[row, game.layout["hand_size"]][1:].any():
                    size, figures, bins = measure(player, engine, row, rng)
                    found[row]["decisions"].append([size, *map(float, figures)])
                    found[row]["bins"] += bins
            masks = engine.action_mask[rows]
            engine.step(player.act(observation_for(player, game, engine.observation[rows], masks), masks), rows)
            active &= ~engine.finished
    return [{**each, "bins": each["bins"].round(6).tolist()} for each in found]


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return the games against each opponent, in chunks."""
    return [task for other in AGAINST for task in lab.chunk_tasks(other, setup, play, other=other)]


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Return the mean gain over games by opponent and number of hidden cards, and the calibration."""
    rows, figures = [], {}
    for other in AGAINST:
        games = [np.array(game["decisions"]).reshape(-1, 3) for game in lab.by_deal(results, other, setup)]
        bins = np.sum([game["bins"] for game in lab.by_deal(results, other, setup)], axis=0)
        error = float(np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum())
        gains = {}
        for size in (0, *np.unique(np.concatenate(games)[:, 0]).astype(int).tolist()):
            some = [game[game[:, 0] == size] if size else game for game in games]
            decisions = np.concatenate(some)
            nats = [game[:, 1].mean() for game in some if len(game)]
            mean, low, high = gains[f"{size} hidden" if size else "all"] = lab.interval(nats)
            rows.append((
                f"- {size} hidden" if size else other, f"{len(decisions):,}", f"{mean:+.2f}",
                f"{low:+.2f} to {high:+.2f}", f"{decisions[:, 2].mean():.0%}", "" if size else f"{error:.4f}",
            ))  # fmt: skip
        figures[other] = {"nats": lab.figures_of(gains), "calibration": bins.tolist(), "calibration error": error}
    columns = ("against", "decisions", "nats gained", "95% interval", "effective worlds", "calibration error")
    return lab.Answer(columns=columns, rows=rows, figures=figures, draw=lambda axes: draw(axes, figures))


def draw(axes: Axes, figures: dict[str, Any]) -> None:
    """Draw how often a hand holds a card, by the probability that the belief gives it."""
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
    for other, each in figures.items():
        bins = np.array([row for row in each["calibration"] if row[0]])
        axes.plot(bins[:, 1] / bins[:, 0], bins[:, 2] / bins[:, 0], marker="o", label=other)
    axes.set(xlabel="probability that a hand holds a card", ylabel="how often it does")
    axes.legend(fontsize=8)


STUDY = lab.Study(
    "belief", "How much does a belief know about hidden hands?", tasks, answer, deals=40, any_rules=True,
    agent="champion",
)  # fmt: skip

if __name__ == "__main__":
    lab.main(STUDY)
