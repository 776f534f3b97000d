"""The console command: its help, what it prints and writes, and tables whose figures can all be read."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image
from rich.console import Console
from support.commands import SETTINGS, krypenv
from support.places import ROOT

from krypenv import Game, Rules
from krypenv.inputs.words import to_install
from krypenv.pictures import draw_game
from krypenv.training.cli.commands import COMMANDS, PANELS
from krypenv.training.runs.tables import print_table
from krypenv.training.settings.base import about, flag_of, kind_of, options_of
from krypenv.training.settings.groups import ORDER
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator


def test_help_begins_with_what_people_do():
    shown = re.split(r"^╭─ (.+?) ─+╮$", krypenv("--help").stdout, flags=re.MULTILINE)[1:]
    listed = [re.findall(r"^│ ([a-z]+)  ", text, re.MULTILINE) for text in shown[1::2]]
    assert shown[::2] == ["Options", *PANELS]
    assert listed == [[], *([name for name in COMMANDS if COMMANDS[name].panel == panel] for panel in PANELS)]
    assert list(COMMANDS) == [name for names in listed for name in names]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_every_option_by_panels_with_its_text_and_default_and_an_example(name):
    shown = krypenv(name, "--help", columns=400).stdout.replace("\\[", "[")  # as the lowest typer shows a bracket
    assert shown.strip().splitlines()[-1].strip().startswith(f"Example: krypenv {name}")
    titles = re.findall(r"^╭─ (.+?) ─+╮", shown, re.MULTILINE)
    order = ["Arguments", "Options", *ORDER]
    assert titles == [title for title in order if title in titles], "in order, and each once"
    rows = dict(re.findall(r"^│ [ *]*(--[a-z-]+)(.*)", shown, re.MULTILINE))
    for key, field in options_of(SETTINGS[name]).items():
        if not about(field)["is_argument"]:
            row = rows.pop(flag_of(key, field))
            text, has_words, _ = str(field.description).partition(" [default: ")
            assert text in row
            if not has_words and kind_of(field)[0] in (int, float) and field.default is not None:
                assert f"[default: {field.default}]" in row
    assert set(rows) == {"--help"}


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        (["--players", 4, "--teams", 2], "krypkasino players=4 teams=2"),
        (["--rules", "howto players=3", "--rule", "later_deal=((1, 0),)"], "howto players=3 later_deal=((1,0),)"),
    ],
)
def test_evaluate_prints_and_writes_the_same_figures_by_the_rules_given(tmp_path, options, rules):
    file = tmp_path / "match.json"
    against = ["--against", "greedy", "--against", "random"]
    done = krypenv("evaluate", "tactician", *against, "--deals", 3, "--json", file, *options)
    assert done.exit_code == 0, done.output
    matches = json.loads(file.read_text())["matches"]
    assert [(match["opponent"], match["rules"]) for match in matches] == [("greedy", rules), ("random", rules)]
    assert all(f"{match['margin']:+.2f}" in done.stdout for match in matches)
    assert list(tmp_path.iterdir()) == [file]


@pytest.fixture
def game(tmp_path, monkeypatch):
    """A game of nine moves, and its record in the working folder."""
    monkeypatch.chdir(tmp_path)
    game = Game(Rules.preset("mini-high"), seed=1)
    for _ in range(9):
        game.push(game.legal_moves()[0])
    Path("game.krk").write_text(game.record(), encoding="utf-8")
    return game


def test_show_prints_a_record_also_as_windows_writes_it(game):
    """Its files begin with a byte order mark."""
    done = krypenv("show", "game.krk")
    assert done.stdout.strip(), done.output
    Path("game.krk").write_text(game.record(), encoding="utf-8-sig")
    assert krypenv("show", "game.krk").stdout == done.stdout


def test_show_draws_a_record(game):
    done = krypenv("show", "game.krk", "--gif", "a.gif", "--png", "a.png", "--at", 4, "--width", 200, "--hands", 1)
    assert (done.exit_code, done.stdout) == (0, "wrote a.png\nwrote a.gif\n"), done.output
    assert Image.open("a.gif").n_frames == 4 + 1
    for _ in range(5):
        game.pop()
    said = said_of(game, Narrator(game.rules))
    assert np.array_equal(np.asarray(Image.open("a.png")), draw_game(game, 1, 200, said=said))


def test_every_extra_that_a_message_names_is_one_to_install():
    extras = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[project.optional-dependencies]")[2]
    paths = [path for folder in ("krypenv", "agents", "training") for path in (ROOT / folder).rglob("*.py")]
    sources = [path.read_text(encoding="utf-8") for path in paths]
    named = {extra for text in sources for extra in re.findall(r"to_install\([\"'](\w+)[\"']\)", text)}
    assert named > {"train", "render", "ray"}
    assert all(re.search(rf"^{extra} = \[", extras, re.MULTILINE) for extra in named)
    assert to_install("train").endswith('pip install -c constraints.txt -e ".[train]"')


def test_a_working_folder_that_was_deleted_is_told_in_one_sentence(tmp_path):
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = f"mkdir gone; cd gone; rmdir ../gone; {sys.executable} -m krypenv rules mini-low"
    done = subprocess.run(line, shell=True, cwd=tmp_path, env=own, capture_output=True, text=True)
    said = "krypenv: the working folder was deleted; go to one that is there\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


NAMES = st.sampled_from(("tactician(shed=True)", "krypkasino players=4 teams=2", "10♦ takes 8♥ 2♣ and builds"))
HEADINGS = st.sampled_from(("95% interval", "a deal is worth", "win", "over 12", "steps/CPU s"))
FIGURES = st.sampled_from(("-137.90", "+121.49 to +154.31", "x 121.6", "100.0%", "1,234,567,890", "12.34 ± 12.3"))


@settings(deadline=None)
@given(st.sampled_from((60, 80, 100, 200)), NAMES, NAMES, st.lists(st.tuples(HEADINGS, FIGURES), min_size=1))
def test_a_table_keeps_its_border_and_its_figures(columns, agent, opponent, cells):
    headings, figures = zip(*cells, strict=True)
    console = Console(file=io.StringIO(), width=columns)
    print_table(("agent", "against", *headings), [(agent, opponent, *figures)] * 2, console)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line[-1] == {"┏": "┓", "┃": "┃", "┡": "┩", "│": "│", "└": "┘"}[line[0]] for line in lines)
    assert {word for figure in figures for word in figure.split()} <= set(re.split(r"[\s│]+", "\n".join(lines)))
