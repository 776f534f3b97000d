"""The doctor: what it tells of this installation, and of old and missing packages, links and caches."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from support.places import ROOT
from typer.testing import CliRunner

from krypenv.doctor import report as doctor
from krypenv.runtime import jit
from krypenv.training.cli.commands import app

FILE = ROOT / "krypenv" / "doctor" / "report.py"


def python(*words, **variables):
    """Run an interpreter with some environment variables."""
    return subprocess.run(
        [sys.executable, *words], env=os.environ | variables, capture_output=True, text=True, timeout=600, check=False
    )


def install(folder, name, version, source="", needs=()):
    """Install a package of one module, with what it needs, into a folder."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    extras = sorted({extra for need in needs for extra in re.findall("extra == '([a-z]+)'", need)})
    head = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    head += [f"Provides-Extra: {extra}" for extra in extras] + [f"Requires-Dist: {need}" for need in needs]
    (info / "METADATA").write_text("\n".join(head) + "\n")
    (info / "RECORD").write_text(f"{name}.py,,\n" if name != "krypenv" else "")
    if name != "krypenv":
        (folder / f"{name}.py").write_text(source)


@pytest.mark.parametrize(
    ("name", "play", "sentence"),
    [
        ("good", "print('hello'); print('{}')", ""),
        ("another", "print('{}')", "good is missing; >=1 is needed"),
        ("good", "import good", "the self-test failed: KeyError: 'last'"),
        ("good", "import os; os._exit(9)", "the self-test failed: the process ended with exit code 9"),
    ],
)
def test_a_core_package_or_a_game_that_fails_is_wrong_and_an_extra_is_told(tmp_path, monkeypatch, name, play, sentence):
    needs = [
        "good>=1", "old>=2.5; extra == 'train'", f"{name}<1; extra == 'ray'", "lost>=3; extra == 'rllib'",
        f"{name}; extra == 'all'", "krypenv[train]; extra == 'all'",
    ]  # fmt: skip
    install(tmp_path, "krypenv", "9", needs=needs)
    install(tmp_path, name, "1.0", "try:\n    1 / 0\nfinally:\n    {}['last']")
    install(tmp_path, "old", "2.4.9")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "PLAY", play)
    report = doctor.examine()
    assert report["versions"]["good"] == ("1.0" if name == "good" else "missing; >=1 is needed")
    assert report["extras"] == {
        "[all]": f"{name} 1.0",
        "[ray]": f"{name} 1.0, but <1 is needed",
        "[rllib]": "lost missing; >=3 is needed",
        "[train]": "old 2.4.9, but >=2.5 is needed",
    }
    assert report["wrong"] == ([sentence] if sentence else [])
    end = ["krypenv does not work as it should:", f"- {sentence}"] if sentence else ["", "krypenv works."]
    assert list(doctor.report_lines(report))[-2:] == end


def test_a_krypenv_that_is_not_installed_is_told_to_be(tmp_path):
    file = tmp_path / "krypenv" / "doctor" / "report.py"
    file.parent.mkdir(parents=True)
    file.write_text(FILE.read_text())
    (file.parents[1] / "__init__.py").touch()
    done = python("-I", "-S", str(file))  # without any package
    assert done.returncode == 1
    assert re.search("krypenv +not installed", done.stdout)
    assert "- packaging is missing" in done.stdout.splitlines()


@pytest.mark.slow
def test_a_core_that_can_not_be_imported_is_told_without_a_traceback(tmp_path):
    install(tmp_path, "krypenv", "9", needs=["numba>=0.1"])
    install(tmp_path, "numba", "0.68", "raise ImportError('Numba needs NumPy 2.4 or less')")
    done = python("-c", "from krypenv import Engine", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert f"python {FILE}" in done.stderr.splitlines()[-1]
    done = python(FILE, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    assert "the self-test failed: ImportError: Numba needs NumPy 2.4 or less" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("command", [[], ["doctor"]])
def test_the_doctor_works_where_the_command_can_not_be_loaded(command):
    done = python(
        "-c",
        "import sys; sys.modules['krypenv.training.cli.commands'] = None\n"
        "from krypenv import __main__\nfrom krypenv.doctor import report as doctor\n"
        f"doctor.main = lambda: 7; sys.argv = ['krypenv', *{command!r}]; __main__.main()",
    )
    if command == ["doctor"]:
        assert done.returncode == 7
    else:
        assert done.returncode == 1
        assert re.fullmatch("krypenv: .*; to see what is wrong, run: python -m krypenv doctor\n", done.stderr)


def test_a_checkout_without_links_is_told_how_to_mend_it(tmp_path, monkeypatch):
    package = tmp_path / "krypenv"
    for folder in (package, tmp_path / "training"):
        folder.mkdir()
    (package / "agents").write_text("../agents")
    monkeypatch.setattr(doctor, "FOLDER", package)
    monkeypatch.setattr(doctor, "_packages", lambda: {"": {}})
    monkeypatch.setattr(doctor, "PLAY", "print('{}')")
    text_file, not_there = doctor.examine()["wrong"]
    assert text_file.startswith("krypenv/agents is a text file, and should be a link to ../agents.")
    assert text_file.endswith("git config core.symlinks true; git checkout -- krypenv/agents")
    assert not_there.startswith("krypenv/training is not there, and should be a link to ../training.")


def test_the_versions_of_numba_are_those_that_kernels_were_tried_with():
    [line] = re.findall(r'"(numba[<>=].*?)"', Path(ROOT / "pyproject.toml").read_text())
    allowed = Requirement(line).specifier
    for minor in range(60, 80):
        assert allowed.contains(f"0.{minor}.0") == (jit.OLDEST <= (0, minor) <= jit.NEWEST)


def test_this_installation_works(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "0")
    file = tmp_path / "doctor.json"
    done = CliRunner().invoke(app, ["doctor", "--json", str(file)])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == "krypenv works."
    report = json.loads(file.read_text())
    assert report["wrong"] == []
    assert report["installation"]["folder"] == str(ROOT / "krypenv")
    assert report["variables"]["NUMBA_BOUNDSCHECK"] == "0"
    place = os.environ.get("NUMBA_CACHE_DIR") or f"{ROOT / 'krypenv' / 'kernels' / '__pycache__'}"
    assert re.fullmatch(rf"{re.escape(place)}.*, writable", report["self-test"]["cache"])
    assert re.fullmatch(r"\d+\.\d\d s", report["self-test"]["first step"])
