"""The README's example of a match has types that mypy accepts, and so have the other ways to name agents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy import api
from support.places import ROOT

MORE = """
import numpy as np
from krypenv import Game, Move, agents
from krypenv.training import MatchResult, duplicate_match

class Lowest(agents.BaseAgent):
    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> np.ndarray:
        return action_masks.argmax(axis=1)

def policy(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1)

lowest = Lowest()
found: list[MatchResult] = evaluate(policy, "random", "krypkasino players=4")
found = evaluate("greedy", [policy, lowest, "random", lambda seen, masks: masks])
move: Move = agents.make("greedy").move(Game(champion.rules))
margin: float = duplicate_match(lowest, policy).margin
"""


@pytest.mark.slow  # the whole package is read
def test_matches_of_names_agents_and_functions_have_types(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    code = "".join(block for block in blocks if "evaluate(" in block or "game.push(" in block or "champion =" in block)
    example = tmp_path / "example.py"
    example.write_text(code + MORE)
    told, errors, status = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(example)])
    assert status == 0, told + errors
