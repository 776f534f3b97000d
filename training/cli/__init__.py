"""The command `krypenv`.

commands  all subcommands; the longer ones have modules of their own
analyze   `krypenv analyze`
bench     `krypenv bench`
compare   `krypenv compare`
doctor    `krypenv doctor`
exploit   `krypenv exploit`
play      `krypenv play`
score     `krypenv score`
show      `krypenv show`
solve     `krypenv solve`
study     `krypenv study`
options   shared options, and commands made from settings
outputs   checks of output files, and input texts
errors    errors as one sentence
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
