"""The features of an observation: what the slow reference says of every legal action."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.beside import percent, plays_after, plies, unseen_by
from support.games import RULES
from support.reference import STOP, TAKE, Reference
from support.reference_builds import Builder
from support.relatives import BUILDING, GLIMNE, RELATIVES, at

from krypenv import Engine, Rules
from krypenv.cards import BUILD, parse_card
from krypenv.features import append_features, columns_of, shape_of

OTHERS = [*RELATIVES.values()]
OTHERS += [
    Rules.parse(text)
    for text in (
        "kasino-sweden players=2 goal=low",
        "mulle players=3 goal=low",
        "kasino-finland players=2 forced_sweep=True set_aside=spades",  # what a deal leaves is put aside at its end
        "kasino-finland players=2 building=True goal=low",  # a build is taken to keep a promise alone
    )
]
BUILT = [rules for rules in (*GLIMNE.values(), *BUILDING.values()) if rules.games == 1]


def entries(rules: Rules, observation: np.ndarray, action: int) -> dict[str, list[int]]:
    """The features of an action by name."""
    row = observation[rules.observation_size :].reshape(shape_of(rules))[52 if action == STOP else action % 52]
    return {name: row[part].tolist() for name, part in columns_of(rules).items()}


def after(reference: Reference, play: Any) -> Reference:
    """The reference after a whole play."""
    twin: Any = reference.copy()
    (twin.push_play if isinstance(twin, Builder) else twin.push)(play)
    return twin


class Effect(NamedTuple):
    """What a play does."""

    entries: dict[str, list[int]]
    chances: dict[str, float]  # that the next seat sweeps, and takes something, in percent
    won: tuple[int, int, int]  # score at once, cards and spades

    def is_told(self, row: dict[str, list[int]]) -> bool:
        """Whether a row of features tells this, as far as it has such entries."""
        near = [abs(row[name][0] - chance) <= 0.5 + 1e-6 for name, chance in self.chances.items() if name in row]
        return all(near) and all(row.get(name, told) == told for name, told in self.entries.items())

    def cost(self, rules: Rules) -> float:
        """What it costs where the lowest score wins: the next seat's sweep is a gain."""
        return self.won[0] - rules.sweep_points * self.chances["chance"] / 100

    def is_beaten(self, other: Effect, sign: int) -> bool:
        """Whether another play wins more at once, and no fewer cards and spades; all are bad with sign -1."""
        more = [sign * (theirs - own) for theirs, own in zip(other.won, self.won, strict=True)]
        return more[0] > 0 and min(more) >= 0


def effect(reference: Reference, play: Any) -> Effect:
    """What the reference says that a play does; without chances where builds lie, which count in them."""
    rules, seat, twin = reference.rules, reference.turn, after(reference, play)
    following, is_built = (seat + 1) % rules.players, isinstance(reference, Builder)
    captures = play.takes or play.builds if is_built else play[1]
    told = {
        "creeps": int(not captures),
        "points": twin.points(seat) - reference.points(seat),
        "sweeps": twin.sweeps[seat] - reference.sweeps[seat],
        "cards": twin.cards_won()[seat] - reference.cards_won()[seat],
        "spades": twin.spades_won()[seat] - reference.spades_won()[seat],
        "mulle": twin.mulles[seat] - reference.mulles[seat],
    }
    counted = told["sweeps"] - twin.void[seat] + reference.void[seat]
    at_once = told["points"] + rules.sweep_points * counted + rules.mulle_points * told["mulle"]
    at_once += twin.mulle_scores[seat] - reference.mulle_scores[seat]
    table = [*twin.table, *(card for pile in getattr(twin, "builds", ()) for card in pile.cards)]
    told["left_points"] = 0 if twin.over else sum(map(twin.card_points, table))
    entries, chances = {name: [number] for name, number in told.items()}, {}
    if not is_built:
        barred = reference.cannot_hold(following) if twin.deal_number == reference.deal_number else set()
        held = [card for card in unseen_by(reference) if card not in barred]
        sweepers = [card for card in held if not twin.over and twin.can_sweep(card)]
        takers = [card for card in held if not twin.over and twin.captures(card)]
        entries["sweepers"] = [sum(card % 13 == rank for card in sweepers) for rank in range(13)]
        drawn = len(twin.hands[following]) if twin.turn == following else 0
        for name, hits in (("chance", sweepers), ("take_chance", takers)):
            chances[name] = percent(len(hits), len(held), drawn)
    return Effect(entries, chances, (at_once, told["cards"], told["spades"]))


@pytest.mark.few(8)
@pytest.mark.parametrize("rules", [*RULES.values(), *OTHERS, *BUILT], ids=str)
def test_r9_b1_g2_the_row_of_an_action_describes_the_best_play_that_it_may_lead_to(rules: Rules) -> None:
    """In Krypkasino the one of the least cost. Elsewhere one that no other beats.

    That is so before anything is taken, but for the last card of a game, which wins what is left too.
    """
    sign, is_plain, tried = 1 if rules.goal == "high" else -1, rules in RULES.values(), 0
    for game, reference in islice(plies(rules, seed=1), 0, None, 2):
        seen, last = game.observation(features=True), sum(map(len, reference.hands)) + len(reference.stock) <= 1
        for action in [action for action in reference.legal_actions() if action <= STOP and not game.building]:
            row, tried = entries(rules, seen, action), tried + 1
            ways = [effect(reference, play) for play in plays_after(reference, action)]
            told = [way for way in ways if way.is_told(row)]
            if not ways:  # the card can only build
                assert row["creeps"] == [1]
                continue
            assert told, (row, ways)
            if is_plain:
                least = min(way.cost(rules) for way in ways)
                assert any(way.cost(rules) < least + 1e-9 for way in told)
                assert row["least_points"] == min(way.entries["points"] for way in ways)
            elif action < TAKE and not last:
                assert any(not any(way.is_beaten(other, sign) for other in ways) for way in told)
    assert tried > 5


@pytest.mark.parametrize("rules", [*RULES.values(), *RELATIVES.values(), *GLIMNE.values(), *BUILDING.values()], ids=str)
def test_the_engine_writes_the_features_that_follow_from_the_observation(rules: Rules) -> None:
    engine, size = Engine(rules, 32, seed=5, features=True), rules.observation_size
    assert engine.observation.shape[1] == size + np.prod(shape_of(rules))
    for _ in range(60):
        plain = engine.observation[:, :size].copy()
        appended = append_features(rules, plain, engine.action_mask)
        assert (appended == engine.observation).all()
        assert append_features(rules, appended, engine.action_mask) is appended
        engine.step(engine.sample_actions())


@pytest.mark.parametrize("text", ["krypkasino players=2", "kasino-finland players=2 forced_sweep=True"])
def test_r10_what_a_seat_could_not_hold_says_nothing_of_the_next_deal(text: str) -> None:
    rules, told = Rules.parse(text), 0
    layout, size, engine = rules.layout, rules.observation_size, Engine(rules, 256, seed=3, features=True)
    bars = np.r_[tuple(part for name, part in layout.items() if name.startswith("cannot_hold"))]
    for _ in range(60):
        seen = engine.observation
        plays = seen[:, layout["hand_size"]].sum(axis=1) - (1 - seen[:, layout["pending"]].sum(axis=1))
        rows = (plays == 0) & (seen[:, layout["deals_left"]].ravel() > 0)  # the play ends a deal
        free = seen[rows, :size]
        free[:, bars] = 0
        found = append_features(rules, free, engine.action_mask[rows])
        assert (found[:, size:] == seen[rows, size:]).all()
        told += seen[rows][:, bars].any(axis=1).sum()
        engine.step(engine.sample_actions())
    assert told > 10


def test_b1_b6_what_a_build_leaves_to_the_next_seat() -> None:
    game = at("5D KH", "4S 9C", "9D QC", build_12="7C 5C", owner_12="1")
    trails = entries(game.rules, game.observation(features=True), parse_card("4S"))
    assert trails["left_points"] == [1]  # the four of spades; the cards of the build count nothing
    assert trails["take_chance"] == [100]  # seat 1 has both unseen cards, and either takes something
    assert trails["chance"] == [0]  # the build and the loose cards are not one capture
    game.act(parse_card("4S"))
    game.act(BUILD + 9)
    laid = entries(game.rules, game.observation(features=True), TAKE + parse_card("5D"))
    assert [laid[name] for name in ("creeps", "points", "cards", "left_points")] == [[0], [0], [0], [1]]


def test_b6_the_chance_of_a_sweep_of_a_lone_build() -> None:
    game = at("KH", "KC 2C", "QC 3D", build_12="7C 5C", owner_12="1")
    game.act(parse_card("KC"))
    take = entries(game.rules, game.observation(features=True), TAKE + parse_card("KH"))
    assert (take["sweeps"], take["chance"], take["take_chance"]) == ([0], [100], [100])
