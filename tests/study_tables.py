"""Tables that pages show of one study each, made of its stored answers: `make pages`. `generated.py` says where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import answer_tables
import replicated_tables
from answer_tables import stored
from result_tables import table_of

from krypenv import Rules
from krypenv.training.evaluation.matches.margins import format_margin
from krypenv.training.research.solved.small import BEST, LOST
from krypenv.training.solving.beliefs import CAUSES


def small(names: Sequence[str], folder: str) -> str:
    """Return a table of the page on small games, by its name."""
    return SMALL[names[0]](stored("small-2")["figures"])


def small_agents(figures: dict[str, Any]) -> str:
    """Return the exploitability of every agent in every small game, and what it loses to an equilibrium in the last."""
    games, lost = list(figures[BEST]), figures[LOST]["agents"]
    rows = (
        [f"`{agent}`", *(f"{figures[BEST][game][agent]:.2f}" for game in games), f"{lost[games[-1]][agent]:.2f}"]
        for agent in figures[BEST][games[0]]
    )
    return table_of(("agent", *(f"`{game}`" for game in games), f"{LOST}, `{games[-1]}`"), rows)


def small_bounds(figures: dict[str, Any]) -> str:
    """Return the lower bounds beside the true figures, and the shares that they find."""

    def row(agent: str, found: dict[str, float]) -> list[str]:
        true = figures["exploitability"]["mini-hidden"][agent]
        bound = format_margin(found["margin"], found["low"], found["high"])
        return [f"`{agent}`", f"{true:.2f}", bound, f"{max(found['margin'], 0) / true:.0%}"]

    head = ("agent", "exploitability", "lower bound, 95% interval", "share found")
    return table_of(head, (row(*each) for each in figures["bounds"].items()))


def small_learning(figures: dict[str, Any]) -> str:
    """Return what PPO comes down to, run by run: its exploitability, and what it loses to an equilibrium."""
    found = {**figures["ppo"], **{f"{name}, {LOST}": runs for name, runs in figures[LOST]["ppo"].items()}}
    rows = (
        [f"{frames:,}", *(" and ".join(f"{run:.2f}" for run in each) for each in runs)]
        for frames, *runs in zip(figures["frames"], *found.values(), strict=True)
    )
    return table_of(("training decisions, at least", *found), rows)


def small_causes(figures: dict[str, Any]) -> str:
    """Return what a search with all worlds loses to an equilibrium, by its causes."""
    rows = ([f"`{game}`", *(f"{found[key]:.3f}" for key in CAUSES)] for game, found in figures["causes"].items())
    return table_of(("game", *CAUSES), rows)


def small_trained(figures: dict[str, Any]) -> str:
    """Return the exploitability of what is trained, and what it loses to an equilibrium."""
    lost = figures[LOST]["trained"]
    rows = ([name, f"{figure:.2f}", f"{lost[name]:.2f}"] for name, figure in figures["trained"].items())
    return table_of(("what is trained", BEST, LOST), rows)


def baselines(names: Sequence[str], folder: str) -> str:
    """Return a table of the study of baselines: its `rows`, or what each of the `settings` reached in a short run."""
    result = stored("baselines-2")
    if names[0] == "rows":
        return table_of(result["columns"], ([f"`{game}`", *cells] for game, *cells in result["rows"]))
    settings = result["figures"]["settings"]

    def row(name: str, setting: str) -> list[str]:
        cells = []
        for found in settings.values():
            points = f"{found[name]['tried'][setting]:.3f}"
            cells.append(f"**{points}**" if setting == found[name]["best"] else points)
        return [name, setting, *cells]

    names_of = {name: each["tried"] for name, each in next(iter(settings.values())).items()}
    rows = (row(name, setting) for name, tried in names_of.items() for setting in tried)
    return table_of(("algorithm", "settings", *(f"`{game}`" for game in settings)), rows)


def late(names: Sequence[str], folder: str) -> str:
    """Return what each agent loses in late deals, by the cards in both hands: its `rows`, or its `bounds`."""
    figures = stored("late-2")["figures"]
    if names[0] == "bounds":
        return late_bounds(figures["bounds"])
    cells: dict[str, list[str]] = {}
    head = ["agent"]
    for name, found in figures["intervals"].items():
        measure, cards, agent = name.split(", ", 2)
        head += [each for each in (f"{measure}, {cards}",) if each not in head]
        cells.setdefault(agent, []).append(with_interval(found))
    return table_of(head, ([f"`{agent}`", *each] for agent, each in cells.items()))


def late_bounds(bounds: dict[str, Any]) -> str:
    """Return what best responses gain on agents, by the hands that the responder is told."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for name, found in bounds.items():
        cards, hands, agent = name.split(", ", 2)
        cells.setdefault((cards, agent), {})[hands] = with_interval(found)
    told = list(dict.fromkeys(hands for each in cells.values() for hands in each))
    rows = ([cards, f"`{agent}`", *(each.get(hands, "") for hands in told)] for (cards, agent), each in cells.items())
    return table_of(("in both hands", "agent", *(f"told {hands}" for hands in told)), rows)


def with_interval(found: dict[str, float]) -> str:
    """Return a mean and its interval in a cell of two lines."""
    return f"{found['mean']:+.2f}<br>{found['low']:+.2f} to {found['high']:+.2f}"


def minis(names: Sequence[str], folder: str) -> str:
    """Return the decks and deals of the small games."""
    head = ("preset", "ranks", "suits", "packs", "cards", "points on cards", "first hands, table", "later hands")
    return table_of(head, (mini(name) for name in Rules.presets() if name.startswith("mini-")))


def mini(name: str) -> list[str]:
    """Return the deck and the deals of a small game."""
    rules = Rules.preset(name)
    ranks, suits = [RANKS[rank] for rank in rules.ranks], "".join(SUITS[suit] for suit in rules.suits)
    in_a_row = rules.ranks[-1] - rules.ranks[0] == len(ranks) - 1
    hand, layout = (sum(batch) for batch in zip(*rules.first_deal, strict=True))
    later = sum(batch for batch, _ in rules.later_deal)
    numbers = (
        rules.packs,
        len(rules.ranks) * len(rules.suits) * rules.packs,
        rules.total_points - rules.last_capture_points,
        f"{hand}, {layout}",
        later,
    )
    return [f"`{name}`", f"{ranks[0]} to {ranks[-1]}" if in_a_row else " ".join(ranks), suits, *map(str, numbers)]


SUITS = "♣♦♥♠"
RANKS = {1: "A", 11: "J", 12: "Q", 13: "K"} | {rank: str(rank) for rank in range(2, 11)}
SMALL: dict[str, Callable[[dict[str, Any]], str]] = {
    "agents": small_agents,
    "bounds": small_bounds,
    "learning": small_learning,
    "causes": small_causes,
    "trained": small_trained,
}
KINDS: dict[str, Callable[[Sequence[str], str], str]] = {
    **answer_tables.KINDS,
    **replicated_tables.KINDS,
    "baselines": baselines,
    "late": late,
    "minis": minis,
    "small": small,
}
