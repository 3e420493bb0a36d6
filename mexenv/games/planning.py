"""The planner: knows what it could lay on its own train without help, and protects that.

Its plan is the best trail of its hand from the end of its own train. Every legal play is scored by what it
leaves: the value of the best trail after it, the points it takes out of the hand, and a few terms for
doubles, the own marker and the end of the round. So tiles that are on no trail go to other trains first,
heaviest first, and the next trail tile is laid where nothing else can be done with profit.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import wide
from mexenv.engine._jit import inner
from mexenv.engine.deal import halves
from mexenv.engine.score import tile_points
from mexenv.observation.encode import base_starts
from mexenv.observation.trail import DISCOUNT, LENGTH_BONUS, MAX_NODES, best_trail, flip_tile

Record = Any
Array = Any

# What a play is worth, in pips. Tuned by hand on duplicate deals of dominos_cc.
WEIGHTS: Final = np.array(
    [
        1.0,  # 0: the best trail after the play
        1.0,  # 1: the points of the tile
        7.0,  # 2: a double, with a tile in hand that can follow it
        0.0,  # 3: a double without one
        12.0,  # 4: the own marker comes down
        0.5,  # 5: on the own train
        0.5,  # 6: instead of 0, while somebody holds two tiles or fewer
    ]
)


@inner
def plan_play(
    r: Record,
    ids: Array,
    plays: int,
    view: NDArray[np.int8],
    weights: NDArray[np.float64],
    hand: NDArray[np.int32],
    trail: NDArray[np.int16],
) -> int:
    """The play that leaves the planner best off, the lowest id among equals.

    Args:
        r: the ruleset.
        ids: int16, the plays first; they are sorted.
        plays: how many, at least 1.
        view: int8, an observation of the mover that begins with the layout `base`.
        weights: float64 [7], `WEIGHTS`.
        hand: int32 [n_values], scratch.
        trail: int16 [MAX_TRAIL], scratch.
    """
    if plays == 1:
        return wide(ids[0])
    _sort(ids, plays)
    values = ask.n_values(r)
    seats = ask.n_seats(r)
    starts = base_starts(r)
    ends_at, marker_at, stage_at, sizes_at = starts[1], starts[3], starts[6], starts[7]
    tile = 0
    hand[:] = 0
    for high in range(values):
        for low in range(high + 1):
            if view[tile]:
                flip_tile(hand, high, low)
            tile += 1
    ends = wide(0)
    for v in range(values):
        if view[ends_at + v]:
            ends |= wide(1) << v
    hurry = False
    for seat in range(1, seats):
        hurry = hurry or view[sizes_at + seat] <= 2
    trail_weight = weights[6] if hurry else weights[0]
    cautious = view[stage_at + st.OPENING] == 0 and view[sizes_at] > 1

    best = wide(-1)
    best_score = -1e30
    for i in range(plays):
        action = wide(ids[i])
        hi, lo = halves(ask.pair_tile(r, action))
        own = ask.pair_place(r, action) == 0
        after = ends
        if own and ask.two_ways(r):
            joined = hi if ask.pair_joins_high(r, action, True) else lo
            after = (ends & ~(wide(1) << joined)) | (wide(1) << (hi + lo - joined))
        elif own:
            after = (((ends >> hi) & 1) << lo) | (((ends >> lo) & 1) << hi)
        flip_tile(hand, hi, lo)
        value, _, _ = best_trail(hand, after, MAX_NODES, trail, DISCOUNT, LENGTH_BONUS)
        score = trail_weight * value + weights[1] * tile_points(r, ask.pair_tile(r, action))
        if hi == lo and cautious:
            score += weights[2] if hand[hi] else weights[3]
        flip_tile(hand, hi, lo)
        if own:
            score += weights[5]
            if view[marker_at]:
                score += weights[4]
        if score > best_score + 1e-9:
            best_score = score
            best = action
    return best


@inner
def _sort(ids: Array, count: int) -> None:
    """Sort the first few entries, so that ties are decided the same way whoever made the list."""
    for i in range(1, count):
        action = ids[i]
        k = i
        while k > 0 and ids[k - 1] > action:
            ids[k] = ids[k - 1]
            k -= 1
        ids[k] = action
