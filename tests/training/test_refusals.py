"""What commands refuse: exit code 2, one sentence that says what is wrong, and nothing written."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import krypenv
from support.small_files import files_of, forged, scores, tiny_protocol

from krypenv import Game, Rules
from krypenv.agents.champion import MODELS
from krypenv.training.solving import solve_into

LAST = "'rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest'"
OVER = "'rules: mini-sweep; captured 0: rest'"
REFUSED = {
    # words that no command knows, in those of the library that reads command lines
    "evalute": "no such command 'evalute' (did you mean ",
    "score --no-such": "; see krypenv score --help",
    "evaluate greedy": "missing option '--against'; see krypenv evaluate --help",
    "solve --out": " requires an argument; see krypenv solve --help",
    "evaluate greddy --against greedy": "unknown agent 'greddy' (did you mean 'greedy'?)",
    "evaluate greedy --against runs/none": "there is no model folder 'runs/none'",
    "evaluate greedy --against random --deals x": "deals should be a valid integer, not 'x'",
    "show no-record": "",
    "show game.krk --png a.png --at 10": "the game has 9 moves, so --at is 0 to 9, not 10",
    "show game.krk --png a.png --hands both": "render_seat is 'turn', 'all', None or a seat from 0 to 1, not 'both'",
    "show game.krk --gif a.gif --seconds nan": "seconds should be a finite number, not nan",
    "show game.krk --gif a.png": "the name of this picture ends in .gif, and 'a.png' does not",
    "show game.krk --png game.krk": "game.krk is what is read",
    "arena --out out greedy": "an arena needs at least two agents, not 1",
    "arena --out out greedy random greedy()": "greedy is named twice",
    "arena --out out greedy random --first 3": "first is a number of the 2 agents, or 0",
    "arena --out out greedy random --chunk 1 --deals 200001": "at most 200,000 chunks over all its matches, not 200,0",
    "data search --out out --against greedy --values": "greedy can't analyse what a seat sees",
    f"data greedy --out out {'--against random ' * 30} --players 6": "30 agents on 5 sides make more than 10,000 tab",
    "exploit greddy": "unknown agent 'greddy' (did you mean 'greedy'?)",
    "exploit oracle-hand": "oracle-hand sees what is hidden",
    "exploit greedy --seeds 0 --worlds 0": "there is nothing to exploit with",
    "exploit greedy --rules mini-sweep --exact --seeds 0": "seeds is 1 or more, not 0",
    "exploit greedy --deals-from dev --seeds 0 --worlds 1 --selection 2 --deals 3": "deals of 'dev' choose the expl",
    f"analyze {LAST} --seat 1": "are for records",
    'analyze \'[Rules "mini-low"] [Seed "1"] *\'': "there is no move to analyse",
    f"analyze {LAST} --agent greedy": "greedy can't analyse",
    f"analyze {LAST} --open --agent search": "search can't analyse with all hands open",
    f"analyze {LAST} --picture p.jpg": "'p.jpg' does not",
    f"analyze {LAST} --worlds 1": "worlds should be greater than or equal to 2, not 1",
    f"analyze {OVER} --json out.json": "the game is over",
    "analyze game.krk --seat 2": "there is no seat 2; the seats are 0 to 1",
    "analyze game.krk --mark 9": "three rising numbers of points",
    "analyze game.krk --annotate ./game.krk": "is what is read; give the file to write another name",
    "analyze picture.png": "picture.png is no text",
    "solve sweep": "--at shows what its strategy does",
    "solve sweep --at large": "the position is one of 'mini-last players=2', and the strategy is for",
    "solve mini-sweep --at large": "the position is one of 'mini-last players=2', and the strategy is for",
    "solve sweep --at small --rule goal=high": "leave out --rule and --out",
    f"solve mini-sweep --at {OVER}": "the game is over",
    "solve mini-sweep --at small --hands 6": "is solved as a whole, with all hands; leave out --hands",
    f"solve krypkasino --at {LAST} --out out": "is solved from one position only",
    "solve krypkasino --hands 6": "--hands bounds what the seats may hold at a position",
    "score": "give one of --out FILE to play, --check FILE to verify and --board FOLDER",
    "score greedy --table tow --out x.json": "no table 'tow' (did you mean 'two'?); they are two, three",
    f"score {MODELS / 'two'} --out x.json": "can't play table two",
    "score oracle-hand --out x.json": "sees what is hidden",
    "score greedy --table two --table two --out x.json": "a table is named twice",
    "score greedy --out good.json": "good.json is there already, and a score is not overwritten",
    "score greedy --out nowhere": "nowhere: Too many levels of symbolic links",
    "score --board twice": "tactician has two scores at table two, in twice/a.json and in twice/b.json",
    "score greedy --check good.json": "good.json was made with the agent 'tactician', and here it is 'greedy'",
    "score --check version.json": "version.json was made with krypenv '0.0.0', and here it is",
    "score --check own.json": "is named in a file, and nothing that a file names is imported or started",
    "score --check forfeits.json support.small_files:Failing": "table two has 1 forfeited games, and the replay 4",
    "bench --only enigne": "no line of the benchmark fits 'enigne'; the lines are self-play, ",
    "bench --beside none": " has no commit 'none': fatal: not a valid object name",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a record of nine moves, a strategy, positions, scores, and what is none of these."""
    folder, game = tmp_path_factory.mktemp("here"), Game(Rules.preset("mini-high"), seed=1)
    for _ in range(9):
        game.push(game.legal_moves()[0])
    good, own, _ = scores()
    files = {
        "game.krk": game.record().encode(), "no-record": b"no record", "picture.png": b"\x89PNG", "good.json": good,
        "own.json": own, "twice/a.json": good, "twice/b.json": good,
        "forfeits.json": forged(own, lambda it: it["tables"]["two"].update(forfeits=1)),
        "version.json": forged(good, lambda it: it["agent"].update(version="0.0.0")),
        "small": Game(Rules.preset("mini-sweep"), seed=0).position().encode(),
        "large": Game(Rules.preset("mini-last"), seed=0).position().encode(),
    }  # fmt: skip
    (folder / "twice").mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "nowhere").symlink_to("nowhere/at/all")
    solve_into(folder / "sweep", Rules.preset("mini-sweep"), 0.5, 10)
    with tiny_protocol():
        yield folder


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_wrong_is_told_in_one_sentence_and_nothing_is_written(
    folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = files_of(folder)
    done = krypenv(*shlex.split(line))
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 1), done.output
    assert done.stderr.startswith("krypenv: ")
    assert REFUSED[line] in done.stderr
    assert (files_of(folder), sorted(folder.glob("out*"))) == (before, [])
