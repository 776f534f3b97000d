"""Which small mutants of the package the tests catch. Not part of CI: every mutant costs minutes.

`mutants.json` lists them: a text that stands once in the package, and what it becomes (a comparison turned, a constant
off by one, a line dropped). For each, the rules' tests run first as plain Python where it stands on one of the lower
floors, then the tests of its room, `tests/<room>`; both stop at the first failure. A mutant that survives them gets the
whole suite. Results are appended to a file as they come, so the command resumes:

    PYTHONPATH=tests .venv/bin/python -m tools.mutation --out runs/mutants.jsonl --workers 2

The work is done in copies of the checkout, with the compiled kernels of the mutants before.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("krypenv", "agents", "training")
PLAIN = [
    "tests/rules",
    "--ignore",
    "tests/rules/test_bounds.py",
]  # what runs without the compiler, as `make nojit` does
ROOMS = {"kernels": ["tests/rules/test_bounds.py", "tests/kernels"]}  # what kernels find is held beside brute force
TIMEOUT = 600  # seconds of one run of tests; a mutant that takes longer is caught


def key_of(mutant: dict[str, str]) -> str:
    """Return what tells a mutant from all others."""
    return f"{mutant['text']} => {mutant['mutant']}"


def place_of(mutant: dict[str, str], tree: Path) -> Path | None:
    """Return the file that holds a mutant's text, wherever it stands now; None unless there is exactly one."""
    found = [
        path for folder in FOLDERS for path in (tree / folder).rglob("*.py")
        if not path.is_symlink() and mutant["text"] in path.read_text()
    ]  # fmt: skip
    return found[0] if len(found) == 1 and found[0].read_text().count(mutant["text"]) == 1 else None


def failure(tree: Path, words: list[str], **variables: str) -> str:
    """Return the first test that fails in a tree, with environment variables of its own; "" if all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *words]
    environment = {**os.environ, "PYTHONPATH": str(tree), **variables}
    try:
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return "(no end)"
    found = re.findall(rb"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return "" if done.returncode == 0 else found[0].decode() if found else "(collection)"


def judge(mutant: dict[str, str], tree: Path, only_room: bool) -> dict[str, str]:
    """Return how a mutant ended, and the test that failed: caught by its room or by the suite, survived, or gone."""
    path = place_of(mutant, tree)
    if path is None:
        return {"result": "gone"}
    whole, times = path.read_text(), path.stat()
    try:
        path.write_text(whole.replace(mutant["text"], mutant["mutant"]))
        if mutant["room"] in ("rules", "kernels") and (by := failure(tree, PLAIN, NUMBA_DISABLE_JIT="1")):
            return {"result": "caught as plain Python", "by": by}
        if by := failure(tree, ROOMS.get(mutant["room"], [f"tests/{mutant['room']}"])):
            return {"result": "caught by its room", "by": by}
        if only_room:
            return {"result": "survived its room"}
        by = failure(tree, ["tests"])
        return {"result": "caught by the suite", "by": by} if by else {"result": "survived"}
    finally:
        path.write_text(whole)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # so that its compiled kernels count again


def _not_copied(folder: str, names: list[str]) -> list[str]:
    """Return what a copy of the checkout leaves out: environments, history, and the results of runs beside them."""
    return [name for name in names if name in (".venv", ".venv-lowest", ".git", "runs") and Path(folder) == ROOT]


def main() -> None:
    """Judge every mutant that has no result yet, and print how many were caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/mutants.jsonl"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="a room")
    parser.add_argument("--every", type=int, default=1, help="only each so many-th mutant")
    parser.add_argument("--rooms", action="store_true", help="leave the whole suite out: survivors survive their room")
    given = parser.parse_args()
    mutants: list[dict[str, str]] = json.loads(Path(__file__).with_name("mutants.json").read_text())
    given.out.parent.mkdir(parents=True, exist_ok=True)
    done: dict[str, dict[str, str]] = {}
    if given.out.exists():
        done = {key_of(each): each for each in map(json.loads, given.out.read_text().splitlines())}
    mutants = [each for each in mutants if each["room"].startswith(given.only)][:: given.every]
    left = [each for each in mutants if key_of(each) not in done]
    trees: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as base, given.out.open("a") as out, ThreadPoolExecutor(given.workers) as pool:
        for number in range(given.workers):
            tree = Path(base) / str(number)
            shutil.copytree(ROOT, tree, symlinks=True, ignore=_not_copied)
            trees.put(tree)
        for room in {each["room"] for each in left}:
            if by := failure(tree, [f"tests/{room}"]):
                raise SystemExit(f"{by} fails without any mutant")

        def work(mutant: dict[str, str]) -> dict[str, str]:
            tree = trees.get()
            try:
                return mutant | judge(mutant, tree, given.rooms)
            finally:
                trees.put(tree)

        for each in pool.map(work, left):
            done[key_of(each)] = each
            out.write(json.dumps(each) + "\n")
            out.flush()
            print(each["room"], each["file"], each["result"], each.get("by", ""), flush=True)
    for room in dict.fromkeys(each["room"] for each in mutants):
        tally = Counter(each["result"] for each in done.values() if each["room"] == room)
        print(f"{room}: {dict(tally)}")


if __name__ == "__main__":
    main()
