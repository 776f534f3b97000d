"""Luck: zero on average whatever the value, the same for all seatings, taken out of margins, and told of one game."""

import itertools
import math
import re

import numpy as np
import pytest
from support.arenas import Highest, Lowest
from support.games import cut, play_out, stacked

from krypenv import Engine, Game, Rules, agents
from krypenv.agents.champion import shipped_model
from krypenv.cards import parse_card
from krypenv.families.variants import PRESETS
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import compile_rules, lead_sign
from krypenv.runtime.jit import handle
from krypenv.training.evaluation.luck import meter as meters
from krypenv.training.evaluation.luck.game_luck import GameLuck, luck_of_game
from krypenv.training.evaluation.luck.meter import Control, Meter, control_for, control_of, stored
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate import play_duplicates
from krypenv.ui.narrator.luck import tell_luck

MAIN = Rules.preset("krypkasino")
TABLES = [
    *(f"{name} players=2" for name in PRESETS), "krypkasino players=6", "overspader players=3", "mulle players=4",
    "krypkasino players=4 teams=2", "krypkasino players=6 teams=3", "krypkasino games=2", "kasino-sweden goal=low",
    "krypkasino games=0 threshold=60", "kasino-finland games=0 threshold=16", "mulle-glimne players=4 teams=2",
]  # fmt: skip


def at_deal(engine: Engine, number: int) -> Engine:
    """Make the first legal actions up to the beginning of a deal."""
    while engine.state.deal_number[0] < number:
        engine.step(engine.action_mask.argmax(axis=1))
    return engine


# ---------------------------------------------------------------------- zero on average


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("text", ["mini-count", "mini-mulle", "krypkasino", "overspader players=3"])
def test_a_redeal_is_the_game_with_that_deck(text, number):
    """The redeal of a deal is what the same play leads to if the deck had been in that order from the start."""
    rules = Rules.parse(text)
    number = min(number, len(rules.deal_sizes()))
    state = at_deal(Engine(rules, 1, [0]), number).state.copy()
    for seed in range(8):
        again = handle(state.copy())
        meters.redeal(compile_rules(rules)[0], again[0], np.uint64(seed), borrow_scratch()[0])
        found = at_deal(stacked(rules, again["deck"][:, : rules.deck_size]), number).state
        for name in set(state.dtype.names) - {"rng"}:
            assert (found[name] == again[name]).all(), name


@pytest.mark.parametrize("text", ["mini-low", "mini-high"])
def test_luck_sums_to_zero_over_all_that_the_last_deal_can_bring(text):
    """Within four standard errors of a thousand redeals for each order of its cards."""
    rules, redeals = Rules.parse(text), 1000
    hands, table = rules.deal_sizes()[-1]
    deck, start = Game(rules, seed=0).deck, rules.deck_size - sum(hands) - table
    decks = [[*deck[:start], *order] for order in itertools.permutations(deck[start:])]
    engine = at_deal(stacked(rules, [list(map(parse_card, each)) for each in decks]), len(rules.deal_sizes()))
    meter = Meter(rules, Control({"tactician": 0.5}, redeals, ""))
    meter.begin(engine, first=True)
    luck = meter.parts[:, :, 0]
    assert luck.any()
    assert (np.abs(luck.mean(axis=0)) < 4 * luck.std(axis=0) / math.sqrt(redeals * len(luck))).all()
    assert meter.luck == pytest.approx(luck / 2, abs=0.001)
    meter.begin(engine)  # without the first deal
    assert not meter.luck.any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "players", "deals"),
    [
        *((text, ("greedy", "random"), 40) for text in TABLES),
        ("krypkasino", ("champion(worlds=0)", "rollout(worlds=4)"), 150),
        ("krypkasino", ("oracle-hand", "greedy"), 75),
        ("mulle", ("champion(worlds=0)", "tactician"), 30),
    ],
)
def test_the_luck_of_all_deals_is_zero_on_average_and_less_is_left_to_chance(text, players, deals):
    """To four standard errors."""
    rules = Rules.parse(text)
    own = [agents.make(name, rules, at) for at, name in enumerate(players)]
    found = play_duplicates(own, rules, deal_seeds(4, deals), control_of(rules))
    luck, margins = found.luck.mean(axis=1), found.margins.mean(axis=1)
    later = rules.deck_size - int(compile_rules(rules)[0]["deal_start"][1])  # cards after the first deal
    assert found.parts.any() == (later > 1)
    assert abs(luck.mean()) <= 4 * luck.std(ddof=1) / math.sqrt(deals)
    assert (margins - luck).var() < margins.var() or players == ("greedy", "random")
    assert np.abs(found.played.luck.sum(axis=1)).max() < 0.01  # what one side has, the others lack


def test_luck_is_the_same_for_any_number_of_games_at_once(monkeypatch):
    found = []
    for at_once in (meters.AT_ONCE, 5 * 17):  # the second: five games with their redeals
        monkeypatch.setattr(meters, "AT_ONCE", at_once)
        players = [Lowest(MAIN), Highest(MAIN)]
        found.append(play_duplicates(players, MAIN, deal_seeds(3, 12), control_of(MAIN)).luck)
    assert found[0].any()
    assert (found[0] == found[1]).all()


# ---------------------------------------------------------------------- where it is taken out


def test_luck_is_taken_out_where_an_agent_takes_long_or_is_not_of_the_package():
    quick, network = agents.make("greedy", MAIN), str(shipped_model(MAIN))
    names = "random", "tactician(shed=True)", "champion(worlds=0)", "search(worlds=4)", "oracle-hand", network
    slow = "search(worlds=10)", "champion", "rollout(worlds=10)", "ismcts(ms=2)", "oracle-cards"
    for player in [*(agents.make(name, MAIN) for name in (*names, *slow)), Lowest(MAIN)]:
        is_on = player.name not in names and player.name != network
        assert control_for("auto", [quick, player], MAIN) == (control_of(MAIN) if is_on else None), player
        assert control_for("on", [quick, player], MAIN) == control_of(MAIN)
        assert control_for("off", [quick, player], MAIN) is None


def test_who_sees_the_deck_has_no_luck():
    """Whoever cheats sees it, unless it says otherwise."""
    own, seer = agents.make("greedy", MAIN), agents.make("oracle-deck", MAIN)
    assert control_for("auto", [seer, agents.make("search", MAIN)], MAIN) is None
    own.cheats = True
    for cheater in (seer, own):
        with pytest.raises(ValueError, match=f"{cheater.name}: it sees which cards come"):
            control_for("on", [cheater], MAIN)
    own.sees_deck = False
    assert control_for("on", [own], MAIN) == control_of(MAIN)


def test_a_digest_tells_controls_apart():
    half = {"tactician": 0.5}
    all_of_them = ((half, 16), ({"tactician": 0.6}, 16), (half, 8), ({**half, "network": 0.1}, 16))
    some = [control_of(MAIN, redeals, shares) for shares, redeals in all_of_them]
    assert len({each.digest for each in some}) == 4
    assert control_of(MAIN, shares={**half, "network": 0}) == some[0]


def test_rules_have_their_own_coefficients_or_the_default() -> None:
    entries = stored()["rules"]
    for text, entry in entries.items():
        assert control_of(Rules.parse(text)).shares == {key: value for key, value in entry["shares"].items() if value}
        assert all(0 <= share <= 1.2 for share in entry["shares"].values())
    assert control_of(Rules.parse("krypkasino games=3")) == control_of(MAIN)
    assert control_of(Rules.parse("mini-low")).shares == stored()["default"]["shares"]


# ---------------------------------------------------------------------- one game

LAST = "rules: krypkasino; table: 4H; hand 0: 2C 3C; hand 1: 6D 9D; captured 1: rest"
GAMES = [
    "krypkasino players=2", "krypkasino players=3", "krypkasino players=4 teams=2", "mini-high", "mini-mulle",
    "kasino-sweden players=2", "krypkasino players=2 games=2",
]  # fmt: skip


def played(rules):
    """A game of random players."""
    return play_out(Game(Rules.parse(rules), seed=3), 3)


@pytest.mark.parametrize("text", GAMES)
def test_margins_of_deals_add_up_and_luck_sums_to_zero_over_sides(text):
    game = played(text)
    luck, rules = luck_of_game(game), game.rules
    sides = rules.num_teams
    assert luck.deals == tuple(range(1, len(rules.deal_sizes()) + 1))
    assert luck.luck.shape == luck.margins.shape == (len(luck.deals), sides)
    assert luck.luck.any(axis=1).any()
    own = np.array([sum(game.scores()[side::sides]) for side in range(sides)])
    final = lead_sign(rules) * ((own.sum() - own) / (sides - 1) - own)
    assert luck.margins.sum(axis=0) == pytest.approx(final)
    assert luck.margins.sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert luck.luck.sum(axis=1) == pytest.approx(0, abs=0.01)  # each figure is rounded


@pytest.mark.parametrize("text", ["krypkasino players=2", "mini-low"])
def test_the_same_game_has_the_same_luck_with_a_seed_and_without(text):
    game = played(text)
    luck = luck_of_game(game)
    without = Game(game.rules, deck=game.deck, dealer=game.dealer)
    for action in game.actions:
        without.act(action)
    for twin in (game, Game.replay(game.record()), without, Game.replay(without.record())):
        assert luck_of_game(twin).to_json() == luck.to_json()
    assert str(control_of(game.rules).shares["tactician"]) in luck.control


def test_a_game_from_a_position_has_the_luck_of_the_deals_that_follow():
    game = played("krypkasino players=2")
    later = Game.from_position(cut(game, 43).position())
    for move in game.moves[43:]:
        later.push(move)
    whole, part = luck_of_game(game), luck_of_game(later)
    for name in ("deals", "luck", "margins"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[5:])
    assert (whole.is_whole, part.is_whole, part.is_over) == (True, False, True)
    assert part.tell(0).startswith("From deal 6 on, you ")


def test_a_deal_that_is_being_played_does_not_count():
    for moves, finished in ((11, 0), (12, 1), (19, 1), (20, 2)):
        luck = luck_of_game(cut(played("krypkasino players=2"), moves))
        assert luck.deals == tuple(range(1, finished + 1))
        assert luck.luck.shape == (finished, 2)
    assert luck.tell(1, "Seat 1", "it").startswith("After deal 2, seat 1 ")
    game = Game.from_position(LAST)
    game.push("2C")
    assert luck_of_game(game).deals == ()
    with pytest.raises(ValueError, match="no deal was dealt and finished"):
        luck_of_game(game).tell(0)


def test_a_part_of_a_game_from_a_position_is_told():
    luck = GameLuck((3, 4), np.array([[4.0, -4], [1, -1]]), np.array([[2.0, -2], [1, -1]]), False, "")
    assert luck.tell(1) == "From deal 3 to deal 4, you trailed by 5: 3 of them were the cards."
    assert luck.to_json()["deals"][0] == {"deal": 3, "margins": [4, -4], "luck": [2, -2]}


@pytest.mark.parametrize(
    ("margin", "luck", "more", "told"),
    [
        (-12, -15, {}, "lost by 12; the cards cost them 15."),
        (0, 5, {}, "tied on points, though the cards gave them 5."),
        (-12, -0.4, {}, "lost by 12; the cards were even."),
        (-12, -0.9, {}, "lost by 12: 1 of them was the cards."),
        (-1, -1, {}, "lost by 1: all of it was the cards."),
        (-1, 5, {"sides": 4}, "ended 1 point behind the others on average, though the cards gave them 5."),
        (7, 5, {"is_over": False}, "led by 7: 5 of them were the cards."),
    ],
)  # fmt: skip
def test_what_is_told_of_a_margin(margin, luck, more, told):
    assert tell_luck(margin, luck, "All", "them", **more) == f"All {told}"
    of_you = re.sub("(gave|cost) them", r"\1 you", told)
    assert tell_luck(margin, luck, **more) == f"You {of_you}"
