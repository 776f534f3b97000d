"""What the tests of the relatives share: their rules, odd mixtures of fields, and play beside the slow reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv import Engine, Game, Rules
from krypenv.cards import NO_CARD, STOP, TAKE, card_name, parse_card
from krypenv.rewards import returns_of
from krypenv.state import allocate
from support.games import compare_play, stacked
from support.reference_builds import Builder
from support.reference_relatives import LILLAN, STORAN, Relative

PRESETS = ("kasino-sweden", "overspader", "kasino-finland", "mulle")
SEATINGS = ("players=2", "players=3", "players=4", "players=4 teams=2")
RELATIVES = {f"{name} {seats}": Rules.parse(f"{name} {seats}") for name in PRESETS for seats in SEATINGS}

MIXTURES = {  # of fields that no preset has together
    text: Rules.parse(text)
    for text in (
        "kasino-sweden players=2 goal=low",
        "kasino-sweden players=3 capture=maximal",
        "kasino-sweden players=2 capture=maximal forced_sweep=True sweep_payer=seat_before goal=low",
        "kasino-sweden players=2 forced_sweep=True",
        "kasino-sweden players=3 pictures_in_sums=False",
        "kasino-sweden players=2 set_aside=pictures initial_match_bonus=-5",
        "kasino-sweden players=2 ranks=(1,2,3,4) packs=2 first_deal=((2,2),) later_deal=((2,0),) short_last_deal=True",
        "overspader players=3 packs=2 short_last_deal=True double_sweep=rank sweep_points=2",
        "kasino-finland players=2 forced_sweep=True",
        "kasino-finland players=3 capture=maximal forced_sweep=True",
        "kasino-finland players=2 pictures_in_sums=False forced_sweep=True goal=low",
        "kasino-finland players=4 teams=2 packs=2 short_last_deal=True",
        "kasino-finland players=3 packs=2 short_last_deal=True sweep_limit=4",
        "kasino-finland players=2 ranks=(1,2,10) packs=2 first_deal=((2,2),) later_deal=((2,0),) short_last_deal=True",
        "mulle players=2 double_sweep=identical",
        "mulle players=3 capture=maximal",
        "krypkasino players=2 goal=high",
        "krypkasino players=3 capture=optional",
        "krypkasino players=2 capture=optional forced_sweep=False set_aside=spades",
        "krypkasino players=2 most_spades_points=2 most_cards_points=1 mulle_points=5",
        "krypkasino players=4 teams=2 goal=high spades_above=6 sweep_payer=nobody",
        "howto players=2 capture=optional lillan_hand_value=15 storan_hand_value=16",
        "howto players=2 capture=optional hand_values=((1,14),2,3,4,5,6,7,8,9,10,11,12,13)",
        "mini-low players=2 capture=optional table_values=((1,14),2,3,4,(5,6),6,7,8,9,10,11,12,13)",
        "mini-double players=3 capture=optional mulle_points=5 most_cards_points=1",
        "mini-high players=2 capture=optional hand_values=((1,14),2,3,4,5,6,7,8,9,10,11,12,13) goal=high",
    )
}

SESSIONS = {
    text: Rules.parse(text)
    for text in (
        "kasino-sweden players=2 games=0 threshold=16",
        "kasino-sweden players=3 games=2 threshold=11 goal=low",
        "kasino-sweden players=2 games=0 threshold=11 tie_break=play_on",
        "kasino-sweden players=2 games=2 threshold=11 tie_break=play_on",
        "kasino-sweden players=4 teams=2 games=0 threshold=16 tie_break=share",
        "overspader players=3 games=0 threshold=21",
        "overspader players=4 teams=2 games=3",
        "kasino-finland players=2 games=0 threshold=16",
        "kasino-finland players=3 games=0 threshold=16",
        "kasino-finland players=4 teams=2 games=0 threshold=16",
        "kasino-finland players=2 games=2 threshold=8 goal=low",
        "kasino-finland players=2 games=0 threshold=16 threshold_at_once=False tie_break=play_on",
        "kasino-finland players=2 threshold=3",
        "kasino-finland players=2 games=0 threshold=8 tie_break=play_on",
        "kasino-finland players=3 games=0 threshold=5 tie_break=play_on goal=low",
        "mulle players=2 games=2 tie_break=finnish",
        "mulle players=4 teams=2 games=0 threshold=40",
    )
}
SMALL = "ranks=(1,2,3,4,5,6) hand_values=(7,2,3,4,5,6,8,9,10,11,12,13,14) lillan_hand_value=8 short_last_deal=True"
BUILDING = {  # rules in which cards are built often
    text: Rules.parse(text)
    for text in (
        f"mulle-glimne players=2 {SMALL}",
        f"mulle-glimne players=4 teams=2 {SMALL}",
        "kasino-finland players=2 building=True",
        "kasino-finland players=3 building=True games=0 threshold=16",
        f"mulle players=3 building=True capture=optional table_values=(1,2,3,4,5,6,7,8,9,10,11,12,13) {SMALL}",
    )
}
SPADES = [f"{rank}S" for rank in "A23456789TJQK"]
GLIMNE = {text: Rules.parse(text) for text in ("mulle-glimne players=2", "mulle-glimne players=4 teams=2")}
ALL_RELATIVES = {**RELATIVES, **MIXTURES, **SESSIONS, **BUILDING, **GLIMNE}
LARGE = 11  # cards on a table that is brought down again: the reference tries all sets of them


def choose(reference: Relative, rng: np.random.Generator, style: str) -> int:
    """Return a legal action: any, one that takes much, or one that leaves much to choose; large tables are cleared."""
    legal = reference.legal_actions()
    clears = len(reference.table) > LARGE or style == "take"
    if reference.pending is not None:
        takes = [action for action in legal if action != STOP]
        return int(rng.choice(takes if takes and (clears or rng.random() < 0.5) else legal))
    if clears or (style == "choose" and rng.random() < 0.7):
        counts = {card: len(reference._plays_of(card)) for card in legal}
        most = max(counts.values())
        return int(rng.choice([card for card in legal if counts[card] == most]))
    return int(rng.choice(legal))


def play_beside(
    rules: Rules, seed: int, style: str, deck: list[int] | None = None, most: int | None = None
) -> dict[str, Any]:
    """Play a session in the engine, in `Game` and in the reference, and compare them at every ply; return the end.

    A deck given is that of a single game, which `Game` now and then takes up from its position. With `most`, play is
    broken off after so many plies, or at a table that is too large for the reference.
    """
    rng = np.random.default_rng(seed)
    if deck is None:
        engine, game = Engine(rules, 1, seed=[seed]), Game(rules, seed=seed)
    else:
        engine, game = stacked(rules, np.array([deck])), Game(rules, deck=[card_name(kind) for kind in deck])
    kind = Builder if rules.building else Relative
    reference = kind(rules, [parse_card(name) for name in game.deck])
    number, plies, points, sweeps = 1, 0, np.zeros(rules.players, int), np.zeros(rules.players, int)
    while True:
        compare_relative(engine, reference, number)
        if deck is not None and rng.random() < 0.1:
            game = Game.from_position(game.position())
        compare_game(game, reference)
        action = choose(reference, rng, style)
        reference.act(action)
        game.act(action)
        engine.step([action])
        plies += 1
        if most is not None and (plies >= most or len(reference.table) > LARGE + 2):
            return {"plies": plies, "games": number, "reference": reference}
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
        reference = kind(
            rules,
            [parse_card(name) for name in game.deck],
            (reference.dealer + 1) % rules.players,
            reference.new_totals(),
        )
    assert engine.final_scores[0].tolist() == reference.new_totals()
    assert engine.final_points[0].tolist() == points.tolist()
    assert engine.final_sweeps[0].tolist() == sweeps.tolist()
    won = returns_of(rules, engine.final_scores, "win", engine.final_tie_breaks)[0]
    winners = reference.winners()
    assert won.tolist() == [(seat % rules.num_teams in winners) / len(winners) for seat in range(rules.players)]
    return {"plies": plies, "games": number, "reference": reference, "winners": winners}


def compare_relative(engine: Engine, reference: Relative, number: int) -> None:
    """Assert that row 0 of an engine stands where the reference stands, and that the observation says so (K7)."""
    compare_play(engine, reference)
    rules, state, seat = engine.rules, engine.state, reference.turn
    players = rules.players
    seen = {name: engine.observation[0][part].tolist() for name, part in rules.layout.items()}
    seats = [(seat + place) % players for place in range(players)]
    bonus = [reference.bonus * (other == reference.leader) for other in range(players)]
    mulles = [rules.mulle_points * count for count in reference.mulles]
    expected = {
        "points": [reference.points(other) + bonus[other] + mulles[other] for other in seats],
        "cards_won": [reference.cards_won()[other] for other in seats],
        "spades_won": [reference.spades_won()[other] for other in seats],
        "counted_sweeps": [reference.sweeps[other] - reference.void[other] for other in seats],
        "mulles": [reference.mulles[other] for other in seats],
        "totals": [reference.totals[other] for other in seats],
    }
    if "mulle_scores" in seen:
        expected["mulle_scores"] = [reference.mulle_scores[other] for other in seats]
    if isinstance(reference, Builder):
        compare_builds(seen, reference)
    for name, numbers in expected.items():
        shown = np.clip(numbers, -127, 127).tolist()
        assert seen.get(name, shown)[:players] == shown, name
    assert state.totals[0, :players].tolist() == reference.totals
    assert (state.game_number[0], state.deal_number[0]) == (number, reference.deal_number)
    assert state.next_card[0] == rules.deck_size - len(reference.stock)
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
        multiple[pile.value - 1] = int(len(pile.groups) > 1)
        for card in pile.cards:
            lying[card].append(pile.value)
    assert [(*values, 0, 0)[:2] for values in lying] == list(zip(seen["built"], seen["built_twin"], strict=True))
    assert (seen["build_owner"], seen["build_multiple"]) == (owners, multiple)
    assert seen["building"] == [next((action - 105 for action in reference.done if 105 <= action < 122), 0)]


def special_kinds(rules: Rules) -> set[int]:
    """Return the kinds whose hand value is not that of their rank (F1)."""
    named = {LILLAN: rules.lillan_hand_value, STORAN: rules.storan_hand_value}
    return {kind for kind, value in named.items() if value is not None}


def compare_game(game: Game, reference: Relative) -> None:
    """Assert that a `Game` stands where the reference stands."""

    def names(kinds: list[int]) -> list[str]:
        return [card_name(kind) for kind in sorted(kinds)]

    assert game.turn == reference.turn
    assert game.is_over == reference.over
    if isinstance(reference, Builder):
        piles = sorted(reference.builds)
        assert game.builds == [
            (pile.value, names(list(pile.cards)), pile.owner, len(pile.groups) > 1) for pile in piles
        ]
        reference.check_promises()
    assert game.legal_actions() == mask(game) == reference.legal_actions()
    assert game.table == names(reference.table)
    assert game.set_aside == names(reference.aside)
    assert game.stock_size == len(reference.stock)
    assert game.scores() == reference.scores()
    assert game.taken == names(reference.taken)
    assert (-1 if game.last_capturer is None else game.last_capturer) == reference.last_capturer
    for seat in range(game.rules.players):
        assert game.hand(seat) == names(reference.hands[seat])
        assert game.points(seat) == reference.points(seat)
        assert game.sweeps(seat) == reference.sweeps[seat]
        assert game.counted_sweeps(seat) == reference.sweeps[seat] - reference.void[seat]
        assert game.mulles(seat) == reference.mulles[seat]
        if game.rules.mulle_by_value:
            assert game.mulle_scores(seat) == reference.mulle_scores[seat]
        if reference.pending is None:
            assert game.captured(seat) == names(reference.captured[seat])
            assert game.pile_counts(seat) == (reference.cards_won()[seat], reference.spades_won()[seat])


# ---------------------------------------------------------------------- positions, by hand


def lay(rules: str, table: str, *hands: str, more: str = "captured 1: rest; stock: -") -> Game:
    """Return a game with some table and hands of the first seats; what is named nowhere lies where `more` says."""
    held = "; ".join(f"hand {seat}: {cards or '-'}" for seat, cards in enumerate(hands))
    return Game.from_position(f"rules: {rules}; table: {table or '-'}; {held}; {more}")


def captures(game: Game, card: str) -> set[str]:
    """Return what a card of the seat to act may take, by all sequences of staged actions; empty for nothing."""
    found: set[str] = set()

    def go_on(at: Game, action: int) -> None:
        twin = at.copy()
        twin.act(action)
        if twin.pending:
            for following in np.flatnonzero(twin.action_mask()).tolist():
                go_on(twin, following)
        else:
            assert twin.last_move is not None
            takes = " ".join(twin.last_move.takes)
            assert takes not in found or game.rules.capture == "maximal", f"{takes} is reached in two ways"
            found.add(takes)

    go_on(game, parse_card(card))
    return found


def play(game: Game, card: str, takes: str = "") -> list[int]:
    """Play a card that takes some cards, in ascending order; return what each seat's score changes by."""
    before = game.scores()
    game.act(parse_card(card))
    for kind in sorted(map(parse_card, takes.split())):
        if game.pending:
            game.act(TAKE + kind)
    if game.pending:
        game.act(STOP)
    assert game.last_move is not None
    assert game.last_move.card == card
    assert sorted(game.last_move.takes) == sorted(takes.split())
    return [now - then for now, then in zip(game.scores(), before, strict=True)]


def finish(rules: str, *piles: str, last: str = "KC", table: str = "KD", **entries: str) -> Engine:
    """Return an engine after the last play of a game, in which the last seat takes the table or trails.

    `piles` are those before it, of all seats; "rest" is all other cards. Rewards are those of "win".
    """
    told = {f"captured {seat}": cards for seat, cards in enumerate(piles)} | {"stock": "-", "last-capturer": "0"}
    told |= {key.replace("_", "-"): text for key, text in entries.items()}
    hands = [""] * (len(piles) - 1) + [last]
    game = lay(rules, table, *hands, more="; ".join(f"{key}: {text}" for key, text in told.items()))
    state = allocate(1)
    state[0] = game.state
    engine = Engine.from_state(game.rules, state, reward="win")
    engine.step([parse_card(last)])
    while engine.state.pending[0] != NO_CARD and not engine.finished[0]:
        engine.step([np.flatnonzero(engine.action_mask[0])[0]])
    return engine


def scores(engine: Engine) -> list[int]:
    """Return the scores of the session that has ended in row 0 of an engine, or of the last one."""
    return [int(score) for score in engine.final_scores[0]]


def mask(game: Game) -> list[int]:
    """Return the legal actions of the seat to act."""
    return [int(action) for action in np.flatnonzero(game.action_mask())]


def deal(game: Game, number: int) -> None:
    """Play a game to its deal with this number: everybody trails."""
    while game.deal_number < number:
        game.act(mask(game)[-1])
