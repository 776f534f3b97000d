"""The rivals of a run: scripted agents, the learner as it is, and snapshots of it; who is drawn how often."""

from __future__ import annotations

import copy

import numpy as np

from krypenv import agents
from krypenv.agents import Agent
from krypenv.envs.learner import LearnerGames
from krypenv.envs.opponents import Opponent
from krypenv.rules import Rules
from krypenv.training.learner.network import CardNetwork, NetworkAgent
from krypenv.training.selfplay.metagame import Metagame
from krypenv.training.selfplay.settings import Settings

NOW = "learner"  # among the rivals: the learner as it is


class Rivals:
    """Who plays against the learner in those games in which it holds one seat.

    Args:
        settings: of the run.
        rules: that are played.
        learner: the network that is trained.
        games: all games of the run; those in which all seats learn need no rivals.
        metagame: how the snapshots have done so far.
    """

    def __init__(
        self, settings: Settings, rules: Rules, learner: CardNetwork, games: list[LearnerGames], metagame: Metagame
    ) -> None:
        self.settings, self.rules, self.learner, self.metagame = settings, rules, learner, metagame
        self.games = [each for each in games if each.seat != "all"]
        self.snapshots: dict[str, CardNetwork] = {}
        self.drawn: list[tuple[str, float]] = []  # from whom the games draw, and how often

    def choose(self, update: int) -> None:
        """Decide whom the games draw from: a snapshot the more often, the better it did against the last one."""
        it, names = self.settings.opponents, list(self.snapshots)
        share = it.scripted_share if it.rivals else 0.0
        latest = names[-1] if names else NOW
        weights = [1.0, *self.metagame.weights(latest, names, it.hardness)]  # the learner, as often as all snapshots
        self.drawn = [(rival, share / len(it.rivals)) for rival in it.rivals]
        self.drawn += [
            (name, (1 - share) * weight / sum(weights)) for name, weight in zip([NOW, *names], weights, strict=True)
        ]
        for games in self.games:
            games.set_opponents(self._make(update))

    def refresh(self, update: int) -> None:
        """Let all rivals draw from an update's random numbers."""
        for games in self.games:
            games.pool = self._make(update)

    def add_snapshot(self, update: int) -> dict[str, float]:
        """Keep the learner as it is among the rivals; return its margins over those that are there, by name."""
        it, name, seed = self.settings.opponents, f"update {update}", self.settings.seed
        network = copy.deepcopy(self.learner).eval()
        scripted = [(rival, agents.make_known(rival, self.rules, seed=seed)) for rival in it.rivals]
        before = [(old, NetworkAgent(each, self.rules, old)) for old, each in self.snapshots.items()]
        player = NetworkAgent(network, self.rules, name)
        self.metagame.add(name, player, [*scripted, *before], it.metagame_deals, seed)
        self.snapshots[name] = network
        while len(self.snapshots) > it.snapshots:  # keep the spread over time: drop from the denser, later half
            del self.snapshots[list(self.snapshots)[it.snapshots // 2]]
        self.choose(update)
        return self.metagame.margins[name]

    def _make(self, update: int) -> list[tuple[Opponent, float]]:
        rivals: list[tuple[Opponent, float]] = []
        for place, (name, weight) in enumerate(self.drawn):
            seed = seed_of(self.settings.seed, update, 2 + place)
            if name == NOW or name in self.snapshots:
                network = self.snapshots.get(name, self.learner)
                rival: Agent = NetworkAgent(network, self.rules, name, seed=seed, temperature=1.0)
            else:
                rival = agents.make_known(name, self.rules, seed=seed)
            rivals.append((rival, weight))
        return rivals


def seed_of(seed: int, update: int, use: int) -> int:
    """Return a seed for one use in one update of a run."""
    return int(np.random.SeedSequence([seed, update, use]).generate_state(1)[0])
