"""Draw the table in the browser in all its states: those of the pages, or with `--all FOLDER` the others.

Chromium draws letters by the fonts of its machine, so these pictures differ from one machine to another, and no test
compares them.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page
from support.browsers import card, chromium, of_position, opened, table_at, wait_for_turn
from support.decisions import BUILDS, CHOICE, FORCED, MANY
from support.places import DOCS
from support.tables import KEYS, hosted

from krypenv.ui.seats import PERSON

PICTURES = DOCS / "pictures"
SIZES: dict[str, dict[str, Any]] = {
    "desktop": {"width": 1280, "height": 800},
    "phone": {"width": 360, "height": 740, "has_touch": True, "device_scale_factor": 2},
}
PAIRS = "krypkasino players=4 teams=2"
Draw = Callable[[Browser, dict[str, Any]], Iterator[Page]]
COLOURS = 160  # of a picture of the pages
FEW, MANY_MOVES = 3, 12


def at_table(load: Any, key: str = "", moves: int = 0) -> Any:
    """Return what opens a page at a table, after some of the person's moves."""

    @contextlib.contextmanager
    def page_of(browser: Browser, more: dict[str, Any]) -> Iterator[Page]:
        with table_at(load) as address, opened(browser, address + key, reduced_motion="reduce", **more) as page:
            for _ in range(moves):
                if wait_for_turn(page):
                    break
                page.locator(".hand .card:not(.illegal)").first.click()
                page.locator(".move").first.click()
                page.wait_for_function("() => !document.querySelector('.hand .chosen')")
            if not key:
                wait_for_turn(page)
            yield page

    return page_of


def after(page_of: Any, *steps: Callable[[Page], object]) -> Any:
    """Return what opens a page and does something there."""

    @contextlib.contextmanager
    def done(browser: Browser, more: dict[str, Any]) -> Iterator[Page]:
        with page_of(browser, more) as page:
            for step in steps:
                step(page)
            yield page

    return done


def with_hint(page: Page) -> None:
    """Ask for a hint, wait for it, and open its table."""
    page.locator("[data-focus=hint]").click()
    page.locator("button.hint").wait_for()
    page.locator("[data-focus=hint]").click()


def table_of(rules: str, language: str = "en", seed: int = 3) -> Any:
    """Return what makes a table of a person and agents."""
    others = hosted(rules).game.rules.players - 1
    return lambda: hosted(rules, (PERSON, *["tactician"] * others), seed=seed, language=language, adviser="champion")


TWO = table_of("krypkasino")
STATES: dict[str, Any] = {
    "begin": at_table(TWO),
    "play": at_table(TWO, moves=FEW),
    "choosing": after(at_table(of_position(CHOICE)), lambda page: card(page, "8 of spades").click()),
    "forced": after(at_table(of_position(FORCED)), lambda page: card(page, "9 of diamonds").click(force=True)),
    "builds": after(at_table(of_position(BUILDS)), lambda page: card(page, "4 of spades").click()),
    "many": after(at_table(of_position(MANY)), lambda page: card(page, "10 of clubs").click()),
    "mulle": at_table(table_of("mulle"), moves=MANY_MOVES),
    "hint": after(at_table(TWO, moves=FEW), with_hint),
    "pairs": at_table(table_of(PAIRS), moves=FEW),
    "six": at_table(table_of("krypkasino players=6 teams=3"), moves=2),
    "sheet": at_table(table_of(PAIRS), moves=1000),
    "watching": at_table(TWO, f"#{KEYS.watch}"),
    "agents": at_table(lambda: hosted("krypkasino", ("greedy", "tactician"))),
    "pile": after(at_table(TWO, moves=MANY_MOVES), lambda page: page.locator(".own .numbers button").click()),
    "rules": after(at_table(TWO), lambda page: page.locator("[data-focus=rules]").click()),
}
PAGES = {  # of the docs: the state, and how it is shown
    "table": ("choosing", {"width": 1200, "height": 780}),
    "table-hint": ("hint", {"width": 1200, "height": 830}),
    "table-phone": ("builds", {"width": 360, "height": 780}),
}


def draw(browser: Browser, state: Any, path: Path, more: dict[str, Any]) -> None:
    """Draw a state of the table."""
    with state(browser, more) as page:
        page.screenshot(path=path)


def main() -> None:
    """Draw the pictures of the pages, or all states in all ways."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="draw all states in all ways to a folder")
    parser.add_argument("--only", default="", help="only the states whose names hold this")
    given = parser.parse_args()
    with chromium() as browser:
        if not given.all:
            for name, (state, size) in PAGES.items():
                path = PICTURES / f"{name}.png"
                draw(browser, STATES[state], path, size)
                drawn = Image.open(path).convert("RGB")
                few = drawn.quantize(
                    COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
                )  # keeps the few reds
                few.save(path, optimize=True)
            return
        given.all.mkdir(parents=True, exist_ok=True)
        for name, state in STATES.items():
            if given.only in name:
                for size, more in SIZES.items():
                    draw(browser, state, given.all / f"{name}-{size}.png", more)
        for name, scheme, load in (("dark", "dark", TWO), ("swedish", "light", table_of("krypkasino", "sv"))):
            if given.only in name:
                more = {**SIZES["desktop"], "color_scheme": scheme}
                draw(browser, after(at_table(load, moves=FEW), with_hint), given.all / f"{name}.png", more)


if __name__ == "__main__":
    main()
