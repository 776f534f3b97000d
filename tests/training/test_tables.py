"""Tables in the terminal: every figure can be read at 80 characters."""

import pytest
from support.commands import krypenv

from krypenv.training.cli.research.exploit import print_result
from krypenv.training.evaluation.matches.margins import Adjusted
from krypenv.training.research.exploit.exploiting import Exploiter, ExploitResult


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


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_exploiters_with_luck_taken_out_lose_no_figure(columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    luckless = Adjusted(23.62, 20.39, 26.86, 1.55, "")
    search, trained = "policy-aware search", "best response"
    margins = (23.49, 19.51, 27.47, luckless)
    both = (
        Exploiter(search, "with tactician(shed=True)", "32 worlds out of 128", 96.0, *margins),
        Exploiter(trained, "0", "2,015,232 decisions", 516.0, *margins),
    )
    print_result(ExploitResult("tactician", "krypkasino", 0, both, 0, *margins[:3], "these", "those", luckless))
    lines = [line for line in capsys.readouterr().out.splitlines() if line[:1] in "┃│┏"]
    assert max(map(len, lines)) <= columns
    words = " ".join(lines).replace("│", " ").replace("┃", " ").split()
    assert {"+23.49", "+19.51", "+27.47", "+23.62", "+20.39", "+26.86", "516", "96", "2,015,232", "1.6"} <= set(words)
