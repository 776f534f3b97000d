"""The board of scores: ranks by differences deal by deal, with ties, and marks."""

from __future__ import annotations

from typing import Any

import numpy as np

from krypenv.training.evaluation.score import board
from krypenv.training.evaluation.score.protocol import are_common
from krypenv.training.evaluation.score.score_file import TableScore


def test_a_board_ranks_by_differences_deal_by_deal() -> None:
    noise = np.random.default_rng(0).normal(size=(2, 400))

    def table(offset: float, margins: Any = noise) -> TableScore:
        return TableScore("two", 400, offset + margins, np.zeros((2, 400)), 1.0, 0)

    own = np.where(are_common(400), noise, np.random.default_rng(1).normal(size=(2, 400)))
    best, same, worse = table(1.0), table(1.0, own), table(0.9, own)
    # on the common deals a tenth of a point is told apart, though not on those of an agent's own
    assert board.p_value(board.compare(best, worse)) < 1e-6
    assert board.ranks([worse, best, table(1.0)]) == [3, 1, 1]
    assert board.compare(best, same) == (0.0, 0.0)
    assert board.p_value((0.0, 0.0)) == 1.0
    unlike = table(1.2, np.random.default_rng(1).normal(size=(2, 400)) * 5)
    assert board.ranks([best, unlike]) == [1, 1]
    line = board._table([("mine:Careful(way='a|b')", best)]).splitlines()[-1]
    assert line.startswith("| 1 | <code>mine&#58;Careful(way='a&#124;b')</code> | +0.97 |")


def test_ranks_are_corrected_for_the_number_of_pairs() -> None:
    """Of ten equal agents few boards tell any two apart: 5 of 100 by the rule, where without it most would."""
    random, told = np.random.default_rng(5), []
    for _ in range(200):
        margins = random.normal(size=(10, 1, 100))
        tables = [TableScore("two", 100, each, np.zeros((1, 100)), 1.0, 0) for each in margins]
        told.append(max(board.ranks(tables)) > 1)
    assert 0 < np.mean(told) < 0.12


def test_common_deals_that_went_too_well_are_marked() -> None:
    """An agent that looks up the common deals: it is far better there than on its own."""
    random = np.random.default_rng(2)
    margins = random.normal(0, 10, (6, 400))
    fair = TableScore("two", 400, margins, np.zeros((6, 400)), 1.0, 0)
    prepared = TableScore("two", 400, margins + 10 * are_common(400), np.zeros((6, 400)), 1.0, 0)
    assert not fair.is_suspect
    assert prepared.is_suspect
    assert board.halves_text(prepared).endswith(" !")
    many = [
        TableScore("two", 100, random.normal(size=(2, 100)), np.zeros((2, 100)), 1.0, 0).is_suspect for _ in range(2000)
    ]
    assert sum(many) < 12  # one of a thousand, within what chance allows
