"""Write the pages of the environments, and tables of other pages: `make pages`. `test_pages.py` holds that they fit.

The pages of Kasino and Mulle are made here as a whole. Others are written by hand, except for the tables that follow
from the code: they lie between `<!-- generated: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

from support.places import DOCS, MODELS

from krypenv import Game, agents, features, observation, whole_state
from krypenv.agents.champion import SHIPPED
from krypenv.cards import RANK_NAMES, SUIT_SYMBOLS, parse_card
from krypenv.families.variants import KASINO, MULLE, Family
from krypenv.kernels.gains import CAPTURE_BUDGET
from krypenv.observation import HISTORY_COLUMNS, HISTORY_DESCRIPTIONS, LAYOUT
from krypenv.rules import Rules
from krypenv.training.data.columns import COLUMNS

PAGE = Path(__file__).with_name("environment_page.md")  # with the places that differ in braces
LAYOUTS = {  # by their names in the page of Krypkasino's environment
    "observation": (LAYOUT, observation.DESCRIPTIONS),
    "features": (features.COLUMNS, features.DESCRIPTIONS),
    "history": (HISTORY_COLUMNS, HISTORY_DESCRIPTIONS),
    "state": (whole_state.LAYOUT, whole_state.DESCRIPTIONS),
}
PLACE = re.compile(r"<!-- generated: ([\w ]+) -->\n.*?<!-- end -->\n", re.DOTALL)
WITH_TABLES = ("environment.md", "rulings.md", "data.md", "models.md")
HEAD = "| Index | Name | Description |\n|---|---|---|\n"
Key = TypeVar("Key", bound=Hashable)


# What is said of actions and features where cards are built.
BUILD_ACTIONS = (
    "| 105 + v | {builders}: the card just played makes the build of value v, 0 to 16, or joins it |\n"
    "| 122 + v | {builders}: take the build of value v: capture it or, after 105 + w, raise it to w |\n"
)
BUILDING = (
    "\nIn {builders}, and in other rules with `building=True`, cards can be laid together as [builds](rulings.md). "
    "`105 + v` follows right after the card is played; then its cards are taken like those of a capture. A build is "
    "taken after the loose cards and ends the play. What would break an owner's promise is illegal.\n"
)
BUILD_FEATURES = (
    "A card that can only trail or build has the row of a card that stays on the table. While a build is being made, "
    "rows describe what the remaining cards leave. The actions from 105 on have no row.\n\n"
)


class GamePage(NamedTuple):
    """What differs between the pages of Kasino and Mulle."""

    family: Family
    title: str
    what: str  # the game in a sentence or two
    picture: str  # what its picture shows
    variants: dict[str, str]  # each variant in a sentence
    example: str  # arguments of the environment in the example
    session: str  # arguments of a usual session
    counts: str  # what counts points
    tie_break: str


GAMES = {
    "kasino.md": GamePage(
        KASINO,
        "Kasino",
        "`kasino_v0` is Kasino, the Nordic capturing game: you take table cards whose values sum to that of the card "
        "you play, and the most points win. In the variant `laistokasino` the fewest do.",
        "Three play Kasino in Finland",
        {
            "sweden": "Kasino in Sweden: an ace is 1 or 14, in the hand and on the table",
            "overspader": "the same, but instead of a majority of spades each spade above the sixth counts a point",
            "finland": "Kasino in Finland: from the hand an ace is 14, the two of spades 15 and the ten of diamonds "
            "16; sweeps cancel, and some don't count",
            "laistokasino": 'Kasino in Finland with `goal="low"`: the lowest score wins, and a card must take all that '
            "it can",
            "mini": "six cards for two players, for [exact research](openspiel.md#small-games)",
        },
        "players=4, teams=2",
        'variant="finland", games=0, threshold=16',
        "Aces, the ten of diamonds and the two of spades count points, and so do the most cards, the most spades and "
        "each sweep; in Sweden the last capture does too.",
        "In Sweden the side with more spades in the last game wins; in Finland points of cards decide first, then "
        "spades, then cards.",
    ),
    "mulle.md": GamePage(
        MULLE,
        "Mulle",
        "`mulle_v0` is Mulle, the Swedish capturing game with two packs: as in Kasino you take table cards whose "
        "values sum to that of the card you play, and taking just the identical copy of your card, a *mulle*, brings "
        "five points. The most points win.",
        "Two play Mulle",
        {
            "sassersson": "Mulle after Sassersson, without building: an ace is 1 or 14, in the hand and on the table",
            "glimne": "Mulle after Glimne, for 2, or 4 in two teams: values as in Finland, cards can be laid together "
            "as builds, and a capture that contains the identical copy of its card counts the value of that card",
            "mini": "six cards for two players, for [exact research](openspiel.md#small-games)",
        },
        "players=3",
        "games=0, threshold=100",
        "Aces, the ten of diamonds and the two of spades count points, and so do the most spades, the last capture, "
        "each sweep and each mulle; in `glimne` it is the ten of diamonds, all spades, sweeps and mulles.",
        "In `sassersson` the side with more spades in the last game wins; in `glimne` there is no tie break.",
    ),
}


def layout_table(layout: Mapping[str, slice], descriptions: Mapping[str, str]) -> str:
    """Return a table of blocks."""
    rows = []
    for name, part in layout.items():
        span = f"{part.start}–{part.stop - 1}".removesuffix(f"–{part.start}")
        rows.append(f"| {span} | `{name}` | {descriptions[name]} |")
    return HEAD + "\n".join(rows)


def small_games() -> str:
    """Return a table of the presets with a small deck."""
    rows = ["| preset | deck | cards | points | dealt to a hand and the table |", "|---|---|---|---|---|"]
    for name in Rules.presets():
        if name.startswith("mini-"):
            rules = Rules.preset(name)
            names = [RANK_NAMES[rank - 1].replace("T", "10") for rank in rules.ranks]
            ranks = f"{names[0]} to {names[-1]}" if len(names) == rules.ranks[-1] else " ".join(names)
            deck = f"{ranks}, {''.join(SUIT_SYMBOLS[suit] for suit in rules.suits)}" + ", twice" * (rules.packs == 2)
            game, ((hands, table), (later, _), *_) = Game(rules), rules.deal_sizes()
            points = sum(rules.card_points[parse_card(card)] for card in game.deck)
            dealt = f"{hands[0]} + {table}, then {later[0]}"
            rows.append(f"| `{name}` | {deck} | {len(game.deck)} | {points} | {dealt} |")
    return "\n".join(rows)


def data_columns() -> str:
    """Return a table of the columns of data sets."""
    rows = ["| column | type | what it holds |", "|---|---|---|"]
    for name, kind, text, option in COLUMNS:
        rows.append(f"| `{name}`{f', with `--{option}`' if option else ''} | {kind} | {text} |")
    return "\n".join(rows)


def shipped_models() -> str:
    """Return a table of the package's models."""
    rows = ["| model | minutes | rules |", "|---|---|---|"]
    for name, texts in SHIPPED.items():
        settings = json.loads((MODELS / name / "model.json").read_text(encoding="utf-8"))
        rules = ", ".join(f"`{text}`" for text in texts)
        rows.append(f"| `{name}` | {settings['seconds'] / 60:.0f} | {rules} |")
    return "\n".join(rows)


MADE: dict[str, Callable[[], str]] = {
    "small games": small_games,
    "data columns": data_columns,
    "shipped models": shipped_models,
    **{f"layout {name}": functools.partial(layout_table, *layout) for name, layout in LAYOUTS.items()},
}


def with_tables(page: str) -> str:
    """Return a page with its generated tables made anew."""
    return PLACE.sub(lambda place: f"<!-- generated: {place[1]} -->\n\n{MADE[place[1]]()}\n\n<!-- end -->\n", page)


def further(layout: Mapping[str, slice], main: Mapping[str, slice]) -> dict[str, slice]:
    """Return the blocks of a layout that the main game's lacks."""
    return {name: part for name, part in layout.items() if name not in main}


def setups(family: Family) -> dict[str, tuple[Rules, Rules]]:
    """Return the rules that a page tells about: each variant as it is, and as a session to some points."""
    return {
        variant: (Rules.preset(preset), Rules.preset(preset, games=0, threshold=16))
        for variant, preset in family.variants.items()
    }


def grouped(family: Family, key: Callable[[Rules], Key]) -> dict[str, Key]:
    """Return what a function says of the variants of a family: once for all those of which it says the same."""
    groups: dict[tuple[Key, ...], list[str]] = {}
    for variant, (plain, session) in setups(family).items():
        groups.setdefault((key(plain), key(session)), []).append(f"`{variant}`")
    labels = {}
    for (plain_key, session_key), variants in groups.items():
        labels[", ".join(variants)] = plain_key
        if session_key != plain_key:
            labels[f"{', '.join(variants)}, with a threshold"] = session_key
    return labels


def by_blocks(
    family: Family,
    layout_of: Callable[[Rules], Mapping[str, slice]],
    main: Mapping[str, slice],
    descriptions: Mapping[str, str],
) -> str:
    """Return a table of the blocks that Krypkasino's layout lacks, with the variants that have them."""
    owners = {name: list[str]() for name in descriptions}  # of each block, without a threshold
    timed = set[str]()  # blocks that any variant has, perhaps with a threshold alone
    for variant, (plain, session) in setups(family).items():
        for name in further(layout_of(plain), main):
            owners[name].append(f"`{variant}`")
        timed |= further(layout_of(session), main).keys()

    def told(variants: list[str]) -> str:
        return "all" if len(variants) == len(setups(family)) else ", ".join(variants) or "with a threshold"

    rows = [f"| `{name}` | {told(owners[name])} | {text} |" for name, text in descriptions.items() if name in timed]
    return "| Name | Variants | Description |\n|---|---|---|\n" + "\n".join(rows)


def listed_or(words: list[str]) -> str:
    """Return words as a choice: "a", "a or b", "a, b or c"."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def page_of(game: GamePage) -> str:
    """Return the page of an environment."""
    family = game.family
    own = Rules.preset(family.variants[family.default])
    sizes = grouped(family, lambda rules: (rules.observation_size, features.width_of(rules, True)))
    opponents = [name for name in agents.names() if not getattr(agents.make(name, own), "cheats", False)]
    builders = " and ".join(f"`{name}`" for name, preset in family.variants.items() if Rules.preset(preset).building)
    return PAGE.read_text(encoding="utf-8").format(
        title=game.title, name=game.title.lower(), picture=game.picture, what=game.what, example=game.example,
        module=family.module, gym_id=family.gym_id,
        session=game.session, counts=game.counts, tie_break=game.tie_break, default=family.default,
        action_shapes="Discrete(105)" + (f", in {builders} Discrete(139)" if builders else ""),
        action_values="[0, 104]" + (f", in {builders} [0, 138]" if builders else ""),
        mask_shapes="(105,)" + (f", in {builders} (139,)," if builders else ""),
        build_actions=BUILD_ACTIONS.format(builders=builders) if builders else "",
        building=BUILDING.format(builders=builders) if builders else "",
        build_features=BUILD_FEATURES if builders else "",
        shapes=listed_or([f"({size},)" for size in sorted({size for size, _ in sizes.values()})]),
        main=observation.SIZE, version=observation.VERSION, state=whole_state.SIZE,
        variants="\n".join(
            f'| `"{name}"` | `{preset}` | {game.variants[name]} |' for name, preset in family.variants.items()
        ),
        sizes="\n".join(f"| {label} | {size} | {wide} |" for label, (size, wide) in sizes.items()),
        features=layout_table(further(features.columns_of(own), features.COLUMNS), features.DESCRIPTIONS),
        opponents=", ".join(f'`"{name}"`' for name in opponents),
        looks=CAPTURE_BUDGET, rows=features.shape_of(own)[0], columns=features.shape_of(own)[1],
        blocks=by_blocks(family, lambda rules: rules.layout, LAYOUT, observation.DESCRIPTIONS),
        states=by_blocks(family, whole_state.layout_of, whole_state.LAYOUT, whole_state.DESCRIPTIONS),
    )  # fmt: skip


def pages() -> dict[Path, str]:
    """Return by file the pages that are made, and those with tables that are made."""
    made = {DOCS / name: page_of(game) for name, game in GAMES.items()}
    for name in WITH_TABLES:
        made[DOCS / name] = with_tables((DOCS / name).read_text(encoding="utf-8"))
    return made


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
