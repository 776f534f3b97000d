"""Many games with one learner: between its decisions, opponents play the other seats."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from krypenv.arguments import MOST_GAMES, check_switch, check_whole
from krypenv.engine import Engine, IntArray, mix_array, row_seeds
from krypenv.envs.base import TERMS, Terms
from krypenv.envs.opponents import RANDOM, Opponent, Opponents, as_pool, ask_opponent, make_named
from krypenv.features import observation_for, want_history, width_of
from krypenv.inputs.words import check_keywords, shown
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.observing import note_play, write_history, write_observation
from krypenv.kernels.play import act, may_be_last
from krypenv.rewards import Payments
from krypenv.rules import RulesLike, as_rules
from krypenv.runtime.jit import for_kernels, handle, kernel
from krypenv.state import allocate, is_legal, mix

LEARNER = -1  # in `LearnerGames.players`: the learner sits here
ANY, ALL = "random", "all"  # seats of the learner
_DRAW = np.uint64(0xD1B54A32D192ED03)  # odd; separates the draws of one game from those of the next
_UNIT = 2.0**-53
_S11 = np.uint64(11)


@kernel
def draw_rows(seeds: np.ndarray, games: np.ndarray, out: np.ndarray) -> None:
    """Fill `out`, (M, K) float64, with uniform numbers from [0, 1) that depend only on a row's seed and its game."""
    for row in range(len(out)):
        word = mix(seeds[row] ^ mix(np.uint64(games[row]) * _DRAW))
        for column in range(out.shape[1]):
            word = mix(word + _DRAW)
            out[row, column] = np.float64(word >> _S11) * _UNIT


class Endings(NamedTuple):
    """What is kept of the games that end."""

    state: np.ndarray  # (1,) of `GAME`: the last state of the game that ended last
    viewers: np.ndarray  # (B,) int64: the seats that see it
    observation: np.ndarray  # (B, N) int8: what they see
    width: int  # entries of an observation before its history


@kernel
def write_endings(
    compiled: np.ndarray,
    state: np.ndarray,
    record: np.ndarray,
    rows: np.ndarray,
    actions: np.ndarray,
    endings: Endings,
    scratch: np.ndarray,
) -> None:
    """Write the final observations of games that an action ends, each as its viewer sees it.

    `record`, (B, M, RECORD) int8, has the plays of the deal, if observations have a history. The engine deals the next
    game in the step that ends one, so the last action is carried out on a copy of the row.
    """
    last, observation = endings.state[0], endings.observation
    for number in range(len(rows)):
        row, action = rows[number], actions[number]
        game = state[row]
        if may_be_last(compiled[0], game) and is_legal(game, action):
            endings.state[0] = game
            act(compiled[0], last, action, scratch[0])
            if last.over:
                seat = endings.viewers[row]
                observation[row] = 0
                write_observation(compiled[0], last, seat, observation[row])
                if observation.shape[1] > endings.width:
                    note_play(compiled[0], last, record[row])
                    write_history(compiled[0], last, record[row], seat, observation[row, endings.width :])


class LearnerGames:
    """B games in which a learner plays one seat or all seats, and opponents from a pool play the others.

    The learner acts in every row at once. `step` carries out its actions, plays the opponents' moves up to its next
    decision in every row, and deals the next episode where one ended. An episode is a session of `rules.games`
    games. Rows are independent: the same seed and the same choices give the same episodes in a row.

    With `seat="all"` each step acts for `seats`, (B,), and consecutive steps of a row belong to different seats. Then
    keep one stream of experience for each (row, seat): advantages over a whole row would mix seats.

    Args:
        rules: the rules of all rows, or their text or fields.
        num_games: B.
        seat: the learner's seat; "random" draws one for each episode, "all" gives it all seats.
        opponents: who plays the other seats: the name of an agent as `krypenv.agents.make` reads it ("random",
            "search(worlds=10)", a model's folder), an object with `act(observations, action_masks)`, or a list of these
            or of (opponent, weight), from which one is drawn for each seat and episode. The random choices of named
            agents follow from the seed of the first row.
        threads: threads of the engine.
        seed: a number or an array of B, as in `Engine`.
        illegal_ends: end the episode with `illegal_reward` after an illegal action of the learner, instead of raising.
        keywords: how the learner is paid and what it sees: `reward`, `dense`, `features` and `history`, the fields of
            `krypenv.envs.base.Terms`. Opponents see the blocks that they ask for (`krypenv.agents.Agent`), whatever the
            learner sees.

    Attributes:
        engine: the engine; between steps the learner is to act in every row.
        seats: (B,) int32, the seat that the learner is to act for.
        observation, action_mask: (B, N) and (B, 105) int8, what these seats see and may do.
        acting: (B,) int32, the seat that acted in the last step.
        reward: (B,) float64, what the seat that acted earned in the last step, up to its row's next decision.
        rewards: (B, P) float64, what every seat earned in it.
        done: (B,) bool, whether the last step ended an episode.
        returns: (B, P) float64, what every seat has earned in the episode, the last step included.
        lengths: (B,) int64, the learner's steps in it.
        final_observation: (B, N) int8, what the seat that acted sees at the end; valid where `done`.
        ended: (1,) of `GAME`, the state at the end of the game that ended last, when it is one of one row.
        players: (B, P) intp, who plays each seat: an index into the pool, or LEARNER.

    The arrays change with every step: copy what you want to keep.
    """

    def __init__(
        self,
        rules: RulesLike,
        num_games: int,
        seat: int | str = 0,
        opponents: Opponents = RANDOM,
        threads: int = 1,
        seed: int | npt.ArrayLike = 0,
        illegal_ends: bool = False,
        **keywords: Any,
    ) -> None:
        rules = as_rules(rules)
        num_games = check_whole("the number of games", num_games, 1, MOST_GAMES)
        check_switch("illegal_ends", illegal_ends)
        check_keywords(type(self).__name__, keywords, TERMS)
        terms = Terms(**keywords)
        is_number = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
        if not (seat in range(rules.players) if is_number else isinstance(seat, str) and seat in (ANY, ALL)):
            raise ValueError(f"the learner's seat is 0 to {rules.players - 1}, 'random' or 'all', not {shown(seat)}")
        self.rules, self.num_games, self.seat = rules, num_games, seat
        self.illegal_reward = terms.illegal_reward(rules) if illegal_ends else None
        self._opponents = as_pool(opponents)
        self._seeds = row_seeds(seed, num_games)
        self.pool = self._make_pool()
        history = terms.history or self._needs_history()
        self.engine = Engine(rules, num_games, self._seeds, terms.features, threads, history=history)
        self._width = terms.width(rules)  # N
        self._view_engine()
        self.reward = np.zeros(num_games)
        self._payments = Payments(rules, num_games, terms.reward, terms.dense)
        self.rewards = self._payments.rewards
        self.done = np.zeros(num_games, np.bool_)
        self.acting = self.seats.copy()
        self.returns, self.lengths = np.zeros_like(self.rewards), np.zeros(num_games, np.int64)
        self.players = np.full((num_games, rules.players), LEARNER, np.intp)
        self._episodes = np.zeros(num_games, np.int64)  # episodes that ended since the row was seeded
        self._all_rows = np.arange(num_games)
        viewers, observation = np.zeros(num_games, np.int64), np.zeros_like(self.observation)
        self._endings = Endings(handle(allocate(1)), viewers, observation, width_of(rules, terms.features))
        self.ended, self._viewers, self.final_observation, _ = self._endings
        self._seat_players(self._all_rows)
        self._play_others()

    def _view_engine(self) -> None:
        """Take the engine's arrays of the next decisions as views."""
        self.seats = self.engine.seat
        self.observation, self.action_mask = self.engine.observation[:, : self._width], self.engine.action_mask

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        self._view_engine()  # copied by themselves, the arrays would no longer be those of the engine

    def set_opponents(self, opponents: Opponents) -> None:
        """Replace the pool: opponents are drawn anew for each seat, and take over the games in progress.

        If they are the first that need the history, new episodes begin instead, because no plays were recorded.
        """
        self._opponents = as_pool(opponents)
        self.pool = self._make_pool()
        if self._needs_history() and not self.engine.history:
            engine = self.engine
            self.engine = Engine(self.rules, self.num_games, self._seeds, engine.features, engine.threads, history=True)
            self._view_engine()
            self.restart(self._all_rows)
        else:
            self._seat_players(self._all_rows)

    def _needs_history(self) -> bool:
        return want_history(opponent for opponent, _ in self.pool)

    def _make_pool(self) -> list[tuple[Opponent, float]]:
        """Make the named opponents, with seeds that follow from that of the first row; keep the others."""
        seeds = np.random.SeedSequence(int(self._seeds[0])).generate_state(len(self._opponents), np.uint64).tolist()
        pool: list[tuple[Opponent, float]] = []
        for (opponent, weight), seed in zip(self._opponents, seeds, strict=True):
            is_name = isinstance(opponent, str) and opponent != RANDOM  # the engine itself plays at random
            pool.append((make_named(str(opponent), self.rules, seed) if is_name else opponent, weight))
        return pool

    def save(self) -> dict[str, npt.NDArray[Any]]:
        """Copy all that decides how the games continue, except the opponents, to plain arrays by name."""
        state = np.frombuffer(self.engine.state.tobytes(), np.uint8).reshape(self.num_games, -1)
        plays = {"record": self.engine.record.copy()} if self.engine.history else {}
        return {name: array.copy() for name, array in self._own_arrays().items()} | {"state": state} | plays

    def load(self, saved: dict[str, npt.NDArray[Any]]) -> None:
        """Resume from what `save` returned for the same number of games under the same rules."""
        for name, array in self._own_arrays().items():
            array[:] = saved[name].view(array.dtype)
        state = np.frombuffer(saved["state"].tobytes(), self.engine.state.dtype.base)
        self.engine.set_state(state.view(np.recarray), record=saved.get("record"))

    def _own_arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "paid": self._payments.paid, "seeds": self._seeds, "episodes": self._episodes, "viewers": self._viewers,
            "players": self.players, "returns": self.returns, "lengths": self.lengths, "done": self.done,
        }  # fmt: skip

    def restart(self, rows: npt.ArrayLike, seeds: npt.ArrayLike | None = None) -> None:
        """Abandon the episodes of some rows, (M,) ints, and begin new ones from given seeds or the rows' next.

        If seeds are given for all rows, named opponents start afresh with them.
        """
        rows = np.asarray(rows, np.int64)
        self.returns[rows], self.lengths[rows] = 0, 0
        self._reseed(rows, seeds)
        if seeds is not None and len(rows) == self.num_games:
            self.pool = self._make_pool()
        self._play_others()

    def _reseed(self, rows: IntArray, seeds: npt.ArrayLike | None = None) -> None:
        if seeds is None:
            seeds = mix_array(self._seeds[rows] + _DRAW * (self._episodes[rows] + 1).astype(np.uint64))
        self._seeds[rows] = row_seeds(seeds, len(rows))
        self._episodes[rows] = 0
        self._payments.paid[rows] = 0
        self.engine.restart(rows, self._seeds[rows])
        self._seat_players(rows)

    def _seat_players(self, rows: IntArray) -> None:
        """Draw the learner's seat and the opponents for the episodes that begin in some rows."""
        if self.seat == "all":
            return
        players = self.rules.players
        draws = np.empty((len(rows), players + 1))
        draw_rows(self._seeds[rows], self._episodes[rows], draws)
        bounds = np.cumsum([weight for _, weight in self.pool])
        self.players[rows] = np.searchsorted(bounds, draws[:, 1:] * bounds[-1], side="right")
        self._viewers[rows] = draws[:, 0] * players if self.seat == "random" else self.seat
        self.players[rows, self._viewers[rows]] = LEARNER

    def step(self, actions: npt.ArrayLike, rows: IntArray | None = None) -> None:
        """Carry out the learner's action in every row, (B,) ints, then play on to its next decision in each.

        `rows`, (M,) ints, limits the step to some rows: in the others, whose actions are ignored, nothing happens.
        Raises IllegalMove, and changes nothing, if an action is illegal and `illegal_ends` is not set.
        """
        chosen: npt.NDArray[Any] = np.asarray(actions)
        if chosen.shape != (self.num_games,):
            raise ValueError(f"{self.num_games} games need one action each, not an array of shape {chosen.shape}")
        last = self.rules.num_actions - 1
        if chosen.dtype.kind not in "iu":
            raise ValueError(f"actions are whole numbers from 0 to {last}, not {shown(chosen.dtype)}")
        acting = self.seats.copy()
        rows = self._all_rows if rows is None else rows
        chosen, stepped, forfeited = chosen[rows], rows, rows[:0]
        if self.illegal_reward is not None and len(rows):
            if not 0 <= chosen.min() <= chosen.max() <= last:
                raise ValueError(f"actions are whole numbers from 0 to {last}, not {chosen.min()} to {chosen.max()}")
            legal = self.action_mask[rows, chosen] == 1
            rows, chosen, forfeited = rows[legal], chosen[legal], rows[~legal]
        if self.seat == "all":
            self._viewers[:] = acting
        self._step_engine(rows, chosen)
        self.acting = acting
        self.returns[self.done], self.lengths[self.done], self.done[:] = 0, 0, False
        self.rewards[:] = 0
        if len(forfeited):
            self._forfeit(forfeited)
        self._finish(rows)
        self._play_others()
        self._payments.pay(self.engine.state, stepped[~self.done[stepped]])
        self.reward = self.rewards[self._all_rows, acting]
        self.returns += self.rewards
        self.lengths[stepped] += 1

    def _play_others(self) -> None:
        """Play the opponents' moves until the learner is to act in every row."""
        if self.seat == "all":
            return
        rows = self._all_rows
        while True:
            turns = self.players[rows, self.seats[rows]]
            rows, turns = rows[turns != LEARNER], turns[turns != LEARNER]
            if len(rows) == 0:
                return
            actions = np.empty(len(rows), np.int64)
            for player, (opponent, _) in enumerate(self.pool):
                is_turn = turns == player
                if is_turn.any():
                    actions[is_turn] = self._choose(opponent, rows[is_turn])
            self._step_engine(rows, actions)
            self._finish(rows)

    def _choose(self, opponent: Opponent, rows: IntArray) -> npt.NDArray[Any]:
        if isinstance(opponent, str):
            return self.engine.sample_actions(rows)
        masks = self.action_mask[rows]
        observations = observation_for(opponent, self.rules, self.engine.observation[rows], masks)
        return ask_opponent(opponent, observations, masks)

    def _step_engine(self, rows: IntArray, actions: npt.NDArray[Any]) -> None:
        """Write the final observations of the games that these actions end, then carry out the actions."""
        engine = self.engine
        chosen = for_kernels(actions, np.int64)
        write_endings(
            engine.compiled, handle(engine.state), engine.record, rows, chosen, self._endings, borrow_scratch()
        )
        engine.step(actions, rows)

    def _finish(self, rows: IntArray) -> None:
        """Pay for the episodes that the engine's step has ended in some rows, and seat the next players."""
        ended = rows[self.engine.finished[rows]]
        if len(ended):
            self._payments.settle(ended, self.engine.final_scores[ended], self.engine.final_tie_breaks[ended])
            self.done[ended] = True
            self._episodes[ended] += 1
            self._seat_players(ended)

    def _forfeit(self, rows: IntArray) -> None:
        """End the episodes of some rows because of an illegal action."""
        self.ended[0] = handle(self.engine.state)[rows[-1]]
        self.final_observation[rows] = self.observation[rows]
        self.rewards[rows, self.seats[rows]] = self.illegal_reward
        self.done[rows] = True
        self._reseed(rows)
