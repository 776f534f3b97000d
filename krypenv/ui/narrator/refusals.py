"""Refusals: why a play is illegal, or what it would do. The engine decides; this finds the words.

What the engine refuses can have few causes. A cause is named if what it asserts can be seen on the table and in the
hand; what is left over are cards that don't add up.
"""

from __future__ import annotations

from collections import Counter

from krypenv.cards import RANK_NAMES, card_name, parse_card
from krypenv.engine import IllegalMove
from krypenv.families.bounds import FIRST_LONER
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.ui.narrator.events import tell_sweepers, tell_trial
from krypenv.ui.narrator.facts import hand_values, kinds_worth, table_values
from krypenv.ui.narrator.options import moves_of
from krypenv.ui.narrator.words import Words

MOST_NAMED = 4  # captures that a sentence names


def why(words: Words, game: Game, move: Move) -> str:
    """Tell why the seat to act can't make a move, or what a legal move would do."""
    twin = game.copy()
    try:
        twin.push(completed(game, move))
    except IllegalMove:
        return why_not(words, game, move)
    return tell_trial(words, game, twin)


def completed(game: Game, move: Move) -> Move:
    """Complete a move that builds a value as records have it: it joins a build of that value (B4)."""
    if move.build and move.build not in move.builds and move.build in [value for value, *_ in game.builds]:
        return move._replace(builds=tuple(sorted({*move.builds, move.build})))
    return move


def why_not(words: Words, game: Game, move: Move) -> str:
    """Tell why a move of the seat to act is illegal."""
    if game.is_over:
        return words.say("why.over")
    move, hand = completed(game, move), game.hand(game.turn)
    if game.pending:
        return words.say(
            "why.begun", card=words.card(game.pending), cards=words.cards(game.taken) or words.say("nothing")
        )
    if move.card not in hand:
        return words.say("why.not_held", card=words.card(move.card), hand=words.cards(hand))
    missing = Counter(move.takes) - Counter(game.table)
    if missing:
        names = sorted(missing.elements(), key=parse_card)
        return words.say("why.not_on_table", len(names), cards=words.cards(names))
    values = [value for value, *_ in game.builds]
    unknown = [value for value in move.builds if value not in values]
    if unknown:
        return words.say("why.no_build", value=unknown[0])
    if move.build and not game.rules.building:
        return words.say("why.no_building")
    if said := must_sweep(words, game):
        return said
    if game.rules.building:
        return _of_building(words, game, move)
    return _of_takes(words, game, move, moves_of(game, move.card))


def must_sweep(words: Words, game: Game) -> str:
    """Tell the seat to act which cards it must sweep with; empty if no sweep is forced (R10)."""
    if not game.rules.forced_sweep or game.pending:
        return ""
    cards = [card_name(action) for action in game.legal_actions()]
    by_card = (moves_of(game, card) for card in cards)
    if not all(moves and all(each.sweep for each in moves) for moves in by_card):
        return ""
    return words.say("why.must_sweep", cards=words.listed([words.card(card) for card in cards], "or"))


def tell_announcement(words: Words, game: Game) -> str:
    """Tell the seat to act that it must sweep, and everybody else what could sweep the table; empty if nothing."""
    sweepers = tell_sweepers(words, game)
    return (must_sweep(words, game) if sweepers and game.turn == words.seat else "") or sweepers


def _of_takes(words: Words, game: Game, move: Move, moves: list[Move] | None) -> str:
    """Tell why a playable card can't take just these cards, in rules without builds."""
    card = words.card(move.card)
    if moves and not any(each.takes for each in moves):
        return words.say("why.takes_nothing", card=card, values=_no_sum(words, game, move.card))
    is_part = moves and any(not Counter(move.takes) - Counter(each.takes) for each in moves)
    if moves and is_part and game.rules.capture == "maximal":
        key = "why.must_take_more" if move.takes else "why.must_take"
        return words.say(key, card=card, captures=captures_of(words, moves))
    return _no_groups(words, game, move)


def _no_sum(words: Words, game: Game, card: str) -> str:
    values = hand_values(game.rules, parse_card(card))
    if max(values) >= FIRST_LONER:
        return words.say("why.no_rank")
    return words.say("why.no_sum", value=words.either(values))


def _no_groups(words: Words, game: Game, move: Move) -> str:
    """Tell that some cards don't add up to the value of a card."""
    values = hand_values(game.rules, parse_card(move.card))
    if max(values) >= FIRST_LONER:
        return words.say("why.own_rank", card=words.card(move.card), cards=words.cards(move.takes))
    cards, value = words.cards(move.takes), words.either(values)
    return words.say("why.no_groups", len(move.takes), card=words.card(move.card), cards=cards, value=value)


def captures_of(words: Words, moves: list[Move]) -> str:
    """List the captures of a card, as in "3♥ 5♦ or 8♣"; of many, some and the number of others."""
    captures = [words.taken(move.card, move.takes) or words.say("nothing") for move in moves]
    if len(captures) > MOST_NAMED:
        captures = [*captures[: MOST_NAMED - 1], words.say("why.more", len(captures) - MOST_NAMED + 1)]
    return words.listed(captures, "or")


def why_card(words: Words, game: Game, card: str) -> str:
    """Tell why the seat to act can't play a card, what it would do, or between which captures to choose."""
    moves = moves_of(game, card)
    if moves is None:
        return words.say("why.choose.too_many", card=words.card(card))
    if not moves:
        return why_not(words, game, Move(card))
    if len(moves) == 1:
        return why(words, game, moves[0])
    if any(move.build or move.builds for move in moves):
        return words.say("why.choose.many", card=words.card(card), count=len(moves))
    return words.say("why.choose", card=words.card(card), captures=captures_of(words, moves))


# ---------------------------------------------------------------------- where cards are built (B1 to B5)


def _of_building(words: Words, game: Game, move: Move) -> str:
    """Tell why a move is illegal in rules with builds."""
    seat, value = game.turn, hand_values(game.rules, parse_card(move.card))[0]
    kept = list(game.hand(seat))
    kept.remove(move.card)
    worth = {hand_values(game.rules, parse_card(card))[0] for card in kept}
    if move.build and move.build not in worth:
        return words.say("why.keep", rank=_bare(words, move.build), value=move.build)
    done = set(move.builds) if move.build is None or move.build not in move.builds else set(move.builds) - {move.build}
    owned = [build for build, _, owner, _ in game.builds if owner == seat]
    broken = [build for build in owned if build not in worth and build not in done and build != move.build]
    if move.build:
        if said := _of_raise(words, game, move):
            return said
    else:
        others = [build for build in move.builds if build != value]
        if others:
            return words.say("why.build_value", value=others[0])
    if broken:
        return words.say("why.keep_own", rank=_bare(words, broken[0]), value=broken[0])
    if not move.build and not move.takes and not move.builds:
        return words.say("why.owner_trails", value=owned[0]) if owned else _no_groups(words, game, move)
    if not move.build:
        return _no_groups(words, game, move)
    laid = move.takes if done else (move.card, *move.takes)  # who raises a build lays other cards beside it
    if not move.takes and not move.builds:
        return words.say("why.build_alone", card=words.card(move.card))
    return words.say("why.build_sum", len(laid), cards=words.cards(laid), value=move.build)


def _of_raise(words: Words, game: Game, move: Move) -> str:
    """Tell why a card can't raise a build; empty if it raises none or may (B3)."""
    multiple = {value for value, *_, is_multiple in game.builds if is_multiple}
    for raised in move.builds:
        if raised != move.build:
            if raised in multiple:
                return words.say("why.raise_multiple", build=raised)
            if raised + table_values(game.rules, parse_card(move.card) % 13 + 1)[0] != move.build:
                return words.say("why.raise_value", build=raised, card=words.card(move.card), value=move.build)
    return ""


def _bare(words: Words, value: int) -> str:
    """Name the cards of a value without an article: by their rank, if they have one rank."""
    kinds = kinds_worth(words.rules, value)
    ranks = {kind % 13 + 1 for kind in kinds}
    if len(ranks) == 1 and len(kinds) > 1:
        [rank] = ranks
        letter = RANK_NAMES[rank - 1]
        return words.rank(rank) if letter.isdigit() else words.say(f"rank.{letter}")
    return words.say("rank.worth", value=value)
