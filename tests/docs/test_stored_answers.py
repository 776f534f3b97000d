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
from krypenv.training.research.exact.beliefs import CAUSES
from krypenv.training.research.lab.chunks import strong_agent
from krypenv.training.research.lab.intervals import LEVEL
from krypenv.training.research.lab.rulesets import COUNTED, IN_LUCK, LOOKED_AT, LUCK, SKILL
from krypenv.training.research.lab.studying import Setup
from krypenv.training.research.misere import large, transfer
from krypenv.training.research.solved import baselines, late_deals, matched, recall, small
from krypenv.training.research.studies.adjusted import MATCHES
from krypenv.training.research.studies.registry import STUDIES, study_of

STORED = sorted((ROOT / "docs" / "results" / "studies").iterdir())
SCORES = sorted((ROOT / "docs" / "results" / "scores").glob("*.json"))
PAGE = (ROOT / "docs" / "results" / "strategy.md").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "strategy.md").read_text(encoding="utf-8")
MISERE = (ROOT / "docs" / "misere.md").read_text(encoding="utf-8")
EVALUATION = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
OWN = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
EXACT = (ROOT / "docs" / "exact.md").read_text(encoding="utf-8")
BELIEF = (ROOT / "docs" / "belief.md").read_text(encoding="utf-8")
PAGES = {
    "misere": MISERE,
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


def test_the_rows_of_advice_are_those_of_the_page() -> None:
    result = json.loads((ROOT / "docs/results/studies/advice-2/result.json").read_text())
    assert len(result["rows"]) > 15
    for (what, *cells), (_, *raw) in zip(result["rows"], result["raw"]["rows"], strict=True):
        found = re.search(rf"^\| {re.escape(what)} \|.*$", PAGE, re.MULTILINE)  # in the first table
        assert found
        for cell, as_played in zip(cells, raw, strict=True):
            assert cell.replace("\n", "<br>") in found[0]
            margin, *more = as_played.split("\n")
            assert as_played == cell or not margin.startswith(("+", "-")) or f"<br>raw {margin}, {more[0]}" in found[0]


def test_the_rows_of_matches_without_luck_are_those_of_the_page() -> None:
    rows: list[list[str]] = json.loads((ROOT / "docs/results/studies/adjusted-2/result.json").read_text())["rows"]
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


def rows_of_misere(figures: dict[str, Any]) -> Iterator[str]:
    """The rows of both tables of the page on misère: what there is to choose and to win, and margins in luck."""

    def cell(each: dict[str, Any], name: str, form: str) -> str:
        if name not in each:
            return "-"
        half = (each[name]["high"] - each[name]["low"]) / 2
        return f"{each[name]['mean']:{form}} ±{half:{form.replace('+', '')}}"

    for label, each in figures.items():
        more = "over " if each["plays beyond the list"]["mean"] else ""
        points = [f"{each[name]['mean']:.2f}" for name in COUNTED[:-1]]
        moves = more + cell(each, LOOKED_AT[0], ",.0f" if more else ".2f")
        yield f"| {' | '.join([label, moves, cell(each, LOOKED_AT[1], '.1%'), *points, cell(each, LUCK, '.2f')])} |"
    for label, each in figures.items():
        if SKILL in each:
            yield f"| {' | '.join([label, *(cell(each, name, '+.2f') for name in IN_LUCK)])} |"


def test_the_rows_of_misere_are_those_of_the_page() -> None:
    figures = json.loads((ROOT / "docs/results/studies/misere-2/result.json").read_text())["figures"]
    rows = list(rows_of_misere(figures))
    assert len(rows) == 14 + 11
    for row in rows:
        assert row in MISERE


def test_what_the_page_says_of_matched_small_games_holds() -> None:
    """Figures are those of seed 0, and signs those of both seeds; what is significant on one of them is not claimed."""
    first, again = (measures_of(name) for name in ("matched-2", "matched-2-seed-1"))
    for of, unsure in ((first, 0), (again, 1)):
        leads = [found for (what, _), found in of.items() if what == matched.FIRST]
        assert len(leads) == 5
        assert all(low > 0 > high for low, high, _ in leads)
        assert [games for (what, games), (*_, p) in of.items() if what == matched.FIRST and p >= LEVEL] == [
            "8 cards, optional captures, forced sweeps"
        ][:unsure]
        assert all(low < high for (what, _), (low, high, _) in of.items() if what == matched.HAND)
        assert of[matched.HAND, "10 cards, must capture, free sweeps"][-1] < LEVEL
        known = [found for (what, _), found in of.items() if what == "exploitability of tactician"]
        assert all(low > high for low, high, _ in known)
        assert min(p for *_, p in known) < LEVEL
        assert max(max(low, high) for (what, _), (low, high, _) in of.items() if what == matched.MIXING) < 0.0185
    for agent in ("greedy", "search(worlds=10)"):
        for games in {games for _, games in first}:
            assert max(of[f"exploitability of {agent}", games][-1] for of in (first, again)) >= LEVEL
    leads = [found for (what, _), found in first.items() if what == matched.FIRST]
    (least, most), (second, further) = (sorted(abs(found[at]) for found in leads)[::4] for at in (0, 1))
    assert f"by {least:.2f} to {most:.2f} SD, with `goal=high` the second by {second:.2f} to {further:.2f}" in MISERE
    for cards, words in (("8", "0.02 SD against 0.04 with eight cards"), ("10", "0.04 against 0.05 with ten")):
        low, high, p = first[matched.HAND, f"{cards} cards, must capture, free sweeps"]
        assert p < LEVEL
        assert re.findall(r"0\.\d\d", words) == [f"{low:.2f}", f"{high:.2f}"]
        assert words in MISERE


def test_what_the_page_says_of_memory_holds() -> None:
    """The largest mean of both seeds, and that nothing is told apart on either."""
    both = [measures_of(name) for name in ("recall-2", "recall-2-seed-1")]
    for of in both:
        assert len(of) == 5
        assert {what for what, _ in of} == {recall.MEMORY}
        assert min(p for *_, p in of.values()) >= LEVEL
    most = max(max(low, high) for of in both for low, high, _ in of.values())
    assert f"worth {most:.3f} SD at most between perfect players" in MISERE


def measures_of(name: str) -> dict[tuple[str, str], tuple[float, float, float]]:
    """The measures of matched games by what is measured and in which games: low, high, and the p value."""
    rows = json.loads((ROOT / f"docs/results/studies/{name}/result.json").read_text())["rows"]
    return {(what, games): (float(low), float(high), float(p)) for what, games, low, high, *_, p in rows}


def test_what_the_page_says_of_transfer_holds() -> None:
    """Of its claims each follows from the curves, and those that save or cost are told apart from scratch."""
    figures = json.loads((ROOT / "docs/results/studies/transfer-2/result.json").read_text())["figures"]
    trunk, scratch, whole = "all but both heads", transfer.SCRATCH, "all weights"
    turned, observed, features = "all weights, outputs negated", "layer of the observation", "layers of the actions"
    slower: dict[str, float] = {}  # the p values of what is kept in Finland
    for label, found in figures.items():
        mean = {arm: np.mean(runs, axis=0) for arm, runs in found["margins"].items()}
        saving = {arm for arm, p in found["p"].items() if p < LEVEL and found["gained"][arm]["mean"] > 0}
        if label.startswith("Finland"):
            assert max(each["mean"] for each in found["gained"].values()) < 0
            slower |= {f"{label}: {arm}": p for arm, p in found["p"].items()}
            continue
        games = [round(decisions / found["decisions of a game"]) for decisions in found["decisions"]]
        assert mean[trunk][1] > mean[scratch][4]
        assert (games[1], round(games[4], -1)) == (84, 670)
        assert mean[whole][:5].max() < -49.5
        assert found["p"][whole] < LEVEL
        assert min(each[0] for each in found["margins"][turned]) > 0
        assert saving == {trunk, turned, features}
        assert found["p"][observed] > LEVEL
        assert found["saved"][features]["low"] > 0
        assert found["saved"][features]["mean"] > found["saved"][trunk]["mean"] / 2
    assert (len(slower), sum(p >= LEVEL for p in slower.values())) == (6, 1)
    assert "With fresh heads on it, 84 games teach more Krypkasino than 670 from scratch" in MISERE
    assert "lose by 50 points a game for 65,000 decisions" in MISERE
    assert "from scratch, one of six not significantly" in MISERE


def test_what_the_page_says_of_large_games_holds() -> None:
    """Its table has what both seeds say, with the same models, and each claim holds for the strongest two."""
    first, again = (
        json.loads((ROOT / f"docs/results/studies/{name}/result.json").read_text())
        for name in ("large-2", "large-2-seed-1")
    )
    assert first["models_sha256"] == again["models_sha256"]
    assert (first["seed"], again["seed"]) == (0, 1)
    strongest = first["figures"]["strongest"]
    for game in large.GAMES:
        for quantity, whose in large.QUANTITIES.items():
            one, other = (each["figures"]["differences"][game][quantity] for each in (first, again))
            [row] = [line for line in MISERE.splitlines() if line.startswith(f"| {quantity}, {game} |")]
            cells = dict(zip(large.PLAYERS, row.strip("| ").split(" | ")[1:], strict=False))
            for player in whose:
                found, bounds = one[player], (other[player]["low"], other[player]["high"])
                same = min(bounds) > 0 if found["mean"] > 0 else max(bounds) < 0
                shown = f"{found['mean']:+.2f} ({found['low']:+.2f} to {found['high']:+.2f})"
                bold = shown.replace(" (", "** (").replace(shown[:1], f"**{shown[:1]}", 1)
                assert (bold if found["p"] < LEVEL and same else shown) in cells[player].split("<br>")
    for found in (first["figures"], again["figures"]):
        for label in large.SETS:  # the wrong goal is worse than none: who beats random play with each goal
            assert large.sign_for(strongest, large.cells_in_sd(found, label, large.SKILL)) > 0
        signs = {
            game: large.sign_for(strongest, found["differences"][game][large.SWEEPS]) for game in large.GAMES
        }  # sweeps change sides
        assert [game for game, sign in signs.items() if sign > 0] == ["Krypkasino"]
        assert set(signs.values()) == {1, -1}


def test_what_the_pages_say_of_who_advice_holds_for() -> None:
    """The guide counts what the table of the evidence shows on both seeds."""
    first, again = (
        json.loads((ROOT / f"docs/results/studies/{name}/result.json").read_text())["figures"]["statements"]
        for name in ("holds-2", "holds-2-seed-1")
    )
    held = {
        words: [player for player in each if each[player]["holds"] and again[words][player]["low"] > 0]
        for words, each in first.items()
    }
    shared = {words: players for words, players in held.items() if len(first[words]) == 4}
    strongest = [words for words, players in shared.items() if players == ["network", "champion"]]
    assert (len(shared), sum(len(players) == 4 for players in shared.values()), len(strongest)) == (16, 11, 3)
    assert sum("last deal" in words for words in strongest) == 2
    assert any("always doing so" in words for words in strongest)
    assert "Sixteen statements behind these points were measured with four players" in GUIDE
    assert "eleven hold for all, three for the strongest two alone" in GUIDE
    for words, players in held.items():
        [row] = [line for line in PAGE.splitlines() if line.startswith(f"| {words} |")]
        names = "all" if len(players) == 4 else ", ".join(players) or "nobody"
        assert row.endswith(f"| {names} |")
        assert row.count("**+") == len(players)
    single = first["leave no single card but a picture, rather than one"]
    means = [figure["mean"] for each in (single, again["leave no single card but a picture, rather than one"])
             for figure in each.values()]  # fmt: skip
    assert (round(min(means)), round(max(means))) == (5, 10)
    assert "leaving none beats leaving one by five to ten points a game" in GUIDE


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
    result = json.loads((ROOT / "docs/results/studies/small-2/result.json").read_text())
    rows = list(rows_of_small(result))
    assert len(rows) == 11 + 4 + 6 + 7 + 4
    for row in rows:
        assert any(line.startswith(row.removesuffix(" |")) for line in EXACT.splitlines()), row


def test_what_the_page_says_of_small_games_holds() -> None:
    """What more search brings, and what it loses by: the claims in words."""
    figures = json.loads((ROOT / "docs/results/studies/small-2/result.json").read_text())["figures"]
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
    result = json.loads((ROOT / "docs/results/studies/late-2/result.json").read_text())
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
    result = json.loads((ROOT / "docs/results/studies/baselines-2/result.json").read_text())
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
    for game, found in figures["settings"].items():
        for name in (baselines.MMD, baselines.NFSP):
            tried = found[name]["tried"]
            assert tried[found[name]["best"]] == min(tried.values())
            assert f"| {name} | {found[name]['best']} |" in EXACT
        value = json.loads((ROOT / "docs/results/studies/small-2/result.json").read_text())["figures"]["values"][game]
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
