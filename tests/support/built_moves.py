"""What is kept, and what the next seat can be expected to win, where cards are built: hand by hand."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from krypenv import Game, Move, Rules
from krypenv.cards import parse_card
from support.optional_moves import captures_by, class_of, sweeps_count, values_of

MOST_HANDS = 4000  # that the next seat may hold, where all of them are tried


def mulle_of(rules: Rules, kind: int) -> int:
    """The points of a mulle with a card (G2): its rank, the ace and the two special cards by their hand values."""
    return int(values_of(rules, kind)[0]) if rules.mulle_by_value else 0


def unseen_of(game: Game) -> list[int]:
    """The cards that the seat to act has not seen."""
    counts = game.rules.deck_counts - game.observation()[game.rules.layout["seen"]]
    return [kind for kind in range(52) for _ in range(counts[kind])]


def kept(game: Game, move: Move) -> float:
    """What the builds of the own side win for their owner, unless the next seat holds a card that takes them."""
    rules, seat, after = game.rules, game.turn, game.copy()
    after.push(move)
    if after.is_over or after.deal_number != game.deal_number:
        return 0.0
    pool, drawn = unseen_of(game), len(after.hand((seat + 1) % rules.players))
    total = 0.0
    for value, cards, owner, _ in after.builds:
        if (owner - seat) % rules.num_teams:
            continue
        kinds = [parse_card(name) for name in cards]
        hits = sum(value in values_of(rules, kind) for kind in pool)
        held = [parse_card(name) for name in after.hand(owner)] if owner == seat else []
        takers = [kind for kind in held if value in values_of(rules, kind)]
        best = max((rules.card_points[kind] + mulle_of(rules, kind) * (kind in kinds) for kind in takers), default=0)
        missed = comb(len(pool) - hits, drawn) / comb(len(pool), drawn)
        total += missed * float(best + sum(int(rules.card_points[kind]) for kind in kinds))
    return total


def reply(game: Game, move: Move) -> float | None:
    """What the next seat wins with the best card of its hand, on average over all hands, and by mulles.

    None where there are too many hands. Who owns a build holds a card that takes it.
    """
    rules, seat, after = game.rules, game.turn, game.copy()
    after.push(move)
    pool = unseen_of(game)
    following = (seat + 1) % rules.players
    drawn = 0 if after.is_over else len(after.hand(following))
    if comb(len(pool), drawn) > MOST_HANDS or after.is_over:
        return 0.0 if after.is_over else None
    table, counts = sorted(map(parse_card, after.table)), sweeps_count(game)
    usual = {
        each: np.mean([int(rules.card_points[kind]) for kind in pool if class_of(rules, kind) == each])
        for each in {class_of(rules, kind) for kind in pool}
    }
    builds = {value: ([parse_card(name) for name in cards], owner) for value, cards, owner, _ in after.builds}

    def most(kind: int) -> tuple[float, float]:
        """What the best capture of a card wins, and that if its owner must be able to make it."""
        (value,) = values_of(rules, kind)
        cards, owner = builds.get(value, ([], None))
        clears = not (builds.keys() - {value})
        own = usual[class_of(rules, kind)]
        gains = [0.0] if not cards else [own + sum(int(rules.card_points[each]) for each in cards)]
        if cards and clears and not table:
            gains[0] += rules.sweep_points * counts
        for takes in captures_by(rules, kind, table):
            gain = own + sum(int(rules.card_points[each]) for each in (*takes, *cards))
            gains.append(gain + rules.sweep_points * counts * (clears and len(takes) == len(table)))
        return max(gains), max(gains) if owner == following else 0.0

    best = {kind: most(kind) for kind in set(pool)}
    sure = max((each[1] for each in best.values()), default=0.0)
    hands = list(combinations(range(len(pool)), drawn))
    gains = np.array([best[kind][0] for kind in pool])
    total = float(np.mean([max(sure, gains[list(each)].max(initial=0.0)) for each in hands]))
    for kind in set(pool):
        (value,) = values_of(rules, kind)
        lies = kind in builds.get(value, ([], None))[0]
        if lies or (kind in table and any(kind in takes for takes in captures_by(rules, kind, table))):
            copies = pool.count(kind)
            total += mulle_of(rules, kind) * (1 - comb(len(pool) - copies, drawn) / comb(len(pool), drawn))
    return total
