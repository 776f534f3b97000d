"""What the engine and the agents are handed: observations, masks, states, and random rules.

Damage is refused, or what is made of it is played on with every invariant.
"""

from __future__ import annotations

import random
from functools import cache, partial

import numpy as np
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
    """Return an observation or a mask, (N,) int8, with one to three changes, half of them in its small blocks."""
    numbers = numbers.copy()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        block = rng.choice(list(LAYOUT.values())) if rng.random() < 0.5 and len(numbers) >= SIZE else slice(0, None)
        part = numbers[block]
        at, other = rng.randrange(len(part)), rng.randrange(len(part))
        kind = rng.randrange(4)
        if kind == 0:
            part[at] = rng.choice(VALUES)
        elif kind == 1:
            part[at : at + 1] += rng.choice((-1, 1))
        elif kind == 2:
            part[[at, other]] = part[[other, at]]
        else:
            part[at:other] = rng.choice(VALUES)
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
    "champion(worlds=2)",
)  # fmt: skip
make = cache(agents.make)


@fuzzer(share=2, rng=seeded)
def handed(tally: Tally, rng: random.Random) -> None:
    """An agent that is handed a mutant answers with an action that the mask allows, or refuses it."""
    rules, engine, row = draw_row(rng, list(RULES))
    agent = make(rng.choice(AGENTS), rules)
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
        numbers = state[rng.choice([name for name in GAME.names if name != "rng"])].reshape(-1)
        if rng.random() < 0.2 or numbers.dtype == np.bool_:
            numbers = state.view(np.uint8).reshape(-1) if numbers.dtype != np.bool_ else numbers.view(np.uint8)
            numbers[rng.randrange(len(numbers))] ^= 1 << rng.randrange(8)
            continue
        at, bounds = rng.randrange(len(numbers)), np.iinfo(numbers.dtype)
        number = int(numbers[at])
        value = rng.choice((bounds.min, bounds.max, -1, 0, 1, 1000, number + 1, number - 1, 1 << rng.randrange(63)))
        numbers[at] = min(max(value, bounds.min), bounds.max)
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


@fuzzer(share=0.2, rng=seeded)
def rules(tally: Tally, rng: random.Random) -> None:
    """Random rules with some fields of others are refused, or played with every invariant, and searched."""
    other = Rules.random(rng.getrandbits(64))
    mixed = {field: getattr(other, field) for field in rng.sample(FIELDS, rng.choice((0, 1, 2, 5)))}
    base = Rules.random(rng.getrandbits(64))
    rules = attempt(partial(base.replace, **mixed), tally, (str(base), mixed))
    if rules is REFUSED:
        return
    play = CheckedPlay(rules, rng.randrange(1 << 32))
    for _ in range(LOOK_AFTER):
        play.go_on()
    engine = Engine.from_state(rules, play.engine.state[:4], features=True)
    for name in ("tactician", "search(worlds=1,plies=1)"):
        engine.step(agents.make(name, rules).act(engine.observation, engine.action_mask))
