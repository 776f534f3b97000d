"""Settings that are command lines: dataclasses of fields and parts, with a help text for each field."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

from krypenv.inputs.words import check_keywords
from krypenv.training.runs import limits
from krypenv.training.runs.limits import Bounds

Of = TypeVar("Of", bound="Command")


def setting(default: Any, text: str, bounds: Bounds | None = None, panel: str = "") -> Any:
    """Return a field of a dataclass with its default, its help text, the bounds of a number, and its help panel.

    Without a panel, a setting is in that of its part.
    """
    return dataclasses.field(default=default, metadata={"help": text, "bounds": bounds, "panel": panel})


def part(defaults: Part, **texts: str | None) -> Any:
    """Return a field of a command that holds a part, with the defaults that this command gives it.

    A text replaces the help of a setting in this command. None removes the option of a setting.
    """
    return dataclasses.field(default=defaults, metadata={"texts": texts})


class Part:
    """Settings that belong together. A new instance checks its numbers and raises ValueError with the reason."""

    panel: ClassVar[str] = ""  # of its options in `--help`

    def __post_init__(self) -> None:
        limits.check_numbers(self)


class Command(Part):
    """The settings of a command: its parts, and settings that belong to no part. Every field has a default.

    The name of a setting is the name of its option, and is unique among all parts of a command.
    """

    @classmethod
    def of(cls: type[Of], **given: Any) -> Of:
        """Return settings with values given by option name; raises TypeError for an unknown name."""
        return cls().changed(**given)

    def changed(self: Of, **given: Any) -> Of:
        """Return these settings with some values changed, given by option name."""
        options = options_of(type(self))
        check_keywords(f"{type(self).__name__}.of", given, list(options))
        fields: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for name, option in options.items():
            if name in given:
                (parts.setdefault(option.part, {}) if option.part else fields)[name] = given[name]
        fields |= {name: dataclasses.replace(getattr(self, name), **values) for name, values in parts.items()}
        return dataclasses.replace(self, **fields)  # type: ignore[type-var]  # every command is a dataclass

    def flat(self) -> dict[str, Any]:
        """Return the values of all settings by option name, as files store them."""
        return {
            name: getattr(getattr(self, option.part) if option.part else self, name)
            for name, option in options_of(type(self)).items()
        }


class Option(NamedTuple):
    """A setting as an option of a command."""

    name: str
    part: str  # the command's field that holds it; empty if it belongs to no part
    kind: Any  # its type
    default: Any
    text: str
    bounds: Bounds | None
    panel: str  # its group in `--help`


def options_of(command: type) -> Mapping[str, Option]:
    """Return the options of a command by name, in order."""
    found: dict[str, Option] = {}
    for field, kind in _fields(command):
        if "texts" not in field.metadata:
            found[field.name] = _option(field, "", kind, field.default, field.metadata["help"], "")
            continue
        for inner, its_kind in _fields(kind):
            text = field.metadata["texts"].get(inner.name, inner.metadata["help"])
            if text is not None:
                default = getattr(field.default, inner.name)
                found[inner.name] = _option(inner, field.name, its_kind, default, text, kind.panel)
    return found


def _option(field: dataclasses.Field[Any], part: str, kind: Any, default: Any, text: str, panel: str) -> Option:
    metadata = field.metadata
    return Option(field.name, part, kind, default, text, metadata.get("bounds"), metadata.get("panel") or panel)


def _fields(kind: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    """Return the fields of a dataclass with their types."""
    hints = typing.get_type_hints(kind)
    return [(field, hints[field.name]) for field in dataclasses.fields(kind)]
