"""The lines of the benchmark: what each measures. Another installation of krypenv also runs this file, as a program.

So it imports nothing at the top that a version may lack. Each line imports what it needs when it is made; what is
missing raises an error then, which is reported.
"""

from __future__ import annotations

import json
import os
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
LEARNER = "self-play, learning included"
HEARTS = "OpenSpiel hearts, moves"
HEARTS_SEEN = "OpenSpiel hearts, observed"
CONNECT_FOUR = "PettingZoo connect_four"
UNO = "RLCard uno"
SPARROW_MAHJONG = "pgx sparrow_mahjong"
HANABI = "Hanabi LE hanabi"
UNPINNED = {UNO: "rlcard", SPARROW_MAHJONG: "pgx", HANABI: "hanabi_learning_environment"}  # not among the extras
PEERS = (HEARTS, HEARTS_SEEN, CONNECT_FOUR, *UNPINNED)
RELATIVES = ("kasino-sweden", "overspader", "kasino-finland", "laistokasino", "mulle", "mulle-glimne")  # presets
BATCHES = 8  # of positions, from the first cards of a game to the last, that an agent decides in turn


class Block(NamedTuple):
    """A piece of work to repeat."""

    run: Callable[[], int]  # returns how many steps it made
    batch: int = 1  # games at once
    threads: int = 1
    share: Callable[[], float] | None = None  # of its time spent on games and opponents, if known


def lines(games: int, threads: int) -> dict[str, Callable[[], Block]]:
    """Return the makers of all lines by name.

    Args:
        games: games at once in the engine's lines.
        threads: threads of the multi-threaded lines.

    A maker raises ImportError if something that it needs is not installed.
    """
    return {
        LEARNER: _learner,
        ENGINE: lambda: _engine(games),
        "engine, 4 players": lambda: _engine(games, players=4),
        "engine, features block": lambda: _engine(games, features=True),
        **{f"engine, {preset}": partial(_engine, games, preset=preset) for preset in RELATIVES},
        THREADS: lambda: _engine(games, threads=threads),
        f"{THREADS}, features block": lambda: _engine(games, threads=threads, features=True),
        "whole games in a kernel": lambda: _whole_games(games),
        AEC: _aec,
        "Gymnasium vector env": lambda: _vector(min(games, 1024)),
        "SB3 VecEnv": lambda: _vec_env(min(games, 1024)),
        "determinize": lambda: _determinize(min(games, 1024)),
        "greedy, decisions": lambda: _decisions("greedy", min(games, 1024)),
        "tactician, decisions": lambda: _decisions("tactician", min(games, 1024)),
        "search, decisions": lambda: _decisions("search", 8),
        "rollout, decisions": lambda: _decisions("rollout", 8),
        "ismcts, decisions": lambda: _decisions("ismcts", 8),
        "learned, decisions": lambda: _decisions("learned", 64),
        "champion, decisions": lambda: _decisions("champion", 2),
        "duplicate match": _match,
        HEARTS: lambda: _hearts(False),
        HEARTS_SEEN: lambda: _hearts(True),
        CONNECT_FOUR: _connect_four,
        UNO: _uno,
        SPARROW_MAHJONG: lambda: _sparrow_mahjong(games),
        HANABI: _hanabi,
    }


# ---------------------------------------------------------------------- engine and environments


def _engine(games: int, players: int = 2, preset: str = "krypkasino", **options: Any) -> Block:
    """Steps of the engine from Python with random actions, which the engine samples in a second call."""
    from krypenv import Engine, Rules

    if preset not in Rules.presets():
        raise LookupError(f"this line is new: the version there does not play {preset}")
    engine = Engine(Rules.preset(preset, players=players), games, **options)

    def run() -> int:
        engine.step(engine.sample_actions())
        return games

    return Block(run, games, options.get("threads", 1))


def _whole_games(games: int, steps: int = 100) -> Block:
    """Random actions within one kernel call, without observations."""
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset("krypkasino"), games)

    def run() -> int:
        engine.play_games(steps)
        return games * steps

    return Block(run, games)


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
    _, infos = env.reset(seed=0)
    mask = infos["action_mask"]

    def run() -> int:
        nonlocal mask
        mask = env.step(mask.argmax(1))[-1]["action_mask"]
        return games

    return Block(run, games)


def _vec_env(games: int) -> Block:
    """The same through Stable-Baselines3's interface."""
    from krypenv import Rules
    from krypenv.adapters.sb3 import KrypkasinoVecEnv

    env = KrypkasinoVecEnv(Rules.preset("krypkasino"), games, seed=0)
    env.reset()

    def run() -> int:
        env.step(env.action_masks().argmax(1))
        return games

    return Block(run, games)


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

    def run() -> int:
        for seed, seen in enumerate(batches):
            determinize(seen, seed, rules)
        return rows * BATCHES

    return Block(run, rows)


def _decisions(name: str, rows: int) -> Block:
    """Decisions of an agent in the same positions each time; a network computes on one thread."""
    from krypenv import Rules, agents

    if name == "learned":
        name = f"learned(model={str(Path(agents.__file__).parent / 'models' / 'two')!r})"
    agent = agents.make(name, Rules.preset("krypkasino"), seed=0)
    batches = _positions(rows, getattr(agent, "needs_history", False))

    def run() -> int:
        for observations, masks in batches:
            agent.act(observations, masks)
        return rows * BATCHES

    return Block(run, rows)


def _match() -> Block:
    """Games of a duplicate match."""
    from krypenv import Rules
    from krypenv.training import duplicate_match

    rules, deals = Rules.preset("krypkasino"), 200

    def run() -> int:
        return duplicate_match("tactician", "greedy", rules, deals=deals, seed=0).games

    return Block(run, 2 * deals)


def _learner() -> Block:
    """Self-play as in `krypenv train`: a rollout and an update."""
    from stable_baselines3.common.logger import Logger

    from krypenv.training import Settings
    from krypenv.training.learn.selfplay import TrainingRun

    settings = Settings()
    model = TrainingRun(settings, Path()).model
    model.set_logger(Logger(None, []))
    spent = 0.0

    def run() -> int:
        nonlocal spent
        began = time.perf_counter()
        model.collect_rollouts()
        model.train()
        spent += time.perf_counter() - began
        return model.n_envs * model.n_steps

    return Block(run, model.n_envs, settings.threads, lambda: model.environment_seconds / spent)


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


# ---------------------------------------------------------------------- another process


class Worker:
    """The requests of another process: identify the installation, and make, count or run a line."""

    def hello(self) -> dict[str, Any]:
        """Return which krypenv is measured here."""
        import platform

        import krypenv
        from krypenv import Engine  # noqa: F401  # fails for an unrelated folder named krypenv

        folder = os.path.dirname(os.path.abspath(krypenv.__file__))
        return {"krypenv": krypenv.__version__, "folder": folder, "python": platform.python_version()}

    def make(self, line: str, games: int, threads: int) -> dict[str, Any]:
        """Make a line, and run it once so that its kernels are compiled."""
        self.block: Any = None  # two at a time may not fit into memory
        self.block = lines(games, threads)[line]()
        self.block.run()
        return {"batch": self.block.batch, "threads": self.block.threads}

    def count(self, seconds: float) -> dict[str, Any]:
        """Return how many blocks run in some seconds of CPU time, at least one."""
        blocks, began = 0, time.process_time()
        while not blocks or time.process_time() - began < seconds:
            self.block.run()
            blocks += 1
        return {"blocks": blocks, "seconds": time.process_time() - began}

    def run(self, blocks: int, processor: int | None) -> dict[str, Any]:
        """Run blocks, on one processor if given; return their steps and the CPU time of all threads."""
        if processor is not None:
            before = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {processor})
        began = time.process_time()
        steps = sum(self.block.run() for _ in range(blocks))
        seconds = time.process_time() - began
        if processor is not None:
            os.sched_setaffinity(0, before)
        return {"steps": steps, "seconds": seconds}


def serve() -> None:
    """Answer requests from the standard input, one line of JSON each, until it ends."""
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != here]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps the prints of libraries out of the answers
    worker = Worker()
    for question in sys.stdin:
        asked, arguments = json.loads(question)
        try:
            answer = getattr(worker, asked)(**arguments)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve()
