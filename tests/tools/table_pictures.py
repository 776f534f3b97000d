"""Draw the table in the browser as the pages show it.

Chromium draws letters by the fonts of its machine, so these pictures differ from one machine to another, and no test
compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Page
from support.browsers import card, chromium, of_position, opened, table_at, wait_for_turn
from support.decisions import BUILDS
from support.places import DOCS
from support.tables import Kept

from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.seats import PERSON
from tools.pictures import played

PICTURES = DOCS / "pictures"
COLOURS = 256  # of a picture


class Shot(NamedTuple):
    """A picture of a table."""

    load: Any  # makes the table
    act: Callable[[Page], None]  # what is done there first
    width: int
    height: int
    scale: int = 1  # pixels a point


def table_of_three() -> Any:
    """Return a table of three in the middle of a game."""
    game = played("krypkasino players=3", 4, 30)
    return Hosted(game, (PERSON, "champion", "tactician"), "champion", Kept())


def choose(page: Page) -> None:
    """Choose a card with several captures."""
    card(page, "8 of spades").click()


def build(page: Page) -> None:
    """Choose a card that can build."""
    card(page, "4 of spades").click()


def ask_for_a_hint(page: Page) -> None:
    """Ask for a hint, wait for it, and open its table."""
    page.locator("[data-focus=hint]").click()
    page.locator("button.hint").wait_for()
    page.locator("[data-focus=hint]").click()


SHOTS = {
    "table": Shot(table_of_three, choose, 1180, 640, scale=2),
    "table-hint": Shot(table_of_three, ask_for_a_hint, 1180, 640),
    "table-phone": Shot(of_position(BUILDS), build, 360, 780),
}


def main() -> None:
    """Draw the pictures of the pages."""
    with chromium() as browser:
        for name, shot in SHOTS.items():
            path = PICTURES / f"{name}.png"
            window = {"width": shot.width, "height": shot.height, "device_scale_factor": shot.scale}
            with table_at(shot.load) as address, opened(browser, address, **window) as page:
                wait_for_turn(page)
                shot.act(page)
                page.screenshot(path=path)
            drawn = Image.open(path).convert("RGB")
            few = drawn.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # keeps the few reds
            few.save(path, optimize=True)


if __name__ == "__main__":
    main()
