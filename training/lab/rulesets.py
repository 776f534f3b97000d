"""Rule sets on the same footing: what there is to choose, where points come from, and what skill and hands are worth.

Games with other packs and prices have other points, so margins are in luck: the standard deviation of a game's margin
between two equal players.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from krypenv import agents
from krypenv.agents import Agent
from krypenv.agents.base import format_spec
from krypenv.agents.neural.learned import trained_rules
from krypenv.agents.neural.model_file import CARD
from krypenv.cards import NUM_KINDS
from krypenv.game.core import MOST_MOVES
from krypenv.inputs.words import shown
from krypenv.one_game import Game
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import FloatArray, Interval, format_margin, interval, leads_over_others
from krypenv.training.evaluation.matches.mixed_table import by_side
from krypenv.training.lab.chunks import by_deal, chunk_tasks, instead, match_tasks, watch
from krypenv.training.lab.intervals import amounts, cells, figures_of, percents
from krypenv.training.lab.studying import Answer, Setup, Study, Task

PLAYER, SEARCH, ORACLE = "tactician", "search(worlds=10)", "oracle-hand"
LADDER = {  # each agent of the ladder, and the one below it, which it meets
    "greedy over random": ("greedy", "random"),
    "tactician over greedy": (PLAYER, "greedy"),
    "search over tactician": (SEARCH, PLAYER),
}
TRAINED = "trained over tactician"
HIDDEN = "oracle over search"
OTHER, OTHER_RANDOM = "other goal over own", "other goal over random"
SKILL, LUCK = "search over random, by steps", "luck of a game"
FIRST = "first seat over second"
IN_LUCK = (*LADDER, SKILL, TRAINED, HIDDEN, FIRST, OTHER, OTHER_RANDOM)  # margins, told in the luck of a game
MANY, FEW = 10, 10  # deals to count for each deal of a match, and deals of matches for each one looked at for moves
FEWER, EVERY = 50, 8  # the same where nobody takes a card; one play of so many is looked at, for moves are many
COUNTED = ("cards", "sweeps", "further", FIRST)
LOOKED_AT = ("legal moves", "plays with a choice", "plays beyond the list")
NETWORK, TURNED = "trained network", "who plays for the other goal"
MARKERS = {  # of the players in the picture
    "greedy": ("o", "#a9c4de"), "tactician": ("o", "#5b8cbf"), "search": ("o", "#1f4e79"),
    "oracle": ("D", "#888888"), NETWORK: ("s", "#2a7f3f"), TURNED: ("X", "#b33a3a"),
}  # fmt: skip
Figures = Mapping[str, Mapping[str, Interval]]  # by rule set and name
POINTS, SHARE = amounts, percents
SHOWN: dict[str, Callable[[Interval], tuple[str, str]]] = {
    **{LOOKED_AT[0]: POINTS, LOOKED_AT[1]: SHARE},
    **dict.fromkeys((*COUNTED[:-1], LUCK), POINTS),
    **dict.fromkeys(IN_LUCK, cells),
}


def rule_sets(name: str, question: str, sets: Mapping[str, str], deals: int = 1000, agent: str = PLAYER) -> Study:
    """Return a study that compares rule sets, texts by their labels, on the same footing.

    `agent` plays every seat of the games that measure moves, points, luck and the first seat's lead.
    """
    return Study(
        name, question, partial(tasks, sets=sets), partial(answer, sets=sets), deals, players=(2, 3, 4, 5, 6), fewest=2,
        sets=sets, agent=agent,
    )  # fmt: skip


def sets_of(texts: Sequence[str]) -> dict[str, str]:
    """Return rule sets by their own texts; raises ValueError unless there are two or more, all different."""
    found: dict[Rules, str] = {}
    for text in texts:
        rules = Rules.parse(text)
        if rules in found:
            raise ValueError(f"{shown(text)} and {shown(found[rules])} are the same rules; give each once")
        found[rules] = " ".join(text.split())
    if len(found) < 2:
        raise ValueError("a comparison needs two rule sets, as in krypkasino 'kasino-sweden goal=low'")
    return {text: text for text in found.values()}


def is_idle(rules: Rules) -> bool:
    """Return whether nobody needs to take a card and cards only cost, so that best play takes none."""
    return rules.goal == "low" and rules.capture == "optional" and not rules.forced_sweep


def turned(rules: Rules) -> Rules:
    """Return the same rules with the other goal."""
    return dataclasses.replace(rules, goal="high" if rules.goal == "low" else "low")


# ---------------------------------------------------------------------- pieces of work


def count_points(rules: str, agent: str, first: int, deals: int, seed: int) -> list[list[float]]:
    """Return by deal, with an agent in every seat, what `COUNTED` names.

    Points are sums over all seats. Sweeps that another seat pays for count as what they move.
    """
    game = Rules.parse(rules)
    found = np.zeros((deals, len(COUNTED)))
    for engine, _, _, ended, _ in watch(rules, agent, first, deals, seed):
        if len(ended):
            cards = engine.final_points[ended].sum(axis=1)
            sweeps = (engine.final_sweeps[ended] - engine.final_void_sweeps[ended]).sum(axis=1) * game.sweep_points
            scores = by_side(engine.final_scores[ended].astype(np.int64), game.num_teams).astype(float)
            added = sweeps if game.sweep_payer == "nobody" else np.zeros_like(sweeps)
            further = scores.sum(axis=1) - cards - added
            found[ended] = np.stack([cards, sweeps, further, leads_over_others(game, scores)[:, 0]], axis=1)
    return found.tolist()


def count_moves(rules: str, agent: str, first: int, deals: int, seed: int, every: int) -> list[list[float]]:
    """Return by deal, with an agent in every seat, what `LOOKED_AT` names: means over one play of `every`.

    A move is a card with what it takes. Where there are more than the game lists, that number is counted.
    """
    game_rules, found = Rules.parse(rules), []
    player = agents.make_known(agent, game_rules, seed)
    for deal, start in enumerate(deal_seeds(seed, first + deals)[first:].tolist()):
        game, counts, plays = Game(game_rules, seed=start), list[int](), deal
        while not game.is_over:
            if game.pending is None:
                plays += 1
                if plays % every == 0:
                    counts.append(_moves_of(game))
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
        numbers = np.array(counts)
        found.append([numbers.mean(), (numbers > 1).mean(), (numbers > MOST_MOVES).mean()])
    return np.array(found).tolist()


def _moves_of(game: Game) -> int:
    try:
        return len(game.legal_moves())
    except ValueError:
        return MOST_MOVES + 1


def as_if_turned(other: str, agent: str, rules: Rules, seed: int) -> Agent:
    """Return an agent that plays some rules as it plays those with the other goal."""
    found = agents.make_known(other, turned(rules), seed)
    found.rules = rules
    return found


# ---------------------------------------------------------------------- what a study is made of


def own_setup(setup: Setup, text: str) -> Setup:
    """Return the setup of a rule set."""
    return dataclasses.replace(setup, rules=Rules.parse(text), models=())


def counts_setup(own: Setup) -> Setup:
    """Return the setup of the games to count: many, as they are quick, unless they are all alike."""
    return moves_setup(own) if is_idle(own.rules) else dataclasses.replace(own, deals=MANY * own.deals)


def moves_setup(own: Setup) -> Setup:
    """Return the setup of the games whose moves are counted."""
    return dataclasses.replace(own, deals=max(own.deals // (FEWER if is_idle(own.rules) else FEW), 2))


def _every(rules: Rules) -> int:
    return EVERY if is_idle(rules) and rules.deck_size >= NUM_KINDS else 1


def matches(own: Setup, models: Mapping[Rules, str]) -> dict[str, tuple[str, Callable[..., Agent]]]:
    """Return by label the agent that stays as it is in a match, and the change that makes its opponent."""
    if is_idle(own.rules):
        return {}
    found = {label: (below, instead(above)) for label, (above, below) in LADDER.items()}
    here, there = models.get(own.rules), models.get(turned(own.rules))
    if here:
        found[TRAINED] = (PLAYER, instead(here))
    found[HIDDEN] = (SEARCH, instead(ORACLE))
    player, other = (here, there) if here and there else (PLAYER, PLAYER)
    change = partial(as_if_turned, other)
    return {**found, OTHER: (player, change), OTHER_RANDOM: ("random", change)}


def models_of(setup: Setup) -> dict[Rules, str]:
    """Return the models of a setup, as strings of agents, by the rules that they were trained for.

    They play the network alone, to the end, for not all rules have a solver of the last deal.
    """
    return {
        trained_rules(folder): format_spec("learned", {"model": folder, "solver": False}) for folder in setup.models
    }


def find_models(folder: Path, sets: Mapping[str, str]) -> tuple[str, ...]:
    """Return the models in the runs of a folder that a comparison of some rules has a use for.

    Raises ValueError where there are none, and for two that were trained for the same rules.
    """
    wanted = {
        each for text in sets.values() if not is_idle(rules := Rules.parse(text)) for each in (rules, turned(rules))
    }
    found: dict[Rules, str] = {}
    for card in sorted([*folder.glob(f"*/{CARD}"), *folder.glob(f"*/*/{CARD}")]):
        rules = trained_rules(card.parent)
        if rules in found:
            raise ValueError(f"{found[rules]} and {card.parent} were trained for the same rules; leave one of them")
        if rules in wanted:
            found[rules] = str(card.parent)
    if not found:
        raise ValueError(f"there is no model in the folders of {folder} that was trained for one of the rules compared")
    return tuple(found.values())


def tasks_of(label: str, own: Setup, models: Mapping[Rules, str]) -> list[Task]:
    """Return the games to count and the matches of a rule set."""
    found = chunk_tasks(f"{label}: moves", moves_setup(own), count_moves, every=_every(own.rules))
    found += chunk_tasks(f"{label}: points", counts_setup(own), count_points)
    for match, (agent, change) in matches(own, models).items():
        found += match_tasks(f"{label}: {match}", dataclasses.replace(own, agent=agent), change)
    return found


def tasks(setup: Setup, sets: Mapping[str, str]) -> list[Task]:
    """Return the work of all rule sets."""
    models = models_of(setup)
    return [task for label, text in sets.items() for task in tasks_of(label, own_setup(setup, text), models)]


def measured(label: str, own: Setup, models: Mapping[Rules, str], results: dict[str, Any]) -> dict[str, FloatArray]:
    """Return samples of a rule set by what they measure; margins and the first seat's lead are in points."""
    looked_at = np.array(by_deal(results, f"{label}: moves", moves_setup(own))).T
    counted = np.array(by_deal(results, f"{label}: points", counts_setup(own))).T
    found = {**dict(zip(LOOKED_AT, looked_at, strict=True)), **dict(zip(COUNTED, counted, strict=True))}
    return {**found, **{match: np.array(by_deal(results, f"{label}: {match}", own)) for match in matches(own, models)}}


def figures_of_set(samples: Mapping[str, FloatArray]) -> dict[str, Interval]:
    """Return figures with intervals: margins and the first seat's lead in luck, the others as they are.

    Where nobody takes a card there are no margins.
    """
    plain = {name: interval(samples[name]) for name in (*LOOKED_AT, *COUNTED[:-1])}
    lead = samples[FIRST]
    if HIDDEN not in samples or not lead.any():
        return plain
    spread = interval((lead - lead.mean()) ** 2)
    plain[LUCK] = spread[0] ** 0.5, max(spread[1], 0.0) ** 0.5, spread[2] ** 0.5
    margins = {name: each / plain[LUCK][0] for name, each in samples.items() if name not in plain}
    margins[SKILL] = np.sum([margins[step] for step in LADDER], axis=0)
    return {**plain, **{name: interval(each) for name, each in margins.items()}}


def answer(setup: Setup, results: dict[str, Any], sets: Mapping[str, str]) -> Answer:
    """Tell for each rule set what there is to choose, where points come from, and what skill and hands are worth."""
    models = models_of(setup)
    figures = {
        label: figures_of_set(measured(label, own_setup(setup, text), models, results)) for label, text in sets.items()
    }
    return Answer(
        sentence_of(figures, setup.agent),
        ("what", "figure", "95% interval"),
        [row for name, show in SHOWN.items() for row in _rows(name, show, figures)],
        {label: {"rules": sets[label], **figures_of(each)} for label, each in figures.items()},
        draw_of(figures),
    )


def _rows(name: str, show: Callable[[Interval], tuple[str, str]], figures: Figures) -> list[tuple[str, ...]]:
    """Return a heading, and a row for each rule set that has a figure."""
    having = {label: each for label, each in figures.items() if name in each}
    rows: list[tuple[str, ...]] = [(name, "", "")] if having else []
    for label, each in having.items():
        mean, bounds = show(each[name])
        is_bound = name == LOOKED_AT[0] and each[LOOKED_AT[2]][0] > 0
        rows.append((f"  {label}", f"over {mean}" if is_bound else mean, bounds))
    return rows


def sentence_of(figures: Figures, agent: str) -> str:
    """Return a sentence with the least and the largest of each figure, in standard deviations of a game."""
    played = {label: each for label, each in figures.items() if SKILL in each}
    idle = [label for label in figures if label not in played]
    parts = [
        f"{name} {_extremes({label: each[name] for label, each in played.items()})}"
        for name in (SKILL, HIDDEN, FIRST, OTHER)
        if played
    ]
    unit = f"In standard deviations of a game with {agent} in every seat, from the least to the most: "
    told = f"{unit}{'; '.join(parts)}." if parts else ""
    return f"{told} Best play takes no card in {'; '.join(idle)}.".strip() if idle else told


def _extremes(found: Mapping[str, Interval]) -> str:
    least, most = (find(found, key=lambda label: found[label][0]) for find in (min, max))
    told = [format_margin(*found[label], note=f"; {label}") for label in (least, most)]
    return told[0] if least == most else " to ".join(told)


def draw_of(figures: Figures) -> Callable[[Axes], None]:
    """Return what draws how far each player is above random play in each rule set."""

    def draw(axes: Axes) -> None:
        axes.set_yticks(range(len(figures)), list(figures), fontsize=9)
        for row, each in enumerate(figures.values()):
            if SKILL not in each:
                axes.text(0.05, row, "best play takes no card", va="center", fontsize=8, color="#666666")
                continue
            places = above_random(each)
            axes.plot([0, max(mean for mean, _, _ in places.values())], [row, row], color="#cccccc", zorder=0)
            for name, (mean, low, high) in places.items():
                marker, color = MARKERS[name]
                place = row + 0.2 * (name == NETWORK)  # or it would lie upon the search
                axes.errorbar(mean, place, xerr=[[mean - low], [high - mean]], fmt=marker, color=color, capsize=2)
        for name, (marker, color) in MARKERS.items():
            if any(name in above_random(each) for each in figures.values() if SKILL in each):
                axes.plot([], [], marker, color=color, label=name)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.invert_yaxis()
        axes.set_xlabel("above random play, step by step, in standard deviations of a game's margin")
        axes.figure.legend(loc="outside lower center", ncols=6, fontsize=8)

    return draw


def above_random(figures: Mapping[str, Interval]) -> dict[str, Interval]:
    """Return how far each player of `MARKERS` is above random play, by the steps of the ladder up to it.

    Each interval is that of the last step.
    """
    found, at = {}, 0.0
    for name, step in zip(MARKERS, (*LADDER, HIDDEN), strict=False):
        mean, low, high = figures[step]
        found[name] = at + mean, at + low, at + high
        at += mean
    for name, step, below in ((NETWORK, TRAINED, found["tactician"][0]), (TURNED, OTHER_RANDOM, 0.0)):
        if step in figures:
            mean, low, high = figures[step]
            found[name] = below + mean, below + low, below + high
    return found
