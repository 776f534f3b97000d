"""The card of the problem on the page for researchers is what its script prints."""

import contextlib
import io
import runpy

from support.places import DOCS


def test_the_card_of_the_problem_is_what_its_script_prints():
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(DOCS / "results" / "problem.py"), run_name="__main__")
    assert f"```text\n{printed.getvalue()}```" in (DOCS / "researchers.md").read_text(encoding="utf-8")
