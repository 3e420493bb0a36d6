"""Writing observations: the kernels that fill the sections of `layouts.py`, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._jit import ctz, kernel, popcount, wide
from mexenv.engine.deal import halves
from mexenv.engine.score import hand_points
from mexenv.observation.trail import DISCOUNT, LENGTH_BONUS, MAX_NODES, MAX_TRAIL, best_trail, flip_tile

Record = Any
Array = Any


@kernel
def base_size(r: Record) -> int:
    """Entries of the `base` layout."""
    p, v = ask.n_seats(r), ask.n_values(r)
    tiles = v * (v + 1) // 2
    return 2 * tiles + (p + 1) * (v + 2) + p * 6 + 8 + v * 5 + 3 + (p - 1) * v


@kernel
def score_gap(g: Record, t: int, o: int) -> int:
    """Match points of seat `t` minus those of seat `o`, as the `scores` section shows them."""
    return wide(min(max(np.rint((g.total[t] - g.total[o]) / (8.0 * st.POINT)), -127.0), 127.0))


@kernel
def write_base(g: Record, r: Record, o: int, out: Array) -> int:
    """Write the `base` layout as seat `o` sees it.

    Args:
        g: the game.
        r: the ruleset.
        o: the observing seat.
        out: int8 [>= size of `base`], overwritten from the front.

    Returns:
        The number of entries written.
    """
    seats = ask.n_seats(r)
    trains = seats + 1
    values = ask.n_values(r)
    tiles = values * (values + 1) // 2
    stage = wide(g.stage)
    mover = wide(g.mover)
    over = stage >= st.ROUND_OVER
    engine = wide(g.engine)
    out[: base_size(r)] = 0

    # Sub-slices: an index into one costs half of an index with an offset into the whole.
    own = g.hand[o]
    hand = out[0:tiles]
    unseen_at = 2 * tiles + trains * (values + 2) + 2 * seats + 3 * values + 9
    unseen = out[unseen_at : unseen_at + values]
    first = 0
    for hi in range(values):
        held = wide(own[hi])
        unseen[hi] = values - wide(g.laid[hi]) - popcount(held)
        partners = held & ((wide(2) << hi) - 1)
        while partners:
            hand[first + ctz(partners)] = 1
            partners &= partners - 1
        first += hi + 1
    k = tiles

    table = out[k : k + tiles]
    order = g.order
    where = g.where
    hidden = ask.opening_is_hidden(g, r)
    for i in range(wide(g.n_laid)):
        tile = wide(order[i])
        if hidden and wide(where[tile]) - 1 != o:
            hi, lo = halves(tile)
            unseen[hi] += 1
            if lo != hi:
                unseen[lo] += 1
            continue
        place = wide(where[tile]) - 1 - o
        if place + o == seats:
            place = seats
        elif place < 0:
            place += seats
        table[tile] = place + 1
    table[engine * (engine + 3) // 2] = trains + 1
    k += tiles

    ends_out = out[k : k + trains * values]
    k += trains * values
    open_out = out[k : k + trains]
    k += trains
    marker_out = out[k : k + seats]
    k += seats
    length_out = out[k : k + trains]
    k += trains
    hand_at = k + 3 * values + 8
    sizes_out = out[hand_at : hand_at + seats]
    lacks_at = unseen_at + values
    passed = wide(g.passed)
    tail_at = lacks_at + (seats - 1) * values + values + 1
    starter = wide(g.starter) - o
    out[tail_at + (starter if starter >= 0 else starter + seats)] = 1
    if not over:
        place = mover - o
        out[tail_at + seats + (place if place >= 0 else place + seats)] = 1
    passed_out = out[tail_at + 2 * seats : tail_at + 3 * seats]
    scores_out = out[tail_at + 3 * seats : tail_at + 4 * seats]
    own_total = g.total[o]
    open_trains = ask.open_trains(g, r, o)
    for place in range(trains):
        t = seats
        if place < seats:
            t = o + place
            if t >= seats:
                t -= seats
        ends = wide(g.end_mask[t])
        row = ends_out[place * values : (place + 1) * values]
        if hidden and 0 < place < seats:
            # Another seat's chain: nothing shows, as if it had not begun.
            row[engine] = 1
            sizes_out[place] = min(wide(g.hand_n[t]) + wide(g.length[t]), 127)
            if g.total[t] != own_total:
                scores_out[place] = score_gap(g, t, o)
            continue
        while ends:
            row[ctz(ends)] = 1
            ends &= ends - 1
        # While chains are hidden, whether the Mexican Train may be started could tell of them.
        open_out[place] = (open_trains >> t) & 1 and not (hidden and place == seats)
        length_out[place] = min(wide(g.length[t]), 127)
        if place == seats:
            break
        marker_out[place] = g.marker[t]
        held = min(wide(g.hand_n[t]), 127)
        sizes_out[place] = held
        if (passed >> t) & 1:
            passed_out[place] = 1
        if g.total[t] != own_total:
            scores_out[place] = score_gap(g, t, o)
        if place > 0:
            since_of = g.lack_since[t]
            lacks = out[lacks_at + (place - 1) * values : lacks_at + place * values]
            for v in range(values):
                lacks[v] = max(held - wide(since_of[v]), 0)

    waiting = 0
    for q in range(wide(g.q_n)):
        v = wide(g.q_value[q])
        if hidden and wide(g.q_train[q]) != o:
            continue
        place = wide(g.q_train[q]) - o
        if place + o == seats:
            place = seats
        elif place < 0:
            place += seats
        waiting += 1
        out[k + v] = waiting
        out[k + values + v] = place + 1
    k += 2 * values
    out[k + (7 if over or mover != o else stage)] = 1
    k += 8
    if g.drawn != 0 and mover == o:
        hi, lo = halves(wide(g.drawn) - 1)
        out[k + hi] = 1
        out[k + lo] = 1
    out[unseen_at - 1] = min(wide(g.pile_end) - wide(g.pile_next), 127)
    out[lacks_at + (seats - 1) * values + engine] = 1
    out[tail_at - 1] = ask.rounds(r) - wide(g.round_index)
    out[tail_at + 4 * seats] = min(hand_points(g, r, o) // 2, 127)
    return tail_at + 4 * seats + 1


@kernel
def write_trails(g: Record, r: Record, o: int, out: Array, k: int) -> int:
    """Write the sections that `plan` adds to `base`, from index `k` on; returns the index after them."""
    values = ask.n_values(r)
    tiles = values * (values + 1) // 2
    own_len = out[k : k + tiles]
    own_pips = out[k + tiles : k + 2 * tiles]
    else_len = out[k + 2 * tiles : k + 3 * tiles]
    else_pips = out[k + 3 * tiles : k + 4 * tiles]
    place = out[k + 4 * tiles : k + 5 * tiles]
    summary = out[k + 5 * tiles : k + 5 * tiles + 3]
    out[k : k + 5 * tiles + 3] = 0

    hand = g.hand[o].copy()
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
            tile = hi * (hi + 1) // 2 + lo
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
def write_observation(g: Record, r: Record, o: int, plan: bool, out: Array) -> None:
    """Write a whole int8 observation, `plan` or `base`."""
    k = write_base(g, r, o, out)
    if plan:
        write_trails(g, r, o, out, k)


@kernel
def _observer(games: Array, r: Record, game: int, seat: int) -> int:
    """The observing seat (-1: the mover) of a game, both checked: a wrong index would read other memory."""
    if game < 0 or game >= games.shape[0] or seat < -1 or seat >= ask.n_seats(r):
        raise IndexError("there is no such game or no such seat to observe")
    return seat if seat >= 0 else wide(games[game].mover)


@kernel
def encode_int8(games: Array, rules: Array, which: Array, seats: Array, plan: bool, out: Array) -> None:
    """Write int8 observations.

    Args:
        games: records [n].
        rules: ruleset record [1].
        which: int64 [m], the games to observe.
        seats: int64 [m], the observing seat in each, -1 for the mover.
        plan: the `plan` layout instead of `base`.
        out: int8 [m, size].
    """
    r = rules[0]
    for i in range(which.shape[0]):
        o = _observer(games, r, which[i], seats[i])
        write_observation(games[which[i]], r, o, plan, out[i])


@kernel
def encode_float(
    games: Array, rules: Array, which: Array, seats: Array, plan: bool, scale: Array, out: Array
) -> None:
    """Write float32 observations: the int8 ones times `scale` (float32 [size]). See `encode_int8`."""
    r = rules[0]
    size = scale.shape[0]
    row = np.empty(size, np.int8)
    for i in range(which.shape[0]):
        o = _observer(games, r, which[i], seats[i])
        write_observation(games[which[i]], r, o, plan, row)
        target = out[i]
        for j in range(size):
            target[j] = row[j] * scale[j]


@kernel
def write_hidden(games: Array, rules: Array, which: Array, out: Array) -> None:
    """Write the other seats' hands as tile bits, clockwise from the mover: int8 [m, (players-1) * tiles]."""
    r = rules[0]
    seats = ask.n_seats(r)
    values = ask.n_values(r)
    tiles = values * (values + 1) // 2
    out[:] = 0
    for i in range(which.shape[0]):
        _observer(games, r, which[i], -1)
        g = games[which[i]]
        for place in range(1, seats):
            s = (wide(g.mover) + place) % seats
            row = out[i, (place - 1) * tiles : place * tiles]
            for hi in range(values):
                partners = wide(g.hand[s, hi]) & ((wide(1) << (hi + 1)) - 1)
                first = hi * (hi + 1) // 2
                while partners:
                    row[first + ctz(partners)] = 1
                    partners &= partners - 1
