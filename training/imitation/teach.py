"""`krypenv teach`: lessons from a searching teacher, and a network that clones it: a warm start for self-play."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import safetensors.numpy
import torch
from rich.console import Console

from krypenv.agents.neural.model_file import load_model, save_model
from krypenv.agents.neural.network import Shape
from krypenv.agents.neural.weights import Spec, check_arrays, parse_arrays
from krypenv.cards import NUM_ACTIONS, NUM_KINDS
from krypenv.envs.vector import observation_space
from krypenv.inputs.files import read_file, write_whole
from krypenv.inputs.words import shown
from krypenv.kernels.observation import SIZE
from krypenv.rules import Rules
from krypenv.training.common import bounds
from krypenv.training.common.fields import parse_rules, setting
from krypenv.training.common.folders import writing_to
from krypenv.training.common.progress import compiling, progress
from krypenv.training.evaluation.matches import MatchResult, evaluate
from krypenv.training.imitation.clone import Cloning, clone
from krypenv.training.imitation.lessons import Plan, check_lessons, give_lessons
from krypenv.training.learner.network import CardNetwork, NetworkAgent, arrays_of, tensors_of
from krypenv.training.learner.policy import CardPolicy

MODEL, CRITIC = "model", "critic.safetensors"
TEACHER = "search(worlds=16, plies=2)"
CHUNK = 250  # games in a file of lessons


@dataclass(frozen=True)
class TeachSettings:
    """All that decides what a network is taught. A new one checks itself and raises ValueError with the reason."""

    rules: str = setting("krypkasino", "preset of the rules")
    players: int | None = setting(None, "number of players [default: 2]")
    teams: int | None = setting(None, "number of teams [default: everyone alone]")
    rule: tuple[str, ...] = setting((), "a field of the rules to change, as in forced_sweep=False")
    out: str = setting("runs/lessons", "folder of the lessons and the model; lessons that are there already are kept")
    teacher: str = setting(TEACHER, "the agent that plays both sides and values every legal action")
    games: int = setting(4000, "games of the lessons", bounds.LESSONS._replace(low=1))
    temperature: float = setting(1.5, "points: the teacher draws actions by exp(value / temperature)", bounds.POINTS)
    stray: float = setting(0.03, "share of actions drawn at random instead, to see other positions too", bounds.SHARE)
    workers: int = setting(0, "processes that play lessons, 0 for all processors", bounds.WORKERS_OR_ALL)
    passes: int = setting(6, "times that the network sees each lesson", bounds.PASSES)
    batch: int = setting(2048, "decisions in a minibatch", bounds.BATCH)
    learning_rate: float = setting(2e-3, "of Adam at the start; it falls linearly", bounds.RATE)
    softness: float = setting(1.5, "points: the policy that is cloned is a softmax of value / softness", bounds.POINTS)
    discount: float = setting(0.95, "of rewards, per decision of a seat; as in the training that follows", bounds.SHARE)
    context: int = setting(128, "units of the network's layer that reads the whole observation", bounds.UNITS)
    card: int = setting(64, "units of the network's layers that score an action", bounds.UNITS)
    embedding: int = setting(8, "entries that the network learns for each action", bounds.UNITS)
    seed: int = setting(0, "seed of deals, weights and batches", bounds.SMALL_SEED)
    threads: int = setting(1, "threads of torch; one is fastest for this network", bounds.THREADS)
    deals: int = setting(1000, "duplicate deals of the evaluation at the end", bounds.DEALS)
    against: tuple[str, ...] = setting(("greedy", "tactician"), "opponents in the evaluation")

    def __post_init__(self) -> None:
        if isinstance(self.workers, int) and self.workers < 0:
            raise ValueError(f"workers is 0, for all processors, or more, not {shown(self.workers)}")
        bounds.check_numbers(self)
        self.plan()

    def game_rules(self) -> Rules:
        """Return the rules that are taught."""
        return parse_rules(self.rules, self.players, self.teams, self.rule)

    def plan(self) -> Plan:
        """Return what decides the lessons."""
        chunk = min(CHUNK, self.games)
        return Plan(str(self.game_rules()), self.teacher, self.seed, chunk, self.temperature, self.stray)

    def cloning(self) -> Cloning:
        """Return what decides how the network learns from them."""
        return Cloning(self.passes, self.batch, self.learning_rate, self.softness, self.discount, self.seed)


def teach(settings: TeachSettings, policy: CardPolicy, folder: Path, console: Console) -> float:
    """Make the lessons in a folder, or what is missing of them, clone them, and return the regret of the clone."""
    with progress(console) as show:

        def played(done: int, games: int) -> None:
            show(done / games, f"lessons: {done:,} of {games:,} games")

        files = give_lessons(folder, settings.plan(), settings.games, settings.workers or os.cpu_count() or 1, played)

        def learned(done: float, regret: float) -> None:
            show(done, f"cloning: regret {regret:.2f} points a decision")

        return clone(policy, folder, settings.plan(), files, settings.cloning(), learned)


def make_policy(settings: TeachSettings) -> CardPolicy:
    """Return a fresh policy with a critic."""
    torch.manual_seed(settings.seed)
    rules = settings.game_rules()
    return CardPolicy(
        observation_space(SIZE), gym.spaces.Discrete(NUM_ACTIONS), lambda left: settings.learning_rate, rules=rules,
        shape=Shape(settings.context, settings.card, settings.embedding), hidden=(rules.players - 1) * NUM_KINDS,
    )  # fmt: skip


def save_start(folder: Path, policy: CardPolicy, rules: Rules, **facts: Any) -> None:
    """Write a policy as a warm start: its network as a model, and its critic beside it."""
    write_whole(folder / CRITIC, safetensors.numpy.save(arrays_of(policy.critic.state_dict())))
    save_model(folder / MODEL, policy.network.arrays(), rules, **facts)


def load_start(policy: CardPolicy, folder: Path) -> None:
    """Put the network of a model, or of what `save_start` wrote, into a policy, and the critic if there is one.

    Raises ValueError where it is of other sizes.
    """
    arrays, _ = load_model(folder / MODEL if (folder / MODEL).is_dir() else folder)
    network = CardNetwork.of(arrays)
    if network.shape != policy.network.shape:
        raise ValueError(
            f"the network in {folder} has {network.shape}, and the settings ask for {policy.network.shape}"
        )
    policy.network.load_state_dict(network.state_dict())
    policy.slow.load_state_dict(network.state_dict())
    path = folder / CRITIC
    if hasattr(policy, "critic") and path.exists():
        specs = {name: Spec(tuple(tensor.shape)) for name, tensor in policy.critic.state_dict().items()}
        try:
            critic = parse_arrays(read_file(path))
            check_arrays(critic, specs)
        except ValueError as error:
            raise ValueError(
                f"{path} is torn, or a critic for another number of players or other sizes: it {error}"
            ) from None
        policy.critic.load_state_dict(tensors_of(critic))


def _rehearse(settings: TeachSettings, console: Console) -> None:
    """Make and clone two games of lessons that nobody keeps, so that all kernels are compiled; say so if any are."""
    small = dataclasses.replace(settings, games=2, passes=1, workers=1)
    with compiling(console), tempfile.TemporaryDirectory() as folder:
        teach(small, make_policy(small), Path(folder), Console(quiet=True))


def run(settings: TeachSettings, command: str) -> list[MatchResult]:
    """Make lessons, clone them, write the model, and return its evaluation.

    Raises ValueError where the folder holds other lessons, or where another process is writing to it.
    """
    console = Console()
    torch.set_num_threads(settings.threads)
    folder, rules = Path(settings.out), settings.game_rules()
    console.print(f"Teaching '{rules}' in {folder}")
    check_lessons(folder, settings.plan())
    with writing_to(folder):
        _rehearse(settings, console)
        policy = make_policy(settings)
        regret = teach(settings, policy, folder, console)
        facts = {"settings": dataclasses.asdict(settings), "command": command, "seed": settings.seed, "regret": regret}
        save_start(folder, policy, rules, **facts)
    console.print(f"Regret of the clone: {regret:.2f} points a decision. The model: {folder / MODEL}", highlight=False)
    learner = NetworkAgent(policy.network, rules, "clone", settings.seed)
    return evaluate(learner, settings.against, rules, settings.deals, seed=settings.seed + 1)
