"""What holds for every agent: its string, and legal, seeded, honest play in every game of the family."""

from __future__ import annotations

import numpy as np
import pytest
from support.fuzzing import refusal
from support.games import RULES
from support.positions import decide, play_whole_games, played, with_choices
from support.relatives import BUILDING

from krypenv import Engine, Rules, agents, determinize
from krypenv.agents.base import LIMITS, is_main, options_of
from krypenv.agents.champion import MODELS
from krypenv.agents.scripted import Greedy, Tactician
from krypenv.agents.search.search import Search
from krypenv.cards import BUILD
from krypenv.families import krypkasino
from krypenv.features import SIZE as FEATURES
from krypenv.observation import SIZE, extra_blocks

MAIN, SMALL = RULES["krypkasino players=2"], RULES["mini-low players=2"]
TWO, URL = str(MODELS / "two"), "url='http://127.0.0.1:9/v1'"
SCRIPTED = ["random", "greedy", "tactician", "tactician(shed=True)"]
SAMPLERS = ["search(worlds=12)", "rollout(worlds=6)", "ismcts(worlds=30)"]
ORACLES = ["oracle-cards", "oracle-hand", "oracle-deck"]
every_honest = pytest.mark.parametrize("spec", [*SCRIPTED, *SAMPLERS])


# ---------------------------------------------------------------------- names and options


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        *((spec, spec) for spec in (*SCRIPTED, "search", "oracle-hand", "oracle-hand(plies=4)", "oracle-cards")),
        (" tactician( shed = False ) ", "tactician"),
        ("search(worlds=30, ms=0)", "search"),
        ("search(worlds=100, threads=2)", "search(worlds=100)"),
        ("search(ms=2.5, plies=3)", "search(plies=3, ms=2.5)"),
        ("rollout(deals=2, worlds=5)", "rollout(worlds=5, deals=2)"),
        ("ismcts(explore=3, worlds=9)", "ismcts(worlds=9, explore=3)"),
        ("oracle-deck(deals=1, plies=3)", "oracle-deck(plies=3, deals=1)"),
        ("oracle-cards(worlds=5, cards=2)", "oracle-cards(cards=2, worlds=5)"),
        (f"guided(model={TWO!r}, worlds=7)", f"guided(model={TWO!r}, worlds=7)"),
        (f"learned(solver=False, model={TWO!r})", f"learned(model={TWO!r}, solver=False)"),
        (f"learned(model={TWO!r}, threads=2)", TWO),
    ],
)
def test_a_name_makes_the_agent_again(spec, name):
    agent = agents.make(spec, MAIN)
    assert agent.name == agents.make(name, MAIN).name == name
    assert repr(agent) == f"<{name} for krypkasino players=2>"
    assert name == TWO or agents.format_spec(*agents.parse_spec(name)) == name


def test_names_are_those_that_need_no_model_and_options_have_defaults():
    assert {"random", "greedy", "tactician"} <= set(agents.names())
    assert "guided" not in agents.names()
    assert (options_of(Tactician), options_of(Greedy)) == ({"shed": False}, {})


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("greddy", "unknown agent 'greddy' \\(did you mean 'greedy'\\?\\)"),
        ("minimax", "the agents are random, greedy, tactician"),
        ("greedy(depth=2)", "greedy has no option 'depth'; its options are: none"),
        ("tactician(sheds=True)", "no option 'sheds' \\(did you mean 'shed'\\?\\)"),
        ("tactician(shed=1)", "shed is of type bool"),
        ("runs/missing", "there is no model folder 'runs/missing'"),
        ("search(worlds=1.5)", "worlds is of type int"),
        ("search(method='x')", "method is paranoid or max_n, not 'x'"),
        ("search(ms=1e999)", "ms, .* from 0 to 1000000000, not inf"),
        ("ismcts(worlds=1000000, threads=1024)", "need too much memory"),
        ("champion(worlds=0)", "no network for 'mini-low players=2' comes with the package"),
        ("learned()", "name its folder"),
        ("guided(model='nowhere')", "nowhere is no model"),
        (f"guided(model={TWO!r}, worlds=1000000, proposals=1000)", "need too much memory"),
        ("process(command='nothing_such --x')", "'nothing_such --x' can't be started: 'nothing_such': No such file"),
        ("process(command='/')", "can't be started: '/': Permission denied"),
        ('process(command="it\'s")', "can't be split into words: no closing quotation"),
        ("process(command=' ')", r"process needs a command, as in process\(command='python my_bot.py'\)"),
        ("process(comand='x')", r"process has no option 'comand' \(did you mean 'command'\?\)"),
        ("llm()", "llm needs the name of a model"),
        ("llm(model='m', key='NO_SUCH_KEY')", "in the environment variable 'NO_SUCH_KEY', or a url"),
        (f"llm(model='m', {URL}, illegal='stop')", "illegal is 'random' or 'forfeit', not 'stop'"),
        (f"llm(model='m', {URL}, prompt='no-such-file')", "no-such-file"),
        (f"llm(model='m', {URL}, colour=1)", "llm has no option 'colour'"),
    ],
)
def test_a_bad_string_gets_one_sentence(spec, complaint):
    with pytest.raises((ValueError, OSError), match=complaint) as caught:
        agents.make(spec, SMALL if spec == "champion(worlds=0)" else MAIN)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "spec",
    [
        "tactician(shed={[]:1})", "tactician(shed=" + "-" * 100_000 + "1)", "search(worlds=10**30)", "", "(", ")",
        "search(worlds=9" + "9" * 5000 + ")", "search(" + "worlds=1, " * 500 + ")", "tactician(shed=True, shed=True)",
        "tactician(shed=True,,)", "tactician(shed=\u0661)", "search(worlds=\u0663)", "\uff47reedy", None, 3, b"greedy",
        "greedy(" + "(" * 5000, "learned(model='\x00')", "learned(model='a\nb')", "learned(model='a\\tb')", ["greedy"],
        "learned(model='" + "a" * 2000 + "')", "runs/a\tb", "\x00", "a/\x00", "/" * 100_000, "x" * 10**6, "greedy)",
        "greedy(", "greedy()x", "tactician(True)", "tactician(shed=open('x'))", "tactician.shed",
    ],
)  # fmt: skip
def test_a_string_that_names_no_agent_is_refused_in_one_sentence(spec):
    refusal(agents.make, spec, MAIN)
    assert agents.rules_of(spec) is None


def test_every_number_has_bounds_and_one_beyond_them_is_refused():
    for name, maker in {**agents._AGENTS, **agents._OWN}.items():
        for option, default in options_of(maker).items():
            if type(default) in (int, float):
                low, high, what = LIMITS.get(f"{name}.{option}", LIMITS.get(option))
                assert low <= default <= high
                for value in (low - 1, high + 1):
                    sentence = f"{option}, {what}, is from {low} to {high}, not {value}"
                    assert sentence in refusal(agents.make, f"{name}({option}={value})", MAIN)
                for value in ("9" * 30, "1e999", "-1e999"):
                    refusal(agents.make, f"{name}({option}={value})", MAIN)


def test_a_folder_does_not_hide_an_agent_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "greedy").mkdir()
    monkeypatch.chdir(tmp_path)
    assert isinstance(agents.make("greedy", MAIN), Greedy)


def test_an_agent_is_made_of_rules_a_seed_and_options():
    assert agents.make("greedy").rules == agents.make("greedy", "krypkasino").rules == MAIN
    assert str(agents.make("search", "mulle players=3").rules) == "mulle players=3"
    for rules in (3, Rules):
        assert "rules are those of Rules.preset or Rules.parse, not" in refusal(agents.make, "greedy", rules)
    for seed in (-1, 2**64, 1.5, "7", None, True):
        assert "a seed is a whole number" in refusal(agents.make, "greedy", MAIN, seed)
    assert agents.make("search", MAIN, np.uint64(2**64 - 1)).name == "search"
    for options in ({"worlds": "x"}, {"ms": float("nan")}, {"worlds": True}, {"method": []}):
        refusal(Search, MAIN, **options)
    assert Search(MAIN, worlds=np.int64(8)).name == "search(worlds=8)"


def test_the_main_game_is_one_with_its_variants_and_with_no_other():
    variants = [
        *(Rules.preset(name) for name in krypkasino.PRESETS),
        Rules.preset(players=6, teams=3, games=0, threshold=60),
        Rules.preset("howto", packs=1, forced_sweep=False, storan_points=0, initial_match_bonus=-5),
        Rules.preset(set_aside="spades", last_capture_points=1, first_deal="six_table"),
    ]
    assert all(is_main(rules) and not extra_blocks(rules) for rules in variants)
    others = [
        {"capture": "optional"}, {"sweep_payer": "nobody"}, {"most_cards_points": 1}, {"mulle_points": 5},
        {"spades_above": 6}, {"storan_hand_value": 16}, {"tie_break": "spades"},
        {"hand_values": ((1, 14), *range(2, 14))},
    ]  # fmt: skip
    assert not any(is_main(Rules.preset(**fields)) for fields in others)


# ---------------------------------------------------------------------- legal play

SPECS = [
    "random", "search(worlds=1, method='paranoid', plies=3)", "rollout(worlds=1, deals=2)",
    "ismcts(worlds=3, explore=0)", "oracle-deck(deals=1)", "champion(worlds=1)", "support.arenas:Highest",
]  # fmt: skip
GAMES = [
    *map(Rules.preset, Rules.presets()),
    Rules.preset("krypkasino", players=6, teams=3, games=2),
    *BUILDING.values(),
]


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("spec", "rules"), [(SPECS[(at + at // len(GAMES)) % 7], GAMES[at % len(GAMES)]) for at in range(50)], ids=str
)
def test_b2_agents_play_all_games_legally_to_the_end(spec, rules):
    """Other agents do so too, where their choices are frozen."""
    chosen = play_whole_games(rules, [agents.make(spec, rules, seed=2)], 2, features=rules.players == 2)
    assert max(chosen) >= BUILD or not rules.building


def test_random_is_uniform_over_all_legal_actions():
    engine = Engine(MAIN, 1, seed=1)
    (legal,) = np.nonzero(engine.action_mask[0])
    assert len(legal) >= 3
    rows = (np.repeat(array, 60_000, axis=0) for array in (engine.observation, engine.action_mask))
    actions = agents.make("random", MAIN, seed=1).act(*rows)
    shares = [float((actions == action).mean()) for action in legal]
    assert sum(shares) == pytest.approx(1)
    assert shares == pytest.approx([1 / len(legal)] * len(legal), abs=0.01)


# ---------------------------------------------------------------------- what decides


@pytest.mark.parametrize("spec", [*SCRIPTED, *SAMPLERS, *ORACLES])
def test_the_seed_decides_and_the_features_block_changes_nothing(spec):
    engine = played(MAIN, 512, 45, features=True) if spec in SCRIPTED else with_choices(MAIN, features=True)
    assert engine.observation.shape[1] == SIZE + FEATURES
    actions = decide(agents.make(spec, MAIN, 5), engine)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, decide(agents.make(spec, MAIN, 5), engine))
    if spec not in ORACLES:
        base = agents.make(spec, MAIN, 5).act(engine.observation[:, :SIZE], engine.action_mask)
        np.testing.assert_array_equal(actions, base)
        assert any((decide(agents.make(spec, MAIN, seed), engine) != actions).any() for seed in range(6, 12))


@every_honest
@pytest.mark.parametrize("text", ["krypkasino players=2", "krypkasino players=3"])
def test_no_agent_but_an_oracle_minds_cards_that_it_cannot_see(spec, text):
    engine = with_choices(RULES[text], 32)
    other = Engine.from_state(engine.rules, determinize(engine.observation, 3, engine.rules))
    assert (other.state.hands != engine.state.hands).any()
    one, two = (decide(agents.make(spec, engine.rules, 4), each) for each in (engine, other))
    np.testing.assert_array_equal(one, two)
    oracle = agents.make("oracle-hand", engine.rules, 4)
    assert (decide(oracle, engine) != decide(oracle, other)).any()


@pytest.mark.parametrize("spec", ORACLES)
def test_an_oracle_says_that_observations_are_not_enough(spec):
    engine = with_choices(MAIN, games=1)
    with pytest.raises(TypeError, match=f"{spec} cheats: it needs whole games"):
        agents.make(spec, MAIN).act(engine.observation, engine.action_mask)
    assert [name for name in agents.names() if getattr(agents.make(name, MAIN), "cheats", False)] == ORACLES


@every_honest
def test_one_row_says_nothing_to_another(spec):
    engine = with_choices(MAIN)
    actions = decide(agents.make(spec, MAIN, 2), engine)
    observations, masks = engine.observation.copy(), engine.action_mask.copy()
    for count in (0, 1, 7):
        few = agents.make(spec, MAIN, 2).act(observations[:count], masks[:count])
        assert few.dtype == np.int64
        np.testing.assert_array_equal(few, actions[:count])
    observations[:8], masks[:8] = observations[8:], masks[8:]
    np.testing.assert_array_equal(agents.make(spec, MAIN, 2).act(observations, masks)[8:], actions[8:])
