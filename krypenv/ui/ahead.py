"""Compiling ahead: another process compiles what a game will need, while a person reads and thinks.

Compiled kernels are kept on disk, where this process finds them. Beside them, marks say what is compiled already.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krypenv.runtime.workers import WORKERS, belong_to_parent, end_pool

if TYPE_CHECKING:
    from krypenv.agents.base import Agent
    from krypenv.rules import Rules
    from krypenv.ui.table import Table

OTHERS, HINT, REMARK = "others", "hint", "remark"  # what is compiled: a decision of each agent, a hint, a remark
Remark = Callable[["Table"], str]


class Ahead:
    """A process that compiles what a game of a person against agents will need. It ends when this one does.

    There is none if all of it was compiled before.

    Args:
        rules: the rules of the game.
        opponents: the agents that will play; those of a module of its own are left out.
        helper: the agent that gives hints.
        remark: what will be said about a game that is over; a function of a module.
    """

    def __init__(self, rules: Rules, opponents: Sequence[str], helper: str, remark: Remark | None = None) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._parts: dict[str, Future[None]] = {}
        work: tuple[tuple[str, Callable[..., None], Any], ...] = (
            (OTHERS, _warm, tuple(opponents)), (HINT, partial(_warm, helps=True), (helper,)), (REMARK, _remark, remark)
        )  # fmt: skip
        for part, function, of in work:
            mark = mark_of(part, str(rules), str(of if part != REMARK else remark is not None))
            if not (mark and mark.exists()):
                self._pool = self._pool or ProcessPoolExecutor(1, WORKERS, _begin, (rules,))
                self._parts[part] = self._pool.submit(_compile, mark, function, rules, of)

    def is_done(self, part: str) -> bool:
        """Return whether a part is compiled, has failed, or the process has ended."""
        return part not in self._parts or self._parts[part].done()

    def wait(self, part: str) -> None:
        """Wait until a part is done."""
        if part in self._parts:
            wait([self._parts[part]])

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._pool:
            end_pool(self._pool)


def mark_of(*facts: str) -> Path | None:
    """Return the file whose presence says that these sources were compiled for this; None where nothing is kept."""
    import numba

    from krypenv.runtime.plain import cache_folder

    known = chr(0).join((numba.__version__, platform.machine(), platform.node(), *facts))
    folder = cache_folder()
    return folder and folder / f"ahead-{hashlib.sha256(known.encode()).hexdigest()[:16]}"


def warm(agent: Agent, rules: Rules, *, helps: bool = False) -> None:
    """Have an agent decide once in a new game, or value its moves if it `helps`, which compiles what that takes."""
    from krypenv.advice.values import gives_values, values_of
    from krypenv.game.base_agent import move_of
    from krypenv.game.game import Game
    from krypenv.ui.table import SWEEP_WORLDS

    game = Game(rules, seed=0)
    if helps and gives_values(agent):
        values_of(game, agent, SWEEP_WORLDS, 0)
    else:
        move_of(agent, game)


# ---------------------------------------------------------------------- in the process


def _begin(rules: Rules) -> None:
    from krypenv.game.stack import step_game
    from krypenv.kernels.captures import borrow_scratch
    from krypenv.kernels.compiled import compile_rules
    from krypenv.runtime.jit import handle
    from krypenv.state import allocate

    belong_to_parent()
    # No action is legal in an empty state, so this compiles and does nothing, while the other process deals.
    step_game(compile_rules(rules), handle(allocate(2)), 0, 0, borrow_scratch())


def _compile(mark: Path | None, function: Callable[..., None], rules: Rules, of: Any) -> None:
    """Do once what the game will do, and leave a mark of it; what fails here fails later, and leaves none."""
    function(rules, of)
    if mark:
        with contextlib.suppress(OSError):
            mark.touch()


def _warm(rules: Rules, specs: Sequence[str], *, helps: bool = False) -> None:
    from krypenv import agents
    from krypenv.ui.table import seated

    for spec in dict.fromkeys(specs):
        if agents.is_known(spec):
            warm(seated(spec, rules, 0), rules, helps=helps)


def _remark(rules: Rules, remark: Remark | None) -> None:
    from krypenv.game.game import Game
    from krypenv.ui.table import Table

    table = Table(Game(rules, seed=0), 0, ["random"])
    while not table.game.is_over:
        table.game.act(table.game.legal_actions()[0])
    if remark:
        remark(table)
