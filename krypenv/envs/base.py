"""What all environments share: how a seat is paid and what it sees, whose hand is shown, and their keywords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box

from krypenv.arguments import check_seeds, check_switch, chosen_rules
from krypenv.families.variants import Family
from krypenv.features import width_of
from krypenv.game.display import TURN, check_render_seat
from krypenv.game.game import Game
from krypenv.inputs.words import check_keywords
from krypenv.observation import history_size
from krypenv.pictures.rendering import FPS, RENDER_MODES, Pixels, Renderer
from krypenv.rewards import check_reward, illegal_reward
from krypenv.rules import Rules


@dataclass(frozen=True)
class Terms:
    """How a seat is paid, and what it sees; the same keywords in every environment."""

    reward: str = "centred"  # "centred", "points" or "win", see `krypenv.rewards.returns_of`
    dense: bool = False  # pay rewards as points fall, instead of at the end of the episode
    features: bool = False  # append the features block (`krypenv.features`) to the observation
    history: bool = False  # and then the plays of the current deal (`krypenv.observation.HISTORY_COLUMNS`)

    def __post_init__(self) -> None:
        check_reward(self.reward)
        for name in ("dense", "features", "history"):
            check_switch(name, getattr(self, name))

    def width(self, rules: Rules) -> int:
        """Return N, the number of entries of an observation."""
        return width_of(rules, self.features) + history_size(rules, self.history)

    def illegal_reward(self, rules: Rules) -> float:
        """Return the reward for an illegal action, which ends the episode."""
        return illegal_reward(rules, self.reward, self.dense)


@dataclass(frozen=True)
class View:
    """How a person sees an environment; the same keywords in every environment that is rendered."""

    render_mode: str | None = None  # "human", "rgb_array" or "ansi"
    render_seat: int | str | None = TURN  # whose hand is open: "turn", a seat, "all" or None


def read_terms(call: str, given: Mapping[str, Any]) -> Terms:
    """Return the terms that keywords ask for; raise TypeError for an unknown one, ValueError for a wrong value."""
    check_keywords(call, given, [field.name for field in fields(Terms)])
    return Terms(**given)


def observation_space(size: int) -> Box:
    """Return the space of one seat's observation, (N,) int8."""
    return Box(-128, 127, (size,), np.int8)


def successive_seeds(seed: Any, count: int) -> npt.NDArray[np.uint64]:
    """Return the seeds of so many games, `seed + i` for game i, or those of a sequence; raise ValueError if wrong."""
    seeds = check_seeds(seed)
    if seeds.ndim == 0:
        if int(seeds) > (1 << 64) - count:
            raise ValueError(f"game i has the seed {seeds} + i, and a seed is below 2**64")
        return np.uint64(seeds) + np.arange(count, dtype=np.uint64)
    if seeds.shape != (count,):
        raise ValueError(f"{count} games need {count} seeds, not an array of shape {seeds.shape}")
    return seeds


def read_keywords(
    call: str, family: Family, given: Mapping[str, Any], own: tuple[str, ...] = ()
) -> tuple[Rules, Terms, View]:
    """Return the rules, the terms and the view that keywords ask for.

    Rules are complete ones as `rules`, or fields of rules that change the preset of a `variant`.

    Args:
        call: the environment's name in messages.
        family: the games that it plays.
        given: the keywords.
        own: others that it takes, which have been read.

    Raises TypeError for an unknown keyword, and ValueError for a wrong value, in one sentence.
    """
    names = {part: [field.name for field in fields(part)] for part in (Terms, View)}
    known = ["rules", "variant", "players", "games", *own, *names[Terms], *names[View]]
    of_rules = {name: value for name, value in given.items() if name not in known}
    rules, variant, players, games = map(given.get, known[:4])
    rules = chosen_rules(call, known, family, rules, variant, of_rules, players=players, games=games)
    terms, view = ({name: given[name] for name in names[part] if name in given} for part in (Terms, View))
    return rules, Terms(**terms), View(**view)


class Rendered:
    """An environment that a person may watch; `begin_view` prepares it."""

    family: ClassVar[Family]
    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": FPS}  # noqa: RUF012
    render_mode: str | None = None

    def begin_view(self, view: View, rules: Rules, title: str) -> None:
        """Keep how the games of some rules are to be shown; raise ValueError for what can't be."""
        self.render_mode, self.render_seat = view.render_mode, check_render_seat(view.render_seat, rules.players)
        self._renderer = None if view.render_mode is None else Renderer(view.render_mode, title)

    def show(self, game: Game | None, seat: int | None = None) -> Pixels | str | None:
        """Return a picture of a game, or show it in a window, as the render mode says; without one, warn.

        With a `seat`, that sits at the bottom, and its hand is open where that of the seat to act would be.
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
