"""The server of pages that study games: what is opened and what stays closed, values, luck, and the challenge."""

from __future__ import annotations

import asyncio
import re
import time
from multiprocessing import active_children

import pytest
from starlette.testclient import TestClient
from support.commands import krypenv
from support.studies import ANALYST, played, studying, visit
from support.tables import ADDRESS, KEYS, Here, Kept, hosted, page, serving

from krypenv import Game, Rules
from krypenv.agents.own import Typed
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.training.evaluation.luck.game_luck import luck_of_game
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.browser.thinking import Thinker
from krypenv.ui.narrator.narrator import Narrator
from krypenv.ui.seats import PERSON
from krypenv.ui.study.challenge import play_again
from krypenv.ui.study.steps import LARGEST, at_step, margins_of, record_for_pages

CLOSED = "This game is not over, so its hands stay closed. Play it to its end first."
BUILDS = "mini-mulle"


# ---------------------------------------------------------------------- what is opened


@pytest.mark.parametrize("rules", ["mini-low", "mini-double players=4 teams=2", BUILDS])
def test_each_step_has_the_cards_of_the_game(rules):
    game = played(rules, players=(PERSON, *["greedy"] * (Rules.parse(rules).players - 1)))
    game.comments[2] = "that was bold"
    with studying(game.copy) as client, visit(client) as one:
        study = one.open()
    assert study["seat"] == 0
    assert study["names"][0] == "You"
    assert len(study["steps"]) == len(game.moves) + 1
    twin = game.rewound()
    for at, step in enumerate(study["steps"]):
        assert step["hands"] == [twin.hand(seat) for seat in range(game.rules.players)]
        assert sorted(step["table"]) == sorted(twin.table)
        assert [(build["value"], build["owner"]) for build in step["builds"]] == [each[::2] for each in twin.builds]
        assert (step["turn"], step["deal"]) == (None if twin.is_over else twin.turn, twin.deal_number)
        assert step["scores"] == twin.scores()
        assert step["note"] == game.comments.get(at, "")
        if twin.is_over:
            assert step["move"] is None
        else:
            move = game.moves[at]
            assert (step["move"]["card"], step["move"]["takes"]) == (move.card, list(move.takes))
            twin.push(move)
    assert study["steps"][-1]["margins"] == margins_of(game)
    assert Game.replay(study["record"]).scores() == game.scores()


def test_a_record_needs_no_table_and_no_names():
    game = played(players=())
    with studying() as client, visit(client) as one:
        hello = one.read("hello")
        assert (hello["language"], hello["table"]) == ("en", False)
        assert one.refused() == "Paste a record or a position here, or open its file."
        study = one.open(game.record())
    assert study["seat"] is None
    assert study["names"] == ["Seat 0", "Seat 1"]
    assert not study["challenge"]


READ = "The file can't be read: "
WRONG = [
    ("", f"{READ}line 1: there is no entry 'rules'"),
    ("torn [Rules", f"{READ}line 1: 'torn [Rules' is no entry; an entry is 'key: value'"),
    ("[torn", f"{READ}line 1: "),
    ('[Rules "mini-low"] [Seed "1"]\n1. KC *', f"{READ}line 2: "),
    ("x" * (LARGEST + 1), f"{READ}a record has at most 65,536 characters, not 65,537."),
    ('[Rules "mini-low"] [Seed "1"] *', CLOSED),
]


def test_what_is_no_record_of_a_game_that_is_over_gets_one_sentence(visitor):
    for record, reason in WRONG:
        said = visitor.refused(record)
        assert said.startswith(reason)
        assert re.fullmatch(r".+\.", said)
    assert visitor.open(played().record())["steps"]


def test_a_game_cut_short_at_every_move_stays_closed():
    game = played()
    with studying() as client, visit(client) as one:
        while game.moves:
            game.pop()
            assert one.refused(game.record()) == CLOSED


# ---------------------------------------------------------------------- beside a table


def test_the_game_at_the_table_is_opened_when_it_is_over_and_not_before():
    kept = Kept()
    with serving(lambda: hosted(keep=kept), studied=ANALYST) as client, page(client) as one, visit(client) as two:
        while not one.my_turn()["view"]["over"]:
            assert two.refused() == CLOSED
            assert two.refused(kept.games[-1][-1] if kept.games[-1] else hosted().record().decode()) == CLOSED
            one.play()
        record = kept.games[-1][-1]
        assert Game.replay(two.open()["record"]).moves == Game.replay(record).moves
        one.ask("again")
        one.until(lambda told: told["game"] == 2)
        assert two.refused() == CLOSED
        same = "These cards are being played at this table. They stay closed until that game is over."
        assert two.refused(record) == same
        assert two.open(played(seed=8).record())


def test_no_record_that_a_page_gets_tells_the_seed_from_which_the_next_deals_follow():
    rules = Rules.parse("mini-low games=2")
    with (
        serving(lambda: hosted(str(rules)), studied=ANALYST) as client,
        page(client) as one,
        visit(client) as two,
    ):
        while not one.my_turn()["view"]["over"]:
            one.play()
        records = [two.open()["record"]]
        two.send(do="challenge")
        records.append(two.read("challenge")["record"])
    for record in records:
        assert Game.replay(record).seed is None
        assert Game.replay(record).deck == Game(rules, seed=3).deck


def test_no_record_that_a_page_gets_tells_of_the_host_s_files():
    game = played()
    for other, shown in (
        ("process(command='python my_bot.py --key=1')", "my bot"),
        ("models/best", "best"),
        ("guided(model='models/best')", "guided"),
        ("search(worlds=5)", "search(worlds=5)"),
    ):
        game.tags |= {"Seat0": PERSON, "Seat1": Typed(other)}
        tags = Game.replay(record_for_pages(game)).tags
        assert (tags["Seat0"], tags["Seat1"]) == (PERSON, shown)


def test_without_a_table_who_has_no_link_studies_nothing():
    closed = KEYS._replace(is_open=False)
    with studying(played().copy, closed) as client:
        for key in ("", "guess"):
            with visit(client, key) as one:
                assert "leads nowhere" in one.read("closed")["say"]
        with visit(client, KEYS.watch) as one:
            assert one.open()


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
        assert two.refused().startswith("This game is not over")
        assert one.begin("mini-low", "person", "greedy")["game"] == 4
        two.send(do="open", game=1)
        assert two.read("study")["result"] == results[0]
        games = two.read("games")["games"]
    assert [(each["number"], each["compared"]) for each in games] == [(1, ""), (2, told)]
    assert all(re.match("You (won|lost|tied)", each["told"]) for each in games)


# ---------------------------------------------------------------------- values and luck


def test_each_decision_comes_with_what_analyze_says_of_it_and_luck_at_last():
    game = played("mini-double")
    with studying(game.copy) as client, visit(client) as one:
        one.open()
        told = [one.socket.receive_json() for _ in range(len(game.moves) + 1)]
    assert [each["type"] for each in told] == ["decision"] * len(game.moves) + ["luck"]
    analysis = analyze(game, ANALYST.agent)
    for decision, play in zip(told, analysis.plays, strict=False):
        assert (decision["at"], decision["seat"]) == (play.number - 1, play.seat)
        assert decision["regret"] == play.regret
        assert decision["mark"] == play.mark
        assert [(each["move"], each["margin"]) for each in decision["moves"]] == [
            (each.move, each.margin.mean) for each in play.moves
        ]
        assert [each["move"] for each in decision["moves"] if each["played"]] == [play.played.move]
    luck = luck_of_game(game)
    assert told[-1]["told"] == luck.tell(0)


def test_the_decision_that_the_page_shows_is_valued_first():
    game = played("mini-double")
    with studying(game.copy) as client, visit(client) as one:
        one.open()
        one.send(do="look", at=len(game.moves) - 1)
        order = [one.read("decision")["at"] for _ in game.moves]
    assert sorted(order) == list(range(len(game.moves)))
    assert order != sorted(order)


def test_an_agent_that_fails_is_told_in_a_sentence():
    class Failing(Here):
        async def work(self, function, *arguments):
            raise ValueError("no idea")

    reported = []
    with (
        serving(hosted, thinker=Failing(), studied=ANALYST, report=reported.append) as client,
        visit(client) as one,
    ):
        one.open(played(seed=8).record())
        assert one.read("failed")["say"] == "Search can't go on."
    assert reported == ["Search: no idea"]


def endless(game, move, agent):
    """Value a move, for ever."""
    while True:
        time.sleep(1)


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


# ---------------------------------------------------------------------- the challenge


def test_the_challenge_plays_the_same_cards_and_tells_the_first_difference():
    game = played("mini-double", players=(PERSON, "greedy"))
    with studying(game.copy) as client, visit(client) as one:
        assert one.open()["challenge"]
        one.send(do="challenge")
        made = one.read("playing")
        assert made["of"] == len(game.moves)
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
    for players in ((PERSON, PERSON), ("greedy", "greedy"), (PERSON, "")):
        assert not visitor.open(played(players=players).record())["challenge"]
        visitor.send(do="challenge")
        assert visitor.read("say")["say"].startswith("The others would have to play once more")


def test_what_a_record_calls_a_player_is_neither_run_nor_imported(tmp_path):
    made = tmp_path / "made"
    with studying() as client, visit(client) as one:
        for agent in (f"process(command='touch {made}')", "os:system", "oracle-hand", "nobody"):
            one.open(played("mini-double", players=(PERSON, agent)).record())
            one.send(do="challenge")
            while (told := one.socket.receive_json())["type"] != "failed":
                assert told["type"] != "challenge"
            assert told["say"] == "Search can't go on."
    assert not made.exists()


def test_the_seat_of_a_page_is_the_one_that_is_told():
    players = (PERSON, PERSON)
    game = played(players=players)
    load = lambda: Hosted(game.copy(), players, "greedy", Kept())  # noqa: E731
    with serving(load, studied=ANALYST) as client:
        for seat in (0, 1):
            with visit(client, KEYS.seats[seat]) as one:
                study = one.open()
                assert study["names"][seat] == "You"
        with visit(client, KEYS.watch) as one:
            assert one.open()["seat"] is None


@pytest.mark.parametrize(
    ("words", "opened"),
    [
        ("--learn", "learn.html"),
        ("--study position.txt", "study.html"),
        ("--study game.krk", "study.html"),
    ],
)
def test_the_command_serves_the_page_that_is_asked_for_and_opens_it(words, opened, own_folder, monkeypatch):
    game, apps = played(), []
    (own_folder / "game.krk").write_text(game.record())
    (own_folder / "position.txt").write_text(game.rewound().position())
    monkeypatch.setattr("krypenv.ui.browser.serving.Serving.run", lambda self, app, _, link: apps.append((app, link)))
    for more in ([], ["--no-open"]):
        done = krypenv("table", "--port", 0, "--hint", ANALYST.agent, *words.split(), *more)
        assert done.exit_code == 0, done.output
    (app, link), (_, none) = apps
    assert link.endswith(f"/{opened}")
    assert none == ""
    assert TestClient(app, ADDRESS).get(f"/{opened}").status_code == 200


def test_the_page_of_a_record_is_served_alone(own_folder, monkeypatch):
    game, apps = played(), []
    (own_folder / "game.krk").write_text(game.record())
    monkeypatch.setattr("krypenv.ui.browser.serving.Serving.run", lambda self, app, *_: apps.append(app))
    done = krypenv("table", "--port", 0, "--study", "game.krk", "--hint", ANALYST.agent)
    assert re.search(r"The game is at \S+/study.html until you press Ctrl-C\.", done.stdout)
    with TestClient(apps[0], ADDRESS) as client:
        assert client.get("/", follow_redirects=False).headers["location"] == "study.html"
        with visit(client) as one:
            assert one.open()["result"] == Narrator(game.rules, ["", "greedy"], 0).result(game)
            assert one.read("decision")["moves"]
    assert [each.name for each in own_folder.iterdir()] == ["game.krk"]
