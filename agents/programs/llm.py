"""An agent that is a language model behind an OpenAI-compatible endpoint (docs/language.md)."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from krypenv.agents.programs.asked import Asked, view_of
from krypenv.agents.scripted import Random
from krypenv.game.game import Game
from krypenv.inputs.words import one_line, shown, to_install
from krypenv.rules import Rules

KEY = "OPENAI_API_KEY"  # the environment variable of the endpoint's key
RANDOM, FORFEIT = "random", "forfeit"  # what becomes of a decision without a legal move
AGAIN = "That is no legal move. {fault} Answer again, and end with MOVE: and a legal move."
FIRST_WAIT = 0.5  # seconds before a busy endpoint is asked again; doubled each time


class ModelFailed(ValueError):
    """A language model can't be asked, or named no legal move; the message names it and what happened."""


@dataclass
class Usage:
    """What a language model's decisions took, and how many of its moves were legal."""

    decisions: int = 0
    legal_at_once: int = 0  #: decisions whose first reply was legal
    played_at_random: int = 0  #: decisions without a legal reply
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0  #: of waiting; parallel decisions count each

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: Usage) -> Usage:
        return Usage(*map(operator.sub, astuple(self), astuple(other)))

    def __bool__(self) -> bool:
        return self.decisions > 0

    def __str__(self) -> str:
        """Sum up in a sentence, per decision."""
        count = max(self.decisions, 1)
        return (
            f"{self.decisions:,} decisions of {self.prompt_tokens / count:,.0f} + "
            f"{self.completion_tokens / count:,.0f} tokens and {self.seconds / count:.2f} s, "
            f"{self.legal_at_once / count:.1%} legal at once, {self.played_at_random / count:.1%} played at random"
        )


class Llm(Asked):
    """Plays what a language model answers: it reads the rules and what its seat may see, and names a move.

    The games of a call are asked about at the same time.

    Args:
        model: the model's name at the endpoint.
        url: the endpoint's base address, as in http://127.0.0.1:8000/v1; by default OpenAI's.
        key: the environment variable that holds the endpoint's key.
        prompt: a file in place of the package's prompt: the system's part, a line with ---, and the user's part, with
            {rules} and {view} where they belong.
        listed: list the legal moves.
        tries: replies to a decision; after a wrong one the model is told why.
        seconds: the time limit for a decision, all replies together.
        tokens: the most tokens of a reply; 0 for the endpoint's own limit.
        temperature: of sampling; None for the endpoint's own.
        illegal: what becomes of a decision without a legal move in time: "random" plays any legal one, and counts it;
            "forfeit" raises.
        parallel: requests at a time.

    Attributes:
        usage: tokens, seconds and legality so far.

    Raises ValueError for a wrong option, and `ModelFailed`, a ValueError, from `act` where the endpoint can't be
    reached or refuses the request, and for a forfeit.
    """

    def __init__(
        self,
        rules: Rules,
        seed: int = 0,
        *,
        model: str = "",
        url: str = "",
        key: str = KEY,
        prompt: str = "",
        listed: bool = True,
        tries: int = 3,
        seconds: float = 60.0,
        tokens: int = 0,
        temperature: float | None = None,
        illegal: str = RANDOM,
        parallel: int = 8,
    ) -> None:
        if not model:
            raise ValueError("llm needs the name of a model, as in llm(model='qwen3', url='http://127.0.0.1:8000/v1')")
        if illegal not in (RANDOM, FORFEIT):
            raise ValueError(f"illegal is {RANDOM!r} or {FORFEIT!r}, not {shown(illegal)}")
        super().__init__("llm", rules, seed, locals())
        self.usage = Usage()
        self._listed, self._tries, self._seconds = listed, tries, float(seconds)
        self._random = None if illegal == FORFEIT else Random(rules, seed)
        from krypenv.envs.text_game import PROMPT, read_prompt  # not before: it loads pydantic

        self._prompt = read_prompt(rules, Path(prompt) if prompt else PROMPT)
        self._client = _connect(url, key)
        limits = {"max_completion_tokens": tokens or None, "temperature": temperature}
        self._request = {"model": model} | {name: value for name, value in limits.items() if value is not None}
        self._pool = ThreadPoolExecutor(parallel)

    def ask(self, games: Sequence[Game], seen: np.ndarray) -> list[str]:
        """Ask the model for a legal move in each game."""
        texts = [view_of(game, row, self._listed)["text"] for game, row in zip(games, seen, strict=True)]
        decisions = list(self._pool.map(self._decide, games, texts))
        self.usage = sum((took for *_, took in decisions), self.usage)
        return [
            move or self._without_reply(game, fault) for game, (move, fault, _) in zip(games, decisions, strict=True)
        ]

    def _without_reply(self, game: Game, fault: str) -> str:
        """Choose a random move in place of a legal reply; raise ModelFailed to forfeit."""
        if self._random is None:
            raise ModelFailed(f"{one_line(self.name)} forfeits: {fault}")
        self.usage.played_at_random += 1
        return str(self._random.move(game))

    def _decide(self, game: Game, view: str) -> tuple[str, str, Usage]:
        """Ask about a decision until a reply is legal, or tries or seconds are spent.

        Returns the move, or else an empty text; the fault of the last wrong reply; and what that took.
        """
        from krypenv.envs.text_game import read_reply

        system, user = self._prompt
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user.replace("{view}", view)}]
        took, begun, move, fault = Usage(decisions=1), time.monotonic(), "", ""
        while not move and took.replies < self._tries:
            completion = self._complete(messages, begun + self._seconds)
            if completion is None:
                fault = f"it did not answer within {self._seconds:g} seconds"
                break
            took.replies += 1
            if completion.usage:
                took.prompt_tokens += completion.usage.prompt_tokens
                took.completion_tokens += completion.usage.completion_tokens
            message = completion.choices[0].message if completion.choices else None
            reply = (message.content or message.refusal or "") if message else ""
            try:
                move = str(read_reply(game, reply))
            except ValueError as error:
                fault = str(error)
                again = AGAIN.format(fault=f"{fault}." if fault[-1] not in ".!" else fault)
                messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": again}]
        took.legal_at_once = int(bool(move) and took.replies == 1)
        took.seconds = time.monotonic() - begun
        return move, fault, took

    def _complete(self, messages: list[dict[str, str]], deadline: float) -> Any:
        """Request a completion; None if there is none by the deadline. A busy endpoint is asked again meanwhile."""
        import openai

        wait = FIRST_WAIT
        while (left := deadline - time.monotonic()) > 0:
            try:
                return self._client.chat.completions.create(messages=messages, timeout=left, **self._request)
            except openai.APITimeoutError:
                return None
            except (openai.RateLimitError, openai.InternalServerError):
                time.sleep(max(min(wait, deadline - time.monotonic()), 0))
                wait *= 2
            except openai.OpenAIError as error:
                raise ModelFailed(f"{one_line(self.name)} can't be asked: {one_line(str(error))}") from None
        return None


def _connect(url: str, key: str) -> Any:
    try:
        import openai
    except ModuleNotFoundError as error:
        needed = f"llm needs openai, which is not installed; {to_install('llm')}"
        raise ModuleNotFoundError(needed, name=error.name) from None
    secret = os.environ.get(key)
    if not secret and not url:
        raise ValueError(f"llm needs the key of its endpoint in the environment variable {shown(key)}, or a url")
    return openai.OpenAI(base_url=url or None, api_key=secret or "none", max_retries=0)
