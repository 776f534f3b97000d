"""The texts of the page and its server, by language."""

from __future__ import annotations

from typing import Any

from krypenv.ui.browser import english, swedish

CATALOGUES = {"en": english.TEXTS, "sv": swedish.TEXTS}  # those of the narrator


def say(language: str, key: str, **parts: Any) -> str:
    """Return a text with its parts."""
    return CATALOGUES[language][key].format(**parts)
