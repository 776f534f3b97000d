"""What the others have played in a deal, replayed from the history block, and how likely it makes their hands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.networks import some_network

from krypenv import Engine, Rules
from krypenv.agents.neural.belief import BELIEF, MOST_PLAYS, reconstruct_plays, resample_systematically
from krypenv.agents.neural.guided import Guided
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.search.worlds import set_root
from krypenv.agents.workspace import make_workspaces
from krypenv.cards import NO_CARD
from krypenv.features import history_in
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.observing import write_observation
from krypenv.observation import LAYOUT
from krypenv.runtime.jit import for_kernels, handle, kernel, records

MAIN = Rules.preset("krypkasino", players=2)
HAND, SEEN, CAPTURER = LAYOUT["hand"], LAYOUT["seen"], LAYOUT["last_capturer"]
TEXTS = [
    "krypkasino players=2", "krypkasino players=2 games=2", "krypkasino players=3", "krypkasino players=4 teams=2",
    "krypkasino players=6", "howto players=2", "kasino-sweden players=2", "kasino-finland players=3 games=2",
    "mulle players=2", "laistokasino players=4",
]  # fmt: skip


@kernel
def _look_at(
    compiled: np.ndarray, seen: np.ndarray, plays: np.ndarray, beliefs: np.ndarray, workspaces: np.ndarray
) -> None:
    """Look back from one observation."""
    set_root(compiled[0], seen, workspaces[0])
    reconstruct_plays(compiled[0], seen, plays, beliefs[0], workspaces[0])


@kernel
def _show(compiled: np.ndarray, games: np.ndarray, out: np.ndarray) -> None:
    """Write what the seats to act see."""
    for row in range(len(out)):
        write_observation(compiled[0], games[row], games[row].seat, out[row])


class Looker:
    """Looks back from observations with the history."""

    def __init__(self, rules: Rules) -> None:
        self.rules, self.compiled = rules, compile_rules(rules)
        self.beliefs, self.workspaces = handle(records(BELIEF, 1)), make_workspaces()

    def plays(self, seen: np.ndarray) -> list[tuple[np.ndarray, int]]:
        """The plays of the other seats in the deal: what each saw without its hand, and its card."""
        history = for_kernels(history_in(self.rules, seen[None])[0])
        _look_at(self.compiled, for_kernels(seen), history, self.beliefs, self.workspaces)
        belief = self.beliefs.view(np.recarray)[0]
        games = belief.games[: belief.count].copy()
        shown = np.zeros((len(games), self.rules.observation_size), np.int8)
        _show(self.compiled, handle(games.view(np.recarray)), shown)
        return [(without_hand(each), int(card)) for each, card in zip(shown, belief.cards, strict=False)]


def without_hand(seen: np.ndarray) -> np.ndarray:
    """What a seat sees, less its hand, and less who captured last, which may have been before the deal."""
    public = seen.copy()
    public[SEEN] -= public[HAND]
    public[HAND] = 0
    public[CAPTURER] = 0
    return public


@pytest.mark.parametrize("text", TEXTS)
def test_the_others_decisions_are_found_as_they_were(text: str) -> None:
    """Every seat of random games, beside a list of who saw and played what; also while a capture is being chosen."""
    rules, games = Rules.parse(text), 12
    size = rules.observation_size
    engine, looker = Engine(rules, games, seed=4, history=True), Looker(rules)
    played: list[list[tuple[int, np.ndarray, int]]] = [[] for _ in range(games)]
    deal, compared, choosing = engine.state.deal_number.copy(), 0, 0
    for _ in range(150):
        for row in range(games):
            seat, pending = engine.seat[row], engine.state.pending[row] != NO_CARD
            found = looker.plays(engine.observation[row])
            truth = [(seen, card) for who, seen, card in played[row] if who != seat]
            assert len(found) == len(truth) <= MOST_PLAYS
            for (seen, card), (true, its) in zip(found, truth, strict=True):
                assert card == its
                np.testing.assert_array_equal(seen, true)
            compared, choosing = compared + len(truth), choosing + (pending and len(truth) > 0)
        actions, seats = engine.sample_actions(), engine.seat.copy()
        before, begins = engine.observation[:, :size].copy(), engine.state.pending == NO_CARD
        engine.step(actions)
        for row in range(games):
            if begins[row]:
                played[row].append((seats[row], without_hand(before[row]), int(actions[row])))
            if engine.state.deal_number[row] != deal[row] or engine.finished[row]:
                played[row] = []
        deal = engine.state.deal_number.copy()
    assert compared > 1000
    assert choosing > 0


@pytest.mark.parametrize("text", TEXTS[::3])
def test_a_history_of_another_game_tells_nothing_or_something_possible(text: str) -> None:
    """Anything may stand where plays should: from elsewhere, changed, or no plays at all."""
    rules, rng = Rules.parse(text), np.random.default_rng(0)
    engine, looker = Engine(rules, 64, seed=4, history=True), Looker(rules)
    nothing = 0
    for _ in range(40):
        engine.step(engine.sample_actions())
        seen = engine.observation.copy()
        plays = history_in(rules, seen)
        torn = plays[rng.permutation(len(plays))]
        changed = rng.random(plays.shape) < 0.002
        torn[changed] = rng.integers(-128, 128, changed.sum())
        seen[:, rules.observation_size :] = torn.reshape(len(torn), -1)
        nothing += sum(not looker.plays(each) for each in seen)
    assert nothing > 1000


@pytest.mark.parametrize(
    ("chances", "worlds", "expected"),
    [
        ([0.25, 0.25, 0.25, 0.25], 2, None),
        ([0.5, 0.0, 0.5, 0.0], 4, [2, 0, 2, 0]),
        ([0.0, 1.0, 0.0], 3, [0, 3, 0]),
        ([0.0, 0.0, 0.0, 0.0], 2, [1, 1, 0, 0]),
        ([0.1, 0.2, 0.3, 0.4], 10, [1, 2, 3, 4]),
        ([1e-300, 1e-320, 1e-300], 2, [1, 0, 1]),
    ],
)
def test_worlds_are_shared_out_by_their_chances(chances: list[float], worlds: int, expected: list[int] | None) -> None:
    shares = np.zeros(len(chances), np.int64)
    with np.errstate(divide="ignore"):
        resample_systematically(np.log(np.array(chances)), len(chances), worlds, shares)
    assert shares.sum() == worlds
    assert expected is None or shares.tolist() == expected


def play(agent: Guided, steps: int = 24, history: bool = True) -> list[list[int]]:
    """Let an agent play seat 0 of some games against random plays, and return its actions."""
    engine, played = Engine(agent.rules, 8, seed=6, history=history), []
    for _ in range(steps):
        actions, rows = engine.sample_actions(), np.flatnonzero(engine.seat == 0)
        if len(rows):
            actions[rows] = agent.act(engine.observation[rows], engine.action_mask[rows])
            assert (engine.action_mask[rows, actions[rows]] == 1).all()
        played.append(actions[rows].tolist())
        engine.step(actions)
    return played


@pytest.mark.parametrize("players", [2, 4])
def test_a_guided_agent_that_weights_worlds_is_seeded_and_the_same_on_threads(tmp_path: Path, players: int) -> None:
    rules = Rules.preset("krypkasino", players=players)
    model = str(save_model(tmp_path / "model", some_network(), rules))
    options = {"model": model, "worlds": 6, "proposals": 5, "prior": 0.0}
    first = play(Guided(rules, 1, **options))
    assert first == play(Guided(rules, 1, **options)) == play(Guided(rules, 1, threads=2, **options))
    assert first != play(Guided(rules, 1, **{**options, "proposals": 1}))
    assert len(play(Guided(rules, 1, ms=1000.0, **options))) == len(first)
