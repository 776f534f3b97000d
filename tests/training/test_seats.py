"""Who may play where: programs, which forfeit and end, and agents, which see the blocks that they ask for."""

import gc
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.arenas import HIGH, LOW, Picky, arena, same_games
from support.commands import krypenv
from support.programs import FEWEST_POINTS, has_ended, odd, of_command
from support.small_files import tiny_protocol

from krypenv import Engine, Game, Move, Rules, agents
from krypenv.agents.own import typed
from krypenv.envs.learner import LearnerGames
from krypenv.features import blocks_in, history_in, observation_for, want_history
from krypenv.training import duplicate_match
from krypenv.training.data import DataSettings
from krypenv.training.data.making import play_rows
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import PolicyAwareSearch
from krypenv.training.solving import measure, solve_into
from krypenv.ui.table import Table, hint_of

RULES = Rules.preset("mini-low")
play = partial(arena, rules=RULES)


# ---------------------------------------------------------------------- where agents play


@pytest.mark.slow
def test_an_arena_takes_programs_and_objects_in_any_number_of_processes(tmp_path):
    sources = (of_command(FEWEST_POINTS), odd(tmp_path, "plays"), LOW)
    one, two = (play(tmp_path / f"{count}", *sources, deals=4, chunk=2, workers=count) for count in (1, 2))
    assert same_games(one, two)
    assert one.names == (*sources[:2], "lowest")
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


# ---------------------------------------------------------------------- in files


def test_no_file_starts_a_program(tmp_path, monkeypatch):
    """Neither the string of an agent in one, nor a record."""
    monkeypatch.chdir(tmp_path)
    evil, said = f"process(command='touch {tmp_path}/started')", "nothing that a file names is imported or started"
    for spec in (evil, evil.replace("process", " process "), "process", f"process(seconds=3, {evil[8:]}"):
        with pytest.raises(ValueError, match=f"is named in a file, and {said}"):
            agents.make_known(spec, RULES)
    game = Game(RULES, seed=1)
    game.tags |= {"Seat0": "person", "Seat1": evil}
    (tmp_path / "game.krk").write_text(game.record())
    assert said in krypenv("play", "--load", "game.krk", typed="1\n" * 40).stderr
    assert not (tmp_path / "started").exists()


# ---------------------------------------------------------------------- blocks of an observation

TWO, SMALL = Rules.preset("krypkasino", players=2), Rules.preset("mini-sweep")
ASKS = {"nothing": {}, "features": {"features": True}, "history": {"history": True}}
ASKS["both"] = ASKS["features"] | ASKS["history"]
every_ask = pytest.mark.parametrize("ask", ASKS)


def picky(ask: str) -> str:
    """The agent by its name."""
    options = ", ".join(f"{name}={value}" for name, value in ASKS[ask].items())
    return typed(f"support.arenas:Picky({options})")


def in_matches(rules: Rules, own: str, other: str, folder: Path) -> None:
    duplicate_match(own, other, rules, deals=1)
    duplicate_match(other, own, rules, deals=1)
    assert not arena(folder / "arena", own, other, HIGH, rules=rules, deals=2, cheaters=True).forfeits


def in_searches(rules: Rules, own: str, other: str, folder: Path) -> None:
    player, target = (agents.make(each, rules) for each in (own, other))
    if not want_history((player,)):  # the plays before a sampled world are not known
        duplicate_match(PolicyAwareSearch(player, player, rules, worlds=2), target, rules, deals=1)


def in_data(rules: Rules, own: str, other: str, folder: Path) -> None:
    settings = DataSettings(agent=own, against=(other,), rules=str(rules), values=True, out=folder)
    play_rows(settings, (own, own), 0, deal_seeds(0, 2))


def against_learners(rules: Rules, own: str, other: str, folder: Path) -> None:
    for blocks in ASKS.values():
        games, late = (LearnerGames(rules, 8, "random", seats, **blocks) for seats in ([own, other], ["greedy"]))
        late.set_opponents([own, other])
        assert games.observation.shape[1] == Picky(rules, **blocks).width
        for _ in range(20):
            games.step(games.action_mask.argmax(axis=1))
            late.step(late.action_mask.argmax(axis=1))


def at_tables(rules: Rules, own: str, other: str, folder: Path) -> None:
    for opponent in (own, other):
        table = Table(Game(rules, seed=1), 0, (opponent,))
        while not table.game.is_over:
            list(table.play_others())
            if not table.game.is_over:
                hint = hint_of(table.game, own)
                table.game.push(hint if isinstance(hint, Move) else hint.values[hint.preferred].move)


SEATS: list[Callable[[Rules, str, str, Path], None]] = [in_matches, in_searches, in_data, against_learners, at_tables]
every_seat = pytest.mark.parametrize("seat", SEATS)


@every_ask
@every_seat
def test_beside_an_equilibrium_which_reads_the_plays(seat: Callable, ask: str, tmp_path: Path) -> None:
    solve_into(tmp_path / "sweep", SMALL, 0.5, 10)
    seat(SMALL, picky(ask), typed(str(tmp_path / "sweep")), tmp_path)


def test_beside_a_cheater(tmp_path: Path) -> None:
    in_matches(TWO, picky("nothing"), "oracle-deck", tmp_path)


@every_ask
def test_alone_for_a_score_in_an_exact_solution_and_in_an_analysis(ask: str, tmp_path: Path) -> None:
    with tiny_protocol():
        score_agent(ScoreSettings(agent=picky(ask), out=tmp_path / "score.json", table=("two",), deals=2))
    lowest = typed("support.arenas:Lowest")
    assert measure(picky(ask), SMALL).exploitability == measure(lowest, SMALL).exploitability
    game = Game(TWO, seed=2)
    game.push(game.legal_moves()[0])
    assert len(analyze(game, picky(ask), worlds=2).plays) == 1


@pytest.mark.parametrize("text", ["krypkasino players=2", "kasino-finland", "mulle players=3"])
def test_an_agent_s_view_is_what_an_engine_with_its_blocks_writes(text: str) -> None:
    rules = Rules.parse(text)
    engines = {ask: Engine(rules, 64, seed=3, **blocks) for ask, blocks in ASKS.items()}
    for _ in range(20):
        actions = engines["nothing"].sample_actions()
        for engine in engines.values():
            engine.step(actions)
    for given in engines.values():
        for ask, engine in engines.items():
            if given.history or not engine.history:
                seen = observation_for(Picky(rules, **ASKS[ask]), rules, given.observation, given.action_mask)
                assert np.array_equal(seen, engine.observation)


def test_a_width_that_no_observation_has_is_refused() -> None:
    engine = Engine(TWO, 4, history=True)
    for wrong in (engine.observation[:, :-1], engine.observation[0]):
        for ask in (blocks_in, history_in):
            with pytest.raises(ValueError, match=r"observations under krypkasino .* are \(B, 433\)"):
                ask(TWO, wrong)
