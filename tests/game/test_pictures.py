"""Pictures of games: what is drawn where, as pixels and as SVG, files, and the window."""

from __future__ import annotations

import io
import itertools
import os
import random
import re
import subprocess
import sys
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from support.games import RULES, play_out
from support.relatives import RELATIVES

from krypenv import Game, Rules, krypkasino_v0
from krypenv.cards import card_name
from krypenv.game.display import format_announcement, format_result, seat_counts
from krypenv.pictures import draw_game, gif_of, png_of
from krypenv.pictures.drawing import _card_surface, pygame
from krypenv.pictures.rendering import Renderer
from krypenv.pictures.scene import HEIGHT, WIDTH, Rect, lay_cards, lay_out

PICTURE = Rect(0, 0, WIDTH, HEIGHT)


def holds(room, other):
    """Whether a rectangle lies within another one."""
    across = room.x <= other.x + 1e-6 and other.x + other.w <= room.x + room.w + 1e-6
    return across and room.y <= other.y + 1e-6 and other.y + other.h <= room.y + room.h + 1e-6


def overlap(one, other):
    """Whether two rectangles have more than an edge in common."""
    across = max(one.x, other.x) + 1e-6 < min(one.x + one.w, other.x + other.w)
    return across and max(one.y, other.y) + 1e-6 < min(one.y + one.h, other.y + other.h)


def states(rules, seed=1, every=5):
    """Yield a random game at every few actions, and at its end."""
    game, choices = Game(rules, seed=seed), random.Random(seed)
    for number in itertools.count():
        if game.is_over or number % every == 0:
            yield game
        if game.is_over:
            return
        game.act(choices.choice(game.legal_actions()))


def in_place(things, place, *kinds):
    """What the things of some kinds in a place say."""
    return [thing.text for thing in things if thing.place == place and thing.kind in kinds]


def check_cards(game, things, open_seats):
    """Assert that the cards of a picture are those of the game, each where it belongs, and no others."""
    rules, move = game.rules, game.last_move
    last = [game.pending, *game.taken] if game.pending else [move.card, *move.takes] if move else []
    expected = {"table": game.table, "aside": game.set_aside if rules.set_aside != "none" else [], "last": last}
    expected |= {f"build {value}": cards for value, cards, _, _ in game.builds}
    expected |= {f"hand {seat}": game.hand(seat) if seat in open_seats else [] for seat in range(rules.players)}
    backs = {f"hand {seat}": len(game.hand(seat)) for seat in range(rules.players) if seat not in open_seats}
    backs["stock"] = min(3, game.stock_size)
    shown = [(thing.place, thing.text) for thing in things if thing.kind == "card"]
    assert sorted(shown) == sorted((place, card) for place, cards in expected.items() for card in cards)
    hidden = Counter(thing.place for thing in things if thing.kind == "back")
    assert hidden == Counter({place: count for place, count in backs.items() if count})
    marked = [thing.text for thing in things if thing.place == "table" and thing.style == "marked"]
    assert sorted(marked) == sorted(game.taken)


def check_words(game, things):
    """Assert that a picture says who is to act, what each seat has, and what is announced."""
    for seat in range(game.rules.players):
        [panel] = [thing for thing in things if thing.place == f"seat {seat}" and thing.kind == "panel"]
        assert (panel.style == "marked") == (seat == game.turn)
        words = "  ".join(in_place(things, f"seat {seat}", "text"))
        assert f"score {game.scores()[seat]}" in words
        assert f"points {game.points(seat)}  sweeps {game.sweeps(seat)}" in words
        assert ("dealer" in words) == (seat == game.dealer)
        assert all(f"{name} {count}" in words for name, count in seat_counts(game, seat).items())
    announced = format_announcement(game)
    said = [format_result(game)] if game.is_over else [f"“{announced}”"] if announced else []
    assert in_place(things, "ribbon", "ribbon") == said
    made = 0 if game.pending or not game.last_move else game.last_move.sweep
    assert in_place(things, "last", "ribbon") == [[], ["Sweep!"], ["Double sweep!"]][made]
    assert f"stock {game.stock_size}" in in_place(things, "stock", "text")


def check_places(game, things):
    """Assert that everything lies in the picture, panels beside each other, and the corner of each card to be seen."""
    assert all(holds(PICTURE, thing.rect) for thing in things)
    areas = [thing.rect for thing in things if thing.kind in ("panel", "felt")]
    assert not any(overlap(one, other) for one, other in itertools.combinations(areas, 2))
    for seat in range(game.rules.players):
        [panel] = [thing for thing in things if thing.place == f"seat {seat}" and thing.kind == "panel"]
        assert all(holds(panel.rect, thing.rect) for thing in things if thing.place in (f"hand {seat}", f"seat {seat}"))
    cards = [thing for thing in things if thing.kind == "card"]
    for below, above in itertools.combinations(cards, 2):
        corner = below.rect._replace(w=0.3 * below.rect.w, h=0.4 * below.rect.h)
        assert not overlap(corner, above.rect), (below, above)
    words = [thing for thing in things if thing.kind in ("text", "ribbon") and thing.text]
    assert not any(overlap(thing.rect, card.rect) for thing in words for card in cards)
    assert not any(overlap(one.rect, other.rect) for one, other in itertools.combinations(words, 2))


@pytest.mark.parametrize("text", [*RULES, *RELATIVES, "mulle-glimne players=2", "mulle-glimne players=4 teams=2"])
def test_everything_is_drawn_in_its_place(text):
    rules = Rules.parse(text)
    for number, game in enumerate(states(rules)):
        open_seats = [range(rules.players), (), (game.turn,)][number % 3]
        things = lay_out(game, open_seats, number % rules.players)
        check_cards(game, things, open_seats)
        check_words(game, things)
        check_places(game, things)


def test_a_table_and_hands_of_any_size_fit():
    table = Rect(158, 216, 644, 236)
    for count in range(1, 80):
        for room, widest in ((table, 88), (Rect(10, 50, 165, 86), 60), (Rect(0, 0, 118, 246), 44)):
            cards = lay_cards(count, room, widest)
            assert len(cards) == count
            assert all(holds(room, card) and card.w <= widest for card in cards)
    cards = lay_cards(24, table, 88)
    assert not any(overlap(*pair) for pair in itertools.combinations(cards, 2))
    assert all(card.w >= 44 for card in cards)


# ---------------------------------------------------------------------- pixels


def face(name, width=28, four_colours=False):
    surface = _card_surface(name, four_colours, width, round(1.4 * width))
    pixels = pygame().surfarray.array3d(surface).swapaxes(0, 1).astype(int)
    return pixels[width // 7 : -width // 7, width // 10 : -width // 10]  # without the round corners


def test_suits_and_cards_are_told_apart_from_afar():
    for rank in "A27TJQK":
        four, two = (
            [face(f"{rank}{suit}", four_colours=many)[:14, :6].mean(axis=(0, 1)) for suit in "CDHS"]  # the index
            for many in (True, False)
        )
        assert [int(colour.argmax()) for colour in four[:3]] == [1, 2, 0]
        assert [colour[0] - colour[2] > 30 for colour in two] == [False, True, True, False]
    faces = np.array([face(card_name(kind)) for kind in range(52)])
    gaps = np.abs(faces[:, None] - faces).mean(axis=(2, 3, 4))
    assert gaps[~np.eye(52, dtype=bool)].min() > 2.5, "each card has a face of its own"


def test_a_picture_has_the_width_that_is_asked_for():
    game = Game(Rules.preset(), seed=1)
    pixels = draw_game(game, None, 400)
    assert (pixels.shape, pixels.dtype) == ((300, 400, 3), np.uint8)
    assert not np.array_equal(pixels, draw_game(game, 0, 400))
    with pytest.raises(ValueError, match="render_seat is 'turn', 'all', None or a seat from 0 to 1"):
        draw_game(game, 2)


def test_seats_sit_clockwise_from_the_one_at_the_bottom():
    game = Game(Rules.preset(players=3), seed=1)
    things = lay_out(game, (), 1, ["North", "You", "West"])
    heights = {thing.text: thing.rect.y for thing in things if thing.text in ("North", "You", "West")}
    lefts = {thing.text: thing.rect.x for thing in things if thing.text in ("North", "You", "West")}
    assert heights["You"] > HEIGHT / 2 > heights["West"] == heights["North"]
    assert lefts["West"] < lefts["North"], "the seat after that at the bottom sits to its left, clockwise (R5)"


# ---------------------------------------------------------------------- files and notebooks


def test_files_show_the_pixels_that_were_drawn():
    game = play_out(Game(Rules.preset("mini-low"), seed=1))
    pictures = [draw_game(Game(game.rules, seed=seed), width=200) for seed in range(5)]
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png_of(pictures[0])))), pictures[0])
    gif = Image.open(io.BytesIO(gif_of(iter(pictures), 0.5)))
    assert (gif.n_frames, gif.size, gif.info["duration"]) == (5, (200, 150), 500)
    for at, picture in enumerate(pictures):
        gif.seek(at)
        assert np.abs(np.asarray(gif.convert("RGB")).astype(int) - picture).mean() < 8
    assert gif.info["duration"] == 2500
    with pytest.raises(ValueError, match="at least"):
        gif_of([])


@pytest.mark.parametrize("text", ["mulle", "kasino-finland players=4 teams=2 building=True"])
def test_a_notebook_shows_a_game_as_svg_without_what_draws_pixels(text, monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    for game in states(Rules.parse(text), every=20):
        picture = ElementTree.fromstring(game._repr_svg_())
        assert (picture.get("width"), picture.get("height")) == (str(WIDTH), str(HEIGHT))
        nodes = list(picture.iter())
        drawn = {node.get("id") for node in nodes if node.get("id")}
        assert {node.get("href")[1:] for node in nodes if node.get("href")} == drawn
        ways = [node.get("d") for node in nodes if node.get("d") is not None]
        assert all(re.fullmatch(r"[MLHVCQZlhvcqz0-9 .,-]+", way) for way in ways), "browsers read what is drawn"


# ---------------------------------------------------------------------- the window

NO_DISPLAY = """
import os, sys
from krypenv import krypkasino_v0
before = dict(os.environ)
env = krypkasino_v0.env(render_mode="rgb_array")
env.reset(seed=1)
assert env.render().shape == (720, 960, 3)
import pygame
assert not pygame.display.get_init() and not pygame.get_init()
assert dict(os.environ) == before
krypkasino_v0.env(render_mode="human").reset(seed=1)
"""


def test_without_a_display_pixels_are_drawn_and_a_window_is_refused():
    run = subprocess.run(
        [sys.executable, "-c", NO_DISPLAY], env=os.environ | {"SDL_VIDEODRIVER": "none such"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    last = run.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: no window can be opened here (")
    assert "'ansi'" in last


def test_a_window_shows_pictures_until_a_person_closes_it():
    renderer, game, display = Renderer("human", "a title"), Game(Rules.preset(), seed=1), pygame().display
    renderer.show(game, "all")
    assert display.get_caption()[0] == "a title"
    shown = pygame().surfarray.array3d(display.get_surface()).swapaxes(0, 1)
    assert np.array_equal(shown, draw_game(game, "all"))
    pygame().event.post(pygame().event.Event(pygame().QUIT))
    for _ in range(2):
        renderer.show(game, "all")
        assert not display.get_init()


def test_what_draws_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    for mode in ("rgb_array", "human"):
        with pytest.raises(ModuleNotFoundError, match=r'^pictures are drawn with pygame-ce, .*"\.\[render\]"$'):
            krypkasino_v0.env(render_mode=mode)
    krypkasino_v0.env(render_mode="ansi").reset(seed=1)
