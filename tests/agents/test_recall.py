"""What the other has played in a deal, remembered from one's own decisions, and how likely it makes a hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.networks import some_network

from krypenv import Engine, Rules
from krypenv.agents.judgement.decision import look_around
from krypenv.agents.neural.belief import BELIEF, log_likelihood, remember, resample_systematically
from krypenv.agents.neural.guided import Guided
from krypenv.agents.neural.inference import Weights, make_network_scratch
from krypenv.agents.neural.learned import LearnedAgent
from krypenv.agents.neural.model_file import save_model
from krypenv.agents.neural.network import inputs_of
from krypenv.agents.neural.recall import MOST_ACTIONS, Memory, Recall
from krypenv.agents.search.sampling import complete, world_seed
from krypenv.agents.workspace import Workspace, make_workspace
from krypenv.cards import TAKE
from krypenv.kernels.compiled import compile_rules
from krypenv.runtime.jit import handle, kernel, records

MAIN = Rules.preset("krypkasino", players=2)
GAMES = 24


def steps_of(memory: Memory, row: int) -> np.ndarray:
    """Return the known steps of a game: what was seen, the actions and the card, one after the other."""
    steps = np.concatenate([memory.seen[row], memory.actions[row], memory.cards[row][:, None]], axis=1)
    known = steps[:, -1] >= 0
    assert known.argmin() == known.sum() or known.all(), "known steps come first"
    return steps[known]


@pytest.mark.parametrize(
    "text",
    [
        "krypkasino players=2", "krypkasino players=2 games=2", "howto players=2", "kasino-sweden players=2",
        "kasino-finland players=2 games=2", "mulle players=2",
    ],
)  # fmt: skip
def test_what_is_recalled_is_what_was_played(text: str) -> None:
    """Seat 0 of many games at once, beside a list of who played what; also over the ends of deals and games."""
    rules, rng = Rules.parse(text), np.random.default_rng(0)
    size = rules.observation_size
    engine, recall = Engine(rules, GAMES, seed=4), Recall(size)
    decided: list[list[tuple[bytes, int]]] = [[] for _ in range(GAMES)]  # by seat 0 in this deal: what it saw, and did
    others: list[list[int]] = [[] for _ in range(GAMES)]  # cards that seat 1 played since seat 0's first decision
    deal = engine.state.deal_number.copy()
    asked = known = 0
    for _ in range(160):
        rows = rng.permutation(np.flatnonzero(engine.seat == 0))
        seen = engine.observation[rows]
        memory = recall.recall(seen)
        for at, row in enumerate(rows):
            steps = steps_of(memory, at)
            cards = others[row][-len(steps) :] if len(steps) else []
            assert steps[:, -1].tolist() == cards
            for step in steps:
                done = [action for what, action in decided[row] if what == step[:size].tobytes()]
                actions = step[size : size + MOST_ACTIONS]
                assert actions[actions >= 0].tolist()[:1] == done[:1]
            asked += bool(others[row])
            known += bool(len(steps))
        actions = engine.sample_actions()
        recall.note(seen, actions[rows])
        for row in range(GAMES):
            if engine.seat[row] == 0:
                decided[row].append((engine.observation[row, :size].tobytes(), int(actions[row])))
            elif actions[row] < TAKE and decided[row]:
                others[row].append(int(actions[row]))
        engine.step(actions)
        for row in np.flatnonzero(engine.finished):
            decided[row], others[row] = [], []
        new_deal = (engine.state.deal_number != deal) | engine.finished
        for row in np.flatnonzero(new_deal):
            others[row] = []
        deal = engine.state.deal_number.copy()
    assert known > 0.9 * asked > 100


@kernel
def _weigh_rows(
    compiled: np.ndarray,
    weights: Weights,
    observations: np.ndarray,
    memory: Memory,
    state: np.ndarray,
    beliefs: np.ndarray,
    network_scratches: np.ndarray,
    workspace: Workspace,
    out: np.ndarray,
) -> None:
    """Write the log chances of the true world, and then of sampled ones, into a row of `out`, (B, 1 + worlds)."""
    rules, worlds, scratch = compiled[0], workspace.worlds[0], workspace.listing[0].scratch
    for row in range(len(observations)):
        remember(rules, memory, row, beliefs[0], worlds, scratch)
        if beliefs[0].count == 0:
            continue
        out[row, 0] = log_likelihood(rules, weights, 1.0, state[row], beliefs[0], network_scratches[0], scratch)
        look_around(rules, observations[row], worlds, scratch)
        for world in range(1, out.shape[1]):
            seed, worlds.game = world_seed(np.uint64(7 + row), world), worlds.root
            complete(rules, observations[row], seed, True, worlds.game, worlds, scratch)
            out[row, world] = log_likelihood(
                rules, weights, 1.0, worlds.game, beliefs[0], network_scratches[0], scratch
            )


@pytest.mark.parametrize("rules", [MAIN, Rules.preset("kasino-sweden", players=2)], ids=str)
def test_plays_of_the_network_tell_of_its_hand(rules: Rules) -> None:
    """Against the network itself the true hand gains on sampled ones; a proper weight can't lose on the mean."""
    inputs = inputs_of(rules)
    weights, recall = Weights.of(some_network(inputs), inputs), Recall(rules.observation_size)
    engine = Engine(rules, 64, seed=2)
    other = LearnedAgent(weights, rules, "it", seed=3, temperature=1.0, solver=False)
    gains = []
    for _ in range(60):
        actions = engine.sample_actions()
        rows, theirs = np.flatnonzero(engine.seat == 0), np.flatnonzero(engine.seat == 1)
        actions[theirs] = other.act(engine.observation[theirs], engine.action_mask[theirs])
        logs = np.full((len(rows), 33), np.nan)
        _weigh_rows(
            compile_rules(rules), weights, engine.observation[rows], recall.recall(engine.observation[rows]),
            handle(engine.state[rows]), handle(records(BELIEF, 1)), make_network_scratch(), make_workspace(), logs,
        )  # fmt: skip
        logs = logs[~np.isnan(logs[:, 0])]
        gains += list(logs[:, 0] - np.log(np.exp(logs).mean(axis=1)))
        recall.note(engine.observation[rows], actions[rows])
        engine.step(actions)
    assert len(gains) > 500
    assert np.isfinite(gains).all()
    assert np.mean(gains) > 3 * np.std(gains) / len(gains) ** 0.5


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


def play(agent: Guided, steps: int = 24) -> list[list[int]]:
    """Let an agent play seat 0 of some games against random plays, and return its actions."""
    engine, played = Engine(agent.rules, 8, seed=6), []
    for _ in range(steps):
        actions, rows = engine.sample_actions(), np.flatnonzero(engine.seat == 0)
        if len(rows):
            actions[rows] = agent.act(engine.observation[rows], engine.action_mask[rows])
            assert (engine.action_mask[rows, actions[rows]] == 1).all()
        played.append(actions[rows].tolist())
        engine.step(actions)
    return played


def test_a_guided_agent_that_weighs_worlds_is_seeded_and_the_same_on_threads(tmp_path: Path) -> None:
    model = str(save_model(tmp_path / "model", some_network(), MAIN))
    options = {"model": model, "worlds": 6, "proposals": 5, "prior": 0.0}
    first = play(Guided(MAIN, 1, **options))
    assert first == play(Guided(MAIN, 1, **options)) == play(Guided(MAIN, 1, threads=2, **options))
    assert first != play(Guided(MAIN, 1, **{**options, "proposals": 1}))
    assert len(play(Guided(MAIN, 1, ms=1000.0, **options))) == len(first)


def test_among_more_players_worlds_are_not_weighed(tmp_path: Path) -> None:
    rules = Rules.preset("krypkasino", players=3)
    model = str(save_model(tmp_path / "model", some_network(), rules))
    weighed, plain = (Guided(rules, 1, model=model, worlds=3, proposals=number) for number in (4, 1))
    assert play(weighed) == play(plain)
