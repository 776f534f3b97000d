"""Schemas of plain values from files and messages, checked by pydantic; an error says where the wrong value is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from krypenv.inputs.words import one_line, shown

Schema = type[BaseModel]
LONGEST = 600  # characters of a sentence
_SHOULD = re.compile(r"(?:\w+ )?should (.*?)(?: after validation.*)?$", re.DOTALL)  # as checks of pydantic begin
HUGE = 2**53  # floats are exact for whole numbers up to here


def whole(low: int = -HUGE, high: int | None = HUGE) -> Any:
    """Make the type of whole numbers within bounds, without an upper one for None. True and False are not numbers."""
    return Annotated[int, Field(ge=low, le=high)]


def matching(pattern: str, what: str) -> Any:
    """Make the type of texts that a regular expression matches as a whole; `what` names them in errors."""

    def check_text(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"should be {what}")
        return text

    return Annotated[str, AfterValidator(check_text)]


def _check_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("should be a text on one line")
    return text


Line = Annotated[str, AfterValidator(_check_line)]


def a_list(kind: Any, least: int = 0, most: int | None = None) -> Any:
    """Make the type of lists of `least` to `most` items."""
    return Annotated[list[kind], Field(min_length=least, max_length=most)]


def a_map(key: Any, kind: Any, least: int = 0) -> Any:
    """Make the type of objects with at least `least` keys, all of one kind, and values of another."""
    return Annotated[dict[key, kind], Field(min_length=least)]


def a_record(needed: Mapping[str, Any], others: Mapping[str, Any] | None = None, more: bool = True) -> Schema:
    """Make the schema of objects with all `needed` keys, any of the `others` and, with `more`, unknown ones."""
    config = ConfigDict(strict=True, extra="ignore" if more else "forbid")
    fields: dict[str, Any] = {key: (kind, ...) for key, kind in needed.items()}
    fields |= {key: (kind, None) for key, kind in (others or {}).items()}
    return create_model("Record", __config__=config, **fields)


def check(schema: Schema, value: Any, place: str = "") -> None:
    """Raise ValueError, with a sentence that names the place, unless a value agrees with a schema."""
    try:
        schema.__pydantic_validator__.validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        is_unknown_key = first["type"] == "extra_forbidden" and len(first["loc"]) == 1
        keys = f"; the keys are {', '.join(schema.model_fields)}" if is_unknown_key else ""
        raise ValueError(sentence_of(error, place) + keys) from None


def sentence_of(error: Exception, place: str = "", names: Mapping[str, str] | None = None) -> str:
    """Describe an error on one line, shortened; of a value that a schema refuses, with its place.

    With `names`, from fields to the names of options, the place is an option.
    """
    if not isinstance(error, ValidationError):
        return one_line(str(error), LONGEST)
    first = error.errors(include_url=False)[0]
    sentence = first["msg"].removeprefix("Value error, ")
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
    if names and first["loc"]:
        path = names.get(str(first["loc"][0]), str(first["loc"][0]))
    where = f"{place}{path}".lstrip(".") or "all of it"
    if first["type"] == "missing":
        sentence = f"{where} is missing"
    elif first["type"] == "extra_forbidden":
        sentence = f"{where} is not known"
    elif should := _SHOULD.match(sentence):
        wanted = "be an object" if first["type"] == "model_type" else should[1]
        sentence = f"{where} should {wanted}, not {shown(first['input'])}"
    return one_line(sentence, LONGEST)
