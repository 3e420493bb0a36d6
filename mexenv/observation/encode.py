"""Writing observations: the kernels that fill the sections of `layouts.py`, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import ctz, popcount, wide
from mexenv.engine._jit import inner, kernel
from mexenv.engine._lanes import LARGEST, PLACES, put_bits, put_bytes, put_places
from mexenv.engine.deal import halves
from mexenv.engine.legal import place_seen
from mexenv.engine.score import hand_points

Record = Any
Array = Any


@inner
def score_gap(g: Record, t: int, o: int) -> int:
    """Match points of seat `t` minus those of seat `o`, as the `scores` section shows them."""
    return wide(min(max(np.rint((g.total[t] - g.total[o]) / (8.0 * st.POINT)), -127.0), 127.0))


@inner
def base_starts(r: Record) -> tuple[int, int, int, int, int, int, int, int, int, int, int]:
    """Where sections of `base` begin: table, ends, train_open, marker, length, double_order, stage,
    hand_size, unseen, lacks and passed.
    """  # noqa: D205  # the list is the summary
    seats = ask.n_seats(r)
    values = ask.n_values(r)
    table = values * (values + 1) >> 1
    ends = 2 * table
    train_open = ends + (seats + 1) * values
    marker = train_open + seats + 1
    length = marker + seats
    double_order = length + seats + 1
    stage = double_order + 2 * values
    hand_size = stage + 8 + values
    unseen = hand_size + seats + 1
    lacks = unseen + values
    passed = lacks + seats * values + 1 + 2 * seats
    return table, ends, train_open, marker, length, double_order, stage, hand_size, unseen, lacks, passed


@inner
def base_size(r: Record) -> int:
    """Entries of the layout `base`."""
    return base_starts(r)[10] + 2 * ask.n_seats(r) + 1


@inner
def _seen_from(bits: int, o: int, seats: int) -> int:
    """A bit set of trains or seats as seat `o` numbers them: its own first, the Mexican Train last."""
    everybody = (wide(1) << seats) - 1
    among = bits & everybody
    return (((among >> o) | (among << (seats - o))) & everybody) | (bits & ~everybody)


@inner
def _put_seats(out: Array, k: int, counts: Array, o: int, seats: int) -> None:
    """Write a count for each seat, that of seat `o` first; the vectors run past the end."""
    put_bytes(out, k, counts, o, seats)
    put_bytes(out, k + seats - o, counts, wide(0), seats)


@inner
def write_base(g: Record, r: Record, o: int, out: Array) -> int:
    """Write the `base` layout as seat `o` sees it.

    Sections are written in their order, since the vectors of each run into the next ones.

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
    tiles = values * (values + 1) >> 1
    engine = wide(g.engine)
    hidden = ask.opening_is_hidden(g, r)
    own = g.hand[o]

    for hi in range(values):
        put_bits(out, (hi * (hi + 1) >> 1), wide(own[hi]) & ((wide(2) << hi) - 1), values)
    k = tiles
    where = g.where[:]
    for first in range(0, tiles, PLACES):
        put_places(out, k + first, where, first, o, seats)
    out[k + (engine * (engine + 3) >> 1)] = trains + 1
    k = 2 * tiles

    for place in range(trains):
        t = o + place
        if place == seats:
            t = seats
        elif t >= seats:
            t -= seats
        put_bits(out, k + place * values, wide(g.end_mask[t]), values)
    k += trains * values
    put_bits(out, k, _seen_from(ask.open_trains(g, r, o), o, seats), trains)
    k += trains
    put_bits(out, k, _seen_from(wide(g.marker), o, seats), seats)
    k += seats
    _put_seats(out, k, g.length[:], o, trains - 1)
    out[k + seats] = min(wide(g.length[seats]), LARGEST)
    k += trains

    put_bits(out, k, wide(0), values)
    put_bits(out, k + values, wide(0), values)
    for q in range(wide(g.q_n)):
        v = wide(g.q_value[q])
        out[k + v] = q + 1
        out[k + values + v] = place_seen(wide(g.q_train[q]), o, seats) + 1
    k += 2 * values
    to_move = g.stage < st.ROUND_OVER and wide(g.mover) == o
    put_bits(out, k, wide(1) << (wide(g.stage) if to_move else 7), wide(8))
    k += 8
    drawn = wide(0)
    if g.drawn != 0 and to_move:
        hi, lo = halves(wide(g.drawn) - 1)
        drawn = (wide(1) << hi) | (wide(1) << lo)
    put_bits(out, k, drawn, values)
    k += values
    _put_seats(out, k, g.hand_n[:], o, seats)
    k += seats
    out[k] = min(wide(g.pile_end) - wide(g.pile_next), LARGEST)
    k += 1
    for v in range(values):
        out[k + v] = values - wide(g.laid[v]) - popcount(wide(own[v]))
    k += values
    for place in range(1, seats):
        t = o + place
        put_bytes(out, k, g.lacks[t if t < seats else t - seats], wide(0), values)
        k += values
    size = _write_tail(g, r, o, out, k)
    if hidden:
        _hide_chains(g, r, o, out)
    return size


@inner
def _write_tail(g: Record, r: Record, o: int, out: Array, k: int) -> int:
    """Write the sections of `base` from `engine` on, entry by entry; returns the index after them."""
    seats = ask.n_seats(r)
    values = ask.n_values(r)
    end = k + values + 2 + 4 * seats
    for i in range(k, end):
        out[i] = 0
    out[k + wide(g.engine)] = 1
    k += values
    out[k] = ask.rounds(r) - wide(g.round_index)
    k += 1
    out[k + place_seen(wide(g.starter), o, seats)] = 1
    k += seats
    if g.stage < st.ROUND_OVER:
        out[k + place_seen(wide(g.mover), o, seats)] = 1
    k += seats
    passed = _seen_from(wide(g.passed), o, seats)
    while passed:
        out[k + ctz(passed)] = 1
        passed &= passed - 1
    k += seats
    if g.scored:
        for place in range(1, seats):
            t = o + place
            out[k + place] = score_gap(g, t if t < seats else t - seats, o)
    out[k + seats] = min(hand_points(g, r, o) >> 1, LARGEST)
    return end


@inner
def _hide_chains(g: Record, r: Record, o: int, out: Array) -> None:
    """Take out what a hidden opening does not show yet: the other seats' trains, as if they had not begun."""
    seats = ask.n_seats(r)
    values = ask.n_values(r)
    starts = base_starts(r)
    table_at, ends_at, open_at, marker_at, length_at, double_at = starts[:6]
    sizes_at, unseen_at, lacks_at, passed_at = starts[7:]
    table = out[table_at:ends_at]
    unseen = out[unseen_at:lacks_at]
    for i in range(wide(g.n_laid)):
        tile = wide(g.order[i])
        if wide(g.where[tile]) - 1 != o:
            table[tile] = 0
            hi, lo = halves(tile)
            unseen[hi] += 1
            if lo != hi:
                unseen[lo] += 1
    # While chains are hidden, whether the Mexican Train may be started could tell of them.
    out[open_at + seats] = 0
    for place in range(1, seats):
        t = o + place if o + place < seats else o + place - seats
        _put_exactly(out, ends_at + place * values, wide(1) << wide(g.engine), values)
        out[open_at + place] = 0
        out[marker_at + place] = 0
        out[length_at + place] = 0
        out[sizes_at + place] = min(wide(g.hand_n[t]) + wide(g.length[t]), LARGEST)
        _put_exactly(out, lacks_at + (place - 1) * values, wide(0), values)
        out[passed_at + place] = 0
    _put_exactly(out, double_at, wide(0), 2 * values)
    waiting = 0
    for q in range(wide(g.q_n)):
        if wide(g.q_train[q]) == o:
            waiting += 1
            out[double_at + wide(g.q_value[q])] = waiting
            out[double_at + values + wide(g.q_value[q])] = 1


@inner
def _put_exactly(out: Array, at: int, bits: int, count: int) -> None:
    """Write a bit set as 0s and 1s, `count` entries and no more."""
    for i in range(count):
        out[at + i] = (bits >> i) & 1


@inner
def put_scaled(row: Array, scale: Array, out: Array, begin: int, end: int) -> None:
    """Write the scaled form of the entries `begin` to `end` - 1 of a row of whole numbers."""
    for j in range(begin, end):
        out[j] = np.float32(row[j]) * scale[j]


@inner
def write_observation(
    g: Record, r: Record, o: int, i: int, row: Array, scale: Array, whole: Array, scaled: Array
) -> None:
    """Write the `base` part of an observation in one of its two forms.

    Args:
        g: the game.
        r: the ruleset.
        o: the observing seat.
        i: which row to write.
        row: int8 [size], scratch.
        scale: float32 [size], factors of the float32 form.
        whole: int8 [n, size] for whole numbers, or [0, size].
        scaled: float32 [n, size] for scaled ones, or [0, size].
    """
    floats = scaled.shape[0] > 0
    size = write_base(g, r, o, row if floats else whole[i])
    if floats:
        put_scaled(row, scale, scaled[i], wide(0), size)


@kernel
def observe_games(
    games: Array, rules: Array, which: Array, seats: Array, scale: Array, whole: Array, scaled: Array
) -> None:
    """Write the `base` part of observations; row j shows game `which[j]`.

    Args:
        games: records [n].
        rules: ruleset record [1].
        which: int64 [m], the games to observe.
        seats: int64 [m], the observing seat in each, -1 for the mover.
        scale: float32 [size].
        whole: int8 [m, size] or [0, size], see `write_observation`.
        scaled: float32 [m, size] or [0, size].

    Raises:
        IndexError: there is no such game or seat.
    """
    r = rules[0]
    row = np.empty(scale.shape[0], np.int8)
    for j in range(which.shape[0]):
        o = observer_of(games, r, which[j], seats[j])
        write_observation(games[which[j]], r, o, j, row, scale, whole, scaled)


@inner
def observer_of(games: Array, r: Record, game: int, seat: int) -> int:
    """The observing seat (-1: the mover) of a game, both checked: a wrong index would read other memory."""
    if game < 0 or game >= games.shape[0] or seat < -1 or seat >= ask.n_seats(r):
        raise IndexError("there is no such game or no such seat to observe")
    return seat if seat >= 0 else wide(games[game].mover)


@kernel
def write_hidden(games: Array, rules: Array, which: Array, out: Array) -> None:
    """Write the other seats' hands as tile bits, clockwise from the mover: int8 [m, (players-1) * tiles]."""
    r = rules[0]
    seats = ask.n_seats(r)
    values = ask.n_values(r)
    tiles = values * (values + 1) >> 1
    out[:] = 0
    for i in range(which.shape[0]):
        observer_of(games, r, which[i], -1)
        g = games[which[i]]
        for place in range(1, seats):
            s = (wide(g.mover) + place) % seats
            row = out[i, (place - 1) * tiles : place * tiles]
            for hi in range(values):
                partners = wide(g.hand[s, hi]) & ((wide(1) << (hi + 1)) - 1)
                first = hi * (hi + 1) >> 1
                while partners:
                    row[first + ctz(partners)] = 1
                    partners &= partners - 1
