"""What must not change unseen: the deals that seeds give, playthroughs, and pictures.

`make golden` writes the files of `tests/playthroughs/` and `tests/pictures/` anew: read the diff, look at the pictures.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pytest_regressions.file_regression import FileRegressionFixture
from support.places import TESTS
from support.playthroughs import GAMES, SPIEL_GAMES, playthrough, spiel_playthrough

from krypenv import Engine, Game, Rules, krypkasino_v0
from krypenv.pictures import draw_game, png_of
from krypenv.pictures.drawing import Pixels

PLAYTHROUGHS, PICTURES = TESTS / "playthroughs", TESTS / "pictures"
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
WIDTH = 240  # of a picture
TOLERANCE = 12  # other versions of the libraries draw letters and edges a little differently

# seed -> the first cards of the deck in deal order; never to be changed, for published results name their seeds
DEALS = {
    0: "3H 5C AD QS 8H KC 7C 3S 9C 9S 2H 2S KS 5S 5D 5H",
    1: "9H KD AD AC 6H KD TD 9C 2S QH 6C 2H AC 2C JD JD",
    7: "7H JD KS 5S 8C 6D 9H 4D 4D 9D 2S TC QD KH 9H 8H",
    42: "KC 3D 7H 6H 6H 4C 8H 9D 2H 7S AH 3H 6S KS 6C 9S",
    9223372036854775813: "7D 4H 5H 8S JH JS 7H QS KD JD 9H 4H KH 6S KC 9C",
}


@pytest.mark.parametrize("name", GAMES)
def test_playthrough_is_as_written(name: str, file_regression: FileRegressionFixture) -> None:
    file_regression.check(playthrough(GAMES[name]), encoding="utf-8", fullpath=PLAYTHROUGHS / f"{name}.txt")


@pytest.mark.parametrize("name", SPIEL_GAMES)
def test_playthrough_of_openspiel_is_as_written(name: str, file_regression: FileRegressionFixture) -> None:
    text = spiel_playthrough(SPIEL_GAMES[name])
    file_regression.check(text, encoding="utf-8", fullpath=PLAYTHROUGHS / "openspiel" / f"{name}.txt")


def drawn(game: Game, name: str) -> Pixels:
    """A game as its picture shows it."""
    return draw_game(game, "all", WIDTH, four_colours=name == "mulle")


def distance(one: Pixels, other: Pixels) -> float:
    """How far apart two pictures are: the mean difference of a pixel, in the worst of 16 x 12 fields."""
    gaps = np.abs(one.astype(int) - other).mean(axis=2)
    fields = gaps.reshape(12, gaps.shape[0] // 12, 16, gaps.shape[1] // 16)
    return float(fields.mean(axis=(1, 3)).max())


@pytest.mark.parametrize("name", POSITIONS)
def test_picture_is_as_drawn(name: str, file_regression: FileRegressionFixture) -> None:
    """It is close to the stored one, and what the next action changes is not."""
    text, moves = POSITIONS[name]
    game = Game(Rules.parse(text), seed=7)
    for _ in range(moves):
        game.act(game.legal_actions()[-1 if game.rules.building else 0])  # the last one builds where it can

    def compare(obtained: Path, expected: Path) -> None:
        golden = np.asarray(Image.open(expected))
        assert distance(golden, np.asarray(Image.open(obtained))) < TOLERANCE
        game.act(game.legal_actions()[0])
        assert distance(golden, drawn(game, name)) > 2 * TOLERANCE

    path = PICTURES / f"{name}.png"
    file_regression.check(png_of(drawn(game, name)), binary=True, fullpath=path, check_fn=compare)


def test_every_preset_has_a_picture_and_no_file_is_left_over() -> None:
    assert {Rules.parse(rules).name for rules, _ in POSITIONS.values()} == set(Rules.presets())
    assert {path.stem for path in PICTURES.iterdir()} == set(POSITIONS)
    assert {path.stem for path in PLAYTHROUGHS.glob("*.txt")} == set(GAMES)
    assert {path.stem for path in (PLAYTHROUGHS / "openspiel").iterdir()} == set(SPIEL_GAMES)


@pytest.mark.parametrize("seed", DEALS)
def test_r4_a_seed_gives_the_same_deal_for_ever_and_everywhere(seed: int) -> None:
    rules = Rules.preset("krypkasino", players=2)
    game = Game(rules, seed=seed)
    assert " ".join(game.deck[:16]) == DEALS[seed]
    env = krypkasino_v0.env(players=2)
    env.reset(seed=seed)
    assert env.unwrapped.game.deck == game.deck
    engine = Engine(rules, 3, seed=np.array([5, seed, 7], np.uint64))
    assert (engine.observation[1] == game.observation()).all()
    assert (engine.state.deck[1, :104] == Engine(rules, 1, seed=np.array([seed], np.uint64)).state.deck[0, :104]).all()


def test_a_number_as_seed_gives_the_same_batch_for_ever() -> None:
    engine = Engine(Rules.preset("krypkasino", players=2), 3, seed=12345)
    assert engine.state.deck[:, :8].tolist() == [
        [4, 12, 19, 38, 38, 9, 10, 4],
        [38, 44, 41, 26, 34, 16, 50, 39],
        [17, 33, 18, 36, 9, 9, 41, 10],
    ]
