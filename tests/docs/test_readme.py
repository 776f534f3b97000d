"""What the README and the docs tell the reader to type works.

Python blocks of one file are run in order in one namespace. Lines `krypenv evaluate|arena|analyze|bench|score|show ...`
of its bash blocks are then run in the same directory; other `krypenv` lines, and those that need a trained model (a
path under runs/), are checked against `--help`. `page_code.py` says which blocks are left alone or shortened. A block
of text that follows Python is what that Python prints.
"""

import functools
import json
import re
import shlex
from pathlib import Path

import pytest
from support.commands import krypenv
from support.page_code import STEPS, blocks, run_python
from support.places import ROOT

PAGES = sorted(page for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")] if "notebooks" not in page.parts)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = 'pip install -c constraints.txt -e ".[train,render,table,dev]"'


def command_lines(page: Path) -> list[list[str]]:
    """The words of every shell line of a page, without prompts and comments."""
    shell = "\n".join(block.code for block in blocks(page) if block.language in ("bash", "console", "sh"))
    lines = (line.removeprefix("$ ") for line in shell.replace("\\\n", " ").splitlines())
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def krypenv_commands(page: Path) -> list[list[str]]:
    """The arguments of every `krypenv` line of a page."""
    return [words[1:] for words in command_lines(page) if words[0].rpartition("/")[2] == "krypenv"]


def printed_by(*arguments: str) -> str:
    """Run a command in the working directory, which must succeed, and return what it printed."""
    done = krypenv(*arguments, columns=200)
    assert done.exit_code == 0, f"krypenv {shlex.join(arguments)}\n{done.output}{done.exception}"
    return done.stdout


def name_of(page: Path) -> str:
    """The path of a page from the root."""
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        found.add(anchor if anchor not in found else f"{anchor}-1")
    return found


@functools.cache
def help_of(command: str) -> str:
    """What `krypenv COMMAND --help` prints."""
    return printed_by(command, "--help")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_python(page, blocks(page))
    for command, *arguments in krypenv_commands(page):
        if command in ("evaluate", "arena", "analyze", "bench", "score", "show") and "runs/" not in " ".join(arguments):
            printed_by(command, *arguments)


def test_what_python_prints_is_found():
    found = {page: [block.output for block in blocks(page) if block.language == "python"] for page in PAGES}
    assert sum(each is not None for outputs in found.values() for each in outputs) >= 6
    assert len(found[ROOT / "README.md"]) > 3
    assert any(output and output.startswith("+43.6 points a game over random") for output in found[ROOT / "README.md"])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_of_the_page_lead_somewhere(page):
    for match in LINK.finditer(page.read_text(encoding="utf-8")):
        path, _, anchor = (match[1] or match[2]).partition("#")
        if not path.startswith(("http:", "https:", "mailto:")):
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), f"{name_of(page)} links to {path}, which is not there"
            assert not anchor or anchor in anchors(target), f"{name_of(page)} links to {path}#{anchor}: no such heading"


def linked(page: Path) -> set[Path]:
    """The pages that a page links to, or lists for the site."""
    text = page.read_text(encoding="utf-8")
    names = [(match[1] or match[2]).partition("#")[0] for match in LINK.finditer(text)]
    names += [f"{name}.md" for tree in TOCTREE.findall(text) for name in tree.split() if name[0] != ":"]
    found = [path for name in filter(None, names) for path in page.parent.glob(name)]
    return {path.resolve() for path in found if path.suffix == ".md"}


def test_every_page_can_be_reached_from_the_readme():
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        reached.add(page)
        left += linked(page) - reached
    assert set(PAGES) <= reached


def test_long_training_is_run_with_fewer_steps():
    recipe = next(block.code for block in blocks(ROOT / "docs" / "sb3.md"))
    assert len(STEPS.findall(recipe)) == 1
    assert "learn(steps)" in recipe


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_options_of_the_page_exist(page):
    for command, *arguments in krypenv_commands(page):
        known = set(re.findall(r"--[a-z][a-z-]*", help_of(command))) | {"--help"}
        used = {word.partition("=")[0] for word in arguments if word.startswith("--")}
        assert used <= known, f"krypenv {command} has no {sorted(used - known)}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_of_the_page_exist(page):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"`make ([\w-]+)", page.read_text(encoding="utf-8")))
    named |= {words[1] for words in command_lines(page) if words[0] == "make"}
    assert named <= targets


@pytest.mark.parametrize("notebook", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.name)
def test_notebooks_are_stored_as_they_ran_from_top_to_bottom(notebook):
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]


def test_readme_begins_with_the_two_commands():
    first = command_lines(ROOT / "README.md")
    assert ["make", "test"] in first[:4]
    assert ["make", "train"] in first[:4]


def test_readme_and_makefile_install_the_same():
    assert INSTALL in (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    extras = re.search(r"^EXTRAS := (.*)$", makefile, re.MULTILINE)[1]
    assert INSTALL.removeprefix("pip install ") in makefile.replace("$(EXTRAS)", extras)
