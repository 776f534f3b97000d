"""Luck: zero on average whatever the value, the same for all seatings, and taken out of margins."""

import itertools
import math

import numpy as np
import pytest
from support.arenas import Highest, Lowest

from krypenv import Engine, Game, Rules, agents
from krypenv.agents.champion import shipped_model
from krypenv.agents.scripted import tactical_style
from krypenv.agents.search.horizon import make_model
from krypenv.agents.workspace import make_workspaces
from krypenv.cards import card_name
from krypenv.families.variants import MOST_PLAYERS, PRESETS
from krypenv.kernels import deals
from krypenv.kernels.captures import borrow_scratch
from krypenv.kernels.compiled import compile_rules
from krypenv.kernels.play import prepare
from krypenv.runtime.jit import handle
from krypenv.state import allocate
from krypenv.training import duplicate_match
from krypenv.training.evaluation.luck import meter as meters
from krypenv.training.evaluation.luck.control import Control, control_for, control_of, stored
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate import play_duplicates
from krypenv.training.evaluation.matches.margins import interval
from krypenv.training.solving import measure, save

MAIN = Rules.preset("krypkasino")
TACTICIAN = {"tactician": 1.0}
TABLES = [
    f"{name} players={players}" for name in PRESETS for players in range(2, MOST_PLAYERS[name] + 1)
    if players == 2 or not (name.startswith("mini") or name == "mulle-glimne")
]  # fmt: skip
TEAMS_AND_SESSIONS = [
    "krypkasino players=4 teams=2", "krypkasino players=6 teams=3", "krypkasino games=2",
    "krypkasino games=0 threshold=60", "krypkasino goal=high", "kasino-sweden goal=low",
    "kasino-finland games=0 threshold=16",
    "kasino-finland players=4 teams=2", "mulle-glimne players=4 teams=2",
]  # fmt: skip


def play(rules: Rules, names: tuple[str, str], number: int, control: Control, seed: int = 3) -> tuple:
    """Margins and luck of duplicate deals: (deals, sides) each, by the seating of the first agent; and the meter."""
    meter = Meter(rules, control)
    players = [agents.make(name, rules, seed + at) for at, name in enumerate(names)]
    found = play_duplicates(players, rules, deal_seeds(seed, number), meter)
    return found.margins, found.luck, meter


def at_a_deal(rules: Rules, number: int, seed: int = 0) -> np.ndarray:
    """A game, (1,) of `GAME`, of which a deal has just begun, after the first legal actions."""
    engine = Engine(rules, 1, [seed])
    while engine.state.deal_number[0] < number:
        engine.step(engine.action_mask.argmax(axis=1))
    return engine.state.copy()


# ---------------------------------------------------------------------- zero on average


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(
    "text", ["mini-count", "mini-choice", "mini-mulle", "krypkasino", "mulle", "overspader players=3"]
)
def test_a_redeal_is_the_game_with_that_deck(text, number):
    """The redeal of a deal is what the same play leads to if the deck had been in that order from the start."""
    rules = Rules.parse(text)
    number = min(number, int(compile_rules(rules)[0]["num_deals"]))
    state = at_a_deal(rules, number)
    for seed in range(8):
        again = handle(state.copy())
        meters.redeal(compile_rules(rules)[0], again[0], np.uint64(seed), borrow_scratch()[0])
        twin = Game(rules, deck=[card_name(int(kind)) for kind in again["deck"][0, : rules.deck_size]])
        engine = Engine.from_state(rules, np.array([twin.state], twin.state.dtype))
        while engine.state.deal_number[0] < number:
            engine.step(engine.action_mask.argmax(axis=1))
        for name in state.dtype.names:
            if name != "rng":
                assert (engine.state[name] == again[name]).all(), name


@pytest.mark.parametrize("text", ["mini-low", "mini-high"])
def test_luck_is_exactly_zero_over_all_that_can_come(text):
    """By the value of a deal that the meter takes, over all hands that the last deal can bring."""
    rules = Rules.parse(text)
    compiled = compile_rules(rules)
    number = int(compiled[0]["num_deals"])
    state = at_a_deal(rules, number)
    start, size = (int(compiled[0]["deal_start"][at]) for at in (number - 1, number))
    orders = list(itertools.permutations(state["deck"][0, start:size].tolist()))
    games = handle(allocate(len(orders)))
    for at, order in enumerate(orders):
        games[at] = state[0]
        deals.take_back(compiled[0], games[at])
        games["deck"][at, start:size] = order
        deals.deal(compiled[0], games[at])
        prepare(compiled[0], games[at], borrow_scratch()[0])
    values = np.zeros((len(orders), 2))
    meters.value_by_tactician(tactical_style(rules), compiled, make_model("sweep"), games, make_workspaces(), values)
    luck = values - values.mean(axis=0)
    assert luck.any()
    assert luck.sum(axis=0) == pytest.approx([0, 0], abs=1e-9)
    # and redeals come to the same mean, within four standard errors
    many = 4000
    drawn = handle(allocate(1 + many))
    meters.write_redeals(compiled, handle(state.copy()), np.zeros(1, np.int64), many, drawn, make_workspaces())
    found = np.zeros((1 + many, 2))
    meters.value_by_tactician(tactical_style(rules), compiled, make_model("sweep"), drawn, make_workspaces(), found)
    error = found[1:, 0].std() / math.sqrt(many)
    assert abs(found[1:, 0].mean() - values[:, 0].mean()) < 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("text", [*TABLES, *TEAMS_AND_SESSIONS])
def test_the_luck_of_all_deals_is_zero_on_average(text):
    """To four standard errors, in games of a greedy player and a random one."""
    rules = Rules.parse(text)
    deals = 160 if rules.capture == "maximal" else 24
    _, luck, meter = play(rules, ("greedy", "random"), deals, control_of(rules, shares=TACTICIAN))
    later = rules.deck_size - int(compile_rules(rules)[0]["deal_start"][1])  # cards after the first deal
    assert meter.parts.any() == (later > 1)
    by_deal = luck.mean(axis=1)
    assert abs(by_deal.mean()) <= 4 * by_deal.std(ddof=1) / math.sqrt(deals)
    assert np.abs(meter.luck.sum(axis=1)).max() < 0.01  # what one side has, the others lack


def test_the_first_deal_brings_luck_that_all_seatings_share():
    meter = Meter(MAIN, control_of(MAIN, shares=TACTICIAN))
    engine = Engine(MAIN, 8, np.repeat(deal_seeds(1, 4), 2))
    meter.begin(engine, first=True)
    luck = meter.luck.reshape(4, 2, 2)
    assert luck.any()
    assert (luck[:, 0] == luck[:, 1]).all()
    meter.begin(engine)
    assert not meter.luck.any()


# ---------------------------------------------------------------------- adjusted margins


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "one", "other", "deals"),
    [
        ("krypkasino", "champion(worlds=20)", "search(worlds=20)", 100),
        ("krypkasino", "champion(worlds=0)", "rollout(worlds=4)", 300),
        ("krypkasino", "ismcts(worlds=20)", "tactician(shed=True)", 200),
        ("krypkasino", "oracle-hand", "greedy", 150),
        ("krypkasino players=4", "champion(worlds=0)", "tactician(shed=True)", 200),
        ("kasino-sweden", "champion(worlds=0)", "tactician", 150),
        ("mulle", "champion(worlds=0)", "tactician", 60),
    ],
)
def test_adjusted_and_raw_margins_agree(text, one, other, deals):
    rules = Rules.parse(text)
    margins, luck, _ = play(rules, (one, other), deals, control_of(rules), seed=4)
    by_deal = luck.mean(axis=1)
    assert abs(by_deal.mean()) < 4 * by_deal.std(ddof=1) / math.sqrt(deals)
    raw = margins.mean(axis=1)
    assert (raw - by_deal).var() < raw.var()  # and less is left to chance


@pytest.mark.slow
def test_intervals_of_a_thousand_matches_between_equals_cover_zero():
    """95 of 100 do, within what chance allows: 4 standard errors of a thousand trials."""
    rules, of_a_match = MAIN, 8
    margins, luck, _ = play(
        rules, ("tactician", "tactician"), 1000 * of_a_match, control_of(rules, shares={"tactician": 0.6})
    )
    by_match = (margins - luck).mean(axis=1).reshape(1000, of_a_match)
    inside = sum(low <= 0 <= high for _, low, high in map(interval, by_match))
    assert abs(inside - 950) < 4 * math.sqrt(1000 * 0.05 * 0.95)


def test_a_match_tells_both_margins_and_what_a_deal_is_worth():
    result = duplicate_match("search(worlds=10, plies=1)", "greedy", MAIN, deals=20, seed=1)
    assert result.adjusted is not None
    assert result.adjusted.worth > 1
    assert result.adjusted.high - result.adjusted.low < result.high - result.low
    assert control_of(MAIN).digest in result.adjusted.control
    assert "luck taken out" in str(result)
    without = duplicate_match("search(worlds=10, plies=1)", "greedy", MAIN, deals=20, seed=1, luck="off")
    assert without.adjusted is None
    assert without.margin == result.margin
    assert "luck" not in str(without)


def test_luck_is_the_same_for_any_number_of_threads_and_games_at_once(monkeypatch):
    def measured(deals, threads=1):
        meter, players = Meter(MAIN, control_of(MAIN)), [Lowest(MAIN), Highest(MAIN)]
        return play_duplicates(players, MAIN, deal_seeds(3, deals), meter, threads).luck

    few, many, threads = measured(3), measured(12), measured(12, threads=2)
    assert few.any()
    assert (few == many[:3]).all()
    assert (threads == many).all()
    monkeypatch.setattr(meters, "AT_ONCE", 5 * 17)  # five games with their redeals
    assert (measured(12) == many).all()


# ---------------------------------------------------------------------- where it is taken out


@pytest.mark.parametrize(
    ("names", "is_on"),
    [
        (("random", "greedy", "tactician(shed=True)", "champion(worlds=0)", "search(worlds=4)", "oracle-hand"), False),
        ((str(shipped_model(MAIN)), f"guided(model={str(shipped_model(MAIN))!r}, worlds=9)"), False),
        (("search", "search(worlds=10)", "champion", "rollout(worlds=10)", "ismcts(ms=2)", "oracle-cards"), True),
    ],
)
def test_it_is_on_where_an_agent_takes_long_or_is_not_of_the_package(names, is_on):
    quick = agents.make("greedy", MAIN)
    for player in [agents.make(name, MAIN) for name in names] + [Lowest(MAIN)] * is_on:
        assert control_for("auto", [quick, player], MAIN) == (control_of(MAIN) if is_on else None), player
        assert control_for("on", [quick, player], MAIN) == control_of(MAIN)
        assert control_for("off", [quick, player], MAIN) is None


def test_who_sees_the_deck_has_no_luck():
    players = [agents.make(name, MAIN) for name in ("oracle-deck", "search")]
    assert control_for("auto", players, MAIN) is None
    assert control_for("auto", [agents.make("oracle-cards", MAIN)], MAIN) == control_of(MAIN)
    with pytest.raises(ValueError, match="oracle-deck: it sees which cards come"):
        control_for("on", players, MAIN)
    own = agents.make("greedy", MAIN)
    own.cheats = True
    with pytest.raises(ValueError, match="greedy: it sees which cards come"):
        control_for("on", [own], MAIN)
    own.sees_deck = False
    assert control_for("on", [own], MAIN) == control_of(MAIN)
    with pytest.raises(ValueError, match="luck is auto, on or off, not 'maybe'"):
        duplicate_match("greedy", "random", MAIN, deals=1, luck="maybe")


def test_a_digest_tells_controls_apart():
    some = [
        control_of(MAIN, redeals, shares) for shares, redeals in
        (
            ({"tactician": 0.5}, 16), ({"tactician": 0.6}, 16), ({"tactician": 0.5}, 8),
            ({"tactician": 0.5, "network": 0.1}, 16),
        )
    ]  # fmt: skip
    assert len({each.digest for each in some}) == 4
    assert control_of(MAIN, shares={"tactician": 0.5, "network": 0}) == some[0]


def test_the_adjusted_margin_of_exact_play_is_right(tmp_path):
    """A best response to tactician wins what the solver computes, luck taken out."""
    rules = Rules.parse("mini-copies")
    measured = measure("tactician", rules, seeds=100)
    folder = save(tmp_path / "response", measured, best_response=True)
    match = duplicate_match(str(folder), "tactician", rules, deals=3000, seed=2, luck="on")
    assert match.adjusted is not None
    assert match.adjusted.worth > 1
    assert match.adjusted.low - 0.02 <= measured.exploitability <= match.adjusted.high + 0.02


def test_rules_have_their_own_coefficients_or_the_default() -> None:
    entries = stored()["rules"]
    for text, entry in entries.items():
        assert control_of(Rules.parse(text)).shares == {key: value for key, value in entry["shares"].items() if value}
        assert all(0 <= share <= 1.2 for share in entry["shares"].values())
    assert control_of(Rules.parse("krypkasino games=3")) == control_of(MAIN)
    assert control_of(Rules.parse("mini-low")).shares == stored()["default"]["shares"]
