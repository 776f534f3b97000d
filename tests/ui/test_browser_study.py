"""The server of pages that study games: steps, values and luck, the challenge, and processes that end with a page."""

from __future__ import annotations

import asyncio
import json
import re
import time
from multiprocessing import active_children

import pytest
from starlette.testclient import TestClient
from support.commands import krypenv
from support.places import TESTS
from support.studies import ANALYST, LAST, played, studying, visit
from support.tables import ADDRESS, hosted, page, serving

from krypenv import Game, Rules
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.training.evaluation.luck.game_luck import luck_of_game
from krypenv.ui.browser.thinking import Thinker
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON
from krypenv.ui.study.steps import any_move, at_step, margins_of, play_again

# ---------------------------------------------------------------------- games


@pytest.mark.parametrize("rules", ["mini-double players=4 teams=2", "mini-mulle"])
def test_studies_are_as_stored_and_have_the_hands_of_the_game(rules, file_regression):
    game = played(rules, players=(PERSON, *["greedy"] * (Rules.parse(rules).players - 1)))
    game.comments[2] = "that was bold"
    with studying(game.copy) as client, visit(client) as one:
        study = one.open()
    twin = game.rewound()
    for step, move in zip(study["steps"], [*game.moves, None], strict=True):
        assert step["hands"] == [twin.hand(seat) for seat in range(game.rules.players)]
        assert step["scores"] == twin.scores()
        if move:
            twin.push(move)
    assert study["steps"][-1]["margins"] == margins_of(game)
    said = json.dumps(study, indent=1, ensure_ascii=False) + "\n"
    path = TESTS / "ui" / "sessions" / f"study-{game.rules.name}.json"
    file_regression.check(said, encoding="utf-8", fullpath=path)


def test_the_games_of_the_table_are_listed_with_result_and_luck_and_opened():
    with serving(hosted, studied=ANALYST) as client, page(client) as one, visit(client) as two:
        results = []
        for _ in range(2):
            while not one.my_turn()["view"]["over"]:
                one.play(lambda moves: moves[len(results) * (len(moves) - 1)]["move"])
            results.append(one.told["view"]["result"])
            told = one.told["compared"]
            one.ask("again")
            one.until(lambda told: told["game"] == len(results) + 1)
        assert told.startswith("The same cards as in game 1")
        assert one.begin("mini-low", "person", "greedy")["game"] == 4
        two.send(do="open", game=1)
        assert two.read("study")["result"] == results[0]
        games = two.read("games")["games"]
    assert [(each["number"], each["compared"]) for each in games] == [(1, ""), (2, told)]
    assert all(re.match("You (won|lost|tied)", each["told"]) for each in games)


def test_each_decision_comes_with_what_analyze_says_of_it_first_that_which_is_shown_and_luck_at_last():
    game = played("mini-double")
    with studying(game.copy) as client, visit(client) as one:
        one.open()
        one.send(do="look", at=len(game.moves) - 1)
        told = [one.socket.receive_json() for _ in range(len(game.moves) + 1)]
    assert [each["type"] for each in told] == ["decision"] * len(game.moves) + ["luck"]
    order = [decision["at"] for decision in told[:-1]]
    assert order != sorted(order) == list(range(len(game.moves)))
    analysis = analyze(game, ANALYST.agent)
    for decision, play in zip(sorted(told[:-1], key=lambda each: each["at"]), analysis.plays, strict=True):
        assert (decision["seat"], decision["regret"], decision["mark"]) == (play.seat, play.regret, play.mark)
        values = [(each["move"], each["margin"]) for each in decision["moves"]]
        assert values == [(each.move, each.margin.mean) for each in play.moves]
        assert [each["move"] for each in decision["moves"] if each["played"]] == [play.played.move]
    assert told[-1]["told"] == luck_of_game(game).tell(0)


# ---------------------------------------------------------------------- lines of play


def test_a_position_is_studied_and_played_on_to_its_end(visitor):
    study = visitor.open(LAST)
    assert (study["line"], study["over"], study["challenge"], study["seat"]) == (True, False, False, None)
    assert study["steps"][0]["told"] == "Deal 4 of 4. This is the last deal. Seat 0 leads."
    game = Game.from_position(LAST)
    while not game.is_over:
        decision = visitor.read("decision")
        while decision["at"] != len(game.moves):
            decision = visitor.read("decision")
        assert {each["move"] for each in decision["moves"]} <= {str(move) for move in game.legal_moves()}
        assert not any(each["played"] for each in decision["moves"])
        move = decision["moves"][0]["move"]
        visitor.send(do="move", at=len(game.moves), move=move)
        game.push(move)
        study = visitor.read("study")
        assert (study["at"], study["moves"]) == (len(game.moves), [str(each) for each in game.moves])
        assert study["steps"][-1]["hands"] == [game.hand(seat) for seat in (0, 1)]
    assert study["over"]
    assert study["result"]
    again = visitor.open(study["record"], study["moves"])
    assert again["steps"] == study["steps"]
    visitor.send(do="move", at=0, move=str(game.rewound().legal_moves()[-1]))
    assert len(visitor.read("study")["steps"]) == 2
    for move in ("KS", "2Sx6H", "?"):
        visitor.send(do="move", at=0, move=move)
        assert visitor.read("say")["say"].endswith(".")
    amid = visitor.open(LAST.replace("2S 3C", "3C"))
    assert amid["steps"][0]["told"] == "Deal 4 of 4.", "nobody leads amid a deal"


def test_a_move_of_a_line_that_was_not_the_best_is_marked_as_analyze_marks_it(visitor):
    study = visitor.open(LAST)
    first = visitor.read("decision")
    worst = max(first["moves"], key=lambda each: each["behind"])
    visitor.send(do="move", at=0, move=worst["move"])
    visitor.read("study")
    is_told_twice = any_move(Game.from_position(study["record"])) != worst["move"]  # the mark comes later
    told = [visitor.read("decision") for _ in range(2 + is_told_twice)]
    marked = [each for each in told if each["at"] == 0]
    analysis = ANALYST.examine(Game.from_position(study["record"]), worst["move"], ANALYST.agent)
    assert [each["regret"] for each in marked] == [analysis["played"]["behind"]["mean"]] * len(marked)
    assert marked[-1]["mark"] == analysis["mark"]


def test_a_line_leaves_a_game_that_is_over_and_comes_back_to_it():
    game = played("mini-double")
    at = next(at for at in range(2, len(game.moves)) if len(at_step(game, at).legal_moves()) > 1)
    other = next(move for move in at_step(game, at).legal_moves() if move != game.moves[at])
    with studying(game.copy) as client, visit(client) as one:
        study = one.open()
        assert not study["line"]
        one.send(do="move", at=at, move=str(other))
        line = one.read("study")
        assert (line["line"], line["left"], line["at"], line["names"]) == (True, at, at + 1, study["names"])
        assert line["steps"][:at] == study["steps"][:at]
        assert {one.read("decision")["at"] for _ in range(at + 2)} == set(range(at + 2))
        one.send(do="return")
        assert one.read("study")["steps"] == study["steps"]
        assert one.open(line["record"], line["moves"])["steps"] == line["steps"]


# ---------------------------------------------------------------------- the challenge


def test_the_challenge_plays_the_same_cards_and_tells_the_first_difference():
    game = played("mini-double", players=(PERSON, "greedy"))
    with studying(game.copy) as client, visit(client) as one:
        assert one.open()["challenge"]
        one.send(do="challenge")
        assert one.read("playing")["of"] == len(game.moves)
        found = one.read("challenge")
    other = Game.replay(found["record"])
    assert other.deck == game.deck
    assert found["margins"] == [margins_of(game)[0], margins_of(other)[0]]
    at = next(at for at, (one, two) in enumerate(zip(game.moves, other.moves, strict=False)) if one != two)
    words = Narrator(game.rules, ["", "greedy"], 0)
    texts = [words.choice(at_step(game, at), each.moves[at])[0] for each in (game, other)]
    assert found["difference"] == {"at": at, "mine": texts[0], "theirs": texts[1]}


def test_opponents_answer_as_they_did_until_the_games_differ():
    game, asked = played("mini-double"), []

    async def decide(spec, seat, given):
        asked.append((spec, seat, len(given.moves)))
        at = len(given.moves)
        if spec == "self" and given.moves == game.moves[:at] and at < 4:
            return str(game.moves[at])
        return str(given.legal_moves()[-1])

    async def tell(made):
        pass

    other = asyncio.run(play_again(game, 0, [PERSON, "greedy"], "self", decide, tell))
    same = next((at for at, (one, two) in enumerate(zip(game.moves, other.moves, strict=False)) if one != two), None)
    assert same is not None
    assert same >= 4
    assert all(at > same for spec, _, at in asked if spec == "greedy")
    assert {seat for spec, seat, _ in asked if spec == "self"} == {0}


def test_there_is_no_challenge_where_the_others_can_not_play_once_more(visitor):
    assert visitor.refused() == "Paste a record or a position here, or open its file."
    for players in ((PERSON, PERSON), ("greedy", "greedy"), (PERSON, ""), ()):
        assert not visitor.open(played(players=players).record())["challenge"]
        visitor.send(do="challenge")
        assert visitor.read("say")["say"].startswith("The others would have to play once more")


def test_what_a_record_calls_a_player_is_neither_run_nor_imported(tmp_path):
    made, reported = tmp_path / "made", []
    with serving(hosted, studied=ANALYST, report=reported.append) as client, visit(client) as one:
        for agent in (f"process(command='touch {made}')", "os:system", "oracle-hand", "nobody"):
            one.open(played("mini-double", players=(PERSON, agent)).record())
            one.send(do="challenge")
            while (told := one.socket.receive_json())["type"] != "failed":
                assert told["type"] != "challenge"
            assert told["say"] == "Search can't go on."
            assert reported.pop().startswith("Search: "), "why is said to the host alone"
    assert not made.exists()


# ---------------------------------------------------------------------- beside a table, and alone


def endless(game, move, agent):
    """Value a move, for ever."""
    while True:
        time.sleep(1)


@pytest.mark.slow
def test_a_study_without_an_end_holds_up_no_table_and_ends_with_its_page():
    with serving(hosted, thinker=Thinker(), studied=ANALYST._replace(examine=endless)) as client, page(client) as one:
        with visit(client) as other:
            other.open(played(seed=8).record())
            one.play()
            one.my_turn()
            assert one.told["moves"] == 2
            assert len(active_children()) == 2
        deadline = time.monotonic() + 30
        while len(active_children()) > 1:
            assert time.monotonic() < deadline, "the page is gone, and its study goes on"
            time.sleep(0.05)


@pytest.mark.parametrize(
    ("words", "opened"),
    [("--learn", "learn.html"), ("--study position.txt", "study.html"), ("--study game.krk --no-open", "")],
)
def test_the_command_serves_the_page_that_is_asked_for_and_opens_it(words, opened, own_folder, monkeypatch):
    game, served = played(), []
    (own_folder / "game.krk").write_text(game.record())
    (own_folder / "position.txt").write_text(game.rewound().position())
    monkeypatch.setattr("krypenv.ui.browser.serving.Serving.run", lambda self, app, _, link: served.append((app, link)))
    done = krypenv("table", "--port", 0, "--hint", ANALYST.agent, *words.split())
    assert done.exit_code == 0, done.output
    [(app, link)] = served
    assert link.rpartition("/")[2] == opened
    with TestClient(app, ADDRESS) as client:
        assert client.get(f"/{opened}").status_code == 200
        if "game.krk" in words:
            assert re.search(r"The game is at \S+/study.html until you press Ctrl-C\.", done.stdout)
            assert client.get("/", follow_redirects=False).headers["location"] == "study.html"
            with visit(client) as one:
                assert one.open()["result"] == Narrator(game.rules, ["", "greedy"], 0).result(game)
    assert {each.name for each in own_folder.iterdir()} >= {"game.krk", "position.txt"}
