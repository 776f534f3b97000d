"""Positions of a game as text that a person can read and write (docs/notation.md), and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from krypenv.cards import (
    MAX_BUILD,
    NO_CARD,
    NO_SEAT,
    NUM_KINDS,
    NUM_RANKS,
    RANK_NAMES,
    card_name,
    card_names,
    parse_rank,
)
from krypenv.families.bounds import LILLAN, STORAN, rank_classes
from krypenv.game.piles import spades_in
from krypenv.game.starts import check_session
from krypenv.game.whole_plays import begin_play
from krypenv.inputs.words import shown
from krypenv.kernels.builds import JOINED
from krypenv.kernels.compiled import NIBBLE, compile_rules
from krypenv.kernels.scoring import ends_at_once, settle_game
from krypenv.notation import Entries, NotationError
from krypenv.rules import Rules
from krypenv.runtime.jit import handle
from krypenv.state import allocate

if TYPE_CHECKING:
    from krypenv.game.game import Game

AT_ONCE = "at once"  # how a game can have ended (F6)
CLASSES = (*RANK_NAMES, card_name(LILLAN), card_name(STORAN))  # by class (`rank_classes`)


def format_position(game: Game) -> str:
    """Return a game's position as lines ``key: value``."""
    state, seats, compiled = game.state, range(game.rules.players), compile_rules(game.rules)[0]

    def cards(counts: np.ndarray) -> str:
        return " ".join(card_names(counts.tolist())) or "-"

    stock = game.deck[game.rules.deck_size - game.stock_size :]
    lines = [
        f"rules: {game.rules}",
        f"deal: {game.deal_number}",
        f"dealer: {game.dealer}",
        f"turn: {'-' if game.is_over else game.turn}",
        *(f"hand {seat}: {cards(state['hands'][seat])}" for seat in seats),
        f"table: {cards(state['table'])}",
        *(f"build {value}: {' '.join(names)}" for value, names, _, _ in game.builds),
        *(f"owner {value}: {owner}" for value, _, owner, _ in game.builds),
        f"aside: {cards(state['set_aside'])}",
        *(f"captured {seat}: {' '.join(game.captured(seat)) or '-'}" for seat in seats),
        f"sweeps: {' '.join(str(game.sweeps(seat)) for seat in seats)}",
        *(
            [f"counted: {' '.join(str(game.counted_sweeps(seat)) for seat in seats)}"]
            if compiled["judges_sweeps"]
            else []
        ),
        *([f"mulles: {' '.join(str(game.mulles(seat)) for seat in seats)}"] if "mulles" in game.rules.layout else []),
        *(
            [f"mulle-scores: {' '.join(str(game.mulle_scores(seat)) for seat in seats)}"]
            if game.rules.mulle_by_value
            else []
        ),
        f"last-capturer: {'-' if game.last_capturer is None else game.last_capturer}",
    ]
    for seat in seats:
        barred = barred_names(game, seat)
        lines += [f"cannot-hold {seat}: {' '.join(barred)}"] if barred else []
    if game.pending:
        lines += [f"pending: {game.pending}"] + ([f"building: {game.building}"] if game.building else [])
        lines += [f"took: {' '.join(game.taken) or '-'}"]
    for key, numbers in (("bonus", state["bonus"][: len(seats)]), ("totals", state["totals"][: len(seats)])):
        lines += [f"{key}: {' '.join(map(str, numbers))}"] if numbers.any() else []
    lines += [f"game: {game.game_number}"] if game.game_number > 1 else []
    lines += [f"ended: {AT_ONCE}"] if game.ended_at_once else []
    return "\n".join([*lines, f"stock: {' '.join(stock) or '-'}"]) + "\n"


def barred_names(game: Game, seat: int) -> list[str]:
    """Return the ranks that everybody knows a hand doesn't hold, with 2S and TD where these have their own values."""
    return [name for each, name in enumerate(CLASSES) if game.state["cannot_hold"][seat] >> each & 1]


def parse_position(text: str, kind: type[Game]) -> Game:
    """Return the game of a position's text, as an instance of `kind`.

    Raises NotationError, with the line and the reason, if it is not a position or if play can't lead to it.
    """
    return _Position(text).game(kind)


def zones_of(rules: Rules) -> list[str]:
    """Return the keys of a position that hold cards."""
    seats, values = range(rules.players), range(1, MAX_BUILD + 1) if rules.building else ()
    zones = [*(f"hand {seat}" for seat in seats), *(f"captured {seat}" for seat in seats)]
    return [*zones, "table", "aside", "stock", "pending", *(f"build {value}" for value in values)]


def keys_of(rules: Rules) -> list[str]:
    """Return all keys of a position."""
    others = ["rules", "deal", "dealer", "turn", "sweeps", "last-capturer", "took", "bonus", "game", "totals"]
    others += ["counted", "mulles", "ended"] + (["mulle-scores"] if rules.mulle_by_value else [])
    values = range(1, MAX_BUILD + 1) if rules.building else ()
    others += [f"owner {value}" for value in values] + ["building"] * rules.building
    return [*zones_of(rules), *others, *(f"cannot-hold {seat}" for seat in range(rules.players))]


class _Position(Entries):
    """The entries of a position, and the checks that turn them into a game."""

    def seat(self, key: str, default: int) -> int:
        """Return the seat in an entry, or the default for ``-`` or if it is missing."""
        [seat] = self.numbers(key, 1, default)
        self.check(seat == default or 0 <= seat < self.rules.players, key, f"there is no seat {seat}")
        return seat

    def game(self, kind: type[Game]) -> Game:
        """Return the game."""
        self.check("rules" in self.entries, "rules", "there is no entry 'rules', as in 'rules: krypkasino players=2'")
        try:
            self.rules = rules = Rules.parse(self.value("rules"))
        except ValueError as error:
            raise self.fail("rules", error) from None
        seats, zones, known = range(rules.players), zones_of(rules), keys_of(rules)
        for key in self.entries:
            if key not in known:
                raise self.fail(key, f"{shown(key)} is no key of a position; the keys are {', '.join(known)}")

        cards = self.read_cards(zones)
        self.counts = {key: np.bincount(np.array(kinds, np.int64), minlength=NUM_KINDS) for key, kinds in cards.items()}
        self.dealer = self.seat("dealer", rules.players - 1)
        self.leader = (self.dealer + 1) % rules.players
        self.check(len(cards["pending"]) < 2, "pending", "one card is pending at most")
        self.read_end()
        self.read_turn(len(cards["stock"]))
        self.check_table()
        self.read_captures()
        state = self.build(cards)
        piles = np.array([self.counts[f"captured {seat}"] for seat in seats])
        try:
            game = kind.from_state(rules, state, piles)
        except ValueError as error:
            raise NotationError(self.last_line, error) from None
        if cards["pending"]:
            [card], took, [build] = cards["pending"], self.parse_cards("took"), self.numbers("building", 1)
            self.check(0 <= build <= MAX_BUILD, "building", f"the value of a build is 1 to {MAX_BUILD}, not {build}")
            reached = begin_play(game, card, took, build)
            self.check(reached, "pending", f"seat {game.turn} can't be choosing what else {card_name(card)} takes")
            game.rebase()
        else:
            self.check(not self.value("took"), "took", "cards are taken, and there is no card pending that takes them")
            self.check(not self.value("building"), "building", "a build is begun, and no card is pending that makes it")
        game.origin = format_position(game)
        return game

    def read_cards(self, zones: list[str]) -> dict[str, list[int]]:
        """Return the card kinds in each zone; together they are the deck."""
        cards: dict[str, list[int]] = {}
        deck = self.rules.deck_counts
        left = deck.astype(np.int64)
        rest = sorted((key for key in zones if self.value(key) == "rest"), key=lambda key: self.entries[key][0])
        for key in zones:
            cards[key] = [] if key in rest else self.parse_cards(key)
            for kind in cards[key]:
                left[kind] -= 1
                reason = f"{card_name(kind)} is here once too often; the deck has {deck[kind]} of it"
                self.check(left[kind] >= 0, key, reason)
        unnamed = np.repeat(np.arange(NUM_KINDS), left).tolist()
        if rest:
            self.check(len(rest) == 1, rest[-1], f"{rest[0]!r} is the rest already, and one zone can be that")
            cards[rest[0]] = unnamed
        elif unnamed:
            some = ", ".join(card_name(kind) for kind in unnamed[:5]) + " ..." * (len(unnamed) > 5)
            raise NotationError(
                self.last_line, f"{len(unnamed)} cards are missing ({some}); name them, or call one zone 'rest'"
            )
        return cards

    def read_end(self) -> None:
        """Read whether the game ended at once (F6)."""
        said = self.value("ended")
        self.at_once = bool(said)
        self.check(not said or said == AT_ONCE, "ended", f"a game has ended {AT_ONCE!r} (F6), not {shown(said)}")
        may_end = self.rules.threshold_at_once and self.rules.threshold is not None
        self.check(not said or may_end, "ended", "in these rules no game ends at once")
        self.check(not said or not self.value("pending"), "ended", "the game has ended, so no card is pending")

    def read_turn(self, stock: int) -> None:
        """Find the deal from the stock and the turn from the hands' sizes; compare both with what the text says."""
        rules, sizes = self.rules, self.rules.deal_sizes()
        dealt = np.cumsum([sum(hands) + table for hands, table in sizes]).tolist()
        self.next_card = rules.deck_size - stock
        self.check(
            self.next_card in dealt,
            "stock",
            f"the stock has {stock} cards, and between deals it has {', '.join(str(dealt[-1] - n) for n in dealt)}",
        )
        self.deal = dealt.index(self.next_card) + 1
        [said] = self.numbers("deal", 1, self.deal)
        self.check(said == self.deal, "deal", f"with {stock} cards in the stock this is deal {self.deal}")

        left = [sizes[self.deal - 1][0][(seat - self.leader) % rules.players] for seat in range(rules.players)]
        order, seat = [], self.leader  # the seats in the order of their plays in this deal
        while any(left):
            if left[seat]:
                left[seat] -= 1
                order.append(seat)
            seat = (seat + 1) % rules.players
        hands = [int(self.counts[f"hand {seat}"].sum()) for seat in range(rules.players)]
        pending = int(self.counts["pending"].sum())
        self.plays = len(order) - sum(hands) - pending  # whole plays made in this deal
        self.check(self.plays >= 0, "hand 0", f"the hands have {sum(hands)} cards, and the deal gave them {len(order)}")
        for seat in range(rules.players):
            whole = order[self.plays + pending :].count(seat)
            said_more = f"after {self.plays} plays of deal {self.deal}, led by seat {self.leader}"
            self.check(
                hands[seat] == whole, f"hand {seat}", f"seat {seat} has {hands[seat]} cards, not {whole} as {said_more}"
            )
        self.over = self.plays == len(order) or self.at_once
        is_dealt = not self.over or stock == 0 or self.at_once
        self.check(is_dealt, "stock", "all hands are empty, so the next cards would have been dealt")
        self.check(not self.at_once or self.plays, "ended", "a game ends by a play, and none was made in this deal")
        self.turn = (
            order[self.plays - 1] if self.over else order[self.plays]
        )  # at the end the state keeps the seat that played last
        self.has_played = [seat in order[: self.plays] for seat in range(rules.players)]
        said = self.seat("turn", NO_SEAT)
        if self.value("turn"):
            self.check(said == self.turn and not self.over, "turn", f"by the hands it is {self.whose()}")
        elif "turn" in self.entries:
            self.check(self.over, "turn", f"by the hands it is {self.whose()}")

    def whose(self) -> str:
        """Return whose turn it is, in words."""
        return "the end of the game" if self.over else f"the turn of seat {self.turn}"

    def check_table(self) -> None:
        """Check that play can have put these cards on the table and aside."""
        rules, table, aside = self.rules, self.counts["table"], self.counts["aside"]
        for kind in np.flatnonzero(aside * ~rules.aside_kinds):
            raise self.fail("aside", f"{card_name(int(kind))} is not put aside in these rules")
        sizes = [size for _, size in rules.deal_sizes()[: self.deal]]
        apart, since = int(table[rules.aside_kinds].sum()), self.plays + (sizes[-1] if self.deal > 1 else 0)
        self.check(
            apart <= since,
            "table",
            f"{apart} cards on the table should have been set aside; {since} at most can be new",
        )
        # A card takes all others of its rank, so only a deal puts two of a rank on the table (but plays do with aces).
        ranks = np.where(compile_rules(rules)[0]["matches"], table.reshape(-1, NUM_RANKS).sum(axis=0), 0)
        paired, laid = int(ranks[ranks > 1].sum()), sum(sizes)
        self.check(
            paired <= laid + sum(sizes[1:]),  # a later deal may put a card beside one that has crept
            "table",
            f"{paired} cards on the table have an equal there, and only {laid} were dealt to it",
        )

    def read_captures(self) -> None:
        """Read who captured last and who swept, and check that the piles allow it."""
        rules, seats = self.rules, range(self.rules.players)
        piles = [int(self.counts[f"captured {seat}"].sum()) for seat in seats]
        capturers = [seat for seat in seats if piles[seat]]
        for seat in seats:
            self.check(
                piles[seat] != 1, f"captured {seat}", "a pile has two cards at least, the card played and one taken"
            )
            begun = self.deal > 1 or self.plays > 0
            self.check(begun or not piles[seat], f"captured {seat}", "no card has been played, so no pile has any")
        self.last_capturer = self.seat("last-capturer", capturers[0] if len(capturers) == 1 else NO_SEAT)
        self.check(
            self.last_capturer in capturers or not capturers,
            "last-capturer",
            f"the last capture is one of seat {' or '.join(map(str, capturers))}; say which in 'last-capturer'",
        )
        self.check(capturers or self.last_capturer == NO_SEAT, "last-capturer", "no seat has captured a card")
        if self.over and capturers and not self.at_once:
            left = int(self.counts["table"].sum() + self.counts["aside"].sum())
            self.check(left == 0, "table", f"the game is over, so seat {self.last_capturer} has what is left")
        self.read_sweeps(piles)
        self.mulles = self.numbers("mulles", rules.players)
        has_mulles = "mulles" in rules.layout
        self.check(has_mulles or not any(self.mulles), "mulles", "in these rules there are no mulles")
        self.mulle_scores = self.numbers("mulle-scores", rules.players)
        for seat in seats:
            pairs = int((self.counts[f"captured {seat}"] // 2).sum())
            self.check(
                0 <= self.mulles[seat] <= pairs,
                "mulles",
                f"seat {seat} can't have made {self.mulles[seat]} mulles, for its pile has {pairs} pairs",
            )
            most = MAX_BUILD * self.mulles[seat]
            self.check(
                0 <= self.mulle_scores[seat] <= most,
                "mulle-scores",
                f"{self.mulles[seat]} mulles of seat {seat} can't count {self.mulle_scores[seat]}",
            )

    def read_sweeps(self, piles: list[int]) -> None:
        """Read who swept, and how many of the sweeps count (F5); `piles` are the cards in each."""
        rules = self.rules
        self.sweeps = self.numbers("sweeps", rules.players)
        self.counted = self.numbers("counted", rules.players) if self.value("counted") else self.sweeps
        may_be_void = rules.sweep_limit is not None or (
            not rules.last_deal_sweeps and self.deal == len(rules.deal_sizes())
        )
        for seat, (made, counted) in enumerate(zip(self.sweeps, self.counted, strict=True)):
            self.check(
                0 <= made <= piles[seat],
                "sweeps",
                f"seat {seat} can't have made {made} sweeps with a pile of {piles[seat]}",
            )
            fits = 0 <= counted <= made if may_be_void else counted == made
            why = "" if may_be_void else ", for here all count"
            self.check(fits, "counted", f"of {made} sweeps of seat {seat} {counted} can't count{why}")

    def read_bonus(self, sure: list[int]) -> list[int]:
        """Return the points that belong to no card by seat; `sure` are those of the end (V2, K5), H5 adds its own."""
        said = self.numbers("bonus", self.rules.players) if "bonus" in self.entries else sure
        for seat in range(self.rules.players):
            extra = said[seat] - sure[seat]
            allowed = extra == 0 or (seat == self.leader and extra == self.rules.initial_match_bonus)
            self.check(allowed, "bonus", f"seat {seat} can't have a bonus of {said[seat]} here")
        return said

    def read_cannot_hold(self, seat: int) -> int:
        """Return the bits of the classes, most of them ranks, that a seat is known not to hold (R10)."""
        key, bits = f"cannot-hold {seat}", 0
        names = self.value(key).split()
        known = not names or (self.rules.forced_sweep and self.has_played[seat])
        self.check(known, key, "this is known of a seat that has played in this deal, and only where sweeps are forced")
        class_of = np.array(rank_classes(self.rules))
        held, in_deck = (
            set(class_of[np.flatnonzero(counts)].tolist())
            for counts in (self.counts[f"hand {seat}"], self.rules.deck_counts)
        )
        for name in names:
            each = self.class_named(name, key)
            self.check(each in in_deck, key, f"the deck has no {name}")
            self.check(each not in held, key, f"seat {seat} holds a {name}")
            bits |= 1 << each
        return bits

    def class_named(self, name: str, key: str) -> int:
        """Return the class of cards with a name: a rank, or lillan or storan where they differ from their rank."""
        special = (self.rules.lillan_hand_value, self.rules.storan_hand_value)
        for each, value in enumerate(special, start=NUM_RANKS):
            if value is not None and name.upper() == CLASSES[each]:
                return each
        try:
            return parse_rank(name) - 1
        except ValueError as error:
            raise self.fail(key, error) from None

    def read_session(self) -> tuple[int, list[int]]:
        """Return the number of the game and the totals of the games before it."""
        [number] = self.numbers("game", 1, 1)
        totals = self.numbers("totals", self.rules.players)
        reason = check_session(self.rules, number, totals)
        self.check(not reason, "game" if "game" in self.entries else "totals", reason)
        return number, totals

    def build(self, cards: dict[str, list[int]]) -> Any:
        """Return the record of the state, with the pending card back in its hand."""
        rules, counts = self.rules, self.counts
        counts[f"hand {self.turn}"] = counts[f"hand {self.turn}"] + counts["pending"]
        compiled = compile_rules(rules)[0]
        rows = allocate(1)
        state = rows[0]
        state.next_card, state.deal_number, state.dealer, state.seat = self.next_card, self.deal, self.dealer, self.turn
        state.game_number, totals = self.read_session()
        state.totals[: rules.players] = totals
        state.pending, state.last_card = NO_CARD, NO_CARD
        state.last_seat, state.last_capturer = NO_SEAT, self.last_capturer
        state.over, state.cut_short = self.over, self.at_once
        state.sweeps[: rules.players], state.mulles[: rules.players] = self.sweeps, self.mulles
        state.mulle_scores[: rules.players] = self.mulle_scores
        state.void_sweeps[: rules.players] = np.subtract(self.sweeps, self.counted)
        for seat in range(rules.players):
            hand = counts[f"hand {seat}"]
            state.hands[seat], state.hand_size[seat] = hand, hand.sum()
            state.hand_kinds[seat] = sum(1 << int(kind) for kind in np.flatnonzero(hand))
            pile = counts[f"captured {seat}"]
            state.points[seat] = pile @ rules.card_points
            if compiled["counts_piles"]:
                state.cards_won[seat], state.spades_won[seat] = pile.sum(), spades_in(pile)
            state.cannot_hold[seat] = self.read_cannot_hold(seat)
        ranks = counts["table"].reshape(-1, NUM_RANKS).sum(axis=0)
        state.table, state.set_aside = counts["table"], counts["aside"]
        state.table_ranks = sum(int(count) << NIBBLE * rank for rank, count in enumerate(ranks))
        self.build_builds(state)
        state.table_sum = counts["table"] @ compiled["sum_value"]
        dealt = rules.deck_counts - counts["stock"]
        state.seen = dealt - sum(counts[f"hand {seat}"] for seat in range(rules.players))
        state.deck[: rules.deck_size] = [*np.repeat(np.arange(NUM_KINDS), dealt), *cards["stock"]]
        self.settle(rows)
        return state

    def build_builds(self, state: Any) -> None:
        """Write the builds into the record of the state (B1)."""
        table_values = compile_rules(self.rules)[0]["table_value"]
        for value in range(1, MAX_BUILD + 1) if self.rules.building else ():
            key, owner = f"build {value}", self.seat(f"owner {value}", NO_SEAT)
            counts = self.counts[key]
            if not counts.any():
                self.check(owner == NO_SEAT, f"owner {value}", f"there is no {key!r} that seat {owner} could own")
                continue
            self.check(owner != NO_SEAT, key, f"a build has an owner; say who in 'owner {value}'")
            total = int(counts @ table_values)
            self.check(total % value == 0, key, f"these cards are worth {total}, and no groups of {value} make that up")
            self.check(
                int(state.hand_kinds[owner]) & int(compile_rules(self.rules)[0]["value_kinds"][value]),
                f"owner {value}",
                f"seat {owner} holds no card of {value}, and who owns a build of {value} does (B5)",
            )
            state.builds |= 1 << value
            state.multiple_builds |= (total > value) << value
            state.build_owner[value] = owner
            for kind in np.repeat(np.arange(NUM_KINDS), counts):
                state.built[kind] = JOINED[state.built[kind], value]

    def settle(self, rows: np.recarray) -> None:
        """Write the points that belong to no card into the state, (1,), and check whether the game ends at once."""
        compiled, row = compile_rules(self.rules)[0], handle(rows)[0]
        if self.over and not self.at_once:
            settle_game(compiled, row)
        bonus = rows[0].bonus[: self.rules.players]
        bonus[:] = self.read_bonus(bonus.tolist())
        ends = bool(ends_at_once(compiled, row))
        reached = f"running score has reached {self.rules.threshold}"
        self.check(ends or not self.at_once, "ended", f"the game can't have ended at once, for no {reached}")
        self.check(self.over or not ends, "totals", f"the game has 'ended: {AT_ONCE}', for a {reached}")
