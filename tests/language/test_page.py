"""The code of the page on language models runs, with a script in the model's place and the server that it names."""

import socket
import threading
import time

import uvicorn
from support.endpoint import endpoint
from support.pages import run_page
from support.places import DOCS

from krypenv.adapters.openenv import make_app


def test_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(make_app(), host="127.0.0.1", port=port, log_level="critical"))
    threading.Thread(target=server.run, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    with endpoint() as (url, _):
        page = tmp_path / "language.md"
        text = (DOCS / "language.md").read_text(encoding="utf-8")
        page.write_text(text.replace("http://127.0.0.1:8001/v1", url).replace("127.0.0.1:8000", f"127.0.0.1:{port}"))
        run_page(page, "language")
    server.should_exit = True
