"""How the package is loaded, compiled and stopped.

lazy      names that are imported on first use
stopping  what Ctrl-C does
hashes    what the compiled code of a kernel depends on
lean      kernels that only kernels call get no machine code of their own; Numba's internals are used here alone
plain     the same kernels by Numba's public means, for a Numba with other internals
jit       kernels: compiled once, and cached under a hash of all that they depend on
threads   parts of one call on several threads
workers   processes that never run the main module
"""
