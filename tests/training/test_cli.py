"""The console command: what it prints, what it writes, and one sentence for what is wrong."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from support.commands import SETTINGS, krypenv
from support.places import ROOT
from typer.testing import CliRunner

from krypenv import Game, Rules
from krypenv.inputs.words import to_install
from krypenv.pictures import draw_game
from krypenv.training.cli.commands import COMMANDS
from krypenv.training.cli.options import command_of
from krypenv.training.runs import panels
from krypenv.training.runs.options import Command, Part, options_of, part, setting
from krypenv.training.runs.tables import write_json
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator


def test_help_begins_with_what_people_do():
    shown = re.split(r"^╭─ (.+?) ─+╮$", krypenv("--help").stdout, flags=re.MULTILINE)[1:]
    panels_of = {
        title: re.findall(r"^│ ([a-z]+)  ", text, re.MULTILINE)
        for title, text in zip(shown[::2], shown[1::2], strict=True)
    }
    assert panels_of == {
        "Help": [],
        "Playing, training and measuring agents": [
            "play",
            "table",
            "rules",
            "show",
            "analyze",
            "train",
            "evaluate",
            "arena",
            "score",
        ],
        "Research": ["solve", "exploit", "imitate", "data"],
        "Upkeep": ["bench", "doctor"],
    }
    assert list(COMMANDS) == [name for names in panels_of.values() for name in names]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_ends_with_an_example(command):
    done = krypenv(command, "--help")
    assert done.exit_code == 0, done.output
    assert done.stdout.strip().splitlines()[-1].strip().startswith(f"Example: krypenv {command}")


@pytest.fixture
def command_and_help(request, monkeypatch):
    """A command as typer has it, and its help on lines so long that nothing is wrapped."""
    made, get_command = [], typer.main.get_command
    monkeypatch.setattr(typer.main, "get_command", lambda app: made.append(get_command(app)) or made[-1])
    done = krypenv(request.param, "--help", columns=400)
    assert done.exit_code == 0, done.output
    return made[-1], done.stdout


@pytest.mark.parametrize("command_and_help", COMMANDS, indirect=True)
def test_help_groups_all_options_by_panels(command_and_help):
    command, shown = command_and_help
    titles = re.findall(r"^╭─ (.+?) ─+╮", shown, re.MULTILINE)
    assert titles[-1] == panels.HELP
    assert len(set(titles)) == len(titles)
    assert set(titles) <= {"Arguments", *panels.ORDER}, "no option is left in the panel `Options`"
    visible = [option for option in command.params if not getattr(option, "hidden", False)]
    shown_options = re.findall(r"^│ [ *]*(--[a-z-]+)", shown, re.MULTILINE)
    assert sorted(shown_options) == sorted([each.opts[0] for each in visible if each.opts[0][0] == "-"] + ["--help"])


@pytest.mark.parametrize("command_and_help", COMMANDS, indirect=True)
def test_help_shows_every_default(command_and_help):
    command, shown = command_and_help
    for option in command.params:
        default = option.default
        is_switch = default is False and not option.secondary_opts  # off unless it is given
        if default in (None, "", [], ()) or is_switch or "[default: " in (option.help or ""):  # which has words for it
            continue
        value = ", ".join(map(str, default)) if isinstance(default, (list, tuple)) else str(default)
        if isinstance(default, bool):
            value = (option.opts if default else option.secondary_opts)[0].removeprefix("--")
        row = re.search(rf"^│ [ *]*{option.opts[0]} .*", shown, re.MULTILINE)
        assert f"[default: {value}]" in row[0]


def test_help_says_what_a_missing_option_means():
    shown = krypenv("analyze", "--help", columns=400).stdout
    assert "[default: search; oracle-hand with --open]" in shown
    assert "[default: the agent's own, or 200]" in shown


def test_help_of_train_shows_the_parts_of_a_run():
    titles = re.findall(r"^╭─ (.+?) ─+╮", krypenv("train", "--help").stdout, re.MULTILINE)
    assert titles == [
        "Rules", "Length and size", "Initial weights", "Opponents", "Hyperparameters", "Evaluation", "Output", "Help",
    ]  # fmt: skip


def test_evaluate_prints_and_writes_the_same_figures(tmp_path):
    file = tmp_path / "match.json"
    done = krypenv("evaluate", "tactician", "--against", "greedy", "--against", "random", "--deals", 30, "--json", file)
    assert done.exit_code == 0, done.output
    matches = json.loads(file.read_text())["matches"]
    assert [match["opponent"] for match in matches] == ["greedy", "random"]
    assert all(f"{match['margin']:+.2f}" in done.stdout for match in matches)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        (["--players", 4, "--teams", 2], "krypkasino players=4 teams=2"),
        (["--rules", "howto", "--rule", "packs=1"], "howto players=2 packs=1"),
        (["--rules", "howto players=3"], "howto players=3"),
        (["--rule", "later_deal=((1, 0),)", "--rule", "games=2"], "krypkasino players=2 later_deal=((1,0),) games=2"),
    ],
)
def test_evaluate_plays_by_the_rules_given(tmp_path, options, rules):
    file = tmp_path / "match.json"
    done = krypenv("evaluate", "greedy", "--against", "random", "--deals", 2, "--json", file, *options)
    assert done.exit_code == 0, done.output
    assert json.loads(file.read_text())["matches"][0]["rules"] == rules


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["evaluate", "greddy", "--against", "greedy"], "unknown agent 'greddy' (did you mean 'greedy'?)"),
        (["evaluate", "greedy", "--against", "runs/none"], "there is no model folder 'runs/none'"),
        (["evaluate", "greedy", "--against", "random", "--deals", 0], "a match needs at least one deal, not 0"),
        (["evaluate", "greedy", "--against", "random", "--players", 9], "krypkasino is not played by 9 players"),
        (
            ["evaluate", "greedy", "--against", "random", "--players", 5, "--teams", 2],
            "5 players can't form 2 equal teams",
        ),
        (["evaluate", "greedy", "--against", "random", "--rules", "whist"], "unknown preset 'whist'"),
        (["evaluate", "greedy", "--against", "random", "--rule", "packs"], "'packs' in the rules"),
        (["evaluate", "greedy", "--against", "random", "--deals", 1, "--json", "taken"], "taken: "),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    done = krypenv(*arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("krypenv: ")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "wrong", "command"),
    [
        (["evalute"], "no such command 'evalute' \\(did you mean .*'evaluate'.*\\?\\)", "krypenv"),
        (["--no-such"], "no such option:? '?--no-such'?", "krypenv"),
        (["score", "--no-such"], "no such option:? '?--no-such'?", "krypenv score"),
        (["evaluate", "greedy"], "missing option '--against'", "krypenv evaluate"),
        (["solve", "--out"], ".*'?--out'? requires an argument", "krypenv solve"),
    ],
)
def test_a_wrong_word_is_told_in_one_sentence(arguments, wrong, command):
    """The words are those of the library that reads command lines, whose versions differ."""
    done = krypenv(*arguments)
    assert done.exit_code == 2
    assert re.fullmatch(f"krypenv: {wrong}; see {command} --help\n", done.stderr)


def test_show_prints_a_record_and_refuses_what_is_none(tmp_path):
    game = Game(Rules.preset("mini-high"), seed=1)
    while not game.is_over:
        game.push(game.legal_moves()[0])
    record = tmp_path / "game.krk"
    record.write_text(game.record(), encoding="utf-8")
    done = krypenv("show", record)
    assert done.exit_code == 0, done.output
    assert done.stdout.strip()
    record.write_text("no record", encoding="utf-8")
    for path in (record, tmp_path / "missing"):
        done = krypenv("show", path)
        assert done.exit_code == 2
        assert done.stderr.startswith("krypenv: ")
        assert len(done.stderr.splitlines()) == 1


def test_files_of_windows_are_read_or_refused_in_a_sentence(tmp_path):
    """They begin with a byte order mark: of UTF-8, or of UTF-16 where PowerShell redirected."""
    game = Game(Rules.preset("mini-low"), seed=7)
    game.push(game.legal_moves()[0])
    for name, text in (("game.krk", game.record()), ("position.txt", game.position())):
        command = ["show", name] if name == "game.krk" else ["analyze", name, "--worlds", 2]
        command[1] = tmp_path / name
        command[1].write_text(text, encoding="utf-8-sig")
        assert krypenv(*command).exit_code == 0
        command[1].write_text(text, encoding="utf-16")
        done = krypenv(*command)
        assert done.exit_code == 2
        assert re.fullmatch(rf"krypenv: .*{name} is in UTF-16; write it in UTF-8, .*\n", done.stderr)


def test_show_draws_a_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    game = Game(Rules.preset("mini-high"), seed=1)
    for _ in range(9):
        game.push(game.legal_moves()[0])
    (tmp_path / "game.krk").write_text(game.record(), encoding="utf-8")
    done = krypenv("show", "game.krk", "--gif", "a.gif", "--png", "a.png", "--width", 200, "--hands", "none")
    assert done.exit_code == 0, done.output
    assert done.stdout == "wrote a.png\nwrote a.gif\n"
    assert Image.open("a.gif").n_frames == len(game.moves) + 1
    narrator = Narrator(game.rules)
    assert np.array_equal(np.asarray(Image.open("a.png")), draw_game(game, None, 200, said=said_of(game, narrator)))
    for _ in range(5):
        game.pop()
    done = krypenv("show", "game.krk", "--png", "b.png", "--at", 4, "--width", 200, "--hands", 1, "--four-colours")
    assert done.exit_code == 0, done.output
    assert np.array_equal(
        np.asarray(Image.open("b.png")), draw_game(game, 1, 200, four_colours=True, said=said_of(game, narrator))
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--png", "a.png", "--at", "10"], "the game has 9 moves, so --at is 0 to 9, not 10"),
        (["--png", "a.png", "--hands", "both"], "render_seat is 'turn', 'all', None or a seat from 0 to 1, not 'both'"),
        (["--png", "a.png", "--width", "10"], "width is from 160 to 1920, not 10"),
        (["--gif", "a.gif", "--seconds", "nan"], "seconds is from 0.02 to 60, not nan"),
        (["--gif", "a.png"], "the name of this picture ends in .gif, and 'a.png' does not"),
        (["--png", "game.krk"], "game.krk is what is read"),
    ],
)
def test_show_refuses_in_a_sentence(tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    game = Game(Rules.preset("mini-high"), seed=1)
    for _ in range(9):
        game.push(game.legal_moves()[0])
    (tmp_path / "game.krk").write_text(game.record(), encoding="utf-8")
    done = krypenv("show", "game.krk", *options)
    assert done.exit_code == 2
    assert done.stderr.startswith("krypenv: ")
    assert sentence in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["game.krk"]


def test_messages_tell_how_to_install_an_extra_that_there_is():
    root = ROOT
    extras = (root / "pyproject.toml").read_text(encoding="utf-8").partition("[project.optional-dependencies]")[2]
    texts = {
        path: path.read_text(encoding="utf-8")
        for folder in ("krypenv", "agents", "training")
        for path in (root / folder).rglob("*.py")
        if "doctor" not in path.parts  # which depends on nothing, and tells a checkout from a wheel
    }
    assert not [path for path, text in texts.items() if "krypenv[" in text]  # it is on no package index
    named = {extra for text in texts.values() for extra in re.findall(r"to_install\([\"'](\w+)[\"']\)", text)}
    assert named == {"train", "render", "openspiel", "metagame", "data", "ray", "rllib", "torchrl", "tianshou"}
    assert all(re.search(rf"^{extra} = \[", extras, re.MULTILINE) for extra in named)
    assert to_install("train").endswith('pip install -c constraints.txt -e ".[train]"')


def test_show_says_what_is_missing_to_draw(tmp_path, monkeypatch):
    (tmp_path / "game.krk").write_text(Game(Rules.preset(), seed=1).record(), encoding="utf-8")
    monkeypatch.setitem(sys.modules, "pygame", None)
    done = krypenv("show", tmp_path / "game.krk", "--png", tmp_path / "a.png")
    assert done.exit_code == 2
    assert done.stderr == f"krypenv: show needs pygame-ce, which is not installed; {to_install('render')}\n"


@dataclass(frozen=True)
class Table(Part):
    """Who plays, and by which rules."""

    opponents: tuple[str, ...] = setting(("greedy", "random"), "who it plays")
    rule: tuple[str, ...] = setting((), "a rule")
    hidden: int = setting(3, "no option")


@dataclass(frozen=True)
class Options(Command):
    """Settings as a trainer may have them."""

    minutes: float = setting(2.0, "how long it lasts")
    table: Table = part(Table(opponents=("greedy",)), rule="a rule of the table", hidden=None)
    resume: bool = setting(False, "go on where it stopped")
    folder: str | None = setting(None, "where it writes [default: here]")


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        ([], Options()),
        (["--minutes", "0.5", "--resume", "--folder", "a"], Options(0.5, resume=True, folder="a")),
        (["--opponents", "tactician"], Options(table=Table(("tactician",)))),
    ],
)
def test_a_dataclass_is_a_command_line(arguments, settings):
    seen = []
    command = typer.Typer()
    command.command()(command_of(Options, seen.append))
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    assert seen == [settings]
    shown = CliRunner(env={"COLUMNS": "160"}).invoke(command, ["--help"]).output
    assert "how long it lasts" in shown
    assert "[default: here]" in shown
    assert "[default: greedy]" in shown
    assert "a rule of the table" in shown
    assert "hidden" not in shown


def test_json_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "figures.json"
    write_json(file, {"margin": 1})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(file, {"margin": float("inf")})
    assert json.loads(file.read_text()) == {"margin": 1}
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_word_is_refused_in_one_sentence(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    options = [each for each in options_of(SETTINGS[command]).values() if not each.is_tuned]
    for option in options:
        if option.word in (str, Path) and not option.may_be_empty:
            others = [each for each in options if each.is_required and each is not option]
            needed = [word for each in others for word in each.words(("x",) if each.is_repeated else "x")]
            done = krypenv(command, *needed, *option.words(("",) if option.is_repeated else ""))
            assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), (option.name, done.output)
            assert "is empty; give it a value, or leave it out" in done.stderr, option.name
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("words", ["", "--help", "rules --help", "rules mini-low"])
def test_a_full_device_is_told_in_one_sentence(words):
    done = subprocess.run(
        f"{sys.executable} -m krypenv {words} > /dev/full", shell=True, cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (2, "krypenv: the standard output: No space left on device\n")


@pytest.mark.parametrize("words", ["--help", "rules mini-low", "doctor"])
def test_a_working_folder_that_was_deleted_is_told_in_one_sentence(tmp_path, words):
    own = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = f"mkdir gone; cd gone; rmdir ../gone; {sys.executable} -m krypenv {words}"
    done = subprocess.run(line, shell=True, cwd=tmp_path, env=own, capture_output=True, text=True)
    said = "krypenv: the working folder was deleted; go to one that is there\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
