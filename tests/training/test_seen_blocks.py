"""An agent sees the blocks of an observation that it asks for, and no others, whoever sits beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from support.arenas import HIGH, Picky, arena
from support.small_files import tiny_protocol

from krypenv import Engine, Game, Move, Rules, agents
from krypenv.agents.own import typed
from krypenv.envs.learner import LearnerGames
from krypenv.features import append_features, blocks_in, history_in, observation_for, want_history, width_of
from krypenv.observation import history_size
from krypenv.training import duplicate_match
from krypenv.training.data.rows import Games, play_rows
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.score.playing import ScoreSettings, score_agent
from krypenv.training.exploiting import PolicyAwareSearch
from krypenv.training.solving import measure, solve_into
from krypenv.ui.table import Table

TWO, SMALL = Rules.preset("krypkasino", players=2), Rules.preset("mini-sweep")
ASKS = {"nothing": {}, "features": {"features": True}, "history": {"history": True}}
ASKS["both"] = ASKS["features"] | ASKS["history"]
every_ask = pytest.mark.parametrize("ask", ASKS)


def picky(ask: str) -> str:
    """The agent by its name."""
    options = ", ".join(f"{name}={value}" for name, value in ASKS[ask].items())
    return typed(f"support.arenas:Picky({options})")


@pytest.fixture(scope="module")
def equilibrium(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an equilibrium of the small game, which needs the history."""
    folder = tmp_path_factory.mktemp("solved") / "sweep"
    solve_into(folder, SMALL, 0.5, 10)
    return typed(str(folder))


# ---------------------------------------------------------------------- who seats agents


def _match(rules: Rules, own: str, other: str, folder: Path) -> None:
    duplicate_match(own, other, rules, deals=1)
    duplicate_match(other, own, rules, deals=1)


def _arena(rules: Rules, own: str, other: str, folder: Path) -> None:
    played = arena(folder / "arena", own, other, HIGH, rules=rules, deals=2, cheaters=True)
    assert not played.forfeits


def _exploit(rules: Rules, own: str, other: str, folder: Path) -> None:
    player, target = (agents.make(each, rules) for each in (own, other))
    if not want_history((player,)):  # the plays before a sampled world are not known
        search = PolicyAwareSearch(player, player, rules, worlds=2)
        duplicate_match(search, target, rules, deals=1)


def _data(rules: Rules, own: str, other: str, folder: Path) -> None:
    play_rows(Games(rules, 0, deal_seeds(0, 2), (own, other), ("own", "other"), ((0, 1), (1, 0)), 0, (own, own)))


def _learner(rules: Rules, own: str, other: str, folder: Path) -> None:
    for blocks in ASKS.values():
        games, late = (LearnerGames(rules, 8, "random", seats, **blocks) for seats in ([own, other], ["greedy"]))
        late.set_opponents([own, other])
        assert games.observation.shape[1] == Picky(rules, **blocks).width
        for _ in range(20):
            games.step(games.action_mask.argmax(axis=1))
            late.step(late.action_mask.argmax(axis=1))


def _environments(rules: Rules, own: str, other: str, folder: Path) -> None:
    for blocks in ASKS.values():
        env = gymnasium.make("Krypkasino-v0", rules=rules, opponents=[own, other], **blocks)
        (_, told), ended = env.reset(seed=0), False
        while not ended:
            _, _, ended, _, told = env.step(int(told["action_mask"].argmax()))


def _table(rules: Rules, own: str, other: str, folder: Path) -> None:
    for opponent in (own, other):
        table = Table(Game(rules, seed=1), 0, (opponent,))
        while not table.game.is_over:
            list(table.play_others())
            if not table.game.is_over:
                hint = table.hint(own)
                table.game.push(hint if isinstance(hint, Move) else hint.values[hint.preferred].move)


SEATS: dict[str, Callable[[Rules, str, str, Path], None]] = {
    "match": _match, "arena": _arena, "exploit": _exploit, "data": _data, "learner": _learner,
    "environments": _environments, "table": _table,
}  # fmt: skip


@every_ask
@pytest.mark.parametrize("seat", SEATS)
def test_beside_an_equilibrium(seat: str, ask: str, equilibrium: str, tmp_path: Path) -> None:
    SEATS[seat](SMALL, picky(ask), equilibrium, tmp_path)


@pytest.mark.parametrize("seat", SEATS)
def test_beside_the_champion_which_reads_the_plays(seat: str, tmp_path: Path) -> None:
    SEATS[seat](TWO, picky("nothing"), "champion(worlds=2)", tmp_path)


@pytest.mark.parametrize("seat", ["match", "arena"])
def test_beside_a_cheater(seat: str, tmp_path: Path) -> None:
    SEATS[seat](TWO, picky("nothing"), "oracle-deck", tmp_path)


@every_ask
def test_alone_for_a_score_in_an_exact_solution_and_in_an_analysis(ask: str, tmp_path: Path) -> None:
    with tiny_protocol():
        score_agent(ScoreSettings(agent=picky(ask), out=tmp_path / "score.json", table=("two",), deals=2))
    lowest = typed("support.arenas:Lowest")
    assert measure(picky(ask), SMALL).exploitability == measure(lowest, SMALL).exploitability
    game = Game(TWO, seed=2)
    game.push(game.legal_moves()[0])
    assert len(analyze(game, picky(ask), worlds=2).plays) == 1


# ---------------------------------------------------------------------- the cut itself


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
    seen, masks = engine.observation, engine.action_mask
    with pytest.raises(ValueError, match="features follow observations"):
        append_features(TWO, seen, masks)
    for wrong in (seen[:, :-1], seen[:, : TWO.observation_size + 1], seen[0]):
        for ask in (blocks_in, history_in, lambda *rows: observation_for(Picky(TWO), *rows, masks)):
            with pytest.raises(ValueError, match=r"observations under krypkasino .* are \(B, 433\)"):
                ask(TWO, wrong)
    assert (width_of(TWO, False), width_of(TWO, True), history_size(TWO)) == (433, 1369, 1320)
