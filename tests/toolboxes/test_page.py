"""What the page on toolboxes tells the reader to type works in the environment that has them all."""

from support.page_code import blocks, run_python
from support.places import ROOT


def test_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ray.tune.trainable.trainable.DEFAULT_STORAGE_PATH", str(tmp_path / "ray_results"))
    page = ROOT / "docs" / "toolboxes.md"
    assert len(blocks(page, toolboxes=True)) > len(blocks(page))
    run_python(page, blocks(page, toolboxes=True))
