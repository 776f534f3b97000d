"""The code of the page on toolboxes runs in the environment that has them all."""

from support.pages import run_page
from support.places import DOCS


def test_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ray.tune.trainable.trainable.DEFAULT_STORAGE_PATH", str(tmp_path / "ray_results"))
    run_page(DOCS / "toolboxes.md", "toolboxes")
