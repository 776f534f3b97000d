"""The bridge from settings to typer: a command line for the options of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from krypenv.training.runs import panels
from krypenv.training.runs.options import Command, Option, options_of, read_tuned


def command_of(settings: type[Command], run: Callable[[Any], None]) -> Callable[..., None]:
    """Return a function for typer whose options are those of some settings. It calls `run` with an instance.

    The instance is `settings.of(...)` with the options given. Where there are hyperparameters, `--set` gives them, and
    `--settings` lists them.
    """
    options = options_of(settings)
    defaults = {name: option.default for name, option in options.items()} | settings.defaults({})

    def command(ctx: typer.Context, **values: Any) -> None:
        from krypenv.agents.own import typed

        is_given = {key: getattr(ctx.get_parameter_source(key), "name", "") != "DEFAULT" for key in values}
        tuned, is_listed = values.pop("set", ()), values.pop("settings", False)
        given = {
            key: tuple(typed(options[key].typed(each)) for each in value)
            if isinstance(value, list)
            else typed(options[key].typed(value))
            for key, value in values.items()
            if is_given[key]
        }
        its = settings.of(**given, **read_tuned(settings, tuned))
        if is_listed:
            _print_tuned(its)
        else:
            run(its)

    command.__doc__ = run.__doc__
    shown = [each for each in options.values() if not each.is_tuned]
    if len(shown) < len(options):
        shown += [
            Option((), "set a hyperparameter", panel=panels.TUNED, metavar="NAME=VALUE", name="set", kind=tuple[str]),
            Option(False, "list the hyperparameters, and do nothing", panel=panels.TUNED, name="settings", kind=bool),
        ]
    shown.sort(key=lambda each: (not each.is_argument, panels.ORDER.index(each.panel) if each.panel else 0))
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *(_parameter(each, defaults.get(each.name, each.default)) for each in shown)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _parameter(option: Option, default: Any) -> inspect.Parameter:
    """Return the parameter from which typer makes an option or argument."""
    kind: Any = str if option.word is Path else option.word
    text = option.text
    more: dict[str, Any] = {"show_default": " [default: " not in option.text}
    if option.word is bool or option.metavar:
        more["metavar"] = option.metavar
    elif option.word is Path:
        more["metavar"] = "PATH"
    if option.is_repeated:
        kind, default = list[kind], list(default)
        words, marker, rest = text.partition(" [default: ")
        if not option.is_argument:
            more.setdefault("metavar", f"<{option.word.__name__}>")
            text = text if "repeat" in words else f"{words}; repeatable{marker}{rest}"
    names = [option.flag] if option.word is bool and not default else []
    make = typer.Argument if option.is_argument else typer.Option
    told = make(*names, help=escape(text), rich_help_panel=option.panel or None, **more)
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if option.is_required else default,
        annotation=Annotated[kind | None if default is None else kind, told],
    )


def _print_tuned(settings: Command) -> None:
    """Print the hyperparameters in panels, with their values, texts and bounds."""
    values, tuned = settings.flat(), [each for each in options_of(type(settings)).values() if each.is_tuned]
    for panel in dict.fromkeys(each.panel for each in tuned):
        table = Table.grid(padding=(0, 2))
        for each in tuned:
            if each.panel == panel:
                bounds = f" ({each.bounds})" if each.bounds else ""
                table.add_row(each.name, escape(str(values[each.name])), escape(each.text + bounds))
        Console().print(Panel(table, title=panel or panels.TUNED, title_align="left"), highlight=False)
