"""Settings for all tests."""

import numba
import numpy as np

if numba.config.DISABLE_JIT:  # as plain Python, numpy warns where the random streams wrap around
    np.seterr(over="ignore")
