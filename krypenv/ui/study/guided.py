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
    next_margin: float | None  # points by which the second best move is behind; None without one


def guided_game() -> Game:
    """Return the game whose first deal is played with a guide."""
    return Game(Rules.preset("krypkasino"), seed=SEED)


def advise(game: Game, spec: str, seed: int) -> Advice:
    """Return what an agent that values moves would do; for another process."""
    values = values_of(game, seated(spec, game.rules, seed), _WORLDS, seed)
    chosen = values.values[values.preferred]
    others = [value.margin.mean for value in values.values if value is not chosen]
    return Advice(chosen.move, chosen.sets_up, chosen.margin.mean - max(others) if others else None)


def possible(game: Game, words: Narrator) -> str:
    """Return what the seat to act can do: what takes, what stays, or what it must; empty where it has one card left."""
    moves = game.legal_moves()
    hand = dict.fromkeys(game.hand(game.turn))
    legal = dict.fromkeys(move.card for move in moves)
    if game.rules.forced_sweep and all(move.sweep for move in moves):
        return words.say("guide.forced", cards=words.cards(legal))
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
    """Return what the guide would do, and why."""
    move = Move.parse(advice.move)
    text, gain = words.choice(game, move)
    if advice.next_margin is None:
        return words.say("guide.only", text=text)
    twin = game.copy()
    twin.push(move)
    points = twin.scores()[game.turn] - game.scores()[game.turn]
    if move.sweep:
        why = [words.say("guide.why.sweep", gain=gain)]
    elif points > 0:
        why = [words.say("guide.why.gain", points, gain=points)]
    else:
        why = [words.say("guide.why.free" if move.takes else "guide.why.stay")]
    if advice.sets_up >= _OFTEN:
        why.append(words.say("guide.why.sets_up", chance=f"{advice.sets_up:.0%}"))
    elif points > 0 and not move.sweep:
        why.append(words.say("guide.why.dear"))
    return words.say("guide.best", text=text, why=" ".join(why))
