"""The coefficients of luck, fitted to games and stored: `python -m krypenv.training.research.coefficients`.

The games are of deals that nothing else is measured on. The coefficients minimize the variance of the margins of
duplicate deals by least squares. The default, for rules that were not fitted, is one coefficient of `tactician` alone,
fitted to the same games of all rules at once: it leaves the least share of the variance of margins, in the mean over
the rules.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

from krypenv import agents
from krypenv.agents.champion import SHIPPED, shipped_model
from krypenv.inputs.files import write_whole
from krypenv.rules import Rules
from krypenv.training.evaluation.luck.control import COEFFICIENTS, PLAYERS, make_control, stored
from krypenv.training.evaluation.luck.meter import Meter
from krypenv.training.evaluation.matches.deal_lists import deal_seeds
from krypenv.training.evaluation.matches.duplicate_deals import play_duplicates
from krypenv.training.evaluation.matches.margins import FloatArray
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
    models = (Rules.parse(text) for played in SHIPPED.values() for text in played)
    return list(dict.fromkeys([*models, *(table.rules for table in TABLES.values())]))


def play(rules: Rules, deals: int, seed: int = SEED) -> tuple[list[str], Sample]:
    """Play a strong agent against a search; return the names of the players of the rollouts, and the deals."""
    control = make_control(rules, dict.fromkeys(PLAYERS if shipped_model(rules) else PLAYERS[:1], 1.0))
    players = [agents.make_known(pair(rules)[at], rules, seed + at) for at in (0, 1)]
    found = play_duplicates(players, rules, deal_seeds(seed, deals), Meter(rules, control))
    assert found.parts is not None
    return [*control.shares], Sample(found.margins.mean(axis=1), found.parts.mean(axis=1))


def pair(rules: Rules) -> tuple[str, str]:
    """Return the two agents whose games are fitted."""
    return ("champion(worlds=0)" if shipped_model(rules) else "search(worlds=20)"), OTHER


def fit(sample: Sample) -> tuple[FloatArray, float]:
    """Return the coefficients of least variance, none negative, and how many deals one adjusted deal is worth."""
    from scipy.optimize import nnls

    centred = sample.margins - sample.margins.mean()
    shares = nnls(sample.luck - sample.luck.mean(axis=0), centred)[0].round(2)
    return shares, float(centred.var() / (centred - sample.luck @ shares).var())


def fit_default(samples: Sequence[Sample]) -> tuple[FloatArray, float]:
    """Return what `fit` does for the first player, `tactician`, alone, over the deals of several rules.

    Margins and luck of a rule set are scaled so that the squares of its margins sum to 1: all rules count the same,
    whatever their points and the number of their deals.
    """
    margins, luck = [], []
    for sample in samples:
        centred = sample.margins - sample.margins.mean()
        scale = np.linalg.norm(centred)
        margins.append(centred / scale)
        luck.append((sample.luck[:, :1] - sample.luck[:, :1].mean()) / scale)
    return fit(Sample(np.concatenate(margins), np.concatenate(luck)))


def main(
    only: Annotated[str, typer.Option(help="rules whose text contains this; the default is not fitted anew then")] = "",
    games: Annotated[int, typer.Option(help="games of each, in duplicate deals")] = GAMES,
) -> None:
    """Fit and store the coefficients of the models' rules and of the official tables, and the default."""
    default, entries, samples = stored()["default"], dict(stored()["rules"]), []
    chosen = [rules for rules in fitted_rules() if only in str(rules)]
    for rules in chosen:
        deals = games // rules.num_teams
        names, sample = play(rules, deals)
        samples.append(sample)
        shares, saved = fit(sample)
        entry: dict[str, Any] = {
            "shares": dict(zip(names, shares.tolist(), strict=True)),
            "between": list(pair(rules)), "deals": deals, "seed": SEED, "saved": round(saved, 2),
        }  # fmt: skip
        entries[str(rules)] = entry
        typer.echo(f"{rules}: {entry}")
        _write(default, entries)
    if chosen == fitted_rules():
        shares, saved = fit_default(samples)
        default = {
            "shares": {PLAYERS[0]: float(shares[0])},
            "pooled": list(map(str, chosen)), "games": games, "seed": SEED, "saved": round(saved, 2),
        }  # fmt: skip
        typer.echo(f"default: {default}")
        _write(default, entries)


def _write(default: dict[str, Any], entries: dict[str, Any]) -> None:
    found = {"default": default, "rules": dict(sorted(entries.items()))}
    write_whole(COEFFICIENTS, (json.dumps(found, indent=1) + "\n").encode())


if __name__ == "__main__":
    typer.run(main)
