"""Options: fields of dataclasses, from which command lines, checks, headers and printed commands follow."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from krypenv.inputs.words import check_keywords, command_line, did_you_mean, shown
from krypenv.training.runs import limits, panels
from krypenv.training.runs.limits import Bounds

Of = TypeVar("Of", bound="Command")


EMPTY = "{} is empty; give it a value, or leave it out"


class Option(NamedTuple):
    """An option of a command."""

    default: Any
    text: str  # for `--help`
    bounds: Bounds | None = None  # of a number
    panel: str = ""  # its group in `--help`
    metavar: str = ""  # what its value is called in `--help`; its type if empty
    is_argument: bool = False  # a word at its place, without a name
    is_required: bool = False  # on the command line
    is_tuned: bool = False  # a hyperparameter: given by `--set name=value`
    may_be_empty: bool = False  # an empty word is a value of it
    decides: bool = True  # on the results; else only where and how they are made and shown
    name: str = ""
    part: str = ""  # the command's field that holds it; empty if it belongs to no part
    kind: Any = str  # the type of its field

    @property
    def is_repeated(self) -> bool:
        """Whether it may be given several times."""
        return typing.get_origin(self.kind) is tuple

    @property
    def word(self) -> type:
        """The type of a value as a word of a command line."""
        kinds = typing.get_args(self.kind) or (self.kind,)
        return str if str in kinds else next((kind for kind in (bool, int, float, Path) if kind in kinds), str)

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def typed(self, word: Any) -> Any:
        """Return the value for a word of the command line, which typer has read; raises ValueError if it is empty."""
        if word == "" and not self.may_be_empty:
            raise ValueError(EMPTY.format(self.name if self.is_argument else self.flag))
        return Path(word) if self.word is Path else word

    def words(self, value: Any) -> list[str]:
        """Return the words of a command line that give it a value."""
        values = [str(each) for each in (value if self.is_repeated else (value,)) if each is not None]
        if self.is_argument:
            return values
        if self.is_tuned:
            return [word for each in values for word in ("--set", f"{self.name}={each}")]
        if self.word is bool:
            return [self.flag if value else f"--no-{self.flag[2:]}"]
        return [word for each in values for word in (self.flag, each)]

    def read(self, word: str) -> Any:
        """Return the value for a word of `--set`; raises ValueError if it is of another type."""
        if self.word is bool:
            if word not in ("True", "False"):
                raise ValueError(f"{self.name} is True or False, not {shown(word)}")
            return word == "True"
        try:
            return self.word(word)
        except ValueError:
            kind = "a whole number" if self.word is int else "a number"
            raise ValueError(f"{self.name} is {kind}, not {shown(word)}") from None


def setting(default: Any, text: str, bounds: Bounds | None = None, panel: str = "", **more: Any) -> Any:
    """Return a field of a dataclass that is an option, with its default, its help text and the bounds of a number.

    Without a panel, it is in that of its part. `more` are further fields of an `Option`.
    """
    return dataclasses.field(default=default, metadata={"option": Option(default, text, bounds, panel, **more)})


def hyperparameter(default: Any, text: str, bounds: Bounds | None = None) -> Any:
    """Return a field that is set by `--set name=value`."""
    return setting(default, text, bounds, is_tuned=True)


def an_output(default: Any, text: str, metavar: str = "", **more: Any) -> Any:
    """Return the field for a file or a folder that is written."""
    return setting(default, text, panel=panels.OUTPUT, metavar=metavar, decides=False, **more)


def a_json_file() -> Any:
    """Return the field for a file of the results."""
    return an_output(None, "also write the results to this file, as JSON", "FILE")


def part(defaults: Part, **texts: str | None) -> Any:
    """Return a field of a command that holds a part, with the defaults that this command gives it.

    A text replaces the help of a setting in this command. None removes the option of a setting.
    """
    return dataclasses.field(default=defaults, metadata={"texts": texts})


class Part:
    """Settings that belong together. A new instance checks its numbers and raises ValueError with the reason."""

    panel: ClassVar[str] = ""  # of its options in `--help`

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # every part is a dataclass
            option, value = field.metadata.get("option"), getattr(self, field.name)
            if option and option.bounds and not (value is None and option.default is None):
                limits.check(field.name, value, option.bounds)
            if option and option.panel == panels.OUTPUT and value == "" != option.default:
                raise ValueError(EMPTY.format(field.name))


class Command(Part):
    """The settings of a command: its parts, and settings that belong to no part. Every field has a default.

    The name of a setting is the name of its option, and is unique among all parts of a command. A field that is
    neither a setting nor a part is for Python only.
    """

    command: ClassVar[str] = ""  # its name

    @classmethod
    def of(cls: type[Of], **given: Any) -> Of:
        """Return settings with values given by option name; raises TypeError for an unknown name."""
        check_keywords(f"{cls.__name__}.of", given, list(options_of(cls)))
        held = {field.name: field.default for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        return cls(**_fields(cls, held, {**cls.defaults(given), **given}))

    @classmethod
    def defaults(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return values for options that are not given, where others than the fields' defaults fit what is given."""
        return {}

    def changed(self: Of, **given: Any) -> Of:
        """Return these settings with some values changed, given by option name."""
        check_keywords(f"{type(self).__name__}.of", given, list(options_of(type(self))))
        return dataclasses.replace(self, **_fields(type(self), vars(self), given))  # type: ignore[type-var]

    def flat(self) -> dict[str, Any]:
        """Return the values of all options by name, as files store them."""
        return {
            name: getattr(getattr(self, option.part) if option.part else self, name)
            for name, option in options_of(type(self)).items()
        }

    def identity(self) -> dict[str, Any]:
        """Return the values of the options that decide the results, by name."""
        options = options_of(type(self))
        return {name: value for name, value in self.flat().items() if options[name].decides}

    @property
    def line(self) -> str:
        """The command line that makes these settings."""
        options, own = options_of(type(self)), self.flat()
        usual = {name: option.default for name, option in options.items()}
        usual |= self.defaults({name: value for name, value in own.items() if value != usual[name]})
        given = [option for name, option in options.items() if own[name] != usual[name] or option.is_required]
        given.sort(key=lambda option: not option.is_argument)
        return command_line(["krypenv", self.command, *(word for each in given for word in each.words(own[each.name]))])


def options_of(command: type) -> Mapping[str, Option]:
    """Return the options of a command by name, in order."""
    found: dict[str, Option] = {}
    for name, kind, metadata, default in _described(command):
        if "option" in metadata:
            found[name] = metadata["option"]._replace(name=name, kind=kind)
        elif "texts" in metadata:
            for inner, its_kind, its, _ in _described(type(default)):
                option, text = its["option"], metadata["texts"].get(inner, its["option"].text)
                if text is not None:
                    found[inner] = option._replace(
                        name=inner, kind=its_kind, part=name, text=text, default=getattr(default, inner),
                        panel=option.panel or type(default).panel,
                    )  # fmt: skip
    return found


def read_tuned(command: type[Command], words: Iterable[str]) -> dict[str, Any]:
    """Return the values of `--set`, each word as in gamma=0.9; raises ValueError for what is no hyperparameter."""
    options, values = options_of(command), {}
    names = [name for name, option in options.items() if option.is_tuned]
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise ValueError(f"--set takes NAME=VALUE, as in {names[0]}={options[names[0]].default}, not {shown(word)}")
        if name in options and name not in names:
            raise ValueError(f"{name} is an option of its own; give {options[name].flag}")
        if name not in names:
            how = f"krypenv {command.command} --settings lists them"
            raise ValueError(f"there is no setting {shown(name)}{did_you_mean(name, names)}; {how}")
        values[name] = options[name].read(value)
    return values


def _fields(command: type, held: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that hold values given by option name, from those that are held now."""
    fields: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, option in options_of(command).items():
        if name in given:
            (parts.setdefault(option.part, {}) if option.part else fields)[name] = given[name]
    return fields | {name: dataclasses.replace(held[name], **values) for name, values in parts.items()}


def _described(kind: Any) -> Iterable[tuple[str, Any, Mapping[str, Any], Any]]:
    """Return the fields of a dataclass: their names, types, metadata and defaults."""
    hints = typing.get_type_hints(kind)
    return [(field.name, hints[field.name], field.metadata, field.default) for field in dataclasses.fields(kind)]
