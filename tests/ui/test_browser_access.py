"""The page for everybody: axe-core finds nothing serious in any state of it, light or dark, wide or on a phone."""

from __future__ import annotations

import contextlib

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from support.browsers import card, of_position, opened, play_first, table_at, wait_for_turn
from support.decisions import BUILDS, CHOICE
from support.studies import ANALYST, played
from support.tables import KEYS, hosted

from krypenv.ui.seats import PERSON

pytestmark = pytest.mark.browser

LAST = "rules: mini-low; hand 0: 2S 3C; hand 1: 4C 5D; table: 6H; captured 1: rest"
IN_ENGLISH, IN_SWEDISH = {}, {"width": 360, "height": 740, "has_touch": True}  # on a phone
ways = pytest.mark.parametrize(("language", "way"), [("en", IN_ENGLISH), ("sv", IN_SWEDISH)])


@contextlib.contextmanager
def at_rest(browser, load, way=IN_ENGLISH, name="", **more):
    """A page of a table on which nothing moves."""
    with table_at(load, studied=ANALYST, **more) as address, opened(browser, address + name, **way) as page:
        yield page


def check(page):
    """Assert that axe-core has no serious or critical finding, nor one about contrast in the dark."""
    for scheme, options in (("light", None), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options=options).response["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert not serious, [(scheme, each["id"], [it["html"][:200] for it in each["nodes"]]) for each in serious]


@ways
def test_nothing_serious_while_a_game_is_played(browser, language, way):
    load = lambda: hosted("mini-double players=4 teams=2", (PERSON, *["greedy"] * 3), language=language)  # noqa: E731
    with at_rest(browser, load, way) as page:
        assert page.evaluate("document.documentElement.lang") == language
        check(page)
        page.locator("[data-focus=rules]").click()
        page.wait_for_selector("dialog[open]")
        check(page)
        page.keyboard.press("Escape")
        page.locator(".hand .card:not(.illegal)").first.click()
        check(page)
        page.locator(".move").first.click()
        page.wait_for_function("() => !document.querySelector('.hand .chosen')")
        while not wait_for_turn(page):
            play_first(page)
        check(page)


@pytest.mark.parametrize(("position", "name"), [(CHOICE, "8 of spades"), (BUILDS, "4 of spades")])
def test_nothing_serious_while_a_person_chooses(browser, position, name):
    with at_rest(browser, of_position(position)) as page:
        card(page, name).click()
        check(page)


@ways
def test_nothing_serious_in_a_hint_and_in_a_pile(browser, language, way):
    with at_rest(browser, lambda: hosted(adviser="search(worlds=4)", language=language), way) as page:
        page.locator("[data-focus=hint]").click()
        page.wait_for_selector(".hint")
        check(page)
        page.locator(".own .numbers button").click()
        page.wait_for_selector("dialog[open]")
        check(page)


def test_nothing_serious_while_agents_are_watched(browser):
    with at_rest(browser, lambda: hosted("krypkasino", ("greedy", "random")), pause=0.5) as page:
        page.locator("[data-focus=pause]").click()
        page.wait_for_selector("[data-focus=step]")
        check(page)


def test_nothing_serious_for_who_watches_and_where_a_link_leads_nowhere(browser):
    with table_at(hosted, KEYS._replace(is_open=False)) as address:
        with opened(browser, f"{address}#{KEYS.watch}", reduced_motion="reduce") as page:
            page.wait_for_selector(".felt.watching")
            assert page.locator(".hand").count() == page.get_by_role("button", name="New game").count() == 0
            check(page)
        page = browser.new_page(reduced_motion="reduce")
        page.goto(f"{address}#wrong")
        expect(page.get_by_role("alert")).to_contain_text("This link leads to no seat of this table.")
        check(page)
        page.close()


@pytest.mark.parametrize("way", [IN_ENGLISH, IN_SWEDISH])
def test_nothing_serious_at_the_start_screen(browser, way):
    with at_rest(browser, lambda: None, way, "index.html") as page:
        check(page)
        page.locator("[data-focus=choose]").click()
        page.locator("[data-focus=size]").select_option("4/2")
        page.locator("[data-focus='seat 2']").select_option("person")
        check(page)
        page.locator("[data-focus=begin]").click()
        page.locator("dialog[open] .links").wait_for()
        check(page)


def test_what_is_serious_is_found(browser):
    with at_rest(browser, hosted) as page:
        page.evaluate("document.documentElement.removeAttribute('lang')")
        with pytest.raises(AssertionError, match="html-has-lang"):
            check(page)


@ways
def test_nothing_serious_where_somebody_learns(browser, language, way):
    with at_rest(browser, lambda: hosted(language=language), way, "learn.html") as page:
        page.locator(".hand .card").first.click()
        check(page)
        page.locator(".move").first.click()
        page.wait_for_selector(".lesson .right")
        check(page)


@ways
def test_nothing_serious_where_a_game_and_a_position_are_studied(browser, language, way):
    record = played(seed=8).record().encode()
    with at_rest(browser, lambda: hosted(language=language), way, "study.html") as page:
        page.locator("[role=status]").wait_for()
        check(page)
        page.locator("textarea").fill(LAST)
        page.locator("textarea").press("Tab")
        page.locator(".values .link").first.click()
        page.locator(".values .link").first.wait_for()
        check(page)
        page.locator("input[type=file]").set_input_files(
            {"name": "game.krk", "mimeType": "text/plain", "buffer": record}
        )
        page.locator("[data-focus=challenge]").click()
        page.locator("section .small").first.wait_for()
        check(page)
