"""The scripts of studies: run as a user runs them, or with their names to call."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.places import ROOT

FOLDER = ROOT / "notebooks" / "studies"


def load(name: str) -> Any:
    """What a study of ours defines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        return SimpleNamespace(**runpy.run_path(str(FOLDER / f"{name}.py"), run_name=name))


def run_script(script: Path, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder with some words."""
    line = [sys.executable, str(script), *words]
    env = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, check=False)
