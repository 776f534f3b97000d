"""The pages of the environments are what `make pages` makes of the code, and say what is true."""

import re

import gymnasium
import pytest
from make_pages import DOCS, GAMES, TABLE, main_page, pages, setups

from krypenv import Rules, agents
from krypenv.families.variants import FAMILIES
from krypenv.whole_state import layout_of

PAGES = pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_up_to_date(path):
    assert path.read_text(encoding="utf-8") == PAGES[path], "run: make pages"


def test_every_environment_has_its_page():
    told = "\n".join(PAGES.values())
    for family in FAMILIES:
        assert f"from krypenv import {family.module}" in told
        assert f'gymnasium.make("{family.gym_id}")' in told
        for variant in family.variants:
            assert f'`"{variant}"`' in told


@pytest.mark.parametrize("name", GAMES)
def test_every_block_of_every_variant_is_on_the_page(name):
    page, family = PAGES[DOCS / name], GAMES[name].family
    for told, rules in setups(family).items():
        assert f"| {told} | {rules.observation_size} | " in page
        for layout in (rules.layout, layout_of(rules)):
            for block, part in layout.items():
                if block not in Rules.preset().layout and block not in layout_of(Rules.preset()):
                    span = f"{part.start}–{part.stop - 1}" if part.stop > part.start + 1 else str(part.start)
                    assert f"| {span} | `{block}` |" in page


@pytest.mark.parametrize("name", GAMES)
def test_the_opponents_of_the_page_play_the_game(name):
    """Searches too, for a decision each; and nobody cheats."""
    family = GAMES[name].family
    told = re.search(r"The opponents are (.*), \[networks", PAGES[DOCS / name])[1].replace("`", "").replace('"', "")
    assert {"random", "greedy", "tactician", "search"} <= set(told.split(", "))
    for opponent in told.split(", "):
        env = gymnasium.make(family.gym_id, variant="mini", opponents=opponent)
        _, info = env.reset(seed=0)
        env.step(int(info["action_mask"].argmax()))
        assert not getattr(agents.make(opponent, Rules.preset(family.variants["mini"])), "cheats", False)


def test_a_changed_table_is_made_anew():
    text = PAGES[DOCS / "environment.md"]
    assert len(TABLE.findall(text)) == 4
    assert main_page(re.sub("copies of each kind in your hand", "nonsense", text)) == text
