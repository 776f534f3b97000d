"""The protocol of the score: its tables, the panel of opponents at each, and the deals. Frozen under a version.

Half of the deals are common to all agents, so that two agents can be compared deal by deal. The other half follow from
the digest of the agent (`score_file.Identity`): an agent that trains on them gets others. So does an agent with a new
comment in its file, so drawing again can't be prevented.

A change of the protocol, or of code that changes the panel's play, makes scores incomparable and needs a new version.
`tests/training/test_score.py` holds the panel's play bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from krypenv.engine import row_seeds
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import Control, control_of

VERSION = "krypenv-score-1"
DEALS, QUICK = 400, 100  # deals a table, and with --quick
# Deals in a task: a killed run loses no more, and a check replays whole chunks. Common and own chunks alternate.
CHUNK = 50
_LIST = 0x6B72_7970_7363_6F31  # the seed of the list of common deals

_TWO_SIDES = (
    "greedy",
    "tactician(shed=False)",
    "tactician(shed=True)",
    "rollout(worlds=10, deals=1, value='sweep')",
    "ismcts(worlds=50, explore=8.0, guided=True, value='sweep')",
    "search(worlds=20, plies=0, method='max_n', value='sweep')",
)
_RELATIVES = (*_TWO_SIDES[:2], *_TWO_SIDES[3:])
_MORE_SIDES = (*_TWO_SIDES[:5], "search(worlds=10, plies=2, method='max_n', value='sweep')")


@dataclass(frozen=True)
class OfficialTable:
    """An official table: rules, and a panel of opponents, each of which plays all other sides in turn."""

    name: str
    text: str  # the rules, in words that `Rules.parse` reads
    opponents: tuple[str, ...]

    @cached_property
    def rules(self) -> Rules:
        """The rules of the table."""
        return Rules.parse(self.text)

    @property
    def seatings(self) -> tuple[tuple[int, ...], ...]:
        """The seatings of each deal: the agent, 0, on each side in turn, and the opponent, 1, on all others."""
        sides = self.rules.num_teams
        return tuple(tuple(int(side != own) for side in range(sides)) for own in range(sides))

    @cached_property
    def control(self) -> Control:
        """The control variate that takes luck out of the margins."""
        return control_of(self.rules)


TABLES: dict[str, OfficialTable] = {
    table.name: table
    for table in (
        OfficialTable("two", "krypkasino players=2", _TWO_SIDES),
        OfficialTable("three", "krypkasino players=3", _MORE_SIDES),
        OfficialTable("four", "krypkasino players=4", _MORE_SIDES),
        OfficialTable("five", "krypkasino players=5", _MORE_SIDES),
        OfficialTable("six", "krypkasino players=6", _MORE_SIDES),
        OfficialTable("two-pairs", "krypkasino players=4 teams=2", _TWO_SIDES),
        OfficialTable("two-trios", "krypkasino players=6 teams=2", _TWO_SIDES),
        OfficialTable("three-pairs", "krypkasino players=6 teams=3", _MORE_SIDES),
        OfficialTable("howto", "howto players=2", _TWO_SIDES),
        OfficialTable("sweden", "kasino-sweden players=2", _RELATIVES),
        OfficialTable("overspader", "overspader players=2", _RELATIVES),
        OfficialTable("finland", "kasino-finland players=2", _RELATIVES),
        OfficialTable("mulle", "mulle players=2", _RELATIVES),
        OfficialTable("glimne", "mulle-glimne players=2", _RELATIVES),
        OfficialTable("glimne-pairs", "mulle-glimne players=4 teams=2", _RELATIVES),
        # New tables come last, so that the random numbers of the others stay the same.
        OfficialTable("laistokasino", "laistokasino players=2", _TWO_SIDES),
    )
}


def deals_of(count: int, digest: str) -> npt.NDArray[np.uint64]:
    """List the seeds of the first deals of an agent with a digest in hex, (count,) uint64; all tables share them.

    A longer list begins with the shorter one.
    """
    own = row_seeds(int(digest[:16], 16), count)
    seeds: npt.NDArray[np.uint64] = np.empty(count, np.uint64)
    common = are_common(count)
    seeds[common], seeds[~common] = row_seeds(_LIST, count)[: common.sum()], own[: (~common).sum()]
    return seeds


def are_common(count: int) -> npt.NDArray[np.bool_]:
    """Mark the deals that are common to all agents, (count,) bool; the others are an agent's own."""
    common: npt.NDArray[np.bool_] = np.arange(count) // CHUNK % 2 == 0
    return common
