"""The lines of the benchmark: what each measures. As a program, this file measures one of them.

Another installation of krypenv runs it too, so it imports nothing at the top that a version may lack. A line imports
what it needs when it is made.
"""

from __future__ import annotations

import json
import os
import platform
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ENGINE = "engine"
THREADS = "engine, several threads"
AEC = "AEC env()"
HEARTS = "OpenSpiel hearts, moves"
HEARTS_SEEN = "OpenSpiel hearts, observed"
CONNECT_FOUR = "PettingZoo connect_four"
UNO = "RLCard uno"
SPARROW_MAHJONG = "pgx sparrow_mahjong"
HANABI = "Hanabi LE hanabi"
PEERS = {  # and the modules that they need
    HEARTS: "pyspiel",
    HEARTS_SEEN: "pyspiel",
    CONNECT_FOUR: "pygame",
    UNO: "rlcard",
    SPARROW_MAHJONG: "pgx",
    HANABI: "hanabi_learning_environment",
}
RELATIVES = ("kasino-sweden", "overspader", "kasino-finland", "laistokasino", "mulle", "mulle-glimne")  # presets
AGENTS = {"greedy": 1024, "tactician": 1024, "search": 8, "rollout": 8, "ismcts": 8, "learned": 64, "champion": 2}
BATCHES = 8  # of positions, from the first cards of a game to the last, that an agent decides in turn


class Block(NamedTuple):
    """A piece of work to repeat."""

    run: Callable[[], Any]
    batch: int = 1  # games at once
    threads: int = 1
    steps: int | None = None  # of a run; None if it returns them

    def do(self) -> int:
        """Do the work; return how many steps it made."""
        done = self.run()
        return int(done) if self.steps is None else self.steps


def lines(games: int, threads: int) -> dict[str, Callable[[], Block]]:
    """Return the makers of all lines by name.

    Args:
        games: games at once in the engine's lines.
        threads: threads of the multi-threaded lines.

    A maker raises ImportError if something that it needs is not installed.
    """
    fewer = min(games, 1024)
    return {
        "self-play, learning included": _learner,
        ENGINE: partial(_engine, games),
        "engine, 4 players": partial(_engine, games, players=4),
        "engine, features block": partial(_engine, games, features=True),
        **{f"engine, {preset}": partial(_engine, games, preset=preset) for preset in RELATIVES},
        THREADS: partial(_engine, games, threads=threads),
        f"{THREADS}, features block": partial(_engine, games, threads=threads, features=True),
        "whole games in a kernel": partial(_whole_games, games),
        AEC: _aec,
        "Gymnasium vector env": partial(_vector, fewer),
        "SB3 VecEnv": partial(_vec_env, fewer),
        "determinize": partial(_determinize, fewer),
        **{f"{name}, decisions": partial(_decisions, name, min(games, rows)) for name, rows in AGENTS.items()},
        "duplicate match": _match,
        HEARTS: partial(_hearts, observe=False),
        HEARTS_SEEN: partial(_hearts, observe=True),
        CONNECT_FOUR: _connect_four,
        UNO: _uno,
        SPARROW_MAHJONG: partial(_sparrow_mahjong, games),
        HANABI: _hanabi,
    }


# ---------------------------------------------------------------------- engine and environments


def _engine(games: int, players: int = 2, preset: str = "krypkasino", **options: Any) -> Block:
    """Steps of the engine from Python with random actions, which the engine samples in a second call."""
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset(preset, players=players), games, **options)
    return Block(lambda: engine.step(engine.sample_actions()), games, options.get("threads", 1), steps=games)


def _whole_games(games: int) -> Block:
    """Random actions within one kernel call, without observations."""
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset("krypkasino"), games)
    return Block(lambda: engine.play_games(100), games, steps=100 * games)


def _aec() -> Block:
    from krypenv import krypkasino_v0

    return Block(_play(krypkasino_v0.env(players=2)))


def _play(env: Any) -> Callable[[], int]:
    """One game of a PettingZoo environment, driven as its documentation shows, with masked random actions."""
    seeds = iter(range(1 << 60))
    for agent in env.possible_agents:
        env.action_space(agent).seed(0)

    def run() -> int:
        env.reset(seed=next(seeds))
        steps = 0
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(env.action_space(agent).sample(observation["action_mask"]))
                steps += 1
        return steps

    return run


def _vector(games: int) -> Block:
    """Decisions of one learner, which takes the first legal action, against random opponents."""
    import gymnasium

    import krypenv  # noqa: F401  # registers the environment

    env = gymnasium.make_vec("Krypkasino-v0", num_envs=games)
    masks = [env.reset(seed=0)[1]["action_mask"]]
    return Block(lambda: masks.append(env.step(masks.pop().argmax(1))[-1]["action_mask"]), games, steps=games)


def _vec_env(games: int) -> Block:
    """The same through Stable-Baselines3's interface."""
    from krypenv import Rules
    from krypenv.adapters.sb3 import KrypkasinoVecEnv

    env = KrypkasinoVecEnv(Rules.preset("krypkasino"), games, seed=0)
    env.reset()
    return Block(lambda: env.step(env.action_masks().argmax(1)), games, steps=games)


# ---------------------------------------------------------------------- positions, agents, matches


def _positions(rows: int, history: bool = False) -> list[tuple[Any, Any]]:
    """Return batches of observations and masks of two players, from the first cards of a game to the last."""
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset("krypkasino"), rows, seed=1, history=history)
    batches = []
    for _ in range(BATCHES):
        for _ in range(5):
            engine.step(engine.sample_actions())
        batches.append((engine.observation.copy(), engine.action_mask.copy()))
    return batches


def _determinize(rows: int) -> Block:
    """Worlds, one sampled for each position."""
    from krypenv import Rules, determinize

    rules, batches = Rules.preset("krypkasino"), [seen for seen, _ in _positions(rows)]
    return Block(
        lambda: [determinize(seen, seed, rules) for seed, seen in enumerate(batches)], rows, steps=rows * BATCHES
    )


def _decisions(name: str, rows: int) -> Block:
    """Decisions of an agent in the same positions each time; a network computes on one thread."""
    from krypenv import Rules, agents

    if name == "learned":
        name = f"learned(model={str(Path(agents.__file__).parent / 'models' / 'two')!r})"
    agent = agents.make(name, Rules.preset("krypkasino"), seed=0)
    batches = _positions(rows, getattr(agent, "needs_history", False))
    return Block(lambda: [agent.act(*each) for each in batches], rows, steps=rows * BATCHES)


def _match() -> Block:
    """Games of a duplicate match."""
    from krypenv import Rules
    from krypenv.training import duplicate_match

    rules, deals = Rules.preset("krypkasino"), 200
    return Block(lambda: duplicate_match("tactician", "greedy", rules, deals=deals, seed=0).games, 2 * deals)


def _learner() -> Block:
    """Self-play as in `krypenv train`: a rollout and an update."""
    from stable_baselines3.common.logger import Logger

    from krypenv.training import Settings
    from krypenv.training.learn.selfplay.selfplay import TrainingRun

    settings = Settings()
    model = TrainingRun(settings, Path()).model
    model.set_logger(Logger(None, []))

    def run() -> None:
        model.collect_rollouts()
        model.train()

    return Block(run, model.n_envs, settings.threads, steps=model.n_envs * model.n_steps)


# ---------------------------------------------------------------------- peers


def _hearts(observe: bool) -> Block:
    """One game of OpenSpiel's hearts. Only players' decisions count as steps, not the chance nodes that deal."""
    import pyspiel

    game, rng = pyspiel.load_game("hearts"), random.Random(0)

    def run() -> int:
        state = game.new_initial_state()
        steps = 0
        while not state.is_terminal():
            if not state.is_chance_node():
                steps += 1
                if observe:
                    state.information_state_tensor()
            state.apply_action(rng.choice(state.legal_actions()))
        return steps

    return Block(run)


def _connect_four() -> Block:
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    from pettingzoo.classic.connect_four import connect_four

    return Block(_play(connect_four.env()))


def _uno() -> Block:
    """One game of RLCard's uno, whose states hold the observation and the legal actions."""
    import rlcard

    env, rng = rlcard.make("uno", {"seed": 0}), random.Random(0)

    def run() -> int:
        state, _ = env.reset()
        steps = 0
        while not env.is_over():
            state, _ = env.step(rng.choice(list(state["legal_actions"])))
            steps += 1
        return steps

    return Block(run)


def _sparrow_mahjong(games: int) -> Block:
    """Steps of pgx's sparrow_mahjong with random actions, in one compiled function that restarts games as they end."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("sparrow_mahjong")
    step = jax.vmap(auto_reset(env.step, env.init))

    @jax.jit
    def advance(states: Any, key: Any) -> tuple[Any, Any]:
        key, choice, chance = jax.random.split(key, 3)
        logits = jax.numpy.where(states.legal_action_mask, 0.0, -jax.numpy.inf)
        return step(states, jax.random.categorical(choice, logits), jax.random.split(chance, games)), key

    key = jax.random.PRNGKey(0)
    states = jax.jit(jax.vmap(env.init))(jax.random.split(key, games))

    def run() -> int:
        nonlocal states, key
        states, key = jax.block_until_ready(advance(states, key))
        return games

    return Block(run, games)


def _hanabi() -> Block:
    """One game of the Hanabi Learning Environment for two, through its `rl_env`."""
    from hanabi_learning_environment import rl_env

    env, rng = rl_env.make("Hanabi-Full", 2), random.Random(0)

    def run() -> int:
        seen, over, steps = env.reset(), False, 0
        while not over:
            moves = seen["player_observations"][seen["current_player"]]["legal_moves_as_int"]
            seen, _, over, _ = env.step(rng.choice(moves))
            steps += 1
        return steps

    return Block(run)


# ---------------------------------------------------------------------- a line in a process of its own


def measure(name: str, games: int, threads: int, tell: Callable[..., None]) -> None:
    """Make a line and tell the installation and the seconds of its first use; then measure a turn for each request.

    A request is a line of the standard input: the seconds of CPU time that the turn lasts, for at least one block. The
    answer has its steps, and the seconds of CPU time (of all threads together) and of the clock. Instead of the first
    answer, `error` may tell why there is no such line.
    """
    began = time.perf_counter()
    told: dict[str, Any] = {}
    try:
        import krypenv
        from krypenv import Engine  # noqa: F401  # fails for an unrelated folder named krypenv

        folder = os.path.dirname(os.path.abspath(krypenv.__file__))
        told["who"] = {"krypenv": krypenv.__version__, "folder": folder, "python": platform.python_version()}
        told["import"] = time.perf_counter() - began
        block = lines(games, threads)[name]()
        block.do()
    except Exception as error:
        tell(**told, error=f"{type(error).__name__}: {error}")
        return
    tell(**told, first=time.perf_counter() - began, batch=block.batch, threads=block.threads)
    for request in sys.stdin:
        began, began_cpu = time.perf_counter(), time.process_time()
        steps = block.do()
        while time.process_time() - began_cpu < float(request):
            steps += block.do()
        tell(steps=steps, cpu=time.process_time() - began_cpu, clock=time.perf_counter() - began)


def main() -> None:
    """Measure the line that the command line names, with answers of one line of JSON each."""
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != here]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps the prints of libraries out of the answers
    name, games, threads = sys.argv[1:]
    measure(name, int(games), int(threads), lambda **told: print(json.dumps(told), file=answers, flush=True))


if __name__ == "__main__":
    main()
