"""How the package is loaded, compiled and stopped.

lazy      names that are imported on first use
stopping  what Ctrl-C does
jit       kernels: compiled once, and cached under a hash of all that they depend on
lean      kernels that only kernels call get no machine code of their own
threads   parts of one call on several threads
"""
