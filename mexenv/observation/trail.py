"""Search for the best trail: the longest, heaviest run of own tiles from the end of a train.

Values are the vertices of a graph and the tiles of a hand its edges, so what can be laid in a row
without anybody's help is a *trail*: values may repeat, tiles may not. Finding the best one is a
depth-first search, cheap for the hands of this game and cut off after a number of nodes for the huge
ones. Everything here is compiled, releases the GIL and allocates only small scratch arrays.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from mexenv.engine._intrinsics import ctz
from mexenv.engine._jit import inner, kernel

DISCOUNT: Final = 0.92
"""Weight of a later tile's pips against the one before it."""
LENGTH_BONUS: Final = 8.0
"""What one more tile on the trail is worth, in pips."""
MAX_NODES: Final = 200
"""Search nodes after which the best trail found so far is taken."""
MAX_TRAIL: Final = 64
"""Longest trail that the search follows; hands that hold a longer one are out of any game's reach."""

_EPSILON: Final = 1e-9
_HALF_BITS: Final = 10
_TOP_BIT: Final[NDArray[np.int64]] = np.array(
    [max(x, 1).bit_length() - 1 for x in range(1 << _HALF_BITS)], np.int64
)


@kernel
def top_bit(mask: int) -> int:
    """Place of the highest set bit of a mask of at most 20 bits (0 for an empty mask)."""
    high = mask >> _HALF_BITS
    if high:
        return int(_TOP_BIT[high]) + _HALF_BITS
    return int(_TOP_BIT[mask])


@inner
def flip_tile(hand: NDArray[np.int32], a: int, b: int) -> None:
    """Take the tile ``a-b`` out of the partner masks ``hand``, or put it back."""
    hand[a] ^= np.int32(1 << b)
    if a != b:
        hand[b] ^= np.int32(1 << a)


@kernel
def best_trail(
    hand: NDArray[np.int32],
    ends_mask: int,
    max_nodes: int,
    out: NDArray[np.int16],
    d: float,
    lam: float,
) -> tuple[float, int, float]:
    """Find the trail that maximises ``sum(pips[i] * d**i) + lam * length``.

    A double extends its value and leaves the same value open. Tiles are tried heaviest first, doubles
    before all, so that a search that is cut off has already seen the promising trails. The result
    depends on the arguments only.

    Args:
        hand: int32[V], bit ``w`` of ``hand[v]`` set if the tile ``v-w`` is held (so both ``hand[v]`` and
            ``hand[w]`` show it). Changed during the search and restored on return.
        ends_mask: bit ``v`` set if the trail may begin at value ``v``; 0 if it cannot begin at all.
        max_nodes: search nodes (positions visited) after which the search stops, at least 1.
        out: int16[MAX_TRAIL], receives the tile indices in the order of laying.
        d: discount of each further tile, in (0, 1].
        lam: value of each tile laid, apart from its pips; positive.

    Returns:
        value of the best trail, its number of tiles, and the discounted pips in that value.
    """
    # One block of scratch each: an allocation costs as much as ten search nodes.
    whole = np.empty(3 * MAX_TRAIL, np.int64)
    at, todo, step = whole[:MAX_TRAIL], whole[MAX_TRAIL : 2 * MAX_TRAIL], whole[2 * MAX_TRAIL :]
    real = np.empty(3 * MAX_TRAIL, np.float64)
    value, pips, weight = real[:MAX_TRAIL], real[MAX_TRAIL : 2 * MAX_TRAIL], real[2 * MAX_TRAIL :]
    one = np.int64(1)

    best_value = 0.0
    best_length = 0
    best_pips = 0.0
    nodes = 0
    starts = np.int64(ends_mask)
    while starts:
        start = top_bit(int(starts))
        starts ^= one << start
        if hand[start] == 0:
            continue
        i = 0  # tiles laid so far
        at[0] = start
        value[0] = 0.0
        pips[0] = 0.0
        weight[0] = 1.0
        fresh = True
        while True:
            v = at[i]
            if fresh:
                nodes += 1
                # A tile after which nothing fits ends the trail, whichever it is: of those only the
                # heaviest matters, and it needs no node of its own.
                last = -1
                going_on = np.int64(0)
                partners = np.int64(hand[v])
                while partners:
                    w = ctz(int(partners))
                    partners &= partners - 1
                    if np.int64(hand[w]) & ~(one << v):
                        going_on |= one << w
                    else:
                        last = w
                here_value = value[i]
                here_pips = pips[i]
                if last >= 0:
                    here_pips += weight[i] * (v + last)
                    here_value += weight[i] * (v + last) + lam
                if here_value > best_value + _EPSILON:
                    best_value = here_value
                    best_pips = here_pips
                    best_length = i
                    for k in range(i):
                        a = max(at[k], step[k])
                        out[k] = a * (a + 1) // 2 + min(at[k], step[k])
                    if last >= 0:
                        a = max(v, last)
                        out[i] = a * (a + 1) // 2 + min(v, last)
                        best_length += 1
                todo[i] = going_on
            if todo[i] and nodes < max_nodes and i < MAX_TRAIL - 1:
                w = v if (todo[i] >> v) & 1 else top_bit(int(todo[i]))
                todo[i] ^= one << w
                flip_tile(hand, v, w)
                step[i] = w
                gain = weight[i] * (v + w)
                value[i + 1] = value[i] + gain + lam
                pips[i + 1] = pips[i] + gain
                weight[i + 1] = weight[i] * d
                at[i + 1] = w
                i += 1
                fresh = True
            elif i == 0:
                break
            else:
                i -= 1
                flip_tile(hand, at[i], step[i])
                fresh = False
    return best_value, best_length, best_pips
