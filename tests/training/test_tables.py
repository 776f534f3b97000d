"""Tables in the terminal: every figure can be read at 80 characters."""

import re

import pytest

from krypenv.training.cli.bench import RATES
from krypenv.training.cli.exploit import COLUMNS as EXPLOIT_COLUMNS
from krypenv.training.evaluation.analysis.comments import PLAY_COLUMNS
from krypenv.training.evaluation.matches.duplicate import LUCK_COLUMNS, MATCH_COLUMNS
from krypenv.training.evaluation.score.board import COLUMNS as SCORE_COLUMNS
from krypenv.training.runs.tables import print_table

ROWS = {  # the widest figures of each command's table
    "evaluate": ((*MATCH_COLUMNS[:4], *LUCK_COLUMNS, "win", "tie"),
                 ("champion(worlds=100)", "tactician(shed=True)", "+137.90", "+121.49 to +154.31", "+135.55",
                  "+127.42 to +143.69", "x 121.6", "100.0%", "100.0%")),
    "arena": (("agent", *(f"over {number}" for number in range(1, 13))), ("12 champion", *["-123.45 ±115.31"] * 12)),
    "score": (SCORE_COLUMNS, ("krypkasino players=4 teams=2", "tactician(shed=True)", "-123.45", "-143.45 to -103.45",
                              "-123.45", "-143.45 to -103.45")),
    "analyze": (PLAY_COLUMNS, ("104", "champion", "10♦ takes 8♥ 2♣ and builds", "??", "12.34", "9♥ stays",
                               "+12.34 ± 12.3", "-123.4 ± 12.3")),
    "ratios": (("what", "against", "ratio", "95% interval"),
               ("OpenSpiel hearts, observed", "0123456789abcdef", "1234.567", "1234.567 to 1234.567")),
    "bench": (("what", *RATES.values(), "first use"),
              ("engine, several threads, features block", "1,234,567,890", "1,234,567,890", "1234.50 s")),
    "exploit": ((*EXPLOIT_COLUMNS, *LUCK_COLUMNS),
                ("policy-aware search with tactician(shed=True)", "2,015,232 decisions", "12345", "+123.49",
                 "+119.51 to +127.47", "+123.62", "+120.39 to +126.86", "x 121.6")),
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
