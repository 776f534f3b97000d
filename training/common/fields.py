"""Settings that are command lines: dataclasses of fields and of parts, with a sentence under each field."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from krypenv.inputs.words import check_keywords, with_new_names
from krypenv.training.common import bounds
from krypenv.training.common.bounds import Bounds

Of = TypeVar("Of", bound="Command")

# Settings of older versions, by their names of today: command lines, calls and files with them still work.
RENAMED = {
    "warm": "init_from", "lessons": "demonstrations", "passes": "bc_epochs", "rows": "envs",
    "rival_rows": "opponent_envs", "rivals": "opponents", "hardness": "opponent_temperature", "discount": "gamma",
    "entropy": "ent_coef", "pull": "kl_coef", "slowness": "ema_decay", "value_weight": "vf_coef", "stray": "epsilon",
    "softness": "target_temperature", "candidates": "proposals",
}  # fmt: skip


def setting(default: Any, text: str, bounds: Bounds | None = None) -> Any:
    """Return a field of a dataclass with its default, the sentence that is its help, and the bounds of a number."""
    return dataclasses.field(default=default, metadata={"help": text, "bounds": bounds})


def part(defaults: Part, **texts: str | None) -> Any:
    """Return a field of a command that holds a part, with the defaults that it has there.

    A text is the help of a setting where it differs in this command, and None makes no option of a setting.
    """
    return dataclasses.field(default=defaults, metadata={"texts": texts})


class Part:
    """Settings that belong together; a new one checks its numbers and raises ValueError with the reason."""

    def __post_init__(self) -> None:
        bounds.check_numbers(self)


class Command(Part):
    """The settings of a command: parts, and what belongs to none of them. Every field has a default.

    A setting's name is unique among all parts of a command, and is the name of its option.
    """

    @classmethod
    def of(cls: type[Of], **given: Any) -> Of:
        """Return settings by the names of their options; raises TypeError for an unknown one."""
        return cls().changed(**given)

    @classmethod
    def renamed(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings under their names of today; ValueError where both names of one are given."""
        return with_new_names(given, options_of(cls), RENAMED)

    def changed(self: Of, **given: Any) -> Of:
        """Return these settings with some of them changed, by the names of their options."""
        options, given = options_of(type(self)), type(self).renamed(given)
        check_keywords(f"{type(self).__name__}.of", given, list(options))
        fields: dict[str, Any] = {}
        parts: dict[str, dict[str, Any]] = {}
        for name, option in options.items():
            if name in given:
                (parts.setdefault(option.part, {}) if option.part else fields)[name] = given[name]
        fields |= {name: dataclasses.replace(getattr(self, name), **values) for name, values in parts.items()}
        return dataclasses.replace(self, **fields)  # type: ignore[type-var]  # every command is a dataclass

    def flat(self) -> dict[str, Any]:
        """Return the values of all settings by the names of their options: what files keep."""
        return {
            name: getattr(getattr(self, option.part) if option.part else self, name)
            for name, option in options_of(type(self)).items()
        }


class Option(NamedTuple):
    """A setting as a command has it."""

    name: str
    part: str  # the field of the command that holds it, empty for one that belongs to no part
    kind: Any  # its type
    default: Any
    text: str
    bounds: Bounds | None


def options_of(command: type) -> Mapping[str, Option]:
    """Return the options of a command by their names, in order."""
    found: dict[str, Option] = {}
    for field, kind in _fields(command):
        if "texts" not in field.metadata:
            found[field.name] = _option(field, "", kind, field.default, field.metadata["help"])
            continue
        for inner, its_kind in _fields(kind):
            text = field.metadata["texts"].get(inner.name, inner.metadata["help"])
            if text is not None:
                found[inner.name] = _option(inner, field.name, its_kind, getattr(field.default, inner.name), text)
    return found


def _option(field: dataclasses.Field[Any], part: str, kind: Any, default: Any, text: str) -> Option:
    return Option(field.name, part, kind, default, text, field.metadata.get("bounds"))


def _fields(kind: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    """Return the fields of a dataclass with their types."""
    hints = typing.get_type_hints(kind)
    return [(field, hints[field.name]) for field in dataclasses.fields(kind)]
