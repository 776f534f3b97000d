"""Settings for all tests."""

import numpy as np

from krypenv.jit import JIT_IS_OFF

if JIT_IS_OFF:  # as plain Python, numpy warns where the random streams wrap around
    np.seterr(over="ignore")
