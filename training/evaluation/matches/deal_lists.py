"""Lists of deals: fixed, versioned lists, which make results of different people comparable, and those of any seed."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from krypenv.engine import row_seeds
from krypenv.inputs.words import did_you_mean, is_whole, shown

# Version and seed of each list. A list never changes: other deals get a new version with a new seed.
LISTS = {"dev": (1, 0x6B72_7970_6465_7631), "test": (1, 0x6B72_7970_7465_7331)}


def deal_seeds(source: str | int, count: int) -> npt.NDArray[np.uint64]:
    """List the seeds of the first deals of a list, (count,) uint64: deal i is that of `Game(rules, seed=seeds[i])`.

    `source` is "dev" for development, "test" for reported results, or a seed from 0 on, as a number or in digits. A
    longer list begins with the shorter one. Raises ValueError for anything else.

    >>> len(deal_seeds("test", 1000))
    1000
    """
    return row_seeds(_seed(source), count)


def describe_list(source: str | int) -> str:
    """Name a list with its version, as shown with results.

    >>> describe_list("dev"), describe_list("7")
    ('dev v1', 'seed 7')
    """
    return f"{source} v{LISTS[source][0]}" if isinstance(source, str) and source in LISTS else f"seed {_seed(source)}"


def _seed(source: str | int) -> int:
    if isinstance(source, str) and source in LISTS:
        return LISTS[source][1]
    seed = int(source) if isinstance(source, str) and re.fullmatch("[0-9]{1,20}", source) else source
    if is_whole(seed, 0, (1 << 64) - 1):
        return int(seed)
    near = did_you_mean(source, LISTS) if isinstance(source, str) else ""
    raise ValueError(f"deals come from {', '.join(LISTS)} or a seed, 0 to 2**64 - 1, not from {shown(source)}{near}")
