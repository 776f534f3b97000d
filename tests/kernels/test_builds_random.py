"""Random games with builds beside the reference, counts of action sequences, promises at every ply, and worlds."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from support.counting import count
from support.games import seen_by, small_first
from support.reference_builds import Builder, Play
from support.reference_relatives import count_actions
from support.relatives import BUILDING as BUILDY
from support.relatives import compare_game, play_beside
from support.viewing import viewer_of

from krypenv import Engine, Game, Move, Rules, determinize
from krypenv.cards import BUILD, NO_CARD, card_name, parse_card
from krypenv.kernels.builds import values_built
from krypenv.worlds.invariants import check_state

GLIMNE = Rules.preset("mulle-glimne")
PAIRS = Rules.preset("mulle-glimne", players=4, teams=2)
ALL = {**BUILDY, "mulle-glimne": GLIMNE, "mulle-glimne players=4 teams=2": PAIRS}
COUNTS = {next(iter(BUILDY)): 7_948, "kasino-finland players=2 building=True": 1_352, "mulle-glimne": 2_510}


def kind_of(play: Play, game: Builder) -> list[str]:
    """Return what a play is an example of, before it is made."""
    owners = {pile.value: pile.owner for pile in game.builds}
    if play.build:
        raised = [value for value in play.builds if value != play.build]
        kinds = ["raise" if raised else "make", "with groups" if raised and play.takes else "plain"]
        kinds += ["join"] * (play.build in play.builds) + ["join alone"] * (not play.takes and not raised)
        kinds += ["raise and join"] * (len(play.builds) == 2)
        kinds += ["raise the own one" if owners[value] == game.turn else "raise another's" for value in raised]
        return kinds
    kinds = ["capture a build, no loose card" if play.builds and not play.takes else "capture"]
    kinds += ["capture both"] * bool(play.builds and play.takes)
    for value in play.builds:
        pile = game.pile(value)
        assert pile
        kinds += [
            "own" if owners[value] == game.turn else "another's",
            "multiple" if len(pile.groups) > 1 else "single",
        ]
        kinds += ["mulle in a build"] * (play.card in pile.cards)
    return kinds


@pytest.mark.parametrize("text", BUILDY)
def test_b1_b6_games_of_the_reference(text: str) -> None:
    for seed in range(2):
        play_beside(BUILDY[text], seed, "choose")


@pytest.mark.slow
@pytest.mark.parametrize("rules", [GLIMNE, PAIRS], ids=str)
def test_g1_b1_games_of_glimne_are_those_of_the_reference(rules: Rules) -> None:
    for seed, style in enumerate(("choose", "take")):
        play_beside(rules, seed, style)


def test_b2_b3_b4_every_kind_of_play_is_among_the_moves() -> None:
    """Games in which who can build often does: the moves are those of the reference, each of them once."""
    seen: Counter[str] = Counter()
    for seed, (text, rules) in enumerate([*BUILDY.items()] * 8):
        rng = np.random.default_rng(seed)
        game = Game(rules, deck=map(card_name, small_first(rules, rng)))
        reference = Builder(rules, [parse_card(name) for name in game.deck])
        while not game.is_over:
            plays = sorted(reference.plays())
            moves = {Play(card, takes, build, builds): None for card, takes, _, build, builds in kinds_of(game)}
            assert sorted(moves) == plays, text
            assert len(moves) == len(game.legal_moves())
            play = choose(plays, len(reference.table) > 7, rng)
            seen.update(kind_of(play, reference))
            game.push(Move.of_kinds(play.card, play.takes, 0, play.build, play.builds))
            reference.push_play(play)
        compare_game(game, reference)
    assert len(seen) == 17, seen
    assert min(seen.values()) >= 2, seen


def kinds_of(game: Game) -> list[Any]:
    """Return the legal moves of a game as kinds."""
    return [move.kinds() for move in game.legal_moves()]


def choose(plays: list[Play], clears: bool, rng: np.random.Generator) -> Play:
    """Return one of some plays: where many loose cards lie one that takes some, else often one with a build."""
    rare = [play for play in plays if play.build or play.builds]
    large = [play for play in plays if len(play.takes) > 1]
    among = large if clears and large else rare if rare and rng.random() < 0.7 else plays
    return among[rng.integers(len(among))]


@pytest.mark.parametrize("text", COUNTS)
def test_b1_counts_of_staged_actions(text: str) -> None:
    rules = ALL[text]
    deck = small_first(rules, np.random.default_rng(4))
    assert count(Game(rules, deck=map(card_name, deck)), 7) == COUNTS[text]
    assert count(Game(rules, deck=map(card_name, deck)), 4) == count_actions(Builder(rules, deck), 4)


def keep_promises(engine: Engine) -> int:
    """Assert that each owner holds a card of its build's value or plays one (B5); return how many builds there are."""
    state, found = engine.state, 0
    hand_value = engine.compiled["hand_value"][0]
    for value in range(1, 17):
        rows = np.flatnonzero(state.builds >> value & 1)
        owners = state.build_owner[rows, value]
        held = state.hands[rows, owners][:, hand_value == value].sum(1)
        pending = state.pending[rows]
        at_play = (pending != NO_CARD) & (state.seat[rows] == owners) & (hand_value[pending] == value)
        assert ((held > 0) | at_play).all()
        found += len(rows)
    return found


def play_on(rules: Rules, rows: int, steps: int) -> None:
    """Play random games, with builds preferred in half of them, and check every invariant and promise at every ply."""
    engine, rng, found = Engine(rules, rows, seed=5), np.random.default_rng(5), 0
    sizes = rules.deck_counts.astype(int)
    for step in range(steps):
        wishes = rng.random(engine.action_mask.shape) * engine.action_mask
        wishes[::2, BUILD:] *= 4
        engine.step(wishes.argmax(1))
        check_state(rules, engine.state)
        found += keep_promises(engine)
        built = (values_built(engine.state.built) != 0).sum(axis=0)
        assert (engine.state.table + built <= sizes).all()
        assert not built[engine.state.builds == 0].any()
        if step % 20 == 0:
            for seat in range(rules.players):
                shown = seen_by(engine, np.full(rows, seat))
                worlds = Engine.from_state(rules, determinize(shown, step, rules))
                assert keep_promises(worlds) == keep_promises(engine)
                again = seen_by(worlds, np.array([viewer_of(one, rules.players) for one in shown]))
                assert (again == shown).all()
            worlds = Engine.from_state(rules, determinize(engine.observation, step, rules))
            assert (worlds.action_mask == engine.action_mask).all()
    assert found > rows


@pytest.mark.parametrize("rules", ALL.values(), ids=str)
def test_b5_b6_promises_at_every_ply(rules: Rules) -> None:
    play_on(rules, 64, 150)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ALL.values(), ids=str)
def test_b5_b6_promises_for_a_million_plies(rules: Rules) -> None:
    play_on(rules, 512, 1_000_000 // 512 // len(ALL) + 1)


def test_b5_determinize_gives_the_owner_a_card_of_its_build_and_is_uniform() -> None:
    game = Game.from_position(
        "rules: mulle-glimne players=2; table: KH; hand 0: KC KD; hand 1: 9D 4C; stock: 9H QD JD 3H 2H 7D 6S 5S; "
        "build 9: 9C 5D 4D; owner 9: 1; captured 1: rest"
    )
    names = ["9D", "4C", "9H", "QD", "JD", "3H", "2H", "7D", "6S", "5S"]
    worlds = determinize(np.repeat(game.observation(0)[None], 6000, axis=0), 1, game.rules)
    held = Counter(tuple(np.repeat(np.arange(52), hand).tolist()) for hand in worlds.hands[:, 1])
    nines = {parse_card("9D"), parse_card("9H")}
    allowed = {tuple(sorted(pair)) for pair in combinations(map(parse_card, names), 2) if nines & set(pair)}
    assert set(held) == allowed
    expected = 6000 / len(allowed)
    assert sum((held[pair] - expected) ** 2 / expected for pair in allowed) < 40  # 16 degrees of freedom: p < 0.001
