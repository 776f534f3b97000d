"""How `make docs` builds the site: https://www.sphinx-doc.org/en/master/usage/configuration.html."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import krypenv

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
from command_page import command_page  # noqa: E402 (it lies beside this file)

project = "krypenv"
author = "the krypenv authors"
copyright = "2026, the krypenv authors"
release = version = krypenv.__version__

default_role = "code"  # docstrings write names in single backticks

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
suppress_warnings = ["ref.python"]  # words of docstrings that are the names of several things

exclude_patterns = ["listings", "space"]  # texts for other sites

smartquotes_action = "qe"  # options keep their two hyphens
myst_heading_anchors = 4  # headings can be linked to as on GitHub
nb_render_markdown_format = "myst"  # tables in outputs
nb_execution_mode = "off"  # notebooks are stored with their outputs, and tests run them

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "show-inheritance": True}
python_use_unqualified_type_names = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
add_module_names = False

html_theme = "furo"
html_title = f"krypenv {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}


BESIDE = {  # pages of the project, and those of the site that include them
    "CHANGELOG.md": "changes",
    "CODE_OF_CONDUCT.md": "conduct",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
}


def setup(app: Sphinx) -> None:
    """Write the page of commands; take notebooks and pages of the project, which lie beside docs/, into the site."""
    (ROOT / "docs" / "commands.md").write_text(command_page(), encoding="utf-8")
    shutil.rmtree(ROOT / "docs" / "notebooks", ignore_errors=True)
    shutil.copytree(ROOT / "notebooks", ROOT / "docs" / "notebooks")
    app.connect("source-read", _lead_inside)
    app.connect("include-read", _lead_to_pages)
    app.connect("autodoc-process-docstring", _keep_lists)


def _lead_inside(app: Sphinx, name: str, text: list[str]) -> None:
    """Have links that leave docs/ lead to the copies within the site."""
    if name.startswith("notebooks/"):
        text[0] = text[0].replace("](../docs/", "](../").replace("](../../docs/", "](../../")
    text[0] = (
        text[0]
        .replace("](../notebooks/", "](notebooks/")
        .replace("](../../notebooks/", "](../notebooks/")
        .replace("](../../CONTRIBUTING.md", "](../contributing.md")
    )


def _keep_lists(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep the lines of a module's list of its parts apart."""
    if what == "module":
        lines[:] = [re.sub(r"^(\w+) {2,}(?=\S)", r"| \1: ", line) for line in lines]


def _lead_to_pages(app: Sphinx, path: Path, name: str, text: list[str]) -> None:
    """Have links between the pages of the project lead to those that include them."""
    for page, copy in BESIDE.items():
        text[0] = text[0].replace(f"]({page}", f"](docs/{copy}.md")
