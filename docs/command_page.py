"""The page of the commands, made from their settings by `make docs`: every option with its default and its bounds."""

from __future__ import annotations

import inspect
import typing

from krypenv.training.cli.commands import COMMANDS, PANELS, run_of
from krypenv.training.runs import limits, panels
from krypenv.training.runs.options import Option, options_of

HEAD = """# Commands

Every command and its options, as `krypenv COMMAND --help` prints them. Options marked with * can be repeated.
"""
HYPERPARAMETERS = """
Hyperparameters, for `--set NAME=VALUE`; `--settings` prints them with the values that the other options give them:

| name | default | what it is |
|---|---|---|
"""


def command_page() -> str:
    """Return the page."""
    parts = [HEAD]
    for folder, title in PANELS.items():
        parts.append(f"## {title}\n")
        parts += [_command(name) for name, entry in COMMANDS.items() if entry.folder == folder]
    return "\n".join(parts)


def _command(name: str) -> str:
    run = run_of(name)
    settings = typing.get_type_hints(run)["settings"]
    options = options_of(settings)
    defaults = {key: option.default for key, option in options.items()} | settings.defaults({})
    shown = [each for each in options.values() if not each.is_tuned]
    shown.sort(key=lambda each: (not each.is_argument, panels.ORDER.index(each.panel) if each.panel else 0))
    text = inspect.getdoc(run) or ""
    example = f"<!-- not run -->\n```bash\n{COMMANDS[name].example}\n```\n"
    rows = [_row(each, defaults[each.name]) for each in shown]
    table = "".join(["| option | default | what it does |\n|---|---|---|\n", *rows]) if rows else ""
    tuned = [_hyperparameter(each, defaults[each.name]) for each in options.values() if each.is_tuned]
    more = "".join([HYPERPARAMETERS, *tuned]) if tuned else ""
    return f"### krypenv {name}\n\n{text}\n\n{example}\n{table}{more}"


def _hyperparameter(option: Option, default: object) -> str:
    bounds = f" ({option.bounds})" if option.bounds else ""
    return f"| `{option.name}` | `{default}` | {_cell(option.text + bounds)} |\n"


def _row(option: Option, default: object) -> str:
    text, _, told = option.text.partition(" [default: ")
    told = told.removesuffix("]")
    if not told:
        told = "required" if option.is_required else _written(default)
    name = f"`{option.metavar or option.name}`" if option.is_argument else _flag(option, default)
    bounds = f" ({option.bounds})" if option.bounds and option.bounds is not limits.SEED else ""
    return f"| {name}{' *' if option.is_repeated else ''} | {_cell(told)} | {_cell(text + bounds)} |\n"


def _flag(option: Option, default: object) -> str:
    if option.word is bool:
        return f"`--no-{option.flag[2:]}`" if default else f"`{option.flag}`"
    return f"`{option.flag} {_cell(option.metavar or option.word.__name__)}`"


def _written(default: object) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    values = default if isinstance(default, tuple) else () if default in (None, "") else (default,)
    return ", ".join(f"`{each}`" for each in values)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
