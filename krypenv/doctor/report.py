"""`krypenv doctor`: what is installed, what is missing, and what is wrong.

It needs only Python itself, so it works even if the rest does not; in that case run this file:
`python krypenv/doctor/report.py`. The game that may break runs in a process of its own.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).absolute().parents[1]
VARIABLES = ("NUMBA_", "KRYPENV_", "OMP_", "MKL_", "CUDA_", "PYTHONPATH")  # how the names of those shown begin
PLAYING = "playing a game; the first one after an installation compiles, which takes a while"
PLAY = "from krypenv.doctor.report import play; play()"


def examine() -> dict[str, Any]:
    """Examine the installation; return plain JSON values: sections of labels and texts, and the list `wrong`.

    `wrong` has a sentence for each fault, and is empty if the package works without its extras.
    """
    packages = _packages()
    core = packages.pop("")
    self_test, error = _self_test()
    links = {name: _link(name) for name in ("agents", "training") if (FOLDER.parent / "training").is_dir()}
    return {
        "versions": {"krypenv": _version_of("krypenv") or "not installed", "Python": platform.python_version(), **core},
        "installation": {"folder": str(FOLDER), "interpreter": sys.executable, "system": platform.platform(), **links},
        "variables": {name: value for name, value in sorted(os.environ.items()) if name.startswith(VARIABLES)},
        "self-test": self_test,
        "extras": {
            f"[{extra}]": "; ".join(f"{name} {status}" for name, status in group.items())
            for extra, group in packages.items()
        },
        "wrong": [
            *(f"{name} is {status}" for name, status in core.items() if re.search("missing|, but ", status)),
            *([f"the self-test failed: {error}"] if error else []),
            *(f"krypenv/{name} {status}" for name, status in links.items() if status != "a link"),
        ],
    }


# ---------------------------------------------------------------------- packages and the installation


def _packages() -> dict[str, dict[str, str]]:
    """Describe the packages that krypenv requires, by extra ("" for none) and name."""
    try:
        from packaging.requirements import Requirement

        metadata = importlib.metadata.metadata("krypenv")
    except (ImportError, importlib.metadata.PackageNotFoundError):
        return {"": {"packaging": _version_of("packaging") or "missing"}}
    groups: dict[str, dict[str, str]] = {extra: {} for extra in ["", *metadata.get_all("Provides-Extra", [])]}
    for needed in map(Requirement, metadata.get_all("Requires-Dist", [])):
        extras = [extra for extra in groups if not needed.marker or needed.marker.evaluate({"extra": extra})]
        for extra in extras[:1] if "" in extras else extras:
            if needed.name != "krypenv":
                groups[extra][needed.name] = _describe(needed)
    return groups


def _describe(needed: Any) -> str:
    """Describe the installed version of a requirement: right, wrong or missing."""
    version = _version_of(needed.name)
    if version is None:
        return f"missing; {needed.specifier} is needed" if needed.specifier else "missing"
    is_right = needed.specifier.contains(version, prereleases=True)
    return version if is_right else f"{version}, but {needed.specifier} is needed"


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _link(name: str) -> str:
    """Check a checkout's link to a source folder: "a link", or what lies in its place and how to mend it."""
    path = FOLDER / name
    if path.is_symlink() and path.is_dir():
        return "a link"
    kind = "a folder" if path.is_dir() else "a text file" if path.is_file() else "not there"
    return (
        f"is {kind}, and should be a link to ../{name}. On Windows turn on developer mode first. Then: "
        f"git config core.symlinks true; git checkout -- krypenv/{name}"
    )


# ---------------------------------------------------------------------- the self-test, and the report


def _self_test() -> tuple[dict[str, Any], str]:
    """Run `play` in a process of its own; return its report, and the last line of its traceback or ""."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAY], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1]), ""
    errors = [line for line in done.stderr.splitlines() if re.match(r"[\w.]+(: |$)", line)]
    error = errors[-1] if errors else f"the process ended with exit code {done.returncode}"
    return {"failed": error}, error


def play() -> None:
    """Play a game of random actions; print the times of import and first step, and the kernel cache, as JSON."""
    began = time.perf_counter()
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset(), 1, seed=0)
    imported = time.perf_counter()
    engine.step(engine.sample_actions())
    stepped = time.perf_counter()
    while not engine.finished[0]:
        engine.step(engine.sample_actions())
    from krypenv.kernels.play import act
    from krypenv.runtime import jit

    cache = act.stats.cache_path if hasattr(act, "stats") else None
    why_plain = "NUMBA_DISABLE_JIT is set" if jit.JIT_IS_OFF else jit.WHY_PLAIN
    facts = {
        "import": f"{imported - began:.2f} s",
        "first step": f"{stepped - imported:.2f} s",
        "cache": f"{cache}, {'writable' if os.access(cache, os.W_OK) else 'not writable'}"
        if cache
        else "none, so every process compiles again; set NUMBA_CACHE_DIR to a folder that is writable",
    }
    print(json.dumps(facts | ({"way": f"plain, and so slower: {why_plain}"} if why_plain else {})), flush=True)


def report_lines(report: dict[str, Any]) -> Iterator[str]:
    """Format a report as lines of text."""
    for title, facts in report.items():
        if facts and isinstance(facts, dict):
            yield title
            width = max(map(len, facts)) + 4
            yield from (f"  {label}".ljust(width) + text for label, text in facts.items())
            yield ""
    yield "krypenv does not work as it should:" if report["wrong"] else "krypenv works."
    yield from (f"- {sentence}" for sentence in report["wrong"])


def main() -> int:
    """Print the report; return 0 if the package works, 1 if not. For use when the `krypenv` command can't be loaded."""
    print(f"{PLAYING} ...", file=sys.stderr)
    report = examine()
    print("\n".join(report_lines(report)))
    return 1 if report["wrong"] else 0


if __name__ == "__main__":
    here = Path(__file__).resolve().parent  # its modules are named like others
    sys.path[:] = [str(FOLDER.parent), *(folder for folder in sys.path if Path(folder).resolve() != here)]
    sys.exit(main())
