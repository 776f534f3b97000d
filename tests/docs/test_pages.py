"""The pages of the environments are what `make pages` makes of the code, and say what is true."""

import re

import gymnasium
import pytest
from generated import LAYOUTS, PLACE, with_parts
from make_pages import DOCS, GAMES, pages, setups

from krypenv import Rules, agents
from krypenv.families.variants import FAMILIES
from krypenv.features import width_of
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


def table_of(page, head):
    """The rows of the table whose heading begins with `head`, as dicts from the cells of the heading."""
    lines = page[page.index(f"\n| {head} | ") + 1 :].split("\n\n")[0].splitlines()
    titles, _, *rows = [line.strip("| ").split(" | ") for line in lines]
    return [dict(zip(titles, row, strict=True)) for row in rows]


def label_of(labels, variant, is_session):
    """The label that speaks of a variant, as it is or with a threshold."""
    found = [label for label in labels if f"`{variant}`" in label]
    return found[0] if len(found) == 1 else next(each for each in found if ("with a threshold" in each) == is_session)


@pytest.mark.parametrize("name", GAMES)
def test_every_block_of_every_variant_is_on_the_page(name):
    page, family, main = PAGES[DOCS / name], GAMES[name].family, Rules.preset()
    variants, observations, states = (
        page.split("## Variants")[1],
        page.split("Rules.layout")[1],
        page.split("## State")[1],
    )
    sizes = {row["variant"]: row for row in table_of(variants, "variant | N")}
    for variant, pair in setups(family).items():
        for is_session, rules in enumerate(pair):
            size = sizes[label_of(sizes, variant, is_session)]
            assert size["N"] == str(rules.observation_size)
            assert size["N with features"] == str(width_of(rules, True))
            for layout, known, text in (
                (rules.layout, main.layout, observations), (layout_of(rules), layout_of(main), states)
            ):  # fmt: skip
                rows = table_of(text, "Name")
                column = label_of(list(rows[0])[1:-1], variant, is_session)
                told = {row["Name"].strip("`"): row[column] for row in rows if row[column] != "–"}
                assert told == {
                    block: f"{part.start}–{part.stop - 1}" if part.stop > part.start + 1 else str(part.start)
                    for block, part in layout.items()
                    if block not in known
                }


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
    assert PLACE.findall(text) == [("layout", f" {name}") for name in LAYOUTS]
    assert with_parts(re.sub("copies of each kind in your hand", "nonsense", text), "") == text
