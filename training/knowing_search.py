"""A search that knows the policy of the others: the strongest simple way to exploit an agent without training."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from krypenv.agents import Agent
from krypenv.cards import NUM_ACTIONS
from krypenv.checks import check_decisions
from krypenv.engine import Engine
from krypenv.rewards import returns_of, running_scores
from krypenv.rules import Rules
from krypenv.state import State
from krypenv.training.public_record import PublicRecord, ask
from krypenv.worlds import determinize

IntArray = npt.NDArray[np.int64]

GAMES = 16_384  # games at once, about
UNKNOWN = -1  # the number of a game that is not followed


class KnowingSearch:
    """Plays each legal action on in sampled worlds, with the target's own policy at its seats, and takes the best one.

    In each world (`krypenv.determinize`) every action is tried, and the deal is played to its end: by `target` at
    the other sides' seats, by `own` at those of the own side. The action with the highest mean margin is chosen; on the
    real cards nothing but observations is used. What follows the deal is not looked at.

    As it knows the target, its plays tell it about the target's hand: where the games are followed (`begin`, `watch`
    and `rows` in `act`), the worlds are those out of `candidates` times as many that agree best with what the target
    has played in this deal (`PublicRecord`).

    Args:
        target: the policy of the other sides; it is asked here in made-up worlds, so hand in a twin of the player.
        own: the policy of the own side after the action in question.
        rules: the rules; must be those of both.
        worlds: worlds a decision.
        candidates: worlds sampled for one that is kept, where a game is followed.
        seed: of the worlds.

    >>> rules = Rules.preset("krypkasino")
    >>> search = KnowingSearch(agents.make("greedy", rules), agents.make("tactician", rules), rules, worlds=8)
    >>> search.act(engine.observation, engine.action_mask)
    """

    def __init__(
        self, target: Agent, own: Agent, rules: Rules, worlds: int = 32, candidates: int = 4, seed: int = 0
    ) -> None:
        if worlds < 1 or candidates < 1:
            raise ValueError(f"a search needs at least one world and one candidate, not {worlds} and {candidates}")
        self.name = f"knowing search with {own.name}"
        self.target, self.own, self.rules = target, own, rules
        self.worlds, self.candidates = worlds, candidates
        self._rng = np.random.default_rng(seed)
        self.begin()

    def begin(self) -> None:
        """Forget all games."""
        self._record = PublicRecord(self.target, self.rules, self._rng)

    def watch(self, rows: npt.ArrayLike, observations: npt.NDArray[np.int8], actions: npt.ArrayLike) -> None:
        """Note what the target did in some games, (M,) numbers of games; its hand is taken out of what it saw."""
        self._record.add(rows, observations, actions)

    def act(
        self, observations: npt.NDArray[np.int8], action_masks: npt.NDArray[np.int8], rows: npt.ArrayLike | None = None
    ) -> IntArray:
        """Return a legal action for each row, (B,) int64; `rows` are the numbers of the games, if they are followed."""
        observations, masks = check_decisions(self.rules, observations, action_masks)
        actions: IntArray = masks.argmax(axis=1)
        games = np.full(len(masks), UNKNOWN) if rows is None else np.asarray(rows)
        open_rows = np.flatnonzero(masks.sum(axis=1) > 1)
        size = max(1, GAMES // (self.worlds * max(4, self.candidates)))
        for start in range(0, len(open_rows), size):
            part = open_rows[start : start + size]
            actions[part] = self._values(observations[part], masks[part], games[part]).argmax(axis=1)
        return actions

    def _values(
        self, observations: npt.NDArray[np.int8], masks: npt.NDArray[np.int8], rows: IntArray
    ) -> npt.NDArray[np.float64]:
        """Return the mean margin at the end of the deal after each action, (B, 105) float64, -inf for illegal ones."""
        worlds = self._sample(observations, rows)
        row, action = np.nonzero(masks)
        games = (row[:, None] * self.worlds + np.arange(self.worlds)).ravel()
        margins = self._play_out(worlds[games].view(np.recarray), np.repeat(action, self.worlds))
        values = np.full((len(masks), NUM_ACTIONS), -np.inf)
        values[row, action] = margins.reshape(-1, self.worlds).mean(axis=1)
        return values

    def _sample(self, observations: npt.NDArray[np.int8], rows: IntArray) -> State:
        """Return `worlds` worlds for each row, (B x worlds,)."""
        plays = [self._record.plays(int(row), seen) for row, seen in zip(rows, observations, strict=True)]
        count = self.worlds * (self.candidates if any(plays) else 1)
        worlds = determinize(np.repeat(observations, count, axis=0), self._rng, self.rules)
        if count == self.worlds:
            return worlds
        best = np.argsort(self._record.misses(plays, worlds), axis=1, kind="stable")[:, : self.worlds]
        kept: State = worlds[(best + count * np.arange(len(plays))[:, None]).ravel()].view(np.recarray)
        return kept

    def _play_out(self, worlds: State, actions: IntArray) -> npt.NDArray[np.float64]:
        """Return the margin of the seat to act at the end of the deal, (G,), after one action in each world, (G,)."""
        engine, sides = Engine.from_state(self.rules, worlds, check=False), self.rules.num_teams
        scores = np.zeros((len(worlds), self.rules.players), np.int64)
        every = rows = np.arange(len(worlds))
        while True:
            engine.step(actions, rows)
            over = engine.finished[rows]
            scores[rows[over]] = engine.final_scores[rows[over]]
            rows = rows[~over]
            ended = (engine.state.deal_number[rows] != worlds.deal_number[rows]) | (
                engine.state.game_number[rows] != worlds.game_number[rows]
            )
            scores[rows[ended]] = running_scores(self.rules, engine.state[rows[ended]].view(np.recarray))
            rows = rows[~ended]
            if len(rows) == 0:
                break
            own = engine.seat[rows] % sides == worlds.seat[rows] % sides
            actions = np.empty(len(rows), np.int64)
            for player, at in ((self.own, own), (self.target, ~own)):
                actions[at] = ask(player, engine.observation[rows[at]], engine.action_mask[rows[at]])
        return returns_of(self.rules, scores, "centred")[every, worlds.seat] * sides / (sides - 1)
