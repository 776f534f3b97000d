"""Lists on the pages are those of the code: agents, models, versions, presets, commands."""

from __future__ import annotations

import re

from support.places import DOCS, MODELS
from typer.main import get_command

from krypenv import Rules, agents, observation, whole_state
from krypenv.agents.champion import SHIPPED
from krypenv.agents.neural import model_file
from krypenv.agents.neural.action_features import features_of
from krypenv.agents.programs import player
from krypenv.training.cli.commands import app
from krypenv.training.data import reading
from krypenv.training.evaluation.matches.deal_lists import LISTS
from krypenv.training.evaluation.score import protocol
from krypenv.training.runs import journal


def page(name: str) -> str:
    """The text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def first_column(text: str, head: str) -> list[str]:
    """The first cells of the table whose heading begins with `head`, without marks."""
    rows = text[text.index(f"\n| {head} |") :].split("\n\n")[0].strip().splitlines()[2:]
    return [row.split(" | ")[0].removeprefix("| ").strip("`") for row in rows]


def test_the_page_of_agents_names_them_all() -> None:
    told = {name.partition("(")[0] for name in first_column(page("agents.md"), "string")}
    assert set(agents.names()) | {"learned", "guided"} <= told


def test_each_model_has_its_card() -> None:
    assert all((MODELS / name / "README.md").is_file() for name in SHIPPED)


def test_versions_on_the_page_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$", page("../CHANGELOG.md"), re.MULTILINE)
    (list_version,) = {version for version, _ in LISTS.values()}
    assert {what: version.strip("`") for what, version in rows if what not in {"what", "environments"}} == {
        "observation, features and actions": str(observation.VERSION),
        "state": str(whole_state.VERSION),
        "action features of networks": str(features_of(Rules()).version),
        "action features in the relatives": str(features_of(Rules.preset("mulle")).version),
        "lists of deals `dev` and `test`": str(list_version),
        "score protocol": protocol.VERSION,
        "score file": str(protocol.FORMAT),
        "messages of [programs](docs/programs.md)": str(player.VERSION),
        "model file": str(model_file.FORMAT),
        "run folder": str(journal.FORMAT),
        "data set": str(reading.FORMAT),
    }


def test_commands_that_pages_name_are_there() -> None:
    """Whatever is called `krypenv WORD` in a page is a command."""
    commands = set(get_command(app).commands)  # type: ignore[attr-defined]
    for path in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]:
        named = set(re.findall(r"`krypenv ([a-z]+)[ `]", path.read_text(encoding="utf-8")))
        assert named <= commands, path.name


def test_the_rulings_name_every_preset() -> None:
    told = page("rulings.md")
    assert [name for name in Rules.presets() if f"`{name}`" not in told] == []


def test_the_entry_to_cite_is_that_of_the_release() -> None:
    told = " ".join(page("cite.md").split())
    cff = (DOCS.parent / "CITATION.cff").read_text(encoding="utf-8")
    for field in ("title", "version"):
        found = re.search(rf'^{field}: "?([^"\n]+)', cff, re.MULTILINE)
        assert found
        assert f"{{{found[1]}}}" in told
