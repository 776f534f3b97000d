"""The progress bar of long runs."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn


def progress_bar(console: Console) -> Progress:
    """Return a bar with the percentage and a text that the task brings along."""
    return Progress(
        TextColumn("{task.percentage:>3.0f}%"), BarColumn(bar_width=6), TextColumn("{task.fields[text]}"),
        console=console, refresh_per_second=2,
    )  # fmt: skip
