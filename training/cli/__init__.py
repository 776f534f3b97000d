"""The command `krypenv`.

commands  the table of commands; each has a module with its function `run`, imported when it is called
ablate    `krypenv ablate`
analyze   `krypenv analyze`
arena     `krypenv arena`
bench     `krypenv bench`
card      `krypenv card`
compare   `krypenv compare`
doctor    `krypenv doctor`
evaluate  `krypenv evaluate`
exploit   `krypenv exploit`
imitate   `krypenv imitate`
play      `krypenv play`
score     `krypenv score`
show      `krypenv show`
solve     `krypenv solve`
study     `krypenv study`
train     `krypenv train`
options   the bridge from settings to typer
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
