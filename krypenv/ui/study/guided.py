"""A first deal with a guide: what is possible, what an agent would do, and why, in a few sentences."""

from __future__ import annotations

from typing import NamedTuple

from krypenv.advice.values import values_of
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.rules import Rules
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.table import seated

GUIDE = "search(worlds=60)"
OPPONENT = "greedy"
SEED = 5  # of a deal in which much can be learned
_WORLDS = 60  # in which sweeps are counted
_OFTEN = 0.25  # of these: a sweep that is worth a word


class Advice(NamedTuple):
    """The move of an agent, and what it is good for."""

    move: str
    sets_up: float  # how likely the next player must sweep
    is_only: bool  # whether there is no other


def guided_game() -> Game:
    """Return the game whose first deal is played with a guide."""
    return Game(Rules.preset("krypkasino"), seed=SEED)


def advise(game: Game, spec: str, seed: int) -> Advice:
    """Return what an agent that values moves would do; for another process."""
    values = values_of(game, seated(spec, game.rules, seed), _WORLDS, seed)
    chosen = values.values[values.preferred]
    return Advice(chosen.move, chosen.sets_up, len(values.values) == 1)


def possible(game: Game, words: Narrator) -> str:
    """Return what the seat to act can do: what takes, what stays, or what it must; empty where it has one card left."""
    moves = game.legal_moves()
    hand = dict.fromkeys(game.hand(game.turn))
    if game.rules.forced_sweep and all(move.sweep for move in moves):
        return words.announcement(game)
    if len(hand) == 1:
        return ""
    taking = dict.fromkeys(move.card for move in moves if move.takes)
    staying = [card for card in hand if card not in taking]
    if not taking:
        return words.say("guide.none")
    if not staying:
        return words.say("guide.all", cards=words.cards(taking))
    return words.say("guide.some", cards=words.cards(taking), others=words.cards(staying))


def told_advice(game: Game, words: Narrator, advice: Advice) -> str:
    """Tell what the guide would do, and what that is good for."""
    move = Move.parse(advice.move)
    text, worth = words.choice(game, move)
    if advice.is_only:
        return words.say("hint.only", move=text)
    said = words.advice(game, move, advice.sets_up)
    is_dear = worth.startswith("-") and not move.sweep
    return f"{said} {words.say('hint.dear')}" if is_dear else said
