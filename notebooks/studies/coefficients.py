"""Which coefficients of the luck control leave least variance?

The luck of a deal is valued by rollouts of `tactician` and of the package's network. Their coefficients minimize the
variance of the margins of duplicate deals by least squares. Rules that were not fitted get the default: one coefficient
of `tactician` alone that leaves the least share of the variance, in the mean over all fitted rules.

    python notebooks/studies/coefficients.py --seed 1819632491 --workers 2

The figures of the answer are what `training/evaluation/luck/coefficients.json` holds. This script imports more than the
public API: the luck of a deal by each player is no part of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import nnls

from krypenv import Rules, agents
from krypenv.training import deal_seeds, lab
from krypenv.training.evaluation import PLAYERS, control_of, play_duplicates

SETS = (  # the rules of the package's models and of the official tables
    "krypkasino players=2", "krypkasino players=4", "krypkasino players=4 teams=2", "kasino-sweden players=2",
    "overspader players=2", "kasino-finland players=2", "kasino-finland players=4 teams=2", "mulle players=2",
    "mulle-glimne players=2", "mulle-glimne players=4 teams=2", "krypkasino players=3", "krypkasino players=5",
    "krypkasino players=6", "krypkasino players=6 teams=2", "krypkasino players=6 teams=3", "howto players=2",
)  # fmt: skip
NETWORK, SEARCH, OTHER = "champion(worlds=0)", "search(worlds=20)", "search(worlds=10)"


def play(rules: str, deals: int, seed: int) -> dict[str, Any]:
    """Return the margins of a strong agent over a search by deal, and the luck in them by each player's rollouts."""
    game = Rules.parse(rules)
    has_model = lab.strong_agent(game) == NETWORK
    names = PLAYERS if has_model else PLAYERS[:1]
    pair = (NETWORK if has_model else SEARCH), OTHER
    players = [agents.make_known(name, game, seed + at) for at, name in enumerate(pair)]
    control = control_of(game, shares=dict.fromkeys(names, 1.0))
    found = play_duplicates(players, game, deal_seeds(seed, deals), control)
    assert found.parts is not None
    margins, luck = found.margins.mean(axis=1), found.parts.mean(axis=1)
    return {"between": pair, "players": names, "margins": margins.tolist(), "luck": luck.round(9).tolist()}


def tasks(setup: lab.Setup) -> list[lab.Task]:
    """Return a match for each rule set."""
    if setup.deals < 3:
        raise ValueError(f"the study coefficients needs at least 3 deals, not {setup.deals}")
    return [lab.Task(text, play, {"rules": text, "deals": setup.deals, "seed": setup.seed}) for text in setup.sets]


def fit(margins: np.ndarray, luck: np.ndarray) -> tuple[list[float], float]:
    """Return the coefficients of least variance, none negative, and how many deals one adjusted deal is worth."""
    centred = margins - margins.mean()
    shares = nnls(luck - luck.mean(axis=0), centred)[0].round(2)
    return shares.tolist(), float(centred.var() / (centred - luck @ shares).var())


def fit_default(samples: list[tuple[np.ndarray, np.ndarray]]) -> tuple[list[float], float]:
    """Return what `fit` does for `tactician` alone over the deals of several rules.

    Margins and luck of a rule set are scaled so that the squares of its margins sum to 1: all rules count the same,
    whatever their points and the number of their deals.
    """
    scaled = []
    for margins, luck in samples:
        centred, own = margins - margins.mean(), luck[:, :1] - luck[:, :1].mean()
        scaled.append((centred / np.linalg.norm(centred), own / np.linalg.norm(centred)))
    return fit(*map(np.concatenate, zip(*scaled, strict=True)))


def answer(setup: lab.Setup, results: dict[str, Any]) -> lab.Answer:
    """Return the coefficients of all rule sets, and the default."""
    samples = {text: (np.array(its["margins"]), np.array(its["luck"])) for text, its in results.items()}
    about, entries, rows = {"deals": setup.deals, "seed": setup.seed}, {}, []
    for text, sample in samples.items():
        shares, saved = fit(*sample)
        entries[text] = {
            "shares": dict(zip(results[text]["players"], shares, strict=True)),
            "between": list(results[text]["between"]), **about, "saved": round(saved, 2),
        }  # fmt: skip
        rows.append((text, *(f"{entries[text]['shares'].get(name, 0):.2f}" for name in PLAYERS), f"{saved:.2f}"))
    (share,), saved = fit_default([*samples.values()])
    rows.append(("default", f"{share:.2f}", "0.00", f"{saved:.2f}"))
    default = {"shares": {PLAYERS[0]: share}, "pooled": [*samples], **about, "saved": round(saved, 2)}
    figures = {"default": default, "rules": dict(sorted(entries.items()))}
    columns = ("rules", *PLAYERS, "a deal is worth")
    return lab.Answer(figures, columns, rows, lambda axes: draw(axes, rows))


def draw(axes: Any, rows: list[tuple[str, ...]]) -> None:
    """Draw how many deals one adjusted deal is worth, by rules."""
    axes.barh([name for name, *_ in rows], [float(row[-1]) for row in rows], color="#6b8fb5")
    axes.invert_yaxis()
    axes.set_xlabel("deals as played that one deal with luck taken out is worth")


STUDY = lab.Study(
    "coefficients", "Which coefficients of the luck control leave least variance?", tasks, answer, deals=1000,
    agent=NETWORK, sets=SETS,
)  # fmt: skip

if __name__ == "__main__":
    lab.main(STUDY)
