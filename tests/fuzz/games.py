"""Fuzzers of what the engine and the agents are handed: observations, masks, states, and rules."""

from __future__ import annotations

import dataclasses
import random
from functools import cache, partial
from typing import Any

import numpy as np
from support.beside import play_beside
from support.checked_play import LOOK_AFTER, CheckedPlay
from support.fuzzing import REFUSED, Tally, attempt, fuzzer, seeded
from support.games import RULES, seen_by
from support.relatives import ALL_RELATIVES as RELATIVES

from krypenv import Engine, Rules, agents, determinize
from krypenv.observation import LAYOUT, SIZE
from krypenv.rules import FIELDS
from krypenv.state import GAME
from krypenv.worlds.invariants import check_state

SESSIONS = (
    "krypkasino players=2 games=0 threshold=500",
    "krypkasino players=3 games=0 threshold=5000",
    "krypkasino players=3 games=300 sweep_points=20",
    "krypkasino players=2 games=2 spade_points=20 ace_points=20",
    "mini-low players=5 later_deal=((1,0),) first_deal=((1,3),) games=129",
    "mini-high players=3 games=0 threshold=9000 sweep_points=20",
    "mini-low players=2 first_deal=((2,0),) later_deal=((1,1),)",
)
PLAYABLE = {**RULES, **RELATIVES, **{text: Rules.parse(text) for text in SESSIONS}}
ROWS = 48
VALUES = (-128, -127, -101, -2, -1, 0, 1, 2, 3, 4, 5, 8, 13, 26, 27, 52, 104, 126, 127)


@cache
def played(text: str) -> list[Engine]:
    """Return engines of some rules at several moments of random play, long sessions among them."""
    rules = PLAYABLE[text]
    engine = Engine(rules, ROWS, seed=len(text))
    moments = []
    for steps in (0, 1, 3, 7, 15, 30, 61, 120, 250) + ((3000,) if rules.games != 1 else ()):
        for _ in range(steps):
            engine.step(engine.sample_actions())
        moments.append(engine.copy())
    return moments


def draw_row(rng: random.Random, texts: list[str] | None = None) -> tuple[Rules, Engine, int]:
    """Return some rules, an engine of theirs, and one of its rows."""
    text = rng.choice(texts or list(PLAYABLE))
    return PLAYABLE[text], rng.choice(played(text)), rng.randrange(ROWS)


def mutate_numbers(numbers: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return an observation or a mask, (N,) int8, with one to three changes."""
    numbers = numbers.copy()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, other = rng.randrange(len(numbers)), rng.randrange(len(numbers))
        if len(numbers) >= SIZE and rng.random() < 0.5:  # in the small blocks, which are seldom hit else
            part = LAYOUT[rng.choice(list(LAYOUT))]
            at, other = rng.randrange(part.start, part.stop), rng.randrange(part.start, part.stop)
        kind = rng.randrange(4)
        if kind == 0:
            numbers[at] = rng.choice(VALUES)
        elif kind == 1:
            numbers[at] = np.clip(int(numbers[at]) + rng.choice((-1, 1)), -128, 127)
        elif kind == 2:
            numbers[[at, other]] = numbers[[other, at]]
        else:
            numbers[at:other] = rng.choice(VALUES)
    return numbers


def go_on(engine: Engine, steps: int) -> None:
    """Play some random actions, and check every invariant after each."""
    for _ in range(steps):
        check_state(engine.rules, engine.state)
        assert engine.action_mask.any(axis=1).all()
        engine.step(engine.sample_actions())


@fuzzer(share=2, rng=seeded)
def observations(tally: Tally, rng: random.Random) -> None:
    """A mutant of an observation is shown by the world that it is completed to, or refused."""
    rules, engine, row = draw_row(rng)
    viewers = np.full(ROWS, rng.randrange(rules.players))
    seen = mutate_numbers(seen_by(engine, viewers)[row], rng)
    world = attempt(partial(determinize, seen, rng.randrange(1000), rules), tally, (str(rules), seen.tolist()))
    if world is not REFUSED and not world.over[0]:
        viewer = rules.players - 1 - int(seen[LAYOUT["dealer"]].argmax())
        going = Engine.from_state(rules, world)
        assert (seen_by(going, np.array([viewer]))[0] == seen).all()
        go_on(going, 6)


AGENTS = (
    "random", "greedy", "tactician(shed=True)", "rollout(worlds=2)", "search(worlds=2)", "ismcts(worlds=4)",
    "champion(worlds=2)", "champion(worlds=0)",
)  # fmt: skip


@cache
def player(name: str, rules: Rules) -> Any:
    """Return an agent, made once; None where the network is for other rules."""
    if name == "champion(worlds=0)" and str(rules) not in ("krypkasino players=2", "krypkasino players=4 teams=2"):
        return None
    return agents.make(name, rules)


@fuzzer(share=2, rng=seeded)
def handed(tally: Tally, rng: random.Random) -> None:
    """An agent that is handed a mutant answers with an action that the mask allows, or refuses it."""
    rules, engine, row = draw_row(rng, list(RULES))
    agent = player(rng.choice(AGENTS), rules)
    if agent is None:
        return
    seen, mask = engine.observation[row], engine.action_mask[row]
    kind = rng.randrange(3)
    seen = mutate_numbers(seen, rng) if kind != 1 else seen
    mask = mutate_numbers(mask, rng) if kind != 0 else mask
    what = agent.name, str(rules), seen.tolist(), mask.tolist()
    rows = np.stack([engine.observation[0], seen]), np.stack([engine.action_mask[0], mask])
    actions = attempt(partial(agent.act, *rows), tally, what)
    assert actions is REFUSED or mask[actions[1]], what


def mutate_state(state: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return a state of one game with one to three changes of numbers, or of bytes."""
    state = state.copy()
    for _ in range(rng.choice((1, 1, 2, 3))):
        if rng.random() < 0.2:
            data = state.view(np.uint8).reshape(-1)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            continue
        numbers = state[rng.choice([name for name in GAME.names if name != "rng"])].reshape(-1)
        at = rng.randrange(len(numbers))
        if numbers.dtype == np.bool_:
            numbers[at] ^= True
            continue
        low, high = np.iinfo(numbers.dtype).min, np.iinfo(numbers.dtype).max
        value = rng.choice(
            (low, high, -1, 0, 1, 1000, int(numbers[at]) + 1, int(numbers[at]) - 1, 1 << rng.randrange(63))
        )
        numbers[at] = min(max(value, low), high)
    return state


@fuzzer(share=2, rng=seeded)
def states(tally: Tally, rng: random.Random) -> None:
    """A mutant of a state is played on with every invariant, or refused, and then nothing is changed."""
    rules, engine, row = draw_row(rng)
    other = rng.choice(list(PLAYABLE.values())) if rng.random() < 0.1 else rules
    state = mutate_state(engine.state[row : row + 1], rng)
    if rng.random() < 0.5:
        going = attempt(partial(Engine.from_state, other, state), tally, (str(other), state))
    else:
        going = Engine(other, 1, seed=1)
        before = going.observation.copy()
        if attempt(partial(going.set_state, state), tally, (str(other), state)) is REFUSED:
            assert (going.observation == before).all()
            going = REFUSED
    if going is not REFUSED:
        go_on(going, 6)


# ---------------------------------------------------------------------- random rules

REFERENCE_PLIES = 40


def mixed_rules(tally: Tally, rng: random.Random) -> Any:
    """Return random rules with some fields of others, or REFUSED where they don't go together."""
    base, other = (Rules.random(rng.getrandbits(64)) for _ in range(2))
    mixed = {field: getattr(other, field) for field in rng.sample(FIELDS, rng.choice((0, 1, 2, 5)))}
    return attempt(partial(dataclasses.replace, base, **mixed), tally, (str(base), mixed))


@fuzzer(share=0.5, rng=seeded)
def rules(tally: Tally, rng: random.Random) -> None:
    """Random rules are refused, or played with every invariant after every ply, seen by all seats, and searched."""
    rules = mixed_rules(tally, rng)
    if rules is REFUSED:
        return
    play = CheckedPlay(rules, rng.randrange(1 << 32))
    for _ in range(2 * LOOK_AFTER):
        play.go_on()
    tally["plies"] += play.plies
    engine = Engine.from_state(rules, play.engine.state[:4], features=True)
    for viewer in range(rules.players):
        determinize(seen_by(engine, np.full(4, viewer)), viewer, rules)
    for name in ("tactician", "search(worlds=1,plies=1)"):
        engine.step(agents.make(name, rules).act(engine.observation, engine.action_mask))


@fuzzer(share=0.2, rng=seeded)
def beside_reference(tally: Tally, rng: random.Random) -> None:
    """Random rules are played as by the slow reference, which shares no code with the engine."""
    rules, style = mixed_rules(tally, rng), rng.choice(("random", "take", "choose"))
    if (
        rules is not REFUSED and sum(table for _, table in rules.deal_sizes()[:1]) <= 8
    ):  # the reference tries all sets of table cards
        played = play_beside(rules, rng.randrange(1 << 32), style, most=REFERENCE_PLIES)
        tally["plies"] += played["plies"]
