"""Commands made from settings: the fields of a dataclass are the options."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.markup import escape


def command_of(
    settings: type, run: Callable[[Any], None], make: Callable[..., Any] | None = None
) -> Callable[..., None]:
    """Return a function for typer whose options are the fields of a dataclass, and which calls `run` with an instance.

    Every field has a default; `metadata["help"]` is its help; `tuple[X, ...]` is an option that may be given more than
    once. `make` is called with the options that were given, and is the dataclass itself if it is None.
    """
    from krypenv.agents.own import typed

    make = make or settings
    hints, defaults = typing.get_type_hints(settings), settings()
    tuples = {name for name, kind in hints.items() if typing.get_origin(kind) is tuple}
    parameters = []
    for field in dataclasses.fields(settings):
        kind, default = hints[field.name], getattr(defaults, field.name)
        if field.name in tuples:
            kind, default = list[typing.get_args(kind)[0]], list(default)  # type: ignore[misc]
        option = typer.Option(help=escape(field.metadata["help"]))
        annotation = Annotated[kind, option]  # type: ignore[valid-type]
        parameters.append(
            inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )

    def command(ctx: typer.Context, **values: Any) -> None:
        sources = {key: getattr(ctx.get_parameter_source(key), "name", "") for key in values}
        given = {key: value for key, value in values.items() if sources[key] != "DEFAULT"}
        run(make(**{key: tuple(map(typed, value)) if key in tuples else typed(value) for key, value in given.items()}))

    command.__doc__ = run.__doc__
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters.insert(0, context)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command
