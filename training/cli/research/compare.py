"""`krypenv compare`."""

from __future__ import annotations

from krypenv.agents.own import typed
from krypenv.training.cli.research.study import ComparisonSettings, answer_study, setup_of
from krypenv.training.lab.rulesets import rule_sets, sets_of


def run(settings: ComparisonSettings) -> None:
    """Compare rule sets on the same footing: choices, sources of points, skill, the first seat, hidden hands.

    Margins are in standard deviations of a game's margin between equal players, so that games with other points can be
    compared. If the comparison is stopped or killed, the same command resumes it.
    """
    agent = typed(settings.agent)
    study = rule_sets("compare", "How do these rules differ?", sets_of(settings.rules), agent=agent)
    assert study.rules
    setup = setup_of(study, study.rules, agent, settings)
    answer_study(study, setup, settings.line, settings.place.executor, settings.out)
