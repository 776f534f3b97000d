"""The answers and scores that the docs show are those of the stored results, with the commands that made them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answer_tables import stored
from relatives_picture import ARENAS, PICTURE, draw_relatives
from support.places import ROOT

from krypenv import Game, Rules, agents
from krypenv.training.evaluation.arena.arena import weights_of
from krypenv.training.evaluation.luck.control import control_of
from krypenv.training.evaluation.matches.margins import format_margin
from krypenv.training.evaluation.score.board import compare, make_board
from krypenv.training.evaluation.score.identity import identity_of
from krypenv.training.evaluation.score.playing import check_chunk, tasks_of
from krypenv.training.evaluation.score.protocol import DEALS, QUICK, TABLES
from krypenv.training.evaluation.score.score_file import read_score
from krypenv.training.lab.chunks import strong_agent
from krypenv.training.lab.studying import Setup
from krypenv.training.research.solved import baselines, late_deals, small
from krypenv.training.research.studies.adjusted import MATCHES
from krypenv.training.research.studies.registry import STUDIES, study_of
from krypenv.training.solving.beliefs import CAUSES

STORED = sorted((ROOT / "docs" / "results" / "studies").iterdir())
SCORES = sorted((ROOT / "docs" / "results" / "scores").glob("*.json"))
PAGE = (ROOT / "docs" / "results" / "strategy.md").read_text(encoding="utf-8")
MISERE = (ROOT / "docs" / "misere.md").read_text(encoding="utf-8")
EVALUATION = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
OWN = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
EXACT = (ROOT / "docs" / "exact.md").read_text(encoding="utf-8")
BELIEF = (ROOT / "docs" / "belief.md").read_text(encoding="utf-8")
PAGES = {
    "large": MISERE,
    "matched": MISERE,
    "recall": MISERE,
    "transfer": MISERE,
    "small": EXACT,
    "baselines": EXACT,
    "late": EXACT,
    "kings": OWN,
    "adjusted": EVALUATION,
    "sight": BELIEF,
}  # of studies that have one of their own


def setup_of(command: str) -> tuple[str, Setup]:
    """The study and the setup that a command line stands for."""
    name, *words = shlex.split(command)[2:]
    given = dict(zip([word.removeprefix("--") for word in words[::2]], words[1::2], strict=True))
    study = study_of(name)
    players = int(given.pop("players", study.players[0]))
    rules = study.rules or Rules.preset(given.pop("rules", "krypkasino"), players=players, teams=study.teams)
    agent, deals = given.pop("agent", study.agent or strong_agent(rules)), int(given.pop("deals", study.deals))
    seed, luck = int(given.pop("seed", 0)), given.pop("luck", "off")
    assert not given.keys() - {"models", "workers"}
    return name, Setup(rules, agent, deals, seed, luck=luck)


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
class TestStudies:
    def test_the_page_shows_the_answer_and_the_command(self, folder: Path) -> None:
        result = json.loads((folder / "result.json").read_text())
        page = PAGES.get(result["study"], PAGE)
        assert result["answer"] in page
        assert f"\n{result['command']}\n" in page
        name, setup = setup_of(result["command"])
        assert result["study"] == name
        assert result["question"] == STUDIES[name].question
        assert {key: result[key] for key in setup.to_json()} == setup.to_json()
        played = map(Rules.parse, result["sets"].values()) if "sets" in result else [setup.rules]
        controls = ["on", *(control_of(rules).digest for rules in played)]
        assert result.get("luck") == (controls if setup.luck == "on" else None)
        assert ("raw" in result) == (setup.luck == "on")
        assert result["weights_sha256"] == weights_of(setup.agent, agents.make(setup.agent, setup.rules))

    def test_no_answer_rests_on_an_interval_with_zero_without_saying_so(self, folder: Path) -> None:
        """As often as the sentence has an interval around zero, it says that it is not told apart."""
        answer = json.loads((folder / "result.json").read_text())["answer"]
        around = [
            bounds
            for bounds in re.findall(r"points a game \((-?[\d.]+) to (-?[\d.]+)", answer)
            if float(bounds[0]) < 0 < float(bounds[1])
        ]
        assert answer.count("not told apart from zero") >= len(around)


def test_every_study_has_a_stored_answer_and_a_figure() -> None:
    assert {json.loads((folder / "result.json").read_text())["study"] for folder in STORED} == set(STUDIES)
    for folder in STORED:
        assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_the_rows_of_set_ups_are_those_of_the_page() -> None:
    result = stored("setups-2")
    assert len(result["rows"]) > 6
    for (what, *cells), (_, *raw) in zip(result["rows"], result["raw"]["rows"], strict=True):
        found = re.search(rf"^\| {re.escape(what)} \|.*$", PAGE, re.MULTILINE)  # in the first table
        assert found
        for cell, as_played in zip(cells, raw, strict=True):
            assert cell.replace("\n", "<br>") in found[0]
            margin, *more = as_played.split("\n")
            assert as_played == cell or not margin.startswith(("+", "-")) or f"<br>raw {margin}, {more[0]}" in found[0]


def test_the_rows_of_matches_without_luck_are_those_of_the_page() -> None:
    rows: list[list[str]] = stored("adjusted-2")["rows"]
    assert len(rows) == len(MATCHES)
    for match, raw, adjusted, _, worth, time, luck in rows:
        margins = [f"{margin.replace(', ', ' (')})" for margin in (raw, adjusted, luck)]
        assert f"| {' | '.join([match, *margins, worth, time])} |" in EVALUATION


def test_the_page_on_belief_shows_what_was_measured() -> None:
    result = json.loads((ROOT / "docs/results/belief/result.json").read_text())
    assert result["answer"] in BELIEF
    assert f"\n{result['command']}\n" in BELIEF
    for row in result["rows"]:
        assert f"| {' | '.join(row)} |" in BELIEF
    champion = agents.make(result["agent"], Rules.parse(result["rules"]))
    assert result["weights_sha256"] == weights_of(result["agent"], champion)


def test_the_champion_s_lead_over_its_network_is_that_of_the_scores() -> None:
    """The page quotes the difference of both as the board compares them, with its 95% interval."""
    champion, network = (
        read_score(ROOT / "docs/results/scores" / f"{name}-two.json").tables["two"] for name in ("champion", "network")
    )
    lead, error = compare(champion, network)
    told = format_margin(lead, lead - 1.96 * error, lead + 1.96 * error, 1, " points a game")
    assert f"is better by {told}" in PAGE


def rows_of_small(result: dict[str, Any]) -> Iterator[str]:
    """The rows of the tables of the page on exact solving: agents in all games, agents in one, bounds, PPO.

    The values are held by `test_small_games` of `test_lists.py`.
    """
    figures = result["figures"]
    lost = figures[small.LOST]
    games = list(figures["exploitability"])
    for agent in figures["exploitability"][games[0]]:
        cells = [f"{figures['exploitability'][game][agent]:.2f}" for game in games]
        yield f"| `{agent}` | {' | '.join(cells)} | {lost['agents']['mini-hidden'][agent]:.2f} |"
    for agent, found in figures["bounds"].items():
        true = figures["exploitability"]["mini-hidden"][agent]
        yield f"| `{agent}` | {true:.2f} | {format_margin(found['margin'], found['low'], found['high'])} |"
    for frames, *runs in zip(figures["frames"], *figures["ppo"].values(), *lost["ppo"].values(), strict=True):
        cells = [" and ".join(f"{run:.2f}" for run in each) for each in runs]
        yield f"| {frames:,} | {' | '.join(cells)} |"
    for game, found in figures["causes"].items():
        yield f"| `{game}` | {' | '.join(f'{found[cause]:.3f}' for cause in CAUSES)} |"
    for name, figure in figures["trained"].items():
        yield f"| {name} | {figure:.2f} | {lost['trained'][name]:.2f} |"


def test_the_rows_of_small_games_are_those_of_the_page() -> None:
    result = stored("small-2")
    rows = list(rows_of_small(result))
    assert len(rows) == 11 + 4 + 6 + 7 + 4
    for row in rows:
        assert any(line.startswith(row.removesuffix(" |")) for line in EXACT.splitlines()), row


def test_what_the_page_says_of_small_games_holds() -> None:
    """What more search brings, and what it loses by: the claims in words."""
    figures = stored("small-2")["figures"]
    searches = {game: [found[agent] for agent in small.SEARCHES] for game, found in figures[small.BEST].items()}
    assert max(searches["mini-sweep"][3:]) < 0.005
    assert min(searches["mini-mulle"][2:]) > searches["mini-mulle"][1]
    assert "in `mini-mulle` more than three make it worse" in EXACT
    causes = figures["causes"]
    hidden, copies = causes["mini-hidden"], causes["mini-copies"]
    leaf = hidden["leaf of search"] - hidden["uniform/open"]
    assert leaf > hidden["uniform/open"] - hidden["exact/open"] > 10 * hidden["exact/open"] > 0.1
    assert hidden["exact/open"] == pytest.approx(0.01, abs=0.005)
    assert "the leaf value costs most, then beliefs; strategy fusion costs a hundredth of a point" in EXACT
    assert copies["exact/open"] < copies["leaf of search"] < copies["uniform/open"] / 2
    lost = figures[small.LOST]["agents"]
    for game, found in searches.items():
        assert lost[game][small.SEARCHES[-1]] > found[-1] / 2 - 0.001
    assert "An equilibrium wins most of its exploitability" in EXACT
    for game, found in causes.items():
        is_close = abs(found["leaf of search"] - lost[game][small.SEARCHES[-1]]) < 0.04
        assert is_close == (game not in ("mini-kasino", "mini-mulle")), game


def test_what_the_page_says_of_late_deals_holds() -> None:
    """The positions can be set up, and are solved; the command of the page shows one."""
    result = stored("late-2")
    positions = result["figures"]["positions"]
    assert len(positions) == result["deals"] + result["deals"] // late_deals.RARER
    for each in positions:
        game = Game.from_position(each["position"])
        assert (game.deal_number, sum(len(game.hand(seat)) for seat in range(2))) == (11, each["cards"])
        assert each["gap"] <= 1e-4
        assert {move for move, _, _ in each["moves"]} in ({str(move) for move in game.legal_moves()}, set())
    intervals = result["figures"]["intervals"]
    for cards in ("4 cards", "5 cards"):
        lost = {agent: intervals[f"{late_deals.LOST}, {cards}, {agent}"]["mean"] for agent in late_deals.ASKED}
        assert min(lost, key=lambda agent: lost[agent]) == "champion"
        assert lost["champion(worlds=0)"] > lost["search"]


def test_what_the_page_says_of_baselines_is_what_their_curves_say() -> None:
    """The times and the ends in its rows, the best settings, what was played, and the values of both games."""
    result = stored("baselines-2")
    figures = result["figures"]
    rows = {(game, name): cells for game, name, *cells in result["rows"]}
    for game, curves in figures["curves"].items():
        for name, runs in curves.items():
            *times, ends, _ = rows[game, name]
            assert f"| `{game}` | {' | '.join([name, *rows[game, name]])} |" in EXACT
            assert [float(end) for end in ends.replace("below ", "").split(" and ")] == pytest.approx(
                [max(run[-1][1], 1e-5) for run in runs], rel=0.06
            )
            for target, told in zip(baselines.TARGETS, times, strict=True):
                reached = [[seconds for seconds, points in run if points <= target] for run in runs]
                if all(reached):
                    assert float(told) == pytest.approx(max(seconds[0] for seconds in reached), rel=0.06)
                else:
                    assert told == "-"
    _, points = zip(*figures["curves"]["mini-mulle"][baselines.MMD][0], strict=True)
    assert list(points) != sorted(points, reverse=True)
    assert "it does not fall steadily" in EXACT
    played = result["deals"]
    tried = played * baselines.TRIED_STEPS // baselines.STEPS[-1]
    assert f"NFSP played {tried:,} deals with each, and {played:,} with the best one" in EXACT
    assert f"PPO made {baselines.TRIED_FRAMES:,} decisions, then {baselines.FRAMES[-1]:,}" in EXACT
    tried = {game: list(found[baselines.PPO]["tried"].values()) for game, found in figures["settings"].items()}
    gains = {
        what: np.divide(*(tried["mini-copies"][baselines.PPO_SETTINGS.index(setting)] for setting in settings))
        for what, settings in (
            ("small updates", ((3e-3, 0.01, 32), (3e-3, 0.01, 8))),
            ("rate", ((1e-3, 0.05, 8), (3e-3, 0.05, 8))),
            ("entropy", ((3e-3, 0.01, 8), (3e-3, 0.05, 8))),
        )
    }
    ends = [run[-1][1] for run in figures["curves"]["mini-mulle"][baselines.PPO]]
    assert f"PPO gains most by {max(gains, key=lambda what: gains[what])} in `mini-copies`" in EXACT
    assert [*tried["mini-mulle"], *ends] == pytest.approx([0.11] * 8, abs=0.02)
    assert "in `mini-mulle` it stalls near 0.1 with every setting" in EXACT
    for game, found in figures["settings"].items():
        for name in baselines.TUNED:
            tried = found[name]["tried"]
            assert tried[found[name]["best"]] == min(tried.values())
            assert f"| {name} | {found[name]['best']} |" in EXACT
        value = stored("small-2")["figures"]["values"][game]
        assert figures["measures"][game]["value"] == pytest.approx(value["value"])


def test_the_arenas_of_the_relatives_are_those_of_the_page_and_of_its_picture(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "results" / "relatives.md").read_text(encoding="utf-8")
    assert re.findall(r"^<!-- generated: arena (\S+) -->$", page, re.MULTILINE) == list(ARENAS)
    draw_relatives(tmp_path / "relatives.png")
    for path in (tmp_path / "relatives.png", PICTURE):
        assert "; ".join(ARENAS.values()).encode("latin-1") in path.read_bytes()


class TestScores:
    @pytest.mark.parametrize("path", SCORES, ids=lambda path: path.stem)
    def test_a_stored_score_is_whole_and_of_the_weights_in_the_package(self, path: Path) -> None:
        score = read_score(path)
        assert score.identity == identity_of(score.agent, [TABLES[name] for name in score.tables])
        words = shlex.split(score.command)
        assert words[:2] == ["krypenv", "score"]
        assert words[words.index("--out") + 1] == str(path.relative_to(ROOT))
        assert {table.deals for table in score.tables.values()} == {QUICK if "--quick" in words else DEALS}
        assert not any(table.forfeits for table in score.tables.values())

    @pytest.mark.slow
    @pytest.mark.parametrize("path", SCORES, ids=lambda path: path.stem)
    def test_a_chunk_of_a_stored_score_is_what_it_plays_now(self, path: Path) -> None:
        """At a table, against an opponent, and for a chunk that follow from the digest of the agent."""
        score = read_score(path)
        number = int(score.digest[:8], 16)
        name = list(score.tables)[number % len(score.tables)]
        tasks = list(tasks_of(score.agent, TABLES[name], score.tables[name].deals, score.digest))
        assert check_chunk(path, score, name, tasks[number % len(tasks)].arguments["shard"]) == 0

    def test_the_board_is_that_of_the_files(self, tmp_path: Path) -> None:
        for path in SCORES:
            (tmp_path / path.name).write_bytes(path.read_bytes())
        board = make_board(tmp_path).read_text(encoding="utf-8")
        assert (ROOT / "docs" / "results" / "scores" / "board.md").read_text(encoding="utf-8") == board
