"""Tables in the terminal: every figure can be read at 80 characters."""

import pytest
from support.commands import krypenv


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_matches_with_luck_taken_out_lose_no_figure(columns):
    agent = "tactician(shed=True)"
    printed = krypenv("evaluate", agent, "--against", "random", "--deals", "20", "--luck", "on", columns=columns).stdout
    lines = printed.splitlines()
    assert max(map(len, lines[1:5])) <= columns
    words = printed.replace("│", " ").split()
    assert sum(word.endswith("%") and word != "95%" for word in words) == 2  # won, tied
    assert sum(word.startswith(("+", "-")) and word[-1].isdigit() for word in words) >= 6  # margins and their bounds
    assert "random" in words
    first = [line.split("│")[1].strip() for line in lines if line.startswith("│")]
    assert "".join(first).startswith(agent)
