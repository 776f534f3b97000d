"""Agents that misbehave at a table, and odd games of an arena: forfeits, sound figures, or one sentence.

That agents misbehave is tried whole in `tests/ui/test_asked_for.py`.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.fuzzing import REFUSED, Tally, attempt, check_sentence, fuzzer

from krypenv import Rules
from krypenv.agents.scripted import Greedy

LOW = Rules.preset("mini-low")


class Unspeakable(Exception):
    """An error that can't be told."""

    def __str__(self) -> str:
        raise SystemExit(3)


class LikeAnInterrupt(KeyboardInterrupt):
    """Not what Ctrl-C raises."""


class Shapeless:
    """What numpy can't make an array of."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("no array")


ERRORS: tuple[Callable[[], BaseException], ...] = (
    SystemExit, GeneratorExit, LikeAnInterrupt, StopIteration, Unspeakable, RecursionError, BaseException, KeyError,
    AssertionError, lambda: SystemExit(0), lambda: SystemExit("bye"), lambda: ValueError("x" * 1_000_000),
    lambda: ValueError("a\nb\r\nc"), lambda: ValueError("\x00\u202e\ud800"), lambda: BrokenPipeError(32, "pipe"),
    lambda: type("E\n\x00" * 50, (Exception,), {})("y"), lambda: OSError(28, "full", "a\nb"),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
)  # fmt: skip
ANSWERS: tuple[Callable[[np.ndarray], Any], ...] = (
    lambda legal: None, lambda legal: "x", lambda legal: legal.astype(object), lambda legal: (each for each in legal),
    lambda legal: legal * 1.0, lambda legal: legal + 2**40, lambda legal: -legal - 1, lambda legal: legal.astype(bool),
    lambda legal: [10**30] * len(legal), lambda legal: legal * np.nan, lambda legal: legal[:-1], lambda legal: [[]],
    lambda legal: legal[:, None], lambda legal: Shapeless(), lambda legal: {}, lambda legal: 0j + legal,
    lambda legal: legal.astype("datetime64[s]"), lambda legal: legal.astype(str), lambda legal: 10**5000,
    lambda legal: np.uint64(2**63) + legal.astype(np.uint64), lambda legal: [None] * len(legal),
    lambda legal: np.zeros(0),
)  # fmt: skip
RIGHT: tuple[Callable[[np.ndarray], Any], ...] = (  # odd, and nevertheless legal
    lambda legal: legal.tolist(), lambda legal: legal.astype(np.uint8), lambda legal: tuple(legal),
    lambda legal: legal.astype(np.int64)[::-1][::-1], lambda legal: legal.view(np.ndarray),
)  # fmt: skip
ODD_PARTS: tuple[tuple[str, Any], ...] = (
    ("name", None), ("name", 3), ("name", "x" * 10_000), ("name", "a\nb\x00"), ("rules", None), ("rules", "mini-low"),
    ("rules", Rules.preset("mini-high")), ("act", None), ("act", 3), ("cheats", True), ("cheats", np.zeros(2)),
)  # fmt: skip


class Odd(Greedy):
    """Plays like greedy, but for what it does now and then; it also spoils what it is given."""

    def __init__(self, rules: Rules, seed: int, deed: Callable[[np.ndarray], Any], often: float) -> None:
        super().__init__(rules, seed)
        self.deed, self.often, self.random = deed, often, random.Random(seed)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        legal = super().act(observations, action_masks)
        is_now = self.random.random() < self.often
        observations[:], action_masks[:] = 7, 7
        return self.deed(legal) if is_now else legal


def raising(make: Callable[[], BaseException]) -> Callable[[np.ndarray], Any]:
    """Return a deed that raises."""

    def deed(_: np.ndarray) -> Any:
        raise make()

    return deed


def play_odd(deed: Callable[[np.ndarray], Any], is_right: bool, often: float, seed: int, tally: Tally) -> None:
    """Let an agent misbehave in an arena's shard, and on both sides of a duplicate match."""
    from krypenv.training.evaluation.arena.games import Shard, play_shard
    from krypenv.training.evaluation.matches.duplicate import duplicate_match

    sources: dict[int, Any] = {0: Odd(LOW, seed, deed, often), 1: "random"}
    shard = Shard(0, 0, 0, np.arange(2, dtype=np.uint64) + seed, ((0, 1), (1, 0)), sources, LOW, seed)
    chunk = play_shard(shard)
    lost = chunk["forfeits"]
    assert not (is_right and lost), lost
    assert all(agent == 0 for _, _, agent, _ in lost), lost
    assert len(lost) == 4 or is_right or often < 1, lost
    for *_, reason in lost:
        check_sentence(ValueError(reason), deed)
    assert np.abs(chunk["scores"]).sum(axis=2).max() <= 10_000
    assert json.loads(json.dumps(chunk, allow_nan=False)) == chunk
    odd = Odd(LOW, seed, deed, often)
    result = attempt(lambda: duplicate_match(odd, "random", LOW, 2, seed), tally, deed)
    assert result is not REFUSED or not is_right
    odd = Odd(LOW, seed, deed, often)
    result = attempt(lambda: duplicate_match("greedy", odd, LOW, 2, seed), tally, deed)
    assert result is not REFUSED or not is_right


def make_odd(part: str, value: Any, tally: Tally) -> None:
    """Hand in an agent with an odd attribute, or without one."""
    from krypenv.training.evaluation.matches.duplicate import duplicate_match
    from krypenv.training.evaluation.matches.players import make_fresh_player

    agent = Greedy(LOW, 1)
    setattr(agent, part, value)
    bare = type("Bare", (), {each: getattr(agent, each) for each in ("name", "rules", "act") if each != part})()
    for each in (agent, bare, None, 3, Greedy, value, ("odd",), ()):
        if not isinstance(each, str):
            attempt(lambda each=each: duplicate_match(each, "random", LOW, 1), tally, (part, value))
            attempt(lambda each=each: make_fresh_player(each, LOW, 1), tally, (part, value))


def every_deed() -> Iterator[tuple[Callable[[np.ndarray], Any], bool]]:
    """Yield everything that an agent may do wrong, and some odd things that are right."""
    yield from ((raising(error), False) for error in ERRORS)
    yield from ((answer, False) for answer in ANSWERS)
    yield from ((answer, True) for answer in RIGHT)


# ---------------------------------------------------------------------- games of an arena

NAMES = (
    "a", "<script>alert(1)</script>", "two\nlines", "\u202eright to left", "\U0001f600", "x" * 10_000, "$x$", "", "  ",
    "[bold]b[/bold]", "\ud800", "\x00\x1b[31m", "{{ 7 * 7 }}", "&amp;", "'\"", "</title>", "a\u2028b", "\\",
)  # fmt: skip


def draw_games(rng: np.random.Generator) -> Any:
    """Return odd games."""
    from krypenv.training.evaluation.arena.games import Games

    rules = Rules.preset("krypkasino", players=int(rng.integers(2, 5)))
    sides, size, number = rules.num_teams, int(rng.integers(2, 6)), int(rng.choice([0, 1, 2, 3, 8, 40]))
    agents = rng.integers(0, int(rng.integers(2, size + 1)), (number, sides))
    agents[:, 0] = (agents[:, 1] + 1) % size
    scores = (
        np.zeros((number, sides)), np.full((number, sides), 7.0), rng.integers(-50, 50, (number, sides)) * 1.0,
        rng.integers(0, 2, (number, sides)) * 1e6,
    )[int(rng.integers(0, 4))]  # fmt: skip
    deal = np.zeros(number, np.int64) if rng.random() < 0.3 else rng.integers(0, 5, number)
    forfeit = agents[:, 0].copy() if rng.random() < 0.3 else np.full(number, -1)
    times = rng.choice([np.nan, 0.0, 1e-9, 1.0, 1e9], size)
    names = tuple(str(name) for name in rng.choice(NAMES, size, replace=False))
    return Games(names, rules, deal, agents, scores, forfeit, times, ("x <b>\n raised",) * int(rng.integers(0, 2)))


@fuzzer(share=0.5, seed=st.integers(0, 1 << 32))
def arena_games(tally: Tally, seed: int) -> None:
    """The standings of odd games are made, if there are any; their figures are sound, and can be printed and shown."""
    from krypenv.training.evaluation.arena.standings import print_standings, standings

    games = draw_games(np.random.default_rng(seed))
    table = attempt(lambda: standings(games), tally, games)
    if table is REFUSED:
        return
    figures = json.loads(json.dumps(table.to_json(), allow_nan=False))
    margin = table.payoffs.margin
    np.testing.assert_allclose(margin, -margin.T)
    playing = {games.names[agent] for agent in games.agents.ravel().tolist()}
    assert {each["agent"] for each in figures["agents"] if each["margin"] is not None} == playing
    for each in figures["agents"]:
        assert each["win_rate"] is None or 0 <= each["win_rate"] <= 1
        assert each["low"] is None or each["low"] <= each["margin"] <= each["high"]
        assert 0 <= each["forfeits"] <= len(games.deal)
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        print_standings(table)
    assert shown.getvalue().replace("\n", "").isprintable()
