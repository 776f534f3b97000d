"""The code of the page on language models runs, with a script in the model's place and the server that it starts."""

from support.endpoint import endpoint, served
from support.pages import run_page
from support.places import DOCS


def test_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page, text = tmp_path / "language.md", (DOCS / "language.md").read_text(encoding="utf-8")
    with served() as address, endpoint() as (url, _):
        page.write_text(text.replace("http://127.0.0.1:8001/v1", url).replace("http://127.0.0.1:8000", address))
        run_page(page, "language")
