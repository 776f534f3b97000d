"""How strong agents are beside the same agents of another checkout, in duplicate deals. Not part of CI.

The other checkout's agent plays in a process of its own, with that checkout's `.venv`. Prints a line a pair: the margin
of this checkout's agent in points a game with luck taken out, its 95% interval, the lower bound corrected for all pairs
(Bonferroni), and the raw margin. With `--pairs`, the bound is corrected for that many:

    PYTHONPATH=tests .venv/bin/python -m tools.strength ../before --agents "search(worlds=5)" --rules "mulle players=2"
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from krypenv import Rules
from krypenv.training.evaluation.matches.duplicate import duplicate_match

SERVE = """
import os, pickle, sys
from krypenv import Rules, agents
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
asked = sys.stdin.buffer
name, rules, seed = pickle.load(asked)
agent = agents.make(name, Rules.parse(rules), seed)
while True:
    try:
        method, args = pickle.load(asked)
    except EOFError:
        break
    pickle.dump(getattr(agent, method)(*args), answers)
    answers.flush()
"""


class Beside:
    """An agent of another checkout."""

    def __init__(self, folder: Path, name: str, rules: Rules, seed: int) -> None:
        self.name, self.rules, self.cheats = f"{name} before", rules, name.startswith("oracle")
        self.remembers = name.startswith("champion")
        command = [str(folder / ".venv/bin/python"), "-c", SERVE]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self._send((name, str(rules), seed))

    def _send(self, message: Any) -> None:
        assert self.process.stdin is not None
        pickle.dump(message, self.process.stdin)
        self.process.stdin.flush()

    def _ask(self, method: str, *given: np.ndarray) -> np.ndarray:
        self._send((method, given))
        assert self.process.stdout is not None
        return pickle.load(self.process.stdout)  # what the process that was started here has written

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def act(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return self._ask("act", observations, masks)

    def act_on(self, state: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return self._ask("act_on", np.asarray(state), masks)


def main() -> None:
    parser = argparse.ArgumentParser(description="Play agents against those of another checkout.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--agents", nargs="+", default=["tactician"])
    parser.add_argument("--rules", nargs="+", default=["krypkasino players=2"])
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--luck", default="on", help="take luck out of margins: on or off")
    parser.add_argument("--pairs", type=int, default=0, help="pairs that the lower bound is corrected for")
    given = parser.parse_args()
    pairs = given.pairs or len(given.rules) * len(given.agents)
    wider = stats.norm.ppf(1 - 0.025 / pairs) / stats.norm.ppf(0.975)
    for text in given.rules:
        rules = Rules.parse(text)
        for name in given.agents:
            try:
                with Beside(given.folder, name, rules, given.seed) as other:
                    result = duplicate_match(name, other, rules, given.deals, given.seed, luck=given.luck)
            except ValueError as error:
                print(f"{text} | {name}: {error}", flush=True)
                continue
            found = result.adjusted or result
            bound = found.margin - wider * (found.margin - found.low)
            interval = f"{found.low:+.3f} to {found.high:+.3f}, above {bound:+.3f} for {pairs} pairs"
            raw = f"raw {result.margin:+.3f} ({result.low:+.3f} to {result.high:+.3f})"
            print(f"{text} | {name}: {found.margin:+.3f} ({interval}), {given.deals} deals, {raw}", flush=True)


if __name__ == "__main__":
    sys.exit(os.environ.setdefault("PYTHONUNBUFFERED", "1") and main())
