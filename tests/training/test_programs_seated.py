"""Programs in the arena, for a score, at the tables and in files: they forfeit, they end, and no file starts one."""

import gc
import hashlib
import re
from functools import partial

import pytest
from support.arenas import arena, same_games
from support.commands import krypenv
from support.programs import FEWEST_POINTS, has_ended, odd, of_command, running

from krypenv import Game, Rules, agents
from krypenv.envs.learner import LearnerGames
from krypenv.training.evaluation.score.playing import identity_of
from krypenv.training.evaluation.score.protocol import TABLES
from krypenv.training.learn.settings import TrainSettings
from krypenv.ui.browser.thinking import Thinker

RULES = Rules.preset("mini-low")
play = partial(arena, rules=RULES)


# ---------------------------------------------------------------------- where agents play


def test_an_arena_takes_programs_in_any_number_of_processes(tmp_path):
    sources = (of_command(FEWEST_POINTS), odd(tmp_path, "plays"), "greedy")
    one, two = (play(tmp_path / f"{count}", *sources, deals=4, chunk=2, workers=count) for count in (1, 2))
    assert same_games(one, two)
    assert one.names == sources
    assert set(one.forfeit) == {-1}
    assert has_ended(tmp_path)


def test_one_that_dies_forfeits_what_it_plays_until_the_next_chunk_and_no_other_game(tmp_path):
    """Each chunk has a program of its own; at its fifth question it ends, in the middle of the chunk's four games."""
    games = play(tmp_path / "arena", odd(tmp_path, "dies", 5), "greedy", "random", deals=4, chunk=2)
    with_it = (games.agents == 0).any(axis=1)
    assert (games.forfeit[with_it] == 0).all()
    assert (games.forfeit[~with_it] == -1).all()
    reason = re.compile(r"odd\.py dies 5'\) raised ProgramFailed: .* ended with exit code 1; its standard .*: oh dear ")
    assert all(map(reason.search, games.forfeits))
    assert has_ended(tmp_path)


def test_one_that_names_an_illegal_move_forfeits_that_game_alone(tmp_path):
    path = tmp_path / "once.py"
    path.write_text(FEWEST_POINTS.read_text().replace('message["id"],', 'message["id"], "cards": len(message["hand"]),')
                    .replace("best(message", '"KSxKS" if message["deal"] == 3 and message["seat"] else best(message')
                    )  # fmt: skip
    games = play(tmp_path / "arena", of_command(path), "greedy", deals=3, chunk=3)
    assert (games.forfeit == [-1 if first else 0 for first in games.agents[:, 0] == 0]).all()


@pytest.mark.parametrize(
    ("how", "sentence"), [("sorry", "won't play: I need a key"), ("dies 2", "ended with exit code 1")]
)
def test_commands_end_with_one_sentence(how, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = krypenv("evaluate", odd(tmp_path, *how.split()), "--against", "greedy", "--deals", 1, "--rules", "mini-low")
    assert done.exit_code == 2
    assert re.search(rf"odd\.py.*{sentence}", done.stderr)
    assert len(done.stderr.splitlines()) == 1


def test_an_opponent_of_an_environment_may_be_one():
    games = LearnerGames(RULES, 2, opponents=[of_command(FEWEST_POINTS)])
    for _ in range(5):
        games.step(games.action_mask.argmax(axis=1))


def test_a_score_knows_the_files_of_the_command(tmp_path):
    def identity(name):
        return identity_of(agents.typed(name), [TABLES["two"]])

    path = tmp_path / "odd.py"
    one = identity(odd(tmp_path, "plays"))
    assert hashlib.sha256(path.read_bytes()).hexdigest() in one.files_sha256
    path.write_text(path.read_text() + "\n# changed")
    other = identity(of_command(path, "plays"))
    assert one.name == other.name
    assert one.files_sha256 != other.files_sha256
    assert identity(of_command(FEWEST_POINTS, seconds=9)).name.endswith("seconds=9)")


def test_it_sits_at_the_table_in_the_terminal_and_gives_hints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program, words = odd(tmp_path, "plays"), ("play", "--rules", "mini-low", "--seed", 1, "--against")
    done = krypenv(*words, program, "--hint", program, typed="hint\n" + "1\n" * 40)
    assert done.exit_code == 0, done.output
    assert "Odd advises:" in done.stdout
    assert "Odd played" in done.stdout
    game = Game.replay((tmp_path / "game.krk").read_text())
    assert game.is_over
    assert game.tags["Seat1"] == program
    gc.collect()  # the table; the command's own process would end
    assert has_ended(tmp_path)
    done = krypenv(*words, odd(tmp_path, "dies", 2), typed="1\n" * 40)
    assert done.exit_code == 2
    assert done.stderr == "krypenv: Odd can't go on; why is in game-2.krk.log, with cards that you can't see\n"
    log = tmp_path / "game-2.krk.log"
    assert log.stat().st_mode & 0o077 == 0
    assert "ended with exit code 1; its standard error ends: oh dear\n" in log.read_text()
    assert len(Game.replay((tmp_path / "game-2.krk").read_text()).moves) > 1


@pytest.mark.anyio
async def test_it_sits_at_the_table_in_the_browser(tmp_path):
    thinker, game = Thinker(), Game(RULES, seed=1)
    program = agents.typed(odd(tmp_path, "plays"))
    try:
        await thinker.prepare(RULES, {program: 0})
        assert await thinker.decide(program, 0, game) == str(game.legal_moves()[0])
        assert running(tmp_path)
        with pytest.raises(ValueError, match="nothing that a file names is imported or started"):
            await thinker.prepare(RULES, {program.replace("plays", "stays"): 0})
    finally:
        thinker.close()
    assert has_ended(tmp_path)


# ---------------------------------------------------------------------- in files


def test_no_file_starts_a_program(tmp_path, monkeypatch):
    """Neither the string of an agent in one, nor a record, nor the settings of a run."""
    monkeypatch.chdir(tmp_path)
    evil, said = f"process(command='touch {tmp_path}/started')", "nothing that a file names is imported or started"
    for spec in (evil, evil.replace("process", " process "), "process", f"process(seconds=3, {evil[8:]}"):
        with pytest.raises(ValueError, match=f"is named in a file, and {said}"):
            agents.make_known(spec, RULES)
    game = Game(RULES, seed=1)
    game.tags |= {"Seat0": "person", "Seat1": evil}
    (tmp_path / "game.krk").write_text(game.record())
    done = krypenv("play", "--load", "game.krk", typed="1\n" * 40)
    assert done.exit_code == 2
    assert said in done.stderr
    kept = TrainSettings.from_file({**TrainSettings().model_dump(mode="json"), "opponents": ["greedy", evil]})
    with pytest.raises(ValueError, match='krypenv train --resume runs/x --opponents "process'):
        kept.typed_by(TrainSettings(resume="runs/x"))
    assert kept.typed_by(TrainSettings(resume="runs/x", opponents=(evil,))) == kept
    assert not (tmp_path / "started").exists()
