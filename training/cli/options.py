"""Commands made from settings: the fields of their parts are the options."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.markup import escape

from krypenv.training.common.fields import RENAMED, Command, Option, options_of


def command_of(settings: type[Command], run: Callable[[Any], None], argument: str = "") -> Callable[..., None]:
    """Return a function for typer whose options are those of some settings, and which calls `run` with an instance.

    `tuple[X, ...]` is an option that may be given more than once. The setting that `argument` names is given without
    its name, and always. The instance is what `settings.of` makes of what was given.
    """
    from krypenv.agents.own import typed

    options = options_of(settings)

    def command(ctx: typer.Context, **values: Any) -> None:
        sources = {key: getattr(ctx.get_parameter_source(key), "name", "") for key in values}
        given = {key: value for key, value in values.items() if sources[key] != "DEFAULT"}
        run(
            settings.of(
                **{
                    key: tuple(map(typed, value)) if isinstance(value, list) else typed(value)
                    for key, value in given.items()
                }
            )
        )

    command.__doc__ = run.__doc__
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *(_parameter(option, name == argument) for name, option in options.items())]
    parameters += [_hidden(options[new], old) for old, new in RENAMED.items() if new in options and old not in options]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _parameter(option: Option, is_argument: bool) -> inspect.Parameter:
    """Return what tells typer of an option."""
    kind, default = option.kind, option.default
    if typing.get_origin(kind) is tuple:
        kind, default = list[typing.get_args(kind)[0]], list(default)  # type: ignore[misc]
    told = typer.Argument(help=option.text) if is_argument else typer.Option(help=escape(option.text))
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if is_argument else default,
        annotation=Annotated[kind, told],
    )


def _hidden(option: Option, name: str) -> inspect.Parameter:
    """Return what tells typer of the old name of an option, which help does not show."""
    kind = typing.get_args(_parameter(option, False).annotation)[0]
    told = typer.Option(hidden=True)
    annotation = Annotated[kind | None, told]  # type: ignore[valid-type]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def hand_over(ctx: typer.Context, function: Callable[..., None], epilog: str) -> None:
    """Let another function do a command with the words that it was called with, and explain itself by `--help`.

    So a command imports what makes its options only when it is called.
    """
    app = typer.Typer(add_completion=False)
    app.command(epilog=epilog)(function)
    command = typer.main.get_command(app)
    with command.make_context(ctx.info_name, ctx.args, parent=ctx.parent) as own:
        command.invoke(own)
