"""All fuzzers for a moment; `make soak` runs them for long. A right result or one sentence, and nothing else."""

import pytest
from fuzz import every_fuzzer

SHORT, FEW = 400, 40  # mutants of each fuzzer, and of one that starts a process for each
FUZZERS = every_fuzzer()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn of forks beside threads
@pytest.mark.parametrize("name", FUZZERS)
def test_a_right_result_or_one_sentence(name):
    tally = FUZZERS[name](1, mutants := FEW if "kills." in name else SHORT)
    assert tally["right"] + tally["refused"] >= mutants
    assert tally["refused"] > 0
