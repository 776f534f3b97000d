"""What a program answers: a game's right answers, changed, from a peer that writes them whatever it is asked."""

from __future__ import annotations

import functools
import json
import random

import numpy as np
from support.fuzzing import Fuzzer, Tally, attempt, mutate_text
from support.small_files import scratch

from krypenv import Game, Rules, agents

RULES = {text: Rules.parse(text) for text in ("mini-low players=2", "krypkasino players=4", "mulle-glimne players=2")}
WORDS = ('"id"', '"move"', '"name"', '"error"', "8S", "4S+5D=9", "x[9]", "#", "null", "[", "{", "1e400", "\n")


@functools.cache
def right_answers(text: str) -> str:
    """What a program may answer in the first eight decisions of a game, all of which are its own."""
    game, lines = Game(RULES[text], seed=1), [{"name": "right"}]
    for number in range(1, 9):
        move = game.legal_moves()[-1]
        lines.append({"id": number, "move": str(move)})
        game.push(move)
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def play(text: str, path: str) -> None:
    """Play the decisions that are answered; assert that every action is legal."""
    agent, game = agents.make(f"process(command='cat {path}', seconds=5)", RULES[text]), Game(RULES[text], seed=1)
    try:
        while len(game.moves) < 8:
            mask = game.action_mask()
            actions = agent.act(game.observation()[None], mask[None])
            assert actions.dtype == np.int64
            assert mask[actions[0]]
            game.act(int(actions[0]))
    finally:
        agent.end()


def fuzz_answers(seed: int, mutants: int) -> Tally:
    """Lines of answers, changed; one in ten is as it was."""
    rng, tally = random.Random(seed), Tally()
    path = scratch() / "answers"
    for _ in range(mutants):
        text = rng.choice(list(RULES))
        answers = right_answers(text)
        if rng.random() > 0.1:
            answers = mutate_text(answers, rng, WORDS)
        path.write_bytes(answers.encode(errors="surrogatepass"))
        attempt(functools.partial(play, text, str(path)), tally, answers)
    return tally


FUZZERS: dict[str, Fuzzer] = {"answers": fuzz_answers}
