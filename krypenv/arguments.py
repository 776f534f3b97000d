"""Checks of arguments that engine, games and environments share; each refuses a wrong value in one sentence."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.inputs.words import is_whole, shown

MOST_GAMES = 1_000_000  # games at once: 2 GB


def check_seeds(seed: Any) -> npt.NDArray[np.uint64]:
    """Convert a seed, or a sequence of seeds, to uint64; raise ValueError unless they are whole numbers."""
    try:
        seeds = np.asarray(seed)
        if seeds.dtype.kind in "iu" and not (seeds < 0).any():
            return seeds.astype(np.uint64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"a seed is a whole number from 0 to 2**64 - 1, or a sequence of them, not {shown(seed)}")


def check_switch(name: str, value: object) -> None:
    """Raise ValueError unless an argument is True or False (or 1 or 0)."""
    if not isinstance(value, (bool, np.bool_, int)) or value not in (0, 1):
        raise ValueError(f"{name} is True or False, not {shown(value)}")


def check_seed(seed: Any) -> int:
    """Convert the seed of one game to an int; raise ValueError unless it is a whole number from 0 to 2**64 - 1."""
    seeds = check_seeds(seed)
    if seeds.ndim:
        raise ValueError(f"the seed of one game is a whole number, not {shown(seed)}")
    return int(seeds)


def check_options(options: Any) -> dict[str, Any]:
    """Check the options of a reset, {} for None; raise ValueError unless they are a dict or None."""
    if not isinstance(options, (dict, type(None))):
        raise ValueError(f"options are a dict or None, not {shown(options)}")
    return options or {}


def check_whole(name: str, number: Any, low: int, high: int) -> int:
    """Convert a whole number to an int; raise ValueError if it is not one, or is out of bounds."""
    if not is_whole(number, low, high):
        raise ValueError(f"{name} is a whole number from {low:,} to {high:,}, not {shown(number)}")
    return operator.index(number)


def check_action(action: Any, num_actions: int) -> int:
    """Convert an action to an int; raise ValueError unless it is a whole number below `num_actions`."""
    number = action.item() if isinstance(action, np.ndarray) and action.size == 1 else action
    return check_whole("an action", number, 0, num_actions - 1)
