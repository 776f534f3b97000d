"""`krypenv doctor`: what is installed, what is missing, and what is wrong.

It needs only Python itself, so it works even if the rest does not; in that case run this file:
`python krypenv/doctor/report.py`. Whatever may break runs in separate processes, `krypenv/doctor/probes.py`.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import inspect
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

HERE = Path(__file__).absolute().parent
FOLDER = HERE.parent
ROOT = FOLDER.parent
LINKS = ("agents", "training")
WIDTH = 80  # columns
SHOWN_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "PYTHONPATH")
MARK = "\x01"  # begins a probe's answers, to tell them from what libraries print
CORE = ""  # stands for the packages that every installation needs

Section = dict[str, Any]  # a label -> a text, or several


@dataclass
class Package:
    """A required package, and what is installed of it."""

    name: str
    needs: str  # versions, as in ">=2.8"; empty if any will do
    version: str | None  # None if it is not installed
    fits: bool
    modules: list[str]
    error: str | None = None  # what importing it raised

    @property
    def is_well(self) -> bool:
        """Whether it is installed in a suitable version and can be imported."""
        return self.fits and self.error is None

    def __str__(self) -> str:
        """Return its version and what is wrong with it."""
        needs = f", but {self.needs} is needed" if self.needs else ""
        if self.version is None:
            return f"missing{needs.replace(', but', ';')}"
        return f"{self.version}{'' if self.fits else needs}{f', broken: {self.error}' if self.error else ''}"


def examine(tell: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Return the report as plain JSON values: sections of labels and texts, and the lists `wrong` and `install`.

    `wrong` says what is wrong; it is empty if the package works without its extras. `install` has the commands that
    install what is missing. `tell` is called with each step as it begins.
    """
    wrong: list[str] = []
    extras = _packages(wrong)
    tell("importing what is installed")
    threads = _import_all([package for packages in extras.values() for package in packages])
    wrong += [f"{package.name} is {package}" for package in extras.get(CORE, []) if not package.is_well]
    is_stale = _is_stale(extras)
    installation = _installation(wrong, is_stale)
    tell("playing a game; the first one after an installation compiles, which takes a while")
    test, kernels, numba_threads = _play(wrong)
    optional = {extra: packages for extra, packages in extras.items() if extra != CORE and packages}
    lines = [_install_line(extra) for extra, packages in extras.items() if not all(one.fits for one in packages)]
    if (is_stale or not extras) and _install_line(CORE) not in lines:
        lines.insert(0, _install_line(CORE))
    return {
        "versions": _versions(extras.get(CORE, [])),
        "installation": installation,
        "machine": _machine() | {"threads": f"numba {numba_threads or 'unknown'}, torch {threads or 'not there'}"},
        "variables": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(("NUMBA_", "KRYPENV_")) or name in SHOWN_VARIABLES
        },
        "self-test": test,
        "kernel cache": kernels,
        "extras": {f"[{extra}]": _describe(packages) for extra, packages in optional.items()},
        "wrong": wrong,
        "install": lines,
    }


# ---------------------------------------------------------------------- packages


def _packages(wrong: list[str]) -> dict[str, list[Package]]:
    """Return the packages that krypenv's installed metadata require, by extra; those always needed are under `CORE`."""
    try:
        from packaging.requirements import Requirement
    except ImportError as error:
        wrong.append(f"packaging can't be imported, so what else is needed is not known ({error})")
        return {}
    try:
        metadata = importlib.metadata.metadata("krypenv")
    except importlib.metadata.PackageNotFoundError:
        return {}
    needed = [Requirement(text) for text in metadata.get_all("Requires-Dist") or []]
    extras: dict[str, list[Package]] = {}
    for extra in (CORE, *(metadata.get_all("Provides-Extra") or [])):
        extras[extra] = [
            _package(one.name, str(one.specifier), one.specifier)
            for one in needed
            if _is_for(one, extra) and (extra == CORE or not _is_for(one, CORE)) and one.name != "krypenv"
        ]
    return extras


def _is_for(requirement: Any, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _package(name: str, needs: str, specifier: Any) -> Package:
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return Package(name, needs, None, False, [])
    return Package(name, needs, found.version, specifier.contains(found.version, prereleases=True), _modules_of(found))


def _modules_of(distribution: importlib.metadata.Distribution) -> list[str]:
    """Return the modules to import as a test of a distribution: the one with its name, and compiled ones.

    If there are none, as with pytest-xdist, return all public ones.
    """
    own = re.sub(r"[-.]", "_", distribution.metadata["Name"]).lower()
    chosen, public = set(), set()
    for file in distribution.files or []:
        parts = file.parts
        if len(parts) == 2 and parts[1] == "__init__.py":
            name: str | None = parts[0]
        else:
            name = inspect.getmodulename(parts[0]) if len(parts) == 1 else None
        if name and name.isidentifier() and not name.startswith("_"):
            public.add(name)
            if name.lower() == own or not parts[-1].endswith(".py"):
                chosen.add(name)
    return sorted(chosen or public)


def _import_all(packages: list[Package]) -> int | None:
    """Import the modules of packages and note what they raise; return how many threads torch would use."""
    left = sorted({module for package in packages for module in package.modules})
    errors: dict[str, str] = {}
    threads = None
    while left:
        answers, end = _probe("imports", left)
        tried = [answer["begins"] for answer in answers if "begins" in answer]
        errors |= {answer["module"]: answer["error"] for answer in answers if answer.get("error")}
        threads = next((answer["torch threads"] for answer in answers if "torch threads" in answer), threads)
        if end is None or not tried:
            break
        errors[tried[-1]] = end  # it ended the process; try the rest in a new one
        left = left[len(tried) :]
    for package in packages:
        package.error = next((errors[module] for module in package.modules if module in errors), None)
    return threads


def _describe(packages: list[Package]) -> list[str]:
    """Return one line for all packages that are well, and one for each that is not."""
    well = [f"{package.name} {package}" for package in packages if package.is_well]
    ill = [f"{package.name} {package}" for package in packages if not package.is_well]
    return [*([", ".join(well)] if well else []), *ill]


def _install_line(extra: str) -> str:
    """Return the command that installs what is missing from an extra, or from the packages that are always needed."""
    brackets = f"[{extra}]" if extra else ""
    if _is_checkout():
        target = f'".{brackets}"' if extra else "."
        return f"pip install -c constraints.txt -e {target}"
    return f'pip install "krypenv{brackets}"' if extra else "pip install krypenv"


# ---------------------------------------------------------------------- the installation


def _versions(core: list[Package]) -> Section:
    versions = {"krypenv": _own_version(), "Python": f"{platform.python_version()} {platform.python_implementation()}"}
    versions |= {package.name: str(package) for package in core}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        versions["llvmlite"] = importlib.metadata.version("llvmlite")
    return versions


def _own_version() -> str:
    """Return the version in the sources, which can be read even if they can't be imported."""
    found = re.search(r'^__version__ = "(.+)"', (FOLDER / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "unknown"


def _is_checkout() -> bool:
    return (ROOT / "pyproject.toml").is_file() and (ROOT / "training").is_dir()


def _is_stale(extras: dict[str, list[Package]]) -> bool:
    """Whether the packages that a checkout's pyproject.toml names have changed since it was installed."""
    try:
        import tomllib  # from Python 3.11
        from packaging.requirements import Requirement

        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (ImportError, OSError):
        return False
    written = {CORE: project["dependencies"], **project["optional-dependencies"]}
    wanted = {
        (extra, _key(one.name), str(one.specifier)) for extra in written for one in map(Requirement, written[extra])
    }
    known = {(extra, _key(one.name), one.needs) for extra, packages in extras.items() for one in packages}
    return bool(extras) and {each for each in wanted if each[1] != "krypenv"} != known


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _installation(wrong: list[str], is_stale: bool) -> Section:
    """Return where this krypenv is, how it is installed, and whether a checkout has its links."""
    facts: Section = {"folder": str(FOLDER), "interpreter": sys.executable}
    try:
        distribution = importlib.metadata.distribution("krypenv")
    except importlib.metadata.PackageNotFoundError:
        facts["kind"] = "not installed"
    else:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        is_editable = origin.get("dir_info", {}).get("editable", False)
        place = url2pathname(urlsplit(origin["url"]).path) if is_editable else str(distribution.locate_file(""))
        facts["kind"] = "editable checkout" if is_editable else "installed package"
        if Path(place).resolve() != ROOT.resolve():
            facts["kind"] = f"not the one that is installed: that is the {facts['kind']} in {place}"
    if is_stale:
        facts["kind"] += "; pyproject.toml has changed since it was installed"
    if _is_checkout():
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


def _machine() -> Section:
    processors = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else processors
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "processors": f"{processors}, of which a process may use {usable}",
    }


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


# ---------------------------------------------------------------------- the self-test and the kernels


def _play(wrong: list[str]) -> tuple[Section, Section, int | None]:
    """Play a game in a new process; return how that went, the state of the kernel cache, and Numba's threads."""
    answers, end = _probe("game")
    facts: dict[str, Any] = {key: value for answer in answers for key, value in answer.items()}
    test: Section = {}
    if "steps" in facts:
        test = {
            "one game": f"{facts['steps']} steps",
            "import": f"{facts['import']:.2f} s",
            "first step": f"{facts['first step']:.2f} s",
        }
    error = facts.get("error") or end or (None if "folders" in facts else "it gave no answer")
    if error:
        test["failed"] = error
        wrong.append(f"the self-test failed: {error}")
    if "folders" not in facts:
        return test, {"state": "unknown, as the self-test failed"}, None
    if not facts["is_off"]:
        test["compiled"] = f"{facts['now']} kernels in this test" if facts["now"] else "nothing; all were in the cache"
    return test, _kernels(facts), facts["threads"]


def _kernels(facts: dict[str, Any]) -> Section:
    if facts["is_off"]:
        return {"state": "NUMBA_DISABLE_JIT is set: kernels run as plain Python, and far slower"}
    way = {"way": f"plain, so compiling takes longer: {facts['plain']}"} if facts["plain"] else {}
    if not facts["folders"]:
        return way | {
            "state": "no folder is writable, so every process compiles again; set NUMBA_CACHE_DIR to one that is"
        }
    folders = [Path(folder) for folder in facts["folders"]]
    files = [file for folder in folders for pattern in ("*.nbi", "*.nbc") for file in folder.glob(pattern)]
    missing = facts["kernels"] - facts["compiled"]
    rest = f"; the other {missing} compile at their first use" if missing else ""
    return way | {
        "folders": [f"{folder}, {'writable' if _is_writable(folder) else 'not writable'}" for folder in folders],
        "files": f"{len(files)}, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB",
        "kernels": f"{facts['compiled']} of {facts['kernels']} are compiled for these sources{rest}",
    }


def _is_writable(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _probe(name: str, *arguments: Any) -> tuple[list[dict[str, Any]], str | None]:
    """Run a probe in a new process; return its answers, and how it ended if it failed."""
    done = subprocess.run(
        [sys.executable, str(HERE / "probes.py"), MARK, name, json.dumps(arguments)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    answers = [json.loads(line[len(MARK) :]) for line in done.stdout.split("\n") if line.startswith(MARK)]
    if done.returncode == 0:
        return answers, None
    last = done.stderr.strip().splitlines()[-1:]
    return answers, f"the process ended with exit code {done.returncode}{': ' + last[0] if last else ''}"


# ---------------------------------------------------------------------- the report


def report_lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield a report as lines of 80 columns; a longer word, such as a path, gets a line of its own."""
    for title, facts in report.items():
        if facts and isinstance(facts, dict):
            yield title
            width = max(map(len, facts)) + 4
            for label, value in facts.items():
                for number, text in enumerate(value if isinstance(value, list) else [value]):
                    yield from _wrapped(text, f"  {'' if number else label}".ljust(width), " " * width)
            yield ""
    where = f" (in {ROOT})" if _is_checkout() and report["install"] else ""
    if report["install"]:
        yield from _wrapped(f"To install what is missing, run{where}", "", "")
        yield from (f"  {line}" for line in report["install"])
        yield ""
    if not report["wrong"]:
        yield "krypenv works."
        return
    yield "krypenv does not work as it should:"
    for sentence in report["wrong"]:
        yield from _wrapped(sentence, "- ", "  ")


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    ) or [first.rstrip()]


def main() -> int:
    """Print the report; return 0 if the package works, 1 if not. For use when the `krypenv` command can't be loaded."""
    report = examine(lambda words: print(f"{words} ...", file=sys.stderr))
    for line in report_lines(report):
        print(line)
    return 1 if report["wrong"] else 0


if __name__ == "__main__":
    sys.path[:] = [str(ROOT), *(folder for folder in sys.path if Path(folder).resolve() != HERE.resolve())]
    sys.exit(main())
