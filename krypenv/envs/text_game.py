"""A game in words, for language models: its rules, what a seat sees, replies that name a move, and whole episodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from krypenv.arguments import check_seed, check_whole
from krypenv.envs.opponents import LEVELS, Player, ask_opponent, make_named
from krypenv.envs.seen import seen_values
from krypenv.game.base_agent import sight_of
from krypenv.game.game import Game
from krypenv.game.moves import MOVE_PATTERN, NO_MOVE, Move
from krypenv.inputs.files import read_file
from krypenv.inputs.schema import sentence_of
from krypenv.inputs.words import shown
from krypenv.rewards import KINDS, illegal_reward, returns_of, seat_margins
from krypenv.rules import Rules, as_rules

PROMPT = Path(__file__).with_name("prompt.txt")
PARTS = "\n---\n"  # between the system's part of a prompt and the user's
LONGEST_PROMPT = 100_000  # bytes
_MARKED = re.compile(r"\bmove\b\W{0,3}[:=]\W{0,3}(\S.*)", re.IGNORECASE)
_MOVE = re.compile(rf"(?<!\w)(?:{MOVE_PATTERN})(?!\w)")
_MARKUP = "*_`'\".,;!$()<> \t"  # around a move


# ---------------------------------------------------------------------- prompts and replies


def read_prompt(rules: Rules, path: Path = PROMPT) -> tuple[str, str]:
    """Read the system's part of a prompt, with the rules in words, and the user's part, with {view} for what is seen.

    Raises ValueError for a file that is no prompt.
    """
    text = read_file(path, LONGEST_PROMPT).decode(errors="replace")
    system, parts, user = text.partition(PARTS)
    if not parts or "{view}" not in user:
        raise ValueError(
            f"{shown(str(path))} is no prompt: it has a line --- and after it {{view}}, what the seat sees"
        )
    narrator = _narrator(rules)
    sections = ["\n".join([heading, *paragraphs]) for heading, paragraphs in narrator.in_full()]
    words = "\n\n".join([f"{narrator.table_title}.", *sections])
    return system.replace("{rules}", words), user.strip().replace("{rules}", words)


def read_reply(game: Game, reply: str) -> Move:
    """Read the move of the seat to act from a reply: after the last "MOVE:", or else from the last line.

    It is written as people write it: a card that has one move alone, or a card with those that it takes, as in
    8Sx2H6D, 8s 6d 2h or 8♠ takes 6♦+2♥. Raises ValueError, with a sentence that says why, for no move and for an
    illegal one.

    >>> game = Game.from_position("rules: krypkasino; hand 0: 8S 9D; hand 1: 4C KD; table: 2H 6D; captured 1: rest")
    >>> print(read_reply(game, "My eight takes everything. MOVE: 8s"))
    8Sx6D2H#
    """
    lines = [line for line in reply.splitlines() if line.strip(_MARKUP)]
    text = (_MARKED.findall(reply) or lines[-1:] or [""])[-1].strip(_MARKUP)
    choices = import_module("krypenv.ui.choices")  # here, as people stand above environments
    twin, named, reason = game.copy(), _MOVE.findall(text), ""
    for words in dict.fromkeys([text, *named[-1:]]):
        with suppress(ValueError):  # raised unless it is a move as records write it
            twin.push(words)
            return twin.moves[-1]
        if words and not words.isdigit():
            try:
                move = choices.parse_choice(words, choices.Choices(()), game, _narrator(game.rules))
            except choices.Wrong as wrong:
                reason = str(wrong)
                continue
            if isinstance(move, Move):
                return move
            raise ValueError(f"{move} has several moves: name the cards that go with it, as in 8Sx2H6D")
    raise ValueError(reason if named else f"{shown(text)} {NO_MOVE}")


def _narrator(rules: Rules) -> Any:
    return import_module("krypenv.ui.narrator.narrator").Narrator(rules, symbols=False)


# ---------------------------------------------------------------------- episodes

ALL = "all"  # seats of the learner
REGRET, ADJUSTED = "regret", "adjusted"
UNSEEN = "random"  # in place of rules: others in each episode


class Measures(NamedTuple):
    """What rewards need that stands above environments: `krypenv.training.measures_by` makes them."""

    regret: Callable[[Game, Move], float]  # of a move before it is made, in points
    luck: Callable[[Game], np.ndarray]  # in the margins of a game that is over, (S,) points by side


def _as_text(rules: Any) -> str:
    return UNSEEN if rules == UNSEEN else str(as_rules(rules))


def _as_names(names: Any) -> Any:
    return (names,) if isinstance(names, str) else names


class Terms(BaseModel):
    """How a learner is seated, shown the game and paid; plain values.

    Args:
        rules: rules or their text; "random" draws others for each episode, which nobody has read.
        seat: the learner's seat, or "all".
        opponents: agents by name, or by the levels "first_steps", "even", "hard" and "champion"; of several, one is
            drawn for each other seat.
        listed: list the legal moves.
        tries: replies without a legal move that end the episode.
        reward: "centred", "points" or "win" at the end; "adjusted", the first with luck taken out; "regret", minus the
            points that each move gives away.
        judge: the agent that values moves for "regret".

    Raises ValueError in one sentence for wrong values.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: Annotated[str, BeforeValidator(_as_text)] = "krypkasino players=2"
    seat: int | Literal["all"] = 0
    opponents: Annotated[tuple[str, ...], BeforeValidator(_as_names), Field(min_length=1)] = ("greedy",)
    listed: bool = True
    tries: int = Field(3, ge=1, le=100)
    reward: Literal["centred", "points", "win", "adjusted", "regret"] = "centred"
    judge: str = "search(worlds=30)"

    def __init__(self, rules: Any = None, **fields: Any) -> None:
        try:
            super().__init__(rules=rules, **fields)
        except ValidationError as error:
            raise ValueError(sentence_of(error)) from None

    def changed(self, **changes: Any) -> Terms:
        """Copy these terms with some values changed."""
        return Terms(**{**self.model_dump(), **changes})

    def rules_by(self, seed: int) -> Rules:
        """Parse the rules of the episode of a seed, which draws those that are unseen."""
        return Rules.random(seed) if self.rules == UNSEEN else Rules.parse(self.rules)


DEFAULT = Terms()


class Answer(NamedTuple):
    """What came of a reply."""

    move: str  # the legal move that it named, or empty
    fault: str  # why it named none, in a sentence
    reward: float  # of the seat that replied


@dataclass
class Tally:
    """What came of a seat's replies so far."""

    replies: int = 0
    moves: int = 0  #: replies that named a legal move
    regret: float = 0.0  #: points that they gave away, where the reward is "regret"
    paid: float = 0.0


class TextGame:
    """An episode in words: a session of games with one learner, or with a learner on each seat.

    `answer` makes the learner's move and then the opponents', up to its next decision.

    Args:
        terms: see `Terms`.
        seed: of the deals, of opponents and their random choices, and of unseen rules; None draws one.

    Attributes:
        rules: the rules of the episode.
        game: the game that is played.
        seat: the learner's seat to act.
        over: whether the episode is over.
        tries_left: replies that may still go wrong in this decision.
        tallies: what came of the replies of each seat.

    Raises ValueError in one sentence for agents and seats that there are not.

    >>> text = TextGame(Terms("mini-low", opponents="random"), seed=7)
    >>> text.answer("I sweep with the king: KS").fault
    'KS is not in your hand. You hold 5C 6C 3D 5H.'
    """

    def __init__(self, terms: Terms = DEFAULT, seed: int | None = None) -> None:
        self.terms = terms
        self._measures: Measures | None = None
        if terms.reward in (ADJUSTED, REGRET):  # by name, as training stands above environments
            self._measures = import_module("krypenv.training").measures_by(terms.judge)
        seed = check_seed(np.random.default_rng().integers(1 << 63) if seed is None else seed)
        self.rules, rng = terms.rules_by(seed), np.random.default_rng(seed)
        seats, last = range(self.rules.players), self.rules.players - 1
        learns = seats if terms.seat == ALL else [check_whole("seat", terms.seat, 0, last)]
        self._opponents: dict[int, Player] = {}
        for seat in set(seats) - set(learns):
            name = terms.opponents[rng.integers(len(terms.opponents))]
            self._opponents[seat] = make_named(LEVELS.get(name, name), self.rules, int(rng.integers(1 << 63)))
        self.game = Game(self.rules, seed=seed)
        self._kind = terms.reward if terms.reward in KINDS else "centred"
        self.over, self._luck = False, np.zeros(self.rules.num_teams)
        self.tallies = [Tally() for _ in range(self.rules.players)]
        self._go_on()

    @property
    def view(self) -> str:
        """What the seat to act sees, and its legal moves if they are listed."""
        return str(self.values["text"])

    @property
    def values(self) -> dict[str, Any]:
        """The same as plain values, as programs get it (docs/programs.md)."""
        seen = self.game.observation(self.seat)
        past = [(seat, move._replace(sweep=0)) for deal, seat, move in self.game.plays if deal == self.game.deal_number]
        return seen_values(self.game, self.seat, seen, past, self.terms.listed)

    def answer(self, reply: str) -> Answer:
        """Make the move that a reply names, and the opponents' moves after it; of no legal move, say why.

        When no try is left, the episode ends, and the seat is paid less than any legal episode can return.
        """
        tally, made, fault = self.tallies[self.seat], "", ""
        before, pays_regret = tally.paid, self.terms.reward == REGRET
        tally.replies += 1
        try:
            move = read_reply(self.game, reply)
        except ValueError as error:
            fault = str(error)
            self.tries_left -= 1
            if not self.tries_left:
                self.over = True
                tally.paid += illegal_reward(self.rules, self._kind, pays_regret)
        else:
            tally.moves += 1
            if self._measures and pays_regret:
                regret = self._measures.regret(self.game, move)
                tally.regret, tally.paid = tally.regret + regret, tally.paid - regret
            self.game.push(move)
            made = str(self.game.last_move)
            self._go_on()
        return Answer(made, fault, tally.paid - before)

    def margin(self, seat: int) -> float:
        """Compute the margin of a seat so far, the points by which its side leads the mean of the others."""
        return float(seat_margins(self.rules, self.game.totals)[seat])

    def _go_on(self) -> None:
        """Play the opponents' moves, and deal the next game of the session where one is over."""
        while self.game.is_over or self.game.turn in self._opponents:
            if not self.game.is_over:
                opponent = self._opponents[self.game.turn]
                self.game.act(int(ask_opponent(opponent, *sight_of(opponent, self.game))[0]))
                continue
            if self._measures and self.terms.reward == ADJUSTED:
                self._luck += self._measures.luck(self.game)
            if self.game.session_over:
                self._end()
                return
            self.game = self.game.next_game()
        self.seat, self.tries_left = self.game.turn, self.terms.tries

    def _end(self) -> None:
        """End the episode, and pay what its end pays."""
        self.over, rules = True, self.rules
        if self.terms.reward == REGRET:
            return
        returns = returns_of(rules, self.game.totals, self._kind, self.game.tie_breaks())
        # a return is the lead over the mean of all sides, luck over that of the others
        luck = self._luck * (rules.num_teams - 1) / rules.num_teams
        for seat, tally in enumerate(self.tallies):
            tally.paid += float(returns[seat] - luck[rules.team_of(seat)])
