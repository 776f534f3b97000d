"""Where the checkout and its parts lie."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DOCS = ROOT / "docs"
MODELS = ROOT / "agents" / "models"
