"""The opponents of a run: scripted agents, the current learner and its snapshots, and how often each is drawn."""

from __future__ import annotations

import copy

import numpy as np

from krypenv import agents
from krypenv.agents import Agent
from krypenv.envs.learner import LearnerGames
from krypenv.envs.opponents import Opponent
from krypenv.rules import Rules
from krypenv.training.learn.learner.torch_network import CardNetwork, NetworkAgent
from krypenv.training.learn.selfplay.metagame import Metagame
from krypenv.training.learn.selfplay.settings import Settings

NOW = "learner"  # the name of the current learner among the opponents


class OpponentPool:
    """The opponents in the games in which only one seat learns.

    Args:
        settings: the settings of the run.
        rules: the rules of the run.
        learner: the network in training.
        games: all games of the run; those in which all seats learn need no opponents.
        metagame: the results of the snapshots so far.
    """

    def __init__(
        self, settings: Settings, rules: Rules, learner: CardNetwork, games: list[LearnerGames], metagame: Metagame
    ) -> None:
        self.settings, self.rules, self.learner, self.metagame = settings, rules, learner, metagame
        self.games = [each for each in games if each.seat != "all"]
        self.snapshots: dict[str, CardNetwork] = {}
        self.drawn: list[tuple[str, float]] = []  # from whom the games draw, and how often

    def choose(self, update: int) -> None:
        """Set how often each opponent is drawn: the better a snapshot did against the latest one, the more often."""
        settings, names = self.settings.games, list(self.snapshots)
        share = settings.scripted_share if settings.opponents else 0.0
        latest = names[-1] if names else NOW
        by_strength = self.metagame.weights(latest, names, settings.opponent_temperature)
        weights = [1.0, *by_strength]  # the learner as often as all its snapshots together
        self.drawn = [(opponent, share / len(settings.opponents)) for opponent in settings.opponents]
        self.drawn += [
            (name, (1 - share) * weight / sum(weights)) for name, weight in zip([NOW, *names], weights, strict=True)
        ]
        for games in self.games:
            games.set_opponents(self._make(update))

    def refresh(self, update: int) -> None:
        """Give all opponents new seeds for an update."""
        for games in self.games:
            games.pool = self._make(update)

    def add_snapshot(self, update: int) -> dict[str, float]:
        """Add a snapshot of the learner; return its margins over scripted opponents and earlier snapshots, by name."""
        settings, name, seed = self.settings.games, f"update {update}", self.settings.seed
        network = copy.deepcopy(self.learner).eval()
        scripted = [(opponent, agents.make_known(opponent, self.rules, seed=seed)) for opponent in settings.opponents]
        before = [(old, NetworkAgent(each, self.rules, old)) for old, each in self.snapshots.items()]
        player = NetworkAgent(network, self.rules, name)
        self.metagame.add(name, player, [*scripted, *before], settings.metagame_deals, seed)
        self.snapshots[name] = network
        while len(self.snapshots) > settings.snapshots:  # keep the spread over time: drop from the denser, later half
            del self.snapshots[list(self.snapshots)[settings.snapshots // 2]]
        self.choose(update)
        return self.metagame.margins[name]

    def _make(self, update: int) -> list[tuple[Opponent, float]]:
        opponents: list[tuple[Opponent, float]] = []
        for place, (name, weight) in enumerate(self.drawn):
            seed = seed_of(self.settings.seed, update, 2 + place)
            if name == NOW or name in self.snapshots:
                network = self.snapshots.get(name, self.learner)
                opponent: Agent = NetworkAgent(network, self.rules, name, seed=seed, temperature=1.0)
            else:
                opponent = agents.make_known(name, self.rules, seed=seed)
            opponents.append((opponent, weight))
        return opponents


def seed_of(seed: int, update: int, use: int) -> int:
    """Return a seed for one use in one update of a run."""
    return int(np.random.SeedSequence([seed, update, use]).generate_state(1)[0])
