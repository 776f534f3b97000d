"""Artifacts: arrays in a safetensors file, with JSON values about them, a format version and a digest.

They are files of one's own runs. What agrees with its digest and is of the right kind and version is trusted: kernels
follow its indices without bounds checks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from pydantic_core import from_json
from safetensors import SafetensorError

from krypenv.inputs.files import read_file, write_whole
from krypenv.inputs.words import shown

Arrays = Mapping[str, np.ndarray]


def _encode(arrays: Arrays, about: Mapping[str, Any]) -> bytes:
    """Encode arrays and plain values in one entry of metadata, as safetensors writes several in no fixed order."""
    return safetensors.numpy.save(dict(arrays), {"about": json.dumps(about)})


def encode_artifact(kind: str, version: int, arrays: Arrays, about: Mapping[str, Any]) -> bytes:
    """Encode an artifact as bytes: the same ones for the same contents."""
    arrays = {name: np.array(array, order="C", ndmin=0) for name, array in arrays.items()}
    header = {"kind": kind, "version": version, **about}
    return _encode(arrays, {**header, "sha256": hashlib.sha256(_encode(arrays, header)).hexdigest()})


def write_artifact(path: Path, kind: str, version: int, arrays: Arrays, about: Mapping[str, Any]) -> None:
    """Write an artifact, whole or not at all."""
    write_whole(path, encode_artifact(kind, version, arrays, about))


def read_artifact(path: Path, kind: str, version: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read an artifact: its arrays by name, and the plain values about them.

    Raises OSError if it can't be read, and ValueError with one sentence and its name if it is torn, was changed, or is
    of another kind or version.
    """
    data = read_file(path)
    try:
        arrays = safetensors.numpy.load(data)
        header = from_json(data[8 : 8 + int.from_bytes(data[:8], "little")])
        about = from_json(header["__metadata__"]["about"])
        sha256 = about.pop("sha256")
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path} is torn, or no {kind}; remove it, and the same command makes it anew") from None
    if sha256 != hashlib.sha256(_encode(arrays, about)).hexdigest():
        raise ValueError(f"{path} was changed: it does not agree with its digest; remove it to make it anew")
    stored = about.pop("kind", None), about.pop("version", None)
    if stored != (kind, version):
        raise ValueError(
            f"{path} is a {shown(stored[0])} of version {shown(stored[1])}, "
            f"and a {kind!r} of version {version} is wanted"
        )
    return arrays, about
