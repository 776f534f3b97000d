"""The pages of the environments are what `make pages` makes of the code."""

import re
from pathlib import Path

import gymnasium
import pytest
from support.places import DOCS
from tools.pages import GAMES, pages

from krypenv import Rules, agents
from krypenv.families.variants import FAMILIES

PAGES = pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path], "run: make pages"


def test_every_environment_has_its_page() -> None:
    told = "\n".join(PAGES.values())
    for family in FAMILIES:
        assert f"from krypenv import {family.module}" in told
        assert f'gymnasium.make("{family.gym_id}")' in told
        for variant in family.variants:
            assert f'`"{variant}"`' in told


@pytest.mark.parametrize("name", GAMES)
def test_the_opponents_of_the_page_play_the_game(name: str) -> None:
    """Searches too, for a decision each; and nobody cheats."""
    family = GAMES[name].family
    found = re.search(r"The opponents are (.*), \[networks", PAGES[DOCS / name])
    assert found
    opponents = found[1].replace("`", "").replace('"', "").split(", ")
    assert {"random", "greedy", "tactician", "search"} <= set(opponents)
    for opponent in opponents:
        env = gymnasium.make(family.gym_id, variant="mini", opponents=opponent)
        _, info = env.reset(seed=0)
        env.step(int(info["action_mask"].argmax()))
        assert not getattr(agents.make(opponent, Rules.preset(family.variants["mini"])), "cheats", False)
