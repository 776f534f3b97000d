"""Data sets of decisions, for offline learning.

columns  what a row holds
rows     the rows of some games
making   `krypenv data`
card     what a data set is, and the digests of its files
reading  its rows as arrays
"""

from typing import TYPE_CHECKING

from krypenv.runtime.lazy import importer

if TYPE_CHECKING:
    from krypenv.training.data.making import DataSettings, make_data
    from krypenv.training.data.reading import DataSet, load
else:
    __getattr__, __dir__ = importer(__name__, {"making": ("DataSettings", "make_data"), "reading": ("DataSet", "load")})

__all__ = ["DataSet", "DataSettings", "load", "make_data"]
