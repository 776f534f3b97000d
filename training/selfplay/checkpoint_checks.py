"""Checks of a checkpoint before a run resumes from it: every value, every tensor, and that they agree.

Nothing of a size that a file claims is allocated before its tensors are known to have that size.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache, lru_cache
from typing import Any

import numpy as np

from krypenv.agents.neural.network import Arrays, Inputs, Shape, inputs_of
from krypenv.agents.neural.weights import Spec, check_arrays, check_reach, specs_of
from krypenv.cards import NUM_KINDS
from krypenv.engine import Engine
from krypenv.envs.learner import LEARNER
from krypenv.inputs.schema import HUGE, a_list, a_record, a_table, anything, flag, line, number, text, whole, wrong
from krypenv.kernels.state import GAME
from krypenv.rules import Rules
from krypenv.training.selfplay.settings import Settings

OPPONENT_GAMES = 1000  # games whose mean return is reported
_INF = float("inf")

Part = tuple[Rules, int, str]  # rules, environments, and who learns in them

_interval = a_list(number(-_INF, _INF), 3, 3)  # infinite for a single deal
_check_progress = a_record(
    {
        "settings": anything, "seconds": number(0), "frames": whole(0), "games": whole(0), "updates": whole(0),
        "sb3_updates": whole(0), "is_warm": flag, "snapshots": a_list(line),
        "metagame": a_record({"names": a_list(text), "margins": a_table(a_table(number()))}, more=False),
        "curve": a_list(
            a_record({"seconds": number(0), "frames": whole(0), "margins": a_table(_interval)}, more=False)
        ),
    },
    more=False,
)  # fmt: skip


def parts_of(settings: Settings) -> list[Part]:
    """Return the games of a run: those in which all seats learn, those against opponents, and those of other rules.

    Parts without environments are not played.
    """
    rules, envs, opponent_envs = settings.game_rules(), settings.games.envs, settings.games.opponent_envs
    parts = [(rules, envs, "all"), (rules, opponent_envs, "random")]
    return parts + [(other, envs or opponent_envs, "all") for other in settings.other_rules()]


def hidden_of(settings: Settings) -> int:
    """Return the number of entries of hidden hands that the critic sees, 0 without a critic."""
    most = max(rules.players for rules, envs, _ in parts_of(settings) if envs)
    return (most - 1) * NUM_KINDS if settings.ppo.critic else 0


def check_progress(progress: Any) -> Settings:
    """Check the plain values of a checkpoint and return the settings among them; raises ValueError if any is wrong."""
    _check_progress(progress, "")
    settings = Settings.from_json(progress["settings"])
    a_round = settings.decisions
    updates, frames = progress["updates"], progress["frames"]
    if frames != updates * a_round:
        raise wrong(frames, "frames", f"{updates} updates of {a_round} decisions")
    most = settings.length.frames
    if most and frames >= most + a_round:
        raise wrong(frames, "frames", f"the decisions of a run of {most}")
    whole(0, frames)(progress["games"], "games")
    whole(0, min(updates * settings.ppo.epochs, HUGE))(progress["sb3_updates"], "sb3_updates")
    if not progress["is_warm"] and (updates or not settings.start.demonstrations):
        raise wrong(False, "is_warm", "true where a run has no demonstrations or is past them")
    _check_metagame(progress, settings)
    _check_curve(progress, settings)
    return settings


def _check_metagame(progress: dict[str, Any], settings: Settings) -> None:
    """Raise ValueError unless snapshots and margins belong to past updates, in order."""
    names, margins, kept = progress["metagame"]["names"], progress["metagame"]["margins"], progress["snapshots"]
    updates = [name for name in names if name not in settings.games.opponents]
    numbers = [int(name[7:]) if re.fullmatch("update [1-9][0-9]{0,15}", name) else -1 for name in updates]
    if numbers != sorted(set(numbers)) or any(not 0 < each <= progress["updates"] for each in numbers):
        raise wrong(names, "metagame.names", "opponents and past updates, in order")
    if len(set(names)) != len(names):
        raise wrong(names, "metagame.names", "different names")
    if list(margins) != updates:
        raise wrong(list(margins), "metagame.margins", "those of the snapshots among the names")
    for name, others in margins.items():
        for other in others:
            if other not in names[: names.index(name)]:
                raise wrong(other, f"a key of metagame.margins.{name}", "a name that was there before")
    if [name for name in updates if name in kept] != kept:
        raise wrong(kept, "snapshots", "snapshots of the metagame, in order")
    if len(kept) > settings.games.snapshots:
        raise wrong(kept, "snapshots", f"{settings.games.snapshots} at most")


def _check_curve(progress: dict[str, Any], settings: Settings) -> None:
    """Raise ValueError unless the points of the curve are in order and against the run's opponents."""
    before = (0.0, 0)
    for at, point in enumerate(progress["curve"]):
        place = f"curve[{at}]"
        number(before[0], progress["seconds"])(point["seconds"], f"{place}.seconds")
        whole(before[1], progress["frames"])(point["frames"], f"{place}.frames")
        before = point["seconds"], point["frames"]
        if set(point["margins"]) != set(settings.evaluation.against):
            raise wrong(list(point["margins"]), f"{place}.margins", "those against the opponents of the settings")
        for name, (margin, low, high) in point["margins"].items():
            if not (-_INF < margin < _INF and low <= margin <= high):
                raise wrong([margin, low, high], f"{place}.margins.{name}", "a margin within its interval")


# ---------------------------------------------------------------------- tensors


@cache
def _name_of(dtype: np.dtype[Any]) -> str:
    """Return torch's name of a dtype; cached, because NumPy is slow to spell it."""
    return f"torch.{dtype}"


def digest(arrays: Arrays, texts: dict[str, str]) -> str:
    """Return the SHA-256 of arrays, with their names, types and shapes, and of some texts by name."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        found.update(f"{name} {_name_of(arrays[name].dtype)} {arrays[name].shape} ".encode())
        found.update(arrays[name].tobytes())
    for name in sorted(texts):
        found.update(f"{name} {texts[name]} ".encode("utf-8", "surrogatepass"))
    return found.hexdigest()


@lru_cache(8)
def _policy_specs(shape: Shape, inputs: Inputs, hidden: int) -> tuple[dict[str, Spec], list[str]]:
    """Return the tensors of a policy, and the names of those that are trained, in the order of the optimizer."""
    network = specs_of(shape, inputs)
    width = shape.context + shape.card + hidden
    critic = {
        "critic.0.weight": Spec((shape.context, width)), "critic.0.bias": Spec((shape.context,)),
        "critic.2.weight": Spec((1, shape.context)), "critic.2.bias": Spec((1,)),
    }  # fmt: skip
    trained = {f"network.{name}": spec for name, spec in network.items()} | (critic if hidden else {})
    return trained | {f"ema.{name}": spec for name, spec in network.items()}, list(trained)


def _games_specs(part: Part) -> dict[str, Spec]:
    rules, rows, _ = part
    each, seats = (rows,), (rows, rules.players)
    return {
        "paid": Spec(seats, np.float64), "seeds": Spec(each, np.int64), "episodes": Spec(each, np.int64),
        "viewers": Spec(each, np.int64), "players": Spec(seats, np.int64),
        "state": Spec((rows, GAME.itemsize), np.uint8), "opponent_earned": Spec(each, np.float64),
    }  # fmt: skip


def check_content(arrays: Arrays, settings: Settings, snapshots: int) -> None:
    """Raise ValueError unless arrays are what a run of these settings with `snapshots` snapshots resumes from."""
    shape, inputs = settings.network.shape, inputs_of(settings.game_rules())
    policy, trained = _policy_specs(shape, inputs, hidden_of(settings))
    specs = {f"policy.{name}": spec for name, spec in policy.items()}
    for place in range(snapshots):
        specs |= {f"snapshot.{place}.{name}": spec for name, spec in specs_of(shape, inputs).items()}
    for index, name in enumerate(trained):
        start = f"optimizer.{index}."
        if any(f"{start}{part}" in arrays for part in ("step", "exp_avg", "exp_avg_sq")):
            specs |= {f"{start}exp_avg": policy[name], f"{start}exp_avg_sq": policy[name], f"{start}step": Spec(())}
    parts = [part for part in parts_of(settings) if part[1]]
    for place, part in enumerate(parts):
        specs |= {f"games.{place}.{name}": spec for name, spec in _games_specs(part).items()}
    specs["opponent_returns"] = Spec((None,), np.float64)
    check_arrays(arrays, specs)
    if len(arrays["opponent_returns"]) > OPPONENT_GAMES:
        raise ValueError(f"has more than {OPPONENT_GAMES} opponent_returns")
    for name, array in arrays.items():
        if name.endswith((".step", ".exp_avg_sq")) and bool((array < 0).any()):
            raise ValueError(f"has numbers below 0 in tensor {name!r}")
    for start in ("policy.network.", "policy.ema.", *(f"snapshot.{place}." for place in range(snapshots))):
        try:
            check_reach(part_of(arrays, start), inputs)
        except ValueError as error:
            raise ValueError(f"{error}, in {start}*") from None
    opponents = len(settings.games.opponents) + 1 + snapshots
    for place, part in enumerate(parts):
        _check_games(part_of(arrays, f"games.{place}."), part, opponents, f"games.{place}")


def _check_games(arrays: Arrays, part: Part, opponents: int, place: str) -> None:
    """Raise ValueError unless arrays are games in which the learner is to act, with `opponents` opponents to draw."""
    rules, rows, learns = part
    players, viewers = arrays["players"], arrays["viewers"]
    if (arrays["episodes"] < 0).any() or not ((viewers >= 0) & (viewers < rules.players)).all():
        raise ValueError(f"has episodes below 0 or viewers that are no seats in {place}")
    state = np.frombuffer(arrays["state"].tobytes(), GAME)
    seats = state["seat"]
    if not ((seats >= 0) & (seats < rules.players)).all():
        raise ValueError(f"has games in {place}.state in which nobody is to act")
    most = opponents - 1 if learns != "all" else LEARNER
    each = np.arange(rows)
    if not ((players >= LEARNER) & (players <= most)).all() or not (players[each, seats] == LEARNER).all():
        raise ValueError(f"has players in {place} that are no opponents, or are to act in place of the learner")
    try:
        Engine(rules, rows).set_state(state.view(np.recarray))
    except ValueError as error:
        raise ValueError(f"has games in {place}.state that can't be: {error}") from None


def part_of(arrays: Arrays, prefix: str) -> Arrays:
    """Return the arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
