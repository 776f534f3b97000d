"""What all environments share: how a seat is paid and what it sees, whose hand is shown, and their keywords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box

from krypenv.arguments import check_seeds, check_switch
from krypenv.engine import row_seeds
from krypenv.families.variants import Family, family_of
from krypenv.features import width_of
from krypenv.game.display import TURN, check_render_seat
from krypenv.game.game import Game
from krypenv.inputs.words import check_keywords, check_name, one_line
from krypenv.observation import history_size
from krypenv.pictures.rendering import FPS, RENDER_MODES, Pixels, Renderer
from krypenv.rewards import check_reward, illegal_reward
from krypenv.rules import FIELDS, Rules, as_rules

LONGEST = 600  # characters of a message about rules
VIEW = ("render_mode", "render_seat")  # keywords of every environment that a person may watch, see `Rendered`


@dataclass(frozen=True)
class Terms:
    """The rewards and the observations of a seat; these are keywords of every environment."""

    reward: str = "centred"  # "centred", "points" or "win", see `krypenv.rewards.returns_of`
    dense: bool = False  # pay rewards as points fall, instead of at the end of the episode
    features: bool = False  # append the features block (`krypenv.features`) to the observation
    history: bool = False  # and then the plays of the current deal (`krypenv.observation.HISTORY_COLUMNS`)

    def __post_init__(self) -> None:
        check_reward(self.reward)
        for name in ("dense", "features", "history"):
            check_switch(name, getattr(self, name))

    def width(self, rules: Rules) -> int:
        """Compute N, the number of entries of an observation."""
        return width_of(rules, self.features) + history_size(rules, self.history)

    def illegal_reward(self, rules: Rules) -> float:
        """Compute the reward for an illegal action, which ends the episode."""
        return illegal_reward(rules, self.reward, self.dense)


TERMS = tuple(field.name for field in fields(Terms))


def read_keywords(
    call: str, family: Family, keywords: Mapping[str, Any], own: tuple[str, ...] = ()
) -> tuple[Rules, Terms, dict[str, Any]]:
    """Make the rules and the terms of an environment from its keywords, and select those of its view.

    Args:
        call: the environment's name in messages.
        family: the games that it plays.
        keywords: `rules`, complete ones, or a `variant` and fields of `Rules` that change its preset; `TERMS`
            and `VIEW`.
        own: further keywords of the environment, for messages.

    Raises TypeError for an unknown keyword, and ValueError in one sentence for a wrong value, for rules of another
    family, and if both complete rules and fields are given.
    """
    known = ["rules", "variant", "players", "games", *own, *TERMS, *VIEW]
    check_keywords(call, keywords, [*known, *(name for name in FIELDS if name not in known)])
    changes = {
        name: value
        for name, value in keywords.items()
        if name not in known or (name in ("players", "games") and value is not None)
    }
    rules = _read_rules(family, keywords.get("rules"), keywords.get("variant"), changes)
    terms, view = ({name: keywords[name] for name in part if name in keywords} for part in (TERMS, VIEW))
    return rules, Terms(**terms), view


def _read_rules(family: Family, rules: Any, variant: Any, changes: dict[str, Any]) -> Rules:
    """Check complete rules, or make those of a variant with some fields changed."""
    if rules is None:
        variant = family.default if variant is None else variant
        check_name("variant", variant, family.variants, f" of {family.module}")
        try:
            return Rules.preset(family.variants[variant], **changes)
        except ValueError as error:
            raise ValueError(one_line(str(error), LONGEST)) from None
    if superfluous := [name for name, value in {"variant": variant, **changes}.items() if value is not None]:
        named = one_line(", ".join(superfluous))
        raise ValueError(f"rules=Rules(...) are complete rules; give either them or {named}, not both")
    rules = as_rules(rules)
    if (home := family_of(rules.name)) is not family:
        raise ValueError(
            f"{family.module} plays rules made from {', '.join(family.variants.values())}; those made from "
            f"{rules.name} are for {home.module}"
        )
    return rules


def observation_space(size: int) -> Box:
    """Make the space of one seat's observation, (N,) int8."""
    return Box(-128, 127, (size,), np.int8)


def successive_seeds(seed: Any, count: int) -> npt.NDArray[np.uint64]:
    """Make `count` seeds, (count,) uint64: `seed + i`, or those of a sequence; raise ValueError if they are wrong."""
    seeds = check_seeds(seed)
    if seeds.ndim:
        return row_seeds(seeds, count)
    if int(seeds) > (1 << 64) - count:
        raise ValueError(f"game i has the seed {seeds} + i, and a seed is below 2**64")
    return np.uint64(seeds) + np.arange(count, dtype=np.uint64)


class Rendered:
    """An environment that a person may watch; `begin_view` prepares it."""

    family: ClassVar[Family]
    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}  # noqa: RUF012
    render_mode: str | None = None

    def begin_view(
        self, rules: Rules, title: str, render_mode: str | None = None, render_seat: int | str | None = TURN
    ) -> None:
        """Prepare rendering; raise ValueError for an unknown render mode or seat.

        Args:
            rules: the rules.
            title: of a window.
            render_mode: "human", "rgb_array" or "ansi".
            render_seat: whose hand is open: "turn", a seat, "all" or None.
        """
        self.render_mode, self.render_seat = render_mode, check_render_seat(render_seat, rules.players)
        self._renderer = None if render_mode is None else Renderer(render_mode, title)

    def show(self, game: Game | None, seat: int | None = None) -> Pixels | str | None:
        """Draw a game, as pixels, as text or in a window, by the render mode; without a mode, warn.

        A given `seat` sits at the bottom. With "turn" its hand is open, in place of that of the seat to act.
        """
        if self._renderer is None or game is None:
            gymnasium.logger.warn("render() needs a render mode, as in render_mode='ansi'")
            return None
        is_own = seat is not None and self.render_seat == TURN
        return self._renderer.show(game, seat if is_own else self.render_seat, seat or 0)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._renderer is not None:
            self._renderer.close()
