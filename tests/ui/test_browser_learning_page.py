"""The pages of who learns in a real browser: lessons, the guided deal, a game studied by keys, and the challenge."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from support.browsers import opened, table_at
from support.studies import ANALYST, played
from support.tables import hosted

from krypenv import Game
from krypenv.training.evaluation.analysis.analysis import analyze
from krypenv.ui.browser.hosted import Hosted
from krypenv.ui.seats import PERSON
from krypenv.ui.study.lessons import lessons_in

pytestmark = pytest.mark.browser


def over(game):
    """What makes a table with a game that is over."""
    return lambda: Hosted(game.copy(), (PERSON, "greedy"), "greedy", lambda *_: None)


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
        page.get_by_role("button", name="6 of clubs", exact=True).click()
        page.locator(".move").click()
        expect(said).to_have_text(f"✓ {first.right}")
        expect(page.get_by_role("button", name="Next")).to_be_focused()
        page.keyboard.press("Enter")
        expect(task).to_have_text(second.task)
        page.reload()
        expect(page.get_by_role("button", name="Leave a card: done")).to_be_visible()
        page.get_by_role("button", name="A first deal").click()
        expect(said).to_contain_text("Best: ")
        before = said.inner_text()
        page.locator(".hand .card:not(.illegal)").first.click()
        page.locator(".move").first.click()
        expect(page.locator(".log")).to_contain_text("Greedy played")
        expect(said).not_to_have_text(before)
        page.get_by_role("link", name="To the table").click()
        expect(page.locator(".hand .card").first).to_be_visible()
        assert page.locator("#lesson").count() == 0


def test_a_game_is_studied_by_keys_and_saved_and_the_challenge_is_shown(browser, tmp_path):
    game = played("mini-high", seed=7)
    analysis = analyze(game, ANALYST.agent)
    mistakes = [play.number for play in analysis.plays if play.mark in ("?", "??")]
    assert len(mistakes) > 1
    with table_at(over(game), studied=ANALYST) as address, opened(browser, address) as page:
        page.get_by_role("link", name="Study this game").click()
        place, last = page.locator(".place"), len(game.moves)
        expect(place).to_contain_text(f"Move 1 of {last}")
        twin = game.rewound()
        assert page.locator(".studying .plaque .card").count() == len(twin.hand(0)) + len(twin.hand(1))
        page.keyboard.press("ArrowRight")
        expect(place).to_contain_text(f"Move 2 of {last}")
        page.keyboard.press("End")
        expect(place).to_contain_text("The end of the game")
        expect(page.get_by_role("heading", name="Luck of the deals")).to_be_visible()
        page.keyboard.press("Home")
        page.keyboard.press("n")
        first = next(number for number in mistakes if number > 1)
        expect(place).to_contain_text(f"Move {first} of {last}")
        play = analysis.plays[first - 1]
        expect(page.locator(".made")).to_contain_text(f"It was {play.regret:.1f} points behind the best move.")
        rows = page.locator(".values tbody tr")
        assert rows.count() == len(play.moves)
        expect(page.locator(".values tr.played")).to_have_count(1)
        page.keyboard.press("End")
        page.keyboard.press("p")
        expect(place).to_contain_text(f"Move {mistakes[-1]} of {last}")
        assert page.locator(".curve .mistake").count() == len(mistakes)
        with page.expect_download() as download:
            page.get_by_role("link", name="Save the record").click()
        assert Game.replay(download.value.path().read_text()).scores() == game.scores()
        page.get_by_role("button", name="See how Search would have played your cards").click()
        page.locator("[data-focus=difference]").click()
        other, path = played("mini-low", seed=8), tmp_path / "other.krk"
        path.write_text(other.record())
        page.locator("input[type=file]").set_input_files(path)
        expect(place).to_contain_text(f"Move 1 of {len(other.moves)}")
        path.write_text("torn")
        page.locator("input[type=file]").set_input_files(path)
        expect(page.locator(".alarm")).to_contain_text("The file can't be read: line 1: 'torn' is no entry")
        path.write_text("x" * 300_000)
        page.locator("input[type=file]").set_input_files(path)
        expect(page.locator(".alarm")).to_have_text(
            "The file is too large: a record or a position has at most 65536 characters."
        )
