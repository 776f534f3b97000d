"""The editor of positions in a real browser: by mouse, by keys, on a phone, and what is done with a position."""

from __future__ import annotations

import contextlib
import re

import pytest
from playwright.sync_api import expect
from support.browsers import DROP, check_fits, drag, opened, study_at, table_at
from support.studies import ANALYST, played
from support.tables import hosted

from krypenv import Game, Rules
from krypenv.ui.study.lessons import lessons_in

pytestmark = pytest.mark.browser

LAST = """rules: mini-low players=2  # a small game
hand 0: 2S 3C; hand 1: 4C 5D
table: 6H
captured 1: rest
"""
READY = "✓ This is a position: Seat 0 is to play, deal 4 of 4."
PASTE = """text => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""


@pytest.fixture
def editor(browser):
    """The page of a server without a table, which begins with an empty board."""
    with study_at() as address, opened(browser, address, has_rules=False) as page:
        page.wait_for_selector(".pack")
        yield page


def text_of(page):
    return control(page, "text")


def control(page, name):
    """A field of the editor."""
    return page.locator(f"[data-focus='{name}']")


def place(page, name):
    """The button that chooses a place."""
    return page.locator(".spot").get_by_role("button", name=name, exact=True)


def pack(page, card):
    """A card of the pack, by what it is called."""
    return page.locator(".pack").get_by_role("button", name=f"{card},")


def in_place(page, name):
    """What lies in a place."""
    cards = page.locator(".spot").filter(has=page.get_by_role("button", name=name, exact=True))
    return cards.locator(".cards button, .chips button")


def test_a_position_is_set_up_by_clicks_and_studied(editor):
    expect(editor.locator(".said")).to_contain_text("Choose a place")
    control(editor, "preset").select_option("mini-low")
    expect(control(editor, "rules")).to_have_value("mini-low players=2")
    for name, cards in (
        ("Hand of Seat 0", ("2 of spades", "3 of clubs")),
        ("Hand of Seat 1", ("4 of clubs", "5 of diamonds")),
        ("Table", ("6 of hearts", "ace of spades")),
    ):
        place(editor, name).click()
        for card in cards:
            pack(editor, card).click()
        expect(in_place(editor, name)).to_have_count(2)
    expect(editor.locator(".pack-head")).to_contain_text("18 cards left over")
    expect(editor.locator(".said .alarm")).to_contain_text("18 cards are missing")
    pack(editor, "ace of spades").click()  # it is there already, so it is taken away
    expect(in_place(editor, "Table")).to_have_count(1)
    editor.get_by_role("button", name="Pile of Seat 1: The rest").click()
    expect(editor.locator(".said")).to_have_text(READY)
    game = Game.from_position(text_of(editor).input_value())
    assert game.position() == Game.from_position(LAST).position()
    control(editor, "turn").select_option("Seat 1")
    expect(editor.locator(".said")).to_contain_text("Seat 1 is to play")
    editor.get_by_role("button", name="Take back").click()
    expect(editor.locator(".said")).to_have_text(READY)
    editor.get_by_role("button", name="Study this position").click()
    expect(editor.locator(".place")).to_contain_text("Seat 0 is to play.")
    expect(editor.locator(".values tbody tr")).to_have_count(len(game.legal_moves()))


def test_moves_of_a_position_are_played_taken_back_and_played_otherwise(editor):
    text_of(editor).fill(LAST)
    expect(editor.locator(".said")).to_have_text(READY)
    editor.get_by_role("button", name="Study this position").click()
    game = Game.from_position(LAST)
    while not game.is_over:
        expect(editor.locator(".values .played")).to_have_count(0)
        first = editor.locator(".values tbody .link").first
        expect(first).to_be_visible()
        move = first.get_attribute("data-focus").removeprefix("move ")
        first.click()
        game.push(move)
        who = "The end of the game" if game.is_over else f"Seat {game.turn} is to play."
        expect(editor.locator(".place")).to_contain_text(who)
    expect(editor.locator("header p")).not_to_be_empty()
    editor.keyboard.press("Home")
    expect(editor.locator(".values .played")).to_have_count(1)
    editor.locator(".values tr:not(.played) .link").first.click()
    expect(editor.locator(".place")).to_contain_text("Seat 1 is to play.")
    editor.get_by_role("button", name="Edit position").click()
    expect(editor.locator(".said")).to_contain_text("Seat 1 is to play")
    assert Game.from_position(text_of(editor).input_value()).turn == 1
    editor.get_by_role("button", name="Back to the study").click()
    expect(editor.locator(".place")).to_contain_text("Seat 1 is to play.")


def test_what_is_typed_changes_the_board_and_says_what_is_wrong(editor):
    text_of(editor).fill(LAST)
    expect(in_place(editor, "Hand of Seat 1")).to_have_count(2)
    expect(editor.locator(".said")).to_have_text(READY)
    text_of(editor).fill(LAST.replace("6H", "6H 6H"))
    expect(editor.locator(".said .alarm")).to_contain_text("line 3: 6H is here once too often; the deck has 1 of it.")
    expect(editor.locator(".spot.wrong")).to_have_attribute("data-place", "table")
    assert editor.get_by_role("button", name="Study this position").get_attribute("aria-disabled") == "true"
    text_of(editor).press("End")
    text_of(editor).fill("rules: chess")
    expect(editor.locator(".said .alarm")).to_contain_text("line 1: ")
    expect(text_of(editor)).to_be_focused()
    expect(in_place(editor, "Hand of Seat 1")).to_have_count(2)
    pack(editor, "ace of spades").click()
    expect(editor.locator(".said .alarm")).to_have_text(
        "The text can't be read as it stands: mend it first, or take back."
    )


def test_cards_are_dragged_from_the_pack_between_places_and_back(editor):
    drag(editor, pack(editor, "8 of spades"), editor.locator("[data-place=table]"))
    expect(in_place(editor, "Table")).to_have_count(1)
    drag(editor, in_place(editor, "Table"), editor.locator("[data-place='hand 1']"))
    expect(in_place(editor, "Hand of Seat 1")).to_have_count(1)
    expect(in_place(editor, "Table")).to_have_count(0)
    drag(editor, in_place(editor, "Hand of Seat 1"), editor.locator(".pack"))
    expect(in_place(editor, "Hand of Seat 1")).to_have_count(0)
    expect(editor.locator(".pack-head")).to_contain_text("104 cards left over")


def press_to(page, found):
    """Press Tab until something has the focus."""
    for _ in range(80):
        if found.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("no key leads there")


def test_a_position_is_set_up_by_keys_alone(editor):
    press_to(editor, control(editor, "preset"))
    editor.keyboard.type("mini-low")
    expect(control(editor, "rules")).to_have_value("mini-low players=2")
    press_to(editor, place(editor, "Hand of Seat 1"))
    editor.keyboard.press("Enter")
    expect(place(editor, "Hand of Seat 1")).to_be_focused()
    expect(place(editor, "Hand of Seat 1")).to_have_attribute("aria-pressed", "true")
    press_to(editor, pack(editor, "ace of clubs"))
    for key in ("ArrowRight", "ArrowDown", "Enter", "End", "Enter"):
        editor.keyboard.press(key)
    expect(in_place(editor, "Hand of Seat 1")).to_have_count(2)
    assert "hand 1: 2D 6S" in text_of(editor).input_value()
    expect(editor.locator("#heard")).to_have_text("Hand of Seat 1: 2")
    expect(pack(editor, "6 of spades")).to_be_focused()
    editor.keyboard.press("Home")
    expect(pack(editor, "ace of clubs")).to_be_focused()
    editor.locator(".pack").get_by_role("button", name="2 of diamonds").press("Enter")
    expect(in_place(editor, "Hand of Seat 1")).to_have_count(1)
    press_to(editor, editor.get_by_role("button", name="Deal anew"))
    editor.keyboard.press("Enter")
    expect(editor.locator(".said")).to_contain_text("deal 1 of 4")


def test_builds_sweeps_and_the_stock_have_their_controls(editor):
    control(editor, "preset").select_option("mulle-glimne")
    control(editor, "build").select_option("9")
    place(editor, "Build 9").click()
    pack(editor, "9 of clubs").click()
    expect(in_place(editor, "Build 9")).to_have_count(1)
    control(editor, "owner 9").select_option("Seat 1")
    expect(text_of(editor)).to_have_value(re.compile("owner 9: 1"))
    editor.get_by_label("Seat 0: Sweeps").fill("2")
    editor.get_by_label("Seat 0: Sweeps").press("Enter")
    expect(text_of(editor)).to_have_value(re.compile("sweeps: 2 0"))
    control(editor, "deal").select_option("3")
    expect(in_place(editor, "Stock, in deal order")).not_to_have_count(0)
    expect(control(editor, "deal")).to_have_value("3")


def test_what_is_selected_and_the_caret_stay_when_the_page_is_drawn_anew(editor):
    def draw_anew(card):
        pack(editor, card).evaluate("card => card.click()")  # not the pointer, which takes the focus

    editor.get_by_label("Seat 0: Sweeps").focus()
    editor.keyboard.press("ControlOrMeta+a")
    draw_anew("9 of clubs")
    expect(text_of(editor)).to_have_value(re.compile("9C"))
    editor.keyboard.type("2")
    editor.keyboard.press("Enter")
    expect(text_of(editor)).to_have_value(re.compile("sweeps: 2 0"))
    control(editor, "rules").focus()
    editor.keyboard.press("End")
    draw_anew("8 of clubs")
    expect(text_of(editor)).to_have_value(re.compile("8C"))
    editor.keyboard.type(" packs=1")
    expect(control(editor, "rules")).to_have_value("krypkasino players=2 packs=1")


def test_a_position_is_copied_saved_dropped_and_pasted(browser, tmp_path):
    with (
        study_at() as address,
        opened(browser, address, has_rules=False, permissions=["clipboard-read", "clipboard-write"]) as page,
    ):
        page.wait_for_selector(".pack")
        page.evaluate(DROP, LAST)
        expect(page.locator(".said")).to_have_text(READY)
        assert text_of(page).input_value() == LAST
        page.get_by_role("button", name="Copy").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == LAST
        with page.expect_download() as download:
            page.get_by_role("link", name="Save").click()
        assert download.value.path().read_text() == LAST
        page.evaluate(PASTE, LAST.replace("6H", "5H"))
        expect(text_of(page)).to_have_value(LAST.replace("6H", "5H"))
        page.get_by_role("button", name="Take back").click()
        expect(text_of(page)).to_have_value(LAST)
        page.evaluate(PASTE, Game(Rules.preset("mini-low"), seed=1).record())
        expect(page.locator(".said .alarm")).to_contain_text("This game is not over, so its hands stay closed.")
        page.evaluate(DROP, played().record())
        expect(page.locator(".place")).to_contain_text("Move 1 of")
        page.keyboard.press("ArrowRight")
        page.evaluate(PASTE, LAST)  # where a game is studied, a position is studied at once
        expect(page.locator(".place")).to_contain_text("Seat 0 is to play.")


def test_the_editor_comes_back_as_it_was_when_the_connection_was_lost(browser):
    with contextlib.ExitStack() as first, contextlib.ExitStack() as later:
        address = first.enter_context(study_at())
        page = later.enter_context(opened(browser, address, has_rules=False))
        page.wait_for_selector(".pack")
        text_of(page).fill(LAST)
        expect(page.locator(".said")).to_have_text(READY)
        first.close()
        expect(page.locator(".said")).to_have_text("The connection is lost. Trying again …")
        later.enter_context(study_at(port=int(address.split(":")[2].split("/")[0])))
        expect(page.locator(".said")).to_have_text(READY)
        assert text_of(page).input_value() == LAST


def test_a_record_is_dropped_and_any_step_of_it_edited_beside_a_table_on_a_phone_in_swedish(browser):
    game = played("mini-double", seed=8)
    phone = {"width": 360, "height": 740, "has_touch": True}
    with table_at(lambda: hosted(language="sv"), studied=ANALYST) as address, opened(browser, address, **phone) as page:
        page.evaluate(DROP, game.record())
        expect(page.locator(".place")).to_contain_text("Drag 1 av")
        page.goto(f"{address}learn.html")
        expect(page.locator(".lesson .task")).to_have_text(lessons_in("sv")[0].task)
        check_fits(page)
        page.goto(f"{address}study.html")
        expect(page.get_by_role("status")).to_contain_text("Spelet är inte slut")
        page.get_by_role("button", name="Lägg upp en ställning").tap()
        page.wait_for_selector(".pack")
        check_fits(page)
        page.evaluate(DROP, game.record())
        expect(page.locator(".place")).to_contain_text("Drag 1 av")
        expect(page.get_by_role("heading", name="Tur i givarna")).to_be_visible()
        check_fits(page)
        page.evaluate(DROP, game.rewound().record())
        expect(page.locator(".alarm")).to_contain_text("Spelet är inte slut")
        page.get_by_role("button", name="Ett drag framåt").tap()
        expect(page.locator(".place")).to_contain_text("Drag 2 av")
        page.get_by_role("button", name="Ändra ställningen").tap()
        expect(page.locator(".said")).to_contain_text("Det här är en ställning:")
        twin = game.rewound()
        twin.push(game.moves[0])
        assert text_of(page).input_value() == twin.position()
        check_fits(page)
        control(page, "into").select_option("table")
        before = len(twin.table)
        page.locator("[data-place=table] .cards button").first.tap()
        expect(page.locator("[data-place=table] .cards button")).to_have_count(before - 1)
        page.locator(".pack .chip:not(.gone)").first.tap()
        expect(page.locator("[data-place=table] .cards button")).to_have_count(before)
        page.get_by_role("button", name="Studera ställningen").tap()
        expect(page.locator(".place")).to_contain_text("ska spela.")
