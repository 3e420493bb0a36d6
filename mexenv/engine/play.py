"""One action carried out: draw, pass or play, and whose turn it is after that."""

from __future__ import annotations

from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._jit import kernel
from mexenv.engine.deal import begin_turn, draw_tile, halves, take
from mexenv.engine.legal import prove_lack
from mexenv.engine.score import end_round

Record = Any


@kernel
def apply(g: Record, r: Record, action: int) -> None:
    """Carry out a legal action of the mover.

    Args:
        g: the game, changed in place; its stage is `ROUND_OVER` or `MATCH_OVER` afterwards when
            the action ended the round.
        r: the ruleset.
        action: an action id that the mover's mask allows (not checked here).
    """
    g.own_fits = ask.own_end_fits(g, r, np.int64(g.mover))
    draw = ask.n_pairs(r)
    if action == draw:
        _draw(g, r)
    elif action == draw + 1:
        if g.stage == st.OPENING:
            _end_chain(g, r)
        else:
            _pass(g, r)
    else:
        _play(g, r, action)


# --- draw and pass --------------------------------------------------------------------------


@kernel
def _draw(g: Record, r: Record) -> None:
    s = np.int64(g.mover)
    if ask.must_play(r):
        prove_lack(g, r, s)
    tile = draw_tile(g, s)
    g.drawn = tile + 1
    g.draws_used += 1
    g.empty_double[s] = 0
    for v in range(ask.n_values(r)):
        if g.lack_since[s, v] != st.UNMARKED:
            g.lack_since[s, v] += 1


@kernel
def _pass(g: Record, r: Record) -> None:
    s = np.int64(g.mover)
    if ask.must_play(r) and (g.drawn == 0 or ask.must_play_drawn(g, r)):
        prove_lack(g, r, s)
    if g.marker[s] == 0:
        g.marker[s] = 1
        if ask.marker_restarts_block(r):
            g.passed = 0
    g.passed |= np.int32(1) << s
    _end_turn(g, r)


# --- play -----------------------------------------------------------------------------------


@kernel
def _lay(g: Record, r: Record, s: int, t: int, hi: int, lo: int) -> None:
    """Move the tile hi-lo from hand to train `t` and settle what that changes on the table."""
    take(g, s, hi, lo)
    tile = hi * (hi + 1) // 2 + lo
    if g.drawn != 0:
        # The tile laid is the drawn one; what was proven of the others stays.
        for v in range(ask.n_values(r)):
            if g.lack_since[s, v] != st.UNMARKED:
                g.lack_since[s, v] -= 1
        g.drawn = 0
    else:
        _use_free_slot(g, s, hi)
        if lo != hi:
            _use_free_slot(g, s, lo)
    joined = hi if (np.int64(g.end_mask[t]) >> hi) & 1 else lo
    other = hi + lo - joined
    g.where[tile] = t + 1
    g.order[g.n_laid] = tile
    g.n_laid += 1
    g.turn_plays += 1
    g.laid[hi] += 1
    if lo != hi:
        g.laid[lo] += 1
    if g.length[t] == 0 and t == ask.n_seats(r):
        g.mexican_seat = s + 1
    g.length[t] += 1
    g.end_mask[t] = np.int32(1) << other
    g.passed = 0
    if t == s:
        g.own_played = 1
    if t == s or ask.any_play_unmarks(r):
        g.marker[s] = 0
    for q in range(np.int64(g.q_n)):
        if np.int64(g.q_train[q]) == t and np.int64(g.q_value[q]) == joined:
            _settle_double(g, r, q)
            break
    if ask.doubles_die(r):
        for q in range(np.int64(g.q_n) - 1, -1, -1):
            if ask.is_dead(g, r, np.int64(g.q_value[q])):
                _settle_double(g, r, q)


@kernel
def _use_free_slot(g: Record, s: int, value: int) -> None:
    """A tile of a value that the hand was proven to lack came from a later draw."""
    since = g.lack_since[s, value]
    if since != st.UNMARKED:
        g.lack_since[s, value] = since - 1 if since > 0 else st.UNMARKED


@kernel
def _settle_double(g: Record, r: Record, q: int) -> None:
    """Take a double out of the queue: it is covered, or its value has run out."""
    value = np.int64(g.q_value[q])
    for k in range(q, np.int64(g.q_n) - 1):
        g.q_value[k] = g.q_value[k + 1]
        g.q_train[k] = g.q_train[k + 1]
        g.q_fresh[k] = g.q_fresh[k + 1]
    g.q_n -= 1
    for s in range(ask.n_seats(r)):
        if g.empty_double[s] == value + 1:
            g.empty_double[s] = 0
            g.out[s] = 1


@kernel
def _wait_for_cover(g: Record, r: Record, t: int, value: int, fresh: int) -> bool:
    """Queue the double of `value` just laid on train `t`, unless it is dead; tells whether it waits."""
    if ask.is_dead(g, r, value):
        return False
    q = np.int64(g.q_n)
    g.q_value[q] = value
    g.q_train[q] = t
    g.q_covers[q] = 0
    g.q_fresh[q] = fresh
    g.q_n += 1
    return True


@kernel
def _check_empty_hand(g: Record, r: Record, s: int, value: int, waits: bool) -> None:
    """The hand may just have become empty: the seat is out, or waits for its last double."""
    if g.hand_n[s] == 0:
        if ask.goes_out_on(g, r, value >= 0, waits):
            g.out[s] = 1
        else:
            g.empty_double[s] = value + 1


@kernel
def _anybody_out(g: Record, r: Record) -> bool:
    for s in range(ask.n_seats(r)):
        if g.out[s]:
            return True
    return False


@kernel
def _play(g: Record, r: Record, action: int) -> None:
    s = np.int64(g.mover)
    seats = ask.n_seats(r)
    place = ask.pair_place(r, action)
    t = seats if place == seats else (s + place) % seats
    tile = ask.pair_tile(r, action)
    hi, lo = halves(tile)
    _lay(g, r, s, t, hi, lo)
    if g.stage == st.OPENING:
        g.last_tile = tile + 1
        if g.hand_n[s] == 0:
            _end_chain(g, r)
        return
    waits = False
    if hi == lo:
        g.turn_doubles += 1
        waits = _wait_for_cover(g, r, t, hi, 1)
    _check_empty_hand(g, r, s, hi if hi == lo else -1, waits)
    if _anybody_out(g, r):
        end_round(g, r)
    elif waits and ask.owes_extra(r):
        g.draws_used = 0
        g.stage = st.THIRD if ask.owes_third(g, r) else st.EXTRA
    else:
        _end_turn(g, r)


# --- the flow of turns ----------------------------------------------------------------------


@kernel
def _end_chain(g: Record, r: Record) -> None:
    """The mover's opening chain is finished."""
    s = np.int64(g.mover)
    if g.turn_plays == 0:
        if ask.opening_must_start(r):
            g.marker[s] = 1
            g.lack_since[s, np.int64(g.engine)] = 0
    else:
        hi, lo = halves(np.int64(g.last_tile) - 1)
        waits = hi == lo and _wait_for_cover(g, r, s, hi, 0)
        _check_empty_hand(g, r, s, hi if hi == lo else -1, waits)
    g.passed = 0
    g.opening_left -= 1
    begin_turn(g)
    if g.opening_left > 0:
        g.mover = (s + 1) % ask.n_seats(r)
    elif _anybody_out(g, r):
        end_round(g, r)
    else:
        g.mover = g.starter
        g.stage = st.PLAY if ask.in_force(g, r) < 0 else st.COVER


@kernel
def _end_turn(g: Record, r: Record) -> None:
    """The mover's turn is over: the next seat is to move, or the round is blocked."""
    s = np.int64(g.mover)
    seats = ask.n_seats(r)
    if ask.marks_unplayable(g, r):
        g.marker[s] = 1
    for q in range(np.int64(g.q_n)):
        g.q_fresh[q] = 0
    begin_turn(g)
    g.stage = st.PLAY if ask.in_force(g, r) < 0 else st.COVER
    if g.pile_next == g.pile_end:
        waiting = False
        for k in range(seats):
            if not ((np.int64(g.passed) >> k) & 1 or ask.is_skipped(g, r, k)):
                waiting = True
        if not waiting:
            g.blocked = 1
            end_round(g, r)
            return
    s = (s + 1) % seats
    while ask.is_skipped(g, r, s):
        s = (s + 1) % seats
    g.mover = s
