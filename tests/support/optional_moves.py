"""What optional moves are worth, move by move."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from krypenv import Game
from krypenv.agents.neural.action_features import features_of
from krypenv.cards import DIAMONDS, SPADES, STOP, TAKE, card_name, card_of, parse_card, rank_of
from krypenv.features import columns_of, shape_of
from support.reference_relatives import LILLAN, STORAN, list_captures

MOST_HANDS = 3000  # that the next seat may hold, where all of them are tried
ROUNDED = {"gain", "reply", "keep", "worth", "takes", "take_chance", "chance"}
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


def class_of(rules, kind):
    """The place of a kind in the blocks that count by rank: lillan and storan apart where they have own values."""
    special = {LILLAN: (13, rules.lillan_hand_value), STORAN: (14, rules.storan_hand_value)}
    place, value = special.get(kind, (0, None))
    return kind % 13 if value is None else place


def values_of(rules, kind):
    """The hand values of a kind."""
    special = {LILLAN: rules.lillan_hand_value, STORAN: rules.storan_hand_value}
    values = special.get(kind) or rules.hand_values[kind % 13]
    return values if isinstance(values, tuple) else (values,)


def captures_by(rules, kind, table):
    """All captures of a kind from a table."""
    values = [rules.table_values[card % 13] for card in table]
    choices = tuple(value if isinstance(value, tuple) else (value,) for value in values)
    return list_captures(tuple(table), choices, values_of(rules, kind), False)


def most_worth(rules, kind, table, counts, prices):
    """What the best capture of a kind from a table is worth, without mulles; 0 for none.

    `prices` are what a card and a spade are worth on the way to the majorities.
    """
    if rules.goal == "low":
        return 0.0
    return max(
        [
            sum(int(rules.card_points[card]) + prices[0] + prices[1] * (card >= 39) for card in takes)
            + rules.sweep_points * counts * (len(takes) == len(table))
            for takes in captures_by(rules, kind, table)
        ],
        default=0.0,
    )


def sweeps_count(game):
    """Whether a sweep would count now (F5)."""
    rules = game.rules
    if not rules.last_deal_sweeps and game.deal_number == len(rules.deal_sizes()):
        return False
    sides = [sum(game.scores()[side :: rules.num_teams]) for side in range(rules.num_teams)]
    return rules.sweep_limit is None or max(sides) < rules.sweep_limit


def majority(own, others, left):
    """The lead, what is open, and whether it is decided."""
    sure = all(own > other + left for other in others) - any(other >= own + left for other in others)
    return [own - max(others)], [left], [sure]


def gain(game, move):
    """What a move wins at once; with the last one of a game majorities are counted."""
    after, sides, side = game.copy(), game.rules.num_teams, game.turn % game.rules.num_teams
    after.push(move)
    if not after.is_over:
        return worth(game, move)
    leads = [
        sum(scores[side::sides]) - (sum(scores) - sum(scores[side::sides])) / (sides - 1)
        for scores in (game.scores(), after.scores())
    ]
    return (leads[1] - leads[0]) * (1 if game.rules.goal == "high" else -1)


def expected(game, action, move):
    """The features of an action that leads to a move, by name. Without `reply` where the next hands are very many."""
    rules, seat, after = game.rules, game.turn, game.copy()
    after.push(move)
    sign = 1 if rules.goal == "high" else -1
    table = [] if after.is_over else sorted(map(parse_card, after.table))
    hand = Counter(map(parse_card, game.hand(seat)))
    hand[parse_card(move.card)] -= game.pending is None
    kind = parse_card(move.card) if action == STOP else action % 52
    unseen = rules.deck_counts - game.observation()[rules.layout["seen"]]
    pool = [card for card in range(52) for _ in range(unseen[card])]
    drawn = 0 if after.is_over else len(after.hand((seat + 1) % rules.players))
    counts, prices, places = sweeps_count(game), shares(game), [class_of(rules, card) for card in range(52)]
    price = [sign * (int(rules.card_points[card]) + prices[0] + prices[1] * (card >= 39)) for card in range(52)]
    usual = [np.mean([price[card] for card in pool if places[card] == each] or [0.0]) for each in range(15)]
    takers = {card for card in {*pool, *hand} if captures_by(rules, card, table)}
    most = {card: most_worth(rules, card, table, counts, prices) for card in takers}
    takes = {card: max(0.0, usual[places[card]] + most[card]) if rules.goal == "high" else 0.0 for card in takers}
    by_class = {"takers": np.zeros(15), "own_takers": np.zeros(15), "takes": np.zeros(15)}
    for card in takers:
        by_class["takers"][places[card]] += unseen[card]
        by_class["own_takers"][places[card]] += hand[card]
        if unseen[card]:
            by_class["takes"][places[card]] = 10 * takes[card]
    mulles = rules.mulle_points > 0
    piles = np.array([after.pile_counts(each) for each in range(rules.players)])
    sides = [piles[(seat + place) % rules.num_teams :: rules.num_teams].sum(0) for place in range(rules.num_teams)]
    decks = rules.deck_size, 13 * rules.packs
    told = {
        "listed": [1],
        "gain": [10 * gain(game, move)],
        "trails": [int(not move.takes)],
        "loose": [len(move.takes)],
        "left": [sum(card % 13 == rank for card in table) for rank in range(13)],
        "left_cards": [len(table)],
        "left_spades": [sum(card >= 39 for card in table)],
        "left_points": [sum(int(rules.card_points[card]) for card in table)],
        **{name: each.tolist() for name, each in by_class.items()},
        "copies": [sum(int(unseen[card]) for card in set(table)) * mulles],
        "own_copies": [sum(hand[card] for card in set(table)) * mulles],
        "held": [game.hand(seat).count(card_name(kind))],
        "seen": [int(game.observation()[rules.layout["seen"]][kind])],
        "sweeps_count": [int(counts)],
    }
    for at, name in enumerate(("cards", "spades")):
        left = decks[at] - sum(int(side[at]) for side in sides)
        its = majority(int(sides[0][at]), [int(other[at]) for other in sides[1:]], left)
        told |= dict(zip((f"{name}_lead", f"{name}_open", f"{name}_sure"), its, strict=True))
    told["keep"] = [0.0]
    if not after.is_over and after.deal_number == game.deal_number:
        best = [0.0, *(price[card] + most[card] for card in takers if hand[card] > 0 and rules.goal == "high")]
        if mulles:
            best += [
                price[card] * 2 + rules.mulle_points + rules.sweep_points * counts * (len(table) == 1)
                for card in set(table)
                if hand[card] > 0
            ]
        told["keep"] = [10 * 0.3 * max(best)]
    if comb(len(pool), min(drawn, len(pool))) <= MOST_HANDS:
        hands = list(combinations(range(len(pool)), min(drawn, len(pool))))
        gains = np.array([takes.get(card, 0.0) for card in pool])
        reply = float(np.mean([gains[list(each)].max(initial=0.0) for each in hands]))
        if mulles:
            held = [{pool[at] for at in each} & set(table) for each in hands]
            reply += rules.mulle_points * float(np.mean([len(each) for each in held]))
        told["reply"] = [10 * reply]
        told["worth"] = [told["gain"][0] - told["reply"][0] + told["keep"][0]]
    return told


def agree(game, row, told):
    """Whether a row of features is what was expected; tenths and percentages may be rounded either way."""
    for name, values in told.items():
        off = np.abs(row[features_of(game.rules).columns[name]] - np.array(values, float)).max()
        if off > (0.5 + 1e-4 if name in ROUNDED else 0):
            return False
    return True
