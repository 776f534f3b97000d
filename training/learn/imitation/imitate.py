"""`krypenv imitate`: train a network to imitate a search, as initial weights for self-play."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import safetensors.numpy
import torch
from rich.console import Console

from krypenv.adapters.vector import observation_space
from krypenv.agents.neural.model_file import load_model, rules_in, save_model
from krypenv.agents.neural.network import inputs_of
from krypenv.agents.neural.weights import Spec, check_arrays, parse_arrays
from krypenv.cards import NUM_KINDS
from krypenv.inputs.files import read_file, write_whole
from krypenv.rules import Rules
from krypenv.training.evaluation.matches.duplicate import MatchResult, evaluate
from krypenv.training.learn.imitation.cloning import BehaviourCloning, clone_behaviour
from krypenv.training.learn.imitation.demonstrations import TeachingPlan, header_of, make_demonstrations
from krypenv.training.learn.ladder import KRYPKASINO, ladder_of
from krypenv.training.learn.learner.policy import CardPolicy
from krypenv.training.learn.learner.torch_network import (
    CardNetwork,
    NetworkAgent,
    arrays_of,
    tensors_of,
    torch_threads_kept,
)
from krypenv.training.runs import check_run, limits, panels
from krypenv.training.runs.folders import writing_to
from krypenv.training.runs.options import Command, Part, an_output, part, setting
from krypenv.training.runs.parts import (
    AllProcessors,
    Evaluation,
    GameRules,
    Network,
    a_seed,
    further_rules,
    initial_weights,
    rules_together,
    some_threads,
)
from krypenv.training.runs.progress import compiling, progress

MODEL, CRITIC, DEMONSTRATIONS = "model", "critic.safetensors", "demonstrations"
CHUNK = 250  # games in a file of demonstrations


@dataclass(frozen=True)
class Demonstrating(Part):
    """Which demonstrations to make."""

    panel: ClassVar[str] = panels.DEMONSTRATIONS
    teacher: str = setting(KRYPKASINO.teacher, "agent to imitate; it plays every seat and values every legal action")
    games: int = setting(4000, "games of the teacher to record", limits.DEMONSTRATIONS._replace(low=1))
    temperature: float = setting(
        1.5, "in points: the teacher samples actions from softmax(value / temperature)", limits.POINTS
    )
    epsilon: float = setting(0.03, "probability of a random action instead, for more varied positions", limits.SHARE)


@dataclass(frozen=True)
class ImitationSettings(Command):
    """The settings of `krypenv imitate`. Raises ValueError if one is out of bounds."""

    command: ClassVar[str] = "imitate"
    game: GameRules = part(GameRules())
    also: tuple[str, ...] = further_rules()
    out: str = an_output(
        "runs/imitation",
        "folder for the demonstrations and the model; demonstrations that it already holds are reused",
    )
    demonstrating: Demonstrating = part(Demonstrating())
    place: AllProcessors = part(AllProcessors(), ray="play demonstrations on a Ray cluster")
    cloning: BehaviourCloning = part(BehaviourCloning())
    network: Network = part(Network())
    init_from: str = initial_weights()
    seed: int = a_seed()
    threads: int = some_threads()
    evaluation: Evaluation = part(Evaluation())

    def __post_init__(self) -> None:
        super().__post_init__()
        self.plan()

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the agents and the numbers of the rules' ladder."""
        ladder = ladder_of(GameRules.among(given))
        return {
            "teacher": ladder.teacher,
            "against": ladder.against[:2],
            "temperature": ladder.temperature,
            "target_temperature": ladder.temperature,
            "gamma": ladder.gamma,
        }

    def game_rules(self) -> Rules:
        """Return the main rules that the teacher plays."""
        return self.game.parse()

    def plan(self) -> TeachingPlan:
        """Return what determines the demonstrations."""
        asked, rules = self.demonstrating, tuple(map(str, rules_together(self.game_rules(), self.also)))
        if asked.games < len(rules):
            raise ValueError(f"{len(rules)} rule sets need a demonstration each at least, not {asked.games} in all")
        chunk = min(CHUNK, asked.games // len(rules))
        return TeachingPlan(rules, asked.teacher, self.seed, chunk, asked.temperature, asked.epsilon)


def imitate(settings: ImitationSettings, policy: CardPolicy, folder: Path, console: Console) -> float:
    """Make the demonstrations that a folder lacks, train the policy on all of them, and return its regret."""
    with progress(console) as show:

        def played(done: int, games: int) -> None:
            show(done / games, f"demonstrations: {done:,} of {games:,} games")

        asked, plan = settings.demonstrating, settings.plan()
        files = make_demonstrations(folder, plan, asked.games, settings.place.executor, played)

        def learned(done: float, regret: float) -> None:
            show(done, f"cloning: regret {regret:.2f} points a decision")

        return clone_behaviour(policy, folder, plan, files, settings.cloning, settings.seed, learned)


def make_policy(settings: ImitationSettings) -> CardPolicy:
    """Return a policy with a critic, fresh or with the weights that it is to start from."""
    torch.manual_seed(settings.seed)
    rules, rate, players = settings.game_rules(), settings.cloning.learning_rate, settings.plan().players
    policy = CardPolicy(
        observation_space(rules.observation_size), gym.spaces.Discrete(rules.num_actions), lambda left: rate,
        rules=rules, shape=settings.network.shape, hidden=(players - 1) * NUM_KINDS,
    )  # fmt: skip
    if settings.init_from:
        load_start(policy, Path(settings.init_from))
    return policy


def save_start(folder: Path, policy: CardPolicy, rules: Rules, **facts: Any) -> None:
    """Write a policy as initial weights: its network as a model, and its critic beside it."""
    write_whole(folder / CRITIC, safetensors.numpy.save(arrays_of(policy.critic.state_dict())))
    save_model(folder / MODEL, policy.network.arrays(), rules, **facts)


def load_start(policy: CardPolicy, folder: Path) -> None:
    """Load initial weights into a policy: the network of a model, or what `save_start` wrote, with its critic.

    Raises ValueError if the sizes differ.
    """
    arrays, card = load_model(folder / MODEL if (folder / MODEL).is_dir() else folder)
    network = CardNetwork.of(arrays, inputs_of(rules_in(card)))
    if network.inputs != policy.network.inputs:
        raise ValueError(
            f"the network in {folder} was trained for '{rules_in(card)}', which shows other entries or features than "
            "the rules of this run; start from a model of the same game"
        )
    if network.shape != policy.network.shape:
        raise ValueError(
            f"the network in {folder} has {network.shape}, and the settings ask for {policy.network.shape}"
        )
    policy.network.load_state_dict(network.state_dict())
    policy.ema.load_state_dict(network.state_dict())
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


def _rehearse(settings: ImitationSettings, console: Console) -> None:
    """Imitate two games in a temporary folder so that all kernels are compiled; say so if any are."""
    small = settings.changed(games=2 + 2 * len(settings.also), bc_epochs=1, workers=1)
    with compiling(console), tempfile.TemporaryDirectory() as folder:
        imitate(small, make_policy(small), Path(folder), Console(quiet=True))


@torch_threads_kept()
def run_imitation(settings: ImitationSettings) -> list[MatchResult]:
    """Make demonstrations, train a network on them, write the model, and return its evaluation.

    Raises ValueError if the folder holds other demonstrations, another run is writing to it, or there are no such
    weights to start from.
    """
    console = Console()
    torch.set_num_threads(settings.threads)
    folder, rules, policy = Path(settings.out), settings.game_rules(), make_policy(settings)
    console.print(f"Imitating {settings.demonstrating.teacher} at '{rules}' in {folder}", markup=False)
    with writing_to(folder):
        check_run(folder / DEMONSTRATIONS, header_of(settings.plan()))
        _rehearse(settings, console)
        regret = imitate(settings, policy, folder / DEMONSTRATIONS, console)
        facts = {"settings": settings.flat(), "command": settings.line, "seed": settings.seed, "regret": regret}
        save_start(folder, policy, rules, **facts, also=list(settings.plan().rules[1:]))
    console.print(
        f"Regret of the clone: {regret:.2f} points a decision. The model: {folder / MODEL}",
        highlight=False,
        markup=False,
    )
    learner = NetworkAgent(policy.network, rules, "clone", settings.seed)
    return evaluate(learner, settings.evaluation.against, rules, settings.evaluation.deals, seed=settings.seed + 1)
