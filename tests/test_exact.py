"""Small games solved exactly: by the sequence form of OpenSpiel's tree, by hand, and by play."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, hstack
from typer.testing import CliRunner

from krypenv import Rules, agents
from krypenv.agents.solved import FACTS, STRATEGY, StrategyError, load_strategy
from krypenv.training import duplicate_match
from krypenv.training.cli.commands import app
from krypenv.training.exact.counting import size_of
from krypenv.training.exact.growing import SOLVED, estimate_first_deal, grow
from krypenv.training.exact.solving import measure, respond, solve
from krypenv.training.exact.strategies import save
from krypenv.training.exact.tree import HISTORIES

SWEEP = Rules.preset("mini-sweep")
GAP = 1e-4
# Games in which no capture is named card by card, so that OpenSpiel's tree has one way to each information set.
BOTH_WAYS = ["mini-sweep", "mini-mulle", "mini-sweep goal=high"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an equilibrium of mini-sweep."""
    return save(tmp_path_factory.mktemp("strategies") / "sweep", solve(SWEEP, GAP, sees=True))


def sequence_form(name: str) -> tuple[float, list[int]]:
    """The value of a game by linear programming over OpenSpiel's tree, and each seat's number of information sets."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is an extra")
    from krypenv.envs.openspiel import parameters_of

    rules = Rules.parse(name)
    game = pyspiel.load_game("krypenv", {**parameters_of(rules), "sorted_deals": True})
    sequences: list[dict] = [{None: 0}, {None: 0}]
    infosets: list[dict] = [{}, {}]
    payoffs: dict[tuple[int, int], float] = {}

    def walk(state, own, chance) -> None:
        if state.is_terminal():
            payoffs[own] = payoffs.get(own, 0.0) + chance * state.returns()[0]
        elif state.is_chance_node():
            for action, probability in state.chance_outcomes():
                walk(state.child(action), own, chance * probability)
        else:
            seat, view = state.current_player(), state.information_state_string()
            parent, children = infosets[seat].setdefault(view, (own[seat], []))
            assert parent == own[seat]
            for action in state.legal_actions():
                if (view, action) not in sequences[seat]:
                    sequences[seat][view, action] = len(sequences[seat])
                    children.append(sequences[seat][view, action])
                after = sequences[seat][view, action]
                walk(state.child(action), (after, own[1]) if seat == 0 else (own[0], after), chance)

    walk(game.new_initial_state(), (0, 0), 1.0)

    def constraints(seat: int):
        entries = [(0, 0, 1.0)]
        for row, (parent, children) in enumerate(infosets[seat].values(), 1):
            entries += [(row, parent, -1.0), *((row, child, 1.0) for child in children)]
        rows, columns, values = zip(*entries, strict=True)
        return coo_matrix((values, (rows, columns)), (len(infosets[seat]) + 1, len(sequences[seat]))).tocsr()

    own, other = constraints(0), constraints(1)
    matrix = coo_matrix((list(payoffs.values()), tuple(zip(*payoffs, strict=True))), (own.shape[1], other.shape[1]))
    cost = np.zeros(own.shape[1] + other.shape[0])
    cost[own.shape[1]] = -1.0
    first = np.zeros(own.shape[0])
    first[0] = 1.0
    found = linprog(
        cost,
        A_ub=hstack([-matrix.tocsr().T, other.T]).tocsr(), b_ub=np.zeros(other.shape[1]),
        A_eq=hstack([own, coo_matrix((own.shape[0], other.shape[0]))]).tocsr(), b_eq=first,
        bounds=[(0, None)] * own.shape[1] + [(None, None)] * other.shape[0],
    )  # fmt: skip
    return -found.fun, [len(each) for each in infosets]


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_the_value_is_that_of_the_sequence_form(name: str) -> None:
    value, infosets = sequence_form(name)
    rules = Rules.parse(name)
    assert solve(rules, GAP).value == pytest.approx(value, abs=GAP)
    assert list(size_of(grow(rules, keeps_all=True)).infosets) == infosets


@pytest.mark.parametrize("name", [name for name in SOLVED if name != "mini-count"])
def test_nobody_gains_on_an_equilibrium(name: str) -> None:
    solved = solve(Rules.preset(name), GAP)
    assert -1e-9 <= solved.exploitability <= GAP
    own, other = solved.best
    assert -other - 1e-9 <= solved.value <= own + 1e-9


def test_a_game_of_one_card_each_is_worth_what_can_be_counted_by_hand() -> None:
    """Two aces and two twos; a hand of one card, and two cards on the table: nobody has a choice."""
    rules = Rules(name="mini-low", ranks=(1, 2), suits=(1, 3), packs=1, first_deal=((1, 2),), later_deal=((1, 0),))
    found = solve(rules, GAP)
    totals = []
    for deck in {tuple(np.random.default_rng(seed).permutation(4)) for seed in range(400)}:
        kinds = [13, 14, 39, 40]  # AD 2D AS 2S
        totals.append(_played_out(rules, [kinds[at] for at in deck]))
    assert len(totals) == 24
    assert found.value == pytest.approx(np.mean(totals))


def _played_out(rules: Rules, deck: list[int]) -> float:
    from reference import Reference

    game = Reference(rules, deck)
    while not game.over:
        legal = game.legal_actions()
        assert len(legal) == 1
        game.act(legal[0])
    own, other = game.scores()
    return other - own


def test_a_policy_that_is_known_is_answered() -> None:
    """Who always plays the first legal card is exploited; a best response beats it by what was computed."""
    solved = solve(SWEEP, GAP)
    for forest, solution in zip(solved.trees.forests, solved.solutions, strict=True):
        solution.policy[:] = 0.0
        solution.policy[forest.choice[:-1]] = 1.0
    respond(solved)
    assert solved.exploitability > 0.5


def test_agents_are_ranked_by_their_exploitability() -> None:
    found = {name: measure(name, SWEEP, 4).exploitability for name in ("random", "tactician", "search(worlds=30)")}
    assert found["random"] > found["tactician"] > found["search(worlds=30)"] >= 0


def test_a_saved_equilibrium_is_an_agent_and_hardly_exploited(saved: Path) -> None:
    player = agents.make(str(saved), SWEEP)
    assert agents.rules_of(str(saved)) == SWEEP
    assert measure(str(saved), SWEEP).exploitability <= GAP
    assert duplicate_match(player, "random", SWEEP, deals=400, seed=1).low > 0


def test_a_saved_best_response_wins_what_was_computed(tmp_path: Path) -> None:
    measured = measure("tactician", SWEEP, seeds=100)  # it draws between equal plays
    folder = save(tmp_path / "response", measured, best_response=True)
    match = duplicate_match(str(folder), "tactician", SWEEP, deals=4000, seed=2)
    assert match.low - 0.02 <= measured.exploitability <= match.high + 0.02


def test_an_agent_that_needs_the_history_says_so(saved: Path) -> None:
    player = agents.make(str(saved), SWEEP)
    with pytest.raises(ValueError, match="make the environment with history=True"):
        player.act(np.zeros((1, SWEEP.observation_size), np.int8), np.ones((1, 105), np.int8))


def test_a_strategy_that_is_torn_or_for_other_rules_is_refused(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match="can't play 'mini-mulle players=2'"):
        agents.make(str(saved), Rules.preset("mini-mulle"))
    torn = tmp_path / "torn"
    torn.mkdir()
    (torn / FACTS).write_bytes((saved / FACTS).read_bytes())
    with pytest.raises(StrategyError, match="holds no strategy"):
        load_strategy(torn)
    (torn / STRATEGY).write_bytes((saved / STRATEGY).read_bytes()[:-9])
    with pytest.raises(StrategyError, match="torn or was changed"):
        load_strategy(torn)
    facts = json.loads((saved / FACTS).read_text())
    (torn / FACTS).write_text(json.dumps({**facts, "format": 9}))
    with pytest.raises(StrategyError, match="of format 9; this version reads format 1"):
        load_strategy(torn)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ("krypkasino players=3", "for two players, and these rules have 3"),
        ("mini-low later_deal=((2,1),)", "later deals put cards on the table"),
        ("mini-low games=2", "one game, and these rules have games=2"),
        ("mini-low", r"its first deal alone has about [\d.]+e\+14 histories, which would take [\d,]+ GiB"),
        ("krypkasino", "the deck has 52 kinds of cards"),
        ("mulle-glimne", "games with builds are not solved yet"),
    ],
)
def test_rules_that_cannot_be_solved_are_refused(rules: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        solve(Rules.parse(rules))


@pytest.mark.parametrize("name", ["mini-choice", "mini-last", "mini-hidden"])
def test_how_large_a_first_deal_is_can_be_told_before(name: str) -> None:
    rules = Rules.preset(name)
    counted = grow(rules).forests[0].counts[HISTORIES]
    assert estimate_first_deal(rules) == pytest.approx(counted, rel=0.1)


def test_the_commands(tmp_path: Path) -> None:
    run = CliRunner(env={"COLUMNS": "150"}).invoke
    out = str(tmp_path / "sweep")
    first = run(app, ["solve", "mini-sweep", "--out", out])
    assert first.exit_code == 0, first.output
    assert "the first seat can expect -3.4889 points" in first.stdout
    exact = run(app, ["exploit", "greedy", "--rules", "mini-sweep", "--exact", "--json", str(tmp_path / "greedy.json")])
    assert exact.exit_code == 0, exact.output
    assert json.loads((tmp_path / "greedy.json").read_text())["exploitability"] > 0
    assert "name one preset" in run(app, ["solve"]).stderr
