"""How the package is loaded, compiled and stopped.

lazy      names of a package that are imported when they are first asked for
stopping  what Ctrl-C does
jit       kernels: compiled once, and kept under a hash of all that they are made of
lean      kernels that only kernels call are not made machine code by themselves
threads   parts of one call on several threads
"""
