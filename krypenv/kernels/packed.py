"""Multisets of ranks packed into an integer, four bits a rank, and sets as bits."""

from __future__ import annotations

import numpy as np

from krypenv.kernels.compiled import NIBBLE
from krypenv.runtime.jit import kernel, leading_zeros, trailing_zeros

_LOW = 0x0F0F0F0F0F0F0F  # every second rank of a packed multiset
_GUARD = 0x10101010101010
ONES = 0x1111111111111  # bit 0 of every rank


@kernel
def bit_index(bit: int) -> int:
    """Return the position of the only set bit."""
    return trailing_zeros(np.int64(bit))


@kernel
def count_bits(bits: int) -> int:
    """Return the number of set bits, of up to 62."""
    bits -= bits >> 1 & 0x5555555555555555
    bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333)
    bits = (bits + (bits >> 4)) & 0x0F0F0F0F0F0F0F0F
    bits += bits >> 8
    bits += bits >> 16
    return (bits + (bits >> 32)) & 127


@kernel
def fits(part: int, whole: int) -> bool:
    """Return whether a packed multiset is contained in another."""
    even = ((whole & _LOW) | _GUARD) - (part & _LOW)
    odd = ((whole >> NIBBLE & _LOW) | _GUARD) - (part >> NIBBLE & _LOW)
    return even & odd & _GUARD == _GUARD


@kernel
def support(ranks: int) -> int:
    """Return the ranks in a packed multiset, as bits."""
    flags = (ranks | ranks >> 1 | ranks >> 2 | ranks >> 3) & ONES
    flags = (flags | flags >> 3) & 0x03030303030303
    flags = (flags | flags >> 6) & 0x000F000F000F000F
    flags = (flags | flags >> 12) & 0x000000FF000000FF
    return (flags | flags >> 24) & 0x1FFF


@kernel
def highest(ranks: int) -> int:
    """Return the index 0..12 of the highest rank in a multiset that is not empty."""
    return (63 - leading_zeros(np.int64(ranks))) // NIBBLE


@kernel
def highest_beyond(ranks: int, others: int) -> int:
    """Return the index 0..12 of the highest rank of which a multiset has more than another; there must be one."""
    even = ((others & _LOW) | _GUARD) - (ranks & _LOW)
    odd = ((others >> NIBBLE & _LOW) | _GUARD) - (ranks >> NIBBLE & _LOW)
    return highest((~even & _GUARD) >> NIBBLE | (~odd & _GUARD))


@kernel
def takes_whole_ranks(capture: int, table: int) -> bool:
    """Return whether a capture takes all cards of its ranks, so that it leaves no choice between kinds."""
    rest = table - capture
    left = (rest | rest >> 1 | rest >> 2 | rest >> 3) & ONES
    used = (capture | capture >> 1 | capture >> 2 | capture >> 3) & ONES
    return left & used == 0
