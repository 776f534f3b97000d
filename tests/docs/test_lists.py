"""Lists on the pages are those of the code: agents, studies, models, small games, variants of training, commands."""

from __future__ import annotations

import json
import re

import pytest
from answer_tables import stored
from support.places import DOCS, ROOT
from typer.main import get_command

from krypenv import Rules, agents, observation, whole_state
from krypenv.agents.champion import SHIPPED
from krypenv.agents.neural import model_file
from krypenv.agents.neural.action_features import version_of
from krypenv.agents.programs import messages
from krypenv.training.cli.commands import app
from krypenv.training.data import card as data_card
from krypenv.training.evaluation.matches.deal_lists import LISTS
from krypenv.training.evaluation.score import protocol, score_file
from krypenv.training.learn.selfplay.settings import PRESETS, Settings
from krypenv.training.research.studies.registry import STUDIES
from krypenv.training.runs import journal
from krypenv.training.runs.options import options_of
from krypenv.training.solving.growing import SOLVED


def page(name: str) -> str:
    """The text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def first_column(text: str, head: str) -> list[str]:
    """The first cells of the table whose heading begins with `head`, without marks."""
    rows = text[text.index(f"\n| {head} |") :].split("\n\n")[0].strip().splitlines()[2:]
    return [row.split(" | ")[0].removeprefix("| ").strip("`") for row in rows]


def test_agents() -> None:
    told = {name.partition("(")[0] for name in first_column(page("agents.md"), "string")}
    assert set(agents.names()) | {"learned", "guided"} <= told


def test_studies_and_their_questions() -> None:
    assert first_column(page("studies.md"), "study") == list(STUDIES)
    for name, study in STUDIES.items():
        question = study.question.replace("Example M:", "Example M of the rulebook:")
        assert f"| `{name}` | {question} |" in page("studies.md")


def test_the_recipe_of_a_study_is_the_file_itself() -> None:
    recipe = (ROOT / "training" / "research" / "studies" / "kings.py").read_text(encoding="utf-8")
    assert f"```python\n{recipe}```\n" in page("studies.md")


def test_models() -> None:
    assert first_column(page("models.md"), "model") == list(SHIPPED)
    for name, played in SHIPPED.items():
        card = json.loads((ROOT / "agents" / "models" / name / "model.json").read_text(encoding="utf-8"))
        rules = re.escape(", ".join(f"`{text}`" for text in played))
        row = rf"\| `{re.escape(name)}` \| {rules} \| .* \| {card['seconds'] / 60:.0f} minutes \|"
        assert re.search(row, page("models.md"))
        assert (DOCS / "models" / f"{name}.md").exists()


def test_every_model_was_exploited_and_the_page_says_which_gained() -> None:
    gained = []
    for name in SHIPPED:
        told = re.search(
            r"exploiters [^(]*has a margin of \S+ points a game \((\S+) to \S+, \d+ deals", page(f"models/{name}.md")
        )
        assert told, name
        if float(told[1]) > 0:
            gained.append(name)
    assert gained == ["two"]
    assert "Only that of `two` gains significantly." in page("results/exploitability.md")


def test_versions() -> None:
    told = re.findall(r"^\| [^|]+ \| ([^|]+) \| `krypenv\.([\w.]+)[^`]*` \|", page("versions.md"), re.MULTILINE)
    relatives = version_of(Rules.preset("mulle"))
    assert {name: version.replace("`", "") for version, name in told} == {
        "observation.VERSION": str(observation.VERSION),
        "whole_state.VERSION": str(whole_state.VERSION),
        "agents.neural.action_features.version_of": f"{version_of(Rules())}, in the relatives {relatives}",
        "training.evaluation.matches.deal_lists.LISTS": str(LISTS["dev"][0]),
        "training.evaluation.score.protocol.VERSION": protocol.VERSION,
        "training.evaluation.score.score_file.FORMAT": str(score_file.FORMAT),
        "agents.programs.messages.VERSION": str(messages.VERSION),
        "agents.neural.model_file.FORMAT": str(model_file.FORMAT),
        "training.runs.journal.FORMAT": str(journal.FORMAT),
        "training.data.card.FORMAT": str(data_card.FORMAT),
    }
    assert len({version for version, _ in LISTS.values()}) == 1


def test_small_games() -> None:
    """Those that `krypenv solve --list` solves, with the values that the study found."""
    values = stored("small-2")["figures"]["values"]
    listed = re.findall(r"^(mini-\w+) +\d+ .* ([-+]\d\.\d{4}) +[\d.]+$", page("exact.md"), re.MULTILINE)
    assert [name for name, _ in listed] == list(SOLVED)
    assert dict(listed) == {name: f"{values[name]['value']:+.4f}" for name in SOLVED}


def test_presets_of_training() -> None:
    assert first_column(page("training.md"), "preset") == list(PRESETS)


def test_hyperparameters_of_training() -> None:
    """All of them are in the page of the commands, with the defaults of the preset quick."""
    tuned = [name for name, option in options_of(Settings).items() if option.is_tuned]
    text = page("commands.md").split("### krypenv train\n")[1].split("\n### ")[0].split("\nHyperparameters")[1]
    rows = dict(re.findall(r"^\| `(\w+)` \| `(.*?)` \|", text, re.MULTILINE))
    values = Settings.of(preset="quick").flat()
    assert rows == {name: str(values[name]) for name in tuned}


def test_commands_of_the_pages() -> None:
    """Whatever is called `krypenv WORD` in a page is a command."""
    commands = set(get_command(app).commands)  # type: ignore[attr-defined]
    for path in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        named = set(re.findall(r"`krypenv ([a-z]+)[ `]", path.read_text(encoding="utf-8")))
        assert named <= commands, path.name


@pytest.mark.parametrize("name", Rules.presets())
def test_presets_of_the_rules(name: str) -> None:
    assert f"'{name}'" in page("rulings.md")


def test_the_champion_s_places_are_those_of_the_board() -> None:
    """The README says: first for two, first with three others for four."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert "strongest" not in readme
    board = page("results/scores/board.md")
    first = {
        table: re.findall(r"^\| 1 \| `([^`]+)`", board.split(f"## {table}\n")[1].split("\n## ")[0], re.MULTILINE)
        for table in ("two", "four")
    }
    assert {table: sorted(agents) for table, agents in first.items()} == {
        "two": ["champion"], "four": ["champion", "champion(worlds=0)", "ismcts", "rollout"],
    }  # fmt: skip
    assert "In the game for two it has the first place" in readme
    assert "it shares the first place with its network alone, `ismcts` and `rollout`" in readme
