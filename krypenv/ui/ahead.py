"""Compiling ahead: another process compiles what a game will need, while a person reads and thinks.

Compiled kernels are kept on disk, where this process finds them. Beside them, a mark says what is compiled already.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from krypenv.runtime.workers import WORKERS

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from krypenv.agents.base import Agent
    from krypenv.rules import Rules
    from krypenv.ui.table import Table

OTHERS, HINT, REMARK = "others", "hint", "remark"  # what is compiled: a decision of each agent, a hint, a remark


class Ahead:
    """A process that compiles what a game of a person against agents will need. It ends when this one does.

    There is none if all of it was compiled before.

    Args:
        rules: the rules of the game.
        opponents: the agents that will play; those of a module of its own are left out.
        helper: the agent that gives hints.
        remark: what will be said about a game that is over; a function of a module.
    """

    def __init__(
        self, rules: Rules, opponents: Sequence[str], helper: str, remark: Callable[[Table], str] | None = None
    ) -> None:
        self._left: set[str] = set()
        self._process: BaseProcess | None = None
        mark = mark_of(rules, opponents, helper, remark is not None)
        if mark and mark.exists():
            return
        self._reports, reports = WORKERS.Pipe(duplex=False)
        self._process = WORKERS.Process(
            target=_compile, args=(reports, rules, list(opponents), helper, remark, mark), daemon=True
        )
        self._process.start()
        reports.close()
        self._left = {OTHERS, HINT, REMARK}

    def is_done(self, part: str) -> bool:
        """Return whether a part is compiled, or the process has ended."""
        while part in self._left and self._reports.poll():
            self._read()
        return part not in self._left

    def wait(self, part: str) -> None:
        """Wait until a part is compiled, or the process has ended."""
        while part in self._left:
            self._read()

    def _read(self) -> None:
        try:
            self._left.discard(self._reports.recv())
        except (EOFError, OSError):
            self._left.clear()

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process:
            self._process.kill()
            self._process.join()
        self._left.clear()


def mark_of(rules: Rules, opponents: Sequence[str], helper: str, has_remark: bool) -> Path | None:
    """Return the file whose presence says that these sources were compiled for this; None where nothing is kept."""
    import numba

    from krypenv.runtime.plain import cache_folder

    facts = [numba.__version__, platform.machine(), platform.node(), str(rules), *opponents, helper, str(has_remark)]
    folder = cache_folder()
    return folder and folder / f"ahead-{hashlib.sha256(chr(0).join(facts).encode()).hexdigest()[:16]}"


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


def _compile(
    reports: Connection,
    rules: Rules,
    opponents: list[str],
    helper: str,
    remark: Callable[[Table], str] | None,
    mark: Path | None,
) -> None:
    """Do once what the game will do, part by part, in the order in which it is needed; what fails there fails later."""
    from krypenv.game.stack import step_game
    from krypenv.kernels.captures import borrow_scratch
    from krypenv.kernels.compiled import compile_rules
    from krypenv.runtime.jit import handle
    from krypenv.state import allocate

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the person's Ctrl-C is for the table
    # No action is legal in an empty state, so this compiles and does nothing, while the other process deals.
    step_game(compile_rules(rules), handle(allocate(2)), 0, 0, borrow_scratch())

    from krypenv import agents
    from krypenv.game.game import Game
    from krypenv.ui.table import Table, seated

    failed = []

    @contextlib.contextmanager
    def part(name: str) -> Iterator[None]:
        try:
            yield
        except Exception:
            failed.append(name)
        reports.send(name)

    with contextlib.suppress(BrokenPipeError):
        with part(OTHERS):
            for spec in dict.fromkeys(opponents):
                if agents.is_known(spec):
                    warm(seated(spec, rules, 0), rules)
        with part(HINT):
            if agents.is_known(helper):
                warm(seated(helper, rules, 0), rules, helps=True)
        with part(REMARK):
            table = Table(Game(rules, seed=0), 0, ["random"])
            while not table.game.is_over:
                table.game.act(table.game.legal_actions()[0])
            if remark:
                remark(table)
        if mark and not failed:
            with contextlib.suppress(OSError):
                mark.touch()
