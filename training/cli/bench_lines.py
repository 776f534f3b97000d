"""The lines of the benchmark: what each measures. As a program, this file measures them with the krypenv of a folder.

Another version of krypenv runs it too, so it imports nothing at the top that a version may lack. A line imports what it
needs when it is made.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
import typing
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

Block = Callable[[], int]  # does a piece of work, and returns how many steps it made

PEERS = {  # lines of other libraries, and which one of ours is measured in turn with each
    "OpenSpiel hearts, moves": "engine",
    "OpenSpiel hearts, observed": "engine",
    "PettingZoo connect_four": "AEC env()",
    "RLCard uno": "engine",
    "pgx sparrow_mahjong": "engine",
    "Hanabi LE hanabi": "engine",
}
RELATIVES = ("kasino-sweden", "overspader", "kasino-finland", "laistokasino", "mulle", "mulle-glimne")  # presets
AGENTS = {"greedy": 1024, "tactician": 1024, "search": 8, "rollout": 8, "ismcts": 8, "learned": 64, "champion": 2}
BATCHES = 8  # of positions, from the first cards of a game to the last, that an agent decides in turn


def lines_of(games: int, threads: int) -> dict[str, Callable[[], Block]]:
    """List the makers of all lines by name; the engine plays `games` games at once."""
    fewer = min(games, 1024)
    return {
        "self-play, learning included": _training,
        "engine": partial(_engine, games),
        "engine, 4 players": partial(_engine, games, players=4),
        "engine, features block": partial(_engine, games, features=True),
        **{f"engine, {preset}": partial(_engine, games, preset=preset) for preset in RELATIVES},
        "engine, several threads": partial(_engine, games, threads=threads),
        "whole games in a kernel": partial(_engine, games, in_kernel=True),
        "AEC env()": _aec,
        "Gymnasium vector env": partial(_vector, fewer),
        "SB3 VecEnv": partial(_vec_env, fewer),
        "determinize": partial(_determinize, fewer),
        **{f"{name}, decisions": partial(_decisions, name, min(games, rows)) for name, rows in AGENTS.items()},
        "duplicate match": _match,
        "OpenSpiel hearts, moves": partial(_hearts, False),
        "OpenSpiel hearts, observed": partial(_hearts, True),
        "PettingZoo connect_four": _connect_four,
        "RLCard uno": _uno,
        "pgx sparrow_mahjong": partial(_sparrow_mahjong, games),
        "Hanabi LE hanabi": _hanabi,
    }


def _block(steps: int, work: Callable[[], Any]) -> Block:
    """Make a block of some work, which is a number of steps."""
    return lambda: (work(), steps)[1]


def _engine(games: int, players: int = 2, preset: str = "krypkasino", in_kernel: bool = False, **options: Any) -> Block:
    """Steps of the engine with random actions: from Python, which samples them by a second call, or in one kernel."""
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset(preset, players=players), games, **options)
    if in_kernel:
        return _block(100 * games, lambda: engine.play_games(100))
    return _block(games, lambda: engine.step(engine.sample_actions()))


def _random_games(begin: Callable[[], Any], legal: Callable[[Any], Sequence[Any]], step: Callable[..., Any]) -> Block:
    """Whole games, with random ones of the legal actions of a state; there are none in a last state."""
    rng = random.Random(0)

    def block() -> int:
        state, steps = begin(), 0
        while actions := legal(state):
            state, steps = step(state, rng.choice(actions)), steps + 1
        return steps

    return block


def _pettingzoo(env: Any) -> Block:
    """Games of an environment that is driven as PettingZoo's documentation shows, with masked random actions."""
    seeds = iter(range(1 << 60))
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)

    def block() -> int:
        env.reset(seed=next(seeds))
        steps = 0
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            is_over = terminated or truncated
            env.step(None if is_over else env.action_space(agent).sample(observation["action_mask"]))
            steps += not is_over
        return steps

    return block


def _aec() -> Block:
    from krypenv import krypkasino_v0

    return _pettingzoo(krypkasino_v0.env(players=2))


def _connect_four() -> Block:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    from pettingzoo.classic.connect_four import connect_four

    return _pettingzoo(connect_four.env())


def _vector(games: int) -> Block:
    """Decisions of one learner, which takes the first legal action, against random opponents."""
    import gymnasium

    import krypenv  # noqa: F401  # registers the environment

    env = gymnasium.make_vec("Krypkasino-v0", num_envs=games)
    masks = [env.reset(seed=0)[1]["action_mask"]]
    return _block(games, lambda: masks.append(env.step(masks.pop().argmax(1))[-1]["action_mask"]))


def _vec_env(games: int) -> Block:
    """The same through Stable-Baselines3's interface."""
    from krypenv import Rules
    from krypenv.adapters.sb3 import KrypkasinoVecEnv

    env = KrypkasinoVecEnv(Rules.preset("krypkasino"), games, seed=0)
    env.reset()
    return _block(games, lambda: env.step(env.action_masks().argmax(1)))


def _positions(rows: int, history: bool = False) -> list[tuple[Any, Any]]:
    """Play batches of observations and masks of two players, from the first cards of a game to the last."""
    from krypenv import Engine, Rules

    engine, batches = Engine(Rules.preset("krypkasino"), rows, seed=1, history=history), []
    for _ in range(BATCHES):
        for _ in range(5):
            engine.step(engine.sample_actions())
        batches.append((engine.observation.copy(), engine.action_mask.copy()))
    return batches


def _determinize(rows: int) -> Block:
    """Worlds, one sampled for each position."""
    from krypenv import Rules, determinize

    rules, batches = Rules.preset("krypkasino"), _positions(rows)
    return _block(rows * BATCHES, lambda: [determinize(seen, seed, rules) for seed, (seen, _) in enumerate(batches)])


def _decisions(name: str, rows: int) -> Block:
    """Decisions of an agent in the same positions each time; a network computes on one thread."""
    from krypenv import Rules, agents

    if name == "learned":
        name = f"learned(model={str(Path(agents.__file__).parent / 'models' / 'two')!r})"
    agent = agents.make(name, Rules.preset("krypkasino"), seed=0)
    batches = _positions(rows, getattr(agent, "needs_history", False))
    return _block(rows * BATCHES, lambda: [agent.act(*batch) for batch in batches])


def _match() -> Block:
    """Games of a duplicate match."""
    from krypenv import Rules
    from krypenv.training import duplicate_match

    rules = Rules.preset("krypkasino")
    return lambda: int(duplicate_match("tactician", "greedy", rules, deals=200, seed=0).games)


def _training() -> Block:
    """Frames of `krypenv train`: a rollout and an update."""
    from stable_baselines3.common.logger import Logger

    from krypenv.training import train

    settings = typing.get_type_hints(train)["settings"]
    model = sys.modules[train.__module__].TrainingRun(settings(), Path()).model  # versions have it in several places
    model.set_logger(Logger(None, []))

    def block() -> int:
        before = model.num_timesteps
        model.collect_rollouts()
        model.train()
        return int(model.num_timesteps - before)

    return block


def _hearts(observed: bool) -> Block:
    """Games of OpenSpiel's hearts. Only players' decisions count as steps, not the chance nodes that deal."""
    import pyspiel

    game, rng = pyspiel.load_game("hearts"), random.Random(0)

    def dealt(state: Any) -> Any:
        while state.is_chance_node():
            state.apply_action(rng.choice(state.legal_actions()))
        if observed and not state.is_terminal():
            state.information_state_tensor()
        return state

    def step(state: Any, action: int) -> Any:
        state.apply_action(action)
        return dealt(state)

    return _random_games(lambda: dealt(game.new_initial_state()), lambda state: state.legal_actions(), step)


def _uno() -> Block:
    """Games of RLCard's uno, whose states hold the observation and the legal actions."""
    import rlcard

    env = rlcard.make("uno", {"seed": 0})
    return _random_games(
        lambda: env.reset()[0],
        lambda state: [] if env.is_over() else list(state["legal_actions"]),
        lambda _, action: env.step(action)[0],
    )


def _hanabi() -> Block:
    """Games of the Hanabi Learning Environment for two, through its `rl_env`."""
    from hanabi_learning_environment import rl_env

    env = rl_env.make("Hanabi-Full", 2)
    return _random_games(
        lambda: (env.reset(), False),
        lambda seen: [] if seen[1] else seen[0]["player_observations"][seen[0]["current_player"]]["legal_moves_as_int"],
        lambda _, action: env.step(action)[::2],
    )


def _sparrow_mahjong(games: int) -> Block:
    """Steps of pgx's sparrow_mahjong with random actions, in one compiled function that restarts games as they end."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("sparrow_mahjong")
    step, to_come = jax.vmap(auto_reset(env.step, env.init)), [jax.random.PRNGKey(0)]

    @jax.jit
    def advance(states: Any, key: Any) -> tuple[Any, Any]:
        key, choice, chance = jax.random.split(key, 3)
        logits = jax.numpy.where(states.legal_action_mask, 0.0, -jax.numpy.inf)
        return step(states, jax.random.categorical(choice, logits), jax.random.split(chance, games)), key

    to_come.insert(0, jax.jit(jax.vmap(env.init))(jax.random.split(to_come[0], games)))
    return _block(games, lambda: to_come.__setitem__(slice(2), jax.block_until_ready(advance(*to_come))))


# ---------------------------------------------------------------------- the program


def serve(games: int, threads: int) -> None:
    """Do a turn of a line for each request: the seconds of CPU time that it lasts, for at least one block, and a name.

    The answer, a line of JSON, has its steps, and the seconds of CPU time (of all threads together) and of the clock;
    or `error`, why there is no such line. A line is made in its first turn.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps the prints of libraries out of the answers
    lines, made = lines_of(games, threads), dict[str, Block]()
    answer: dict[str, Any]
    for request in sys.stdin:
        seconds, _, name = request.strip().partition(" ")
        began, began_cpu = time.perf_counter(), time.process_time()
        try:
            made[name] = made.get(name) or lines[name]()
            steps = made[name]()
            while time.process_time() - began_cpu < float(seconds):
                steps += made[name]()
            answer = {"steps": steps, "cpu": time.process_time() - began_cpu, "clock": time.perf_counter() - began}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    sys.path[0] = sys.argv[1]
    serve(*map(int, sys.argv[2:]))
