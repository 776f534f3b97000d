"""The page for everybody: axe-core finds nothing serious in any state of it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from support.browsers import card, chromium, of_position, opened, play_first, table_at, wait_for_turn
from support.decisions import BUILDS, CHOICE
from support.studies import ANALYST, played
from support.tables import KEYS, hosted

from krypenv.ui.browser.seats import PERSON

pytestmark = pytest.mark.browser

FOUR = "mini-double players=4 teams=2"
LAST = "rules: mini-low; hand 0: 2S 3C; hand 1: 4C 5D; table: 6H; captured 1: rest"


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def check(page):
    """Assert that axe-core has no serious or critical finding; what moves has come to rest."""
    page.wait_for_function("document.getAnimations().every(each => each.playState !== 'running')")
    found = Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert not serious, [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in serious]


WAYS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"width": 360, "height": 740, "has_touch": True},
    "Swedish": {},
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_serious_while_a_game_is_played(browser, way):
    language = "sv" if way == "Swedish" else "en"
    load = lambda: hosted(FOUR, (PERSON, *["greedy"] * 3), language=language)  # noqa: E731
    with table_at(load) as address, opened(browser, address, **WAYS[way], reduced_motion="reduce") as page:
        check(page)
        page.locator("nav button").first.click()
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("position", "name"), [(CHOICE, "8 of spades"), (BUILDS, "4 of spades")])
def test_nothing_serious_while_a_person_chooses(browser, position, name, scheme):
    more = {"color_scheme": scheme, "reduced_motion": "reduce"}
    with table_at(of_position(position)) as address, opened(browser, address, **more) as page:
        card(page, name).click()
        check(page)


@pytest.mark.parametrize("way", ["light", "dark", "phone"])
def test_nothing_serious_in_a_hint_and_in_a_pile(browser, way):
    load = lambda: hosted("krypkasino", adviser="search(worlds=4)")  # noqa: E731
    with table_at(load) as address, opened(browser, address, **WAYS[way], reduced_motion="reduce") as page:
        page.locator("[data-focus=hint]").click()
        page.wait_for_selector(".hint")
        check(page)
        page.locator(".own .numbers button").click()
        page.wait_for_selector("dialog[open]")
        check(page)


def test_nothing_serious_while_agents_are_watched(browser):
    load = lambda: hosted("krypkasino", ("greedy", "random"))  # noqa: E731
    with table_at(load, pause=0.5) as address, opened(browser, address, reduced_motion="reduce") as page:
        page.locator("[data-focus=pause]").click()
        page.wait_for_selector("[data-focus=step]")
        check(page)


def test_nothing_serious_for_who_watches_and_where_a_link_leads_nowhere(browser):
    closed = KEYS._replace(is_open=False)
    with table_at(lambda: hosted("mini-low"), closed) as address:
        with opened(browser, f"{address}#{KEYS.watch}", reduced_motion="reduce") as page:
            check(page)
        page = browser.new_page()
        page.goto(f"{address}#wrong")
        page.wait_for_selector("[role=alert]")
        check(page)
        page.close()


def test_what_is_serious_is_found(browser):
    with table_at(lambda: hosted("mini-low")) as address, opened(browser, address) as page:
        page.evaluate("document.documentElement.removeAttribute('lang')")
        with pytest.raises(AssertionError, match="html-has-lang"):
            check(page)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_serious_where_somebody_learns_or_studies(browser, way):
    load = lambda: hosted(language="sv" if way == "Swedish" else "en")  # noqa: E731
    more = {**WAYS[way], "reduced_motion": "reduce", "has_rules": False}
    with table_at(load, studied=ANALYST) as address:
        with opened(browser, f"{address}learn.html", **more) as page:
            page.locator(".hand .card").first.click()
            check(page)
            page.locator(".move").first.click()
            page.wait_for_selector(".lesson .right")
            check(page)
        with opened(browser, f"{address}study.html", **more) as page:
            page.locator("[role=status]").wait_for()
            check(page)
            page.locator("input[type=file]").set_input_files(
                {"name": "game.krk", "mimeType": "text/plain", "buffer": played(seed=8).record().encode()}
            )
            page.locator(".values table").wait_for()
            page.locator("[data-focus=challenge]").click()
            page.locator(".challenge").wait_for()
            check(page)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_serious_where_a_position_is_set_up_and_played_on_from(browser, way):
    load = lambda: hosted(language="sv" if way == "Swedish" else "en")  # noqa: E731
    more = {**WAYS[way], "reduced_motion": "reduce", "has_rules": False}
    with table_at(load, studied=ANALYST) as address, opened(browser, f"{address}study.html", **more) as page:
        page.locator("[data-focus=edit]").click()
        page.locator(".pack").wait_for()
        check(page)
        page.locator("[data-focus='place table']").click()
        page.locator(".pack .chip").first.click()
        page.locator(".said .alarm").wait_for()
        check(page)
        page.locator("[data-focus=preset]").select_option("mulle-glimne")
        page.locator("[data-focus=build]").select_option("9")
        page.locator("[data-place='build 9']").wait_for()
        check(page)
        page.locator("textarea").fill(LAST)
        page.locator(".said b").wait_for()
        check(page)
        page.locator("[data-focus=study]").click()
        page.locator(".values .link").first.click()
        page.locator(".values .link").first.wait_for()
        check(page)
