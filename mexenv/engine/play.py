"""One action carried out: draw, pass or play, and whose turn it is after that."""

from __future__ import annotations

from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import wide
from mexenv.engine._jit import inlined, inner, kernel
from mexenv.engine.deal import begin_chain, begin_turn, draw_tile, halves
from mexenv.engine.lay import lay
from mexenv.engine.legal import drive_ends, prove_lack
from mexenv.engine.score import end_round

Record = Any


@inlined
def apply(g: Record, r: Record, action: int) -> None:
    """Carry out a legal action of the mover.

    Args:
        g: the game, changed in place; its stage is `ROUND_OVER` or `MATCH_OVER` afterwards when
            the action ended the round.
        r: the ruleset.
        action: an action id that the mover's mask allows (not checked here).
    """
    if ask.watches_own_end(r):
        g.own_fits = ask.own_end_fits(g, r, wide(g.mover))
    draw = ask.n_pairs(r)
    opening = g.stage == st.OPENING
    over, failed, marks = True, False, wide(0)
    if action == draw:
        _draw(g, r)
        over = False
    elif action < draw:
        over = _play(g, r, action)
    elif not opening and g.stage != st.CHAIN and g.stage != st.DRIVE:
        failed, marks = True, _pass(g, r)
    # Each of these is called in one place only: the compiler copies them to every call.
    if over:
        following = _end_chain(g, r) if opening else _end_turn(g, r, failed, marks)
        if following >= 0:
            next_turn(g, r, following)
    if g.stage == st.ROUND_OVER:
        end_round(g, r)


# --- draw and pass --------------------------------------------------------------------------


@inner
def _draw(g: Record, r: Record) -> None:
    s = wide(g.mover)
    if ask.must_play(r):
        prove_lack(g, r, s)
    tile = draw_tile(g, s)
    g.drawn = tile + 1
    g.draws_used += 1
    g.empty_double[s] = 0


@inner
def _pass(g: Record, r: Record) -> int:
    """Give up a play that was owed; returns the seats on whose trains that puts a marker, as bits."""
    s = wide(g.mover)
    if ask.must_play(r) and (g.drawn == 0 or ask.must_play_drawn(g, r)):
        prove_lack(g, r, s)
    marks = wide(1) << s
    if (g.stage == st.EXTRA or g.stage == st.THIRD) and not ask.failed_extra_marks_own(r):
        marks = wide(0)
        for q in range(wide(g.q_n)):
            if g.q_fresh[q] and wide(g.q_train[q]) < ask.n_seats(r):
                marks |= wide(1) << wide(g.q_train[q])
    return marks


# --- play -----------------------------------------------------------------------------------


@inlined
def _play(g: Record, r: Record, action: int) -> bool:
    """Play a tile; tells whether the turn, or in the opening the chain, is over."""
    s = wide(g.mover)
    seats = ask.n_seats(r)
    place = ask.pair_place(r, action)
    t = s + place
    if place == seats:
        t = seats
    elif t >= seats:
        t -= seats
    hi, lo = halves(ask.pair_tile(r, action))
    joined = hi if ask.pair_joins_high(r, action, (wide(g.end_mask[t]) >> hi) & 1 != 0) else lo
    stage = g.stage
    chained = stage == st.OPENING or stage == st.CHAIN or ask.starts_chain(g, r, s, t)
    owed = _fresh_double_on(g, r, t, joined) if ask.drives(r) else -1
    waits = lay(g, r, s, t, hi, lo, joined, chained)
    if chained:
        g.chain_train = t
        g.chain_end = hi + lo - joined
    if stage == st.OPENING:
        return g.hand_n[s] == 0
    _check_empty_hand(g, r, s, hi if hi == lo else -1, waits)
    if g.out != 0:
        g.stage = st.ROUND_OVER
        return False
    if chained:
        g.stage = st.CHAIN
        return g.hand_n[s] == 0
    if ask.drives(r):
        _drive_on(g, s, t, stage, owed)
    if waits and ask.owes_extra(r):
        g.turn_doubles += 1
        g.draws_used = 0
        g.stage = st.THIRD if ask.owes_third(g, r) else st.EXTRA
        return False
    if g.drive_at != 0 and _has_next_stop(g, r, s):
        g.turn_doubles = 0
        g.draws_used = 0
        g.stage = st.DRIVE
        return False
    return True


@inner
def _fresh_double_on(g: Record, r: Record, t: int, joined: int) -> int:
    """Value of the turn's last double if a tile joining train `t` by `joined` covers it, else -1."""
    q = wide(g.q_n) - 1
    if q < 0 or not g.q_fresh[q] or wide(g.q_train[q]) != t:
        return -1
    value = wide(g.q_value[q])
    return value if value == joined or not ask.branches(r) else -1


@inner
def _drive_on(g: Record, s: int, t: int, stage: int, owed: int) -> None:
    """Keep track of a swan drive after a tile on train `t` that lay on the double `owed` (-1: on none)."""
    if stage == st.EXTRA or stage == st.THIRD:
        covered = owed >= 0
        for q in range(wide(g.q_n)):
            if wide(g.q_value[q]) == owed:
                covered = False
        if not covered:
            g.drive_at = 0
    elif stage == st.DRIVE or (stage == st.PLAY and t == s):
        g.drive_at = t + 1


@inner
def _has_next_stop(g: Record, r: Record, s: int) -> bool:
    for t in range(ask.n_seats(r) + 1):
        if drive_ends(g, r, s, t):
            return True
    return False


@inlined
def _check_empty_hand(g: Record, r: Record, s: int, value: int, waits: bool) -> None:
    """The hand may just have become empty: the seat is out, or waits for its last double."""
    if g.hand_n[s] == 0:
        if ask.goes_out_on(g, r, value >= 0, waits):
            g.out |= np.int32(1) << s
        else:
            g.empty_double[s] = value + 1


# --- the flow of turns ----------------------------------------------------------------------


@inner
def _clear_fresh(g: Record) -> None:
    for q in range(wide(g.q_n)):
        g.q_fresh[q] = 0


@inner
def _end_chain(g: Record, r: Record) -> int:
    """The mover's chain in the opening phase is finished; returns who may be asked next, or -1."""
    s = wide(g.mover)
    if g.turn_plays == 0:
        if ask.opening_must_start(r):
            _raise_markers(g, r, wide(1) << s)
            g.lacks[s, wide(g.engine)] = g.hand_n[s]
    else:
        last = wide(g.q_n) - 1
        waits = last >= 0 and g.q_fresh[last] != 0
        _check_empty_hand(g, r, s, wide(g.q_value[last]) if waits else -1, waits)
    _clear_fresh(g)
    g.passed = 0
    g.opening_left -= 1
    begin_turn(g)
    if g.opening_left > 0:
        s = _left_of(r, s)
        g.mover = s
        begin_chain(g, s)
    elif g.out != 0:
        g.stage = st.ROUND_OVER
    else:
        g.stage = st.PLAY
        return wide(g.starter)
    return -1


@inner
def _raise_markers(g: Record, r: Record, marks: int) -> bool:
    """Put up the markers of the seats in the bit set, or strikes; tells whether one was down before."""
    before = wide(g.marker)
    if ask.has_partners(r):
        half = ask.n_seats(r) // 2
        teams = (marks | (marks >> half)) & ((wide(1) << half) - 1)
        struck = teams & wide(g.strike)
        g.strike |= np.int32(teams)
        marks = struck | (struck << half)
    g.marker |= np.int32(marks)
    return marks & ~before != 0


@inner
def _end_turn(g: Record, r: Record, failed: bool, marks: int) -> int:
    """The mover's turn is over: another seat is to move, or the round is blocked.

    Args:
        g: the game.
        r: the ruleset.
        failed: the turn ended with a pass instead of a play that was owed.
        marks: bit set of the seats on whose trains that puts a marker.

    Returns:
        The seat that may be asked next, or -1.
    """
    s = wide(g.mover)
    if ask.marks_unplayable(g, r):
        marks |= wide(1) << s
    raised = marks != 0 and _raise_markers(g, r, marks)
    _clear_fresh(g)
    begin_turn(g)
    g.stage = st.PLAY
    if failed:
        if raised and ask.marker_restarts_block(r):
            g.passed = 0
        g.passed |= np.int32(1) << s
        if g.pile_next == g.pile_end:
            if ask.may_skip(r):
                _suspend_skipping(g, r)
            waiting = False
            for k in range(ask.n_seats(r)):
                if not ((wide(g.passed) >> k) & 1 or ask.is_skipped(g, r, k)):
                    waiting = True
            if not waiting:
                g.blocked = 1
                g.stage = st.ROUND_OVER
                return -1
    return _left_of(r, s)


@kernel
def next_turn(g: Record, r: Record, s: int) -> None:
    """Ask the first seat from `s` on that is not skipped."""
    if ask.may_skip(r):
        _suspend_skipping(g, r)
        while ask.is_skipped(g, r, s):
            s = _left_of(r, s)
    g.mover = s
    if ask.any_in_force(g, r):
        g.stage = st.COVER


@inlined
def _left_of(r: Record, s: int) -> int:
    """The seat after seat `s`, clockwise."""
    return s + 1 if s + 1 < ask.n_seats(r) else wide(0)


@inner
def _suspend_skipping(g: Record, r: Record) -> None:
    """Where every seat would be skipped, skip nobody until one of the doubles in force is covered."""
    if g.no_skip or g.q_n == 0:
        return
    for s in range(ask.n_seats(r)):
        if not ask.is_barred(g, r, s):
            return
    g.no_skip = 1
    for q in range(wide(g.q_n)):
        g.q_asked[q] = ask.is_in_force(g, r, q)
