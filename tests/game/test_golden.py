"""What must not change unseen: the deals that seeds give, and the golden playthroughs."""

from __future__ import annotations

import numpy as np
import pytest
from make_playthroughs import FOLDER, GAMES, SPIEL_FOLDER, SPIEL_GAMES, playthrough

from krypenv import Engine, Game, Rules, krypkasino_v0

# seed -> the first cards of the deck in deal order; never to be changed, for published results name their seeds
DEALS = {
    0: "3H 5C AD QS 8H KC 7C 3S 9C 9S 2H 2S KS 5S 5D 5H",
    1: "9H KD AD AC 6H KD TD 9C 2S QH 6C 2H AC 2C JD JD",
    7: "7H JD KS 5S 8C 6D 9H 4D 4D 9D 2S TC QD KH 9H 8H",
    42: "KC 3D 7H 6H 6H 4C 8H 9D 2H 7S AH 3H 6S KS 6C 9S",
    9223372036854775813: "7D 4H 5H 8S JH JS 7H QS KD JD 9H 4H KH 6S KC 9C",
}


@pytest.mark.parametrize("name", GAMES)
def test_playthrough_is_as_written(name: str) -> None:
    written = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert playthrough(GAMES[name]) == written, "a rule or a text has changed; if it should, run `make playthroughs`"


def test_no_playthrough_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(GAMES)
    assert {path.stem for path in SPIEL_FOLDER.iterdir()} == set(SPIEL_GAMES)


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
