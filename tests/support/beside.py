"""Play in the engine, in `Game` and in the slow reference side by side, and what the reference says of plays."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np

from krypenv import Engine, Game, Move, Rules
from krypenv.cards import BUILD, STOP, TAKE_BUILD, card_name, parse_card
from krypenv.rewards import returns_of
from support.games import small_first, stacked
from support.reference import TAKE, Reference, contains
from support.reference_builds import Builder
from support.reference_scores import LILLAN, STORAN

NAMES = [card_name(kind) for kind in range(52)]
STYLES = ("random", "take", "choose", "creep")
SMALL = 8  # cards on a table of which all is listed
LARGE = 11  # cards on a table that is brought down again, where the reference tries all sets of them


def reference_of(rules: Rules) -> type[Reference]:
    """Return the reference that plays by some rules."""
    return Builder if rules.building else Reference


def choose(reference: Reference, rng: np.random.Generator, style: str) -> int:
    """Return a legal action. Tables that grow too large for the reference are cleared.

    Styles of play: "random", "take" (much), "choose" (leaves much to choose) and "creep" (crowds the table).
    """
    legal = reference.legal_actions()
    clears = style == "take" or (len(reference.table) > LARGE and reference.rules.capture == "optional")
    if reference.pending is not None:
        takes = [action for action in legal if action != STOP]
        return int(rng.choice(takes if takes and (clears or rng.random() < 0.5) else legal))
    if clears or (style != "random" and rng.random() < 0.75):
        plays = {card: reference._plays_of(card) for card in legal}
        most = max(map(len, plays.values()))
        creeping = [card for card in legal if plays[card] == [()]]
        wanted = creeping or legal if style == "creep" and not clears else [c for c in legal if len(plays[c]) == most]
        return int(rng.choice(wanted))
    return int(rng.choice(legal))


def play_beside(rules: Rules, seed: int, style: str, deck: list[int] | None = None) -> int:
    """Play a session in the engine, in `Game` and in the reference, and compare them at every ply.

    A deck given is that of a single game, which `Game` now and then takes up from its position. Return the games.
    """
    rng = np.random.default_rng(seed)
    if deck is None:
        engine, game = Engine(rules, 1, seed=[seed], features=True), Game(rules, seed=seed)
    else:
        engine, game = stacked(rules, np.array([deck]), True), Game(rules, deck=[card_name(kind) for kind in deck])
    reference = reference_of(rules)(rules, [parse_card(name) for name in game.deck])
    number, points, sweeps = 1, np.zeros(rules.players, int), np.zeros(rules.players, int)
    while True:
        compare_engine(engine, reference, number)
        if deck is not None and rng.random() < 0.1:
            game = Game.from_position(game.position())
        compare_game(game, reference)
        assert (game.observation(features=True) == engine.observation[0]).all()
        done = len(game.actions)
        if len(reference.table) <= LARGE and rng.random() < 0.2:
            push_a_move(game, reference, rng)
        else:
            action = choose(reference, rng, style)
            reference.act(action)
            game.act(action)
        for action in game.actions[done:]:
            engine.step([action])
        if not reference.over:
            assert not engine.finished[0]
            continue
        compare_game(game, reference)
        points += [reference.points(seat) for seat in range(rules.players)]
        sweeps += reference.sweeps
        assert game.totals == reference.new_totals()
        assert game.session_over == engine.finished[0] == reference.ends_session(number)
        if engine.finished[0]:
            break
        game, number = game.next_game(), number + 1
        kinds, dealer = [parse_card(name) for name in game.deck], (reference.dealer + 1) % rules.players
        reference = reference_of(rules)(rules, kinds, dealer, reference.new_totals())
    assert engine.final_scores[0].tolist() == reference.new_totals()
    assert engine.final_points[0].tolist() == points.tolist()
    assert engine.final_sweeps[0].tolist() == sweeps.tolist()
    won = returns_of(rules, engine.final_scores, "win", engine.final_tie_breaks)[0]
    winners = reference.winners()
    assert won.tolist() == [(seat % rules.num_teams in winners) / len(winners) for seat in range(rules.players)]
    assert game.winners == np.flatnonzero(won).tolist()
    return number


def push_a_move(game: Game, reference: Reference, rng: np.random.Generator) -> None:
    """Assert that the whole moves, or those that complete a begun one, are those of the reference, and make one."""
    moves = game.legal_moves()
    kinds = [move.kinds() for move in moves]
    if isinstance(reference, Builder):
        plays = sorted(reference.plays())
        assert sorted((card, takes, build, builds) for card, takes, _, build, builds in kinds) == plays
    else:
        assert [each[:3] for each in kinds] == sorted(reference.legal_moves())
    at = int(rng.integers(len(moves)))
    made: list[Move | str] = [moves[at], str(moves[at]), moves[at]._replace(sweep=0)]
    game.push(made[int(rng.integers(3))])
    assert game.last_move == moves[at]
    card, takes, sweep, build, builds = kinds[at]
    if isinstance(reference, Builder):
        reference.push_play(next(play for play in plays if play == (card, takes, build, builds)))
    else:
        reference.push((card, takes, sweep))


def compare_engine(engine: Engine, reference: Reference, number: int = 1) -> None:
    """Assert that row 0 of an engine stands where the reference stands, and that the observation says so (K7)."""
    rules, state, seat = engine.rules, engine.state, reference.turn
    players = rules.players
    assert engine.seat[0] == seat
    assert np.flatnonzero(engine.action_mask[0]).tolist() == reference.legal_actions()
    assert state.totals[0, :players].tolist() == reference.totals
    assert (state.game_number[0], state.deal_number[0]) == (number, reference.deal_number)
    assert state.next_card[0] == rules.deck_size - len(reference.stock)
    seen = {name: engine.observation[0][part].tolist() for name, part in rules.layout.items()}
    seats = [(seat + place) % players for place in range(players)]
    by_kind = {
        "hand": reference.hands[seat],
        "table": reference.table,
        "set_aside": reference.aside,
        "pending": [] if reference.pending is None else [reference.pending],
        "taken": reference.taken,
    }
    for name, cards in by_kind.items():
        assert seen[name] == [cards.count(kind) for kind in range(52)], name
    assert seen["seen"] == reference.seen_by(seat)
    mulles = [rules.mulle_points * count for count in reference.mulles]
    bonus = [reference.bonus * (other == reference.leader) for other in range(players)]
    by_seat = {
        "points": [reference.points(other) + bonus[other] + mulles[other] for other in range(players)],
        "sweeps": reference.sweeps,
        "hand_size": [len(hand) for hand in reference.hands],
        "last_capturer": [other == reference.last_capturer for other in range(players)],
        "dealer": [other == reference.dealer for other in range(players)],
        "team": [(other - seat) % rules.num_teams for other in range(players)],
        "cards_won": reference.cards_won(),
        "spades_won": reference.spades_won(),
        "counted_sweeps": [reference.sweeps[other] - reference.void[other] for other in range(players)],
        "mulles": reference.mulles,
        "mulle_scores": reference.mulle_scores,
        "totals": reference.totals,
    }
    for name, numbers in by_seat.items():
        shown = np.clip([numbers[other] for other in seats], -127, 127).tolist()
        assert seen.get(name, shown)[:players] == shown, name
    if isinstance(reference, Builder):
        compare_builds(seen, reference)
    for place, other in enumerate(seats[1:]):
        known = reference.cannot_hold(other)
        ranks = {kind % 13 for kind in known if kind not in special_kinds(rules)}
        assert {rank for rank in range(13) if seen["cannot_hold"][place * 13 + rank]} == ranks
        if "cannot_hold_special" in seen:
            special = seen["cannot_hold_special"][2 * place : 2 * place + 2]
            assert special == [int(kind in known & special_kinds(rules)) for kind in (LILLAN, STORAN)]


def compare_builds(seen: dict[str, list[int]], reference: Builder) -> None:
    """Assert that the blocks of an observation show the builds, whose they are, and the one that is begun (B1)."""
    lying: list[list[int]] = [[] for _ in range(52)]
    owners, multiple = [0] * 16, [0] * 16
    for pile in sorted(reference.builds):
        owners[pile.value - 1] = 1 + (pile.owner - reference.turn) % reference.rules.players
        multiple[pile.value - 1] = int(pile.is_multiple)
        for card in pile.cards:
            lying[card].append(pile.value)
    assert [(*values, 0, 0)[:2] for values in lying] == list(zip(seen["built"], seen["built_twin"], strict=True))
    assert (seen["build_owner"], seen["build_multiple"]) == (owners, multiple)
    begun = [action - BUILD for action in reference.done if BUILD <= action < TAKE_BUILD]
    assert seen["building"] == [next(iter(begun), 0)]


def special_kinds(rules: Rules) -> set[int]:
    """Return the kinds whose hand value is not that of their rank (F1)."""
    named = {LILLAN: rules.lillan_hand_value, STORAN: rules.storan_hand_value}
    return {kind for kind, value in named.items() if value is not None}


def compare_game(game: Game, reference: Reference) -> None:
    """Assert that a `Game` stands where the reference stands."""

    def names(kinds: list[int]) -> list[str]:
        return [NAMES[kind] for kind in sorted(kinds)]

    assert game.turn == reference.turn
    assert game.is_over == reference.over
    if isinstance(reference, Builder):
        told = [(pile.value, names([*pile.cards]), pile.owner, pile.is_multiple) for pile in reference.builds]
        assert game.builds == sorted(told)
        reference.check_promises()
    assert game.legal_actions() == np.flatnonzero(game.action_mask()).tolist() == reference.legal_actions()
    assert game.table == names(reference.table)
    assert game.set_aside == names(reference.aside)
    assert game.taken == names(reference.taken)
    assert (game.deal_number, game.stock_size) == (reference.deal_number, len(reference.stock))
    assert game.scores() == reference.scores()
    assert (-1 if game.last_capturer is None else game.last_capturer) == reference.last_capturer
    if not game.rules.building:
        may_sweep = not reference.over and reference.pending is None
        sweepers = {kind for kind in reference.kinds if may_sweep and reference.can_sweep(kind)}
        assert game.sweep_ranks() == sorted({kind % 13 + 1 for kind in sweepers})
    for seat in range(game.rules.players):
        assert game.hand(seat) == names(reference.hands[seat])
        assert game.points(seat) == reference.points(seat)
        assert game.sweeps(seat) == reference.sweeps[seat]
        assert game.counted_sweeps(seat) == reference.sweeps[seat] - reference.void[seat]
        assert game.mulles(seat) == reference.mulles[seat]
        assert game.mulle_scores(seat) == reference.mulle_scores[seat]
        if reference.pending is None:
            assert game.captured(seat) == names(reference.captured[seat])
            assert game.pile_counts(seat) == (reference.cards_won()[seat], reference.spades_won()[seat])


# ---------------------------------------------------------------------- what a play may lead to


def plies(rules: Rules, seed: int) -> Iterator[tuple[Game, Reference]]:
    """A game with many choices, ply by ply, and the reference of it."""
    rng = np.random.default_rng(seed)
    deck = small_first(rules, rng)
    game, reference = Game(rules, deck=map(card_name, deck)), reference_of(rules)(rules, deck)
    while not reference.over:
        if len(reference.table) < SMALL:
            yield game, reference
        action = choose(reference, rng, "choose")
        reference.act(action)
        game.act(action)


def plays_after(reference: Reference, action: int) -> list[Any]:
    """All whole plays that build nothing and begin with what is done of a play, and then with an action."""
    if isinstance(reference, Builder):
        begun = [*reference.done, action]
        return [play for play in reference.plays() if not play.build and play.actions()[: len(begun)] == begun]
    moves = reference.legal_moves()
    if action < TAKE:
        return [move for move in moves if move[0] == action]
    if reference.rules.capture == "maximal":
        return [move for move in moves if contains(move[1], [*reference.taken, action - TAKE])]
    taken = [*reference.taken, *([] if action == STOP else [action - TAKE])]
    return [move for move in moves if (list(move[1]) if action == STOP else [*move[1]][: len(taken)]) == taken]


def unseen_by(reference: Reference) -> list[int]:
    """The cards that the seat to act has not seen."""
    left = reference.rules.deck_counts - np.array(reference.seen_by(reference.turn))
    return np.repeat(np.arange(52), left).tolist()


def percent(hits: int, cards: int, drawn: int) -> float:
    """The chance that one of some cards is drawn."""
    return 100.0 - 100.0 * comb(cards - hits, drawn) / comb(cards, drawn) if cards >= drawn else 0.0
