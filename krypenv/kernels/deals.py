"""Decks and deals, as kernels over one row of the state: who gets which card when, and what is set aside."""

from __future__ import annotations

import numpy as np

from krypenv.cards import NUM_KINDS, NUM_RANKS
from krypenv.kernels.compiled import NIBBLE, TABLE
from krypenv.runtime.jit import kernel
from krypenv.state import DEALS, random_below


@kernel
def shuffle_deck(compiled: np.record, game: np.record) -> None:
    """Shuffle the row's whole deck from its stream, starting from the order of kinds."""
    for place in range(compiled.deck_size):
        game.deck[place] = compiled.deck[place]
    shuffle_rest(game, 0, compiled.deck_size)


@kernel
def shuffle_rest(game: np.record, first: int, size: int) -> None:
    """Shuffle the cards of a deck of `size` from place `first` on, all orders equally likely (Fisher and Yates)."""
    deck = game.deck
    for place in range(size - 1, first, -1):
        other = first + random_below(game, DEALS, place + 1 - first)
        card = deck[place]
        deck[place] = deck[other]
        deck[other] = card


@kernel
def leader_of(compiled: np.record, game: np.record) -> int:
    """Find the seat after the dealer (R5)."""
    return (game.dealer + 1) % compiled.players


@kernel
def add_to_table(compiled: np.record, game: np.record, card: int, count: int) -> None:
    """Put `count` copies of a card on the table; a negative count takes them off."""
    game.table[card] += count
    game.table_ranks += np.int64(count) << NIBBLE * (card % NUM_RANKS)
    game.table_sum += count * compiled.sum_value[card]


@kernel
def _move_cards(compiled: np.record, game: np.record, number: int, count: int) -> None:
    """Move the cards of deal `number`, from 0 on, from the deck to hands and table; with `count` -1 move them back."""
    leader = leader_of(compiled, game)
    for place in range(compiled.deal_start[number], compiled.deal_start[number + 1]):
        card = np.int64(game.deck[place])
        if compiled.destination[place] == TABLE:
            add_to_table(compiled, game, card, count)
            game.seen[card] += count
        else:
            seat = (leader + compiled.destination[place]) % compiled.players
            game.hands[seat, card] += count
            game.hand_size[seat] += count
            if count > 0:
                game.hand_kinds[seat] |= np.int64(1) << card
            else:  # every hand is empty before a deal
                game.hand_kinds[seat] = 0


@kernel
def deal(compiled: np.record, game: np.record) -> None:
    """Deal the next cards, clear what was known about hands, and give the turn to the leader (R4, R5, H3)."""
    number = game.deal_number
    _move_cards(compiled, game, number, 1)
    for seat in range(compiled.players):
        game.cannot_hold[seat] = 0
    game.next_card = compiled.deal_start[number + 1]
    game.deal_number = number + 1
    game.seat = leader_of(compiled, game)


@kernel
def take_back(compiled: np.record, game: np.record) -> None:
    """Undo the last `deal`, of which no card has been played; what was known about hands does not come back."""
    number = game.deal_number - 1
    _move_cards(compiled, game, number, -1)
    game.next_card = compiled.deal_start[number]
    game.deal_number = number


@kernel
def put_aside(compiled: np.record, game: np.record) -> None:
    """Set the pictures on the table aside, or under V3 the spades (R6)."""
    if game.table_ranks & compiled.aside_ranks == 0:
        return
    for card in range(NUM_KINDS):
        if compiled.is_aside[card] and game.table[card] > 0:
            game.set_aside[card] += game.table[card]
            add_to_table(compiled, game, card, -np.int64(game.table[card]))
