"""All fuzzers for a moment; `make soak` tries new examples for long. A right result or one sentence, nothing else."""

import pytest
from fuzz import every_fuzzer
from hypothesis import settings

FUZZERS = every_fuzzer()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn of forks beside threads
@pytest.mark.parametrize("name", FUZZERS)
def test_a_right_result_or_one_sentence(name):
    tally = FUZZERS[name](settings.default.max_examples)
    assert tally["right"] > 0
    assert tally["refused"] > 0
