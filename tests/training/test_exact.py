"""Small games solved exactly: by the sequence form of OpenSpiel's tree, by hand, and by play."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy
from open_spiel.python.algorithms.exploitability import exploitability
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, hstack
from support.commands import krypenv

from krypenv import Rules, agents
from krypenv.agents.solved import FORMAT, KIND, STRATEGY, load_strategy
from krypenv.envs.chance import CoursePlan
from krypenv.envs.course import CHANCE, TERMINAL, Course
from krypenv.envs.openspiel import load, parameters_of
from krypenv.inputs.artifacts import read_artifact, write_artifact
from krypenv.training import duplicate_match
from krypenv.training.runs import tasks
from krypenv.training.solving import SOLVED, Solved, grow, measure, save, saving, size_of, solve, solve_into
from krypenv.training.solving.deal_tree import HISTORIES
from krypenv.training.solving.growing import estimate_first_deal
from krypenv.training.solving.solving import FORMAT as KEPT_FORMAT, KIND as KEPT_KIND

SWEEP = Rules.preset("mini-sweep")
GAP = 1e-4
# Games that are solved both ways. In those of the second list some captures are named card by card: OpenSpiel's tree
# has an information set for each way to name them, and ours a single one.
LARGEST = "mini-kasino"
BOTH_WAYS = ["mini-sweep", "mini-mulle", LARGEST, "mini-sweep goal=high"]
WITH_ORDERS = ["mini-choice", "mini-copies", "mini-choice sweep_points=3"]
LONG = [LARGEST, "mini-choice", "mini-choice sweep_points=3"]  # a linear program of minutes; with an old scipy, of one


@cache
def solved(name: str) -> Solved:
    """An equilibrium, solved once."""
    return solve(Rules.parse(name), GAP)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an equilibrium of mini-sweep."""
    return save(tmp_path_factory.mktemp("strategies") / "sweep", solve(SWEEP, GAP, sees=True))


def sequence_form(name: str) -> tuple[float, list[int]]:
    """The value of a game by linear programming over OpenSpiel's tree, and each seat's number of information sets."""
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


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in (*BOTH_WAYS, *WITH_ORDERS)],
)
def test_the_value_is_that_of_the_sequence_form(name: str) -> None:
    value, infosets = sequence_form(name)
    rules = Rules.parse(name)
    assert solved(name).value == pytest.approx(value, abs=GAP)
    ours = size_of(grow(rules, keeps_all=True)).infosets
    if name in BOTH_WAYS:
        assert list(ours) == infosets
    else:
        assert ours[0] < infosets[0]
        assert ours[1] < infosets[1]


def without_orders(text: str) -> str:
    """What a seat remembers, without the order in which it named the cards of its captures and of a pending one."""
    return re.sub(r"\+[\w+]+(?=\.\.)", lambda found: "".join(sorted(found[0].split("+"))), re.sub(r"~\S+", "", text))


@pytest.mark.parametrize("name", ["mini-copies", "mini-choice forced_sweep=False"])
def test_information_sets_are_what_a_walk_counts(name: str) -> None:
    """Each text that a seat remembers where it is to act, its hands and all plays, less the orders in its captures."""
    rules = Rules.parse(name)
    found: tuple[set[str], set[str]] = set(), set()
    nodes = [Course(CoursePlan(rules, sorted_deals=True))]
    while nodes:
        course = nodes.pop()
        if course.turn == CHANCE:
            nodes += [course.after(kind) for kind, _ in course.chance_outcomes()]
        elif course.turn != TERMINAL:
            found[course.turn].add(without_orders(course.recall(course.turn)))
            nodes += [course.after(action) for action in course.legal_actions()]
    assert size_of(grow(rules, keeps_all=True)).infosets == tuple(map(len, found))


@pytest.mark.parametrize("name", [name for name in SOLVED if name not in ("mini-hidden", "mini-count")])
def test_nobody_gains_on_an_equilibrium(name: str) -> None:
    found = solved(name)
    assert -1e-9 <= found.exploitability <= GAP
    own, other = found.best
    assert -other - 1e-9 <= found.value <= own + 1e-9


def test_agents_are_ranked_by_their_exploitability() -> None:
    found = {name: measure(name, SWEEP, 4).exploitability for name in ("random", "tactician", "search(worlds=30)")}
    assert found["random"] > found["tactician"] > found["search(worlds=30)"] >= 0


class FirstAction:
    """The first legal action, wherever it is asked."""

    name = "first"

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return np.eye(masks.shape[1])[masks.argmax(axis=1)]


def test_exploitability_is_that_of_openspiel() -> None:
    """In points a game, for uniform play and for a policy that is far from it."""
    rules = Rules.preset("mini-mulle")
    tree = pyspiel.convert_to_cached_tree(load(rules, sorted_deals=True))
    lowest = policy.tabular_policy_from_callable(tree, lambda state: {min(state.legal_actions()): 1.0})
    first = exploitability(tree, lowest)
    assert measure(FirstAction(), rules).exploitability == pytest.approx(first)  # type: ignore[arg-type]
    even = exploitability(tree, policy.UniformRandomPolicy(tree))
    assert measure("random", rules).exploitability == pytest.approx(even)
    assert even != pytest.approx(first, rel=0.01)


def test_an_agent_that_remembers_makes_its_earlier_decisions_first() -> None:
    rules = Rules.parse(
        "mini-sweep ranks=(1,5,9) first_deal=((3,0),)"
    )  # no card takes a sum, so each play is an action
    first = measure(FirstAction(), rules)  # type: ignore[arg-type]
    told, remembered = (
        measure(agents.typed(f"support.solving:Alternating(remembers={remembers})"), rules)
        for remembers in (False, True)
    )
    assert (remembered.value, remembered.best) == (told.value, told.best) != (first.value, first.best)


def test_a_saved_equilibrium_is_an_agent_and_hardly_exploited(saved: Path) -> None:
    player = agents.make(str(saved), SWEEP)
    assert agents.rules_of(str(saved)) == SWEEP
    assert measure(str(saved), SWEEP).exploitability <= GAP
    assert duplicate_match(player, "random", SWEEP, deals=400, seed=1).low > 0


def test_a_saved_best_response_wins_what_was_computed(tmp_path: Path) -> None:
    measured = measure("tactician", SWEEP, seeds=100)  # it draws between equal plays
    folder = save(tmp_path / "response", measured, best_response=True)
    match = duplicate_match(str(folder), "tactician", SWEEP, deals=2000, seed=2)
    assert match.low - 0.02 <= measured.exploitability <= match.high + 0.02


def test_an_agent_that_needs_the_history_says_so(saved: Path) -> None:
    player = agents.make(str(saved), SWEEP)
    with pytest.raises(ValueError, match="make the environment with history=True"):
        player.act(np.zeros((1, SWEEP.observation_size), np.int8), np.ones((1, 105), np.int8))


def test_a_strategy_that_is_torn_or_for_other_rules_is_refused(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="can't play 'mini-mulle players=2'"):
        agents.make(str(saved), Rules.preset("mini-mulle"))
    with pytest.raises(ValueError, match="holds no strategy"):
        load_strategy(tmp_path)
    path, (arrays, facts) = tmp_path / STRATEGY, load_strategy(saved)
    path.write_bytes((saved / STRATEGY).read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"strategy\.safetensors is torn, or no strategy"):
        load_strategy(tmp_path)
    write_artifact(path, KIND, FORMAT, arrays._asdict(), {**facts, "observation_version": 0})
    with pytest.raises(ValueError, match="for observations of version 0"):
        load_strategy(tmp_path)
    for name in arrays._asdict():
        shorter = {**arrays._asdict(), name: getattr(arrays, name)[:-1]}
        write_artifact(path, KIND, FORMAT, shorter, facts)
        with pytest.raises(ValueError, match="are not those of one strategy"):
            load_strategy(tmp_path)


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


@pytest.mark.parametrize("name", ["mini-choice", "mini-last"])
def test_how_large_a_first_deal_is_can_be_told_before(name: str) -> None:
    rules = Rules.preset(name)
    counted = grow(rules).forests[0].counts[HISTORIES]
    assert estimate_first_deal(rules) == pytest.approx(counted, rel=0.1)


class Killed(Exception):
    """What stands for the end of the process."""


def test_a_solve_that_is_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed again and again, each time before it has kept more, and ends with the same bytes."""
    append, last = tasks.append, Rules.preset("mini-last")
    kept: list[str] = []

    def kill(file: Any, values: dict[str, Any]) -> None:
        kept.append(values["key"])
        if len(kept) % 2:
            raise Killed
        append(file, values)

    solve_into(tmp_path / "unbroken", last, GAP)
    monkeypatch.setattr(tasks, "append", kill)
    for _ in range(2):
        with pytest.raises(Killed):
            solve_into(tmp_path / "broken", last, GAP)
    solve_into(tmp_path / "broken", last, GAP)
    assert kept == ["deals 2", "deals 2", "deals 1", "deals 1"], "nothing that was kept is solved again"
    one, other = ((tmp_path / name / STRATEGY).read_bytes() for name in ("broken", "unbroken"))
    assert one == other
    assert not list((tmp_path / "broken").glob("solved-*"))


def test_what_was_kept_by_another_solve_or_is_torn_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "remove_kept", lambda folder: None)  # as after a kill at the end
    solve_into(tmp_path, SWEEP, GAP, 1000)
    with pytest.raises(ValueError, match=r"holds a solve with gap 0\.0001, not 0\.001; give another --out"):
        solve_into(tmp_path, SWEEP, 1e-3, 1000)
    with pytest.raises(ValueError, match="holds a solve with rules 'mini-sweep players=2'"):
        solve_into(tmp_path, Rules.parse("mini-sweep goal=high"), GAP, 1000)
    path = tmp_path / "solved-deals-1.safetensors"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ValueError, match=r"solved-deals-1.safetensors was changed.*remove it"):
        solve_into(tmp_path, SWEEP, GAP, 1000)
    path.write_bytes(data)
    arrays, about = read_artifact(path, KEPT_KIND, KEPT_FORMAT)
    write_artifact(path, KEPT_KIND, KEPT_FORMAT, {**arrays, "values": arrays["values"][:-1]}, about)
    with pytest.raises(ValueError, match="belongs to other trees than this version grows; remove it"):
        solve_into(tmp_path, SWEEP, GAP, 1000)


def test_the_commands(tmp_path: Path) -> None:
    first = krypenv("solve", "mini-sweep", "--out", tmp_path / "sweep")
    assert "the first seat can expect -3.4889 points" in first.stdout
    krypenv("exploit", "greedy", "--rules", "mini-sweep", "--exact", "--json", tmp_path / "greedy.json")
    assert json.loads((tmp_path / "greedy.json").read_text())["exploitability"] > 0
