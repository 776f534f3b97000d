"""Demonstrations: games of a search agent against itself, with its value of every legal action.

A file holds a few hundred games as actions and values. Replaying the games from their seeds restores the observations.
Nothing in a file is executed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents.champion import Champion
from krypenv.agents.neural.action_features import ActionFeatures, gather_action_features
from krypenv.agents.search.sampler import Sampler
from krypenv.cards import NUM_KINDS
from krypenv.engine import Engine
from krypenv.inputs.artifacts import encode_artifact, read_artifact
from krypenv.rewards import returns_of, running_scores
from krypenv.rules import Rules
from krypenv.training.runs import HERE, Executor, Header, Progress, Task, open_run

KIND, VERSION = "demonstrations", 2


@dataclass(frozen=True)
class TeachingPlan:
    """All that determines the demonstrations in a folder."""

    rules: tuple[str, ...]  # files play them in turn
    teacher: str  # string of an agent that values actions
    seed: int
    chunk: int  # games in a file
    temperature: float  # points: actions are sampled from softmax(value / temperature)
    epsilon: float  # probability of a random action instead

    def __post_init__(self) -> None:
        if self.chunk < 1:
            raise ValueError(f"chunk is at least 1 game, not {self.chunk}")
        if self.seed < 0:
            raise ValueError(f"seed is at least 0, not {self.seed}")
        if not self.temperature > 0:
            raise ValueError(f"temperature is above 0 points, not {self.temperature}")
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"epsilon is from 0 to 1, not {self.epsilon}")
        for number in range(len(self.rules)):
            self.make_teacher(number)

    def rules_of(self, number: int) -> Rules:
        """Return the rules of a file."""
        return Rules.parse(self.rules[number % len(self.rules)])

    @property
    def players(self) -> int:
        """The players of the largest table."""
        return max(self.rules_of(number).players for number in range(len(self.rules)))

    def make_teacher(self, number: int) -> Sampler:
        """Return the teacher for a file; raises ValueError for an agent that does not value actions."""
        agent = agents.make_known(self.teacher, self.rules_of(number), int(self.stream(number).integers(1 << 62)))
        teacher = agent.player if isinstance(agent, Champion) else agent
        if not isinstance(teacher, Sampler) or not teacher.gives_values:
            raise ValueError(
                f"{self.teacher} can't teach, as it does not value actions; "
                "search, rollout, guided, and champion with worlds can"
            )
        return teacher

    def stream(self, number: int) -> np.random.Generator:
        """Return the random numbers of a file."""
        return np.random.default_rng([self.seed, number])

    def deal(self, number: int, history: bool = False) -> Engine:
        """Return the games of a file, dealt; `history` for a teacher that reads the plays."""
        seeds = np.random.SeedSequence([self.seed, number, 1]).generate_state(self.chunk, np.uint64)
        return Engine(self.rules_of(number), self.chunk, seeds, history=history)


@dataclass(frozen=True)
class Demonstrations:
    """N decisions of whole games, in the order of play, with L legal actions in all."""

    observations: npt.NDArray[np.int8]  # (N, S)
    features: ActionFeatures
    hidden: npt.NDArray[np.int8]  # (N, (P - 1) * 52) the others' hands, the seat to the left first, for the largest P
    values: npt.NDArray[np.float32]  # (L,) the teacher's value of each legal action, -inf if it was pruned
    returns: npt.NDArray[np.float32]  # (N,) what the seat earned from there on, discounted per own decision


def file_of(number: int) -> str:
    """Return the name of a file of demonstrations."""
    return f"demonstrations-{number:05d}.safetensors"


def play_demonstrations(plan: TeachingPlan, number: int) -> bytes:
    """Play the games of a file with the teacher, and return the bytes of the file."""
    teacher, random = plan.make_teacher(number), plan.stream(number)
    engine = plan.deal(number, getattr(teacher, "needs_history", False))
    rows = np.arange(engine.num_games)
    played, valued = [], []
    while len(rows):
        masks = engine.action_mask[rows]
        values = teacher.action_values(engine.observation[rows], masks).astype(np.float16)
        valued.append(values[masks > 0])
        noisy = values / plan.temperature + random.gumbel(size=values.shape)
        explored = random.random(len(rows)) < plan.epsilon
        noisy[explored] = np.where(masks[explored] > 0, random.random((int(explored.sum()), masks.shape[1])), -np.inf)
        actions = noisy.argmax(axis=1)
        played.append(actions.astype(np.uint8))
        engine.step(actions, rows)
        rows = rows[~engine.finished[rows]]
    arrays = {"actions": np.concatenate(played), "values": np.concatenate(valued)}
    return encode_artifact(KIND, VERSION, arrays, {"plan": dataclasses.asdict(plan), "number": number})


def read_demonstrations(folder: Path, plan: TeachingPlan, number: int, gamma: float) -> Demonstrations:
    """Replay the games of a file and return their decisions; raises ValueError if the file is torn or was changed."""
    arrays = read_artifact(folder / file_of(number), KIND, VERSION).arrays
    shown = _replay(plan.deal(number), arrays["actions"], arrays["values"].astype(np.float32), gamma)
    missing = (plan.players - 1) * NUM_KINDS - shown.hidden.shape[1]
    return dataclasses.replace(shown, hidden=np.pad(shown.hidden, ((0, 0), (0, missing))))


def _replay(engine: Engine, actions: np.ndarray, values: np.ndarray, gamma: float) -> Demonstrations:
    rules, players = engine.rules, engine.rules.players
    rows, at = np.arange(engine.num_games), 0
    seen, features, hidden, turns = [], [], [], []
    worth, paid = np.zeros((2, engine.num_games, players))
    while len(rows):
        masks, seats = engine.action_mask[rows], engine.seat[rows].copy()
        seen.append(engine.observation[rows])
        features.append(gather_action_features(rules, seen[-1], masks))
        others = (seats[:, None] + np.arange(1, players)) % players
        hidden.append(engine.state.hands[rows[:, None], others].reshape(len(rows), -1).astype(np.int8))
        engine.step(actions[at : at + len(rows)], rows)
        at += len(rows)
        ended = engine.finished[rows]
        scores = running_scores(rules, engine.state[rows].view(np.recarray))
        scores[ended] = engine.final_scores[rows[ended]]
        worth[rows] = returns_of(rules, scores, "centred")
        turns.append((rows, seats, worth[rows] - paid[rows]))
        paid[rows] = worth[rows]
        rows = rows[~ended]
    to_come = np.zeros((engine.num_games, players))
    returns = []
    for rows, seats, earned in reversed(turns):
        to_come[rows] += earned
        returns.append(to_come[rows, seats])
        to_come[rows, seats] *= gamma
    return Demonstrations(
        np.concatenate(seen),
        ActionFeatures(*(np.concatenate(parts) for parts in zip(*features, strict=True))),
        np.concatenate(hidden),
        values,
        np.concatenate(returns[::-1]).astype(np.float32),
    )


def header_of(plan: TeachingPlan) -> Header:
    """Return the header of a folder of demonstrations."""
    return Header(KIND, {**dataclasses.asdict(plan), "rules": list(plan.rules)}, {})


def make_demonstrations(
    folder: Path,
    plan: TeachingPlan,
    games: int,
    executor: Executor = HERE,
    progress: Progress = lambda done, games: None,
) -> int:
    """Write the demonstrations that a folder lacks; return the number of files.

    The files depend only on the plan. If the process is killed, each worker loses one file at most. Raises ValueError
    if the folder holds demonstrations of another plan.
    """
    tasks = [
        Task(f"file {number}", play_demonstrations, {"plan": plan, "number": number}, plan.chunk, file_of(number))
        for number in range(-(-games // plan.chunk))
    ]
    with open_run(folder, header_of(plan), executor) as run:
        run.do_all(tasks, progress)
    return len(tasks)
