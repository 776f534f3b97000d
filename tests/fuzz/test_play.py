"""Games in the terminal: whatever is typed is done or answered by a sentence, and the game on the disk is whole."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from support.fuzzing import NASTY_WORDS, check_sentence, fuzz, mutate_text, seeded
from support.small_files import some_folder
from support.terminals import sitting, typed

from krypenv import Game, Rules
from krypenv.ui.table import Table

RULES = (
    "mini-low players=2", "mini-double players=4 teams=2", "mini-low players=3 games=2", "mini-kasino players=2",
    "krypkasino players=2", "mini-mulle players=2", "mulle-glimne players=2",
)  # fmt: skip
WORDS = (
    "hint", "undo", "more", "back", "table", "save", "save x.krk", "save .", "save folder", "save n/x", "?", "", "13",
    "save " + "n" * 300, "save game.krk", "save link", "1", "2", "3", "-", "rules", "rules full", "why", "why 8s",
    "why 1", "why 99",
)  # fmt: skip


def some_line(game: Game, rng: random.Random) -> str:
    """Return what a person may type, right or wrong; no file is named outside the folder."""
    line = rng.choice(rng.choice((WORDS, NASTY_WORDS)))
    if rng.random() < 0.5 and not game.is_over:
        line = typed(rng.choice(game.legal_moves(1 << 20)))
        line = mutate_text(line, rng, WORDS) if rng.random() < 0.5 else line
    return "save /" if line.strip().lower().startswith("s") and "/" in line else line


@fuzz(share=0.3, rng=seeded)
def test_what_is_typed_is_done_or_answered_and_the_game_is_saved(rng: random.Random) -> None:
    rules = Rules.parse(rng.choice(RULES))
    table = Table(Game(rules, seed=rng.randrange(1 << 32)), rng.randrange(rules.players), ["random"], rng.randrange(99))

    def some_lines() -> Iterator[str]:
        for _ in range(30):
            assert Path("game.krk").read_bytes() == table.record()
            line, before, start = some_line(table.game, rng), table.game.position(), len(screen.getvalue())
            yield line
            said = screen.getvalue()[start:].partition(f"{line}\n")[2].partition("\n")[0]
            if said.strip() and table.game.position() == before:
                check_sentence(ValueError(said), line)

    with some_folder() as folder, mock.patch.object(os, "fsync"):
        (folder / "folder").mkdir()
        (folder / "link").symlink_to("folder")
        terminal, screen = sitting(table, some_lines())
        terminal.run()
        assert Path("game.krk").read_bytes() == table.record()
        for path in folder.glob("*.krk"):
            Game.replay(path.read_text(encoding="utf-8"))
