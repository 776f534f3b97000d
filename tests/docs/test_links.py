"""Local links of what people read on the web outside of the site lead somewhere: pages of the root, and notebooks.

Those of the site are checked by its build (`make docs`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.pages import name_of
from support.places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "notebooks").rglob("*.md")), *NOTEBOOKS]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def text_of(path: Path) -> str:
    """The text of a page or of the cells of a notebook, without code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n\n".join("".join(cell["source"]) for cell in cells(path, "markdown"))
    return FENCED.sub("", text)


def cells(notebook: Path, kind: str) -> list[dict]:
    """The cells of one kind of a notebook."""
    return [each for each in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if each["cell_type"] == kind]


def anchors(path: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", text_of(path), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        found.add(anchor if anchor not in found else f"{anchor}-1")
    return found


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    for link in LINK.findall(text_of(path)):
        name, _, anchor = link.partition("#")
        if not name.startswith(("http:", "https:", "mailto:")):
            target = (path.parent / name).resolve() if name else path
            assert target.exists(), f"{name_of(path)} links to {name}, which is not there"
            assert not anchor or anchor in anchors(target), f"{name_of(path)} links to {link}: no such heading"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name_of)
def test_notebooks_are_stored_as_they_ran_from_top_to_bottom(notebook: Path) -> None:
    code = cells(notebook, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]


def test_readme_and_makefile_install_the_same() -> None:
    found = re.search(r"^EXTRAS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    assert f'pip install -c constraints.txt -e ".[{found[1]}]"' in (ROOT / "README.md").read_text(encoding="utf-8")
