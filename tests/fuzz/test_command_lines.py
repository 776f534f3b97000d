"""Legal command lines with one or two words changed: each does what it asks for, or is refused with one sentence."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path

from support.command_lines import BY_SETTINGS, COMMANDS, clear, folder_with_games, run_line, settings_command, tiny_work
from support.fuzzing import NASTY_WORDS, fuzz, mutate_parts, seeded

NUMBERS = ("0", "-1", "1000000000000", "1" + "0" * 30, "nan", "inf", "-inf", "1e999", "x", "", "1.5", "-0.0")
SMALL_WORDS = ("1", "2", "0.5", "7", "greedy", "out.json", "mini-low", "mini-high players=3", "dev", "test", "centred")


def mutate_words(words: list[str], rng: random.Random) -> list[str]:
    """Return a command line with one or two words changed, most often the value of an option."""
    words = list(words)
    for _ in range(rng.choice((1, 1, 2))):
        values = [at + 1 for at, word in enumerate(words[:-1]) if word.startswith("--")]
        if values and rng.random() < 0.5:
            words[rng.choice(values)] = rng.choice([*SMALL_WORDS, *SMALL_WORDS, *NASTY_WORDS, *NUMBERS])
        else:
            odd = rng.choice((NASTY_WORDS, ("--no-such", "--deals", "--seed", "--", "-x")))
            words = [*words[:1], *mutate_parts(words[1:], rng, odd)]
    return words


@contextlib.contextmanager
def tiny_work_there() -> Iterator[None]:
    """Do tiny work in a folder with games."""
    with tiny_work(), folder_with_games():
        yield


@fuzz(within=tiny_work_there, rng=seeded)
def test_a_command_line_is_carried_out_or_refused(rng: random.Random) -> None:
    by_settings = rng.random() < 0.3
    words = settings_command(rng.choice(BY_SETTINGS), rng) if by_settings else rng.choice(list(COMMANDS.values()))
    run_line(mutate_words(words, rng))
    clear(Path.cwd())
