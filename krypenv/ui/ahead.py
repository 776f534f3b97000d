"""Compiling ahead: another process compiles what a game will need, while a person reads and thinks.

Compiled kernels are kept on disk, where this process finds them.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krypenv.rules import Rules
    from krypenv.ui.table import Table

OTHERS, HINT, REMARK = "others", "hint", "remark"  # what is compiled: a decision of each agent, a hint, a remark


class Ahead:
    """A process that compiles what a game of a person against agents will need. It ends when this one does.

    Args:
        rules: the rules of the game.
        opponents: the agents that will play; those of a module of its own are left out.
        helper: the agent that gives hints.
        remark: what will be said about a game that is over; a function of a module.
    """

    def __init__(
        self, rules: Rules, opponents: Sequence[str], helper: str, remark: Callable[[Table], str] | None = None
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._reports, reports = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_compile, args=(reports, rules, list(opponents), helper, remark), daemon=True
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
        self._process.kill()
        self._process.join()
        self._left.clear()


# ---------------------------------------------------------------------- in the process


def _compile(
    reports: Connection, rules: Rules, opponents: list[str], helper: str, remark: Callable[[Table], str] | None
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
    from krypenv.one_game import Game
    from krypenv.ui.table import Table, decided, seated

    @contextlib.contextmanager
    def part(name: str) -> Iterator[None]:
        with contextlib.suppress(Exception):
            yield
        reports.send(name)

    with contextlib.suppress(BrokenPipeError):
        with part(OTHERS):
            for spec in dict.fromkeys(opponents):
                if agents.is_known(spec):
                    decided(seated(spec, rules, 0), Game(rules, seed=0))
        table = Table(Game(rules, seed=0), 0, ["random"])
        with part(HINT):
            if agents.is_known(helper) and table.values(helper) is None:
                table.hint(helper)
        with part(REMARK):
            while not table.game.is_over:
                table.game.act(table.game.legal_actions()[0])
            if remark:
                remark(table)
