"""What people read outside of the site: links of README lead somewhere, and notebooks are stored as they ran.

The links of all other pages are checked by the site's build (`make docs`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from support.pages import name_of
from support.places import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def test_links_lead_somewhere() -> None:
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", README) if not link.startswith(("http", "mailto:"))]
    assert len(links) > 5
    for name, _, anchor in (link.partition("#") for link in links):
        target = ROOT / (name or "README.md")
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name_of)
def test_notebooks_are_stored_as_they_ran_from_top_to_bottom(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]


def test_readme_and_makefile_install_the_same() -> None:
    found = re.search(r"^EXTRAS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert found
    assert f'pip install -c constraints.txt -e ".[{found[1]}]"' in README
