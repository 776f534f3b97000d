"""Draw the pictures that the pages show: of games, and of the table in the browser.

Chromium draws letters by the fonts of its machine, so pictures of the table differ from one machine to another, and no
test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from PIL import Image
from playwright.sync_api import Page
from support.browsers import card, chromium, opened, table_at, wait_for_turn
from support.places import DOCS
from support.tables import Kept

from krypenv import Game, Rules, agents
from krypenv.inputs.files import write_whole
from krypenv.pictures import draw_game, gif_of
from krypenv.pictures.card_faces import CARD_HEIGHT, CARD_WIDTH, card_face
from krypenv.pictures.drawing import Pixels
from krypenv.pictures.svg import Rect, box, document, put, shorten, text
from krypenv.training.cli.showing import positions
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON

PICTURES = DOCS / "pictures"
PAGES = {  # rules, seed and the number of moves
    "krypkasino": ("krypkasino players=4 teams=2", 23, 24),
    "kasino": ("kasino-finland players=3", 21, 13),
    "mulle": ("mulle players=2", 9, 31),
    "overspader": ("overspader players=2", 5, 21),
}
COLOURS, TABLE_COLOURS = 64, 256  # of a picture
PLAYS = {  # of the rules: the card played, and the groups on the table that it takes; a group without a sum stays
    "creep": ("6C", {"": ["8H", "9S", "JD"]}),
    "capture": ("8S", {"8": ["8D"], "5 + 2 + A": ["5C", "2H", "AS"], "": ["9H", "JD"]}),
    "sweep": ("QD", {"10 + 2": ["TS", "2D"], "7 + 5": ["7S", "5H"]}),
    "double-sweep": ("5S", {"5": ["5S"]}),
}
FELT, GOLD, LIGHT = "#1e7050", "#f6c642", "#eef0e8"
GAP = 14  # between cards
README = ("krypkasino players=3", 35, 26)
README_WIDTH = 480


def played(text: str, seed: int, moves: int) -> Game:
    """Have the agent `tactician` play some moves of a game."""
    rules = Rules.parse(text)
    player = agents.make("tactician", rules, seed=seed)
    game = Game(rules, seed=seed)
    for _ in range(moves):
        game.push(player.move(game))
    return game


def moving(text: str, seed: int, moves: int) -> Iterator[Pixels]:
    """Yield the pictures of a game with captions, all hands open."""
    narrator = Narrator(Rules.parse(text))
    for before, game in positions(played(text, seed, moves)):
        yield draw_game(game, "all", README_WIDTH, said=said_of(game, narrator, before, all_open=True))


def row_of(played: str, groups: dict[str, list[str]]) -> str:
    """Draw a card and the cards on the table, with a frame around each group that it takes, and the sum below."""
    parts, x, top = [], 2.0 * GAP, 1.5 * GAP

    def put_card(name: str) -> None:
        nonlocal x
        parts.append(put(card_face(name), Rect(x, top, CARD_WIDTH, CARD_HEIGHT), CARD_WIDTH))
        x += CARD_WIDTH + GAP

    put_card(played)
    parts.append(text("\N{RIGHTWARDS ARROW}", Rect(x, top, 60, CARD_HEIGHT), LIGHT, 60))
    x += 60 + 2 * GAP
    for words, cards in groups.items():
        if words:
            frame = Rect(x, top, len(cards) * (CARD_WIDTH + GAP) - GAP, CARD_HEIGHT + 32).inside(-8)
            parts += [box(frame, GOLD, 12, 4), text(words, frame._replace(y=top + CARD_HEIGHT, h=36), GOLD, 26, True)]
        for name in cards:
            put_card(name)
        x += 1.5 * GAP
    width, height = round(x), CARD_HEIGHT + 5 * GAP
    return shorten(document([box(Rect(0, 0, width, height), FELT, 16), *parts], width, height))


class Shot(NamedTuple):
    """A picture of a table."""

    load: Any  # makes the table
    act: Callable[[Page], None]  # what is done there first
    width: int
    height: int
    scale: int = 1  # pixels a point


def table_of_three() -> Any:
    """Return a table of three in the middle of a game."""
    game = played("krypkasino players=3", 4, 30)
    return Hosted(game, (PERSON, "champion", "tactician"), "champion", Kept())


def choose(page: Page) -> None:
    """Choose a card with several captures."""
    card(page, "8 of spades").click()


def ask_for_a_hint(page: Page) -> None:
    """Ask for a hint, wait for it, and open its table."""
    page.locator("[data-focus=hint]").click()
    page.locator("button.hint").wait_for()
    page.locator("[data-focus=hint]").click()


SHOTS = {
    "table": Shot(table_of_three, choose, 1180, 640, scale=2),
    "table-hint": Shot(table_of_three, ask_for_a_hint, 1180, 640),
}


def main() -> None:
    """Draw all pictures."""
    for name, play in PLAYS.items():
        write_whole(PICTURES / f"{name}.svg", row_of(*play).encode())
    for name, (setup, seed, moves) in PAGES.items():
        game = played(setup, seed, moves)
        said = said_of(game, Narrator(game.rules))
        picture = Image.fromarray(draw_game(game, width=1440, said=said)).quantize(COLOURS, dither=Image.Dither.NONE)
        picture.save(PICTURES / f"{name}.png", optimize=True)
    write_whole(PICTURES / "game.gif", gif_of(moving(*README), 1.5))
    with chromium() as browser:
        for name, shot in SHOTS.items():
            path = PICTURES / f"{name}.png"
            window = {"width": shot.width, "height": shot.height, "device_scale_factor": shot.scale}
            with table_at(shot.load) as address, opened(browser, address, **window) as page:
                wait_for_turn(page)
                shot.act(page)
                page.screenshot(path=path)
            drawn, keeps_reds = Image.open(path).convert("RGB"), Image.Quantize.MAXCOVERAGE
            few = drawn.quantize(TABLE_COLOURS, keeps_reds, dither=Image.Dither.NONE)
            few.save(path, optimize=True)


if __name__ == "__main__":
    main()
