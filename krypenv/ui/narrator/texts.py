"""The texts of the terminal, the page and its server: a file of sentences per language, in JSON beside this module.

A text with two forms, as in "point|points", has the one for a count of one first. Loading it loads no engine.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from krypenv.inputs.words import shown

LANGUAGES = ("en", "sv")
CATALOGUES: dict[str, dict[str, str]] = {
    language: json.loads(Path(__file__).with_name(f"{language}.json").read_text(encoding="utf-8"))
    for language in LANGUAGES
}
_COMMAND = re.compile(r"\s*process\(.*?command\s*=\s*(['\"])\s*(\S.*?)\1", re.DOTALL)
_MODEL = re.compile(r"\s*llm\(.*?model\s*=\s*(['\"])(?:[^'\"]*/)?([^'\"]*)\1", re.DOTALL)
_FILE = re.compile(r"\.[A-Za-z]\w*$")  # how the name of a program's file ends


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """Read the language of a locale from the variables LC_ALL, LC_MESSAGES or LANG; English by default."""
    name = next(filter(None, (environment.get(key, "") for key in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return name[:2] if name[:2] in LANGUAGES and not name[2:3].isalpha() else "en"


def check_language(language: str) -> str:
    """Return a language, or raise ValueError if it has no catalogue."""
    if language not in CATALOGUES:
        raise ValueError(f"the languages are {', '.join(LANGUAGES)}, not {shown(language)}")
    return language


def say(language: str, key: str, count: int | None = None, **parts: Any) -> str:
    """Fill in a text of a catalogue; `count` chooses between its two forms."""
    text = CATALOGUES[language][key]
    if "|" in text:
        one, many = text.split("|")
        text = one if count is not None and abs(count) == 1 else many
    return text.format(count=count, **parts)


def short_name(agent: str) -> str:
    """Name an agent within sentences: without options and folders, a program by its file, a language model by its name.

    >>> short_name("tactician(shed=True)"), short_name("runs/mine/model")
    ('tactician', 'model')
    >>> short_name("process(command='python my_bot.py --fast')"), short_name("process(command='./bot')")
    ('my bot', 'bot')
    >>> short_name("llm(url='http://127.0.0.1:8000/v1', model='Qwen/qwen3')")
    'qwen3'
    """
    if model := _MODEL.match(agent):
        return model[2]
    command = _COMMAND.match(agent)
    if not command:
        return agent.partition("(")[0].rpartition("/")[2]
    words = command[2].split()
    file = next((word for word in words if _FILE.search(word)), words[0])
    return _FILE.sub("", file.rpartition("/")[2]).replace("_", " ") or file


def called(agent: str) -> str:
    """Return the proper name of an agent, without its options."""
    name = short_name(agent)
    return name[:1].upper() + name[1:]
