"""Figures as files."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.figure import Figure

from krypenv.inputs.files import write_whole

DPI = 120


def save_figure(path: Path, figure: Figure, dpi: int = DPI) -> None:
    """Write a figure as a PNG file without software versions, so that equal figures give equal files."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=dpi, metadata={"Software": None})
    write_whole(path, data.getvalue())
