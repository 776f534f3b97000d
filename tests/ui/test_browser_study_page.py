"""The pages that teach and study in a real browser: lessons, a first deal, games, positions, mistakes, a challenge."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.browsers import check_page, opened, study_at, table_at, ways
from support.studies import ANALYST, LAST, played
from support.tables import hosted

from krypenv import Game, Rules
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.seats import PERSON
from krypenv.ui.study.exercises import lessons_in

pytestmark = pytest.mark.browser

PASTE = """text => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""


def file_of(text):
    """A file that is opened."""
    return {"name": "game.krk", "mimeType": "text/plain", "buffer": text.encode()}


def test_lessons_are_played_one_after_another_and_then_a_deal_with_a_guide(browser):
    first, second = lessons_in("en")[:2]
    with table_at(hosted) as address, opened(browser, address) as page:
        page.get_by_role("button", name="Rules").click()
        page.get_by_role("link", name="Learn").click()
        said, task = page.locator(".lesson .said"), page.locator(".lesson .task")
        expect(task).to_have_text(first.task)
        page.get_by_role("button", name="9 of diamonds", exact=True).click()
        page.locator(".move").click()
        expect(said).to_have_text(f"✗ {first.wrong['9Dx9H']}")
        check_page(page)
        page.get_by_role("button", name="6 of clubs", exact=True).click()
        check_page(page)
        page.locator(".move").click()
        expect(said).to_have_text(f"✓ {first.right}")
        check_page(page)
        expect(page.get_by_role("button", name="Next")).to_be_focused()
        page.keyboard.press("Enter")
        expect(task).to_have_text(second.task)
        page.reload()
        expect(page.get_by_role("button", name="Leave a card: done")).to_be_visible()
        page.get_by_role("button", name="A first deal").click()
        expect(said).to_contain_text("Best: ")
        check_page(page)
        before = said.inner_text()
        page.locator(".hand .card:not(.illegal)").first.click()
        page.locator(".move").first.click()
        expect(page.locator(".log")).to_contain_text("Greedy played")
        expect(said).not_to_have_text(before)
        page.get_by_role("link", name="To the table").click()
        expect(page.locator(".hand .card").first).to_be_visible()
        assert page.locator("#lesson").count() == 0


def test_a_game_is_studied_by_keys_and_saved_and_the_challenge_is_shown(browser):
    game = played("mini-high", seed=7)
    analysis, last = analyze(game, ANALYST.agent), len(game.moves)
    mistakes = [play.number for play in analysis.plays if play.mark in ("?", "??")]
    assert len(mistakes) > 1
    load = lambda: Hosted(game.copy(), (PERSON, "greedy"), "greedy", lambda *_: None)  # noqa: E731
    with table_at(load, studied=ANALYST) as address, opened(browser, address) as page:
        page.get_by_role("link", name="Study this game").click()
        place = page.locator(".place")
        expect(place).to_contain_text(f"Move 1 of {last}")
        twin = game.rewound()
        assert page.locator(".studying .plaque .card").count() == len(twin.hand(0)) + len(twin.hand(1))
        first = next(number for number in mistakes if number > 1)
        page.keyboard.press("ArrowRight")
        expect(place).to_contain_text(f"Move 2 of {last}")
        page.keyboard.press("End")
        expect(place).to_contain_text("The end of the game")
        expect(page.get_by_role("heading", name="Luck of the deals")).to_be_visible()
        page.keyboard.press("Home")
        page.keyboard.press("n")
        expect(place).to_contain_text(f"Move {first} of {last}")
        play = analysis.plays[first - 1]
        expect(page.locator(".made")).to_contain_text(f"It was {play.regret:.1f} points behind the best move.")
        expect(page.locator(".values tbody tr")).to_have_count(len(play.moves))
        expect(page.locator(".values tr.played")).to_have_count(1)
        page.keyboard.press("End")
        page.keyboard.press("p")
        expect(place).to_contain_text(f"Move {mistakes[-1]} of {last}")
        assert page.locator(".curve .mistake").count() == len(mistakes)
        check_page(page)
        with page.expect_download() as download:
            page.get_by_role("link", name="Save the record").click()
        assert Game.replay(download.value.path().read_text()).scores() == game.scores()
        page.get_by_role("button", name="See how Search would have played your cards").click()
        page.locator("[data-focus=difference]").click()


def test_records_and_positions_are_pasted_and_opened_and_moves_are_played_otherwise(browser):
    with study_at() as address, opened(browser, address) as page:
        page.wait_for_selector(".opening")
        place, alarm = page.locator(".place"), page.locator(".alarm")
        page.evaluate(PASTE, LAST)
        game = Game.from_position(LAST)
        while not game.is_over:
            expect(place).to_contain_text(f"Seat {game.turn} is to play.")
            expect(page.locator(".values .played")).to_have_count(0)
            first = page.locator(".values tbody .link").first
            expect(first).to_be_visible()
            game.push(first.get_attribute("data-focus").removeprefix("move "))
            first.click()
        expect(place).to_contain_text("The end of the game")
        expect(page.locator("header p")).not_to_be_empty()
        page.keyboard.press("Home")
        expect(page.locator(".values .played")).to_have_count(1)
        page.locator(".values tr:not(.played) .link").first.click()
        expect(place).to_contain_text("Seat 1 is to play.")
        for text, why in (
            ("torn", "The file can't be read: line 1: 'torn' is no entry"),
            ("x" * 300_000, "The file is too large: a record or a position has at most 65536 characters."),
        ):
            page.set_input_files("input[type=file]", file_of(text))
            expect(alarm).to_contain_text(why)
        page.get_by_label("Record or position").focus()
        page.evaluate(PASTE, Game(Rules.preset("mini-low"), seed=1).record())
        expect(alarm).to_contain_text("This game is not over, so its hands stay closed.")
        page.set_input_files("input[type=file]", file_of(played().record()))
        expect(place).to_contain_text("Move 1 of")


def test_better_moves_than_mistakes_are_found_and_a_line_leads_back_to_the_game(browser):
    game = played("mini-low", seed=2)
    mistake = next(play for play in analyze(game, ANALYST.agent).plays if play.seat == 0 and play.mark in ("?", "??"))
    with study_at(game.copy) as address, opened(browser, address) as page:
        expect(page.locator(".summary")).to_contain_text("The rating is by")  # all moves are valued
        page.get_by_role("button", name="Find the better move").click()
        place, values = page.locator(".place"), page.locator(".values")
        expect(place).to_contain_text(f"Move {mistake.number} of")
        expect(values).to_contain_text("What is better?")
        assert page.locator(".values table").count() == page.locator(".open-hands .card").count() == 0
        check_page(page)
        worse = next(move for move in mistake.moves if move.behind.mean > 1 and move != mistake.played)
        page.locator(f"[data-focus='move {worse.move}']").click()
        expect(values).to_contain_text("Try again.")
        page.locator(f"[data-focus='move {mistake.best.move}']").click()
        expect(values).to_contain_text("is the best move.")
        expect(page.locator(".values tbody tr").first).to_be_visible()
        page.locator(".values tr:not(.played) .link").first.click()
        expect(page.locator(".left")).to_contain_text(f"This line leaves the game at move {mistake.number}.")
        page.get_by_role("button", name="Back to the game").click()
        expect(place).to_contain_text(f"Move {mistake.number} of {len(game.moves)}")


@ways
def test_a_record_is_studied_beside_a_table_on_any_screen(browser, language, way):
    game = played("mini-double", seed=8)
    load = lambda: hosted(language=language)  # noqa: E731
    with table_at(load, studied=ANALYST) as address, opened(browser, f"{address}learn.html", **way) as page:
        expect(page.locator(".lesson .task")).to_have_text(lessons_in(language)[0].task)
        check_page(page)
        page.goto(f"{address}study.html")
        expect(page.get_by_role("status")).to_contain_text({"en": "not over", "sv": "inte slut"}[language])
        check_page(page)
        page.evaluate(PASTE, LAST)
        page.locator(".values .link").first.click()
        page.locator(".values .link").first.wait_for()
        check_page(page)
        page.set_input_files("input[type=file]", file_of(game.record()))
        page.locator("[data-focus=challenge]").click()
        page.locator("section .small").first.wait_for()
        check_page(page)
