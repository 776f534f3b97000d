"""From settings to typer: the command line of a settings class."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic.fields import FieldInfo
from rich.markup import escape

from krypenv.training.settings.base import (
    Settings,
    about,
    bounds_of,
    choices_of,
    flag_of,
    group_of,
    kind_of,
    options_of,
)
from krypenv.training.settings.console import OneSentence
from krypenv.training.settings.groups import ORDER


def command_of(settings: type[Settings], run: Callable[[Any], None]) -> Callable[..., None]:
    """Make a function for typer with the options of a settings class, which calls `run` with an instance."""
    fields = options_of(settings)
    defaults = {name: field.default for name, field in fields.items()} | settings.defaults({})

    def command(ctx: typer.Context, **values: Any) -> None:
        is_given = {name: getattr(ctx.get_parameter_source(name), "name", "") != "DEFAULT" for name in values}
        run(settings(**{name: _typed(fields[name], word) for name, word in values.items() if is_given[name]}))

    command.__doc__ = run.__doc__
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    names = sorted(fields, key=lambda name: _place(settings, name))
    parameters = [context, *(_parameter(settings, name, defaults[name]) for name in names)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _typed(field: FieldInfo, word: Any) -> Any:
    """Convert a word or words to a field's value; a word that is no number is left for the field to refuse."""
    if isinstance(word, list):
        return tuple(_typed(field, item) for item in word)
    kind = kind_of(field)[0]
    if kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(word)
    return word


def _place(settings: type[Settings], name: str) -> int:
    """Compute the rank of an option on the page: arguments first, then panel by panel."""
    return (
        -1 if about(settings.model_fields[name])["is_argument"] else ORDER.index(group_of(settings, name) or ORDER[0])
    )


def _parameter(settings: type[Settings], name: str, default: Any) -> inspect.Parameter:
    """Make the parameter from which typer makes an option or argument."""
    field = settings.model_fields[name]
    facts, (kind, is_repeated), is_argument = about(field), kind_of(field), about(field)["is_argument"]
    text, marker, default_text = str(field.description).partition(" [default: ")
    word: Any = bool if kind is bool else str
    if is_repeated:
        word, default = list[str], [] if field.is_required() else list(map(str, default))
        text += "; repeatable" if not is_argument and "repeat" not in text else ""
    if name != "seed" and (bounds := bounds_of(field)):
        text += f" ({bounds})"
    flag = flag_of(name, field)
    flags = [f"{flag}/--no-{flag[2:]}"] if kind is bool and default else [flag]
    value_name = flag[2:].upper() if is_argument else "PATH" if kind is Path else f"<{kind.__name__}>"
    metavar = facts["metavar"] or (not is_argument and "|".join(choices_of(field.annotation))) or value_name
    make = typer.Argument if is_argument else typer.Option
    declaration = make(
        *(() if is_argument else flags),
        help=escape(text + marker + default_text),
        rich_help_panel=None if is_argument else group_of(settings, name) or None,
        show_default=not marker,
        metavar="" if kind is bool else metavar,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if field.is_required() else default,
        annotation=Annotated[word | None if default is None else word, declaration],
    )


def app_of(settings: type[Settings], run: Callable[[Any], None]) -> typer.Typer:
    """Make a program of a single command."""
    app = typer.Typer(cls=OneSentence, add_completion=False)
    app.callback(invoke_without_command=True, subcommand_metavar="")(command_of(settings, run))
    return app
