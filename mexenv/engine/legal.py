"""Which actions the mover has: their list and mask, and the end values that are open to it."""

from __future__ import annotations

from typing import Any

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import ctz, wide
from mexenv.engine._jit import inlined, inner
from mexenv.engine.deal import halves

Record = Any
Array = Any


@inlined
def _trains_asked(g: Record, r: Record, s: int) -> int:
    """Bit set of the trains on which the mover `s` may find an open end."""
    stage = g.stage
    if stage == st.PLAY:
        return ask.open_trains(g, r, s)
    if stage == st.OPENING or stage == st.CHAIN:
        return wide(1) << wide(g.chain_train)
    if stage == st.DRIVE:
        return (wide(2) << ask.n_seats(r)) - 1
    trains = wide(0)
    for q in range(wide(g.q_n)):
        trains |= wide(1) << wide(g.q_train[q])
    if stage == st.EXTRA and ask.extra_goes_anywhere(r):
        trains |= ask.open_trains(g, r, s)
    return trains


@inlined
def _list_tiles(g: Record, r: Record, ids: Array, count: int, t: int, joining: int, limited: bool) -> int:
    """Add the mover's tiles that join train `t` to the list; returns its new length.

    Args:
        g: the game.
        r: the ruleset.
        ids: int16 [n_actions].
        count: length of the list so far.
        t: the train.
        joining: bit set of values that join and that the mover holds.
        limited: not every double may be laid.
    """
    s = wide(g.mover)
    place = place_seen(t, s, ask.n_seats(r))
    listed = wide(0)
    while joining:
        v = ctz(joining)
        joining &= joining - 1
        # A tile that joins by both halves is one action, unless the ways to join are told apart.
        partners = wide(g.hand[s, v]) & ~listed
        if not ask.two_ways(r):
            listed |= wide(1) << v
        if limited and (partners >> v) & 1 and not ask.may_be_extra(g, r, s, v, t):
            partners &= ~(wide(1) << v)
        while partners:
            w = ctz(partners)
            partners &= partners - 1
            hi, lo = max(v, w), min(v, w)
            ids[count] = ask.pair_action(r, ((hi * (hi + 1)) >> 1) + lo, place, w > v)
            count += 1
    return count


@inlined
def _list_drawn(g: Record, r: Record, ids: Array, count: int, t: int, joining: int, limited: bool) -> int:
    """Add the tile just drawn, if it joins train `t` by one of the values `joining`; see `_list_tiles`."""
    tile = wide(g.drawn) - 1
    hi, lo = halves(tile)
    s = wide(g.mover)
    place = place_seen(t, s, ask.n_seats(r))
    if hi == lo and limited and not ask.may_be_extra(g, r, s, hi, t):
        return count
    by_high = (joining >> hi) & 1 != 0
    if by_high:
        ids[count] = ask.pair_action(r, tile, place, False)
        count += 1
    if hi != lo and (joining >> lo) & 1 and (ask.two_ways(r) or not by_high):
        ids[count] = ask.pair_action(r, tile, place, True)
        count += 1
    return count


@inlined
def _list_plays(g: Record, r: Record, ids: Array) -> int:
    """List the mover's plays; returns how many."""
    stage = g.stage
    s = wide(g.mover)
    held = wide(g.held[s])
    limited = (stage == st.EXTRA or stage == st.THIRD) and ask.extra_doubles_limited(r)
    count = wide(0)
    trains = _trains_asked(g, r, s)
    while trains:
        t = ctz(trains)
        trains &= trains - 1
        ends = wide(g.end_mask[t]) if stage == st.PLAY else open_ends(g, r, s, t)
        joining = ask.joining_halves(r, ends) & held
        if joining:
            if g.drawn == 0:
                count = _list_tiles(g, r, ids, count, t, joining, limited)
            else:
                count = _list_drawn(g, r, ids, count, t, joining, limited)
    return count


@inlined
def place_seen(t: int, s: int, seats: int) -> int:
    """Train `t` counted from seat `s`, the Mexican Train last."""
    return t if t == seats else (t - s if t >= s else t - s + seats)


@inner
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


@inner
def drive_ends(g: Record, r: Record, s: int, t: int) -> int:
    """Ends open on train `t` to the drive of seat `s`: its next stop, or the Mexican Train before that."""
    seats = ask.n_seats(r)
    at = wide(g.drive_at) - 1
    mexican_after = wide(g.mexican_seat) - 1
    passed = False
    for step in range(seats):
        stop = (s + step) % seats
        if passed and (wide(g.marker) >> stop) & 1:
            return wide(g.end_mask[t]) if t == stop else wide(0)
        passed = passed or stop == at
        if stop == mexican_after:
            if passed and t == seats:
                return wide(g.end_mask[t])
            passed = passed or at == seats
    return wide(0)


@inlined
def list_actions(g: Record, r: Record, ids: Array) -> int:
    """List the mover's legal actions.

    Args:
        g: the game.
        r: the ruleset.
        ids: int16 [n_actions], written from the front: plays in no particular order, then DRAW or PASS.

    Returns:
        The number of legal actions; 0 when the round is over.
    """
    stage = g.stage
    if stage >= st.ROUND_OVER:
        return 0
    draw = ask.n_pairs(r)
    plays = _list_plays(g, r, ids)
    if stage == st.OPENING or stage == st.CHAIN or stage == st.DRIVE:
        # Stopping is asked even when nothing fits, so that the question tells nothing.
        bound = stage == st.OPENING and g.turn_plays == 0 and ask.opening_must_start(r)
        if plays > 0 and bound:
            return plays
        ids[plays] = draw + 1
        return plays + 1
    if plays > 0:
        if g.drawn != 0:
            if ask.must_play_drawn(g, r):
                return plays
            ids[plays] = draw + 1
            return plays + 1
        if ask.must_play(r):
            return plays
    ids[plays] = draw if ask.may_draw(g, r) else draw + 1
    return plays + 1


@inner
def write_mask(ids: Array, count: int, mask: Array) -> None:
    """Write a list of actions as a mask.

    Args:
        ids: int16 [n_actions], action ids.
        count: how many of them count.
        mask: int8 [n_actions], overwritten: 1 for an action in the list, 0 otherwise.
    """
    mask[:] = 0
    for i in range(count):
        mask[ids[i]] = 1


@inner
def prove_lack(g: Record, r: Record, s: int) -> None:
    """Note that seat `s` has just shown that no tile in its hand fits an end open to it.

    A double held back because it may not serve as an extra proves nothing about its value, so a
    value counts only once its double is seen.
    """
    limited = (g.stage == st.EXTRA or g.stage == st.THIRD) and ask.extra_doubles_limited(r)
    ends = wide(0)
    trains = _trains_asked(g, r, s)
    while trains:
        ends |= open_ends(g, r, s, ctz(trains))
        trains &= trains - 1
    ends = ask.joining_halves(r, ends)
    while ends:
        v = ctz(ends)
        ends &= ends - 1
        if limited and g.where[v * (v + 3) >> 1] == 0:
            continue
        g.lacks[s, v] = g.hand_n[s]
