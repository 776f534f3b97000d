"""How fast are libraries that no extra of krypenv installs, in random legal actions per second of processor time?

RLCard's uno, pgx's sparrow_mahjong and the Hanabi Learning Environment; docs/bench.md says how to install them.

    python notebooks/peers.py
"""

import random
import time
from collections.abc import Callable, Iterator

GAMES = 4096  # of pgx's batch
SECONDS = 4.0  # of processor time for each library


def uno() -> Iterator[int]:
    """Play games of RLCard's uno, whose states hold the observation and the legal actions; yield steps."""
    import rlcard

    env, rng = rlcard.make("uno", {"seed": 0}), random.Random(0)
    while True:
        state, steps = env.reset()[0], 0
        while not env.is_over():
            state, steps = env.step(rng.choice(list(state["legal_actions"])))[0], steps + 1
        yield steps


def sparrow_mahjong() -> Iterator[int]:
    """Step a batch of pgx's sparrow_mahjong in one compiled function that restarts games as they end; yield steps."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("sparrow_mahjong")
    step, key = jax.vmap(auto_reset(env.step, env.init)), jax.random.PRNGKey(0)

    @jax.jit
    def advance(states, key):
        key, choice, chance = jax.random.split(key, 3)
        logits = jax.numpy.where(states.legal_action_mask, 0.0, -jax.numpy.inf)
        return step(states, jax.random.categorical(choice, logits), jax.random.split(chance, GAMES)), key

    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, GAMES))
    while True:
        states, key = jax.block_until_ready(advance(states, key))
        yield GAMES


def hanabi() -> Iterator[int]:
    """Play games of the Hanabi Learning Environment for two, through its `rl_env`; yield steps."""
    from hanabi_learning_environment import rl_env

    env, rng = rl_env.make("Hanabi-Full", 2), random.Random(0)
    while True:
        seen, is_over, steps = env.reset(), False, 0
        while not is_over:
            player = seen["player_observations"][seen["current_player"]]
            seen, _, is_over, _ = env.step(rng.choice(player["legal_moves_as_int"]))
            steps += 1
        yield steps


def rate(game: Callable[[], Iterator[int]]) -> float:
    """Measure steps per second of processor time, of all threads together, after a first turn that may compile."""
    turns, steps = game(), 0
    next(turns)
    began = time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        steps += next(turns)
    return steps / spent


if __name__ == "__main__":
    for game in (uno, sparrow_mahjong, hanabi):
        try:
            print(f"{game.__name__}: {rate(game):,.0f}")
        except ImportError as error:
            print(f"{game.__name__}: {error}")
