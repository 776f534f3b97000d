"""Demonstrations: games of a search agent against itself, with its value of every legal action.

A file holds a few hundred games as actions and values. Replaying the games from their seeds restores the observations.
Nothing in a file is executed.
"""

from __future__ import annotations

import dataclasses
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from krypenv import agents
from krypenv.agents.neural.action_features import ActionFeatures, gather_action_features
from krypenv.agents.search.sampler import Sampler
from krypenv.engine import Engine
from krypenv.inputs.files import parse_json, read_file, write_whole
from krypenv.inputs.schema import a_record, number, sentence_of, text, whole
from krypenv.rewards import returns_of, running_scores
from krypenv.rules import Rules, rules_text
from krypenv.training.common.processes import pool_of

FORMAT = 1
INDEX = "demonstrations.json"
LARGEST_FILE = 1 << 30  # bytes in a file of demonstrations, unpacked
MOST_POINTS = 2000.0  # the largest absolute value of an action
_check_index = a_record(
    {
        "format": whole(FORMAT, FORMAT), "rules": rules_text, "teacher": text, "seed": whole(0, None),
        "chunk": whole(1, 1_000_000), "temperature": number(), "epsilon": number(0, 1),
    },
    more=False,
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """All that determines the demonstrations in a folder."""

    rules: str
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
        self.make_teacher(0)

    def make_teacher(self, number: int) -> Sampler:
        """Return the teacher for a file; raises ValueError for an agent that does not value actions."""
        teacher = agents.make_known(self.teacher, Rules.parse(self.rules), int(self.stream(number).integers(1 << 62)))
        if not isinstance(teacher, Sampler) or not teacher.gives_values:
            raise ValueError(
                f"{self.teacher} can't teach, as it does not value actions; search, rollout and guided can"
            )
        return teacher

    def stream(self, number: int) -> np.random.Generator:
        """Return the random numbers of a file."""
        return np.random.default_rng([self.seed, number])

    def deal(self, number: int) -> Engine:
        """Return the games of a file, dealt."""
        seeds = np.random.SeedSequence([self.seed, number, 1]).generate_state(self.chunk, np.uint64)
        return Engine(Rules.parse(self.rules), self.chunk, seeds)


@dataclass(frozen=True)
class Demonstrations:
    """N decisions of whole games, in the order of play, with L legal actions in all."""

    observations: npt.NDArray[np.int8]  # (N, S)
    features: ActionFeatures
    hidden: npt.NDArray[np.int8]  # (N, (P - 1) * 52) the others' hands, the seat to the left first
    values: npt.NDArray[np.float32]  # (L,) the teacher's value of each legal action, -inf if it was pruned
    returns: npt.NDArray[np.float32]  # (N,) what the seat earned from there on, discounted per own decision


def file_of(folder: Path, number: int) -> Path:
    """Return the path of a file of demonstrations."""
    return folder / f"demonstrations-{number:05d}.npz"


def play_demonstrations(plan: Plan, number: int) -> bytes:
    """Play the games of a file with the teacher, and return the bytes of the file."""
    teacher, random, engine = plan.make_teacher(number), plan.stream(number), plan.deal(number)
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
    file = io.BytesIO()
    np.savez_compressed(file, actions=np.concatenate(played), values=np.concatenate(valued))
    return file.getvalue()


def read_demonstrations(folder: Path, plan: Plan, number: int, gamma: float) -> Demonstrations:
    """Replay the games of a file and return their decisions; raises ValueError if the file is torn or was changed."""
    path = file_of(folder, number)
    try:
        actions, values = _parse(read_file(path))
        return _replay(plan.deal(number), actions, values, gamma)
    except _UNREADABLE:
        raise ValueError(f"{path} is torn or was changed; remove it, and the same command makes it anew") from None


def _parse(data: bytes) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
    """Return the actions and the values in the bytes of a file; raises one of `_UNREADABLE`."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        if sum(each.file_size for each in packed.infolist()) > LARGEST_FILE:
            raise ValueError("too large")
        if any(each.compress_type != zipfile.ZIP_DEFLATED for each in packed.infolist()):
            raise ValueError("packed in another way")  # unpacking it may raise errors of other types
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        actions, values = file["actions"], file["values"]
    if (actions.dtype, values.dtype, actions.ndim, values.ndim) != (np.uint8, np.float16, 1, 1):
        raise ValueError("arrays of other types")
    if np.isnan(values).any() or (np.where(values == -np.inf, 0, np.abs(values)) > MOST_POINTS).any():
        raise ValueError("values that nobody can expect")
    return actions, values.astype(np.float32)


_UNREADABLE = (
    KeyError, ValueError, IndexError, EOFError, RuntimeError, OverflowError, MemoryError, AttributeError, TypeError,
    SyntaxError, zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


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
    if at != len(actions) or sum(len(each.actions) for each in features) != len(values):
        raise ValueError("the actions don't fit the games")
    counts = np.concatenate([each.counts for each in features])
    if not np.isfinite(np.maximum.reduceat(values, np.cumsum(counts) - counts)).all():
        raise ValueError("a decision without a value")
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


def make_demonstrations(
    folder: Path, plan: Plan, games: int, workers: int, progress: Callable[[int, int], None] = lambda done, games: None
) -> int:
    """Write the demonstrations that a folder lacks; return the number of files.

    The files depend only on the plan. If the process is killed, each worker loses one file at most. Raises ValueError
    if the folder holds demonstrations of another plan.
    """
    check_demonstrations(folder, plan)
    index = {"format": FORMAT, **dataclasses.asdict(plan)}
    write_whole(folder / INDEX, (json.dumps(index, indent=2) + "\n").encode())
    files = -(-games // plan.chunk)
    missing = [number for number in range(files) if not file_of(folder, number).exists()]
    done = files - len(missing)
    progress(done * plan.chunk, files * plan.chunk)
    with pool_of(_Writer(folder, plan), workers if len(missing) > 1 else 1) as write:
        for _ in write(missing):
            done += 1
            progress(done * plan.chunk, files * plan.chunk)
    return files


def check_demonstrations(folder: Path, plan: Plan) -> None:
    """Raise ValueError if a folder holds demonstrations of another plan; rename the files of older versions."""
    rename_older_files(folder)
    if (folder / INDEX).exists():
        there = read_index(folder)
        if there != plan:
            raise ValueError(
                f"{folder} holds demonstrations of another plan: {there}, not {plan}; choose another folder"
            )
    elif folder.is_dir() and any(folder.glob("demonstrations-*.npz")):
        raise ValueError(
            f"{folder} holds demonstrations, but no {INDEX} that says what they are; choose another folder"
        )


def rename_older_files(folder: Path) -> None:
    """Rename the files of older versions, which called demonstrations lessons."""
    for path in [*folder.glob("lessons-*.npz"), *folder.glob("lessons.json")]:
        path.rename(path.with_name(path.name.replace("lessons", "demonstrations")))


def read_index(folder: Path) -> Plan:
    """Return the plan of the demonstrations in a folder; raises ValueError if there are none."""
    path = folder / INDEX
    if not path.is_file():
        raise ValueError(f"{folder} holds no demonstrations; krypenv imitate makes them")
    try:
        fields = parse_json(read_file(path))
        if isinstance(fields, dict) and "stray" in fields:  # the name in older versions
            fields = {"epsilon" if name == "stray" else name: value for name, value in fields.items()}
        _check_index(fields, "")
        del fields["format"]
        return Plan(**fields)
    except ValueError as error:
        raise ValueError(f"{path} is torn or of another version: {sentence_of(error)}") from None


@dataclass(frozen=True)
class _Writer:
    """Writes files of demonstrations, in any process."""

    folder: Path
    plan: Plan

    def __call__(self, number: int) -> None:
        write_whole(file_of(self.folder, number), play_demonstrations(self.plan, number))
