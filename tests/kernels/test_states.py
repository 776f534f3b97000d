"""States from outside: each invariant that a changed number breaks is named in a sentence."""

import numpy as np
import pytest

from krypenv import Engine, Game, Rules, agents
from krypenv.cards import parse_card
from krypenv.kernels import decision_checks
from krypenv.state import GAME, allocate
from krypenv.worlds.invariants import check_state

MAIN = Rules.preset("krypkasino")
POSITIONS = {
    "a choice": "rules: krypkasino; table: 2C 3C 4C 5C 8C TD; hand 1: 2D; captured 1: rest; pending: AC; took: 2C",
    "its end": "rules: krypkasino; table: 2C 3C; hand 1: 9D; captured 1: rest",
    "piles": "rules: kasino-sweden; table: 2C 3D 4H; hand 0: 9D; hand 1: KD; captured 1: rest; pending: 5C; took: 2C",
    "mulles": "rules: mulle; table: 2C 3D; hand 0: 9D; captured 0: 4D 4D; captured 1: rest; mulles: 1 1; "
    "last-capturer: 1",
    "a session": "rules: kasino-finland games=0 threshold=16; game: 2; totals: 3 2; table: 9C; hand 1: 9D; "
    "captured 0: 2C 2D; captured 1: rest; last-capturer: 1",
    "a build": "rules: mulle-glimne; table: 4D 8H; hand 0: 9H; hand 1: 2D; build 9: 2C 3C 4D; owner 9: 0; "
    "captured 1: rest",
    "a begun build": "rules: mulle-glimne; table: 4D 9C; hand 0: 2D; hand 1: 9H; captured 1: rest; pending: 5C",
}


def state_of(name):
    """The rules and the state of a position, or of the first plays of a game."""
    if name in POSITIONS:
        game = Game.from_position(POSITIONS[name])
        return game.rules, game.state.reshape(1).copy()
    engine = Engine(MAIN, 1, seed=1)
    for _ in range(9 if name == "some plays" else 0):
        engine.step(engine.sample_actions())
    return MAIN, engine.state.view(np.ndarray).copy()


def sentence(fault):
    """What is said of a fault."""
    return decision_checks.FAULTS[getattr(decision_checks, fault)]


CARD = {name: parse_card(name) for name in ("2C", "8H", "9D", "9S", "KS")}
BROKEN = {  # by state and fault: fields, where, and what is there instead; a text is added
    ("a deal", "HANDS"): [("deal_number", (), 0), ("deal_number", (), 13), ("next_card", (), "1"),
        ("hands", (0, CARD["KS"]), -1), ("hand_size", 0, "1"), ("hand_kinds", 0, "1")],
    ("a deal", "TURN"): [("seat", (), 2), ("seat", (), -1), ("dealer", (), 2), ("over", (), True),
        ("cut_short", (), True), ("last_capturer", (), 0)],
    ("some plays", "TURN"): [("last_seat", (), 2), ("last_capturer", (), 6), ("seat", (), 0),
        ("last_capturer", (), -1)],
    ("a deal", "PLAY"): [("pending", (), 52), ("last_card", (), -2), ("last_sweep", (), 3), ("build_value", (), 9)],
    ("a build", "PLAY"): [("build_value", (), 17)],
    ("a deal", "BUILDS"): [("builds", (), 2), ("taken_builds", (), 1 << 9), ("multiple_builds", (), 2),
        ("legal_builds", (), 1)],
    ("a build", "BUILDS"): [("builds", (), 1), ("built", CARD["8H"], 8), ("built", CARD["2C"], 0),
        ("built", CARD["2C"], 255), ("build_owner", 9, 2), ("build_owner", 8, 1), ("multiple_builds", (), 1 << 9)],
    ("a deal", "SESSION"): [("game_number", (), 0), ("game_number", (), 2), ("totals", 0, 1)],
    ("a session", "SESSION"): [("game_number", (), 1_000_001), ("totals", 0, 10**9 + 1),
        ("total_sweeps", 1, -(10**9) - 1), ("totals", 0, 16)],
    ("some plays", "POINTS"): [("points", 0, 1_000_001), ("sweeps", 0, 105), ("sweeps", 0, -1), ("points", 0, "1"),
        ("bonus", 0, 1), ("sweeps", 1, 50), ("void_sweeps", 1, 1), ("mulles", 1, 1)],
    ("a deal", "CARDS"): [("deck", 0, "1"), ("deck", 103, -1), ("deck", 103, 52), ("table", CARD["KS"], -1),
        ("taken", CARD["KS"], 3)],
    ("a choice", "CARDS"): [("taken", CARD["KS"], -1)],
    ("some plays", "CARDS"): [("seen", CARD["9S"], "1")],
    ("its end", "CARDS"): [("set_aside", CARD["9S"], 1), ("table", CARD["9S"], 3)],
    ("a choice", "PLAY"): [("taken", CARD["9D"], 1), ("taken_ranks", (), "1")],
    ("some plays", "HOLDS"): [("cannot_hold", 1, 1)],
    ("some plays", "TABLE_CARDS"): [("table_ranks", (), "1"), ("table_sum", (), "1")],
    ("a deal", "KNOWN"): [("cannot_hold", 0, 2)],
    ("some plays", "KNOWN"): [("cannot_hold", 0, 1 << 14)],
    ("piles", "KNOWN"): [("cannot_hold", 0, 1)],
    ("mulles", "POINTS"): [("mulles", 1, 53), ("mulle_scores", 1, 1), ("cards_won", 0, 1), ("mulles", 0, 2)],
    ("piles", "POINTS"): [("cards_won", 0, "2"), ("spades_won", 1, "-1"), ("sweeps", 0, 1),
        ("points", (), [1, 6, 0, 0, 0, 0])],
    ("a begun build", "PLAY"): [("taken_builds", (), 2)],
    ("a build", "HOLDS"): [("build_owner", 9, 1)],
    ("a begun build", "LEGAL"): [("build_value", (), 9)],
    ("a begun build", "HOLDS"): [("build_value", (), 8)],
    ("a choice", "LEGAL"): [("legal_takes", (), "1")],
    ("some plays", "LEGAL"): [("legal_plays", (), 1), ("sweep_values", (), 0)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "fault", "field", "where", "value"),
    [(*key, *change) for key, changes in BROKEN.items() for change in changes],
)
def test_a_broken_invariant_is_named(name, fault, field, where, value):
    rules, state = state_of(name)
    check_state(rules, state)
    place = (0, *np.atleast_1d(where))
    state[field][place] = state[field][place] + int(value) if isinstance(value, str) else value
    with pytest.raises(ValueError, match=f"game 0 is not from a game of {rules}: {sentence(fault)}"):
        check_state(rules, state)


OTHERS = {  # what is no state of a game of the main rules for two
    "four players": Engine(Rules.preset(players=4), 4).state,
    "a small deck": Engine(Rules.preset("mini-low"), 4).state,
    "no games": allocate(4),
    "three games": Engine(MAIN, 3).state,
    "floats": np.zeros(4),
    "nothing": None,
    "a square": np.zeros((2, 2), GAME),
}
REASON = r"game 0 is not from .* players=2: |a state is an array of .*GAME|a state of 3 games, and there are 4|on \(3, "


@pytest.mark.parametrize("state", OTHERS.values(), ids=OTHERS)
def test_a_state_of_something_else_is_refused_and_changes_nothing(state):
    engine, oracle = Engine(MAIN, 4, seed=2), agents.make("oracle-hand", MAIN)
    before, is_short = engine.state.copy(), state is OTHERS["three games"]
    calls = [lambda: engine.set_state(state), lambda: oracle.act_on(state, engine.action_mask)]
    calls += [lambda: Engine.from_state(MAIN, state)] * (not is_short)
    for call in calls:
        with pytest.raises(ValueError, match=REASON):
            call()
    assert (engine.state == before).all()


def test_masks_of_another_state_are_refused():
    engine, oracle = Engine(MAIN, 4, seed=2), agents.make("oracle-hand", MAIN)
    with pytest.raises(ValueError, match=sentence("MASK")):
        oracle.act_on(engine.state, engine.action_mask[::-1])


def test_who_owns_the_state_may_go_on_without_a_check():
    engine = Engine(MAIN, 4, seed=2)
    twin = Engine.from_state(MAIN, engine.state, check=False)
    twin.set_state(engine.state, check=False)
    assert (twin.observation == engine.observation).all()
