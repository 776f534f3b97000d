"""The page that studies games in a real browser: what is pasted or opened, lines of play, and a phone."""

from __future__ import annotations

import contextlib

import pytest
from playwright.sync_api import expect
from support.browsers import check_fits, opened, study_at, table_at
from support.studies import ANALYST, LAST, played
from support.tables import hosted

from krypenv import Game, Rules
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.ui.study.lessons import lessons_in

pytestmark = pytest.mark.browser

PASTE = """text => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""


@pytest.fixture
def study(browser):
    """The page of a server without a table."""
    with study_at() as address, opened(browser, address) as page:
        page.wait_for_selector(".opening")
        yield page


def test_records_and_positions_are_pasted_and_opened(study):
    place = study.locator(".place")
    study.evaluate(PASTE, LAST)
    expect(place).to_contain_text("Seat 0 is to play.")
    study.get_by_label("Record or position").focus()
    study.evaluate(PASTE, Game(Rules.preset("mini-low"), seed=1).record())
    expect(study.locator(".alarm")).to_contain_text("This game is not over, so its hands stay closed.")
    file = {"name": "game.krk", "mimeType": "text/plain", "buffer": played().record().encode()}
    study.set_input_files("input[type=file]", file)
    expect(place).to_contain_text("Move 1 of")
    study.get_by_role("button", name="Rules").click()
    expect(study.get_by_role("dialog")).to_contain_text("A turn")


def test_moves_of_a_position_are_played_and_played_otherwise(study):
    study.evaluate(PASTE, LAST)
    game = Game.from_position(LAST)
    while not game.is_over:
        expect(study.locator(".values .played")).to_have_count(0)
        first = study.locator(".values tbody .link").first
        expect(first).to_be_visible()
        move = first.get_attribute("data-focus").removeprefix("move ")
        first.click()
        game.push(move)
        who = "The end of the game" if game.is_over else f"Seat {game.turn} is to play."
        expect(study.locator(".place")).to_contain_text(who)
    expect(study.locator("header p")).not_to_be_empty()
    study.keyboard.press("Home")
    expect(study.locator(".values .played")).to_have_count(1)
    study.locator(".values tr:not(.played) .link").first.click()
    expect(study.locator(".place")).to_contain_text("Seat 1 is to play.")


def test_better_moves_than_mistakes_are_found_where_the_values_are_hidden(browser):
    game = played("mini-low", seed=2)
    analysis = analyze(game, ANALYST.agent)
    first = next(play for play in analysis.plays if play.seat == 0 and play.mark in ("?", "??"))
    with study_at(game.copy) as address, opened(browser, address) as page:
        expect(page.locator(".summary")).to_contain_text("The rating is by")  # all moves are valued
        page.get_by_role("button", name="Find the better move").click()
        expect(page.locator(".place")).to_contain_text(f"Move {first.number} of")
        expect(page.locator(".values")).to_contain_text("What is better?")
        assert page.locator(".values table").count() == page.locator(".open-hands .card").count() == 0
        worse = next(move for move in first.moves if move.behind.mean > 1 and move != first.played)
        page.locator(f"[data-focus='move {worse.move}']").click()
        expect(page.locator(".values")).to_contain_text("Try again.")
        page.locator(f"[data-focus='move {first.best.move}']").click()
        expect(page.locator(".values")).to_contain_text("is the best move.")
        expect(page.locator(".values tbody tr").first).to_be_visible()


def test_an_alternative_is_played_in_a_game_that_is_over_and_the_list_of_moves_leads_back(browser):
    game = played("mini-double", seed=8)
    with study_at(game.copy) as address, opened(browser, address) as page:
        page.locator(".moves button").nth(4).click()
        expect(page.locator(".place")).to_contain_text(f"Move 5 of {len(game.moves)}")
        page.locator(".values tr:not(.played) .link").first.click()
        expect(page.locator(".left")).to_contain_text("This line leaves the game at move 5.")
        page.get_by_role("button", name="Back to the game").click()
        expect(page.locator(".place")).to_contain_text(f"Move 5 of {len(game.moves)}")
        check_fits(page)


def test_the_page_comes_back_as_it_was_when_the_connection_was_lost(browser):
    with contextlib.ExitStack() as first, contextlib.ExitStack() as later:
        address = first.enter_context(study_at())
        page = later.enter_context(opened(browser, address))
        page.wait_for_selector(".opening")
        page.evaluate(PASTE, LAST)
        page.locator(".values tbody .link").first.click()
        expect(page.locator(".place")).to_contain_text("Seat 1 is to play.")
        first.close()
        expect(page.locator(".alarm")).to_have_text("The connection is lost. Trying again …")
        later.enter_context(study_at(port=int(address.split(":")[2].split("/")[0])))
        expect(page.locator(".alarm")).to_have_count(0)
        expect(page.locator(".place")).to_contain_text("Seat 1 is to play.")


def test_a_record_is_studied_beside_a_table_on_a_phone_in_swedish(browser):
    game = played("mini-double", seed=8)
    phone = {"width": 360, "height": 740, "has_touch": True}
    with table_at(lambda: hosted(language="sv"), studied=ANALYST) as address, opened(browser, address, **phone) as page:
        page.goto(f"{address}learn.html")
        expect(page.locator(".lesson .task")).to_have_text(lessons_in("sv")[0].task)
        check_fits(page)
        page.goto(f"{address}study.html")
        expect(page.get_by_role("status")).to_contain_text("Spelet är inte slut")
        check_fits(page)
        page.evaluate(PASTE, game.record())
        expect(page.locator(".place")).to_contain_text("Drag 1 av")
        expect(page.get_by_role("heading", name="Tur i givarna")).to_be_visible()
        check_fits(page)
        page.evaluate(PASTE, game.rewound().record())
        expect(page.locator(".alarm")).to_contain_text("Spelet är inte slut")
        page.get_by_role("button", name="Ett drag framåt").tap()
        expect(page.locator(".place")).to_contain_text("Drag 2 av")
