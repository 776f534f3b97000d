"""Draw the golden pictures and those of the pages: `make pictures`. Tests compare the golden ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from krypenv import Game, Rules, agents
from krypenv.inputs.files import write_whole
from krypenv.pictures import draw_game, gif_of, png_of
from krypenv.pictures.drawing import Pixels
from krypenv.training.cli.people.show import with_before
from krypenv.ui.captions import said_of
from krypenv.ui.narrator.narrator import Narrator

GOLDEN = Path(__file__).with_name("pictures")
DOCS = Path(__file__).parent.parent / "docs" / "pictures"
WIDTH = 240  # of a golden picture
POSITIONS = {  # a picture each: rules and the number of actions, each the first legal one
    "krypkasino": ("krypkasino players=2", 37),
    "krypkasino-6": ("krypkasino players=6 teams=3", 20),
    "howto": ("howto players=4 teams=2", 30),
    "mini-low": ("mini-low players=3", 9),
    "mini-double": ("mini-double players=2", 12),
    "mini-high": ("mini-high players=2", 11),
    "mini-sweep": ("mini-sweep players=2", 1),
    "mini-choice": ("mini-choice players=2", 1),
    "mini-copies": ("mini-copies players=2", 2),
    "mini-last": ("mini-last players=2", 2),
    "mini-hidden": ("mini-hidden players=2", 3),
    "mini-count": ("mini-count players=2", 5),
    "mini-kasino": ("mini-kasino players=2", 2),
    "mini-mulle": ("mini-mulle players=2", 3),
    "kasino-sweden": ("kasino-sweden players=2", 12),
    "overspader": ("overspader players=4 teams=2", 25),
    "kasino-finland": ("kasino-finland players=3", 48),
    "laistokasino": ("laistokasino players=3", 33),
    "mulle": ("mulle players=2", 16),
    "mulle-glimne": ("mulle-glimne players=2", 23),
}
PAGES = {  # of each environment: rules, seed and the number of moves
    "krypkasino": ("krypkasino players=4 teams=2", 23, 24),
    "kasino": ("kasino-finland players=3", 21, 13),
    "mulle": ("mulle players=2", 9, 31),
}
README = ("krypkasino players=3", 35, 26)
README_WIDTH = 480


def golden_game(name: str) -> Game:
    """Return the game of a golden picture."""
    rules, moves = POSITIONS[name]
    game = Game(Rules.parse(rules), seed=7)
    for _ in range(moves):
        game.act(game.legal_actions()[-1 if game.rules.building else 0])  # the last one builds where it can
    return game


def golden_picture(name: str) -> Pixels:
    """Return a golden picture as it is drawn now."""
    return draw_game(golden_game(name), "all", WIDTH, four_colours=name == "mulle")


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
    for name in POSITIONS:
        write_whole(GOLDEN / f"{name}.png", png_of(golden_picture(name)))
    for name, (text, seed, moves) in PAGES.items():
        *_, game = played(text, seed, moves)
        said = said_of(game, Narrator(game.rules))
        write_whole(DOCS / f"{name}.png", png_of(draw_game(game, width=720, said=said)))
    write_whole(DOCS / "game.gif", gif_of(moving(*README), 1.5))


if __name__ == "__main__":
    main()
