"""What networks are told of each legal action: what the references show once the move is made."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.beside import percent, plays_after, plies, unseen_by
from support.games import RULES
from support.reference import STOP, Move, Reference
from support.reference_captures import rank
from support.reference_scores import LILLAN, STORAN
from support.relatives import BUILDING, GLIMNE, MIXTURES, OPTIONAL, RELATIVES, building_positions

from krypenv import Engine, Game, Move as GameMove, Rules
from krypenv.agents.neural.action_features import features_of, gather_action_features
from krypenv.cards import card_name
from krypenv.features import shape_of
from krypenv.worlds.determinize import determinize

GAMES = {**RULES, **RELATIVES, **GLIMNE}
RANKS = range(1, 14)
ROUNDED = {"taker_chance", "risk_chance", "gain", "reply", "keep", "worth", "takes"}
FINLAND = "kasino-finland players=2 most_cards_points=0 most_spades_points=0"  # worths are points alone


def told_of(rules: Rules, seen: np.ndarray, mask: np.ndarray) -> dict[int, dict[str, np.ndarray]]:
    """The features of each legal action by name."""
    found = gather_action_features(rules, seen[None], mask[None])
    assert found.actions.tolist() == np.flatnonzero(mask).tolist()
    columns = features_of(rules).columns.items()
    rows = [{name: row[part].astype(np.int64) for name, part in columns} for row in found.features]
    return dict(zip(found.actions.tolist(), rows, strict=True))


def is_told(row: dict[str, np.ndarray], shown: dict[str, Any]) -> bool:
    """Whether features are what is shown; tenths and percentages may be rounded either way."""
    return all(np.abs(row[name] - value).max() <= (0.5 + 1e-6) * (name in ROUNDED) for name, value in shown.items())


class After:
    """A position of a reference after a move, and what the seat that made it knows of the next one's cards."""

    def __init__(self, before: Reference, move: Move) -> None:
        self.before, self.move, self.twin, self.seat = before, move, before.copy(), before.turn
        self.twin.push(move)
        self.next = (self.seat + 1) % before.rules.players
        self.is_last = sum(map(len, before.hands)) == (before.pending is None)  # the play ends the deal
        hand = list(before.hands[self.seat])
        if before.pending is None:
            hand.remove(move[0])
        self.own = Counter(hand)
        passed = self.twin.over or (self.is_last and self.twin.turn != self.next)
        self.drawn = 0 if passed else len(self.twin.hands[self.next])
        self.unseen = Counter(unseen_by(before))

    def gained(self, count: str) -> int:
        """What the move adds to a number of the seat's."""
        now, was = (getattr(each, count) for each in (self.twin, self.before))
        return int(now(self.seat) - was(self.seat) if callable(now) else now[self.seat] - was[self.seat])

    def chance(self, hits: int) -> float:
        """The chance in percent that the next seat holds one of so many unseen cards."""
        pool = self.unseen.total()
        return percent(hits, pool, min(self.drawn, pool))


# ---------------------------------------------------------------------- where captures are maximal


def shown_of_ranks(after: After) -> dict[str, Any]:
    """What a move of Krypkasino takes, leaves and sets up, rank by rank, beside what the features block has of it."""
    twin = after.twin
    barred = set() if after.is_last else after.before.cannot_hold(after.next)
    for kind in [kind for kind in after.unseen if kind in barred]:
        del after.unseen[kind]
    unseen, own = Counter[int](), Counter[int]()
    for counts, by_rank in ((after.unseen, unseen), (after.own, own)):
        for kind, count in counts.items():
            by_rank[rank(kind)] += count
    taking, risk = [r for r in RANKS if twin.captures(r - 1)], dict.fromkeys(RANKS, 0)
    for r in set(RANKS) - set(taking) if not after.is_last else ():
        crept = twin.copy()
        crept.table = sorted([*twin.table, r - 1])
        risk[r] = sum(own[other] for other in own if crept.can_sweep(other - 1)) if unseen[r] else 0
    return {
        "points": after.gained("points"),
        "sweeps": after.move[2],
        "left": [sum(rank(kind) == r for kind in twin.table) for r in RANKS],
        "takers": [unseen[r] * (r in taking) for r in RANKS],
        "own_takers": [own[r] * (r in taking) for r in RANKS],
        "risk": [risk[r] for r in RANKS],
        "taker_chance": after.chance(sum(unseen[r] for r in taking)),
        "risk_chance": after.chance(sum(unseen[r] for r in RANKS if risk[r])),
    }


# ---------------------------------------------------------------------- where captures are optional


def class_of(rules: Rules, kind: int) -> int:
    """The place of a kind in blocks by rank: lillan and storan apart where they have values of their own."""
    special = {LILLAN: (13, rules.lillan_hand_value), STORAN: (14, rules.storan_hand_value)}
    place, value = special.get(kind, (0, None))
    return kind % 13 if value is None else place


def shown_of_piles(after: After) -> dict[str, Any]:
    """What a move of Kasino and Mulle wins and leaves, and who can take something of that."""
    twin, rules, table = after.twin, after.before.rules, [] if after.twin.over else after.twin.table
    takers, by_class = {}, {name: np.zeros(15) for name in ("takers", "own_takers", "sweepers")}
    for kind in {*after.unseen, *after.own}:
        takers[kind] = [] if twin.over else [takes for takes in twin.captures(kind) if takes]
        place, sweeps = class_of(rules, kind), any(len(takes) == len(table) for takes in takers[kind])
        by_class["takers"][place] += after.unseen[kind] * bool(takers[kind])
        by_class["own_takers"][place] += after.own[kind] * bool(takers[kind])
        by_class["sweepers"][place] += after.unseen[kind] * sweeps
    shown: dict[str, Any] = {
        "listed": 1,
        "trails": int(not after.move[1]),
        "loose": len(after.move[1]),
        "left": [sum(kind % 13 == place for kind in table) for place in range(13)],
        "left_cards": len(table),
        "left_spades": sum(kind >= 39 for kind in table),
        "left_points": sum(twin.card_points(kind) for kind in table),
        "sweeps_count": int(not after.before._is_void()),
        **by_class,
    }
    if not twin.over:  # then the last capturer gets what is left
        shown |= {"points": after.gained("points"), "sweeps": after.gained("sweeps")}
        for name, count in (("cards", twin.cards_won), ("spades", twin.spades_won)):
            was = {"cards": after.before.cards_won, "spades": after.before.spades_won}[name]()
            shown[name] = count()[after.seat] - was[after.seat]
            sides = twin.by_side(count())
            own = sides.pop(after.seat % rules.num_teams)
            left = {"cards": rules.deck_size, "spades": 13 * rules.packs}[name] - sum(sides) - own
            sure = all(own > other + left for other in sides) - any(other >= own + left for other in sides)
            shown |= {f"{name}_lead": own - max(sides), f"{name}_open": left, f"{name}_sure": int(sure)}
    if rules.mulle_points:
        shown["mulle"] = rules.mulle_points * after.gained("mulles")
        shown["copies"] = sum(after.unseen[kind] for kind in set(table))
        shown["own_copies"] = sum(after.own[kind] for kind in set(table))
    return shown


def shown_worth(after: After) -> dict[str, Any]:
    """The gain of a move, the best reply on average over all hands, and a part of what the own hand could take then.

    For rules without majorities, where the cards of a class are worth the same. Sweeps count then if they count now.
    """
    twin, seat, is_void = after.twin, after.seat, after.before._is_void()
    scores = [each.by_side(each.scores()) for each in (after.before, twin)]
    gain = sum(sign * (each[seat % 2] - each[1 - seat % 2]) for sign, each in zip((-1, 1), scores, strict=True))
    best = {
        kind: max((win_of(twin, kind, takes, is_void) for takes in twin.captures(kind) if takes), default=0)
        for kind in {*after.unseen, *after.own}
        if not twin.over
    }
    pool = sorted(after.unseen.elements())
    hands = itertools.combinations([best.get(kind, 0) for kind in pool], min(after.drawn, len(pool)))
    reply = float(np.mean([max(hand, default=0) for hand in hands]))
    keep = 0.0 if after.is_last else 0.3 * max((best[kind] for kind in after.own.elements()), default=0)
    return {"gain": 10 * gain, "reply": 10 * reply, "keep": 10 * keep, "worth": 10 * (gain - reply + keep)}


def win_of(reference: Reference, kind: int, takes: tuple[int, ...], is_void: bool) -> int:
    """The points of a capture, and of its sweep unless that is void."""
    points = sum(map(reference.card_points, (kind, *takes)))
    return points + reference.rules.sweep_points * (len(takes) == len(reference.table) and not is_void)


# ---------------------------------------------------------------------- in whole games


def positions(rules: Rules, count: int) -> Iterator[tuple[Game, Reference]]:
    """Games in the middle of play, and the reference of each."""
    rng, is_maximal = np.random.default_rng(4), rules.capture == "maximal"
    for seed in itertools.count():
        for game, reference in plies(rules, seed):
            if (is_maximal or reference.deal_number > 1) and rng.random() < 0.2:
                yield game, reference
                count -= 1
                if count == 0:
                    return


@pytest.mark.parametrize(
    "rules",
    [
        *RULES.values(),
        *(rules for text, rules in OPTIONAL.items() if "players=4" not in text or "teams" in text),
        *map(Rules.parse, ("kasino-sweden players=2 goal=low", FINLAND, f"{FINLAND} sweep_limit=3")),
    ],
    ids=str,
)
def test_features_are_those_of_a_move_that_the_action_may_lead_to(rules: Rules) -> None:
    total, unlisted, is_main = 0, 0, features_of(rules).version == 1
    has_worth = not is_main and rules.goal == "high" and rules.most_cards_points == rules.most_spades_points == 0
    for game, reference in positions(rules, 40):
        rows = told_of(rules, game.observation(), game.action_mask())
        for action, row in rows.items():
            kind = reference.pending if action == STOP else action % 52
            held = {
                "held": reference.hands[reference.turn].count(kind),
                "seen": reference.seen_by(reference.turn)[kind],
            }
            assert is_told(row, held)
            total += 1
            if not is_main and not row["listed"][0]:  # moves alike begin with another action
                unlisted += 1
                continue
            afters = [After(reference, move) for move in plays_after(reference, action)]
            shown = [(shown_of_ranks if is_main else shown_of_piles)(after) for after in afters]
            fitting = [after for after, each in zip(afters, shown, strict=True) if is_told(row, each)]
            assert fitting, (action, row, shown)
            assert not has_worth or any(is_told(row, shown_worth(after)) for after in fitting), (action, row)
        if not is_main:
            listed = [row for row in rows.values() if row["listed"][0]]
            highest = max(row["worth"][0] for row in listed)
            assert all(abs(highest - row["worth"][0] - row["behind"][0]) <= 1 for row in listed)
    assert unlisted < 0.2 * total > 10


# ---------------------------------------------------------------------- builds


def shown_of_builds(game: Game, move: GameMove) -> dict[str, Any]:
    """What a move wins, builds and leaves."""
    twin, seat, sides = game.copy(), game.turn, game.rules.num_teams
    twin.push(move)
    lead = [sum(each.scores()[seat % sides :: sides]) * 2 - sum(each.scores()) for each in (game, twin)]
    own = {value for value, _, owner, _ in twin.builds if (owner - seat) % sides == 0}
    return {
        "gain": min(10 * (lead[1] - lead[0]), 127),
        "lays": int(move.build is not None),
        "made": np.isin(np.arange(17), [move.build or -1]).astype(int),
        "loose": len(move.takes),
        "left_cards": len(twin.table),
        "own_builds": np.isin(np.arange(17), [*own]).astype(int),
        "other_builds": np.isin(np.arange(17), [*{value for value, *_ in twin.builds} - own]).astype(int),
    }


@pytest.mark.parametrize("rules", [next(iter(BUILDING.values())), *GLIMNE.values()], ids=str)
def test_b2_where_cards_are_built_features_are_those_of_a_move(rules: Rules) -> None:
    listed, total = 0, 0
    for game in building_positions(rules, 1):
        if game.stock_size == 0:  # the end of a game gives what is left to the last capturer
            break
        if game.pending is None:
            rows = told_of(rules, game.observation(), game.action_mask())
            total, listed = total + len(rows), listed + sum(row["listed"][0] for row in rows.values())
            for move_card, row in ((card_name(action), row) for action, row in rows.items() if row["listed"][0]):
                moves = [move for move in game.legal_moves() if move.card == move_card]
                assert any(is_told(row, shown_of_builds(game, move)) for move in moves), (game.position(), move_card)
    assert listed > 0.8 * total > 50


# ---------------------------------------------------------------------- what it is told of


SWEDEN_OF_MAXIMAL_CAPTURES = Rules.parse("kasino-sweden players=2 capture=maximal")


@pytest.mark.parametrize("rules", [*GAMES.values(), *MIXTURES.values(), SWEDEN_OF_MAXIMAL_CAPTURES], ids=str)
def test_features_are_of_legal_actions_and_depend_on_no_hidden_cards_and_no_other_rows(rules: Rules) -> None:
    """In games like Krypkasino the first of them are those of the features block."""
    engine, (rows_of_block, width) = Engine(rules, 12, seed=5, features=True), shape_of(rules)
    stops, is_main = 0, features_of(rules).version == 1
    for step in range(60):
        if step % 7 == 0:
            found = gather_action_features(rules, engine.observation, engine.action_mask)
            rows, actions = np.nonzero(engine.action_mask)
            assert found.counts.tolist() == np.bincount(rows, minlength=engine.num_games).tolist()
            assert found.actions.tolist() == actions.tolist()
            assert found.features.shape == (len(actions), features_of(rules).width)
            block = engine.observation[:, rules.observation_size :].reshape(-1, rows_of_block, width)
            kinds = np.where(actions == STOP, 52, actions % 52)
            assert not is_main or (found.features[:, :width] == block[rows, kinds]).all()
            stops += (actions == STOP).sum()
            world = Engine.from_state(rules, determinize(engine.observation, step, rules))
            other = gather_action_features(rules, world.observation, world.action_mask)
            assert all((mine == its).all() for mine, its in zip(found, other, strict=True))
            for row, end in reversed([*enumerate(np.cumsum(found.counts))]):  # with the scratch as later rows leave it
                one = slice(row, row + 1)
                alone = gather_action_features(rules, engine.observation[one], engine.action_mask[one])
                assert (alone.features == found.features[end - found.counts[row] : end]).all()
        engine.step(engine.sample_actions())
    assert stops > 0 or rules.capture == "maximal"
