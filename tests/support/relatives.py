"""What the tests of the relatives share: their rules, odd mixtures of fields, and positions laid out by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from krypenv import Engine, Game, Rules
from krypenv.cards import NO_CARD, card_name, parse_card
from krypenv.state import allocate
from support.games import lay, small_first

PRESETS = ("kasino-sweden", "overspader", "kasino-finland", "laistokasino", "mulle")
SEATINGS = ("players=2", "players=3", "players=4", "players=4 teams=2")
RELATIVES = {f"{name} {seats}": Rules.parse(f"{name} {seats}") for name in PRESETS for seats in SEATINGS}
OPTIONAL = {text: rules for text, rules in RELATIVES.items() if rules.capture == "optional"}

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
        "krypkasino players=3 games=3",
        "howto players=2 games=0 threshold=60",
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
        "laistokasino players=2 games=0 threshold=16",
        "laistokasino players=3 games=0 threshold=16",
        "laistokasino players=4 teams=2 games=0 threshold=16",
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


# ---------------------------------------------------------------------- positions, by hand


def captures(game: Game, card: str) -> set[str]:
    """Return what a card of the seat to act may take; empty for nothing."""
    return {" ".join(move.takes) for move in game.legal_moves() if move.card == card}


def finish(rules: str, *piles: str, last: str = "KC", table: str = "KD", **entries: str) -> Engine:
    """Return an engine after the last play of a game, in which the last seat takes the table or trails.

    `piles` are those before it, of all seats; "rest" is all other cards. Rewards are those of "win".
    """
    told = {f"captured {seat}": cards for seat, cards in enumerate(piles)} | {"stock": "-", "last-capturer": "0"}
    told |= {key.replace("_", "-"): text for key, text in entries.items()}
    hands = [""] * (len(piles) - 1) + [last]
    game = lay(table, *hands, rules=rules, more="; ".join(f"{key}: {text}" for key, text in told.items()))
    state = allocate(1)
    state[0] = game.state
    engine = Engine.from_state(game.rules, state, reward="win")
    engine.step([parse_card(last)])
    while engine.state.pending[0] != NO_CARD and not engine.finished[0]:
        engine.step([np.flatnonzero(engine.action_mask[0])[0]])
    return engine


def deal(game: Game, number: int) -> None:
    """Play a game to its deal with this number: everybody trails."""
    while game.deal_number < number:
        game.act(game.legal_actions()[-1])


# ---------------------------------------------------------------------- builds

LARGE = 7  # loose cards on a table whose moves the tests list


def building_positions(rules: Rules, seed: int) -> Iterator[Game]:
    """A game at each of its plays; whoever can build often does."""
    rng = np.random.default_rng(seed)
    game = Game(rules, deck=map(card_name, small_first(rules, rng)))
    while not game.is_over:
        if len(game.table) > LARGE:  # a table that grows too large is left to the actions
            game.act(int(rng.choice(np.flatnonzero(game.action_mask()))))
            continue
        yield game
        moves = game.legal_moves()
        builds = [move for move in moves if move.build is not None or move.builds]
        chosen = builds if builds and rng.random() < 0.6 else moves
        game.push(chosen[int(rng.integers(len(chosen)))])


def at(table: str, *hands: str, rules: str = "mulle-glimne players=2", **more: str) -> Game:
    """Return a position where the other cards lie in the pile of seat 1; `build_9` and `owner_9` tell of a build."""
    told = {name.replace("_", " "): text for name, text in more.items()}
    told = {"captured 1": "rest", "stock": "-"} | told
    return lay(table, *hands, rules=rules, more="; ".join(f"{key}: {text}" for key, text in told.items()))
