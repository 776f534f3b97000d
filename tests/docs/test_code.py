"""The code of README, CONTRIBUTING and docs runs, and prints what stands below it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pages import PAGES, name_of, run_page
from support.small_files import tiny_protocol

SLOW = ["analysis", "data", "evaluation", "exact", "exploit", "openspiel", "speed", "toolboxes"]
CASES = [pytest.param(page, marks=[pytest.mark.slow] * (page.stem in SLOW), id=name_of(page)) for page in PAGES]


@pytest.mark.parametrize("page", CASES)
def test_code_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with tiny_protocol():  # for `krypenv score`
        run_page(page)


@pytest.mark.parametrize(
    "text",
    [
        '```python\nprint("one")\n```\n\n```text\ntwo\n```\n',
        "```python\nprint(unknown)\n```\n",
        "```bash\nkrypenv evaluate greedy --nothing\n```\n",
        "```bash\nkrypenv train --nothing\n```\n",
        "```bash\nmake nothing\n```\n",
    ],
)
def test_a_wrong_page_is_found(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises((AssertionError, NameError)):
        run_page(page)
