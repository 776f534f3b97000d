"""The rules of any game with examples, which every page shows: a request of the page, as they tell nothing hidden."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

LONGEST = 300  # characters of rules as text
PATIENCE = 2.0  # seconds that a page waits for examples; the engine may be compiled for them
_ONE = threading.Lock()  # rules are worked out one after another, whoever asks


async def serve_rules(request: Request) -> JSONResponse:
    """Answer with the rules that `of` names, in the `language`; with an error in a sentence if they can't be played."""
    of, language = request.query_params.get("of", ""), request.query_params.get("language", "en")
    try:
        if len(of) > LONGEST:
            raise ValueError(f"rules have at most {LONGEST} characters")
        told = await asyncio.to_thread(_told, of, language, False)
        with contextlib.suppress(asyncio.TimeoutError):
            told = await asyncio.wait_for(asyncio.shield(asyncio.to_thread(_told, of, language, True)), PATIENCE)
    except ValueError as error:
        return JSONResponse({"say": str(error)}, 400)
    return JSONResponse(told)


@lru_cache(maxsize=64)
def _told(of: str, language: str, with_examples: bool) -> dict[str, Any]:
    """Return a title, and paragraphs under headings."""
    from krypenv.rules import Rules
    from krypenv.ui.narrator.narrator import Narrator

    with _ONE if with_examples else contextlib.nullcontext():
        words = Narrator(Rules.parse(of), language=language)
        parts = words.in_full() if with_examples else [(heading, [line]) for heading, line in words.lines()]
        return {"title": words.table_title, "parts": parts}
