"""A position that is being set up: what can be read of its text, and the text after each change of it."""

from __future__ import annotations

import dataclasses
from functools import cache
from itertools import accumulate
from random import Random
from typing import NamedTuple

from krypenv.cards import NUM_KINDS, card_name, parse_card
from krypenv.families.variants import MOST_PLAYERS
from krypenv.game.game import Game
from krypenv.game.positions import keys_of, rules_in, zones_of
from krypenv.inputs.words import shown
from krypenv.notation import Entries, NotationError
from krypenv.rules import Rules
from krypenv.ui.study.entries import with_entry

REST = "rest"  # what the zone of all cards that are named nowhere else has in their place
OF_SEATS = ("sweeps", "counted", "mulles", "mulle-scores", "bonus", "totals")  # entries of a number for each seat
FOLLOWING = ("deal", "turn")  # entries that say again what the stock and the hands say


class Board(NamedTuple):
    """What can be read of a position that need not be complete."""

    entries: Entries
    rules: Rules
    zones: dict[str, list[str]]  # the cards in each zone by their names
    rest: str  # the zone of all cards that are named nowhere else; empty if none

    @property
    def left(self) -> list[int]:
        """How many cards of each kind are named nowhere; less than 0 where too many are named."""
        counts = self.rules.deck_counts.tolist()
        for names in self.zones.values():
            for name in names:
                counts[parse_card(name)] -= 1
        return counts

    @property
    def stock(self) -> int:
        """How many cards are in the stock."""
        return sum(max(0, count) for count in self.left) if self.rest == "stock" else len(self.zones["stock"])

    @property
    def deals(self) -> list[int]:
        """How many cards the stock has in each deal."""
        dealt = accumulate(sum(hands) + table for hands, table in self.rules.deal_sizes())
        return [self.rules.deck_size - count for count in dealt]


def read_board(text: str) -> Board:
    """Return what lies where by a position's text; raises NotationError for what can't be read."""
    entries = Entries.read(text)
    rules = rules_in(entries)
    keys = zones_of(rules)
    rest = [key for key in keys if entries.value(key) == REST]
    zones = {key: [] if key in rest else [card_name(kind) for kind in entries.parse_cards(key)] for key in keys}
    return Board(entries, rules, zones, rest[0] if rest else "")


def fault_of(entries: Entries, error: NotationError) -> str:
    """Return the key of the entry that an error is about; empty if its line has several, or none."""
    keys = [key for key, (line, _) in entries.entries.items() if line == error.line]
    return keys[0] if len(keys) == 1 and error.line != entries.last_line else ""


# ---------------------------------------------------------------------- positions to begin with


def empty(rules: Rules) -> str:
    """Return the text of a position without a card."""
    seats = range(rules.players)
    zones = [*(f"hand {seat}" for seat in seats), "table", *["aside"] * bool(rules.aside_kinds.any())]
    zones += [*(f"captured {seat}" for seat in seats), "stock"]
    return "".join([f"rules: {rules}\n", f"dealer: {rules.players - 1}\n", *(f"{zone}: -\n" for zone in zones)])


def dealt(rules: Rules) -> str:
    """Return the position after the first cards were dealt, at random."""
    return Game(rules).position()


# ---------------------------------------------------------------------- cards


def put(text: str, board: Board, card: str, to: str, source: str | None = None) -> str:
    """Return the text after a card was put somewhere; "" is where cards are that are named nowhere.

    Without a source, it comes from those that are named nowhere, or else from another zone. If it is there already, it
    is taken away. Raises ValueError for a zone that the rules don't have.
    """
    name = card_name(parse_card(card))
    for zone in (to, source):
        if zone and zone not in board.zones:
            raise ValueError(f"in these rules a position has no {shown(zone)}")
    if source is None:
        holders = [zone for zone, names in board.zones.items() if name in names]
        source = "" if board.left[parse_card(name)] > 0 else to if to in holders else (holders or [""])[0]
        to = "" if source == to else to
    is_there = name in board.zones[source] if source else board.left[parse_card(name)] > 0
    if not is_there or source == to:
        return text
    if source:
        names = list(board.zones[source])
        names.remove(name)
        text = with_entry(text, source, " ".join(names) or "-")
    if to and to != board.rest:
        text = with_entry(text, to, " ".join([*board.zones[to], name]))
    return text


def with_rest(text: str, board: Board, zone: str) -> str:
    """Return the text in which all other cards are in a zone; if they are there already, they are there no more."""
    if zone not in board.zones:
        raise ValueError(f"in these rules a position has no {shown(zone)}")
    for each in board.zones:
        if board.entries.value(each) == REST:
            text = with_entry(text, each, "-")
    return text if zone == board.rest else with_entry(text, zone, REST)


def with_deal(text: str, board: Board, deal: int, chance: Random) -> str:
    """Return the text with as many cards in the stock as in a deal, new ones at random of those named nowhere else."""
    if not 1 <= deal <= len(board.deals):
        raise ValueError(f"a game by these rules has {len(board.deals)} deals, and deal {deal} is none of them")
    size, stock = board.deals[deal - 1], board.zones["stock"]
    pool = [card_name(kind) for kind in range(NUM_KINDS) for _ in range(board.left[kind])]
    chance.shuffle(pool)
    names = [*pool[: max(0, size - len(stock))], *stock[max(0, len(stock) - size) :]]
    text = with_entry(text, "stock", " ".join(names) or "-")
    return with_entry(text, "deal", str(deal)) if "deal" in board.entries.entries else text


# ---------------------------------------------------------------------- whose turn, and other entries


def with_turn(text: str, board: Board, seat: int) -> str:
    """Return the text with the dealer by whom it is a seat's turn; while hands are missing, this seat is to lead."""
    players = board.rules.players
    if not 0 <= seat < players:
        raise ValueError(f"there is no seat {seat}")
    text = with_entry(text, "turn", None)
    leading = with_entry(text, "dealer", str((seat - 1) % players))
    for step in range(players):
        tried = with_entry(text, "dealer", str((seat - 1 - step) % players))
        try:
            game = Game.from_position(tried)
        except NotationError:
            continue
        if not game.is_over and game.turn == seat:
            return tried
    return leading


def with_value(text: str, board: Board, key: str, value: str) -> str:
    """Return the text with another value of an entry, none for an empty one; raises ValueError for an unknown key."""
    if key not in keys_of(board.rules) or key == "rules":
        raise ValueError(f"{shown(key)} is no entry that can be set here")
    if set(value) & set("#;"):
        raise ValueError(f"an entry has no '#' and no ';', and {shown(value)} has")
    return with_entry(text, key, value.strip() or None)


def with_number(text: str, board: Board, key: str, seat: int, number: int) -> str:
    """Return the text with another number of a seat in an entry that has one for each."""
    if key not in OF_SEATS or not 0 <= seat < board.rules.players:
        raise ValueError(f"{shown(key)} has no number of seat {seat}")
    numbers = board.entries.numbers(key, board.rules.players)
    numbers[seat] = number
    return with_entry(text, key, " ".join(map(str, numbers)))


# ---------------------------------------------------------------------- rules


@cache
def counts_of(preset: str) -> dict[int, Rules]:
    """Return the rules of a preset by the number of players."""
    found = {}
    for players in range(2, MOST_PLAYERS[preset] + 1):
        for more in ({}, {"teams": 2}):
            try:
                found[players] = Rules.preset(preset, players=players, **more)
                break
            except ValueError:
                continue
    return found


def with_preset(text: str, board: Board, preset: str) -> str:
    """Return the text with the rules of a preset, for as many players if it is for so many."""
    if preset not in MOST_PLAYERS:
        raise ValueError(f"the presets are {', '.join(MOST_PLAYERS)}, not {shown(preset)}")
    known = counts_of(preset)
    return with_rules(text, board, known.get(board.rules.players) or next(iter(known.values())))


def with_players(text: str, board: Board, players: int) -> str:
    """Return the text for another number of players, with the other fields of the rules where they allow that."""
    known = counts_of(board.rules.name)
    if players not in known:
        raise ValueError(f"{board.rules.name} is for {', '.join(map(str, known))} players, not for {players}")
    try:
        rules = dataclasses.replace(board.rules, players=players)
    except ValueError:
        rules = known[players]
    return with_rules(text, board, rules)


def with_rules(text: str, board: Board, rules: Rules) -> str:
    """Return the text by other rules, without the entries, seats and cards that they don't have."""
    known, left, players = keys_of(rules), rules.deck_counts.tolist(), rules.players
    for key in board.entries.entries:
        if key not in known or key in FOLLOWING:
            text = with_entry(text, key, None)
    for zone, names in board.zones.items():
        if zone not in known or zone == board.rest or not names:
            continue
        kept = []
        for name in names:
            left[parse_card(name)] -= 1
            if left[parse_card(name)] >= 0:
                kept.append(name)
        text = with_entry(text, zone, " ".join(kept) or "-")
    for key in OF_SEATS:
        words = board.entries.value(key).split()
        if words and key in known:
            text = with_entry(text, key, " ".join([*words, *["0"] * players][:players]))
    for seat in range(players):
        for zone in (f"hand {seat}", f"captured {seat}"):
            if zone not in board.entries.entries:
                text = with_entry(text, zone, "-")
    if rules.aside_kinds.any() and "aside" not in board.entries.entries:
        text = with_entry(text, "aside", "-")
    for key in ("dealer", "last-capturer", *(key for key in known if key.startswith("owner "))):
        said = board.entries.value(key)
        if said.isdecimal() and int(said) >= players:
            text = with_entry(text, key, str(players - 1) if key == "dealer" else None)
    return with_entry(text, "rules", str(rules))
