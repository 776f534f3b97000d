"""Every agent chooses what it chose before, from the same observations and features, byte by byte.

After a change that is meant, `make golden` writes the digests anew: the diff names agents and rules.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from krypenv import Rules, agents
from krypenv.agents.base import Agent
from krypenv.agents.neural.action_features import gather_action_features
from krypenv.cards import STOP
from krypenv.families.variants import PRESETS
from krypenv.features import append_features
from krypenv.inputs.files import write_whole
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.mixed_table import play_table

FILE = Path(__file__).with_name("frozen.json")
AGENTS = (
    "greedy", "tactician", "tactician(shed=True)", "search(worlds=3)", "search(worlds=2, plies=1)",
    "rollout(worlds=2)", "ismcts(worlds=12)", "champion(worlds=0)", "champion(worlds=3)", "oracle-cards(worlds=3)",
    "oracle-hand", "oracle-deck",
)  # fmt: skip
FEATURES = "features"
MORE = (  # more players, teams, large tables, builds, two decks, no forced sweeps, sessions to a threshold
    "krypkasino players=3",
    "krypkasino players=4 teams=2",
    "krypkasino players=2 first_deal=((6,12),)",
    "kasino-finland players=2 building=True",
    "kasino-finland players=3 building=True games=2 threshold=16",
    "kasino-finland players=4 teams=2 building=True",
    "howto players=2 forced_sweep=False",
    "krypkasino players=3 set_aside=spades last_capture_points=1",
)


def rule_sets() -> Iterator[str]:
    """Every preset for two, and some special rules."""
    yield from (f"{preset} players=2" for preset in PRESETS)
    yield from MORE


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


def digest(rules: Rules, name: str) -> str:
    """The digest of an agent's choices in a game, or of `FEATURES`; "refused" if it does not play."""
    kept, seed = list[bytes](), 0
    while not kept:
        seed += 1
        try:
            player = Mixture(rules, seed) if name == FEATURES else agents.make(name, rules, seed)
        except ValueError:
            return "refused"
        recorder = Recorder(player, name == FEATURES)
        lineup = np.minimum(np.arange(rules.num_teams), 1)[None]
        play_table([recorder, Mixture(rules, 1000 + seed)], rules, deal_seeds(seed, 1), lineup)
        kept = recorder.kept
    return hashlib.sha256(b"".join(kept)).hexdigest()[:8]


@pytest.fixture(scope="module")
def frozen(request: pytest.FixtureRequest) -> Iterator[dict[str, dict[str, str]]]:
    """The digests of all rule sets, which `--regen-all` writes anew."""
    stored = json.loads(FILE.read_text())
    yield stored
    if request.config.getoption("regen_all"):
        lines = [f"{json.dumps(text)}: {json.dumps(stored[text])}" for text in rule_sets()]
        write_whole(FILE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


@pytest.mark.few(3)
@pytest.mark.parametrize("text", rule_sets())
def test_choices_and_bytes_are_as_they_were(
    text: str, frozen: dict[str, dict[str, str]], request: pytest.FixtureRequest
) -> None:
    found = {name: digest(Rules.parse(text), name) for name in (*AGENTS, FEATURES)}
    if request.config.getoption("regen_all"):
        frozen[text] = found
    assert found == frozen[text]
