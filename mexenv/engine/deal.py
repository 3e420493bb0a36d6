"""Shuffling and dealing: the generator of a game, the pile, the hands, the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import wide
from mexenv.engine._jit import inner, kernel
from mexenv.rules import all_tiles

Record = Any
Array = Any

# Halves of the tiles by index: looking them up is faster than taking a root.
_HIGH, _LOW = (np.array(column, np.uint8) for column in zip(*all_tiles(18), strict=True))


GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""What SplitMix64 adds to its state at each step."""


@inner
def mixed(state: np.uint64) -> np.uint64:
    """The output of SplitMix64 at a state: 64 random bits."""
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def next_random(g: Record) -> int:
    """The game's next random number, 0 to 2**32 - 1 (SplitMix64, upper half)."""
    g.rng += GOLDEN
    return wide(mixed(g.rng) >> np.uint64(32))


@kernel
def below(g: Record, n: int) -> int:
    """A random whole number from 0 to n - 1."""
    return (next_random(g) * n) >> 32


@kernel
def shuffle(g: Record, r: Record) -> None:
    """Put the round's tiles on the pile in random order (without an engine set aside)."""
    aside = wide(-1)
    if ask.engine_set_aside(r):
        value = ask.engine_value(r, wide(g.round_index))
        aside = value * (value + 3) // 2
    n = 0
    v = ask.n_values(r)
    for tile in range(v * (v + 1) // 2):
        if tile != aside:
            g.pile[n] = tile
            n += 1
    for i in range(n - 1, 0, -1):
        j = below(g, i + 1)
        swapped = g.pile[i]
        g.pile[i] = g.pile[j]
        g.pile[j] = swapped
    g.pile_end = n


@kernel
def give(g: Record, s: int, hi: int, lo: int) -> None:
    """Put the tile hi-lo into the hand of seat `s`."""
    g.hand[s, hi] |= np.int32(1) << lo
    g.hand[s, lo] |= np.int32(1) << hi
    g.held[s] |= (np.int32(1) << hi) | (np.int32(1) << lo)
    g.hand_n[s] += 1
    g.points[s] += hi + lo


@inner
def take(g: Record, s: int, hi: int, lo: int) -> None:
    """Take the tile hi-lo out of the hand of seat `s`."""
    hand = g.hand[s]
    hand[hi] &= ~(np.int32(1) << lo)
    hand[lo] &= ~(np.int32(1) << hi)
    gone = (wide(hand[hi] == 0) << hi) | (wide(hand[lo] == 0) << lo)
    g.held[s] &= ~gone
    g.hand_n[s] -= 1
    g.points[s] -= hi + lo


@inner
def halves(tile: int) -> tuple[int, int]:
    """Higher and lower value of a tile index."""
    return wide(_HIGH[tile]), wide(_LOW[tile])


@inner
def draw_tile(g: Record, s: int) -> int:
    """Move the first tile of the boneyard into the hand of seat `s`; returns the tile."""
    tile = wide(g.pile[g.pile_next])
    g.pile_next += 1
    hi, lo = halves(tile)
    give(g, s, hi, lo)
    return tile


@inner
def _highest_double(g: Record, r: Record) -> tuple[int, int]:
    """Value and seat of the highest double held, (-1, -1) when nobody holds one."""
    for v in range(ask.n_values(r) - 1, -1, -1):
        for s in range(ask.n_seats(r)):
            if (wide(g.hand[s, v]) >> v) & 1:
                return v, s
    return -1, -1


@inner
def _holder(g: Record, r: Record, wanted: int) -> tuple[int, int]:
    """Value and seat of the held engine: the double `wanted`, or the highest one for -1."""
    if wanted < 0:
        return _highest_double(g, r)
    for s in range(ask.n_seats(r)):
        if (wide(g.hand[s, wanted]) >> wanted) & 1:
            return wanted, s
    return -1, -1


@inner
def _search_engine(g: Record, r: Record, first: int) -> tuple[int, int]:
    """Everybody draws a tile, lap after lap, until the engine is held; returns value and holder."""
    seats = ask.n_seats(r)
    wanted = wide(-1)
    if not ask.engine_is_highest_held(r):
        wanted = ask.engine_value(r, wide(g.round_index))
    value, holder = _holder(g, r, wanted)
    while holder < 0:
        whole = wide(g.pile_end) - wide(g.pile_next) >= seats
        for k in range(seats):
            draw_tile(g, (first + k) % seats)
            if not whole:
                value, holder = _holder(g, r, wanted)
                if holder >= 0:
                    break
        if whole:
            value, holder = _holder(g, r, wanted)
    return value, holder


@kernel
def deal_round(g: Record, r: Record, first: int) -> None:
    """Deal the pile of the present round and lay the engine; the starter is to move.

    Args:
        g: the game; `pile[:pile_end]` holds the shuffled tiles, `round_index` the round.
        r: the ruleset.
        first: the previous round's starter (seat 0 in the first round), where a search for
            the engine begins.
    """
    seats = ask.n_seats(r)
    g.hand[:] = 0
    g.held[:] = 0
    g.points[:] = 0
    g.hand_n[:] = 0
    g.length[:] = 0
    g.marker = 0
    g.strike = 0
    g.out = 0
    g.empty_double[:] = 0
    g.laid[:] = 0
    g.end_n[:] = 0
    g.lacks[:] = 0
    g.where[:] = 0
    g.order[:] = 0
    g.q_fresh[:] = 0
    g.q_asked[:] = 0
    g.q_n = 0
    g.n_laid = 0
    g.passed = 0
    g.blocked = 0
    g.no_skip = 0
    g.mexican_seat = 0
    g.chain_train = 0
    g.pile_next = 0
    for s in range(seats):
        for _ in range(ask.hand_size(r)):
            draw_tile(g, s)
    if ask.engine_set_aside(r):
        value = ask.engine_value(r, wide(g.round_index))
    else:
        value, holder = _search_engine(g, r, first)
        take(g, holder, value, value)
        if not ask.starter_rotates(r):
            g.starter = ask.starter_after_holder(r, holder)
    g.engine = value
    g.laid[value] = 1
    g.where[value * (value + 3) // 2] = st.ENGINE_PLACE
    for t in range(seats + 1):
        g.end_mask[t] = np.int32(1) << value
        g.end_n[t, value] = 1
    g.opening_left = seats if ask.has_opening(r) else 0
    g.stage = st.OPENING if ask.has_opening(r) else st.PLAY
    g.mover = g.starter
    begin_turn(g)
    begin_chain(g, wide(g.mover))


@inner
def begin_chain(g: Record, t: int) -> None:
    """A chain that starts at the engine may be laid on train `t`."""
    g.chain_train = t
    g.chain_end = g.engine


@kernel
def begin_turn(g: Record) -> None:
    """Clear what belongs to one turn only."""
    g.drawn = 0
    g.draws_used = 0
    g.turn_plays = 0
    g.turn_doubles = 0
    g.own_played = 0
    g.own_fits = 0
    g.drive_at = 0


@kernel
def clear_match(g: Record, round_index: int) -> None:
    """Forget all points and begin with the round of the given index."""
    g.round_index = round_index
    g.scored = 0
    g.total[:] = 0
    g.round_score[:] = 0
    g.zero_rounds[:] = 0
    g.lowest_round[:] = st.NO_ROUND


@inner
def new_match(g: Record, r: Record, round_index: int) -> None:
    """Deal the first round of a match, or a single round of the given index, from the game's generator."""
    clear_match(g, round_index)
    g.starter = below(g, ask.n_seats(r))
    shuffle(g, r)
    deal_round(g, r, 0)


@inner
def next_round(g: Record, r: Record) -> None:
    """Deal the round after the one that has ended."""
    begin_next_round(g, r)
    shuffle(g, r)
    deal_next_round(g, r)


@kernel
def begin_next_round(g: Record, r: Record) -> None:
    """Move the round index on; the pile is to be filled next."""
    g.round_index += 1


@kernel
def deal_next_round(g: Record, r: Record) -> None:
    """Deal the filled pile with the starter that follows the previous round's."""
    previous = wide(g.starter)
    if ask.starter_rotates(r):
        g.starter = (previous + 1) % ask.n_seats(r)
    deal_round(g, r, previous)
