"""The doctor: what it tells of this installation, and of broken, old and missing packages, links and caches."""

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support.places import ROOT
from typer.testing import CliRunner

from krypenv.doctor import report as doctor
from krypenv.inputs.words import to_install
from krypenv.training.cli.commands import app

HEALTHY = {"import": "0.30 s", "first step": "0.50 s"}


def python(*words, **options):
    """Run an interpreter."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=600, check=False, **options)


def playing(monkeypatch, answer, code=0):
    """Let the game in a process of its own end with an answer, or without one, and a code."""
    run, said = doctor._run, "" if answer is None else doctor.MARK + json.dumps(answer)

    def run_or_play(*words):
        played = subprocess.CompletedProcess(words, code, f"hello\n{said}\n", "")
        return played if words[-1] == doctor.PLAY else run(*words)

    monkeypatch.setattr(doctor, "_run", run_or_play)


def install(folder, name, version, source="", needs=()):
    """Install a package of one module, or of none without a source, with what it needs, into a folder."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    extras = sorted({extra for need in needs for extra in re.findall("extra == '([a-z]+)'", need)})
    head = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    head += [f"Provides-Extra: {extra}" for extra in extras] + [f"Requires-Dist: {need}" for need in needs]
    (info / "METADATA").write_text("\n".join(head) + "\n")
    (info / "RECORD").write_text(f"{name}.py,,\n" if name != "krypenv" else "")
    if name != "krypenv":
        (folder / f"{name}.py").write_text(source)


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A krypenv with packages of all kinds, whose game always goes well."""
    needs = [
        "good>=1", "broken; extra == 'train'", "deadly; extra == 'train'", "fine; extra == 'train'",
        "old>=2.5; extra == 'peers'", "new<2; extra == 'peers'", "lost>=3; extra == 'ray'", "lost>=3; extra == 'rllib'",
        "whole; extra == 'all'",
        "krypenv[train]; extra == 'all'", "other; extra == 'all' and python_version < '3'",
    ]  # fmt: skip
    install(tmp_path, "krypenv", "9", needs=needs)
    for name, version in (("good", "1.0"), ("fine", "1.0"), ("old", "2.4.9"), ("new", "2.0"), ("whole", "1")):
        install(tmp_path, name, version, "print('hello')")
    install(tmp_path, "broken", "1.1", "raise OSError('no libfoo')")
    install(tmp_path, "deadly", "1.2", "import os; print('bye', flush=True); os._exit(3)")
    monkeypatch.syspath_prepend(tmp_path)
    playing(monkeypatch, HEALTHY)
    return tmp_path


def test_every_package_is_told_with_what_is_wrong(packages):
    report = doctor.examine()
    assert report["versions"]["good"] == "1.0"
    assert report["extras"] == {
        "[all]": ["whole 1"],
        "[peers]": ["old 2.4.9, but >=2.5 is needed", "new 2.0, but <2 is needed"],
        "[ray]": ["lost missing; >=3 is needed"],
        "[rllib]": ["lost missing; >=3 is needed"],
        "[train]": [
            "broken 1.1, broken: OSError: no libfoo",
            "deadly 1.2, broken: the process ended with exit code 3",
            "fine 1.0",
        ],
    }
    assert report["wrong"] == [], "extras are not needed"
    json.dumps(report, allow_nan=False)


def test_what_is_missing_has_its_line(packages):
    report = doctor.examine()
    lines = [to_install(extra).partition("run ")[2] for extra in ("peers", "ray", "rllib", "train")]
    assert report["install"] == lines
    text = "\n".join(doctor.report_lines(report))
    assert "\n".join(["To install what is missing, run in the checkout of krypenv", *lines]) in text
    assert text.endswith("krypenv works.")


def test_a_krypenv_that_is_not_installed_is_told_to_be(monkeypatch):
    playing(monkeypatch, HEALTHY)
    monkeypatch.setattr(doctor, "_version_of", lambda name: None)
    report = doctor.examine()
    assert report["versions"]["krypenv"] == "not installed"
    assert report["installation"]["installed"] == "nowhere"
    assert report["install"] == ['pip install -c constraints.txt -e "."']


@pytest.mark.parametrize(
    ("name", "version", "source", "sentence"),
    [
        ("good", "0.9", "", "good is 0.9, but >=1 is needed"),
        ("good", "1.0", "1 / 0", "good is 1.0, broken: ZeroDivisionError: division by zero"),
        ("another", "1.0", "", "good is missing; >=1 is needed"),
    ],
)
def test_a_package_that_everybody_needs_is_wrong(tmp_path, monkeypatch, name, version, source, sentence):
    install(tmp_path, "krypenv", "9", needs=["good>=1"])
    install(tmp_path, name, version, source)
    monkeypatch.syspath_prepend(tmp_path)
    playing(monkeypatch, HEALTHY)
    report = doctor.examine()
    assert report["wrong"] == [sentence]
    text = "\n".join(doctor.report_lines(report))
    assert f"- {sentence}" in text
    assert "krypenv works." not in text


@pytest.mark.slow
def test_a_core_that_can_not_be_imported(tmp_path):
    install(tmp_path, "krypenv", "9", needs=["numba>=0.1"])
    install(tmp_path, "numba", "0.68", "raise ImportError('Numba needs NumPy 2.4 or less')")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    file = ROOT / "krypenv" / "doctor" / "report.py"
    done = python("-c", "from krypenv import Engine", env=environment | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"})
    assert f"python {file}" in done.stderr.splitlines()[-1]
    done = python(file, env=environment)
    assert done.returncode == 1
    assert "the self-test failed: ImportError: Numba needs NumPy 2.4 or less" in " ".join(done.stdout.split())
    assert "numba is 0.68, broken: ImportError: Numba needs NumPy 2.4 or less" in " ".join(done.stdout.split())
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("answer", "code", "error"),
    [
        ({"failed": "OSError: x"}, 0, "OSError: x"),
        (None, -11, "the process ended with exit code -11"),
        (None, 0, "the process ended with exit code 0"),
    ],
)
def test_a_game_that_fails_is_wrong(packages, monkeypatch, answer, code, error):
    playing(monkeypatch, answer, code)
    report = doctor.examine()
    assert report["self-test"] == {"failed": error}
    assert report["wrong"] == [f"the self-test failed: {error}"]


@pytest.mark.parametrize("command", [[], ["doctor", "x"]])
def test_the_command_that_can_not_be_loaded_names_the_doctor(command):
    done = run_without_cli(command)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("krypenv: ")
    assert done.stderr.endswith("; to see what is wrong, run: python -m krypenv doctor\n")


def test_the_doctor_works_where_the_command_can_not_be_loaded():
    assert run_without_cli(["doctor"]).returncode == 7


def run_without_cli(command):
    """Run a command line where its modules can't be imported and the doctor returns 7."""
    return python(
        "-c",
        "import sys; sys.modules['krypenv.training.cli.commands'] = None\n"
        "from krypenv import __main__\nfrom krypenv.doctor import report as doctor\n"
        f"doctor.main = lambda: 7; sys.argv = ['krypenv', *{command!r}]; __main__.main()",
    )


# ---------------------------------------------------------------------- a checkout, the kernels


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout without links."""
    (tmp_path / "krypenv").mkdir()
    for name in doctor.LINKS:
        (tmp_path / name).mkdir()
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    monkeypatch.setattr(doctor, "FOLDER", tmp_path / "krypenv")
    return tmp_path


@pytest.mark.parametrize("kind", ["a text file", "a folder", "not there"])
def test_a_checkout_without_links_is_told_how_to_mend_it(checkout, kind):
    (checkout / "krypenv/training").symlink_to("../training", target_is_directory=True)
    if kind == "a text file":
        (checkout / "krypenv/agents").write_text("../agents")
    elif kind == "a folder":
        (checkout / "krypenv/agents").mkdir()
    wrong = []
    facts = doctor._installation(wrong)
    assert facts["links"] == [f"krypenv/agents is {kind}, not a link", "krypenv/training is a link"]
    assert len(wrong) == 1
    assert wrong[0].endswith("git config core.symlinks true; git checkout -- krypenv/agents")


def test_how_kernels_are_compiled_and_kept(tmp_path):
    def stats(name, misses):
        return SimpleNamespace(cache_path=str(tmp_path / name) if name else None, cache_misses=misses)

    told = doctor.how_compiled(False, "", [stats("", {"a": 1, "b": 1}), stats("gone", {"c": 1}), stats("", {})])
    assert told["cache"] == [f"{tmp_path / 'gone'}, not writable"]
    assert told["compiled"] == "3 kernels in this test"
    told = doctor.how_compiled(False, "some reason", [stats(".", {})])
    assert told["cache"] == [f"{tmp_path}, writable"]
    assert told["compiled"] == "nothing; all were in the cache"
    assert told["way"] == "plain, so compiling takes longer: some reason"
    assert "NUMBA_CACHE_DIR" in doctor.how_compiled(False, "", [])["cache"]
    assert "NUMBA_DISABLE_JIT" in doctor.how_compiled(True, "", [])["kernels"]


def test_this_installation_works(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "0")
    monkeypatch.setattr(doctor, "_import_error", lambda name: None)  # of everything, which takes a while
    file = tmp_path / "doctor.json"
    done = CliRunner().invoke(app, ["doctor", "--json", str(file)])
    assert done.exit_code == 0, done.output
    report = json.loads(file.read_text())
    assert report["wrong"] == []
    assert set(report["versions"]) >= {"krypenv", "Python", "numpy", "numba", "gymnasium", "pettingzoo"}
    assert report["installation"]["folder"] == str(ROOT / "krypenv")
    assert report["variables"]["NUMBA_BOUNDSCHECK"] == "0"
    assert re.fullmatch(r"\d+\.\d\d s", report["self-test"]["first step"])
    place = os.environ.get("NUMBA_CACHE_DIR") or f"{ROOT / 'krypenv' / 'kernels' / '__pycache__'}"
    assert any(each.startswith(place) and each.endswith(", writable") for each in report["self-test"]["cache"])
    assert done.stdout.splitlines()[-1] == "krypenv works."
