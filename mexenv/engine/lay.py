"""One tile laid on the table: ends, doubles, markers, and what the play proves about the hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine._intrinsics import wide
from mexenv.engine._jit import inlined, inner
from mexenv.engine.deal import take

Record = Any


@inlined
def lay(g: Record, r: Record, s: int, t: int, hi: int, lo: int, joined: int, chained: bool) -> bool:
    """Move a tile from hand to train and settle what that changes on the table.

    Args:
        g: the game.
        r: the ruleset.
        s: the seat that plays.
        t: the train.
        hi: higher value of the tile.
        lo: lower value.
        joined: the value by which it joins the train.
        chained: the tile continues a chain or may be followed by one.

    Returns:
        True if the tile is a double that waits for a cover.
    """
    take(g, s, hi, lo)
    _note_play(g, s, hi, lo)
    tile = (hi * (hi + 1) >> 1) + lo
    g.where[tile] = t + 1
    g.joined_low[tile] = joined == lo
    g.order[g.n_laid] = tile
    g.n_laid += 1
    g.turn_plays += 1
    g.laid[hi] += 1
    if lo != hi:
        g.laid[lo] += 1
    if g.length[t] == 0 and t == ask.n_seats(r):
        g.mexican_seat = s + 1
    g.length[t] += 1
    g.passed = 0
    _lower_markers(g, r, s, t)
    if ask.branches(r):
        _extend_branching(g, r, t, joined, hi + lo - joined, chained)
    else:
        g.end_mask[t] = np.int32(1) << (hi + lo - joined)
        for q in range(wide(g.q_n)):
            if wide(g.q_train[q]) == t:
                _settle_double(g, r, q)
                break
    waits = False
    if hi == lo:
        waits = _wait_for_cover(g, r, t, hi)
    if ask.doubles_die(r):
        _release_dead(g, r)
    return waits


@inlined
def _note_play(g: Record, s: int, hi: int, lo: int) -> None:
    """Keep what is proven about the hand of seat `s` true after the tile left it."""
    if g.drawn != 0:
        g.drawn = 0  # the tile laid is the one drawn after the proof
        return
    lacks = g.lacks[s]
    # A tile of a value that the hand was proven to lack was drawn later; any other may be one of the proven.
    of_hi, of_lo = lacks[hi], lacks[lo]
    for v in range(lacks.shape[0]):
        lacks[v] -= lacks[v] > 0
    lacks[hi] = of_hi
    lacks[lo] = of_lo


@inlined
def _lower_markers(g: Record, r: Record, s: int, t: int) -> None:
    """Take down what a play of seat `s` on train `t` takes down."""
    own = ask.is_own(r, s, t)
    if own:
        g.own_played = 1
    lowered = own or ask.any_play_unmarks(r)
    team = np.int32(1) << s
    if ask.has_partners(r):
        mate = ask.partner(r, s)
        g.strike &= ~(np.int32(1) << min(s, mate))
        team |= np.int32(1) << mate
    if lowered:
        g.marker &= ~team


@inner
def _extend_branching(g: Record, r: Record, t: int, joined: int, other: int, chained: bool) -> None:
    """Join a tile where a train has several ends; an uncovered double takes it first."""
    ends = g.end_n[t]
    place = -1
    for q in range(wide(g.q_n)):
        if wide(g.q_train[q]) == t and wide(g.q_value[q]) == joined:
            place = q
    if place >= 0:
        g.q_covers[place] += 1
        covers = wide(g.q_covers[place])
        if chained or covers == ask.covers_needed(r):
            ends[joined] += ask.further_outlets(r, covers)
            _settle_double(g, r, place)
    else:
        ends[joined] -= 1
    if other != joined:
        ends[other] += 1
    _gather_ends(g, r, t)


@inner
def _gather_ends(g: Record, r: Record, t: int) -> None:
    """Write the end mask of a branching train from its ends and uncovered doubles."""
    mask = wide(0)
    for v in range(ask.n_values(r)):
        if g.end_n[t, v] > 0:
            mask |= wide(1) << v
    for q in range(wide(g.q_n)):
        if wide(g.q_train[q]) == t:
            mask |= wide(1) << wide(g.q_value[q])
    g.end_mask[t] = mask


@inner
def _settle_double(g: Record, r: Record, q: int) -> None:
    """Take a double out of the queue: it is covered, or its value has run out."""
    value = wide(g.q_value[q])
    if g.q_asked[q]:
        g.no_skip = 0
        g.q_asked[:] = 0
    for k in range(q, wide(g.q_n) - 1):
        g.q_value[k] = g.q_value[k + 1]
        g.q_train[k] = g.q_train[k + 1]
        g.q_covers[k] = g.q_covers[k + 1]
        g.q_fresh[k] = g.q_fresh[k + 1]
        g.q_asked[k] = g.q_asked[k + 1]
    g.q_n -= 1
    for s in range(ask.n_seats(r)):
        if g.empty_double[s] == value + 1:
            g.empty_double[s] = 0
            g.out |= np.int32(1) << s


@inner
def _wait_for_cover(g: Record, r: Record, t: int, value: int) -> bool:
    """Queue the double of `value` just laid on train `t`, unless it is dead; tells whether it waits."""
    if ask.is_dead(g, r, value):
        if ask.branches(r):
            g.end_n[t, value] += ask.covers_needed(r)
            _gather_ends(g, r, t)
        return False
    q = wide(g.q_n)
    g.q_value[q] = value
    g.q_train[q] = t
    g.q_covers[q] = 0
    g.q_fresh[q] = 1
    g.q_asked[q] = 0
    g.q_n += 1
    g.end_mask[t] |= np.int32(1) << value
    return True


@inner
def _release_dead(g: Record, r: Record) -> None:
    """Let go of waiting doubles whose value has run out; their ends stay in view."""
    for q in range(wide(g.q_n) - 1, -1, -1):
        value = wide(g.q_value[q])
        if ask.is_dead(g, r, value):
            if ask.branches(r):
                g.end_n[wide(g.q_train[q]), value] += ask.covers_needed(r) - wide(g.q_covers[q])
            _settle_double(g, r, q)
