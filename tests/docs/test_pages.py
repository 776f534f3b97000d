"""The pages of the environments, and the tables of other pages, are what `make pages` makes of the code."""

from pathlib import Path

import pytest
from tools.pages import pages

from krypenv.families.variants import FAMILIES

PAGES = pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path], "run: make pages"


def test_every_family_has_its_page() -> None:
    told = "".join(PAGES.values())
    assert all(f"`from krypenv import {family.module}`" in told for family in FAMILIES)
