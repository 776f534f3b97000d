"""The code of README, CONTRIBUTING and docs runs, and prints what stands below it.

Cards of models have the commands of their time.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pages import PAGES, name_of, run_page

PAGE = """
```python
print("one")
```

```text
one
```

<!-- not run -->
```python
print(unknown)
```

```toml
unknown = 1
```
"""


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "models"], ids=name_of)
def test_code_of_the_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("one\n```\n\n<", "two\n```\n\n<", AssertionError),
        ("<!-- not run -->", "", NameError),
        ("```toml\nunknown = 1", "```bash\nkrypenv evaluate greedy --nothing", AssertionError),
        ("```toml\nunknown = 1", "```bash\nkrypenv train --nothing", AssertionError),
        ("```toml\nunknown = 1", "```bash\nmake nothing", AssertionError),
    ],
)
def test_a_wrong_page_is_found(old: str, new: str, error: type[Exception], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    run_page(page)
    assert PAGE.count(old) == 1
    page.write_text(PAGE.replace(old, new))
    with pytest.raises(error):
        run_page(page)
