"""Small arenas, and agents that play them well and badly."""

import dataclasses
import math

import numpy as np

from krypenv import Engine, Rules, agents
from krypenv.features import width_of
from krypenv.observation import history_size
from krypenv.training import ArenaSettings, run_arena
from krypenv.training.evaluation.arena.arena import Games

RULES = Rules.preset("krypkasino")
HAND = slice(0, 52)  # of the observation


def positions(rules, games=60, plies=37):
    """Games up to some plies on, with takes pending in some rows."""
    engine, last = Engine(rules, games, seed=5), np.random.default_rng(5).integers(0, plies + 1, games)
    for ply in range(plies):
        rows = np.flatnonzero(ply < last)
        engine.step(engine.sample_actions(rows), rows)
    return engine


class Lowest:
    """An agent without chance: the lowest legal action."""

    name = "lowest"

    def __init__(self, rules, seed=0):
        self.rules = rules

    def act(self, observations, action_masks):
        return action_masks.argmax(axis=1)


class Highest(Lowest):
    """The highest legal action."""

    name = "highest"

    def act(self, observations, action_masks):
        return action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)


class Picky(Lowest):
    """The lowest legal action; asks for the blocks of its options, and refuses observations of another width."""

    name = "picky"
    believes = True

    def __init__(self, rules, seed=0, *, features=False, history=False, worlds=2):
        super().__init__(rules)
        self.needs_features, self.needs_history, self.worlds = features, history, worlds
        self.width = width_of(rules, features) + history_size(rules, history)

    def act(self, observations, action_masks):
        assert observations.shape == (len(action_masks), self.width)
        assert observations.dtype == np.int8
        return super().act(observations, action_masks)

    def probabilities(self, observations, action_masks):
        return np.eye(action_masks.shape[1])[self.act(observations, action_masks)]

    def log_weights(self, observation, hands):
        assert observation.shape == (self.width,)
        return np.zeros(len(hands))

    def examine(self, observation, action_mask, *also):
        assert observation.shape == (self.width,)
        return agents.make(f"search(worlds={self.worlds})", self.rules).examine(observation, action_mask, *also)


def has_fault(observations):
    """Whether a seat holds both copies of some card: now and then."""
    return (observations[:, HAND] == 2).any(axis=1)


class Raising(Lowest):
    """Raises for all rows where one of them is amiss."""

    def act(self, observations, action_masks):
        if has_fault(observations).any():
            raise RuntimeError("two of a kind\nin hand")
        return super().act(observations, action_masks)


LOW, HIGH = Lowest, Highest


def made(agent, rules):
    """An agent of an arena: a name as it is, an agent of a class, or one of a name and a class."""
    name, make = agent if isinstance(agent, tuple) else (None, agent)
    if not callable(make):
        return agent
    found = make(rules)
    found.name = name or found.name
    return found


def arena(folder, *agents, rules=RULES, deals=20, progress=None, luck="off", **options):
    """Run a small arena, which leaves luck in unless it is told otherwise."""
    agents = tuple(made(agent, rules) for agent in agents)
    settings = ArenaSettings(agents=agents, rules=rules, out=folder, deals=deals, luck=luck, **options)
    return run_arena(settings, progress) if progress else run_arena(settings)


def same_games(one, other):
    """Whether two arenas played the same games."""
    return one.names == other.names and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("deal", "agents", "scores", "forfeit")
    )


def select(games, rows):
    """Those games of an arena whose rows are given."""
    arrays = ("deal", "agents", "scores", "forfeit", "tie_breaks", "luck")
    kept = {name: getattr(games, name) for name in arrays}
    return dataclasses.replace(games, **{name: array if array is None else array[rows] for name, array in kept.items()})


def games_of(deal, agents, scores, names=(), **fields):
    """Games of Krypkasino by their deals, agents and scores, (G,), (G, S) and (G, S); without forfeits and times."""
    agents = np.array(agents)
    names = tuple(names) or tuple(f"agent {number}" for number in range(agents.max() + 1))
    none = {"forfeit": np.full(len(agents), -1), "milliseconds": np.full(len(names), math.nan), "forfeits": ()}
    rules = Rules.preset("krypkasino", players=agents.shape[1])
    return Games(names, rules, np.array(deal), agents, np.array(scores, float), **{**none, **fields})
