"""The lines of an arena's results: their format, with a checksum each, and their checks.

A line is refused unless the arena of the header can have produced it at that position in the file.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from collections.abc import Container
from itertools import chain
from math import comb
from typing import Any, NamedTuple

from krypenv.inputs.files import parse_json
from krypenv.inputs.schema import (
    a_list,
    a_record,
    a_table,
    anything,
    flag,
    line,
    number,
    optional,
    text,
    whole,
    wrong,
)
from krypenv.rewards import most_points
from krypenv.rules import Rules, rules_text
from krypenv.training.arena.lineups import Seating, matches
from krypenv.training.arena.shards import Line, breaks_ties, forfeit_scores
from krypenv.training.evaluation.deals import deal_seeds

Header = dict[str, Any]  # the first line of the file; see docs/arena.md

MOST_AGENTS, MOST_MATCHES = 10_000, 1_000_000
MOST_DEALS = 2**31
MOST_POINTS = 10**7  # absolute points of a side in a game or session
_CHECKSUM = re.compile(rb',"crc":"([0-9a-f]{8})"}\Z')
_AGENT = a_record({"name": text, "cheats": flag, "weights_sha256": a_list(line)})
_check_header = a_record(
    {
        "rules": rules_text, "agents": a_list(_AGENT, 2, MOST_AGENTS),
        "deals": whole(1, MOST_DEALS), "deals_from": anything, "deals_list": line, "seed": whole(0, None),
        "chunk": whole(1, MOST_DEALS), "pairs": flag, "precision": optional(number(5e-324, sys.float_info.max)),
        "machine": a_table(anything),
    },
    {"first": whole(0), "command": text, "rules_sha256": line},  # earlier versions also wrote a hash of the rules
)  # fmt: skip
LINE_KEYS = ("match", "chunk", "of", "deal", "seats", "scores", "forfeits", "agents", "decisions", "seconds")
TIE_BREAKS = "tie_breaks"  # an entry of lines under rules that break ties
_check_keys = a_record(dict.fromkeys(LINE_KEYS, anything))
_check_more_keys = a_record(dict.fromkeys((*LINE_KEYS, TIE_BREAKS), anything))
_TIE_BREAK = whole(0, 2**31 - 1)
_SCORE = whole(-MOST_POINTS, MOST_POINTS)


def encode(values: dict[str, Any]) -> bytes:
    """Return a line of the file: plain values as JSON, with a checksum as the last entry."""
    plain = json.dumps(
        {key: value for key, value in values.items() if key != "crc"}, separators=(",", ":"), allow_nan=False
    )
    return _sign(plain.encode())


def _sign(plain: bytes) -> bytes:
    return plain[:-1] + b',"crc":"%08x"}\n' % zlib.crc32(plain)


def parse(data: bytes, signed: bool | None = None) -> dict[str, Any]:
    """Return the values of a line without its line end; raises ValueError if it is invalid or was changed.

    Lines of earlier versions have no checksum. A checksum is required if `signed` is true, refused if it is false, and
    optional if it is None.
    """
    found = _CHECKSUM.search(data)
    if found and zlib.crc32(data[: found.start()] + b"}") != int(found[1], 16):
        raise ValueError("does not agree with its checksum")
    values = parse_json(data)
    if not isinstance(values, dict):
        raise ValueError("is no object")
    if ("crc" in values or signed) and not found:
        raise ValueError("has lost its checksum")
    if found and signed is False:
        raise ValueError("has a checksum, and line 1 has lost its own")
    return values


def check_header(header: Header) -> None:
    """Raise ValueError, with the entry, unless an arena can have written a header."""
    _check_header(header, "")
    names = [agent["name"] for agent in header["agents"]]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise wrong(name, f"agents[{at}].name", "an agent that is not named before")
    if type(header["deals_from"]) not in (str, int):
        raise wrong(header["deals_from"], "deals_from", "a list of deals or a seed")
    deal_seeds(header["deals_from"], 1)
    whole(0, len(names))(header.get("first", 0), "first")


class _Place(NamedTuple):
    """The position of a line: line `at` of `of` in a chunk of a match."""

    match: int
    chunk: int
    of: int
    at: int


class LineCheck:
    """The check of the lines of one arena's results, called with one line after another.

    Raises ValueError for a header with more matches than can be read.
    """

    def __init__(self, header: Header) -> None:
        rules = Rules.parse(header["rules"])
        self.sides, self.chunk = rules.num_teams, header["chunk"]
        self.matches = seatings_of(len(header["agents"]), self.sides, header["pairs"], header.get("first", 0))
        self.members = [sorted(set(chain(*match))) for match in self.matches]
        self.breaks_ties = breaks_ties(rules)
        self.forfeited = [forfeit_scores(rules, side) for side in range(self.sides)]
        self.penalty = "all points" if rules.goal == "low" else "none, and the others have all points"
        self.sums = _possible_sums(rules)
        self.place = _Place(-1, -1, 0, 0)  # of the last line
        self.done: set[tuple[int, int]] = set()  # complete chunks, as match and chunk

    def __call__(self, values: Line) -> None:
        """Raise ValueError, with the entry, for a line that can't be the next one."""
        (_check_more_keys if self.breaks_ties else _check_keys)(values, "")
        match = values["match"]
        whole(0, len(self.matches) - 1)(match, "match")
        whole(0, MOST_DEALS)(values["chunk"], "chunk")
        whole(1, self.chunk)(values["of"], "of")
        self._check_place(values)
        seats, members = self.matches[match], self.members[match]
        if repr(values["seats"]) != repr([list(seating) for seating in seats]):
            raise ValueError(f"seats are not the seatings of match {match}")
        if repr(values["agents"]) != repr(members):
            raise wrong(values["agents"], "agents", f"the agents of match {match}, {members}")
        a_list(a_list(_SCORE, self.sides, self.sides), len(seats), len(seats))(values["scores"], "scores")
        if self.breaks_ties:
            a_list(a_list(_TIE_BREAK, self.sides, self.sides), len(seats), len(seats))(values[TIE_BREAKS], TIE_BREAKS)
        a_list(whole(0), len(members), len(members))(values["decisions"], "decisions")
        a_list(number(0), len(members), len(members))(values["seconds"], "seconds")
        forfeited = self._check_forfeits(values["forfeits"], seats, values["scores"])
        for at, scores in enumerate(values["scores"]):
            if self.sums is not None and sum(scores) not in self.sums and at not in forfeited:
                raise wrong(scores, f"scores[{at}]", "scores that sum to the points of a game")

    def _check_place(self, values: Line) -> None:
        """Raise ValueError unless a line continues the chunk of the last line, or begins a new chunk."""
        last = self.place
        place = _Place(values["match"], values["chunk"], values["of"], 0)
        if last.at < last.of:
            if (place.match, place.chunk, place.of) != (last.match, last.chunk, last.of):
                done = f"{last.at} of its {last.of} deals in chunk {last.chunk}"
                raise ValueError(f"match {last.match} has {done}, and another one follows")
            place = last
        elif (place.match, place.chunk) in self.done:
            raise ValueError(f"match {place.match} has chunk {place.chunk} twice")
        deal = place.chunk * self.chunk + place.at
        if type(values["deal"]) is not int or values["deal"] != deal:
            raise wrong(values["deal"], "deal", f"the next deal of its chunk, {deal}")
        self.place = place._replace(at=place.at + 1)
        if self.place.at == place.of:
            self.done.add((place.match, place.chunk))

    def _check_forfeits(self, forfeits: Any, seats: list[Seating], scores: list[list[int]]) -> set[int]:
        """Return the forfeited seatings; raises ValueError if the forfeits disagree with the scores."""
        found: set[int] = set()
        a_list(a_list(anything, 3, 3), 0, len(seats))(forfeits, "forfeits")
        for at, (seating, agent, reason) in enumerate(forfeits):
            place = f"forfeits[{at}]"
            whole(0, len(seats) - 1)(seating, f"{place}[0]")
            text(reason, f"{place}[2]")
            if seating in found:
                raise ValueError(f"{place} names seating {seating} a second time")
            found.add(seating)
            sides = [side for side, sitting in enumerate(seats[seating]) if sitting == agent]
            if type(agent) is not int or scores[seating] not in [self.forfeited[side] for side in sides]:
                raise ValueError(f"{place} is not what scores[{seating}] says: the side at fault has {self.penalty}")
        return found


def seatings_of(agents: int, sides: int, pairs: bool, first: int) -> list[list[Seating]]:
    """Return the seatings of each match of an arena; raises ValueError for more than a million matches."""
    if (comb(agents, 2) * 2 if pairs and sides > 2 else comb(agents, sides)) > MOST_MATCHES:
        raise ValueError(f"{agents} agents are too many for all their matches with {sides} sides")
    everyone = matches(agents, sides, pairs)
    return [seatings for seatings in everyone if not first or min(seatings[0]) < first]


def _possible_sums(rules: Rules) -> Container[int] | None:
    """Return the possible sums of the scores of a game or session (R14, K3), or None if any sum is possible."""
    if rules.games == 0:
        return None
    pays = rules.sweep_payer == "seat_before"  # so that sweeps sum to nothing
    if pays and (rules.sweeps_cancel or rules.sweep_limit is not None or not rules.last_deal_sweeps):
        return None
    if not pays or rules.capture == "optional" or most_points(rules) > _fixed_points(rules):
        swept = 0 if pays else (1 + (rules.double_sweep != "none")) * rules.sweep_points * rules.deck_size
        low = rules.games * min(0, rules.initial_match_bonus)
        return range(low, rules.games * (most_points(rules) + swept) + 1)
    lengths = range(1, rules.games + 1) if rules.threshold is not None else [rules.games]
    bonuses = range(rules.games + 1) if rules.initial_match_bonus else [0]
    return {
        rules.total_points * length + rules.initial_match_bonus * bonus
        for length in lengths
        for bonus in bonuses
        if bonus <= length
    }


def _fixed_points(rules: Rules) -> int:
    """Return a game's points that somebody gets in any case if captures are maximal, a match included."""
    return rules.total_points + abs(rules.initial_match_bonus)
