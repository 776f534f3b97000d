"""The code of README, CONTRIBUTING and docs runs, and prints what stands below it.

Cards of models have the commands of their time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pages import PAGES, name_of, run_page
from support.small_files import tiny_protocol


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "models"], ids=name_of)
def test_code_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with tiny_protocol():  # for `krypenv score`
        run_page(page)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('```python\nprint("one")\n```\n\n```text\ntwo\n```\n', AssertionError),
        ("```python\nprint(unknown)\n```\n", NameError),
        ("```bash\nkrypenv evaluate greedy --nothing\n```\n", AssertionError),
        ("```bash\nkrypenv train --nothing\n```\n", AssertionError),
        ("```bash\nmake nothing\n```\n", AssertionError),
    ],
)
def test_a_wrong_page_is_found(text: str, error: type[Exception], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(error):
        run_page(page)
    page.write_text(f"<!-- not run -->\n{text}".replace("two", "one"))
    run_page(page)
