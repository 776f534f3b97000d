"""Kasino and Mulle as PettingZoo environments: variants, refusals, stop, tie breaks, sessions that end at once."""

import numpy as np
import pettingzoo
import pytest
from support.environments import ENVIRONMENTS, play, tie_breaks_of

from krypenv import Engine, Game, IllegalMove, Rules, kasino_v0, krypkasino_v0, mulle_v0
from krypenv.cards import STOP, TAKE, parse_card
from krypenv.families.variants import FAMILIES

RELATIVES = {name: each for name, each in ENVIRONMENTS.items() if each[0] is not krypkasino_v0}
every_relative = pytest.mark.parametrize(("module", "arguments"), RELATIVES.values(), ids=RELATIVES)


def test_each_variant_is_a_preset():
    """The variants are presets of the family, the first one by default, and each preset has one environment."""
    for module, family in ((krypkasino_v0, "krypkasino"), (kasino_v0, "kasino-sweden"), (mulle_v0, "mulle")):
        assert module.env().unwrapped.rules == module.raw_env().rules == Rules.preset(family)
        assert module.__all__ == ["env", "raw_env"]
        name = module.__name__.removeprefix("krypenv.")
        assert str(module.env()) == module.env().metadata["name"] == name
        if hasattr(pettingzoo, "make"):  # from 1.27 on
            assert str(pettingzoo.make("aec", name, players=3)) == name
    for variant, preset in (("sweden", "kasino-sweden"), ("overspader", "overspader"), ("finland", "kasino-finland")):
        assert kasino_v0.env(variant=variant, players=4).unwrapped.rules == Rules.preset(preset, players=4)
    assert mulle_v0.env(variant="sassersson").unwrapped.rules == Rules.preset("mulle")
    played = [preset for family in FAMILIES for preset in family.variants.values()]
    assert sorted(played) == sorted(Rules.presets())


@pytest.mark.parametrize(
    ("module", "arguments", "sentence"),
    [
        (
            kasino_v0,
            {"variant": "norway"},
            "unknown variant 'norway'; the variants of kasino_v0 are sweden, overspader",
        ),
        (kasino_v0, {"variant": "fin"}, r"unknown variant 'fin'.* are sweden, overspader, finland"),
        (kasino_v0, {"variant": "kasino-sweden"}, "variants of kasino_v0"),
        (kasino_v0, {"variant": 3}, "unknown variant 3; the variants of kasino_v0"),
        (mulle_v0, {"variant": "sweden"}, "the variants of mulle_v0 are sassersson, glimne, mini"),
        (
            krypkasino_v0,
            {"variant": "mulle"},
            "unknown variant 'mulle'; the variants of krypkasino_v0 are krypkasino, ",
        ),
        (kasino_v0, {"players": 5}, "kasino-sweden is not played by 5 players"),
        (mulle_v0, {"players": 6}, "mulle is not played by 6 players"),
        (kasino_v0, {"players": 3, "teams": 2}, "3 players can't form 2 equal teams"),
        (kasino_v0, {"players": 3, "teams": 1}, "3 players can't form 1 equal teams"),
        (mulle_v0, {"players": 4, "teams": 3}, "4 players can't form 3 equal teams"),
        (kasino_v0, {"rules": Rules.preset("mulle")}, "kasino_v0 plays rules made from .* mulle are for mulle_v0"),
        (mulle_v0, {"rules": Rules.preset()}, "from krypkasino are for krypkasino_v0"),
        (krypkasino_v0, {"rules": Rules.preset("overspader")}, "from overspader are for kasino_v0"),
        (kasino_v0, {"rules": "sweden"}, r"rules are those of Rules\.preset"),
    ],
)
def test_what_is_not_of_the_family_is_refused_in_a_sentence(module, arguments, sentence):
    for make in (module.env, module.raw_env):
        with pytest.raises(ValueError, match=sentence) as refused:
            make(**arguments)
        assert "\n" not in str(refused.value)


def test_whole_rules_of_the_family_are_taken():
    rules = Rules.preset("overspader", players=4, teams=2, goal="low")
    assert kasino_v0.env(rules=rules).unwrapped.rules == rules
    high = Rules.preset("krypkasino", goal="high")
    assert krypkasino_v0.env(rules=high).unwrapped.rules == high


def stacked_kasino():
    """Sweden for two, seat 0 to play: hand 9H 5C 8C KC; table 4D 5D 9D 2H."""
    env = kasino_v0.raw_env()
    first = ["9H", "5C", "7C", "QC", "4D", "5D", "8C", "KC", "3C", "JC", "9D", "2H"]
    rest = [name for name in Game(env.rules, seed=0).deck if name not in first]
    env.reset(options={"deck": first + rest})
    assert env.game.hand(0) == ["5C", "8C", "KC", "9H"]
    assert env.game.table == ["4D", "5D", "9D", "2H"]
    return env


def test_k2_a_stop_without_a_capture_and_a_take_that_cannot_be_completed_are_refused():
    """A 9 takes 4 and 5, or 9, or both, or nothing; after 4 alone it can't stop, and 2 fits nothing."""
    env = stacked_kasino()
    env.step(parse_card("9H"))
    legal = {TAKE + parse_card("4D"), TAKE + parse_card("9D"), STOP}
    assert set(np.flatnonzero(env.game.action_mask())) == legal
    for bad in (TAKE + parse_card("2H"), TAKE + parse_card("5D"), parse_card("5C")):
        before = (env.game.actions, env.game.table, env.game.scores(), list(env.actions))
        with pytest.raises(IllegalMove, match=r"^(take|play) \w\w is illegal; seat 0 may ") as refused:
            env.step(bad)
        assert "\n" not in str(refused.value)
        assert (env.game.actions, env.game.table, env.game.scores(), list(env.actions)) == before
    env.step(TAKE + parse_card("4D"))
    with pytest.raises(IllegalMove, match=r"^stop is illegal; seat 0 may take 5D$"):
        env.step(STOP)
    assert env.game.taken == ["4D"]
    assert np.flatnonzero(env.game.action_mask()).tolist() == [TAKE + parse_card("5D")]
    env.step(TAKE + parse_card("5D"))
    assert set(np.flatnonzero(env.game.action_mask())) == {TAKE + parse_card("9D"), STOP}
    env.step(STOP)
    assert (env.game.turn, env.game.table) == (1, ["9D", "2H"])
    assert env.game.captured(0) == ["4D", "5D", "9H"]


def test_k2_the_engine_refuses_the_same_and_stays():
    env = stacked_kasino()
    engine = Engine.from_state(env.rules, np.atleast_1d(env.game.state).view(np.recarray))
    for action in (parse_card("9H"), TAKE + parse_card("4D")):
        engine.step([action])
    before = engine.state.copy()
    for bad in (STOP, TAKE + parse_card("2H"), TAKE + parse_card("9D"), parse_card("5C")):
        with pytest.raises(IllegalMove, match=r"^(stop|take \w\w|play \w\w) is illegal in row 0; seat 0 may take 5D$"):
            engine.step([bad])
        assert (engine.state == before).all()
    with pytest.raises(IllegalMove, match=r"^action 105 is illegal in row 0"):
        engine.step([105])


@every_relative
def test_stopping_always_leads_to_the_end_of_the_session(module, arguments):
    """Nobody captures: all cards lie on the table in the end, nobody has a point, and all share the win."""
    env = module.raw_env(**arguments | {"games": 2, "capture": "optional", "forced_sweep": False})
    env.reset(seed=5)
    paid = np.zeros(env.rules.players)
    while not any(env.terminations.values()):
        legal = np.flatnonzero(env.game.action_mask())
        env.step(int(legal[-1]))
        paid += list(env.rewards.values())
    assert env.game.session_over
    assert env.game.totals == [0] * env.rules.players
    assert len(env.game.table) == env.rules.deck_size
    np.testing.assert_allclose(paid, 1 / env.rules.players if env.reward == "win" else 0)


def test_k6_f7_the_tie_break_decides_who_is_paid_for_the_win():
    """Equal totals at the end: who took more spades in the last game wins, alone; without a tie break they share."""
    for module, arguments in ((kasino_v0, {}), (kasino_v0, {"variant": "finland"}), (mulle_v0, {})):
        decided = 0
        for seed in range(300):
            env = module.raw_env(**arguments, reward="win")
            *_, paid = play(env, seed, np.random.default_rng(seed))
            totals, ties = np.array(env.game.totals), tie_breaks_of(env.game)
            if totals[0] == totals[1]:
                best = ties == ties.max()
                assert list(paid.values()) == (best / best.sum()).tolist()
                shared = module.raw_env(**arguments, reward="win", tie_break="share")
                shared.reset(seed=seed)
                for action in env.actions:
                    shared.step(action)
                assert list(shared.rewards.values()) == [0.5, 0.5]
                decided += not best.all()
        assert decided > 0


def test_f6_a_session_ends_at_once_with_cards_in_the_hands():
    """The running score reaches 16 in the middle of a game: it ends there, and who reached it has won."""
    early = 0
    for seed in range(20):
        env = kasino_v0.raw_env(variant="finland", games=0, threshold=16, reward="win", dense=bool(seed % 2))
        *_, paid = play(env, seed, np.random.default_rng(seed))
        game = env.game
        assert game.session_over
        if game.state["cut_short"]:
            early += bool(game.hand(0) or game.hand(1) or game.stock_size)
            assert sorted(paid.values()) == [0, 1]
            assert game.totals[int(np.argmax(list(paid.values())))] >= 16 > min(game.totals)
    assert early > 3
