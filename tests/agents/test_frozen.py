"""Every agent chooses what it chose before, from the same observations and features, byte by byte.

After a change that is meant, `python -m tools.freeze --sample` writes the digests anew.
"""

import json

import pytest
from support.frozen import SAMPLE, sample_digests, samples

FROZEN = json.loads(SAMPLE.read_text())


def test_every_preset_is_there():
    assert list(FROZEN) == samples()


@pytest.mark.parametrize("text", FROZEN)
def test_choices_and_bytes_are_as_they_were(text):
    assert sample_digests(text) == FROZEN[text]
