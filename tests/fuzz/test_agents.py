"""Agents that misbehave: in an arena they forfeit, in a match they are told of in one sentence."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from support.fuzzing import ODD, REFUSED, attempt, check_sentence, fuzz

from krypenv import Rules
from krypenv.agents.scripted import Greedy
from krypenv.training.evaluation.arena.arena import Shard, play_shard
from krypenv.training.evaluation.matches.duplicate import duplicate_match
from krypenv.training.evaluation.matches.players import make_fresh_player

LOW = Rules.preset("mini-low")
Deed = Callable[[np.ndarray], Any]  # what an agent makes of legal actions


class Unspeakable(Exception):
    """An error that can't be told."""

    def __str__(self) -> str:
        raise SystemExit(3)


class Shapeless:
    """What numpy can't make an array of."""

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise RuntimeError("no array")


ERRORS: tuple[BaseException, ...] = (
    SystemExit(0), SystemExit("bye"), GeneratorExit(), type("LikeAnInterrupt", (KeyboardInterrupt,), {})(),
    StopIteration(), Unspeakable(), BaseException(), ValueError("x" * 1_000_000), ValueError("\x00\u202e\ud800\r\nc"),
    BrokenPipeError(32, "pipe"), type("E\n" * 50, (Exception,), {})("y"), OSError(28, "full", "a\nb"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
)  # fmt: skip
WRONG: tuple[Deed, ...] = (
    *(lambda legal, error=error: error for error in ERRORS),
    *(lambda legal, value=value: value for value in (*ODD, Shapeless())),
    lambda legal: legal.astype(object), lambda legal: (each for each in legal), lambda legal: legal * 1.0,
    lambda legal: legal + 2**40, lambda legal: -legal - 1, lambda legal: legal * np.nan, lambda legal: legal[:-1],
    lambda legal: legal[:, None], lambda legal: 0j + legal, lambda legal: legal.astype("datetime64[s]"),
    lambda legal: legal.astype(str), lambda legal: np.uint64(2**63) + legal.astype(np.uint64),
)  # fmt: skip
RIGHT: tuple[Deed, ...] = (np.ndarray.tolist, tuple, lambda legal: legal.astype(np.uint8), lambda legal: legal[::1])


class Odd(Greedy):
    """Plays like greedy, but for what it does now and then; it also spoils what it is given."""

    def __init__(self, seed: int, deed: Deed, often: float) -> None:
        super().__init__(LOW, seed)
        self.deed, self.often, self.random = deed, often, random.Random(seed)

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        legal = super().act(observations, action_masks)
        observations[:], action_masks[:] = 7, 7
        answer = self.deed(legal) if self.random.random() < self.often else legal
        if isinstance(answer, BaseException):
            raise answer
        return answer


@fuzz(share=4, deed=st.sampled_from(WRONG + RIGHT), often=st.sampled_from((1.0, 0.3)), seed=st.integers(0, 1 << 32))
def test_an_agent_that_misbehaves_loses_and_one_that_is_odd_and_right_does_not(
    deed: Deed, often: float, seed: int
) -> None:
    is_right = deed in RIGHT
    sources: dict[int, Any] = {0: Odd(seed, deed, often), 1: "random"}
    chunk = play_shard(Shard(0, 0, 0, np.arange(2, dtype=np.uint64) + seed, ((0, 1), (1, 0)), sources, LOW, seed))
    lost = chunk["forfeits"]
    assert not (is_right and lost), lost
    assert all(agent == 0 for _, _, agent, _ in lost), lost
    assert len(lost) == 4 or is_right or often < 1, lost
    for *_, reason in lost:
        check_sentence(ValueError(reason), deed)
    assert np.abs(chunk["scores"]).sum(axis=2).max() <= 10_000
    assert json.loads(json.dumps(chunk, allow_nan=False)) == chunk
    for sides in ((Odd(seed, deed, often), "random"), ("random", Odd(seed, deed, often))):
        result = attempt(partial(duplicate_match, *sides, LOW, 2, seed), deed)
        assert result is not REFUSED or not is_right


@fuzz(share=8, part=st.sampled_from(("name", "rules", "act", "cheats")), value=st.sampled_from((*ODD, LOW, "mini-low")))
def test_an_agent_with_an_odd_part_or_without_it_plays_or_is_refused(part: str, value: Any) -> None:
    agent, bare = Greedy(LOW, 1), Greedy(LOW, 1)
    setattr(agent, part, value)
    kept = {each: getattr(bare, each) for each in ("name", "rules", "act") if each != part}
    for each in (agent, type("Bare", (), kept)(), value):
        attempt(partial(duplicate_match, each, "random", LOW, 1), (part, value))
        attempt(partial(make_fresh_player, each, LOW, 1), (part, value))
