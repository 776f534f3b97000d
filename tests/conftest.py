"""Settings for all tests."""

import signal

import numpy as np

from krypenv.jit import JIT_IS_OFF

if JIT_IS_OFF:  # as plain Python, numpy warns where the random streams wrap around
    np.seterr(over="ignore")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else what a test interrupts would never end
