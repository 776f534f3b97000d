"""The games in OpenEnv: a language model plays a seat by text, through OpenEnv's client, over the network.

Serve it by `krypenv serve`, or by `uvicorn --factory krypenv.adapters.openenv:make_app`. Needs the extra `[openenv]`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from fastapi import FastAPI
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, Observation, State
from pydantic import Field

from krypenv.envs.opponents import LEVELS
from krypenv.envs.text_game import ADJUSTED, DEFAULT, UNSEEN, Terms, TextGame, read_prompt
from krypenv.inputs.words import check_name, shown
from krypenv.rules import as_rules

SESSIONS = 64  # at the same time
IDLE = 3600.0  # seconds after which a session that nobody uses is freed
VIEWS = ("both", "text", "json")


class MoveAction(Action):
    """A reply of the learner; its move is read by `krypenv.envs.text_game.read_reply`."""

    move: str = Field(
        max_length=100_000, description="a move as people write it, such as 8Sx2H6D, or a text that ends with one"
    )


class SeatObservation(Observation):
    """What the learner's seat sees before its decision, or at the end."""

    text: str = Field("", description="what the seat sees, in words, with its legal moves if they are listed")
    values: dict[str, Any] = Field(
        default_factory=dict, description="the same as values: docs/programs.md has the keys"
    )
    instructions: str = Field("", description="the rules in full and how to answer; after a reset only")
    rules: str = Field("", description="the rules of the episode, as Rules.parse reads them")
    seat: int = Field(0, description="the learner's seat")
    fault: str = Field("", description="why the last reply named no legal move")
    tries_left: int = Field(0, description="replies that may still go wrong in this decision")
    move: str = Field("", description="the move that the last reply made")


class KrypkasinoEnvironment(Environment[MoveAction, SeatObservation, State]):
    """One seat of a game; agents play the others. `terms` are the defaults of a reset."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, terms: Terms = DEFAULT) -> None:
        super().__init__()
        self._terms, self._view = terms, VIEWS[0]
        self._game: TextGame | None = None
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, *, players: int | None = None,
        view: str = VIEWS[0], **terms: Any,
    ) -> SeatObservation:  # fmt: skip
        """Begin an episode.

        Args:
            seed: of deals, opponents and unseen rules: the same seed and replies give the same episode.
            episode_id: a name of one's own.
            players: the number of players, for rules that leave it open.
            view: what a seat sees as "text", as "json" values, or "both".
            terms: fields of `Terms`. Agents that a client names are of the package and need no file.

        Raises ValueError in one sentence for what can't be played.
        """
        check_name("view", view, VIEWS)
        rules = terms.get("rules", self._terms.rules)
        if players is not None and rules != UNSEEN:
            terms["rules"] = replace(as_rules(rules), players=players)
        chosen = self._terms.changed(**terms)
        for name in {chosen.judge, *chosen.opponents} - {self._terms.judge, *self._terms.opponents}:
            _check_agent(name)
        self._game, self._view = TextGame(chosen, seed), view
        self._state = State(episode_id=episode_id)
        return self._observe(instructions=read_prompt(self._game.rules)[0])

    def step(self, action: MoveAction, timeout_s: float | None = None, **_: Any) -> SeatObservation:
        """Make the move that a reply names, or say why it names none; `reward` and `done` come with what is seen."""
        if self._game is None or self._game.over:
            begun = "the episode is over" if self._game else "no episode has begun"
            raise ValueError(f"{begun}: reset the environment")
        answer = self._game.answer(action.move)
        self._state.step_count += 1
        return self._observe(reward=answer.reward, fault=answer.fault, move=answer.move)

    def _observe(self, **more: Any) -> SeatObservation:
        game = self._game
        assert game is not None
        values = {} if game.over else game.values
        text = values.pop("text", "")
        return SeatObservation(
            text=text if self._view != "json" else "", values=values if self._view != "text" else {},
            rules=str(game.rules), seat=game.seat, tries_left=game.tries_left, done=game.over, **more,
        )  # fmt: skip

    @property
    def state(self) -> State:
        """The name of the episode and the number of replies: nothing that the seat may not know."""
        return self._state


def _check_agent(name: str) -> None:
    """Raise ValueError for an agent that a client, who may be anybody, may not name."""
    try:
        import_module("krypenv.agents").check_recorded(LEVELS.get(name, name))  # here, as agents import environments
    except ValueError:
        raise ValueError(
            f"{shown(name)} is no agent that a client may name: that is a level ({', '.join(LEVELS)}), or an agent of "
            "the package that needs no file, with 500 worlds at most; `krypenv serve` takes any"
        ) from None


def _warm_up(terms: Terms) -> None:
    """Compile what an episode needs, for which clients don't wait; raise ValueError for terms that can't be played."""
    game = TextGame(terms, 0)
    game.answer(str(game.game.legal_moves()[0]))
    if terms.reward == ADJUSTED:  # luck is taken out at the end
        game = TextGame(terms.changed(opponents="random"), 0)
        while not game.over:
            game.answer(str(game.game.legal_moves()[0]))


def make_app(terms: Terms = DEFAULT, sessions: int = SESSIONS, idle: float = IDLE) -> FastAPI:
    """Make the web application that serves the environment, each session with an episode of its own.

    A session ends when its connection is cut, or when nobody has used it for `idle` seconds.
    """
    _warm_up(terms)
    return create_app(
        partial(KrypkasinoEnvironment, terms),
        MoveAction,
        SeatObservation,
        env_name="krypkasino",
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle),
    )
