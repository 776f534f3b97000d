"""A first deal with a guide: what is possible, what an agent would do, and why, in a few sentences."""

from __future__ import annotations

from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.rules import Rules
from krypenv.ui.browser.thinking import Advice
from krypenv.ui.narrator.narrator import Narrator

GUIDE = "search(worlds=60)"
OPPONENT = "greedy"
SEED = 5  # of a deal in which much can be learned


def guided_game() -> Game:
    """Return the game whose first deal is played with a guide."""
    return Game(Rules.preset("krypkasino"), seed=SEED)


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
    best = advice.moves[0]
    move = Move.parse(best.move)
    text, worth = words.choice(game, move)
    if len(advice.moves) == 1:
        return words.say("hint.only", move=text)
    said = words.advice(game, move, best.sweeps or 0)
    is_dear = worth.startswith("-") and not move.sweep
    return f"{said} {words.say('hint.dear')}" if is_dear else said
