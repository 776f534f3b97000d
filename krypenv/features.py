"""The features block and its layout: `krypenv.kernels.features`."""

from krypenv.kernels.features import COLUMNS as COLUMNS
from krypenv.kernels.features import DESCRIPTIONS as DESCRIPTIONS
from krypenv.kernels.features import SIZE as SIZE
from krypenv.kernels.features import WIDTH as WIDTH
from krypenv.kernels.features import append_features as append_features
from krypenv.kernels.features import columns_of as columns_of
from krypenv.kernels.features import shape_of as shape_of
