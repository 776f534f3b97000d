"""`krypenv doctor`: what is installed, what is missing, and what is wrong.

It needs only Python itself, so it works even if the rest does not; in that case run this file:
`python krypenv/doctor/report.py`. Imports and the game that may break run in processes of their own.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).absolute().parents[1]
LINKS = ("agents", "training")
SHOWN_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PYTHONPATH")
CORE = ""  # stands for the packages that every installation needs
PLAY = "from krypenv.doctor.report import play; play()"


def examine(tell: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Return the report as plain JSON values: sections of labels and texts, and the list `wrong`.

    That says what is wrong; it is empty if the package works without its extras. `tell` is called with each step as it
    begins.
    """
    tell("importing what is installed")
    packages = _packages()
    core = packages.pop(CORE)
    tell("playing a game; the first one after an installation compiles, which takes a while")
    printed, error = _run(PLAY)
    test = {"failed": error} if error else json.loads(printed.splitlines()[-1])
    links = {name: _link(name) for name in LINKS if (FOLDER.parent / "training").is_dir()}
    return {
        "versions": {"krypenv": _version_of("krypenv") or "not installed", "Python": platform.python_version(), **core},
        "installation": {"folder": str(FOLDER), "interpreter": sys.executable, "system": platform.platform(), **links},
        "variables": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(("NUMBA_", "KRYPENV_")) or name in SHOWN_VARIABLES
        },
        "self-test": test,
        "extras": {
            f"[{extra}]": [f"{name} {told}" for name, told in needed.items()] for extra, needed in packages.items()
        },
        "wrong": [
            *(f"{name} is {told}" for name, told in core.items() if not _is_well(told)),
            *([f"the self-test failed: {error}"] if error else []),
            *(f"krypenv/{name} {told}" for name, told in links.items() if told != "a link"),
        ],
    }


def _run(code: str) -> tuple[str, str]:
    """Run code in a process of its own; return what it prints, and what it raises as Python tells it, or ""."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    told = [line for line in done.stderr.splitlines() if re.match(r"[\w.]+(: |$)", line)]
    ended = f"the process ended with exit code {done.returncode}"
    return done.stdout, (told[-1] if told else ended) if done.returncode else ""


# ---------------------------------------------------------------------- packages and the installation


def _packages() -> dict[str, dict[str, str]]:
    """Return what is installed of each package that krypenv's metadata require, by extra, and under `CORE` by name."""
    try:
        from packaging.requirements import Requirement

        left = [Requirement(text) for text in importlib.metadata.requires("krypenv") or []]
    except (ImportError, importlib.metadata.PackageNotFoundError):
        return {CORE: {"packaging": _version_of("packaging") or "missing"}}
    found = {}
    with ThreadPoolExecutor() as pool:
        for extra in (CORE, *(importlib.metadata.metadata("krypenv").get_all("Provides-Extra") or ())):
            group = [each for each in left if not each.marker or each.marker.evaluate({"extra": extra})]
            if extra == CORE:
                left = [each for each in left if each not in group and each.name != "krypenv"]
            found[extra] = dict(zip((each.name for each in group), pool.map(_describe, group), strict=True))
    return found


def _describe(needed: Any) -> str:
    """Return the version that is installed of a requirement, and what is wrong with it."""
    version = _version_of(needed.name)
    if version is None:
        return f"missing; {needed.specifier} is needed" if needed.specifier else "missing"
    if not needed.specifier.contains(version, prereleases=True):
        return f"{version}, but {needed.specifier} is needed"
    files = importlib.metadata.files(needed.name) or ()
    listed = {file.parts[0] if file.parts[1:] else inspect.getmodulename(file.name) for file in files}
    public = sorted(module for module in listed if module and module.isidentifier() and module[0] != "_")
    own = [module for module in public if module.lower() == re.sub(r"[-.]", "_", needed.name).lower()]
    _, error = _run(f"import {', '.join(own or public or ['sys'])}")
    return f"{version}, broken: {error}" if error else version


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _is_well(told: str) -> bool:
    return not re.search(r"missing|, but |, broken: ", told)


def _link(name: str) -> str:
    """Return "a link", or what is at the place of a checkout's link to a source folder and how to mend it."""
    path = FOLDER / name
    if path.is_symlink() and path.is_dir():
        return "a link"
    kind = "a folder" if path.is_dir() else "a text file" if path.is_file() else "not there"
    return (
        f"is {kind}, and should be a link to ../{name}. On Windows turn on developer mode first. Then: "
        f"git config core.symlinks true; git checkout -- krypenv/{name}"
    )


# ---------------------------------------------------------------------- the self-test, and the report


def play() -> None:
    """Play a game of random actions; print the times of its beginning and how its kernels were compiled, as JSON."""
    began = time.perf_counter()
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset(), 1, seed=0)
    imported = time.perf_counter()
    engine.step(engine.sample_actions())
    stepped = time.perf_counter()
    while not engine.finished[0]:
        engine.step(engine.sample_actions())

    import numba

    from krypenv.runtime import jit

    modules = [vars(module) for name, module in list(sys.modules.items()) if name.startswith("krypenv.")]
    kernels = {id(value): value for names in modules for value in names.values() if hasattr(value, "py_func")}
    stats = [kernel.stats for kernel in kernels.values() if hasattr(kernel, "stats")]
    compiled = sum(sum(each.cache_misses.values()) for each in stats)
    folders = sorted({each.cache_path for each in stats} - {None})
    why_plain = "NUMBA_DISABLE_JIT is set" if jit.JIT_IS_OFF else jit.WHY_PLAIN
    told = {
        "import": f"{imported - began:.2f} s",
        "first step": f"{stepped - imported:.2f} s",
        "threads": str(numba.get_num_threads()),  # no more than the processors granted
        "compiled": f"{compiled} kernels in this test" if compiled else "nothing; all were in the cache",
        "cache": [f"{each}, {'writable' if os.access(each, os.W_OK) else 'not writable'}" for each in folders]
        or "none, so every process compiles again; set NUMBA_CACHE_DIR to a folder that is writable",
    }
    print(json.dumps({**told, "way": f"plain, and so slower: {why_plain}"} if why_plain else told), flush=True)


def report_lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield a report as lines of text."""
    for title, facts in report.items():
        if facts and isinstance(facts, dict):
            yield title
            width = max(map(len, facts)) + 4
            for label, value in facts.items():
                for number, text in enumerate(value if isinstance(value, list) else [value]):
                    yield f"  {'' if number else label}".ljust(width) + text
            yield ""
    yield "krypenv does not work as it should:" if report["wrong"] else "krypenv works."
    yield from (f"- {sentence}" for sentence in report["wrong"])


def main() -> int:
    """Print the report; return 0 if the package works, 1 if not. For use when the `krypenv` command can't be loaded."""
    report = examine(lambda words: print(f"{words} ...", file=sys.stderr))
    print("\n".join(report_lines(report)))
    return 1 if report["wrong"] else 0


if __name__ == "__main__":
    here = Path(__file__).resolve().parent  # its modules are named like others
    sys.path[:] = [str(FOLDER.parent), *(folder for folder in sys.path if Path(folder).resolve() != here)]
    sys.exit(main())
