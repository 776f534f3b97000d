"""Draw the pictures of games that the pages show."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image
from support.places import DOCS

from krypenv import Game, Rules, agents
from krypenv.inputs.files import write_whole
from krypenv.pictures import draw_game, gif_of
from krypenv.pictures.card_faces import CARD_HEIGHT, CARD_WIDTH, card_face
from krypenv.pictures.drawing import Pixels
from krypenv.pictures.svg import Rect, box, document, put, shorten, text
from krypenv.training.cli.showing import positions
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator

PICTURES = DOCS / "pictures"
PAGES = {  # of each environment: rules, seed and the number of moves
    "krypkasino": ("krypkasino players=4 teams=2", 23, 24),
    "kasino": ("kasino-finland players=3", 21, 13),
    "mulle": ("mulle players=2", 9, 31),
}
COLOURS = 64  # of a picture of the pages
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


def main() -> None:
    """Draw all pictures."""
    for name, (card, groups) in PLAYS.items():
        write_whole(PICTURES / f"{name}.svg", row_of(card, groups).encode())
    for name, (setup, seed, moves) in PAGES.items():
        game = played(setup, seed, moves)
        said = said_of(game, Narrator(game.rules))
        picture = Image.fromarray(draw_game(game, width=1440, said=said)).quantize(COLOURS, dither=Image.Dither.NONE)
        picture.save(PICTURES / f"{name}.png", optimize=True)
    write_whole(PICTURES / "game.gif", gif_of(moving(*README), 1.5))


if __name__ == "__main__":
    main()
