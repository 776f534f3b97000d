"""All environments of the package, and play in them."""

import numpy as np
import pytest

from krypenv import kasino_v0, krypkasino_v0, mulle_v0
from krypenv.families import krypkasino

KRYPKASINO = {
    **{f"{players} players": {"players": players} for players in range(2, 7)},
    "4 in 2 teams": {"players": 4, "teams": 2},
    "6 in 2 teams": {"players": 6, "teams": 2},
    "6 in 3 teams": {"players": 6, "teams": 3},
    "2 games": {"games": 2},
    "threshold": {"games": 0, "threshold": 60},
    "features": {"players": 3, "features": True},
    "points": {"reward": "points", "dense": True},
    "win": {"players": 3, "reward": "win", "dense": True},
    "V1": {"first_deal": "six_table"},
    "V2": {"last_capture_points": 1},
    "V3": {"set_aside": "spades"},
    "howto of 4": {"variant": "howto", "players": 4, "teams": 2},
    "H5": {"variant": "howto", "packs": 1, "forced_sweep": False, "storan_points": 0, "initial_match_bonus": -5},
    **{name: {"variant": name} for name in krypkasino.PRESETS},
}


KASINO = {
    **{f"kasino, {players} players": {"players": players} for players in (2, 3, 4)},
    "kasino, teams": {"players": 4, "teams": 2, "dense": True},
    "kasino to 16": {"games": 0, "threshold": 16, "reward": "win"},
    "kasino, misere": {"goal": "low", "reward": "points", "dense": True},
    "kasino, maximal": {"capture": "maximal", "forced_sweep": True},
    "overspader": {"variant": "overspader", "players": 3, "reward": "win", "dense": True},
    "overspader, teams": {"variant": "overspader", "players": 4, "teams": 2},
    "finland": {"variant": "finland"},
    "finland to 16": {"variant": "finland", "games": 0, "threshold": 16, "reward": "win", "dense": True},
    "finland of 3 to 16": {"variant": "finland", "players": 3, "games": 0, "threshold": 16},
    "finland, teams": {"variant": "finland", "players": 4, "teams": 2, "games": 2, "dense": True},
    "finland, forced sweeps": {"variant": "finland", "forced_sweep": True},
    "laistokasino": {"variant": "laistokasino", "reward": "points", "dense": True},
    "laistokasino of 3 to 16": {"variant": "laistokasino", "players": 3, "games": 0, "threshold": 16, "reward": "win"},
    "laistokasino, teams": {"variant": "laistokasino", "players": 4, "teams": 2},
}


MULLE = {
    **{f"mulle, {players} players": {"players": players} for players in (2, 3, 4)},
    "mulle, teams": {"variant": "sassersson", "players": 4, "teams": 2},
    "mulle, session": {"games": 0, "threshold": 40, "reward": "win", "dense": True},
}


ENVIRONMENTS = {
    name: (module, arguments)
    for module, listed in ((krypkasino_v0, KRYPKASINO), (kasino_v0, KASINO), (mulle_v0, MULLE))
    for name, arguments in listed.items()
}


every_environment = pytest.mark.parametrize(("module", "arguments"), ENVIRONMENTS.values(), ids=ENVIRONMENTS)
SOME = (  # whose spaces, episodes or payments differ
    "2 players", "4 in 2 teams", "2 games", "threshold", "features", "points", "howto of 4", "mini-choice",
    "kasino, teams", "overspader", "finland to 16", "finland, teams", "laistokasino of 3 to 16", "mulle, 3 players",
    "mulle, session",
)  # fmt: skip
some_environments = pytest.mark.parametrize(("module", "arguments"), [ENVIRONMENTS[name] for name in SOME], ids=SOME)


def play(env, seed, rng, options=None):
    """Play an episode at random; yields after each step what each agent was paid in `last()` so far."""
    env.reset(seed=seed, options=options)
    yield from play_on(env, rng)


def play_on(env, rng):
    """Play the rest of an episode like `play`."""
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
