"""Which actions the mover has: the action mask, and the end values that are open to it."""

from __future__ import annotations

from typing import Any

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._jit import ctz, kernel, wide
from mexenv.engine.deal import halves

Record = Any
Array = Any


@kernel
def _mark_tiles(g: Record, r: Record, mask: Array, t: int, ends: int, limited: bool) -> int:
    """Set the mask for the mover's tiles that fit `ends` on train `t`; returns how many.

    Args:
        g: the game.
        r: the ruleset.
        mask: int8 [n_actions].
        t: the train.
        ends: bit set of end values.
        limited: not every double may be laid.
    """
    s = wide(g.mover)
    seats = ask.n_seats(r)
    trains = seats + 1
    place = t - s
    if t == seats:
        place = seats
    elif place < 0:
        place += seats
    ways = ask.ways_to_join(r)
    halves_left = ask.joining_halves(r, ends)
    hand = g.hand[s]
    drawn = wide(g.drawn) - 1
    only_hi, only_lo = halves(drawn) if drawn >= 0 else (-1, -1)
    found = 0
    while halves_left:
        v = ctz(halves_left)
        halves_left &= halves_left - 1
        partners = wide(hand[v])
        if drawn >= 0:
            if v != only_hi and v != only_lo:
                continue
            partners = wide(1) << (only_hi + only_lo - v)
        first = v * (v + 1) // 2
        while partners:
            w = ctz(partners)
            partners &= partners - 1
            if limited and v == w and not ask.may_be_extra(g, r, s, v, t):
                continue
            low = w > v
            tile = w * (w + 1) // 2 + v if low else first + w
            mask[(tile * trains + place) * ways + (ways - 1) * low] = 1
            found += 1
    return found


@kernel
def open_ends(g: Record, r: Record, s: int, t: int) -> int:
    """Bit set of the values at which the mover `s` may play on train `t` now."""
    ends = wide(0)
    stage = g.stage
    if stage == st.OPENING or stage == st.CHAIN:
        return wide(1) << wide(g.chain_end) if t == wide(g.chain_train) else ends
    if stage == st.DRIVE:
        return drive_ends(g, r, s, t)
    bound = stage == st.COVER
    if stage == st.EXTRA or stage == st.THIRD:
        for q in range(wide(g.q_n)):
            if g.q_fresh[q] and wide(g.q_train[q]) == t:
                ends |= wide(1) << wide(g.q_value[q])
        if stage == st.THIRD or not ask.extra_goes_anywhere(r):
            return ends
        # Only a wild double laid as a cover leaves an older double in force during its extra.
        bound = ask.any_in_force(g, r)
    if bound:
        if ask.may_cover_on(g, r, s, t):
            for q in range(wide(g.q_n)):
                if wide(g.q_train[q]) == t and ask.is_in_force(g, r, q):
                    ends |= wide(1) << wide(g.q_value[q])
    elif (ask.open_trains(g, r, s) >> t) & 1:
        ends |= wide(g.end_mask[t])
    return ends


@kernel
def drive_ends(g: Record, r: Record, s: int, t: int) -> int:
    """Ends open on train `t` to the drive of seat `s`: its next stop, or the Mexican Train before that."""
    seats = ask.n_seats(r)
    at = wide(g.drive_at) - 1
    mexican_after = wide(g.mexican_seat) - 1
    passed = False
    for step in range(seats):
        stop = (s + step) % seats
        if passed and g.marker[stop]:
            return wide(g.end_mask[t]) if t == stop else wide(0)
        passed = passed or stop == at
        if stop == mexican_after:
            if passed and t == seats:
                return wide(g.end_mask[t])
            passed = passed or at == seats
    return wide(0)


@kernel
def write_mask(g: Record, r: Record, mask: Array) -> int:
    """Write the mover's action mask.

    Args:
        g: the game.
        r: the ruleset.
        mask: int8 [n_actions], overwritten: 1 for a legal action, 0 otherwise. All zero when
            the round is over.

    Returns:
        The number of legal actions.
    """
    mask[:] = 0
    if g.stage >= st.ROUND_OVER:
        return 0
    s = wide(g.mover)
    seats = ask.n_seats(r)
    draw = ask.n_pairs(r)
    plays = 0
    if g.stage == st.PLAY:
        trains = ask.open_trains(g, r, s)
        while trains:
            t = ctz(trains)
            trains &= trains - 1
            plays += _mark_tiles(g, r, mask, t, wide(g.end_mask[t]), False)
    else:
        limited = (g.stage == st.EXTRA or g.stage == st.THIRD) and ask.extra_doubles_limited(r)
        for t in range(seats + 1):
            ends = open_ends(g, r, s, t)
            if ends:
                plays += _mark_tiles(g, r, mask, t, ends, limited)
    if g.stage == st.OPENING or g.stage == st.CHAIN or g.stage == st.DRIVE:
        # Stopping is asked even when nothing fits, so that the question tells nothing.
        bound = g.stage == st.OPENING and g.turn_plays == 0 and ask.opening_must_start(r)
        if plays > 0 and bound:
            return plays
        mask[draw + 1] = 1
        return plays + 1
    if plays > 0:
        if g.drawn != 0:
            if ask.must_play_drawn(g, r):
                return plays
            mask[draw + 1] = 1
            return plays + 1
        if ask.must_play(r):
            return plays
    mask[draw if ask.may_draw(g, r) else draw + 1] = 1
    return plays + 1


@kernel
def prove_lack(g: Record, r: Record, s: int) -> None:
    """Note that seat `s` has just shown that no tile in its hand fits an end open to it.

    A double held back because it may not serve as an extra proves nothing about its value, so a
    value counts only once its double is seen.
    """
    limited = (g.stage == st.EXTRA or g.stage == st.THIRD) and ask.extra_doubles_limited(r)
    ends = wide(0)
    for t in range(ask.n_seats(r) + 1):
        ends |= open_ends(g, r, s, t)
    ends = ask.joining_halves(r, ends)
    while ends:
        v = ctz(ends)
        ends &= ends - 1
        if limited and g.where[v * (v + 3) // 2] == 0:
            continue
        g.lack_since[s, v] = 0
