"""What the layout `plan` adds to `base`: trails that the hand allows, searched for each observation."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import ctz, wide
from mexenv.engine._jit import announced_compile, direct, inner, kernel
from mexenv.engine.deal import halves
from mexenv.observation.encode import base_size, observer_of, put_scaled
from mexenv.observation.trail import DISCOUNT, LENGTH_BONUS, MAX_NODES, MAX_TRAIL, best_trail, flip_tile

Array = Any
Record = Any


@inner
def write_trails(g: Record, r: Record, o: int, out: Array, k: int) -> int:
    """Write the sections that `plan` adds to `base`, from index `k` on; returns the index after them."""
    values = ask.n_values(r)
    tiles = values * (values + 1) >> 1
    own_len = out[k : k + tiles]
    own_pips = out[k + tiles : k + 2 * tiles]
    else_len = out[k + 2 * tiles : k + 3 * tiles]
    else_pips = out[k + 3 * tiles : k + 4 * tiles]
    place = out[k + 4 * tiles : k + 5 * tiles]
    summary = out[k + 5 * tiles : k + 5 * tiles + 3]
    out[k : k + 5 * tiles + 3] = 0

    hand = np.empty(values, np.int32)
    for v in range(values):
        hand[v] = g.hand[o, v]
    ends = wide(g.end_mask[o])
    plan = np.empty(MAX_TRAIL, np.int16)
    other = np.empty(MAX_TRAIL, np.int16)
    _, length, pips = best_trail(hand, ends, MAX_NODES, plan, DISCOUNT, LENGTH_BONUS)
    total = 0
    for i in range(length):
        tile = wide(plan[i])
        hi, lo = halves(tile)
        place[tile] = i + 1
        total += hi + lo
    summary[0] = min(wide(np.rint(pips)), 127)
    summary[1] = length
    summary[2] = min(total // 2, 127)

    for hi in range(values):
        partners = wide(g.hand[o, hi]) & ((wide(1) << (hi + 1)) - 1)
        while partners:
            lo = ctz(partners)
            partners &= partners - 1
            tile = (hi * (hi + 1) >> 1) + lo
            fits_hi = (ends >> hi) & 1
            fits_lo = (ends >> lo) & 1
            rest_len = length
            rest_pips = pips
            if place[tile] == 1 and not (fits_hi and fits_lo and hi != lo):
                own_len[tile] = length
                own_pips[tile] = summary[0]
                flip_tile(hand, hi, lo)
                _, rest_len, rest_pips = best_trail(hand, ends, MAX_NODES, other, DISCOUNT, LENGTH_BONUS)
                flip_tile(hand, hi, lo)
            elif place[tile] or fits_hi or fits_lo:
                flip_tile(hand, hi, lo)
                if place[tile]:
                    _, rest_len, rest_pips = best_trail(hand, ends, MAX_NODES, other, DISCOUNT, LENGTH_BONUS)
                if fits_hi or fits_lo:
                    next_ends = (fits_hi << lo) | (fits_lo << hi)
                    _, after_len, after_pips = best_trail(
                        hand, next_ends, MAX_NODES, other, DISCOUNT, LENGTH_BONUS
                    )
                    own_len[tile] = min(after_len + 1, 64)
                    own_pips[tile] = min(wide(np.rint(hi + lo + DISCOUNT * after_pips)), 127)
                flip_tile(hand, hi, lo)
            else_len[tile] = rest_len
            else_pips[tile] = min(wide(np.rint(rest_pips)), 127)
    return k + 5 * tiles + 3


@kernel
def plan_games(
    games: Array,
    rules: Array,
    which: Array,
    rows: Array,
    seats: Array,
    scale: Array,
    whole: Array,
    scaled: Array,
) -> None:
    """Write what the layout `plan` adds to `base`; apart, so that nobody else compiles or waits for it.

    Args:
        games: records [n].
        rules: ruleset record [1].
        which: int64 [m], the games to observe.
        rows: int64 [m], the rows to write.
        seats: int64 [m], the observing seat in each, -1 for the mover.
        scale: float32 [size].
        whole: int8 [rows, size] or [0, size], see `write_observation`.
        scaled: float32 [rows, size] or [0, size].

    Raises:
        IndexError: there is no such game or seat.
    """
    r = rules[0]
    begin = base_size(r)
    row = np.empty(scale.shape[0], np.int8)
    floats = scaled.shape[0] > 0
    for j in range(which.shape[0]):
        o = observer_of(games, r, which[j], seats[j])
        end = write_trails(games[which[j]], r, o, row if floats else whole[rows[j]], begin)
        if floats:
            put_scaled(row, scale, scaled[rows[j]], begin, end)


@cache
def plan_call(record: np.dtype[np.void]) -> Callable[..., None]:
    """`plan_games` for one dtype of records, compiled, and announced if that takes long."""
    words, line = np.zeros(1, np.int64), np.zeros((1, 1), np.float32)
    scale = line[0].copy()
    scale.flags.writeable = False
    with announced_compile(st.name_of_kernels("trail planning", record)):
        return direct(
            plan_games, np.zeros(1, record), np.zeros(1, st.RULES), words, words, words, scale,
            line.astype(np.int8), line,
        )  # fmt: skip
