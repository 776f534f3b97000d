"""All fuzzers for a moment; `make soak` runs them for long. A right result or one sentence, and nothing else."""

import pytest
from fuzz import every_fuzzer

SHORT = 400  # mutants of each fuzzer
FEWER = {"kills.": 40, "rules.beside_reference": 100}  # of those that start a process, or play games, for each
FUZZERS = every_fuzzer()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # newer Pythons warn of forks beside threads
@pytest.mark.parametrize("name", FUZZERS)
def test_a_right_result_or_one_sentence(name):
    mutants = next((count for part, count in FEWER.items() if part in name), SHORT)
    tally = FUZZERS[name](1, mutants)
    assert tally["right"] + tally["refused"] >= mutants
    assert tally["refused"] > 0
