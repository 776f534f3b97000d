"""A session as a tree for searches and solvers: chance deals one card at a time, and then the seats act.

Chance nodes alone decide what is dealt: the cards left have no order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from krypenv.cards import (
    BUILD,
    NO_CARD,
    NO_SEAT,
    NUM_KINDS,
    STOP,
    TAKE,
    TAKE_BUILD,
    action_name,
    card_name,
    card_names,
)
from krypenv.engine import IllegalMove
from krypenv.envs.chance import CoursePlan, Draw, draw_weights
from krypenv.families.bounds import MAX_PLAYERS
from krypenv.game.game import Game
from krypenv.game.moves import Move, Play, actions_in, play_of
from krypenv.game.stack import (
    DEAL_AWAITED,
    ILLEGAL,
    PENDING,
    PLAYED,
    close_session,
    deal_on,
    follow,
    look,
)
from krypenv.inputs.words import is_whole, one_line, shown
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import TABLE
from krypenv.rewards import seat_margins
from krypenv.runtime.jit import handle
from krypenv.state import State, allocate

CHANCE, TERMINAL = -1, -4  # in `Course.turn`; OpenSpiel has the same numbers
_KINDS = np.arange(NUM_KINDS)


class Course:
    """A node of the game tree of a session; it never changes, and `after` returns a child.

    Args:
        plan: the rules and the order of the deals.

    Attributes:
        beginning: where the present deal begins, before its first card.
        path: all actions so far, those of chance (the kinds dealt) included.
        views: the memory of each seat as text: its hands and all plays (perfect recall). The last one is the public
            record. They have complete plays only: `recall` and `record` add one that has begun.
        plays: the plays of the game so far: the seat, and the play in the form of `Move.kinds`.
        turn: the seat to act, CHANCE or TERMINAL.

    >>> course = Course(CoursePlan(Rules.preset("mini-low")))
    >>> course.after(course.chance_outcomes()[0][0]).path
    (0,)
    """

    __slots__ = (
        "_begun", "_states", "_undealt", "beginning", "path", "plan", "plays", "rules", "turn", "views",
    )  # fmt: skip
    beginning: Course
    plays: tuple[tuple[int, Play], ...]
    turn: int
    _undealt: list[int]  # copies of each kind that are not dealt yet
    _begun: tuple[int, ...]  # actions of the play in progress

    def __init__(self, plan: CoursePlan) -> None:
        self.plan, self.rules = plan, plan.rules
        self._states = handle(allocate(2))  # the second one is work space
        row = self._states[0]
        row["dealer"], row["game_number"] = plan.rules.players - 1, 1
        for name in ("pending", "last_card"):
            row[name] = NO_CARD
        for name in ("last_seat", "last_capturer"):
            row[name] = NO_SEAT
        self.path: tuple[int, ...] = ()
        self.views: tuple[str, ...] = (*(f"seat {seat}" for seat in range(plan.rules.players)), "table")
        self._begin_game()

    @classmethod
    def search_root(cls, plan: CoursePlan, world: State) -> Course:
        """Make the root of a search: a world of `determinize`, (1,) of `GAME`, in which a seat is to act.

        It has no past: the path, the plays and the public record begin there, and each seat remembers what it sees
        there. Chance deals the rest of the deck in any order.
        """
        course = cls(plan)
        course._states[0] = handle(world)[0]
        row = course.state
        course.turn = int(row["seat"])
        course._undealt = (plan.rules.deck_counts - np.bincount(
            row["deck"][: int(row["next_card"])], minlength=NUM_KINDS
        )).tolist()  # fmt: skip
        seen = [format_blocks(course.observed(seat)) for seat in range(plan.rules.players)]
        course.views = (*(f"seat {seat} {text}" for seat, text in enumerate(seen)), "table")
        return course

    def _copy(self) -> Course:
        twin = Course.__new__(Course)
        for name in Course.__slots__:
            setattr(twin, name, getattr(self, name))
        raw = self._states.view(np.uint8).copy()  # numpy would copy records field by field
        twin._states, twin._undealt = raw.view(self._states.dtype), self._undealt.copy()
        return twin

    def __deepcopy__(self, memo: object) -> Course:
        return self  # it never changes

    # ------------------------------------------------------------------ the state

    @property
    def state(self) -> np.ndarray:
        """The record of the present state (`krypenv.state.GAME`), without the cards of an incomplete deal."""
        return self._states[0]

    def observation(self, seat: int) -> npt.NDArray[np.int8]:
        """Encode what a seat observes, (N,) int8, a fresh array; while chance deals, what it observed before."""
        out = np.empty(self.rules.observation_size, np.int8)
        look(self.plan.compiled, self._states, self.check_seat(seat), out)
        return out

    def observed(self, seat: int) -> dict[str, npt.NDArray[np.int8]]:
        """Split what a seat observes into its named blocks (`rules.layout`)."""
        observation = self.observation(seat)
        return {name: observation[block] for name, block in self.rules.layout.items()}

    def check_seat(self, seat: int) -> int:
        """Check the number of a seat; raise ValueError if there is no such seat."""
        if not is_whole(seat, 0, self.rules.players - 1):
            raise ValueError(f"there is no seat {shown(seat)}; the seats are 0 to {self.rules.players - 1}")
        return int(seat)

    def legal_actions(self) -> list[int]:
        """List the legal actions of the seat to act, ascending; none if no seat is to act."""
        return actions_in(self.state) if self.turn >= 0 else []

    def options(self) -> list[int]:
        """List the actions of this node, ascending: of the seat to act, or the kinds that chance may deal."""
        return [kind for kind, _ in self.chance_outcomes()] if self.turn == CHANCE else self.legal_actions()

    def recall(self, seat: int) -> str:
        """Format the memory of a seat: its own hands and the public record of plays (perfect recall)."""
        return self.views[self.check_seat(seat)] + self._unfinished()

    @property
    def record(self) -> str:
        """The public record: the cards laid on the table, and all plays."""
        return self.views[-1] + self._unfinished()

    def dealt(self) -> Iterator[tuple[int, int, int]]:
        """Yield the cards dealt in this game: the deal from 0 on, the seat or NO_SEAT for the table, and the kind.

        Incomplete deals are left out.
        """
        complete = 0 if self.turn == CHANCE and self._deal() == 0 else int(self.state["deal_number"])
        for number in range(complete):
            for draw in self.plan.deals[number]:
                yield number, self.owner_of(draw), int(self.state["deck"][draw.place])

    def returns(self) -> list[float]:
        """Compute each seat's margin, the lead of its side over the mean of the others (R14, R16); 0 before the end."""
        if self.turn != TERMINAL:
            return [0.0] * self.rules.players
        margins: list[float] = seat_margins(self.rules, self._states[1]["totals"][: self.rules.players]).tolist()
        return margins

    def drawing(self) -> tuple[Draw, int]:
        """Find the card that chance deals next, and the seat that gets it, or NO_SEAT for the table.

        Raises ValueError at decisions and at the end.
        """
        if self.turn != CHANCE:
            reason = "the session is over" if self.turn == TERMINAL else f"seat {self.turn} is to act"
            raise ValueError(f"chance deals no card here: {reason}")
        draw = self._draw()
        return draw, self.owner_of(draw)

    def owner_of(self, draw: Draw) -> int:
        """Find the seat that gets a card of a deal, or NO_SEAT for the table."""
        return NO_SEAT if draw.seat == TABLE else (int(self.state["dealer"]) + 1 + draw.seat) % self.rules.players

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """List the kinds that chance may deal next, ascending, with their probabilities; raise ValueError elsewhere."""
        draw, _ = self.drawing()
        hand = self.path[-draw.dealt :] if draw.dealt else (NO_CARD,)
        weights = draw_weights(self._undealt, draw.remaining, hand[-1], hand.count(hand[-1]))
        total = sum(weight for _, weight in weights)
        return [(kind, weight / total) for kind, weight in weights]

    def __str__(self) -> str:
        """Describe the state for people, with all hands."""
        *lines, turn = str(Game.at_row(self.rules, self.state)).splitlines()
        if self.turn == CHANCE:
            seat = self.drawing()[1]
            dealt = "".join(map(card_name, self.path[len(self.beginning.path) :]))
            turn = f"dealt so far: {dealt}; the next card is for {'the table' if seat == NO_SEAT else f'seat {seat}'}"
        elif self.turn == TERMINAL:
            turn = f"over: {self.returns()}"
        return "\n".join([*lines, turn])

    # ------------------------------------------------------------------ actions

    def after(self, action: int) -> Course:
        """Make the child node after an action of the seat to act, or of chance (the kind that it deals).

        Raises IllegalMove, a ValueError, if the action is illegal.
        """
        child = self._copy()
        carry_out = child._deal_card if self.turn == CHANCE else child._act
        if self.turn == TERMINAL or not self._exists(action) or not carry_out(int(action)):
            raise IllegalMove(self._refusal(action))
        child.path += (int(action),)
        return child

    def _exists(self, action: Any) -> bool:
        """Test whether an action is a number of one of the seats, or of chance."""
        return is_whole(action, 0, (NUM_KINDS if self.turn == CHANCE else self.rules.num_actions) - 1)

    def _refusal(self, action: Any) -> str:
        """Say that an action is illegal, and which are legal."""
        if self.turn == TERMINAL:
            return f"action {shown(action)} is illegal, for the session is over"
        who = "chance" if self.turn == CHANCE else f"seat {self.turn}"
        name = action_text(self.turn, int(action)) if self._exists(action) else f"action {shown(action)}"
        named = ", ".join(action_text(self.turn, legal) for legal in self.options())
        return f"{name} is illegal; {who} may {one_line(named, 1000)}"

    def _draw(self) -> Draw:
        return self.plan.deals[self._deal()][len(self.path) - len(self.beginning.path)]

    def _deal_card(self, kind: int) -> bool:
        """Deal a card; return False, with nothing done, if chance can't deal it here."""
        draw = self._draw()
        follows = draw.dealt == 0 or kind >= self.path[-1]  # a sorted hand is dealt in ascending order
        if not (follows and self._undealt[kind] and sum(self._undealt[kind:]) >= draw.remaining):
            return False
        self._undealt[kind] -= 1
        self.state["deck"][draw.place] = kind
        if draw is self.plan.deals[self._deal()][-1]:
            self._end_deal()
        return True

    def _end_deal(self) -> None:
        """Hand out the cards of a complete deal, and give the turn to the leader."""
        number, row = self._deal(), self.state
        dealt = self.plan.deals[number]
        end = int(self.plan.compiled["deal_start"][0, number + 1])
        row["deck"][end : self.rules.deck_size] = np.repeat(_KINDS, self._undealt)  # in no order yet
        deal_on(self.plan.compiled, self._states, number == 0, borrow_scratch())
        table = "".join(map(card_name, sorted(row["deck"][draw.place] for draw in dealt if draw.seat == TABLE)))
        hands = [f" {cards_of(row['hands'][seat])}" for seat in range(self.rules.players)]
        laid = f" on {table}" if table else ""
        self.views = tuple(
            f"{view} | deal {number + 1}:{hand}{laid}" for view, hand in zip(self.views, [*hands, ""], strict=True)
        )
        self.turn = int(row["seat"])

    def _act(self, action: int) -> bool:
        """Carry out an action of the seat to act; return False, with nothing done, if it is illegal."""
        seat = self.turn
        outcome = follow(self.plan.compiled, self._states, action, borrow_scratch())
        if outcome == ILLEGAL:
            return False
        self._begun += (action,)
        if outcome == PENDING:
            return True
        self._note(seat)
        if outcome == PLAYED:
            self.turn = int(self.state["seat"])
        elif outcome == DEAL_AWAITED:
            self._await_deal()
        elif close_session(self.plan.compiled, self._states, 0):
            self.turn = TERMINAL
        else:
            self._states[0] = self._states[1]
            self.state["dealer"] = (self.state["dealer"] + 1) % self.rules.players
            self.state["game_number"] += 1
            self._begin_game()
        return True

    def _note(self, seat: int) -> None:
        """Add the play that a seat has completed to all memories.

        The seat itself remembers its actions, unless it named all cards in order: several sequences may end with the
        same capture.
        """
        play = play_of(self.state)
        text = f" {seat}:{Move.of_kinds(*play)}"
        chosen = [action for action in self._begun if action >= TAKE and action != STOP]
        in_order = self.rules.building or chosen == [TAKE + kind for kind in play[1]]  # builds come in one order only
        order = f"~{chosen_cards(chosen)}" if chosen and not in_order else ""
        self.views = tuple(view + text + (order if own == seat else "") for own, view in enumerate(self.views))
        self.plays += ((seat, play),)
        self._begun = ()

    def _unfinished(self) -> str:
        return f" {self.turn}:{chosen_cards(self._begun)}.." if self._begun else ""

    def _begin_game(self) -> None:
        self.plays = ()
        self._undealt = self.plan.deck.copy()
        self.state["over"] = True
        self._await_deal()

    def _await_deal(self) -> None:
        self.turn = CHANCE
        self.beginning = self
        self._begun = ()

    def _deal(self) -> int:
        """The deal that chance makes, 0 for the first of a game."""
        return 0 if self.state["over"] else int(self.state["deal_number"])


def action_text(turn: int, action: int) -> str:
    """Name an action of a seat, as in ``play 8S``, or of chance where no seat acts: ``deal 8S``."""
    return action_name(action) if turn >= 0 else f"deal {card_name(action)}"


def chosen_cards(actions: Iterable[int]) -> str:
    """Format the cards and builds of actions, as in ``8S+2H`` or ``4S+=9+5D+[3]``."""
    return "+".join(map(_chosen, actions))


def _chosen(action: int) -> str:
    if action >= TAKE_BUILD:
        return f"[{action - TAKE_BUILD}]"
    return f"={action - BUILD}" if action >= BUILD else action_name(action).split()[-1]


def cards_of(counts: np.ndarray) -> str:
    """Format a hand or a table, given as counts (52,), as in ``7H8S``."""
    return "".join(card_names(counts.tolist()))


def format_blocks(blocks: Mapping[str, np.ndarray]) -> str:
    """Format the named blocks of an observation that are not zero."""
    return " ".join(f"{name}={_format_block(block)}" for name, block in blocks.items() if block.any())


def _format_block(entries: np.ndarray) -> str:
    """Format a block of an observation: cards, values by seat, or the indices of entries that are not zero."""
    if len(entries) == NUM_KINDS:
        return cards_of(entries)
    numbers = entries if len(entries) <= MAX_PLAYERS else np.flatnonzero(entries)
    return ",".join(map(str, numbers.tolist()))
