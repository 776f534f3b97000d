"""All fuzzers on a few examples, or with `-m slow` on more; `make soak` tries new examples for an hour."""

import pytest
from fuzz import every_fuzzer
from hypothesis import settings

FUZZERS = every_fuzzer()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn of forks beside threads
@pytest.mark.parametrize("part", [0.05, pytest.param(1.0, marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("name", FUZZERS)
def test_what_comes_from_outside_gives_a_right_result_or_one_sentence(name, part):
    tally = FUZZERS[name](part * settings.default.max_examples)
    assert part < 1 or min(tally["right"], tally["refused"]) > 0
