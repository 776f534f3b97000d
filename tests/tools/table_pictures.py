"""Draw the table in the browser as the pages show it.

Chromium draws letters by the fonts of its machine, so these pictures differ from one machine to another, and no test
compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PIL import Image
from playwright.sync_api import Page
from support.browsers import card, chromium, of_position, opened, play_first, table_at, wait_for_turn
from support.decisions import BUILDS, CHOICE
from support.places import DOCS
from support.tables import hosted

from krypenv.ui.seats import PERSON

PICTURES = DOCS / "pictures"
COLOURS = 160  # of a picture
MOVES = 3  # of the person before a hint


def choose(page: Page) -> None:
    """Choose a card with several captures."""
    card(page, "8 of spades").click()


def build(page: Page) -> None:
    """Choose a card that can build."""
    card(page, "4 of spades").click()


def ask_for_a_hint(page: Page) -> None:
    """Play some moves, ask for a hint, wait for it, and open its table."""
    for _ in range(MOVES):
        play_first(page)
        wait_for_turn(page)
    page.locator("[data-focus=hint]").click()
    page.locator("button.hint").wait_for()
    page.locator("[data-focus=hint]").click()


def table_of_two() -> Any:
    """Return a table of a person and an agent."""
    return hosted("krypkasino", (PERSON, "tactician"), seed=3, adviser="champion")


PAGES: dict[str, tuple[Any, Callable[[Page], None], dict[str, int]]] = {  # the table, what is done there, the size
    "table": (of_position(CHOICE), choose, {"width": 1200, "height": 780}),
    "table-hint": (table_of_two, ask_for_a_hint, {"width": 1200, "height": 830}),
    "table-phone": (of_position(BUILDS), build, {"width": 360, "height": 780}),
}


def main() -> None:
    """Draw the pictures of the pages."""
    with chromium() as browser:
        for name, (load, act, size) in PAGES.items():
            path = PICTURES / f"{name}.png"
            with table_at(load) as address, opened(browser, address, **size) as page:
                wait_for_turn(page)
                act(page)
                page.screenshot(path=path)
            drawn = Image.open(path).convert("RGB")
            few = drawn.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # keeps the few reds
            few.save(path, optimize=True)


if __name__ == "__main__":
    main()
