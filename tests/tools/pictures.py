"""Draw the pictures of games that the pages show."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image
from support.places import DOCS

from krypenv import Game, Rules, agents
from krypenv.inputs.files import write_whole
from krypenv.pictures import draw_game, gif_of
from krypenv.pictures.drawing import Pixels
from krypenv.training.cli.showing import with_before
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator

PICTURES = DOCS / "pictures"
PAGES = {  # of each environment: rules, seed and the number of moves
    "krypkasino": ("krypkasino players=4 teams=2", 23, 24),
    "kasino": ("kasino-finland players=3", 21, 13),
    "mulle": ("mulle players=2", 9, 31),
}
COLOURS = 64  # of a picture of the pages
README = ("krypkasino players=3", 35, 26)
README_WIDTH = 480


def played(text: str, seed: int, moves: int) -> Iterator[Game]:
    """Yield a game of the agent `tactician` at its start and after each of some moves."""
    rules = Rules.parse(text)
    player = agents.make("tactician", rules, seed=seed)
    game = Game(rules, seed=seed)
    yield game
    for _ in range(moves):
        seat, before = game.turn, len(game.moves)
        while game.turn == seat and len(game.moves) == before:
            game.act(int(player.act(game.observation()[None], game.action_mask()[None])[0]))
        yield game


def moving(text: str, seed: int, moves: int) -> Iterator[Pixels]:
    """Yield the pictures of a game with captions, all hands open."""
    narrator = Narrator(Rules.parse(text))
    for game, before in with_before(played(text, seed, moves)):
        yield draw_game(game, "all", README_WIDTH, said=said_of(game, narrator, before, all_open=True))


def main() -> None:
    """Draw all pictures."""
    for name, (text, seed, moves) in PAGES.items():
        *_, game = played(text, seed, moves)
        said = said_of(game, Narrator(game.rules))
        picture = Image.fromarray(draw_game(game, width=720, said=said)).quantize(COLOURS, dither=Image.Dither.NONE)
        picture.save(PICTURES / f"{name}.png", optimize=True)
    write_whole(PICTURES / "game.gif", gif_of(moving(*README), 1.5))


if __name__ == "__main__":
    main()
