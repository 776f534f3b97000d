"""Pictures of a game as files: PNG, and animated GIF."""

from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any

import numpy as np

from krypenv.inputs.words import to_install
from krypenv.pictures.drawing import Pixels

_COLOURS = 96  # of a GIF
_SAMPLED = 8  # of its first pictures say which
_LAST = 5  # times as long as the others the last picture of a GIF stays


def png_of(pixels: Pixels) -> bytes:
    """Return a picture, (H, W, 3) uint8, as a PNG file."""
    file = io.BytesIO()
    _pillow().fromarray(pixels).save(file, "PNG", optimize=True)
    return file.getvalue()


def gif_of(pictures: Iterable[Pixels], seconds: float = 1.0) -> bytes:
    """Return pictures of one size, (H, W, 3) uint8 each, as a GIF file that repeats.

    `seconds` is how long each of them is shown; the last one is shown five times as long. Raises ValueError if there
    is no picture.
    """
    image = _pillow()
    source = iter(pictures)
    beginning = list(islice(source, _SAMPLED))
    if not beginning:
        raise ValueError("a GIF is made of one picture at least")
    palette = image.fromarray(np.concatenate(beginning)).quantize(_COLOURS)
    first, *rest = (
        image.fromarray(each).quantize(palette=palette, dither=image.Dither.NONE) for each in chain(beginning, source)
    )
    times = [round(1000 * seconds)] * len(rest) + [round(1000 * seconds * _LAST)]
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=rest, duration=times, loop=0, optimize=True)
    return file.getvalue()


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"pictures are stored by pillow, which is not installed; {to_install('render')}", name="PIL"
        ) from None
    return Image
