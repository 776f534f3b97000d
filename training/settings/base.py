"""Settings of a command: typed fields with bounds and a sentence, from which its command line and files follow."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)
from pydantic.fields import FieldInfo

from krypenv.inputs.schema import sentence_of
from krypenv.inputs.words import check_keywords, command_line, shown

Of = TypeVar("Of", bound="Settings")
FROM_FILE = {"is_from_file": True}  # validation context: these values are not trusted


def option(
    default: Any,
    text: str,
    group: str = "",
    *,
    flag: str = "",
    metavar: str = "",
    is_argument: bool = False,
    decides: bool = True,
    **bounds: Any,
) -> Any:
    """Declare a field that is an option of the command line.

    Args:
        default: its default, `...` if it must be given. None stands for "not given".
        text: its sentence in `--help`.
        group: its panel in `--help`; that of its class if empty.
        flag: its name on the command line, if different from the field's.
        metavar: the name of its value in `--help`.
        is_argument: whether it is a positional argument.
        decides: whether it changes the results, and not only where they are computed or shown.
        bounds: `ge`, `gt`, `le` and the like, as in `pydantic.Field`.
    """
    facts: Any = {"group": group, "flag": flag, "metavar": metavar, "is_argument": is_argument, "decides": decides}
    return Field(default, description=text, json_schema_extra=facts, **bounds)


def output(default: Any, text: str, metavar: str = "", **extra: Any) -> Any:
    """Declare an option for where or how results are written."""
    return option(default, text, "Output", metavar=metavar, decides=False, **extra)


def _check_agent(value: Any, info: ValidationInfo) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"{info.field_name} is the name of an agent, not {shown(value)}")
    return _as_typed(value, info)


def _as_typed(value: Any, info: ValidationInfo) -> Any:
    from krypenv.agents.own import typed

    return value if info.context == FROM_FILE else typed(_refuse_empty(value))


def _refuse_empty(value: Any) -> Any:
    if value == "":
        raise ValueError("should have at least 1 character")
    return value


AgentName = Annotated[str, PlainValidator(_check_agent)]  # trusted, unless the settings come from a file
AnyAgent = Annotated[Any, PlainValidator(_as_typed)]  # a name, a pair of a name and maker(rules, seed), or an agent
File = Annotated[Path, Field(strict=False), BeforeValidator(_refuse_empty)]


def _plain(value: Any) -> Any:
    """Convert a number of NumPy to one of Python, and a list to a tuple; other values stay."""
    return value.item() if isinstance(value, np.generic) else tuple(value) if isinstance(value, list) else value


class Settings(BaseModel):
    """The settings of a command, or a group of settings that several commands inherit; immutable.

    A field with a sentence is an option; others are for Python only. Raises ValueError with one sentence for an
    invalid value, and TypeError for an unknown name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, str_min_length=1, allow_inf_nan=False)

    command: ClassVar[str] = ""  # its name
    group: ClassVar[str] = ""  # the panel of the options declared in this class

    def __init__(self, **values: Any) -> None:
        check_keywords(type(self).__name__, values, list(type(self).model_fields))
        self._take(values)

    def _take(self, values: Mapping[str, Any], context: dict[str, Any] | None = None) -> None:
        complete = {name: _plain(value) for name, value in {**self.defaults(values), **values}.items()}
        try:
            self.__pydantic_validator__.validate_python(complete, self_instance=self, context=context)
        except ValidationError as error:
            flags = {name: about(field)["flag"] or name for name, field in options_of(type(self)).items()}
            raise ValueError(sentence_of(error, names=flags)) from None

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Compute the defaults that depend on the values given, by name; all others are the fields' own."""
        return {}

    @classmethod
    def from_file(cls: type[Of], fields: Mapping[str, Any]) -> Of:
        """Make settings from the JSON values of a file, whose agents are not trusted."""
        made = cls.__new__(cls)
        made._take(fields, FROM_FILE)
        return made

    def changed(self: Of, **changes: Any) -> Of:
        """Copy these settings with some values changed."""
        kept = {name: getattr(self, name) for name in type(self).model_fields if name not in changes}
        return type(self)(**{**kept, **changes}).model_copy(update=kept)  # untrusted agents stay so

    def identity(self) -> dict[str, Any]:
        """Select the values that decide the results, by name."""
        return {name: getattr(self, name) for name, field in options_of(type(self)).items() if about(field)["decides"]}

    @property
    def line(self) -> str:
        """The command line of these settings; empty if one is an object of Python, such as an agent."""
        fields = options_of(type(self))
        values = {name: getattr(self, name) for name in fields}
        defaults = {name: field.default for name, field in fields.items()}
        defaults |= self.defaults({name: values[name] for name in fields if values[name] != defaults[name]})
        named = [name for name, field in fields.items() if values[name] != defaults[name] or field.is_required()]
        named.sort(key=lambda name: not about(fields[name])["is_argument"])
        words = [word for name in named for word in words_of(self, name)]
        is_plain = all(isinstance(word, str | float | int | Path) for word in words)
        return command_line("krypenv", self.command, *map(str, words)) if is_plain else ""


def options_of(command: type[Settings]) -> dict[str, FieldInfo]:
    """Select the fields of a command that are options, by name."""
    return {name: field for name, field in command.model_fields.items() if field.description}


def about(field: FieldInfo) -> dict[str, Any]:
    """Read the facts of `option` on a field beside its type, default, bounds and text."""
    return typing.cast("dict[str, Any]", field.json_schema_extra)


def flag_of(name: str, field: FieldInfo) -> str:
    """Derive the name of an option on the command line."""
    return "--" + (about(field)["flag"] or name).replace("_", "-")


def group_of(command: type[Settings], name: str) -> str:
    """Find the panel of an option: its own, or its class's."""
    holder = next(base for base in command.__mro__ if name in vars(base).get("__annotations__", {}))
    return str(about(command.model_fields[name])["group"] or getattr(holder, "group", ""))


def kind_of(field: FieldInfo) -> tuple[type, bool]:
    """Find the type of an option's value on the command line, and whether the option can be repeated."""
    is_repeated = typing.get_origin(field.annotation) is tuple
    kinds = _parts(field.annotation)
    return next((kind for kind in (bool, Path, str, int, float) if kind in kinds), str), is_repeated


def choices_of(kind: Any) -> list[str]:
    """List the only values of an option that has fixed choices; an empty list for any other option."""
    return [value for value in _parts(kind) if isinstance(value, str)]


def _parts(kind: Any) -> list[Any]:
    """List the plain types in an annotation, and the values of its literals."""
    inner = [part for part in typing.get_args(kind) if part is not Ellipsis]
    if typing.get_origin(kind) is Annotated:
        inner = inner[:1]
    return [inner_part for part in inner for inner_part in _parts(part)] or [kind]


def words_of(settings: Settings, name: str) -> list[Any]:
    """List the words of a command line that set an option to its value, as values of Python."""
    field, value = type(settings).model_fields[name], getattr(settings, name)
    kind, is_repeated = kind_of(field)
    values = [item for item in (value if is_repeated else (value,)) if item is not None]
    if about(field)["is_argument"]:
        return values
    flag = flag_of(name, field)
    if kind is bool:
        return [flag if value else f"--no-{flag[2:]}"]
    return [word for item in values for word in (flag, item)]


def bounds_of(field: FieldInfo) -> str:
    """Format the bounds of a number, as in "0 to 1" or "above 0"; an empty text without bounds."""
    limits = {
        name: getattr(limit, name) for limit in field.metadata for name in ("ge", "gt", "le") if hasattr(limit, name)
    }
    low = f"{limits['ge']:,g}" if "ge" in limits else f"above {limits['gt']:,g}" if "gt" in limits else ""
    high = f"{limits['le']:,}" if limits.get("le", 10**9) < 10**9 else ""
    return f"{low} to {high}" if low and high else f"{low} or more" if "ge" in limits else low or high


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Raise ValueError with one sentence unless a value is a number within bounds, whole if `high` is whole."""
    kind: Any = Annotated[int if isinstance(high, int) else float, Field(strict=True, ge=low, le=high)]
    try:
        TypeAdapter(kind).validate_python(_plain(value))
    except ValidationError as error:
        raise ValueError(sentence_of(error, name)) from None
