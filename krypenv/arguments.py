"""Arguments of the environments: each is checked before anything is done, and refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import NUM_ACTIONS
from krypenv.wording import told

MOST_GAMES = 1_000_000  # games at once: 2 GB
MOST_THREADS = 1024


def check_games(num_games: Any) -> None:
    """Raise ValueError unless a number of games at once is a whole number from 1 on that fits into memory."""
    is_whole = isinstance(num_games, (int, np.integer)) and not isinstance(num_games, bool)
    if not is_whole or not 1 <= num_games <= MOST_GAMES:
        raise ValueError(f"there are 1 to {MOST_GAMES:,} games at once, which fit into memory, not {told(num_games)}")


def check_threads(threads: Any) -> None:
    """Raise ValueError unless a number of threads is a whole number that some machine may have use for."""
    is_whole = isinstance(threads, (int, np.integer)) and not isinstance(threads, bool)
    if not is_whole or not 0 <= threads <= MOST_THREADS:
        raise ValueError(f"threads is 0, for all processors, or up to {MOST_THREADS:,}, not {told(threads)}")


def check_seeds(seed: Any) -> npt.NDArray[np.uint64]:
    """Return a seed, or seeds in a sequence, as an array of uint64; ValueError where they are no whole numbers."""
    try:
        seeds = np.asarray(seed)
        if seeds.dtype.kind in "iu" and not (seeds < 0).any():
            return seeds.astype(np.uint64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"a seed is a whole number from 0 to 2**64 - 1, or a sequence of them, not {told(seed)}")


def check_switch(name: str, value: object) -> None:
    """Raise ValueError unless an argument is True or False (or 1 or 0)."""
    if not isinstance(value, (bool, np.bool_, int)) or value not in (0, 1):
        raise ValueError(f"{name} is True or False, not {told(value)}")


def check_mode(render_mode: Any) -> None:
    """Raise ValueError for a render mode: there is nothing to render."""
    if render_mode is not None:
        raise ValueError(f"there is nothing to render, so render_mode is None, not {told(render_mode)}")


def check_seed(seed: Any) -> int:
    """Return the seed of one game as a number; raises ValueError for what is no whole number from 0 to 2**64 - 1."""
    seeds = check_seeds(seed)
    if seeds.ndim:
        raise ValueError(f"the seed of one game is a whole number, not {told(seed)}")
    return int(seeds)


def check_options(options: Any) -> dict[str, Any]:
    """Return the options of a reset; raises ValueError unless they are a dict or None."""
    if not isinstance(options, (dict, type(None))):
        raise ValueError(f"options are a dict or None, not {told(options)}")
    return options or {}


def check_action(action: Any) -> int:
    """Return an action as a number; raises ValueError for what is no whole number from 0 to 104."""
    number = np.asarray(action) if isinstance(action, (int, np.integer, np.ndarray)) else np.array(None)
    if number.size != 1 or number.dtype.kind not in "iu" or not 0 <= number.item() < NUM_ACTIONS:
        raise ValueError(f"an action is a whole number from 0 to {NUM_ACTIONS - 1}, not {told(action)}")
    return int(number.item())
