"""Options: those of commands made from settings, and those that several commands written by hand share."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand

from krypenv.training.runs import panels
from krypenv.training.runs.fields import Command, Option, options_of


def option(*names: str, panel: str, help: str, default: str = "", **more: Any) -> Any:
    """Return a typer option in a panel of its command's help.

    `default` describes a default of None. Square brackets in texts are shown as they are.
    """
    text = f"{help} [default: {default}]" if default else help
    return typer.Option(*names, rich_help_panel=panel or None, help=escape(text), **more)


def flag(name: str, panel: str, help: str) -> Any:
    """Return a typer option that takes no value and is off by default."""
    return option(name, panel=panel, help=help, metavar="")


RULES, LENGTH, OUTPUT = panels.RULES, panels.LENGTH, panels.OUTPUT
Players = Annotated[int | None, option(panel=RULES, help="number of players", default="2")]
Teams = Annotated[int | None, option(panel=RULES, help="number of teams", default="none, everyone plays alone")]
Preset = Annotated[
    str | None,
    option(panel=RULES, help="preset of the rules", default="the rules of the first model named, or krypkasino"),
]
RuleFields = Annotated[
    list[str] | None,
    option(
        panel=RULES, metavar="KEY=VALUE", help="a field of the rules to change, as in forced_sweep=False; repeatable"
    ),
]
JsonFile = Annotated[
    Path | None, option("--json", panel=OUTPUT, metavar="FILE", help="also write the results to this file, as JSON")
]
Workers = Annotated[int, option(panel=LENGTH, help="processes; the figures don't depend on their number")]
OnRay = Annotated[bool, flag("--ray", panels.RAY, "work on a Ray cluster")]
RayAddress = Annotated[
    str | None,
    option(
        panel=panels.RAY,
        metavar="ADDRESS",
        help="address of the cluster; implies --ray",
        default="what Ray finds, or a new one",
    ),
]
DEALS_FROM = "dev|test|SEED"


class HelpPanel:
    """A command or group with `--help` in a panel of its own."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help`."""
        found = super().get_help_option(ctx)  # type: ignore[misc]  # of typer's class
        if found is not None:
            found.metavar, found.rich_help_panel = "", panels.HELP
        return found


class Page(HelpPanel, TyperCommand):
    """A command whose help page ends with the panel of `--help`."""


def command_of(settings: type[Command], run: Callable[[Any], None], argument: str = "") -> Callable[..., None]:
    """Return a function for typer whose options are the fields of some settings. It calls `run` with an instance.

    A setting of type `tuple[X, ...]` becomes an option that can be repeated. The setting named by `argument` becomes a
    required positional argument. The instance is `settings.of(...)` with the options given; help shows the values of
    `settings.of()` as defaults.
    """
    from krypenv.agents.own import typed

    options, defaults = options_of(settings), settings.of().flat()

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
    in_order = sorted(options.values(), key=lambda each: _place(each.panel))
    parameters = [context, *(_parameter(each, defaults[each.name], each.name == argument) for each in in_order)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _place(panel: str) -> int:
    return panels.ORDER.index(panel) if panel in panels.ORDER else len(panels.ORDER)


def _parameter(setting: Option, default: Any, is_argument: bool) -> inspect.Parameter:
    """Return the parameter from which typer makes an option or argument."""
    kind, text = setting.kind, setting.text
    more: dict[str, Any] = {"metavar": ""} if kind is bool else {}
    more["show_default"] = " [default: " not in text
    if typing.get_origin(kind) is tuple:
        kind, default = list[typing.get_args(kind)[0]], list(default)  # type: ignore[misc]
        words, marker, rest = text.partition(" [default: ")
        if "repeat" not in words:
            text = f"{words}; repeatable{marker}{rest}"
        more["metavar"] = f"<{typing.get_args(kind)[0].__name__}>"
    told = typer.Argument(help=escape(text)) if is_argument else option(panel=setting.panel, help=text, **more)
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if is_argument else default,
        annotation=Annotated[kind, told],
    )


def hand_over(ctx: typer.Context, function: Callable[..., None], epilog: str) -> None:
    """Run a command through another function, with the words of the command line; that function also gives its help.

    So a command imports what defines its options only when it is called.
    """
    app = typer.Typer(add_completion=False)
    app.command(cls=Page, epilog=epilog)(function)
    command = typer.main.get_command(app)
    with command.make_context(ctx.info_name, ctx.args, parent=ctx.parent) as own:
        command.invoke(own)
