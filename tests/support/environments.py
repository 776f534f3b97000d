"""Environments that differ in their games, spaces, episodes or payments, and play in them."""

import numpy as np
import pytest

from krypenv import kasino_v0, krypkasino_v0, mulle_v0
from krypenv.families import krypkasino

KRYPKASINO = {
    "2 players": {},
    "3 players": {"players": 3, "features": True, "history": True, "reward": "win", "dense": True},
    "4 in 2 teams": {"players": 4, "teams": 2, "games": 2, "dense": True},
    "5 players": {"players": 5, "reward": "points", "dense": True},
    "6 in 2 teams": {"players": 6, "teams": 2},
    "6 in 3 teams": {"players": 6, "teams": 3, "reward": "points"},
    "to 60": {"games": 0, "threshold": 60},
    "V1, V2, V3": {"first_deal": "six_table", "last_capture_points": 1, "set_aside": "spades"},
    "howto of 4": {"variant": "howto", "players": 4, "teams": 2},
    "H5": {"variant": "howto", "packs": 1, "forced_sweep": False, "storan_points": 0, "initial_match_bonus": -5},
    **{name: {"variant": name, "games": 2} for name in krypkasino.PRESETS if name.startswith("mini")},
}
KASINO = {
    "kasino of 3": {"players": 3},
    "kasino, teams": {"players": 4, "teams": 2, "dense": True},
    "kasino to 16": {"games": 0, "threshold": 16, "reward": "win"},
    "kasino, misere": {"goal": "low", "reward": "points", "dense": True},
    "kasino, maximal": {"capture": "maximal", "forced_sweep": True},
    "overspader": {"variant": "overspader", "players": 3, "reward": "win", "dense": True},
    "finland": {"variant": "finland", "forced_sweep": True},
    "finland to 16": {"variant": "finland", "games": 0, "threshold": 16, "reward": "win", "dense": True},
    "finland, teams": {"variant": "finland", "players": 4, "teams": 2, "games": 2, "dense": True},
    "laistokasino of 3 to 16": {"variant": "laistokasino", "players": 3, "games": 0, "threshold": 16, "reward": "win"},
}
MULLE = {
    "mulle of 3": {"players": 3},
    "mulle, teams": {"variant": "sassersson", "players": 4, "teams": 2},
    "mulle to 40": {"games": 0, "threshold": 40, "reward": "win", "dense": True},
    "glimne": {"variant": "glimne", "features": True},
    "glimne, teams": {"variant": "glimne", "players": 4, "teams": 2, "dense": True},
}
ENVIRONMENTS = {
    name: (module, arguments)
    for module, listed in ((krypkasino_v0, KRYPKASINO), (kasino_v0, KASINO), (mulle_v0, MULLE))
    for name, arguments in listed.items()
}
SOME = ("2 players", "3 players", "4 in 2 teams", "mini-choice", "finland to 16", "laistokasino of 3 to 16", "glimne")
every_environment = pytest.mark.parametrize(("module", "arguments"), ENVIRONMENTS.values(), ids=ENVIRONMENTS)
some_environments = pytest.mark.parametrize(("module", "arguments"), [ENVIRONMENTS[name] for name in SOME], ids=SOME)


def play(env, seed, rng, options=None):
    """Play an episode at random; yields after each step what each agent was paid in `last()` so far."""
    env.reset(seed=seed, options=options)
    paid = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        paid[agent] += reward
        is_over = terminated or truncated
        env.step(None if is_over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        yield paid


def tie_breaks_of(game):
    """What decides between equal totals, for the side of each seat: spades (K6), or in Finland points first (F7)."""
    rules = game.rules
    if rules.tie_break not in ("spades", "finnish"):
        return np.zeros(rules.players, np.int64)
    sides = [range(seat % rules.num_teams, rules.players, rules.num_teams) for seat in range(rules.players)]
    piles = [[card for seat in side for card in game.captured(seat)] for side in sides]
    spades = np.array([sum(card[1] == "S" for card in pile) for pile in piles])
    points = np.array([sum(map(game.points, side)) for side in sides])
    cards = np.array(list(map(len, piles)))
    return spades if rules.tie_break == "spades" else (points * 1000 + spades) * 1000 + cards
