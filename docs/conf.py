"""How `make docs` builds the site: https://www.sphinx-doc.org/en/master/usage/configuration.html."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

import krypenv

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
REPOSITORY = re.findall(r"^git clone (\S+)", README, re.MULTILINE)[0]  # a placeholder as long as there is none
sys.path.insert(0, str(ROOT / "docs"))
from command_page import command_page  # noqa: E402 (these lie beside this file)
from docstrings import complete, shorten  # noqa: E402
from sheet_pages import sheet_pages  # noqa: E402

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
myst_html_meta = {
    "description": "A Swedish card game that you win by taking as little as possible: "
    "play it, train agents for it by reinforcement learning, and measure them."
}
nb_render_markdown_format = "myst"  # tables in outputs
nb_execution_mode = "off"  # notebooks are stored with their outputs, and tests run them

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "exclude-members": "model_config"}
autodoc_mock_imports = ["ray", "verifiers"]  # toolboxes with an environment of their own
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "all"
napoleon_google_docstring = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = f"krypenv {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = html_favicon = "_static/logo.svg"
html_copy_source = False
html_theme_options: dict[str, Any] = {"top_of_page_buttons": []}
if "example.org" not in REPOSITORY:
    html_theme_options |= {"source_repository": REPOSITORY, "source_branch": "main", "source_directory": "docs/"}
    html_theme_options["top_of_page_buttons"] = ["view"]

SEARCHED = {  # words that lead to a page first, beside those of its title
    "rules": ["rules", "Krypkasino"],
    "regler": ["regler"],
    "start": ["tutorial", "quickstart", "install"],
    "models": ["champion", "pretrained"],
    "agents": ["agents"],
    "results/scores/leaderboard": ["leaderboard", "champion", "ranking"],
    "researchers": ["paper", "baseline"],
    "cite": ["cite", "citation", "paper", "BibTeX"],
    "arena": ["Elo"],
}
FIGURE = re.compile(r"[-−+±–]?[\d.,]+([\s±+−–%-]|to|[\d.,])*|[A-Z]{1,3}")  # a cell that does not wrap


BESIDE = {  # pages of the project, and those of the site that include them
    "CHANGELOG.md": "changes",
    "CODE_OF_CONDUCT.md": "conduct",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
}


def setup(app: Sphinx) -> None:
    """Write the pages that are made; take notebooks and pages of the project, which lie beside docs/, into the site."""
    for name, text in {"commands": command_page(), **sheet_pages()}.items():
        (ROOT / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    shutil.rmtree(ROOT / "docs" / "notebooks", ignore_errors=True)
    shutil.copytree(ROOT / "notebooks", ROOT / "docs" / "notebooks")
    app.connect("source-read", _lead_inside)
    app.connect("source-read", _index_words)
    app.connect("doctree-read", _mark_figures)
    app.connect("include-read", _lead_to_pages)
    app.connect("autodoc-process-docstring", complete)
    app.connect("autodoc-process-signature", shorten)


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


def _index_words(app: Sphinx, name: str, text: list[str]) -> None:
    """Add the words by which a page is found to the index, right after its title."""
    if words := ", ".join(f"!{word}" for word in SEARCHED.get(name, ())):
        text[0] = re.sub(r"\A(# .*\n)", rf"\1\n```{{index}} {words}\n```\n", text[0])


def _mark_figures(app: Sphinx, tree: nodes.document) -> None:
    """Give cells of numbers and pictures their classes in site.css, and rulings their anchors."""
    for cell in tree.findall(nodes.entry):
        if FIGURE.fullmatch(cell.astext()):
            cell["classes"].append("figures")
        if re.fullmatch(r"[A-Z]\d+", cell.astext()) and app.env.docname == "rulings":
            cell["ids"].append(cell.astext().lower())
    for image in tree.findall(nodes.image):
        is_plot = image["uri"].endswith(".png") and "pictures/" not in image["uri"]
        image["classes"] += ["plot"] * is_plot + ["cards"] * image["uri"].endswith(".svg")


def _lead_to_pages(app: Sphinx, path: Path, name: str, text: list[str]) -> None:
    """Have links between the pages of the project lead to those that include them."""
    for page, copy in BESIDE.items():
        text[0] = text[0].replace(f"]({page}", f"](docs/{copy}.md")
