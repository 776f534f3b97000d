"""The settings of a training: a model whose fields are the options of `krypenv train`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from pydantic import model_validator

from krypenv.agents.base import is_main
from krypenv.agents.neural.network import Shape, inputs_of
from krypenv.agents.own import Typed, is_own, refuse_import
from krypenv.inputs.words import command_line
from krypenv.rules import Rules
from krypenv.training.settings.base import AgentName, Settings, option, output
from krypenv.training.settings.groups import (
    EVALUATION,
    LARGEST_SMALL_SEED,
    LENGTH,
    MOST_DEALS,
    NETWORK,
    OPPONENTS,
    PPO,
    RECORDS,
    REWARDS,
    RULES,
    START,
    GameSettings,
    rules_given,
    seed_option,
)

PAST = "past"  # names a past version of the learner among its opponents
MOST_AT_ONCE = 10_000_000  # most decisions between updates; they fit into memory


class Family(NamedTuple):
    """Defaults of training for a family of games."""

    gamma: float  # discount per decision of a seat; 1 where majorities are paid at the end
    against: tuple[str, ...]  # opponents of the final evaluation, from the weakest to the strongest


KRYPKASINO = Family(0.95, ("tactician", "tactician(shed=True)", "search"))
RELATIVES = Family(1.0, ("greedy", "tactician", "search"))


def family_of(rules: Rules) -> Family:
    """Find the family of some rules."""
    return KRYPKASINO if is_main(rules) else RELATIVES


class Opponents(Settings):
    """The learner's opponents, beside itself."""

    group: ClassVar[str] = OPPONENTS

    opponents: tuple[AgentName, ...] = option(
        (), f"an agent that plays in a share of the games; {PAST} is a past version of the learner", metavar="AGENT"
    )
    opponent_share: float = option(
        0.25, "share of the games in which one side learns and opponents, if there are any, play the rest", ge=0, le=1
    )


class NetworkSettings(Settings):
    """The sizes of a network."""

    group: ClassVar[str] = NETWORK

    context: int = option(128, "units of the layer that reads the whole observation", ge=1, le=8192)
    card: int = option(64, "units of the layers that score an action", ge=1, le=8192)
    embedding: int = option(8, "size of the learned embedding of each action", ge=1, le=8192)

    @property
    def shape(self) -> Shape:
        """The sizes as a network's `Shape`."""
        return Shape(self.context, self.card, self.embedding)


class Ppo(Settings):
    """The options of PPO."""

    group: ClassVar[str] = PPO

    envs: int = option(512, "games at once", ge=1, le=1_000_000)
    steps: int = option(32, "decisions in each game between updates", ge=1, le=10_000)
    batch: int = option(1024, "decisions in a minibatch", ge=1, le=10_000_000)
    epochs: int = option(2, "passes over the decisions in an update", ge=1, le=10_000)
    learning_rate: float = option(
        1e-3, "learning rate of Adam at the start, falling linearly to a twentieth", gt=0, le=10
    )
    gamma: float = option(KRYPKASINO.gamma, "discount of rewards per decision of a seat", ge=0, le=1)
    gae_lambda: float = option(0.8, "lambda of generalized advantage estimation", ge=0, le=1)
    clip: float = option(0.2, "clip range of PPO's probability ratios", gt=0, le=10)
    ent_coef: float = option(0.01, "weight of the entropy bonus", ge=0, le=1000)
    kl_coef: float = option(0.05, "weight of the KL divergence from the EMA policy", ge=0, le=1000)
    ema_decay: float = option(0.98, "decay of the EMA policy in each update", ge=0, le=1)
    vf_coef: float = option(0.5, "weight of the value loss", ge=0, le=1000)
    critic: bool = option(True, "let the critic see the hidden hands in training")


class Records(Settings):
    """The checkpoints and the learning curve of a run."""

    group: ClassVar[str] = RECORDS

    checkpoint_every: float = option(30.0, "seconds between checkpoints", gt=0, le=1e12)
    curve_every: float = option(
        30.0, "seconds between points of the learning curve, which lie closer at the beginning", gt=0, le=1e12
    )
    curve_deals: int = option(100, "duplicate deals of a point", ge=1, le=MOST_DEALS)
    yardstick: AgentName = option("search(worlds=30)", "agent against which the learning curve is measured")


class TrainSettings(Records, NetworkSettings, Ppo, Opponents, GameSettings):
    """All settings of a training; raises ValueError with one sentence for invalid ones.

    >>> TrainSettings(players=4, frames=100_000).line
    'krypenv train --players 4 --frames 100000'
    """

    command: ClassVar[str] = "train"

    also: tuple[str, ...] = option((), "further rules for the same network, as in 'krypkasino players=4'", RULES)
    out: str | None = output(None, "folder of the run; it must be new or empty [default: runs/ and the time]")
    resume: str | None = output(None, "folder of a run to resume, with its own settings")
    frames: int = option(
        1_500_000, "length in decisions of the learner, the same on every machine", LENGTH, ge=1, le=10**12
    )
    minutes: float | None = option(
        None, "length in minutes instead; evaluations come on top [default: as long as the frames take]", LENGTH,
        gt=0, le=1e6,
    )  # fmt: skip
    seed: int = seed_option("seed of deals, weights and batches", LARGEST_SMALL_SEED)
    device: Literal["auto", "cpu", "cuda"] = option("auto", "where to learn; auto: on a GPU where there is one", LENGTH)
    threads: int = option(1, "torch threads; one is fastest for this network", LENGTH, ge=1, le=1024)
    init_from: str | None = option(None, "folder of a model whose weights to start from", START)
    reward: Literal["centred", "points", "win"] = option("centred", "what the learner maximizes", REWARDS)
    dense: bool = option(True, "pay rewards as points fall, not at the end of the game", REWARDS)
    deals: int = option(1000, "duplicate deals of the final evaluation", EVALUATION, decides=False, ge=1, le=MOST_DEALS)
    against: tuple[AgentName, ...] = option(
        KRYPKASINO.against, "opponent in the final evaluation", EVALUATION, metavar="AGENT", decides=False, min_length=1
    )

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Choose the discount and the opponents of the rules' family."""
        with contextlib.suppress(ValueError):  # invalid rules are refused below
            return family_of(rules_given(cls, given))._asdict()
        return {}

    @model_validator(mode="after")
    def _check(self) -> TrainSettings:
        if self.decisions > MOST_AT_ONCE:
            raise ValueError(
                f"envs times steps come to at most {MOST_AT_ONCE:,} decisions, which fit into memory, "
                f"not {self.decisions:,}"
            )
        self.all_rules()
        return self

    @property
    def decisions(self) -> int:
        """The learner's decisions between two updates."""
        return self.envs * (1 + len(self.also)) * self.steps

    def all_rules(self) -> tuple[Rules, ...]:
        """List the rules that the network learns, the main ones first; raises ValueError if it can't play one."""
        main, others = self.game_rules(), tuple(map(Rules.parse, self.also))
        for rules in others:
            if inputs_of(rules) != inputs_of(main):
                raise ValueError(
                    f"one network can't learn '{main}' and '{rules}', whose observations or action features have other "
                    "entries; train a network for each"
                )
        return main, *others

    def named_agents(self) -> list[str]:
        """List all agents of a training."""
        return [*(name for name in self.opponents if name != PAST), *self.against, self.yardstick]

    def typed_by(self, person: TrainSettings) -> TrainSettings:
        """Trust those agents of these settings, read from a file, that a person has named again.

        Raises ValueError for a custom agent that is not named again: nothing that only a file names is imported.
        """
        theirs: Sequence[str] = [name for name in person.named_agents() if isinstance(name, Typed)]
        for option_name in ("opponents", "against", "yardstick"):
            value = getattr(self, option_name)
            for name in value if isinstance(value, tuple) else (value,):
                if is_own(name) and name not in theirs:
                    again = f"krypenv train --resume {person.resume} --{option_name} {command_line(name)}"
                    refuse_import(name, f"to resume the run, name it again: {again}")
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields})
