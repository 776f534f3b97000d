"""The page of the commands, made from their options by `make docs`: every option with its default and its bounds."""

from __future__ import annotations

import inspect
from typing import Any

import typer

from krypenv.training.cli.commands import COMMANDS, PANELS, function_of

HEAD = """# Commands

Every command and its options, as `krypenv COMMAND --help` prints them. Options marked with * can be repeated.
"""


def command_page() -> str:
    """Return the page."""
    parts = [HEAD]
    for title in PANELS:
        parts.append(f"## {title}\n")
        parts += [_command(name) for name, entry in COMMANDS.items() if entry.panel == title]
    return "\n".join(parts)


def _command(name: str) -> str:
    function, app = function_of(name), typer.Typer(add_completion=False)
    app.command()(function)
    options = typer.main.get_command(app).params
    text = inspect.getdoc(function) or ""
    example = f"<!-- not run -->\n```bash\nkrypenv {name} {COMMANDS[name].example}\n```\n"
    rows = ["| option | default | what it does |\n|---|---|---|\n", *map(_row, options)] if options else []
    return f"### krypenv {name}\n\n{text}\n\n{example}\n{''.join(rows)}"


def _row(option: Any) -> str:
    text, _, told = option.help.replace("\\[", "[").partition(" [default: ")
    default = told.removesuffix("]") or ("required" if option.required else _written(option.default))
    flag = "--no-" + option.name.replace("_", "-") if option.default is True else option.opts[0]
    name = f"{flag} {option.metavar or ''}".strip() if option.opts[0].startswith("-") else option.metavar or option.name
    repeats = " *" if option.nargs == -1 or option.multiple else ""
    return f"| `{_cell(name)}`{repeats} | {_cell(default)} | {_cell(text)} |\n"


def _written(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    values = default if isinstance(default, (list, tuple)) else () if default in (None, "") else (default,)
    return ", ".join(f"`{each}`" for each in values)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
