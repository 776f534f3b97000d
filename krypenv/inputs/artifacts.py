"""Artifacts: arrays in a safetensors file, with what they are, the version of their format, and a digest of it all.

Files of one's own runs. What agrees with its digest is checked for its kind and version, and otherwise believed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from krypenv.inputs.files import parse_json, read_file, write_whole
from krypenv.inputs.words import shown

Arrays = Mapping[str, np.ndarray]
_ABOUT = "about"  # the only entry of the file's metadata: safetensors writes several in no fixed order


class Artifact(NamedTuple):
    """Arrays by name, and plain JSON values that say what they are."""

    arrays: dict[str, np.ndarray]
    about: dict[str, Any]


def digest_of(arrays: Arrays, about: Mapping[str, Any]) -> str:
    """Return the SHA-256 of arrays by name, their types and shapes, and of plain values."""
    names = sorted(arrays)
    parts = [[name, str(arrays[name].dtype), list(arrays[name].shape)] for name in names]
    found = hashlib.sha256(json.dumps([parts, about], sort_keys=True).encode())
    for name in names:
        found.update(np.ascontiguousarray(arrays[name]).tobytes())
    return found.hexdigest()


def encode_artifact(kind: str, version: int, arrays: Arrays, about: Mapping[str, Any]) -> bytes:
    """Return the bytes of an artifact: the same bytes for the same contents."""
    arrays = {name: np.array(array, order="C", ndmin=0) for name, array in arrays.items()}
    facts = {"kind": kind, "version": version, **about}
    return safetensors.numpy.save(arrays, {_ABOUT: json.dumps({**facts, "sha256": digest_of(arrays, facts)})})


def write_artifact(path: Path, kind: str, version: int, arrays: Arrays, about: Mapping[str, Any]) -> None:
    """Write an artifact, whole or not at all."""
    write_whole(path, encode_artifact(kind, version, arrays, about))


def read_artifact(path: Path, kind: str, version: int) -> Artifact:
    """Return the contents of an artifact.

    Raises OSError if it can't be read, and ValueError with one sentence and its name if it is torn, was changed, or is
    of another kind or version.
    """
    return parse_artifact(read_file(path), path, kind, version)


def parse_artifact(data: bytes, path: Path, kind: str, version: int) -> Artifact:
    """Return the contents of an artifact from its bytes; raises ValueError as `read_artifact` does."""
    try:
        arrays = safetensors.numpy.load(data)
        header = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")])
        about = parse_json(header["__metadata__"][_ABOUT], infinite=True)
        known = about.pop("sha256")
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is torn, or no {kind}; remove it, and the same command makes it anew") from None
    if known != digest_of(arrays, about):
        raise ValueError(f"{path} was changed: it does not agree with its digest; remove it to make it anew")
    found = about.pop("kind", None), about.pop("version", None)
    if found != (kind, version):
        raise ValueError(
            f"{path} is a {shown(found[0])} of version {shown(found[1])}, and a {kind!r} of version {version} is wanted"
        )
    return Artifact(arrays, about)
