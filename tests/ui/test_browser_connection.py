"""The page's connection in a real browser: one that is lost and comes back, none at all, proxies, a wrong link."""

from __future__ import annotations

import contextlib

import pytest
from playwright.sync_api import expect
from starlette.websockets import WebSocketClose
from support.browsers import log_grows, of_position, opened, play_first, served, table_at
from support.decisions import FORCED
from support.studies import ANALYST
from support.tables import KEYS, Here, Kept, hosted, opens, sockets_of

from krypenv import Game
from krypenv.ui.browser.app import app_of
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.pages import Pages
from krypenv.ui.seats import PERSON

pytestmark = pytest.mark.browser


def behind_a_proxy(app, prefix="", host="", takes_sockets=True):
    """An application behind a proxy that shows it below a path, calls it by another host, or passes no sockets on."""

    async def pass_on(scope, receive, send):
        if scope["type"] == "websocket" and not takes_sockets:
            return await WebSocketClose()(scope, receive, send)
        if scope["type"] != "lifespan":
            headers = [pair for pair in scope["headers"] if not (host and pair[0] == b"host")]
            headers += [(b"host", host.encode())] if host else []
            scope = {**scope, "path": scope["path"].removeprefix(prefix), "headers": headers}
        await app(scope, receive, send)

    return pass_on


def test_a_page_finds_a_table_that_was_started_again_and_forgets_what_was_chosen_at_another_game(browser):
    kept, lost = Kept(), "The connection is lost. Trying again …"
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second, contextlib.ExitStack() as later:
        address = first.enter_context(table_at(lambda: hosted(keep=kept)))
        page = later.enter_context(opened(browser, address))
        with log_grows(page, 1):
            play_first(page)
        lines = page.locator(".log li").all_inner_texts()
        page.locator(".hand .card:not(.illegal)").first.click()
        first.close()
        expect(page.locator(".status")).to_have_text(lost)
        game, port = Game.replay(kept.games[0][-1]), int(address.split(":")[2].strip("/"))
        second.enter_context(table_at(lambda: Hosted(game, (PERSON, "greedy"), "greedy", kept), port=port))
        expect(page.locator(".status")).not_to_have_text(lost, timeout=15_000)
        assert page.locator(".log li").all_inner_texts() == lines
        page.locator(".hand .card:not(.illegal)").first.click()
        second.close()
        later.enter_context(table_at(of_position(FORCED), port=port))
        expect(page.locator(".hand .card")).to_have_count(2, timeout=15_000)
        expect(page.locator(".hand .chosen")).to_have_count(0)


WHY = {
    "en": ("does not know the address of this page", "a proxy on the way", "can't be reached"),
    "sv-SE": ("känner inte till sidans adress", "en proxy på vägen", "går inte att nå"),
}


@pytest.mark.parametrize(("language", "name"), [("en", ""), ("sv-SE", "study.html")])
def test_a_page_that_gets_no_connection_says_why(browser, language, name):
    unknown, no_socket, gone = WHY[language]
    app = lambda: app_of(Pages(opens(hosted), KEYS, Here()), True)  # noqa: E731
    page = browser.new_page(locale=language)
    with served(behind_a_proxy(app(), host="127.0.0.1:1")) as address:
        page.goto(address + name)
        expect(page.get_by_role("alert")).to_contain_text(unknown)
        expect(page.get_by_role("alert")).to_contain_text(f"--origin {address}")
    with served(behind_a_proxy(app(), takes_sockets=False)) as address:
        page.goto(address + name)
        expect(page.get_by_role("alert")).to_contain_text(no_socket)
    expect(page.get_by_role("alert")).to_contain_text(gone)
    page.close()


def test_a_table_below_a_path_is_played_learned_and_studied(browser):
    table = Pages(opens(hosted), KEYS, Here(), pause=0.0)
    app = app_of(table, True, sockets_of(table, KEYS, Here(), ANALYST))
    with served(behind_a_proxy(app, prefix="/cards")) as address:
        with opened(browser, f"{address}cards/") as page:
            play_first(page)
            page.locator("[data-focus=rules]").click()
            page.locator("[data-focus=learn]").click()
            page.locator("#lesson h2").first.wait_for()
        with opened(browser, f"{address}cards/study.html") as page:
            page.locator("[role=status], [data-focus=edit]").first.wait_for()
