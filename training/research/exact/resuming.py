"""What a solve keeps in its folder, so that the same command goes on where it was killed."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError, safe_open

from krypenv.inputs.files import read_file, write_whole
from krypenv.inputs.words import one_line, shown
from krypenv.observation import VERSION
from krypenv.rules import Rules
from krypenv.training.research.exact.equilibrium import Solution

FORMAT = "1"
KEPT = ("policy", "values", "iterations", "solved")  # arrays of a file; `solved`: how many of its deals


class Kept:
    """The solved deals of a game in a folder, a file for the deals of each number.

    Each file is written whole, at most every `pause` seconds and when its deals are done.

    Args:
        folder: where the files are.
        rules, gap, most: what is solved, and how well; files of anything else are refused.
    """

    def __init__(self, folder: str | Path, rules: Rules, gap: float, most: int, pause: float = 20.0) -> None:
        self.folder, self.pause = Path(folder), pause
        self._about = {
            "format": FORMAT, "rules": str(rules), "gap": repr(gap), "iterations": str(most), "version": str(VERSION),
        }  # fmt: skip
        self._written = time.monotonic()

    def path(self, number: int) -> Path:
        """Return the file of the deals with a number, 0 for the first ones."""
        return self.folder / f"solved-deals-{number + 1}.safetensors"

    def read(self, number: int, solution: Solution) -> int:
        """Fill in what is kept of the deals with a number; return how many of them are solved, 0 without a file.

        Raises ValueError with one sentence for a file that is torn, was changed, or belongs to another solve.
        """
        path = self.path(number)
        if not path.exists():
            return 0
        data = read_file(path)
        try:
            arrays = safetensors.numpy.load(data)
            with safe_open(path, "numpy") as file:
                about = dict(file.metadata() or {})
        except (SafetensorError, ValueError) as error:
            raise ValueError(
                f"{path} is torn or was changed: {one_line(str(error))}; remove it to solve its deals anew"
            ) from None
        if about.pop("sha256", "") != _digest(arrays):
            raise ValueError(f"{path} is torn or was changed; remove it to solve its deals anew")
        if about != self._about:
            gap, most = (one_line(str(about.get(name)), 40) for name in ("gap", "iterations"))
            other = f"of {shown(about.get('rules'))} with --gap {gap} --iterations {most}"
            raise ValueError(f"{path} belongs to another solve, {other}; give another --out, or remove it")
        room: dict[str, Any] = {"solved": np.zeros(1, np.int64), **solution._asdict()}
        if set(arrays) != set(KEPT) or any(arrays[name].shape != room[name].shape for name in KEPT):
            raise ValueError(f"{path} belongs to other trees than this version grows; remove it")
        for name in KEPT[:-1]:
            room[name][:] = arrays[name]
        return int(arrays["solved"][0])

    def write(self, number: int, solution: Solution, solved: int, is_done: bool) -> None:
        """Keep a solution of which some deals are solved, unless it was kept a moment ago."""
        if not is_done and time.monotonic() - self._written < self.pause:
            return
        arrays = {"solved": np.array([solved]), **{name: getattr(solution, name) for name in KEPT[:-1]}}
        about = self._about | {"sha256": _digest(arrays)}
        write_whole(self.path(number), safetensors.numpy.save(arrays, about))
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the files: the strategy is saved."""
        for path in self.folder.glob(self.path(0).name.replace("1", "*")):
            path.unlink()


def _digest(arrays: dict[str, np.ndarray]) -> str:
    """Return a hash of arrays by name."""
    parts = [json.dumps([name, str(arrays[name].dtype), arrays[name].shape]) for name in sorted(arrays)]
    found = hashlib.sha256("".join(parts).encode())
    for name in sorted(arrays):
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()
