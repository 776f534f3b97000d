"""The coefficients of luck, fitted to games and stored: `python -m krypenv.training.research.coefficients`.

The games are of deals that nothing else is measured on. The coefficients minimise the variance of the margins of
duplicate deals by least squares.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

from krypenv import agents
from krypenv.agents.champion import SHIPPED, shipped_model
from krypenv.engine import Engine
from krypenv.inputs.files import write_whole
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import COEFFICIENTS, PLAYERS, make_control, stored
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.margins import FloatArray, own_margins
from krypenv.training.evaluation.matches.mixed_table import by_side, play_table
from krypenv.training.evaluation.score.protocol import TABLES

SEED = 0x6C75_636B  # of the deals
GAMES = 2000  # of each: as many deals as this, by the number of seatings
OTHER = "search(worlds=10)"


@dataclass(frozen=True)
class Sample:
    """Duplicate deals of an agent, and the luck in them."""

    margins: FloatArray  # (deals,), the mean over the seatings
    luck: FloatArray  # (deals, V) by player


def fitted_rules() -> list[Rules]:
    """Return the rules that coefficients are fitted for: those of the models and of the official tables."""
    return list(dict.fromkeys([*SHIPPED.values(), *(table.rules for table in TABLES.values())]))


def play(rules: Rules, deals: int, seed: int = SEED) -> tuple[list[str], Sample]:
    """Play a strong agent against a search; return the names of the players of the rollouts, and the deals."""
    model, sides = shipped_model(rules), rules.num_teams
    control = make_control(rules, dict.fromkeys(PLAYERS if model else PLAYERS[:1], 1.0))
    meter = Meter(rules, control)
    players = [agents.make_known(pair(rules)[at], rules, seed + at) for at in (0, 1)]
    engine = Engine(rules, deals * sides, np.repeat(deal_seeds(seed, deals), sides))
    lineup = np.tile(1 - np.eye(sides, dtype=np.int64), (deals, 1))
    scores = by_side(play_table(engine, players, lineup, meter=meter).scores, sides)
    own = np.arange(sides)
    luck = meter.parts.reshape(deals, sides, sides, -1)[:, own, own].mean(axis=1)
    return [*control.shares], Sample(own_margins(rules, scores.reshape(deals, sides, sides)).mean(axis=1), luck)


def pair(rules: Rules) -> tuple[str, str]:
    """Return the two agents whose games are fitted."""
    return ("champion(worlds=0)" if shipped_model(rules) else "search(worlds=20)"), OTHER


def fit(sample: Sample) -> tuple[FloatArray, float]:
    """Return the coefficients of least variance, none negative, and how many deals one adjusted deal is worth."""
    from scipy.optimize import nnls

    centred = sample.margins - sample.margins.mean()
    shares = nnls(sample.luck - sample.luck.mean(axis=0), centred)[0].round(2)
    return shares, float(centred.var() / (centred - sample.luck @ shares).var())


def main(
    only: Annotated[str, typer.Option(help="rules whose text contains this")] = "",
    games: Annotated[int, typer.Option(help="games of each, in duplicate deals")] = GAMES,
) -> None:
    """Fit and store the coefficients of the models' rules and of the official tables."""
    entries = dict(stored()["rules"])
    for rules in fitted_rules():
        if only not in str(rules):
            continue
        deals = games // rules.num_teams
        names, sample = play(rules, deals)
        shares, saved = fit(sample)
        entry: dict[str, Any] = {
            "shares": dict(zip(names, shares.tolist(), strict=True)),
            "between": list(pair(rules)), "deals": deals, "seed": SEED, "saved": round(saved, 2),
        }  # fmt: skip
        entries[str(rules)] = entry
        typer.echo(f"{rules}: {entry}")
        found = {"default": stored()["default"], "rules": dict(sorted(entries.items()))}
        write_whole(COEFFICIENTS, (json.dumps(found, indent=1) + "\n").encode())


if __name__ == "__main__":
    typer.run(main)
