"""Figures of studies: what they show of the stored figures, in words, and told apart without colour."""

from __future__ import annotations

import pytest
from answer_tables import stored
from make_pictures import STUDIES, draw_study
from matplotlib.figure import Figure

from krypenv.training.research.studies import creep

PRICES = ("0 points", "1 point", "2 points", "3 points or more")


def drawn(name):
    """The figure of a stored study."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    STUDIES[name.partition("-")[0]].draw_of(stored(name)["figures"])(figure.subplots())
    return figure


def labels(figure):
    [axes] = figure.axes
    return [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]


@pytest.mark.parametrize("name", ["advice-2", "advice-4", "advice-howto"])
def test_advice_is_marked_where_it_holds(name):
    figure, figures = drawn(name), stored(name)["figures"]
    assert labels(figure) == list(figures["statements"])
    marks = [text.get_text().endswith("✓") for text in figure.axes[0].texts]
    assert marks == [each["holds"] for players in figures["statements"].values() for each in players.values()]
    assert 0 < sum(marks) < len(marks)


def test_pairs_are_called_by_words():
    told = labels(drawn("partners-4"))
    assert len(told) == len(set(told)) == 12
    assert not any(set(label) & set("(=_") for label in told)
    assert {"the agent and greedy", "two of the tactician"} <= set(told)


@pytest.mark.parametrize("name", ["creep-2", "creep-4"])
def test_each_case_of_creeping_has_a_panel_on_the_same_scale(name):
    figure, figures = drawn(name), stored(name)["figures"]
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[0] == "in general"
    assert len(titles) > 1
    assert set(titles) <= set(creep.CASES)
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    for axes in figure.axes:
        line = axes.lines[0]
        prices = [PRICES[cost] for cost in line.get_xdata().astype(int).tolist()]
        means = [figures[f"{price}: {axes.get_title()}"]["mean"] for price in prices]
        assert line.get_ydata().tolist() == means


@pytest.mark.parametrize("name", ["advice-2", "creep-2", "partners-4"])
def test_a_figure_is_drawn_from_what_is_stored(name):
    assert draw_study(name).startswith(b"\x89PNG")
