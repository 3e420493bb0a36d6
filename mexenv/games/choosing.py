"""The scripted agents as kernels: they choose from a list of legal actions, with no Python between moves.

All of them play whenever a tile can be played, a drawn one included, and so lay a chain as long as it goes
on; they draw and pass only when nothing else is legal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mexenv.engine import decisions as ask
from mexenv.engine._intrinsics import ctz, popcount, wide
from mexenv.engine._jit import inlined, inner, kernel
from mexenv.engine._lanes import BLOCK, nonzero_bits
from mexenv.engine.deal import GOLDEN, mixed
from mexenv.engine.score import tile_points
from mexenv.games.planning import WEIGHTS, plan_play
from mexenv.observation.trail import MAX_TRAIL

Record = Any
Array = Any

RANDOM, GREEDY, OWN_FIRST, PLANNER = range(4)
"""Numbers of the agents, in the order of `SCRIPTED`."""

SCRIPTED = ("random", "greedy", "own_first", "planner")
"""Their names, weakest first."""


@inner
def list_mask(mask: Array, ids: Array) -> int:
    """List the actions that a mask allows, ascending.

    Args:
        mask: int8 [n_actions].
        ids: int16 [n_actions], written from the front.

    Returns:
        How many they are.
    """
    count = wide(0)
    size = mask.shape[0]
    whole = size - size % BLOCK
    for first in range(0, whole, BLOCK):
        bits = nonzero_bits(mask, first)
        while bits:
            ids[count] = first + ctz(bits)
            count += 1
            bits &= bits - 1
    for action in range(whole, size):
        if mask[action]:
            ids[count] = action
            count += 1
    return count


@kernel
def draw_legal(mask: Array, u: float) -> int:
    """An action that a mask allows, each equally likely for `u` uniform in [0, 1); -1 without one.

    Args:
        mask: int8 [n_actions].
        u: which of them, as a share of the way through.
    """
    size = mask.shape[0]
    whole = size - size % BLOCK
    count = 0
    for first in range(0, whole, BLOCK):
        count += popcount(nonzero_bits(mask, first))
    for action in range(whole, size):
        count += mask[action] != 0
    left = int(u * count)
    for first in range(0, whole, BLOCK):
        bits = nonzero_bits(mask, first)
        inside = popcount(bits)
        if left < inside:
            for _ in range(left):
                bits &= bits - 1
            return first + ctz(bits)
        left -= inside
    for action in range(whole, size):
        if mask[action]:
            if left == 0:
                return action
            left -= 1
    return -1


@inlined
def count_plays(r: Record, ids: Array, count: int) -> int:
    """How many actions of a list are plays; draw and pass stand behind them."""
    plays = count
    while plays > 0 and ids[plays - 1] >= ask.n_pairs(r):
        plays -= 1
    return plays


@inlined
def any_play(ids: Array, plays: int, state: NDArray[np.uint64]) -> int:
    """One of the plays, each equally likely.

    Args:
        ids: int16, the plays first.
        plays: how many, at least 1.
        state: uint64 [1], state of the random generator (SplitMix64).
    """
    state[0] += GOLDEN
    return wide(ids[(wide(mixed(state[0]) >> np.uint64(32)) * plays) >> 32])


@inner
def heaviest_play(r: Record, ids: Array, plays: int, own_only: bool) -> int:
    """The play of the tile that costs its holder most, the lowest id among equals.

    Args:
        r: the ruleset.
        ids: int16, the plays first.
        plays: how many.
        own_only: look at plays on the own train only.

    Returns:
        The action, -1 without one.
    """
    best = wide(-1)
    most = wide(-1)
    for i in range(plays):
        action = wide(ids[i])
        if own_only and ask.pair_place(r, action) != 0:
            continue
        points = tile_points(r, ask.pair_tile(r, action))
        if points > most or (points == most and action < best):
            most = points
            best = action
    return best


@inlined
def choose(
    agent: int, r: Record, ids: Array, count: int, view: Array, hand: Array, trail: Array, state: Array
) -> int:
    """What a scripted agent does.

    Args:
        agent: `RANDOM`, `GREEDY`, `OWN_FIRST` or `PLANNER`.
        r: the ruleset.
        ids: int16, the legal actions: plays first, then draw and pass.
        count: how many, at least 1.
        view: int8, an observation that begins with `base`; the planner alone looks at it.
        hand: int32 [n_values], scratch.
        trail: int16 [MAX_TRAIL], scratch.
        state: uint64 [1], state of the random generator; the random agent alone uses it.

    Returns:
        An action of the list.
    """
    plays = count_plays(r, ids, count)
    if plays == 0 or count == 1:
        return wide(ids[0])
    if agent == RANDOM:
        return any_play(ids, plays, state)
    if agent == PLANNER:
        return plan_play(r, ids, plays, view, WEIGHTS, hand, trail)
    if agent == OWN_FIRST:
        best = heaviest_play(r, ids, plays, True)
        if best >= 0:
            return best
    return heaviest_play(r, ids, plays, False)


@kernel
def choose_rows(
    agent: int,
    rules: Array,
    masks: NDArray[np.int8],
    views: NDArray[np.int8],
    weights: NDArray[np.float64],
    state: NDArray[np.uint64],
    out: NDArray[np.int64],
) -> None:
    """Choose from masks, one position a row.

    Args:
        agent: as for `choose`.
        rules: ruleset record [1].
        masks: int8 [n, n_actions]; a row without a legal action gives PASS.
        views: int8 [n, size], or [0, 0] where the agent needs none.
        weights: float64 [7], what the planner values, see `WEIGHTS`.
        state: uint64 [1].
        out: int64 [n], overwritten.
    """
    r = rules[0]
    ids = np.empty(masks.shape[1], np.int16)
    hand = np.empty(ask.n_values(r), np.int32)
    trail = np.empty(MAX_TRAIL, np.int16)
    for i in range(masks.shape[0]):
        count = list_mask(masks[i], ids)
        plays = count_plays(r, ids, count)
        if count == 0:
            out[i] = masks.shape[1] - 1
        elif agent == PLANNER and plays > 0:
            out[i] = plan_play(r, ids, plays, views[i], weights, hand, trail)
        else:
            out[i] = choose(agent, r, ids, count, masks[i], hand, trail, state)


def agent_codes(agents: str | Sequence[str], players: int) -> NDArray[np.int64]:
    """The numbers of scripted agents, int64 [players].

    Args:
        agents: one name for all seats, or one for each seat.
        players: number of seats.

    Raises:
        ValueError: an unknown name, or another number of them.
    """
    names = [agents] * players if isinstance(agents, str) else list(agents)
    for name in names:
        if name not in SCRIPTED:
            raise ValueError(f"agents: {name!r}; allowed are {', '.join(map(repr, SCRIPTED))}")
    if len(names) != players:
        raise ValueError(f"agents: got {len(names)}; allowed are 1 name for all seats, or {players}")
    return np.array([SCRIPTED.index(name) for name in names], np.int64)
