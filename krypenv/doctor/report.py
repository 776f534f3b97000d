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
ROOT = FOLDER.parent
LINKS = ("agents", "training")
SHOWN_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PYTHONPATH")
MARK = "\x01"  # begins the answer of a process, to tell it from what libraries print
INSTALL = 'pip install -c {} -e ".{}"'
# Extras that need other versions, and so an environment of their own.
TOOLBOXES = ("rllib", "tianshou", "toolboxes", "torchrl", "video")
CORE = ""  # stands for the packages that every installation needs
PLAY = "play"  # the word that lets this file play a game

Section = dict[str, Any]  # a label -> a text, or several


def examine(tell: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Return the report as plain JSON values: sections of labels and texts, and the lists `wrong` and `install`.

    `wrong` says what is wrong; it is empty if the package works without its extras. `install` has the commands that
    install what is missing. `tell` is called with each step as it begins.
    """
    wrong: list[str] = []
    tell("importing what is installed")
    packages = _packages(wrong)
    core = packages.get(CORE, {})
    wrong += [f"{name} is {told}" for name, told in core.items() if not _is_well(told)]
    tell("playing a game; the first one after an installation compiles, which takes a while")
    test = _self_test(wrong)
    ill = [extra for extra, needed in packages.items() if not all(map(_is_well, needed.values()))]
    return {
        "versions": {"krypenv": _version_of("krypenv") or "not installed", "Python": platform.python_version(), **core},
        "installation": _installation(wrong),
        "machine": {"system": platform.platform()},
        "variables": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(("NUMBA_", "KRYPENV_")) or name in SHOWN_VARIABLES
        },
        "self-test": test,
        "extras": {
            f"[{extra}]": [f"{name} {told}" for name, told in needed.items()]
            for extra, needed in packages.items()
            if extra != CORE
        },
        "wrong": wrong,
        "install": [_to_install(extra) for extra in (ill if packages else [CORE])],
    }


def _to_install(extra: str) -> str:
    """Return the command that installs an extra."""
    versions = "constraints-toolboxes.txt" if extra in TOOLBOXES else "constraints.txt"
    return INSTALL.format(versions, extra and f"[{extra}]")


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip


# ---------------------------------------------------------------------- packages


def _packages(wrong: list[str]) -> dict[str, dict[str, str]]:
    """Return what is installed of each package that krypenv's metadata require, by extra, and under `CORE` by name."""
    if _version_of("krypenv") is None:
        return {}
    try:
        from packaging.requirements import Requirement
    except ImportError as error:
        wrong.append(f"what else is needed is not known: {error}")
        return {}
    left = [Requirement(text) for text in importlib.metadata.requires("krypenv") or []]
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
    error = _import_error(needed.name)
    return f"{version}, broken: {error}" if error else version


def _version_of(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _is_well(told: str) -> bool:
    return not re.search(r"missing|, but |, broken: ", told)


def _import_error(name: str) -> str | None:
    """Return what importing a distribution raises: its module of the same name, or else all its public ones."""
    files = importlib.metadata.files(name) or ()
    listed = {file.parts[0] if file.parts[1:] else inspect.getmodulename(file.name) for file in files}
    public = sorted(module for module in listed if module and module.isidentifier() and module[0] != "_")
    own = [module for module in public if module.lower() == re.sub(r"[-.]", "_", name).lower()]
    done = _run("-W", "ignore", "-c", f"import {', '.join(own or public or ['sys'])}")
    last = done.stderr.strip().splitlines()[-1:] or [f"the process ended with exit code {done.returncode}"]
    return last[0] if done.returncode else None


# ---------------------------------------------------------------------- the installation


def _installation(wrong: list[str]) -> Section:
    """Return where this krypenv is, where the one that pip knows is, and whether a checkout has its links."""
    facts: Section = {"folder": str(FOLDER), "interpreter": sys.executable, "installed": "nowhere"}
    if _version_of("krypenv") is not None:
        distribution = importlib.metadata.distribution("krypenv")
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        is_editable = origin.get("dir_info", {}).get("editable", False)
        package = f"the package in {distribution.locate_file('')}"
        facts["installed"] = f"the checkout {origin['url']}" if is_editable else package
    if (ROOT / "training").is_dir():
        facts["links"] = [_link(name, wrong) for name in LINKS]
    return facts


def _link(name: str, wrong: list[str]) -> str:
    """Return what is at the place of a checkout's link to a source folder, and note what is wrong with it."""
    path = FOLDER / name
    if path.is_symlink() and path.is_dir():
        return f"krypenv/{name} is a link"
    kind = "a folder" if path.is_dir() else "a text file" if path.is_file() else "not there"
    wrong.append(
        f"krypenv/{name} is {kind}, and should be a link to ../{name}. On Windows turn on developer mode first. Then: "
        f"git config core.symlinks true; git checkout -- krypenv/{name}"
    )
    return f"krypenv/{name} is {kind}, not a link"


# ---------------------------------------------------------------------- the self-test and the kernels


def _self_test(wrong: list[str]) -> Section:
    """Play a game in a new process; return how that went, or note why it failed."""
    done = _run(__file__, PLAY)
    answers = [json.loads(line[len(MARK) :]) for line in done.stdout.splitlines() if line.startswith(MARK)]
    told: Section = answers[0] if answers else {"failed": f"the process ended with exit code {done.returncode}"}
    if "failed" in told:
        wrong.append(f"the self-test failed: {told['failed']}")
    return told


def play() -> Section:
    """Play a game of random actions; return the times of its beginning, and how its kernels were compiled."""
    began = time.perf_counter()
    from krypenv import Engine, Rules

    engine = Engine(Rules.preset(), 1, seed=0)
    imported = time.perf_counter()
    engine.step(engine.sample_actions())
    stepped = time.perf_counter()
    while not engine.finished[0]:
        engine.step(engine.sample_actions())

    import numba

    import krypenv.agents
    import krypenv.training  # noqa: F401
    from krypenv.runtime import jit
    from krypenv.runtime.threads import count_threads

    loaded = [module for name, module in list(sys.modules.items()) if name.startswith("krypenv.")]
    kernels = {id(value): value for module in loaded for value in vars(module).values() if hasattr(value, "py_func")}
    stats = [kernel.stats for kernel in kernels.values() if hasattr(kernel, "stats")]
    return {
        "import": f"{imported - began:.2f} s",
        "first step": f"{stepped - imported:.2f} s",
        "processors": str(count_threads(0)),  # those granted
        "threads": str(numba.get_num_threads()),
        **how_compiled(jit.JIT_IS_OFF, jit.WHY_PLAIN, stats),
    }


def how_compiled(is_off: bool, why_plain: str, stats: list[Any]) -> Section:
    """Return how kernels were compiled, and whether they are kept.

    Args:
        is_off: whether they run as plain Python.
        why_plain: why Numba compiles them its plain way; empty if it does not.
        stats: Numba's statistics of each kernel.
    """
    if is_off:
        return {"kernels": "not compiled, as NUMBA_DISABLE_JIT is set; plain Python is far slower"}
    way = {"way": f"plain, so compiling takes longer: {why_plain}"} if why_plain else {}
    now = sum(sum(each.cache_misses.values()) for each in stats)
    folders = sorted({each.cache_path for each in stats} - {None})
    kept = [f"{folder}, {'writable' if os.access(folder, os.W_OK) else 'not writable'}" for folder in folders]
    return way | {
        "compiled": f"{now} kernels in this test" if now else "nothing; all were in the cache",
        "cache": kept or "none, so every process compiles again; set NUMBA_CACHE_DIR to a folder that is writable",
    }


# ---------------------------------------------------------------------- the report


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
    if report["install"]:
        yield from ["To install what is missing, run in the checkout of krypenv", *report["install"], ""]
    yield "krypenv does not work as it should:" if report["wrong"] else "krypenv works."
    yield from (f"- {sentence}" for sentence in report["wrong"])


def main() -> int:
    """Print the report; return 0 if the package works, 1 if not. For use when the `krypenv` command can't be loaded.

    With the word `play`, print what came of a game, or its error, as JSON in a line that begins with a mark.
    """
    if sys.argv[1:] == [PLAY]:
        try:
            told = play()
        except Exception as error:
            told = {"failed": ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])}
        print(f"\n{MARK}{json.dumps(told)}", flush=True)
        return 0
    report = examine(lambda words: print(f"{words} ...", file=sys.stderr))
    print("\n".join(report_lines(report)))
    return 1 if report["wrong"] else 0


if __name__ == "__main__":
    here = Path(__file__).resolve().parent  # its modules are named like others
    sys.path[:] = [str(ROOT), *(folder for folder in sys.path if Path(folder).resolve() != here)]
    sys.exit(main())
