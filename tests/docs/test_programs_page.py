"""What the page of programs shows is what is spoken."""

import json
import re

from support.places import DOCS

from krypenv import Game, Rules
from krypenv.agents.programs import player
from krypenv.worlds.determinize import determinize

PAGE = (DOCS / "programs.md").read_text(encoding="utf-8")
SHOWN = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
RULES = Rules.preset("mini-low")
MORE = "..."


def agrees(shown, real):
    """Whether a value is what the page shows of it."""
    if isinstance(shown, dict):
        is_part = MORE in shown
        told = {key: value for key, value in shown.items() if key != MORE}
        has_keys = told.keys() <= real.keys() and (is_part or told.keys() == real.keys())
        return has_keys and all(agrees(value, real[key]) for key, value in told.items())
    if isinstance(shown, list) and shown[-1:] == [MORE]:
        return shown[:-1] == real[: len(shown) - 1]
    return shown == json.loads(json.dumps(real))


def test_the_messages_are_those_that_are_sent():
    hello, named, decide, moved, error = SHOWN
    game = Game(RULES, seed=9)
    for _ in range(3):
        game.push(game.legal_moves()[0])
    seen = game.observation(history=True)
    asked = player.decide(1, Game.at_row(RULES, determinize(seen, 0, RULES)[0]), seen, player.SECONDS)
    assert agrees(hello, player.hello(RULES, 7, player.SECONDS))
    assert agrees(decide, asked)
    assert not agrees(decide | {"more": 1}, asked)
    assert player.check_answer(named, player.NAME) == {"name": "fewest points"}
    assert player.check_answer(moved, player.MOVE, 1)["move"] == "2Hx2D"
    assert player.check_answer(error, player.MOVE, 1)["error"] == "the model did not answer"
    game.push(moved["move"])
    assert f"`{json.dumps(player.BYE)}`" in PAGE
