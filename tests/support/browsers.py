"""A table whose pages are opened in Debian's chromium."""

from __future__ import annotations

import contextlib
import shutil
import threading
import time

import uvicorn
from playwright.sync_api import sync_playwright

from krypenv.ui.browser.app import app_of
from krypenv.ui.browser.pages import Pages
from krypenv.ui.browser.serving import bound
from support.tables import KEYS, Here

INSTALL = "chromium is missing; on Debian: apt-get install --no-install-recommends chromium"


@contextlib.contextmanager
def chromium():
    """A browser without a window; it fails, with the line that installs it, where there is none."""
    path = shutil.which("chromium")
    assert path, INSTALL
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@contextlib.contextmanager
def table_at(load, keys=KEYS, port=0, thinker=None, pause=0.0):
    """The address of a table that is served in a thread."""
    pages = Pages(load, keys, thinker or Here(), pause=pause)
    with bound("127.0.0.1", port) as listening:
        config = uvicorn.Config(app_of(pages, is_local=True), log_level="error", ws="websockets-sansio",
                                timeout_graceful_shutdown=1)  # fmt: skip
        server = uvicorn.Server(config)
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
