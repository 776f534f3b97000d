"""What holds for every environment: its seed, arrays that stay, copies, rules in any form, and what is refused."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from krypenv import IllegalMove, Rules, krypkasino_v0
from krypenv.adapters.gym import LearnerEnv, LearnerVectorEnv
from krypenv.adapters.sb3 import KrypkasinoVecEnv
from krypenv.envs.learner import LearnerGames

Look = tuple[np.ndarray, np.ndarray]  # an observation and an action mask, of one game or of several
OPPONENTS = ["random", "search(worlds=2)"]
HOWTO = Rules.preset("howto", players=4, teams=2, games=3)


class Kind(NamedTuple):
    """How environments of a kind are made and played."""

    make: Callable[..., Any]
    begin: Callable[[Any, int | None], Look]
    step: Callable[[Any, Any], Look]


def look(env: Any) -> Look:
    """What the agent to act sees in a PettingZoo environment."""
    seen = env.observe(env.agent_selection)
    return seen["observation"], seen["action_mask"]


def begin_stable(env: Any, seed: int | None) -> Look:
    """Seed and reset an environment of Stable-Baselines3, whose mask is documented to change."""
    if seed is not None:  # else Stable-Baselines3 draws one
        env.seed(seed)
    return env.reset(), env.action_masks().copy()


def restart(games: LearnerGames, seed: int | None) -> Look:
    """Begin new episodes in all rows."""
    games.restart(range(3), None if seed is None else seed + np.arange(3))
    assert not games.returns.any()
    assert not games.lengths.any()
    return games.observation.copy(), games.action_mask.copy()


def told(result: tuple[Any, ...]) -> Look:
    """What an environment of Gymnasium has returned."""
    return result[0], result[-1]["action_mask"]


PETTINGZOO = (
    lambda env, seed: env.reset(seed=seed) or look(env),
    lambda env, action: env.step(int(action)) or look(env),
)
GYMNASIUM = (lambda env, seed: told(env.reset(seed=seed)), lambda env, actions: told(env.step(actions)))
KINDS = {
    "env": Kind(krypkasino_v0.env, *PETTINGZOO),
    "raw_env": Kind(krypkasino_v0.raw_env, *PETTINGZOO),
    "LearnerEnv": Kind(LearnerEnv, *GYMNASIUM),
    "LearnerVectorEnv": Kind(functools.partial(LearnerVectorEnv, 3), *GYMNASIUM),
    "KrypkasinoVecEnv": Kind(
        lambda rules="krypkasino", **more: KrypkasinoVecEnv(rules, 3, **more),
        begin_stable,
        lambda env, actions: (env.step(actions)[0], env.action_masks().copy()),
    ),
    "LearnerGames": Kind(
        lambda rules="krypkasino", **more: LearnerGames(rules, 3, **more),
        restart,
        lambda games, actions: games.step(actions) or (games.observation.copy(), games.action_mask.copy()),
    ),
}
MAKERS, LEARNERS = (*KINDS,)[:-2], (*KINDS,)[2:]  # those that take fields of rules, and those with one learner
every_kind = pytest.mark.parametrize("name", KINDS)


def made(name: str, **arguments: Any) -> Any:
    """An environment; where there is one learner, with opponents that draw and search."""
    return KINDS[name].make(**({} if name.endswith("env") else {"opponents": OPPONENTS}), **arguments)


def go_on(name: str, env: Any, shown: Look, steps: int = 60) -> Iterator[Look]:
    """Play the first legal actions, from one look on; after an episode the next begins without a seed."""
    yield shown
    for _ in range(steps):
        actions = shown[1].argmax(axis=-1)
        shown = KINDS[name].step(env, actions) if shown[1].any() else KINDS[name].begin(env, None)
        yield shown


def played(name: str, env: Any, seed: int | None, steps: int = 60) -> list[Look]:
    """All that an environment shows from a reset on."""
    return list(go_on(name, env, KINDS[name].begin(env, seed), steps))


def are_equal(some: list[Look], others: list[Look]) -> bool:
    """Whether two plays have shown the same."""
    return all(
        np.array_equal(one, other) for pair in zip(some, others, strict=True) for one, other in zip(*pair, strict=True)
    )


def rules_in(env: Any) -> Rules:
    """The rules that an environment plays by."""
    env = getattr(env, "unwrapped", env)
    return getattr(env, "batch", env).rules


# ---------------------------------------------------------------------- play


@every_kind
def test_the_seed_decides_all_episodes_that_follow(name: str) -> None:
    env = made(name)
    first = played(name, env, 4)
    assert are_equal(first, played(name, env, 4))
    assert are_equal(first, played(name, made(name), 4))
    assert not are_equal(first, played(name, env, 5))
    begun = [KINDS[name].begin(env, seed)[0].tobytes() for seed in (4, None, None, 4, None, None)]
    assert begun[:3] == begun[3:]
    assert len(set(begun)) == 3


@every_kind
def test_arrays_that_were_returned_stay_and_are_the_caller_s(name: str) -> None:
    env, twin = made(name), made(name)
    kept = played(name, twin, 5, 20)
    for shown, before in zip(go_on(name, env, KINDS[name].begin(env, 5), 20), kept, strict=True):
        assert are_equal([shown], [before])
        shown[0][:] = 7


@every_kind
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_its_own_way(name: str, copied: Callable[[Any], Any]) -> None:
    env = made(name)
    *_, shown = go_on(name, env, KINDS[name].begin(env, 5), 7)
    twin = copied(env)
    its = list(go_on(name, twin, shown))
    assert are_equal(its, list(go_on(name, env, shown)))


@pytest.mark.parametrize("name", ["raw_env", "KrypkasinoVecEnv", "LearnerGames"])
def test_an_illegal_action_is_an_error_and_changes_nothing(name: str) -> None:
    env, twin = made(name), made(name)
    shown = KINDS[name].begin(env, 1)
    with pytest.raises(IllegalMove):
        KINDS[name].step(env, shown[1].argmin(axis=-1))
    assert are_equal(list(go_on(name, env, shown)), played(name, twin, 1))


# ---------------------------------------------------------------------- arguments


@every_kind
def test_rules_are_given_whole_as_a_text_or_by_their_fields(name: str) -> None:
    by_name = {"name": "howto", "players": 4, "teams": 2, "games": 3}
    for given in (HOWTO, str(HOWTO), dataclasses.asdict(HOWTO), by_name):
        assert rules_in(made(name, rules=given)) == HOWTO
    assert rules_in(made(name)) == Rules.preset()
    if name in MAKERS:
        assert rules_in(made(name, variant="howto", players=4, teams=2, games=3)) == HOWTO
        assert rules_in(made(name, rules=HOWTO, teams=None)) == HOWTO


REFUSED: dict[tuple[str, ...], list[tuple[dict[str, Any], str]]] = {  # by which kinds, and the sentence
    (*KINDS,): [
        ({"rules": 3}, r"rules are those of Rules\.preset"),
        ({"rules": "chess"}, "unknown preset 'chess'"),
        ({"rules": {"player": 3}}, "rules have no field 'player'"),
        ({"reward": "gold"}, "centred, points, win"),
        ({"dense": 2}, "dense"),
        ({"frameskip": 4}, r"\w+(\(\)|\.__init__\(\)) got an unexpected keyword argument 'frameskip'"),
    ],
    MAKERS: [
        ({"rules": HOWTO, "players": 2, "packs": 1}, "either them or players, packs, not both"),
        ({"rules": HOWTO, "variant": "howto"}, "either them or variant, not both"),
        ({"player": 4}, r"unexpected keyword argument 'player' \(did you mean 'players'\?\)"),
        ({"name": "howto"}, "unexpected keyword argument 'name'"),
        ({"variant": 3}, "unknown variant 3; the variants of krypkasino_v0 are krypkasino, howto, "),
        ({"players": 9}, "krypkasino is not played by 9 players"),
        ({"rules": "mulle"}, "krypkasino_v0 plays rules made from .* mulle are for mulle_v0"),
        ({"render_seat": 2}, "render_seat is 'turn', 'all', None or a seat from 0 to 1, not 2"),
        ({"render_seat": True}, "render_seat is 'turn', 'all', None or a seat from 0 to 1, not True"),
        ({"render_mode": "rgb"}, "it is one of human, rgb_array, ansi, or None"),
    ],
    LEARNERS: [
        ({"seat": 2}, "seat is 0 to 1"),
        ({"seat": "left"}, "seat is 0 to 1"),
        ({"opponents": "greddy"}, "did you mean 'greedy'"),
        ({"opponents": "oracle-hand"}, "sees what is hidden"),
        ({"opponents": ["random", 3]}, "the name of an agent.* 3 is none"),
        ({"opponents": [("random", 1, 2)]}, "a pair of one and its weight"),
        ({"opponents": []}, "at least one"),
        ({"opponents": [("random", -1)]}, "weight"),
        ({"opponents": [("random", 0)]}, "no opponent has a weight"),
    ],
    LEARNERS[:-2]: [({"seat": "all"}, "one learner plays one seat, ")],
    ("LearnerVectorEnv",): [
        ({"render_mode": "human"}, "'rgb_array', 'ansi' or None"),
        *(({"autoreset_mode": mode}, "is 'SameStep' or 'NextStep', not ") for mode in ("Disabled", None, 3)),
    ],
}


@every_kind
def test_a_wrong_argument_is_refused_in_one_sentence(name: str) -> None:
    for given, sentence in (case for kinds, cases in REFUSED.items() if name in kinds for case in cases):
        error = TypeError if "keyword argument" in sentence else ValueError
        with pytest.raises(error, match=sentence) as refused:
            KINDS[name].make(**given)
        assert "\n" not in str(refused.value)
