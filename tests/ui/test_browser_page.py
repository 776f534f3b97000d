"""The page of a table in a real browser: games by mouse, keys and finger, every decision, people, agents and hints."""

from __future__ import annotations

import contextlib
import re
import threading
from collections import Counter

import pytest
from playwright.sync_api import expect
from support.browsers import (
    box_of,
    card,
    check_page,
    drag,
    log_grows,
    of_position,
    opened,
    play_first,
    table_at,
    wait_for_turn,
    ways,
)
from support.decisions import BUILDS, CHOICE, FORCED, MANY
from support.tables import KEYS, Failing, Kept, Waiting, hosted

from krypenv import Game
from krypenv.ui.seats import PERSON

pytestmark = pytest.mark.browser


# ---------------------------------------------------------------------- games


@ways
def test_a_game_is_played_to_its_score_sheet_and_the_same_cards_are_dealt_again(browser, language, way):
    kept = Kept()
    load = lambda: hosted("mini-double players=4 teams=2", (PERSON, *["greedy"] * 3), kept, language=language)  # noqa: E731
    with table_at(load) as address, opened(browser, address, **way) as page:
        assert page.evaluate("document.documentElement.lang") == language
        check_page(page)
        page.locator("[data-focus=rules]").click()
        page.wait_for_selector("dialog[open]")
        check_page(page)
        page.keyboard.press("Escape")
        pile, dialog = page.locator(".own .numbers button"), page.get_by_role("dialog")
        pile.click()
        expect(dialog.locator(".laid").get_by_role("img")).to_have_count(0)
        page.keyboard.press("Escape")
        page.locator(".hand .card:not(.illegal)").first.click()
        check_page(page)
        page.keyboard.press("Escape")
        while not wait_for_turn(page):
            play_first(page)
        check_page(page)
        game = Game.replay(kept.games[0][-1])
        assert game.is_over
        shown = page.locator(".sheet tfoot tr:first-child td").all_inner_texts()
        assert [int(text.replace("−", "-")) for text in shown] == game.scores()
        pile.click()
        count = int(dialog.locator("p").first.inner_text().split()[-1])
        assert dialog.locator(".laid").first.get_by_role("img").count() == count == game.pile_counts(0)[0]
        check_page(page)
        page.keyboard.press("Escape")
        page.locator("[data-focus='end again']").click()
        expect(page.locator(".hand .card")).to_have_count(len(game.rewound().hand(0)))
        assert len(kept.games) == 2


def go_to(page, place):
    """Press Tab until the focus is in a place of the page, as somebody without a mouse does."""
    for _ in range(40):
        if page.evaluate("place => document.activeElement.closest(place) !== null", place):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no key leads to {place}")


def test_a_game_is_played_by_keys_alone(browser):
    with table_at(lambda: hosted("mini-low")) as address, opened(browser, address) as page:
        for _ in range(3):
            wait_for_turn(page)
            with log_grows(page):
                go_to(page, ".hand")
                while not page.locator(".hand .chosen").count():
                    page.keyboard.press("Enter")  # an illegal card says why, and the next one is tried
                    page.keyboard.press("ArrowRight")
                go_to(page, ".choices")
                page.keyboard.press("Enter")


def test_two_people_play_an_agent_until_the_other_one_comes_and_they_end_the_game_together(browser):
    with table_at(lambda: hosted("mini-low", (PERSON, PERSON))) as address, contextlib.ExitStack() as held:

        def sits(seat):
            page = held.enter_context(opened(browser, f"{address}#{KEYS.seats[seat]}"))
            page.reload()  # a closed page comes back to its seat
            page.wait_for_selector(".hand .card")
            return page

        one = sits(0)
        one.get_by_role("button", name="Let Greedy play for Player B").click()
        expect(one.locator(".others .plaque")).to_contain_text("Greedy plays")
        play_first(one)
        expect(one.locator(".log")).to_contain_text("Player B played")
        two = sits(1)
        expect(two.locator(".status")).to_have_text("Player A is to play.")
        expect(one.locator(".others .plaque")).not_to_contain_text("Greedy plays")
        expect(one.get_by_role("button", name="Let Greedy play")).to_have_count(0)
        two.get_by_role("button", name="Rules").hover()
        two.mouse.down()
        with log_grows(one):
            play_first(one)
        two.mouse.up()  # a button that is held while somebody plays is heard
        expect(two.get_by_role("dialog")).to_be_visible()
        two.keyboard.press("Escape")
        with log_grows(one):
            play_first(two)
        one.get_by_role("button", name="End the game").click()
        expect(one.get_by_role("button", name="Play on")).to_be_visible()
        expect(two.locator(".status")).to_contain_text("Player A would end the game here.")
        check_page(two)
        two.get_by_role("button", name="Agree to end").click()
        for page in (one, two):
            expect(page.locator(".sheet h2")).to_contain_text("The game was ended by agreement.")


# ---------------------------------------------------------------------- decisions


def test_what_a_card_can_take_glows_and_clicks_narrow_it_down(browser):
    with table_at(of_position(CHOICE)) as address, opened(browser, address) as page:
        card(page, "8 of spades").click()
        check_page(page)
        glowing = [each.get_attribute("aria-label") for each in page.locator(".table .glow").all()]
        union = ["3 of hearts", "5 of diamonds", "5 of hearts", "8 of clubs"]
        assert Counter(glowing) == Counter(union)
        assert page.locator(".group .move").count() == 2
        expect(page.locator(".status")).to_have_text("8♠ takes 8♣ 5♦+3♥ or 8♣ 3♥+5♥: choose.")
        card(page, "5 of diamonds").click()
        assert page.locator(".group .move").count() == 1
        card(page, "6 of hearts").click()
        expect(page.locator(".status")).to_contain_text("8♠ can't take")
        page.keyboard.press("Escape")
        assert page.locator(".table .glow").count() == 0
        card(page, "8 of spades").click()
        card(page, "5 of diamonds").click()
        page.locator(".move").click()
        expect(page.locator(".log")).to_contain_text("You played 8♠ and took 8♣ 5♦+3♥. It costs you 1 point.")
        expect(page.locator("#heard")).to_contain_text("You played 8♠")


STAYING = ".table .card, .hand, .hand .card:not([aria-label='8 of spades']), .status, .bar button, .plaque, .log li"
BOXES = """parts => [...document.querySelectorAll(parts)]
    .map(each => each.getBoundingClientRect()).map(({x, y, width, height}) => [x, y, width, height].map(Math.round))"""


@pytest.mark.parametrize("size", [(390, 844), (844, 390), (1366, 768)])
def test_choosing_moves_nothing_and_the_choice_is_at_the_card(browser, size):
    with table_at(of_position(CHOICE)) as address, opened(browser, address, *size) as page:
        page.mouse.move(0, 0)
        before, raised = page.evaluate(BOXES, STAYING), card(page, "8 of spades")
        for part in (".table", ".hand", ".bar"):
            box = box_of(page.locator(part))
            assert 0 <= box["y"] <= size[1] - box["height"], f"{part} is seen without scrolling"
        raised.click()
        at, choices = box_of(raised), box_of(page.locator(".choices"))
        assert -30 <= at["y"] - (choices["y"] + choices["height"]) <= 10
        assert choices["x"] <= at["x"] + at["width"] / 2 <= choices["x"] + choices["width"]
        assert page.evaluate(BOXES, STAYING) == before
        raised.click()
        page.wait_for_timeout(600)  # no double click
        expect(page.locator(".chosen, .choices")).to_have_count(0)
        raised.dblclick()
        expect(page.locator(".choices .move")).to_have_count(2)  # nothing is played where there is a choice
        card(page, "7 of clubs").dblclick()
        expect(page.locator(".log")).to_contain_text("You played 7♣, which creeps.")


def test_what_is_dragged_is_played_or_built_where_that_is_clear(browser):
    with table_at(of_position(CHOICE)) as address, opened(browser, address) as page:
        eight = card(page, "8 of spades")
        drag(page, eight, page.get_by_role("img", name="8 of clubs"))
        expect(page.locator(".table .picked")).to_have_count(1)  # both captures take it, so there is more to choose
        assert page.locator(".group .move").count() == 2
        drag(page, eight, page.locator(".log"))
        expect(page.locator(".chosen")).to_have_count(0)  # laid nowhere
        drag(page, card(page, "7 of clubs"), page.locator(".table"))
        expect(page.locator(".log")).to_contain_text("You played 7♣, which creeps.")
    with table_at(of_position(BUILDS)) as address, opened(browser, address) as page:
        check_page(page)
        drag(page, card(page, "4 of spades"), page.get_by_role("img", name="5 of diamonds"))
        expect(page.locator(".log")).to_contain_text("You added 4♠ 5♦ to your build of 9.")  # the only one with the 5


def test_a_finger_drags_a_card(browser):
    phone = {"has_touch": True, "is_mobile": True}
    with table_at(of_position(CHOICE)) as address, opened(browser, address, 360, 740, **phone) as page:
        start, end = box_of(card(page, "8 of spades")), box_of(page.get_by_role("img", name="5 of diamonds"))
        touch = page.context.new_cdp_session(page)
        places = [(start["x"] + 15, start["y"] + 20), (start["x"] + 15, start["y"] - 20), (end["x"] + 9, end["y"] + 9)]
        for kind, (x, y) in zip(("touchStart", "touchMove", "touchMove"), places, strict=True):
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        expect(page.locator(".log")).to_contain_text("You played 8♠ and took 8♣ 5♦+3♥.")


def test_an_illegal_card_says_why_and_a_sweep_is_shown_as_it_happens(browser):
    moving = {"reduced_motion": "no-preference"}
    with table_at(of_position(FORCED)) as address, opened(browser, address, **moving) as page:
        illegal = card(page, "9 of diamonds")
        assert illegal.get_attribute("aria-disabled") == "true"
        illegal.click(force=True)
        expect(page.locator(".status")).to_have_text("You must sweep: play 8♠.")
        check_page(page)
        card(page, "8 of spades").click()
        expect(page.locator(".move")).to_contain_text("sweep")
        page.locator(".move").click()
        expect(page.locator(".gain.plus")).to_have_count(1)
        expect(page.locator(".flying")).to_have_count(3)  # to the pile
        expect(page.locator(".event.sums")).to_have_text("8♠ = 6♦+2♥")
        expect(page.locator(".event.sweep")).to_have_text("Sweep! Five points from Greedy to you.")
        expect(page.locator(".log")).not_to_contain_text("Greedy played")
        expect(page.locator(".flying, .event")).to_have_count(0)
        expect(page.locator(".log")).to_contain_text("Greedy played")


def test_captures_that_are_too_many_to_list_are_clicked_together(browser):
    with table_at(of_position(MANY)) as address, opened(browser, address) as page:
        card(page, "10 of clubs").click()
        card(page, "4 of spades").click()
        page.get_by_role("button", name="Play 10♣ 4♠").click()
        expect(page.locator(".status")).to_contain_text("10♣ can't take 4♠")
        card(page, "6 of diamonds").click()
        page.get_by_role("button", name="Play 10♣ 6♦ 4♠").click()
        expect(page.locator(".log")).to_contain_text("You played 10♣ and took 6♦+4♠")


# ---------------------------------------------------------------------- help, agents, and other games


def test_a_hint_is_bars_with_numbers_for_which_nobody_waits_and_moves_are_taken_back(browser):
    thinker = Waiting()
    load = lambda: hosted("krypkasino", adviser="search(worlds=8)")  # noqa: E731
    with table_at(load, thinker=thinker) as address, opened(browser, address) as page:
        log, hint = page.locator(".log"), page.get_by_role("button", name="Hint")
        expect(page.get_by_role("button", name="Take back")).to_be_disabled()
        hint.click()
        expect(page.get_by_role("progressbar")).to_be_visible()
        play_first(page)
        expect(log).to_contain_text("You played")  # a click does not wait for a hint
        thinker.may_go = True
        wait_for_turn(page)
        page.get_by_role("button", name="Take back").click()
        expect(log).not_to_contain_text("You played")
        hint.click()
        expect(page.locator(".hint")).to_contain_text("Best: ")
        check_page(page)
        page.get_by_role("button", name="Values").click()
        check_page(page)
        dialog, margins = page.get_by_role("dialog"), []
        expect(dialog.locator("tbody tr")).to_have_count(3)
        for row in dialog.locator("tbody tr").all():
            _, margin, sweeps = row.locator("td").all_inner_texts()
            assert re.fullmatch(r"[+−]?\d+\.\d ± \d+\.\d", margin)
            assert re.fullmatch(r"\d+%", sweeps)
            margins.append(float(margin.split()[0].replace("−", "-")))
            assert row.locator("meter").count() == 1
        assert margins == sorted(margins, reverse=True)
        dialog.locator("tbody button").first.click()
        page.locator(".move.hinted").click()
        expect(log).to_contain_text("You played")
        page.get_by_role("button", name="New game").click()
        page.get_by_role("button", name="Back to the game").click()
        expect(log).to_contain_text("You played")
        page.get_by_role("button", name="New game").click()
        page.get_by_role("button", name="Begin").click()
        expect(log).not_to_contain_text("You played")


def test_a_cold_start_says_what_it_waits_for_and_teaches_meanwhile(browser):
    compiled = threading.Event()
    with table_at(lambda: compiled.wait() and hosted()) as address:
        page = browser.new_page(reduced_motion="reduce")
        page.goto(address)
        expect(page.get_by_role("status")).to_contain_text("The cards are being shuffled.")
        check_page(page)
        page.get_by_role("button", name="Rules").click()
        expect(page.get_by_role("dialog")).to_contain_text("Points")
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Teach me").click()
        expect(page.locator(".lesson .task")).not_to_be_empty()
        compiled.set()
        page.get_by_role("link", name="To the table").click()
        expect(page.locator(".hand .card")).not_to_have_count(0)
        page.close()


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_a_first_visit_teaches_or_plays_and_later_a_table_for_people_is_set(browser, size):
    with table_at(lambda: None) as address, opened(browser, address, *size) as page:
        check_page(page)
        expect(page.get_by_role("link", name="Teach me")).to_be_visible()
        page.get_by_role("button", name="Play", exact=True).click()
        expect(page.locator(".last")).to_contain_text("Points are bad")
        expect(page.locator(".others .plaque")).to_contain_text("Greedy")
        page.get_by_role("button", name="New game").click()
        page.locator("[data-focus=size]").select_option("4 in 2 teams")
        page.get_by_label("Seat C").select_option("Another person")
        page.get_by_label("called").last.fill("Bo")
        check_page(page)
        page.get_by_label("Language").select_option("Svenska")
        page.get_by_role("button", name="Börja").click()
        link = page.get_by_role("dialog").get_by_label("Bo").input_value()
        expect(page.get_by_role("dialog")).to_contain_text("En länk är en hemlighet")
        check_page(page)
        with opened(browser, f"{address}{link.rpartition('/')[2]}") as other:
            expect(other.locator(".hand .card")).not_to_have_count(0)
            expect(other.get_by_role("button", name="Nytt spel")).to_have_count(0)


def test_who_watches_agents_pauses_steps_and_chooses_a_pace_that_the_browser_keeps(browser):
    load = lambda: hosted("krypkasino", ("greedy", "random"))  # noqa: E731
    with table_at(load, pause=0.4) as address, opened(browser, address) as page:
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_role("button", name="Go on")).to_be_visible()
        check_page(page)
        with log_grows(page):
            page.get_by_role("button", name="One move").click()
        sound, pace = page.get_by_role("button", name="Sound of cards"), page.get_by_label("Agents play")
        expect(sound).to_have_attribute("aria-pressed", "false")
        sound.click()
        pace.select_option("fast")
        with log_grows(page, 5):
            page.get_by_role("button", name="Go on").click()
        page.reload()
        expect(pace).to_have_value("fast")
        expect(sound).to_have_attribute("aria-pressed", "true")


def test_an_agent_that_fails_is_told_and_tried_again_and_nothing_moves_where_that_is_wished(browser):
    with table_at(hosted, thinker=Failing()) as address, opened(browser, address) as page:
        play_first(page)
        expect(page.locator(".status")).to_have_text("Greedy can't go on.")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".log")).to_contain_text("Greedy played")
        page.wait_for_selector(".last.fresh")
        assert page.evaluate("document.getAnimations().length") == 0
        ground = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")  # noqa: E731
        light = ground()
        page.emulate_media(color_scheme="dark")
        assert ground() != light


def test_who_watches_sees_no_hand_and_a_link_that_leads_nowhere_says_so(browser):
    with table_at(hosted, KEYS._replace(is_open=False)) as address:
        with opened(browser, f"{address}#{KEYS.watch}") as page:
            page.wait_for_selector(".felt.watching")
            assert page.locator(".hand").count() == page.get_by_role("button", name="New game").count() == 0
            check_page(page)
            page.evaluate("document.documentElement.removeAttribute('lang')")
            with pytest.raises(AssertionError, match="html-has-lang"):  # what is serious is found
                check_page(page)
        page = browser.new_page(reduced_motion="reduce")
        page.goto(f"{address}#wrong")
        expect(page.get_by_role("alert")).to_contain_text("This link leads to no seat of this table.")
        check_page(page)
        page.close()
