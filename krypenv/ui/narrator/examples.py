"""Examples of rules: small positions, tried one by one until a play of the engine shows the rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations, islice
from string import ascii_uppercase
from typing import Any

import numpy as np

from krypenv.cards import NUM_KINDS, card_name, card_of, parse_card, rank_of
from krypenv.game.game import Game
from krypenv.game.moves import Move
from krypenv.rules import Rules
from krypenv.ui.narrator.facts import hand_values, table_values
from krypenv.ui.narrator.options import moves_of
from krypenv.ui.narrator.refusals import why, why_card, why_not
from krypenv.ui.narrator.words import Words

_MOST_TRIED = 400  # positions for an example
_LIKED = (9, 8, 7, 10, 6, 5, 4, 3, 2, 1, 11, 12, 13)  # ranks, those first that make good examples

Cards = tuple[int, ...]
Layout = tuple[Cards, Cards]  # table and hand, as kinds
Shown = Callable[[Game], list[str]]  # the sentences that a position shows, none if it doesn't show it


def examples_of(words: Words) -> dict[str, list[str]]:
    """Find examples of these rules: paragraphs by the part of the rules that they belong to."""
    rules = dataclasses.replace(words.rules, games=1, threshold=None, threshold_at_once=False, tie_break="share")
    speaker = Words(rules, _names(words), 0, words.language, words.symbols)
    by_part: dict[str, list[str]] = {"points": [], "turn": [], "sweep": []}
    for part, layouts, shown in _topics(rules, speaker):
        for table, hand in islice(layouts, _MOST_TRIED):
            game = _lay(rules, table, hand)
            sentences = shown(game) if game else []
            if game and sentences:
                cards: dict[str, Any] = {"table": speaker.cards(game.table), "hand": speaker.cards(game.hand(0))}
                by_part[part].append(" ".join([words.say("example.table", **cards), *sentences]))
                break
    return by_part


def _names(words: Words) -> list[str]:
    players = words.rules.players
    if players == 2:
        return ["", words.say("example.other")]
    named = [words.say("player", letter=letter) for letter in ascii_uppercase[:players]]
    return [*named[:-1], words.say("example.before")]


def _topics(rules: Rules, words: Words) -> Iterator[tuple[str, Iterator[Layout], Shown]]:
    """Yield the topics of examples: the part of the rules, positions to try, and what one must show."""
    yield "turn", _several(rules), partial(_capture, words)
    if rules.capture == "maximal":
        yield "turn", _overlapping(rules), partial(_choice, words)
    odd = [rank for rank in rules.ranks if hand_values(rules, card_of(rank, 0)) != table_values(rules, rank)]
    yield "turn", _sums(rules, odd), partial(_odd_value, words)
    if rules.building:
        yield "turn", _buildings(rules), partial(_building, words)
    if rules.mulle_points or rules.mulle_by_value:
        yield "points", _copies(rules), partial(_first, words, lambda twin, _: twin.mulles(0) > 0)
    yield "sweep", _sums(rules, _LIKED), partial(_sweep, words, 1)
    if rules.forced_sweep:
        yield "sweep", _two_in_hand(rules), partial(_forced, words)
    if rules.double_sweep != "none":
        yield "sweep", _copies(rules), partial(_sweep, words, 2)


def _lay(rules: Rules, table: Cards, hand: Cards) -> Game | None:
    """Set up a game with these cards on the table and in the hand of seat 0; None if there is none."""
    sizes = rules.deal_sizes()
    deal = max(len(sizes) - 2, 0)  # in the last one not all sweeps may count
    if len(hand) > min(sizes[deal][0]):
        return None
    stock_size = sum(sum(hands) + laid for hands, laid in sizes[deal + 1 :])
    left = rules.deck_counts.astype(np.int64) - np.bincount([*table, *hand], minlength=NUM_KINDS)
    needed = len(hand) * (rules.players - 1)
    pool = np.repeat(np.arange(NUM_KINDS), np.maximum(left, 0)).tolist()
    if (left < 0).any() or len(pool) < needed + stock_size + 2:
        return None
    others = [pool.pop() for _ in range(needed)]
    stock = [pool.pop(0) for _ in range(stock_size)]
    hands = [list(hand), *(others[at :: rules.players - 1] for at in range(rules.players - 1))]
    lines = [f"rules: {rules}", f"table: {_written(table)}", "captured 1: rest", f"stock: {_written(stock)}"]
    lines += [f"hand {seat}: {_written(cards)}" for seat, cards in enumerate(hands)]
    try:
        game = Game.from_position("\n".join(lines))
    except ValueError:  # such a position can't be reached
        return None
    return game if game.turn == 0 else None


def _written(cards: Cards | list[int]) -> str:
    return " ".join(map(card_name, cards)) or "-"


# ---------------------------------------------------------------------- positions to try


def _kind(rules: Rules, rank: int, place: int) -> int:
    """Choose a kind of a rank: the suits of the deck by turns."""
    return card_of(rank, rules.suits[place % len(rules.suits)])


def _ranks(rules: Rules) -> list[int]:
    return [rank for rank in _LIKED if rank in rules.ranks]


def _sums(rules: Rules, ranks: list[int] | tuple[int, ...]) -> Iterator[Layout]:
    """Yield two or three table cards and a card of one of some ranks, of kinds that count little first."""
    for rank in ranks:
        if rank in rules.ranks:
            for count in (2, 3):
                for table in combinations(sorted(set(rules.ranks) - {rank}), count):
                    if sum(table_values(rules, each)[0] for each in table) in hand_values(rules, _kind(rules, rank, 0)):
                        yield (
                            tuple(_kind(rules, each, at + 1) for at, each in enumerate(table)),
                            (_kind(rules, rank, 0),),
                        )


def _several(rules: Rules) -> Iterator[Layout]:
    """Yield tables with a card like the one in the hand, two that add up to it, and one more."""
    for (pair, (played,)), spare in ((each, rank) for each in _sums(rules, _LIKED) for rank in (13, 12, 11, 10)):
        if len(pair) == 2 and spare in rules.ranks:
            like = card_of(rank_of(played), rules.suits[-1])
            yield (*pair, like, _kind(rules, spare, 1)), (played,)


def _overlapping(rules: Rules) -> Iterator[Layout]:
    """Yield tables of four cards in which two sums of a card share one of them."""
    for rank in _ranks(rules):
        values = hand_values(rules, _kind(rules, rank, 0))
        for table in combinations(sorted(set(rules.ranks) - {rank}, reverse=True), 4):
            worth = [table_values(rules, each)[0] for each in table]
            if worth[0] == worth[2] + worth[3] and worth[0] + worth[1] in values:
                yield tuple(_kind(rules, each, at) for at, each in enumerate(table)), (_kind(rules, rank, 3),)


def _copies(rules: Rules) -> Iterator[Layout]:
    """Yield a lone card on the table and its copy in the hand, then another card of its rank."""
    for rank in _ranks(rules):
        for suit in rules.suits[1:]:
            yield (card_of(rank, suit),), (card_of(rank, suit if rules.packs > 1 else rules.suits[0]),)


def _two_in_hand(rules: Rules) -> Iterator[Layout]:
    for table, hand in _sums(rules, _LIKED):
        for rank in _ranks(rules):
            if rank_of(hand[0]) != rank:
                yield table, (*hand, _kind(rules, rank, 2))


def _buildings(rules: Rules) -> Iterator[Layout]:
    """Yield a table of two, and a hand with a card to lay and one that their sum may have."""
    for rank in _ranks(rules):
        for low in range(2, rank):
            yield (_kind(rules, rank - low, 1), _kind(rules, 12, 2)), (_kind(rules, rank, 0), _kind(rules, low, 2))


# ---------------------------------------------------------------------- what a position shows


def _capture(words: Words, game: Game) -> list[str]:
    """Show that a card takes several groups at once; and where captures are maximal, that it can't take fewer."""
    card = game.hand(0)[0]
    moves = moves_of(game, card) or []
    best = max(moves, key=lambda move: len(move.takes), default=None)
    if best is None or len(best.takes) != 3 or best.sweep:
        return []
    key = "example.not_less" if len(moves) == 1 else "example.less"
    return [why(words, game, best), words.say(key)]


def _choice(words: Words, game: Game) -> list[str]:
    card = game.hand(0)[0]
    moves = moves_of(game, card) or []
    return [why_card(words, game, card)] if len(moves) == 2 else []


def _odd_value(words: Words, game: Game) -> list[str]:
    """Show what a card takes that is worth something else on the table."""
    moves = moves_of(game, game.hand(0)[0]) or []
    best = max(moves, key=lambda move: len(move.takes), default=None)
    return [why(words, game, best)] if best and len(best.takes) == len(game.table) else []


def _building(words: Words, game: Game) -> list[str]:
    low, high = sorted(game.hand(0), key=lambda card: rank_of(parse_card(card)))
    found = [move for move in game.legal_moves() if move.card == low and move.build and move.takes]
    if not found:
        return []
    return [why(words, game, found[0]), words.say("example.build", card=words.card(high), value=found[0].build)]


def _sweep(words: Words, count: int, game: Game) -> list[str]:
    """Show a single or a double sweep that counts."""
    is_free = not words.rules.sweep_points
    return _first(words, lambda twin, move: move.sweep == count and (is_free or twin.counted_sweeps(0) > 0), game)


def _first(words: Words, shows: Callable[[Game, Move], bool], game: Game) -> list[str]:
    """Tell the first move that shows something in the game after it."""
    for move in game.legal_moves():
        twin = game.copy()
        twin.push(move)
        if shows(twin, move):
            return [why(words, game, move)]
    return []


def _forced(words: Words, game: Game) -> list[str]:
    """Show that a card can't be played while another one sweeps."""
    playable = {card_name(action) for action in game.legal_actions()}
    other = [card for card in game.hand(0) if card not in playable]
    return [why_not(words, game, Move(other[0]))] if other else []
