"""What agents choose and what features say in a few games, as digests."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator

import numpy as np

from krypenv import Engine, Rules, agents
from krypenv.agents.base import Agent
from krypenv.agents.neural.action_features import gather_action_features
from krypenv.cards import STOP
from krypenv.families.variants import MOST_PLAYERS, PRESETS
from krypenv.features import append_features, want_history
from krypenv.training.evaluation.matches.mixed_table import play_table

AGENTS = (
    "greedy", "tactician", "tactician(shed=True)", "search(worlds=3)", "search(worlds=2, plies=1)",
    "rollout(worlds=2)", "ismcts(worlds=12)", "champion(worlds=0)", "champion(worlds=3)", "oracle-cards(worlds=3)",
    "oracle-hand", "oracle-deck",
)  # fmt: skip
FEATURES = "features"
BLOCK = 200  # decisions in a digest
MORE = (  # large tables, builds, two decks, no forced sweeps, sessions to a threshold
    "krypkasino players=2 first_deal=((6,12),)",
    "kasino-finland players=2 building=True",
    "kasino-finland players=3 building=True games=0 threshold=16",
    "kasino-finland players=4 teams=2 building=True",
    "howto players=2 forced_sweep=False",
    "krypkasino players=3 set_aside=spades last_capture_points=1",
)


def rule_sets() -> Iterator[str]:
    """Yield every preset with every number of players, in teams and alone; and some special rules."""
    for preset in PRESETS:
        for players in range(2, MOST_PLAYERS[preset] + 1):
            for teams in ("", " teams=2", " teams=3"):
                with contextlib.suppress(ValueError):  # not played like that
                    yield str(Rules.parse(f"{preset} players={players}{teams}"))
    yield from (str(Rules.parse(text)) for text in MORE)


class Mixture:
    """Plays at random, like the tactician, or so that the table grows, as a draw of its own decides each time."""

    name = "mixture"

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules, self._rng = rules, np.random.default_rng(seed)
        self._tactician = agents.make("tactician", rules, seed)

    def act(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        drawn = np.where(masks == 1, self._rng.random(masks.shape), -1.0)
        drawn[:, STOP] += masks[:, STOP] * (self._rng.random(len(masks)) < 0.7)  # takes little, so that much is left
        style = self._rng.random(len(masks))
        return np.where(style < 0.3, self._tactician.act(observations, masks), drawn.argmax(axis=1))


class Recorder:
    """An agent that keeps the bytes of its choices, or those of the features, where it has a choice."""

    def __init__(self, agent: Agent, features: bool) -> None:
        self.agent, self.features, self.kept = agent, features, list[bytes]()
        self.name, self.rules, self.cheats = agent.name, agent.rules, getattr(agent, "cheats", False)

    def act(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return self._keep(self.agent.act(observations, masks), observations, masks)

    def act_on(self, state: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return self._keep(self.agent.act_on(state, masks), state, masks)  # type: ignore[attr-defined]

    def _keep(self, actions: np.ndarray, seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(masks.sum(axis=1) > 1)
        if not self.features:
            self.kept += [bytes([action]) for action in actions[rows].tolist()]
        elif len(rows):
            of_actions = gather_action_features(self.rules, seen[rows], masks[rows])
            parts = np.split(of_actions.features, np.cumsum(of_actions.counts)[:-1])
            whole = append_features(self.rules, seen[rows], masks[rows])
            self.kept += [row.tobytes() + part.tobytes() for row, part in zip(whole, parts, strict=True)]
        return actions


def sample_digests(text: str) -> dict[str, str]:
    """Return digests of each agent's choices, and of observations and features, in two games of a rule set."""
    return {name: digests(Rules.parse(text), name) for name in (*AGENTS, FEATURES)}


def digests(rules: Rules, name: str) -> str:
    """Return the digests of an agent's choices, or of `FEATURES`, by blocks; "refused" if it does not play."""
    kept, seed = list[bytes](), 0
    while not kept:
        seed += 1
        try:
            player = Mixture(rules, seed) if name == FEATURES else agents.make(name, rules, seed)
        except ValueError:
            return "refused"
        recorder = Recorder(player, name == FEATURES)
        engine = Engine(rules, 2, seed, history=want_history([player]))
        lineup = np.ones((2, rules.num_teams), int)
        lineup[np.arange(2), np.arange(2) % rules.num_teams] = 0
        play_table(engine, [recorder, Mixture(rules, 1000 + seed)], lineup)
        kept = recorder.kept
    blocks = [b"".join(kept[at : at + BLOCK]) for at in range(0, len(kept), BLOCK)]
    return " ".join(hashlib.sha256(block).hexdigest()[:8] for block in blocks)
