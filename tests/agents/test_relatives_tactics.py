"""The tactician at the plain games: each piece of advice on tactics that the source gives, as a position."""

import numpy as np
import pytest

from krypenv import Engine, Game, Rules, agents
from krypenv.cards import NUM_KINDS, TAKE, card_name, parse_card

GAMES = ["kasino-sweden", "overspader", "kasino-finland"]
in_each = pytest.mark.parametrize("name", GAMES)


def position(name, deal, own, table, captured="", seed=0):
    """A game of two at the start of a deal: own hand, table and the other's pile given, all else shuffled."""
    rules = Rules.preset(name)
    rest = rules.deck_counts.copy()
    for card in f"{own} {table} {captured}".split():
        rest[parse_card(card)] -= 1
    cards = [card_name(kind) for kind in np.random.default_rng(seed).permutation(np.repeat(np.arange(NUM_KINDS), rest))]
    size = len(own.split())
    return Game.from_position(
        f"""rules: {rules}
deal: {deal}
dealer: 1
turn: 0
hand 0: {own}
hand 1: {" ".join(cards[:size])}
table: {table}
captured 1: {captured or "-"}
last-capturer: {"1" if captured else "-"}
stock: {" ".join(cards[size:])}
"""
    )


def chosen(game, first=None):
    """The move of the tactician, from a first card on if one is given, as the cards played and taken."""
    tactician, seat, place = agents.make("tactician", game.rules), game.turn, len(game.moves)
    if first:
        game.act(parse_card(first))
    while game.turn == seat and len(game.moves) == place:
        game.act(int(tactician.act(game.observation()[None], game.action_mask()[None])[0]))
    move = game.moves[place]
    return move.card, set(move.takes)


@in_each
def test_scoring_cards_are_not_left_on_the_table(name):
    assert "2S" in chosen(position(name, 1, "2H 7D JC KS", "2S 9C QD 8H"))[1]
    assert "TD" in chosen(position(name, 1, "TC 7D JS KC", "TD 9C QD 5H"))[1]


@in_each
def test_a_spade_is_not_trailed_if_there_is_an_alternative(name):
    for own in ("7S 7D AH AC", "7D 7S AH AC"):
        assert chosen(position(name, 1, own, "KH QD JC 9C")) == ("7D", set())


@in_each
def test_a_card_is_trailed_of_which_the_others_have_been_played(name):
    played = "8S 8D 8H KC KD JH JS 9D QC QH"
    assert chosen(position(name, 2, "8C 7C AH AC", "KH QD", played)) == ("8C", set())


@pytest.mark.parametrize("name", ["kasino-sweden", "overspader"])  # in Finland lillan takes the queen and the three
def test_a_card_is_left_that_could_have_been_taken_to_prevent_a_sweep(name):
    card, takes = chosen(position(name, 1, "QC 9C 8D AH", "3D 5C 7D QD"), first="QC")
    assert (card, takes) == ("QC", {"5C", "7D"})


@in_each
def test_the_last_card_of_a_game_captures_if_it_can(name):
    rng, tried = np.random.default_rng(1), 0
    while tried < 5:
        game = Game(Rules.preset(name), seed=int(rng.integers(1 << 30)))
        while game.stock_size + len(game.hand(0)) + len(game.hand(1)) > 1:
            game.act(int(rng.choice(game.legal_actions())))
        captures = [move for move in game.legal_moves() if move.takes]
        if captures and game.pending is None and game.last_capturer not in (None, game.turn):
            assert chosen(game)[1]
            tried += 1


def test_a_card_is_trailed_whose_copy_is_in_the_own_hand():
    assert chosen(position("mulle", 1, "KH KH 3C 4C 6C", "QS QH JD JC TH")) == ("KH", set())


@pytest.mark.parametrize("name", [*GAMES, "mulle"])
def test_search_goes_by_worlds_only_among_what_the_tactician_finds_near_its_best(name):
    engine = Engine(Rules.preset(name), 8, seed=3)
    tactician, search = (agents.make(text, engine.rules, seed=1) for text in ("tactician", "search(worlds=1)"))
    dropped = 0
    for _ in range(40):
        seen, mask = engine.observation, engine.action_mask
        own, values = tactician.act(seen, mask), search.action_values(seen, mask)
        plays = own < TAKE  # of cards that are alike, search takes the lowest
        assert np.isfinite(values[plays, own[plays]]).all()
        dropped += int((np.isinf(values) & (mask == 1)).sum())
        engine.step(own)
    assert dropped > 0
