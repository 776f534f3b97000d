"""Croissant metadata of a data set, as mlcroissant validates and reads it."""

import itertools

import mlcroissant

from krypenv import Game
from krypenv.training.data import DataSettings, make_data


def test_croissant_metadata_are_valid_and_their_records_are_the_rows(tmp_path):
    folder = tmp_path / "games"
    options = {"text": True, "luck": True, "croissant": True}
    data = make_data(DataSettings(agent="tactician", rules="mini-low", games=3, out=folder, **options))
    croissant = mlcroissant.Dataset(jsonld=folder / "croissant.json")
    assert not croissant.metadata.issues.errors
    assert not croissant.metadata.issues.warnings
    assert croissant.metadata.personal_sensitive_information == ["None."]
    rows = data.arrays("seed", "move", "text", "observation", "margin")
    for at, record in enumerate(itertools.islice(croissant.records("decisions"), 5)):
        assert record["decisions/move"].decode() == rows["move"][at]
        assert list(record["decisions/observation"]) == rows["observation"][at].tolist()
        assert record["decisions/margin"] == rows["margin"][at]
    assert rows["text"][0] == Game("mini-low", seed=int(rows["seed"][0])).view(0)
