"""Positions of a game as text that a person can read and write (docs/notation.md), and back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from krypenv.cards import MAX_BUILD, NO_CARD, NO_SEAT, NUM_KINDS, RANK_NAMES, card_name, parse_rank, rank_of
from krypenv.families.bounds import LILLAN, STORAN
from krypenv.game.present import spades_in
from krypenv.game.stack import resume_stack
from krypenv.inputs.words import is_whole, shown
from krypenv.kernels import decision_checks as checks
from krypenv.kernels.builds import JOINED
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import compile_rules, pack_ranks
from krypenv.kernels.scoring import are_best, settle_game
from krypenv.notation import Entries
from krypenv.rewards import LAST_GAME
from krypenv.rules import Rules
from krypenv.runtime.jit import handle
from krypenv.state import MAX_DECK, allocate, seed_game

if TYPE_CHECKING:
    from krypenv.game.game import Game

MOST_POINTS = 999_999  # the largest absolute value of a total
AT_ONCE = "at once"  # how a game can have ended (F6)
REST = "rest"  # the zone of all cards that are named nowhere else
CLASSES = (*RANK_NAMES, card_name(LILLAN), card_name(STORAN))  # by class (`rank_classes`)
_REASONS = {
    **checks.FAULTS,
    checks.LEGAL: "the seat to act has nothing to choose from",
    checks.HOLDS: "a seat holds a rank that it can't hold, or no card of the value of a build that it owns",
}


def format_position(game: Game) -> str:
    """Write a game's position as lines ``key: value``."""
    state, rules, seats = game.state, game.rules, range(game.rules.players)
    entries: dict[str, Any] = {"rules": rules, "deal": game.deal_number, "dealer": game.dealer}
    entries["turn"] = "-" if game.is_over else game.turn
    entries |= {f"hand {seat}": game.hand(seat) for seat in seats} | {"table": game.table}
    entries |= {f"build {value}": cards for value, cards, _, _ in game.builds}
    entries |= {f"owner {value}": owner for value, _, owner, _ in game.builds}
    entries |= {"aside": game.set_aside} | {f"captured {seat}": game.captured(seat) for seat in seats}
    entries["sweeps"] = [*map(game.sweeps, seats)]
    if game.compiled["judges_sweeps"][0]:
        entries["counted"] = [*map(game.counted_sweeps, seats)]
    if "mulles" in rules.layout:
        entries["mulles"] = [*map(game.mulles, seats)]
    if rules.mulle_by_value:
        entries["mulle-scores"] = [*map(game.mulle_scores, seats)]
    entries["last-capturer"] = "-" if game.last_capturer is None else game.last_capturer
    entries |= {f"cannot-hold {seat}": barred for seat in seats if (barred := barred_names(game, seat))}
    if game.pending:
        entries |= {"pending": game.pending} | ({"building": game.building} if game.building else {})
        entries["took"] = game.taken
    entries |= {key: state[key][: len(seats)].tolist() for key in ("bonus", "totals") if state[key].any()}
    if game.game_number > 1:
        entries["game"] = game.game_number
    if game.ended_at_once:
        entries["ended"] = AT_ONCE
    entries["stock"] = game.deck[rules.deck_size - game.stock_size :]
    texts = {key: " ".join(map(str, value)) if isinstance(value, list) else value for key, value in entries.items()}
    return "".join(f"{key}: {'-' if text == '' else text}\n" for key, text in texts.items())


def barred_names(game: Game, seat: int) -> list[str]:
    """List the ranks that a hand is known not to hold (R10), with 2S and TD where these have values of their own."""
    barred = int(game.state["cannot_hold"][seat])
    return [name for number, name in enumerate(CLASSES) if barred >> number & 1]


def zones_of(rules: Rules) -> list[str]:
    """List the keys of a position whose values are cards."""
    seats, values = range(rules.players), range(1, MAX_BUILD + 1) if rules.building else ()
    zones = [*(f"hand {seat}" for seat in seats), *(f"captured {seat}" for seat in seats)]
    return [*zones, "table", "aside", "stock", "pending", *(f"build {value}" for value in values)]


def keys_of(rules: Rules) -> list[str]:
    """List all keys of a position."""
    others = ["rules", "deal", "dealer", "turn", "sweeps", "last-capturer", "took", "bonus", "game", "totals"]
    others += ["counted", "mulles", "ended"] + (["mulle-scores"] if rules.mulle_by_value else [])
    values = range(1, MAX_BUILD + 1) if rules.building else ()
    others += [f"owner {value}" for value in values] + ["building"] * rules.building
    return [*zones_of(rules), *others, *(f"cannot-hold {seat}" for seat in range(rules.players))]


def parse_position(text: str, kind: type[Game]) -> Game:
    """Parse a position to a game, an instance of `kind`.

    Raises NotationError, with the line and the reason, if it is not a position or if play can't lead to it.
    """
    return _Position.read(text).game(kind)


def rules_in(entries: Entries, key: str = "rules") -> Rules:
    """Read the rules in the entries of a position, or in the tags of a record."""
    entries.check(key in entries.entries, key, "there is no entry 'rules', as in 'rules: krypkasino players=2'")
    try:
        return Rules.parse(entries.value(key))
    except ValueError as error:
        raise entries.fail(key, error) from None


def session_in(entries: Entries, rules: Rules, key: str = "game", sums: str = "totals") -> tuple[int, list[int]]:
    """Read the number of the game in its session, and the totals before it by seat."""
    [number], totals = entries.numbers(key, 1, 1), entries.numbers(sums, rules.players)
    reason = check_session(rules, number, totals)
    entries.check(not reason, key if key in entries.entries else sums, reason)
    return number, totals


def check_session(rules: Rules, number: int, totals: Sequence[int]) -> str:
    """Write the fault of a game's number in its session, or of the totals before it; empty for none."""
    if not isinstance(totals, (list, tuple)) or len(totals) != rules.players:
        return f"totals are one for each of the {rules.players} seats, not {shown(totals)}"
    if not is_whole(number, 1, rules.games or LAST_GAME):
        return f"game {shown(number)} is none of the session's {rules.games or LAST_GAME} games"
    if not all(is_whole(total, -MOST_POINTS, MOST_POINTS) for total in totals):
        return f"totals are whole numbers from -{MOST_POINTS} to {MOST_POINTS}"
    if number == 1 and any(totals):
        return "the totals before the first game are 0"
    sides = [sum(totals[side :: rules.num_teams]) for side in range(rules.num_teams)]
    goes_on = rules.tie_break == "play_on" and are_best(rules, np.array(sides)).sum() > 1
    if rules.threshold is not None and max(sides) >= rules.threshold and not goes_on:
        return f"the session was over when a total reached {rules.threshold}"
    return ""


class _Position(Entries):
    """The entries of a position, and the state that they make. Whether play can lead to it is checked at the end."""

    def game(self, kind: type[Game]) -> Game:
        """Make the game."""
        self.rules = rules_in(self)
        known = keys_of(self.rules)
        for key in self.entries:
            self.check(key in known, key, f"{shown(key)} is no key of a position; the keys are {', '.join(known)}")
        stock = self.read_cards()
        game = kind.at_row(self.rules, handle(self.state(stock))[0])
        game.piles_before[:] = [self.counts[f"captured {seat}"] for seat in range(self.rules.players)]
        seed_game(game.state, np.uint64(secrets.randbits(64)))  # later games of the session are dealt at random
        fault = resume_stack(game.compiled, game.states, handle(allocate(1)), borrow_scratch())
        if fault != checks.SOUND:
            raise self.fail("", _REASONS[fault])
        for key, number in (("deal", game.deal_number), ("turn", game.turn)):
            [given] = self.numbers(key, 1, NO_SEAT)
            is_given = key in self.entries
            right = f"{key}: {'-' if number == NO_SEAT else number}"
            self.check(not is_given or given == number, key, f"by the hands and the stock it is {right!r}")
        game.origin = format_position(game)
        return game

    def read_cards(self) -> list[int]:
        """Read the counts of the kinds in each zone, which together are the deck; return the stock in deal order."""
        zones, deck = zones_of(self.rules), self.rules.deck_counts
        kinds = {key: [] if self.value(key) == REST else self.parse_cards(key) for key in zones}
        self.counts = {key: np.bincount(np.array(cards, np.int64), minlength=NUM_KINDS) for key, cards in kinds.items()}
        left = deck.astype(np.int64) - np.array([*self.counts.values()]).sum(axis=0)
        for kind in np.flatnonzero(left < 0).tolist():
            key = next(key for key in reversed(zones) if self.counts[key][kind])
            raise self.fail(key, f"{card_name(kind)} is here once too often; the deck has {deck[kind]} of it")
        unnamed = np.repeat(np.arange(NUM_KINDS), left).tolist()
        rest = sorted((key for key in zones if self.value(key) == REST), key=self.line_of)
        if rest:
            self.check(len(rest) == 1, rest[-1], f"{rest[0]!r} is the rest already, and one zone can be that")
            kinds[rest[0]], self.counts[rest[0]] = unnamed, left
        elif unnamed:
            some = ", ".join(card_name(kind) for kind in unnamed[:5]) + " ..." * (len(unnamed) > 5)
            raise self.fail("", f"{len(unnamed)} cards are missing ({some}); name them, or call one zone 'rest'")
        return kinds["stock"]

    def seat(self, key: str, default: int) -> int:
        """Read the seat in an entry; the default stands for ``-``, or if it is missing."""
        [seat] = self.numbers(key, 1, default)
        self.check(seat == default or 0 <= seat < self.rules.players, key, f"there is no seat {seat}")
        return seat

    def state(self, stock: list[int]) -> np.recarray:
        """Make the state, (1,)."""
        rules, counts, players = self.rules, self.counts, self.rules.players
        compiled = compile_rules(rules)[0]
        rows = allocate(1)
        state = rows[0]
        state.dealer, state.last_card = self.seat("dealer", players - 1), NO_CARD
        state.last_seat, state.cut_short = NO_SEAT, bool(self.value("ended"))
        self.check(self.value("ended") in ("", AT_ONCE), "ended", f"a game can have ended {AT_ONCE!r} (F6)")
        self.read_turn(state, len(stock))
        for seat in range(players):
            hand, pile = counts[f"hand {seat}"], counts[f"captured {seat}"]
            state.hands[seat], state.hand_size[seat] = hand, hand.sum()
            state.hand_kinds[seat] = sum(1 << int(kind) for kind in np.flatnonzero(hand))
            state.points[seat] = pile @ rules.card_points
            if compiled["counts_piles"]:
                state.cards_won[seat], state.spades_won[seat] = pile.sum(), spades_in(pile)
            state.cannot_hold[seat] = self.read_cannot_hold(seat)
        state.table, state.set_aside = counts["table"], counts["aside"]
        state.table_ranks = pack_ranks(
            [rank_of(kind) for kind in np.repeat(np.arange(NUM_KINDS), counts["table"]).tolist()]
        )
        state.table_sum = counts["table"] @ compiled["sum_value"]
        dealt = rules.deck_counts - counts["stock"]
        state.seen = dealt - sum(counts[f"hand {seat}"] for seat in range(players))
        state.deck[: rules.deck_size] = [*np.repeat(np.arange(NUM_KINDS), dealt), *stock]
        self.read_begun(state)
        self.read_captures(state)
        self.read_builds(state, compiled)
        state.game_number, state.totals[:players] = session_in(self, rules)
        if state.over and not state.cut_short:
            settle_game(compiled, handle(rows)[0])
        self.read_bonus(state)
        return rows

    def read_turn(self, state: Any, stock: int) -> None:
        """Find the deal from the stock, and the turn from the sizes of the hands."""
        rules, sizes, players = self.rules, self.rules.deal_sizes(), self.rules.players
        dealt = np.cumsum([sum(hands) + table for hands, table in sizes]).tolist()
        state.next_card = rules.deck_size - stock
        whole = ", ".join(str(dealt[-1] - size) for size in dealt)
        self.check(state.next_card in dealt, "stock", f"the stock has {stock} cards, and between deals it has {whole}")
        state.deal_number = deal = dealt.index(state.next_card) + 1
        leader, hands = (int(state.dealer) + 1) % players, sizes[deal - 1][0]
        order = [
            (leader + place) % players for turn in range(max(hands)) for place in range(players) if hands[place] > turn
        ]
        held = sum(int(self.counts[key].sum()) for key in self.counts if key == "pending" or key.startswith("hand"))
        plays = len(order) - held  # whole ones, in this deal
        self.check(plays >= 0, "hand 0", f"the hands have {held} cards, and the deal gave them {len(order)}")
        piles = any(self.counts[f"captured {seat}"].any() for seat in range(players))
        self.check(plays or deal > 1 or not piles, "captured 0", "no card has been played, so no pile has any")
        apart, laid = int(self.counts["table"][rules.aside_kinds].sum()), sizes[deal - 1][1] * (deal > 1)
        reason = f"{apart} cards on the table should have been set aside; {plays + laid} at most can be new"
        self.check(apart <= plays + laid, "table", reason)
        is_put_aside = not np.delete(self.counts["aside"], rules.aside_kinds).any()
        self.check(is_put_aside, "aside", "these rules don't put such cards aside")

        state.over = plays == len(order) or state.cut_short
        state.seat = order[plays - 1] if state.over else order[plays]  # at the end it is the one that played last

    def read_begun(self, state: Any) -> None:
        """Read the unfinished play: its card, what it has taken, and the build that it makes (B2)."""
        [*pending], took = np.flatnonzero(self.counts["pending"]), self.parse_cards("took")
        self.check(self.counts["pending"].sum() < 2, "pending", "one card is pending at most")
        state.pending = pending[0] if pending else NO_CARD
        [state.build_value] = self.numbers("building", 1, most=MAX_BUILD)
        for key, begun in (("took", took), ("building", state.build_value)):
            self.check(pending or not begun, key, "there is no card pending that takes or builds anything")
        taken = np.bincount(np.array(took, np.int64), minlength=NUM_KINDS)
        on_table = (taken <= self.counts["table"]).all()
        self.check(on_table, "took", "what the pending card has taken is still among the cards of the table")
        state.taken, state.taken_ranks = taken, pack_ranks([rank_of(kind) for kind in took])

    def read_captures(self, state: Any) -> None:
        """Read who captured last, and who made which sweeps and mulles."""
        players = self.rules.players
        piles = [self.counts[f"captured {seat}"] for seat in range(players)]
        capturers = [seat for seat in range(players) if piles[seat].any()]
        state.last_capturer = self.seat("last-capturer", capturers[0] if len(capturers) == 1 else NO_SEAT)
        known = f"the last capture is one of seat {' or '.join(map(str, capturers))}; say which in 'last-capturer'"
        self.check(state.last_capturer in capturers or not capturers, "last-capturer", known)
        sweeps, mulles = (self.numbers(key, players, most=MAX_DECK) for key in ("sweeps", "mulles"))
        counted = self.numbers("counted", players, most=MAX_DECK) if self.value("counted") else sweeps
        for seat, pile in enumerate(piles):
            self.check(pile.sum() != 1, f"captured {seat}", "a pile has two cards at least, one played and one taken")
            can_be = sweeps[seat] <= pile.sum() and mulles[seat] <= (pile // 2).sum()
            self.check(can_be, "sweeps", f"seat {seat} can't have made so many sweeps or mulles")
        state.sweeps[:players], state.void_sweeps[:players] = sweeps, np.subtract(sweeps, counted)
        state.mulles[:players] = mulles
        state.mulle_scores[:players] = self.numbers("mulle-scores", players, most=MAX_BUILD * MAX_DECK)

    def read_bonus(self, state: Any) -> None:
        """Read the points that belong to no card; those of the end (V2, K5) are settled, and H5 adds its own."""
        settled = state.bonus[: self.rules.players].tolist()
        given = self.numbers("bonus", self.rules.players) if "bonus" in self.entries else settled
        leader = (int(state.dealer) + 1) % self.rules.players
        for seat, (points, known) in enumerate(zip(given, settled, strict=True)):
            allowed = points == known or (seat == leader and points - known == self.rules.initial_match_bonus)
            self.check(allowed, "bonus", f"seat {seat} can't have a bonus of {points} here")
        state.bonus[: self.rules.players] = given

    def read_cannot_hold(self, seat: int) -> int:
        """Read the classes, most of them ranks, that a seat is known not to hold (R10), as bits."""
        key, barred = f"cannot-hold {seat}", 0
        for name in self.value(key).upper().split():
            try:
                barred |= 1 << (CLASSES.index(name) if name in CLASSES else parse_rank(name) - 1)
            except ValueError as error:
                raise self.fail(key, error) from None
        return barred

    def read_builds(self, state: Any, compiled: np.record) -> None:
        """Read the builds on the table and who owns them (B1)."""
        for value in range(1, MAX_BUILD + 1) if self.rules.building else ():
            counts, owner = self.counts[f"build {value}"], self.seat(f"owner {value}", NO_SEAT)
            fault = f"each build has an owner, and an owner has a build; see 'build {value}' and 'owner {value}'"
            self.check(counts.any() == (owner != NO_SEAT), f"owner {value}", fault)
            if counts.any():
                state.builds |= 1 << value
                state.multiple_builds |= int(counts @ compiled["table_value"] > value) << value
                state.build_owner[value] = owner
            for kind in np.repeat(np.arange(NUM_KINDS), counts):
                state.built[kind] = JOINED[state.built[kind], value]
