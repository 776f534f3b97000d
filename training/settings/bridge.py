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
    facts, (kind, is_repeated) = about(field), kind_of(field)
    text, has_default = str(field.description), " [default: " not in str(field.description)
    value_name = "PATH" if kind is Path else f"<{kind.__name__}>"
    metavar = facts["metavar"] or "|".join(choices_of(field.annotation)) or value_name
    word: Any = bool if kind is bool else str
    if facts["is_argument"]:
        metavar = facts["metavar"] or flag_of(name, field)[2:].upper()
    if is_repeated:
        word, default = list[str], [] if field.is_required() else list(map(str, default))
        if not facts["is_argument"]:
            words, marker, default_text = text.partition(" [default: ")
            text = words if "repeat" in words else f"{words}; repeatable"
            text += marker + default_text
    if name != "seed" and (bounds := bounds_of(field)):
        words, marker, default_text = text.partition(" [default: ")
        text = f"{words} ({bounds}){marker}{default_text}"
    flags = [] if facts["is_argument"] else [flag_of(name, field)]
    if kind is bool and default:
        flags = [f"{flags[0]}/--no-{flags[0][2:]}"]
    make = typer.Argument if facts["is_argument"] else typer.Option
    declaration = make(
        *flags,
        help=escape(text),
        rich_help_panel=None if facts["is_argument"] else group_of(settings, name) or None,
        show_default=has_default,
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
