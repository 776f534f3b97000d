"""The board of scores: ranks by differences deal by deal, with ties, and marks."""

from __future__ import annotations

import numpy as np

from krypenv.training.evaluation.score import board
from krypenv.training.evaluation.score.protocol import are_common


def test_a_board_ranks_by_differences_deal_by_deal() -> None:
    noise, others = (np.random.default_rng(seed).normal(size=400) for seed in (0, 1))
    best, same, worse = 1 + noise, 1 + np.where(are_common(400), noise, others), 0.9 + noise
    # on the common deals a tenth of a point is told apart, though not on those of an agent's own
    assert board.compare(best, worse)[1] < 1e-6
    assert board.ranks([worse, best, best]) == [3, 1, 1]
    assert board.compare(best, same) == (0.0, 1.0)
    assert board.ranks([best, 1.2 + 5 * others]) == [1, 1]


def test_ranks_are_corrected_for_the_number_of_pairs() -> None:
    """Of ten equal agents few boards tell any two apart: 5 of 100 by the rule, where without it most would."""
    random = np.random.default_rng(5)
    told = [max(board.ranks(random.normal(size=(10, 100)))) > 1 for _ in range(200)]
    assert 0 < np.mean(told) < 0.12


def test_common_deals_that_went_too_well_are_marked() -> None:
    """An agent that looks up the common deals: it is far better there than on its own."""
    random = np.random.default_rng(2)
    fair = random.normal(0, 4, 400)
    assert not board.is_suspect(fair)
    assert board.is_suspect(fair + 10 * are_common(400))
    assert sum(board.is_suspect(random.normal(size=100)) for _ in range(2000)) < 12  # one of a thousand
