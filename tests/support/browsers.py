"""A table whose pages are opened in Debian's chromium."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
from functools import partial
from itertools import count

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright
from websockets.sync.client import connect

from krypenv import Game
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.serving import bound, config_of
from krypenv.ui.seats import PERSON
from support.studies import study_app
from support.tables import Kept, table_app

WIDER = """width => [...document.querySelectorAll("#page *")]
    .filter(each => each.getBoundingClientRect().right > width).map(each => each.outerHTML.slice(0, 150))"""
TOO_SMALL = """[...document.querySelectorAll("button")].filter(each => {
    const { width, height } = each.getBoundingClientRect();
    return width > 0 && (width < 24 || height < 24);
}).map(each => each.outerHTML.slice(0, 150))"""
GROWN = "count => document.querySelectorAll('.log li').length > count"
ways = pytest.mark.parametrize(
    ("language", "way"), [("en", {}), ("sv", {"width": 360, "height": 740, "has_touch": True})], ids=["wide", "phone"]
)
INSTALL = "chromium is missing; on Debian: apt-get install --no-install-recommends chromium"


@contextlib.contextmanager
def chromium():
    """A browser without a window; it fails, with the line that installs it, where there is none."""
    path = shutil.which("chromium")
    assert path, INSTALL
    with sync_playwright() as playwright:
        expect.set_options(timeout=60_000)  # positions are checked and moves valued in the server's own process
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def table_at(*given, port=0, **more):
    """The address of a table, `table_app`, that is served in a thread."""
    return served(table_app(*given, **more), port)


@contextlib.contextmanager
def study_at(load=None, port=0):
    """The address of a page that studies games, without a table, served in a thread."""
    with served(study_app(load), port) as address:
        yield f"{address}study.html"


@contextlib.contextmanager
def served(app, port=0):
    """The address of an application that is served in a thread."""
    with bound("127.0.0.1", port) as listening:
        server = uvicorn.Server(config_of(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.02)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


@contextlib.contextmanager
def sitting(address, key="", path="socket", origin=None):
    """A page without a browser: its socket, and what it is told, message by message."""
    address = address.rstrip("/")
    where = f"{address.replace('http', 'ws')}/{path}"
    with connect(where, origin=origin or address, open_timeout=10) as socket:
        socket.send(json.dumps({"do": "sit", "key": key}))
        told = (json.loads(socket.recv(timeout=60)) for _ in count())
        yield socket, partial(next, (each for each in told if each["type"] != "wait"))


@contextlib.contextmanager
def opened(browser, address, width=1280, height=800, **more):
    """A page at an address, where a dialog with links is closed; it may log no error."""
    more = {"reduced_motion": "reduce"} | more  # nothing waits for cards that fly
    context = browser.new_context(viewport={"width": width, "height": height}, **more)
    page, faults = context.new_page(), []
    page.set_default_timeout(30_000)
    page.set_default_navigation_timeout(60_000)
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(address)
    page.locator("#page:not([aria-busy])").wait_for(timeout=120_000)  # the engine may be compiled before
    if page.locator("dialog[open]").count():
        page.locator("dialog [data-focus=close]").click()
    yield page
    context.close()
    assert [fault for fault in faults if "WebSocket connection" not in fault] == []


def of_position(text, language="en"):
    """What makes a table with a position."""
    return lambda: Hosted(Game.from_position(text), (PERSON, "greedy"), "greedy", Kept(), language)


def card(page, name):
    """A card of the hand or of the table, by what it is called."""
    return page.get_by_role("button", name=name, exact=True)


def wait_for_turn(page):
    """Wait until it is the person's turn, or the game is over; return whether it is over."""
    page.wait_for_selector(".sheet, .own .plaque.turn")
    return page.locator(".sheet").count() > 0


def drag(page, card, onto):
    """Drag a card onto something."""
    card.hover(position={"x": 10, "y": 10})
    end = box_of(onto)
    page.mouse.down()
    card.hover(position={"x": 16, "y": 24}, force=True)
    page.wait_for_selector(".ghost")
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2)
    page.mouse.up()
    expect(page.locator(".ghost")).to_have_count(0)


def box_of(found):
    """Where something is; it is looked at again if it is just being drawn anew."""
    return next(box for box in (found.bounding_box() for _ in range(100)) if box)


def check_page(page):
    """Assert that a page is no wider than its window, its buttons fit a finger, and axe-core finds nothing serious."""
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.evaluate(WIDER, width)
    assert page.evaluate(TOO_SMALL) == []
    for scheme, options in (("dark", {"runOnly": ["color-contrast"]}), ("light", None)):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options=options).response["violations"]
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert not serious, [(scheme, each["id"], [it["html"][:200] for it in each["nodes"]]) for each in serious]


def play_first(page):
    """Play a move with the first card that may be played, and wait until the table has taken it."""
    page.locator(".hand .card:not(.illegal)").first.click()
    page.locator(".move").first.click()
    page.wait_for_function("() => !document.querySelector('.hand .chosen')")


@contextlib.contextmanager
def log_grows(page, more=0):
    """Wait after the block until more is told than before it."""
    told = page.locator(".log li").count()
    yield
    page.wait_for_function(GROWN, arg=told + more)
