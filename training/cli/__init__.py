"""The command `krypenv`.

commands  the commands, and those that are short
analyze   `krypenv analyze`
bench     `krypenv bench`
doctor    `krypenv doctor`
exploit   `krypenv exploit`
score     `krypenv score`
options   commands made from settings
outputs   where results are written to
errors    what goes wrong is one sentence
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.cli.commands import app, main
else:
    __getattr__ = importer(
        __name__,
        {
            "commands": (
                "app",
                "main",
            ),
        },
    )

__all__ = ["app", "main"]
