"""Tables in the terminal: every figure can be read at 80 characters."""

import re

import pytest
from support.commands import krypenv

from krypenv.training.cli.research.exploit import print_result
from krypenv.training.cli.speed.benchmark import COLUMNS as BENCH_COLUMNS
from krypenv.training.evaluation.analysis.comments import PLAY_COLUMNS
from krypenv.training.evaluation.matches.duplicate import LUCK_COLUMNS, MATCH_COLUMNS
from krypenv.training.evaluation.matches.margins import Adjusted
from krypenv.training.evaluation.score.score_table import COLUMNS as SCORE_COLUMNS
from krypenv.training.exploiting.exploiting import Exploiter, ExploitResult
from krypenv.training.runs.tables import print_table


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
        Exploiter(search, "with tactician(shed=True)", "64 worlds", 96.0, *margins),
        Exploiter(trained, "0", "2,015,232 decisions", 516.0, *margins),
    )
    print_result(ExploitResult("tactician", "krypkasino", 0, both, 0, *margins[:3], "these", "those", luckless))
    lines = [line for line in capsys.readouterr().out.splitlines() if line[:1] in "┃│┏"]
    assert max(map(len, lines)) <= columns
    words = " ".join(lines).replace("│", " ").replace("┃", " ").split()
    assert {"+23.49", "+19.51", "+27.47", "+23.62", "+20.39", "+26.86", "516", "96", "2,015,232", "1.6"} <= set(words)


ROWS = {  # the widest figures of each command's table
    "evaluate": ((*MATCH_COLUMNS[:4], *LUCK_COLUMNS, "win", "tie"),
                 ("champion(worlds=100)", "tactician(shed=True)", "+137.90", "+121.49 to +154.31", "+135.55",
                  "+127.42 to +143.69", "x 121.6", "100.0%", "100.0%")),
    "arena": (("agent", *(f"over {number}" for number in range(1, 13))), ("12 champion", *["-123.45 ±115.31"] * 12)),
    "score": (SCORE_COLUMNS, ("krypkasino players=4 teams=2", "tactician(shed=True)", "-123.45", "-143.45 to -103.45",
                              "-123.45", "-143.45 to -103.45")),
    "analyze": (PLAY_COLUMNS, ("104", "champion", "10♦ takes 8♥ 2♣ and builds", "??", "12.34", "9♥ stays",
                               "+12.34 ± 12.3", "-123.4 ± 12.3")),
    "bench": (BENCH_COLUMNS, ("env krypkasino_v0 (PettingZoo AEC)", "1,234,567,890", "1,234,567,890",
                              "1,234,567 decisions/s", "65,536", "1024")),
}  # fmt: skip


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
@pytest.mark.parametrize("command", ROWS)
def test_a_table_keeps_its_border_and_its_figures(command, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    headings, row = ROWS[command]
    print_table(headings, [row, row])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line[-1] == {"┏": "┓", "┃": "┃", "┡": "┩", "│": "│", "└": "┘"}[line[0]] for line in lines)
    figures = re.findall(r"(?<!\S)[+-]?[\d,.]*\d%?(?!\S)", " ".join(row))
    assert set(figures) <= set(re.split(r"[\s│]+", "\n".join(lines)))
