"""What optional moves are worth, move by move."""

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from krypenv import Game
from krypenv.cards import DIAMONDS, SPADES, STOP, TAKE, card_of, parse_card, rank_of
from krypenv.features import columns_of, shape_of

MOST_MOVES = 60  # of a position that is looked at: fewer than the search looks at


def positions(rules, count, seed):
    """Games in the middle of random play, in which the seat to act has few moves to choose from."""
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        game = Game(rules, seed=int(rng.integers(1 << 30)))
        while not game.is_over:
            if (
                game.deal_number > 1
                and rng.random() < 0.2
                and len(game.table) < 8
                and len(game.legal_moves()) < MOST_MOVES
            ):
                found.append(game.copy())
            game.act(int(rng.choice(game.legal_actions())))
    return found[:count]


def moves_after(game, action):
    """The legal moves that build nothing and begin with what has been played and taken, and then with an action."""
    moves = [move for move in game.legal_moves() if move.build is None]
    if action < TAKE:
        return [move for move in moves if parse_card(move.card) == action]
    taken = [parse_card(name) for name in game.taken]
    if action == STOP:
        return [move for move in moves if [*map(parse_card, move.takes)] == taken and not move.builds]
    wanted = [*taken, action - TAKE]
    return [move for move in moves if [*map(parse_card, move.takes)][: len(wanted)] == wanted]


def shares(game):
    """What a card and a spade are worth to the seat to act on the way to their points.

    The lead of the own side over the best other one changes by a normal deviate, of a deviation that grows with the
    root of what is left: 1.5 times that root for cards, 1.15 for spades.
    """
    rules = game.rules
    side, sides = game.turn % rules.num_teams, range(rules.num_teams)
    piles = np.array([game.pile_counts(seat) for seat in range(rules.players)])
    won = np.array([piles[each :: rules.num_teams].sum(axis=0) for each in sides])
    own, other = won[side], won[[each for each in sides if each != side]].max(axis=0)
    left = np.array([rules.deck_size, 13 * rules.packs]) - won.sum(axis=0)  # what nobody has won
    prices = [0.0, 0.0]
    for at, (points, spread) in enumerate([(rules.most_cards_points, 1.5), (rules.most_spades_points, 1.15)]):
        if left[at] > 0 and abs(own[at] - other[at]) <= left[at]:
            prices[at] = 2 * points * norm.pdf(own[at] - other[at], scale=spread * left[at] ** 0.5)
    if rules.spades_above is not None:
        for spades in (own[1], other[1]):
            missing = rules.spades_above - spades - left[1] / rules.num_teams
            prices[1] += expit(-1.7 * missing / (1.15 * left[1] ** 0.5 / 2 + 0.1)) / 2
    return prices


def worth(game, move):
    """What a move is worth at once: points, sweep, mulle, and what cards and spades are worth for the majorities."""
    rules, seat = game.rules, game.turn
    after = game.copy()
    after.push(move)
    gained = after.points(seat) - game.points(seat) + rules.mulle_points * (after.mulles(seat) - game.mulles(seat))
    gained += rules.sweep_points * (after.counted_sweeps(seat) - game.counted_sweeps(seat))
    gained += after.mulle_scores(seat) - game.mulle_scores(seat)
    gained += np.dot(np.subtract(after.pile_counts(seat), game.pile_counts(seat)), shares(game))
    return (1 if rules.goal == "high" else -1) * gained


def entries(game, action):
    """The features of an action by name, numbers or lists."""
    rows = game.observation(features=True)[game.rules.observation_size :].reshape(shape_of(game.rules))
    row = rows[52 if action == STOP else action % 52]
    return {name: row[part].tolist() for name, part in columns_of(game.rules).items()}


def sums(rules, names):
    """The sums of all choices of some cards that are not empty."""
    found = {0}
    for name in names:
        values = rules.table_values[rank_of(parse_card(name)) - 1]
        found |= {total + value for total in found for value in (values if isinstance(values, tuple) else (values,))}
    return found - {0}


def takers(rules, names):
    """The kinds that can take something of some cards."""
    special = {card_of(2, SPADES): rules.lillan_hand_value, card_of(10, DIAMONDS): rules.storan_hand_value}
    reached, found = sums(rules, names), []
    for kind in range(52):
        values = special.get(kind) or rules.hand_values[rank_of(kind) - 1]
        if reached & set(values if isinstance(values, tuple) else (values,)):
            found.append(kind)
    return found
