"""Studies as scripts: the command line that `lab.main` gives them, and those in notebooks/studies."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT
from support.scripts import FOLDER, load, run_script

from krypenv import Rules
from krypenv.training.lab import Answer, Study, main
from krypenv.training.runs.journal import JOURNAL

FOUR = Rules.preset("krypkasino", players=4)
EXAMPLE = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "studies.md").read_text(encoding="utf-8"), re.DOTALL)[0]
SMALL = ["--rules", "krypkasino", "--agent", "greedy", "--deals", "120"]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The study of the documentation."""
    path = tmp_path / "mine" / "my_study.py"
    path.parent.mkdir()
    path.write_text(EXAMPLE)
    return path


def result_of(folder: Path) -> dict[str, Any]:
    """What a study wrote, without the machine and the command line."""
    told: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return {**told, "runs": [{**run, "machine": "", "command": ""} for run in told["runs"]]}


class TestMain:
    def test_workers_are_sent_what_the_script_defines(self, script: Path, tmp_path: Path) -> None:
        """With a module beside it, and even without a guard; and a study that was stopped is resumed."""
        main(runpy.run_path(str(script))["STUDY"], [*SMALL, "--out", str(tmp_path / "1")])
        (script.parent / "beside.py").write_text(
            "from krypenv.training import lab\n\ndef creeps(*seen):\n    return lab.creeping(*seen)\n"
        )
        code = f"import beside\n{script.read_text()}".replace("lab.creeping", "beside.creeps")
        script.write_text(code.replace('if __name__ == "__main__":\n    ', ""))
        journal = (tmp_path / "1" / JOURNAL).read_bytes().splitlines(keepends=True)
        (tmp_path / "2").mkdir()
        (tmp_path / "2" / JOURNAL).write_bytes(b"".join(journal[:2]) + journal[3][:9])
        done = run_script(script, *SMALL, "--workers", "2", "--out", "2", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Should kings leave the hand early or late? (krypkasino players=2, greedy, 120 deals)" in done.stdout
        right = result_of(tmp_path / "1")
        assert all(row[0] in done.stdout for row in right["runs"][0]["rows"])
        assert result_of(tmp_path / "2") == right
        assert (tmp_path / "2" / "figure.png").read_bytes().startswith(b"\x89PNG")

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (["--deals", "0"], "deals should be"),
            (["--deals", "1"], "the study kings needs at least 2 deals, not 1"),
            (["--rules", "mulle"], "the study kings knows only games like krypkasino"),
            (["--rules", "krypkasino players=2", "--players", "4"], "players"),
            (["--agent", "gredy"], "unknown agent 'gredy'"),
            (["--luck", "of"], "luck should be 'auto', 'on' or 'off', not 'of'"),
            (["--seed", "-1"], "seed should be"),
            (["--workers", "0"], "workers should be"),
        ],
    )
    def test_bad_input_is_one_sentence(
        self, words: list[str], reason: str, script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        study = runpy.run_path(str(script))["STUDY"]
        with pytest.raises(SystemExit, match="2"):
            main(study, [*words, "--out", str(tmp_path / "out")])
        told = capsys.readouterr().err
        assert reason in told.lower()
        assert len(told.splitlines()) == 1
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("words", "rules"),
        [
            ([], "krypkasino players=4 teams=2"),
            (["--rules", "krypkasino teams=3", "--players", "6"], "krypkasino players=6 teams=3"),
        ],
    )
    def test_a_study_has_rules_of_its_own_by_default(self, words: list[str], rules: str, tmp_path: Path) -> None:
        own = "krypkasino players=4 teams=2"
        main(Study("x", "Which?", lambda _: [], lambda *_: Answer({}), 2, own), [*words, "--out", str(tmp_path)])
        assert Rules.parse(result_of(tmp_path)["runs"][0]["rules"]) == Rules.parse(rules)

    @pytest.mark.slow
    def test_a_cluster_is_sent_what_the_script_defines(self, script: Path, tmp_path: Path) -> None:
        for place, words in (("here", []), ("cluster", ["--ray"])):
            done = run_script(script, *SMALL, *words, "--out", place, folder=tmp_path)
            assert done.returncode == 0, done.stderr
        assert result_of(tmp_path / "here") == result_of(tmp_path / "cluster")


# ---------------------------------------------------------------------- those in notebooks/studies

SCRIPTS = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))
TOOLS = {"compare", "coefficients"}  # which store no answer there


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in TOOLS])
def test_a_stored_answer_is_that_to_the_question_of_its_script(name: str) -> None:
    stored = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert stored["question"] == load(name).STUDY.question
    assert (FOLDER / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != "late"])  # `test_studies.py` has it in small
def test_a_script_runs(name: str, tmp_path: Path) -> None:
    deals = str(load(name).STUDY.fewest)
    done = run_script(FOLDER / f"{name}.py", "--deals", deals, "--out", str(tmp_path / "out"), folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert [*(tmp_path / "out").iterdir()]
