"""A game in words, for language models: its rules, what a seat sees, replies that name a move, and whole episodes."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from krypenv.arguments import check_seed, check_switch, check_whole
from krypenv.envs.opponents import LEVELS, Opponents, Player, as_pool, ask_opponent, make_named
from krypenv.envs.structs import seen_values
from krypenv.game.base_agent import sight_of
from krypenv.game.game import Game
from krypenv.game.moves import MOVE_PATTERN, NO_MOVE, Move
from krypenv.inputs.words import check_name, check_text, shown
from krypenv.rewards import KINDS, illegal_reward, returns_of
from krypenv.rules import Rules, RulesLike, as_rules

ANSWER_WITH = "Answer with your move on a line of its own, as in MOVE: 8Sx2H6D."
_MARKED = re.compile(r"\bmove\b\W{0,3}[:=]\W{0,3}(\S.*)", re.IGNORECASE)
_MOVE = re.compile(rf"(?<!\w)(?:{MOVE_PATTERN})(?!\w)")
_MARKUP = "*_`'\".,;!$()<> \t"  # around a move


# ---------------------------------------------------------------------- rules and replies


def rules_in_words(rules: Rules) -> str:
    """Write the rules of a game in full, with examples, by the narrator that people read."""
    narrator = _narrator(rules)
    sections = ["\n".join([heading, *paragraphs]) for heading, paragraphs in narrator.in_full()]
    return "\n\n".join([f"{narrator.table_title}.", *sections])


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
MOST_TRIES = 100


class Measures(NamedTuple):
    """What rewards need that stands above environments: `krypenv.training.measures_by` makes them."""

    regret: Callable[[Game, Move], float]  # of a move before it is made, in points
    luck: Callable[[Game], np.ndarray]  # in the margins of a game that is over, (S,) points by side


class Terms(NamedTuple):
    """How a learner is seated, shown the game and paid."""

    #: rules or their text; "random" draws others for each episode, which nobody has read
    rules: RulesLike | None = None
    seat: int | str = 0  #: the learner's seat, or "all"
    #: as in `krypenv.envs.learner.LearnerGames`, or one of the levels "first_steps", "even", "hard" and "champion"
    opponents: Opponents = "greedy"
    listed: bool = True  #: list the legal moves
    tries: int = 3  #: replies without a legal move that end the episode
    #: "centred", "points" or "win" at the end; "adjusted", the first with luck taken out; "regret", minus the points
    #: that each move gives away
    reward: str = "centred"
    judge: str = "search(worlds=30)"  #: the agent that values moves for "regret"


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

    Raises ValueError in one sentence for wrong terms.

    >>> text = TextGame(Terms("mini-low", opponents="random"), seed=7)
    >>> text.answer("I sweep with the king: KS").fault
    'KS is not in your hand. You hold 5C 6C 3D 5H.'
    """

    def __init__(self, terms: Terms = DEFAULT, seed: int | None = None) -> None:
        check_name("reward", terms.reward, (*KINDS, ADJUSTED, REGRET))
        check_switch("listed", terms.listed)
        check_whole("tries", terms.tries, 1, MOST_TRIES)
        check_text(terms.judge, "judge")
        self.terms = terms
        self._measures: Measures | None = None
        if terms.reward in (ADJUSTED, REGRET):  # by name, as training stands above environments
            self._measures = import_module("krypenv.training").measures_by(terms.judge)
        seed = None if seed is None else check_seed(seed)
        rng = np.random.default_rng(seed)
        self.rules = rules_of(terms, rng)
        learns = range(self.rules.players)
        if terms.seat != ALL:
            learns = range(first := check_whole("seat", terms.seat, 0, self.rules.players - 1), first + 1)
        pool, weights = zip(*as_pool(terms.opponents), strict=True)
        chances = np.array(weights) / sum(weights)
        self._opponents: dict[int, Player] = {}
        for seat in set(range(self.rules.players)) - set(learns):
            opponent, own = pool[rng.choice(len(pool), p=chances)], int(rng.integers(1 << 63))
            is_name = isinstance(opponent, str)
            self._opponents[seat] = make_named(LEVELS.get(opponent, opponent), self.rules, own) if is_name else opponent
        self.game = Game(self.rules, seed=seed)
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
                kind = self.terms.reward if self.terms.reward in KINDS else "centred"
                tally.paid += illegal_reward(self.rules, kind, pays_regret)
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
        """Compute the points by which a seat's side leads the mean of all sides so far."""
        return float(returns_of(self.rules, self.game.totals, "centred")[seat])

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
        self.over, reward, rules = True, self.terms.reward, self.rules
        if reward == REGRET:
            return
        kind = "centred" if reward == ADJUSTED else reward
        returns = returns_of(rules, self.game.totals, kind, self.game.tie_breaks())
        # a return is the lead over the mean of all sides, luck over that of the others
        luck = self._luck * (rules.num_teams - 1) / rules.num_teams
        for seat, tally in enumerate(self.tallies):
            tally.paid += float(returns[seat] - luck[rules.team_of(seat)])


def rules_of(terms: Terms, rng: np.random.Generator) -> Rules:
    """Make the rules of an episode, the first draw of its generator where they are unseen; ValueError for no rules."""
    return Rules.random(rng) if terms.rules == UNSEEN else as_rules(terms.rules)
