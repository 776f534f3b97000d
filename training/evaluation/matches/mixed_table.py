"""Tables: play games to the end, with an agent on each side; faults raise or forfeit; times and tokens of agents."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import sub
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.agents import Agent
from krypenv.agents.programs.llm import Usage
from krypenv.cards import action_name
from krypenv.engine import Engine
from krypenv.features import observation_for, want_history
from krypenv.inputs.words import describe_error, one_line, printable
from krypenv.kernels.scoring import points_of_sweeps
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.meter import Control, Meter
from krypenv.training.evaluation.matches.margins import NO_FIGURE, FloatArray, IntArray


class Fault(ValueError):
    """An agent raised, or returned something other than a legal action; the message says which agent did what."""


class Forfeit(NamedTuple):
    """A row taken out of play, and the reason."""

    row: int
    agent: int  # index of the agent at fault
    side: int
    reason: str  # the fault, as in "raised ValueError: no rows"


@dataclass(frozen=True)
class Played:
    """The results of B rows. The arrays by side are meaningless in a forfeited row."""

    scores: IntArray  # (B, S) final score of each side, the sum over its seats (R16)
    points: IntArray  # (B, S) points of captured cards within that score
    taken: IntArray  # (B, S) points for own sweeps within it
    set_up: IntArray  # (B, S) points for sweeps of the next seat within it; zero or negative
    tie_breaks: IntArray  # (B, S) compared between equal scores (K6, F7)
    decisions: IntArray  # (A,) timed decisions of each agent
    seconds: FloatArray  # (A,) processor time of these decisions, of all threads of the process
    forfeits: list[Forfeit]
    luck: FloatArray | None  # (B, S) each side's luck, in points of margin, if it was measured; as `Meter.luck`
    luck_parts: FloatArray | None  # (B, S, V) the same by each of the control's V players; as `Meter.parts`
    usage: list[Usage]  # (A,) of each agent; zero unless it is a language model


def play_table(
    agents: Sequence[Agent],
    rules: Rules,
    seeds: npt.NDArray[np.uint64],
    lineup: npt.ArrayLike,
    forfeits: bool = False,
    control: Control | None = None,
    on_step: Callable[[IntArray, IntArray], None] | None = None,
) -> Played:
    """Play B games at once, each to the end of its session.

    A round calls each of the A agents once, with all rows in which it is to act. The first call of each agent, which
    may compile, is not timed. An agent with a true attribute `cheats` is called as `act_on(state, action_masks)` with a
    copy of the rows' `krypenv.state.State`, instead of `act`.

    Args:
        agents: A agents.
        rules: the rules of the games.
        seeds: (B,) of their deals.
        lineup: (B, S) ints, the index of the agent on each side of each game (R16).
        forfeits: take rows at fault out of play and continue with the others; without it, a fault raises `Fault`.
        control: the control variate that measures luck; a forfeited row has the luck of its deals until then.
        on_step: called with the rows of each step, (M,), and their actions, before they are carried out.
    """
    engine = Engine(rules, len(seeds), seeds, history=want_history(agents))
    sides, lineup = rules.num_teams, np.asarray(lineup)
    every_row = np.arange(engine.num_games)
    active = np.ones(engine.num_games, np.bool_)
    decisions, seconds = np.zeros(len(agents), np.int64), np.zeros(len(agents))
    called = np.zeros(len(agents), np.bool_)
    forfeited: list[Forfeit] = []
    before = [_usage_of(agent) for agent in agents]
    meter = Meter(rules, control) if control else None
    if meter:
        meter.begin(engine)
    while active.any():
        for index, agent in enumerate(agents):
            rows = np.flatnonzero(active & (lineup[every_row, engine.seat % sides] == index))
            if len(rows) == 0:
                continue
            masks = engine.action_mask[rows]
            views = engine.state[rows] if getattr(agent, "cheats", False) else engine.observation[rows]
            actions, faults, took = ask(agent, views, masks, forfeits)
            if faults:
                places = list(faults)
                forfeited += [
                    Forfeit(int(row), index, int(engine.seat[row]) % sides, reason)
                    for row, reason in zip(rows[places], faults.values(), strict=True)
                ]
                active[rows[places]] = False
                rows, actions = np.delete(rows, places), np.delete(actions, places)
            if called[index]:
                seconds[index] += took
                decisions[index] += len(rows)
            called[index] = True
            if on_step:
                on_step(rows, actions)
            engine.step(actions, rows)
            active[engine.finished] = False
            if meter:
                meter.update(engine, rows[active[rows]])
    sweeps = points_of_sweeps(rules, engine.final_sweeps.astype(np.int64) - engine.final_void_sweeps)
    by_seat = engine.final_scores, engine.final_points, *sweeps
    by_side = [seats.astype(np.int64).reshape(len(seats), -1, sides).sum(axis=1) for seats in by_seat]
    return Played(
        scores=by_side[0],
        points=by_side[1],
        taken=by_side[2],
        set_up=by_side[3],
        tie_breaks=engine.final_tie_breaks[:, :sides].astype(np.int64),
        decisions=decisions,
        seconds=seconds,
        forfeits=forfeited,
        luck=meter.luck if meter else None,
        luck_parts=meter.parts if meter else None,
        usage=list(map(sub, map(_usage_of, agents), before)),
    )


def join_tables(parts: Sequence[Played]) -> Played:
    """Join the results of several tables with the same agents; forfeits are dropped."""

    def join(name: str) -> Any:
        arrays = [getattr(part, name) for part in parts]
        return None if arrays[0] is None else np.concatenate(arrays)

    return Played(
        **{name: join(name) for name in ("scores", "points", "taken", "set_up", "tie_breaks", "luck", "luck_parts")},
        decisions=np.sum([part.decisions for part in parts], axis=0),
        seconds=np.sum([part.seconds for part in parts], axis=0),
        forfeits=[],
        usage=[sum(of_agent, Usage()) for of_agent in zip(*(part.usage for part in parts), strict=True)],
    )


def milliseconds(seconds: npt.ArrayLike, decisions: IntArray) -> FloatArray:
    """Compute each agent's mean milliseconds per decision, (A,) and (A,) to (A,); nan without decisions."""
    return 1000 * np.asarray(seconds) / np.where(decisions == 0, np.nan, decisions)


def format_milliseconds(value: float) -> str:
    """Format a time in milliseconds with two significant digits, as in "0.0013" or "12"."""
    if math.isnan(value):
        return NO_FIGURE
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}" if value else "0"


def print_usage(usage: Iterable[tuple[str, Usage | None]]) -> None:
    """Print a line of tokens, seconds and legality for each language model, after its name or that of its table."""
    for name, its in usage:
        if its:
            print(f"{printable(name)}: {its}")


def _usage_of(agent: Agent) -> Usage:
    usage = getattr(agent, "usage", None)
    return usage if isinstance(usage, Usage) else Usage()


def ask(agent: Agent, views: np.ndarray, masks: np.ndarray, forfeits: bool) -> tuple[IntArray, dict[int, str], float]:
    """Ask an agent for an action in each of M rows; return the actions, the faults by row, and the processor seconds.

    If the call for all rows fails, each row is tried alone. Without `forfeits`, any fault is raised, with the name.
    """
    began = time.process_time()
    try:
        actions = _answer(agent, views, masks)
    except Fault as fault:
        if not forfeits:
            raise Fault(f"{one_line(agent.name)} {fault}") from fault.__cause__
        if len(masks) == 1:
            return np.zeros(1, np.int64), {0: str(fault)}, 0.0
        rows = [slice(at, at + 1) for at in range(len(masks))]
        answers, reasons, took = zip(*(ask(agent, views[row], masks[row], forfeits) for row in rows), strict=True)
        return np.concatenate(answers), {at: reason[0] for at, reason in enumerate(reasons) if reason}, sum(took)
    seconds = time.process_time() - began
    known = (actions >= 0) & (actions < masks.shape[1])
    is_legal = known & (masks[np.arange(len(masks)), np.where(known, actions, 0)] == 1)
    faults = {int(at): _illegal(int(actions[at]), masks[at]) for at in np.flatnonzero(~is_legal)}
    if faults and not forfeits:
        raise Fault(f"{one_line(agent.name)} {next(iter(faults.values()))}")
    return actions, faults, seconds


def _answer(agent: Agent, views: np.ndarray, masks: np.ndarray) -> IntArray:
    """Call an agent with M observations or, if it cheats, states; return its answer, (M,) int64.

    An observation has the blocks that the agent needs (`observation_for`). Raises Fault if the agent raises or the
    answer is not one whole number per row. KeyboardInterrupt and MemoryError are not faults and propagate.
    """
    try:
        if getattr(agent, "cheats", False):
            actions = np.asarray(agent.act_on(views, masks.copy()))  # type: ignore[attr-defined]
        else:
            actions = np.asarray(agent.act(observation_for(agent, agent.rules, views, masks), masks.copy()))
        shape, kind = actions.shape, actions.dtype
    except BaseException as error:  # an agent may also raise SystemExit
        if type(error) is KeyboardInterrupt or isinstance(error, MemoryError):
            raise
        raise Fault(describe_error(error)) from error
    if shape != (len(masks),) or kind.kind not in "iu":
        raise Fault(
            f"gave {one_line(str(kind), 80)} of shape {shape} for {len(masks)} decisions, "
            f"and not whole numbers of shape ({len(masks)},)"
        )
    return actions.astype(np.int64)


def _illegal(action: int, mask: np.ndarray) -> str:
    chosen = action_name(action) if 0 <= action < len(mask) else f"action {action}"
    legal = ", ".join(action_name(int(number)) for number in np.flatnonzero(mask))
    return f"chose {chosen}, which is illegal; legal is {legal}"
