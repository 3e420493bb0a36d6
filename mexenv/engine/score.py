"""The end of a round: pips counted, points booked."""

from __future__ import annotations

from typing import Any

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import wide
from mexenv.engine._jit import inner, kernel
from mexenv.engine.deal import halves

Record = Any


@inner
def hand_points(g: Record, r: Record, s: int) -> int:
    """Points of the tiles left in the hand of seat `s`."""
    double_blank = ask.double_blank_points(r) if wide(g.hand[s, 0]) & 1 else 0
    return wide(g.points[s]) + double_blank


@inner
def tile_points(r: Record, tile: int) -> int:
    """Points of one tile left in hand."""
    hi, lo = halves(tile)
    return hi + lo if hi > 0 else ask.double_blank_points(r)


@inner
def end_round(g: Record, r: Record) -> None:
    """Book the scores of the round and set the stage to `ROUND_OVER` or `MATCH_OVER`."""
    seats = ask.n_seats(r)
    for s in range(seats):
        g.round_score[s] = hand_points(g, r, s) * st.POINT
    if ask.has_partners(r):
        _join_teams(g, seats // 2)
        seats //= 2
    if ask.winner_takes(r):
        _share_out(g, seats)
    elif ask.has_partners(r):
        for s in range(seats):
            if _is_out(g, s, seats):
                g.round_score[s] = 0
    if ask.has_partners(r):
        for s in range(seats):
            g.round_score[s + seats] = g.round_score[s]
        seats *= 2
    for s in range(seats):
        points = g.round_score[s]
        g.total[s] += points
        g.scored |= points != 0
        if points == 0:
            g.zero_rounds[s] += 1
        elif points < g.lowest_round[s]:
            g.lowest_round[s] = points
    g.stage = st.MATCH_OVER if wide(g.round_index) + 1 >= ask.rounds(r) else st.ROUND_OVER


@inner
def _join_teams(g: Record, half: int) -> None:
    """Add up the hands of partners; the sum stands at the lower seat of each team."""
    for s in range(half):
        g.round_score[s] += g.round_score[s + half]


@inner
def _is_out(g: Record, s: int, seats: int) -> bool:
    """Seat `s` went out, or its partner, `seats` being the number of teams then."""
    return ((wide(g.out) >> s) | (wide(g.out) >> (s + seats))) & 1 != 0


@inner
def _share_out(g: Record, seats: int) -> None:
    """Turn pips into gains: the winners share equally what the others hold.

    With partners `seats` is the number of teams; seats beyond the players are never out.
    """
    any_out = False
    fewest = g.round_score[0]
    for s in range(seats):
        any_out = any_out or _is_out(g, s, seats)
        fewest = min(fewest, g.round_score[s])
    winners = 0
    pot = wide(0)
    for s in range(seats):
        if _is_out(g, s, seats) if any_out else g.round_score[s] == fewest:
            winners += 1
        else:
            pot += g.round_score[s]
    for s in range(seats):
        won = _is_out(g, s, seats) if any_out else g.round_score[s] == fewest
        g.round_score[s] = pot // winners if won else 0


@inner
def ranks_before(g: Record, r: Record, a: int, b: int) -> bool:
    """Seat `a` stands before seat `b` by the totals and the tie-break."""
    if g.total[a] != g.total[b]:
        return (g.total[a] > g.total[b]) == ask.winner_takes(r)
    if not ask.zero_rounds_break_ties(r):
        return False
    if g.zero_rounds[a] != g.zero_rounds[b]:
        return g.zero_rounds[a] > g.zero_rounds[b]
    return g.lowest_round[a] < g.lowest_round[b]


@kernel
def place_of(g: Record, r: Record, s: int) -> int:
    """Place of seat `s` in the match so far, from 1, shared by equal seats; with partners, of its team."""
    place = 1
    for k in range(ask.n_seats(r) // (2 if ask.has_partners(r) else 1)):
        place += ranks_before(g, r, k, s)
    return place
