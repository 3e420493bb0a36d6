"""Kernels that step, deal and show many games: the loops under `BatchGame`."""

from __future__ import annotations

from typing import Any

from mexenv.engine import state as st
from mexenv.engine._jit import borrowed, fetch_add, kernel, prefetch, wide
from mexenv.engine.episode import EPISODE, advance, start_episode
from mexenv.engine.legal import write_mask
from mexenv.observation.encode import write_observation

Array = Any

CHUNK = 64
"""Games that a thread takes at a time."""

AHEAD = 3
"""How many games earlier than it is stepped a record is fetched from memory."""


@kernel
def first_illegal(games: Array, which: Array, actions: Array, masks: Array) -> int:
    """The first of the games `which` that goes on and whose action its mask forbids, or -1."""
    n_actions = masks.shape[1]
    for j in range(which.shape[0]):
        i: int = which[j]
        a = actions[i]
        if (a < 0 or a >= n_actions or masks[i, a] == 0) and games[i].stage < st.ROUND_OVER:
            return i
    return -1


@kernel
def step_games(
    games: Array,
    rules: Array,
    options: Array,
    which: Array,
    actions: Array,
    ids: Array,
    row: Array,
    cuts: Array,
    share: Array,
    thread: int,
    masks: Array,
    n_legal: Array,
    to_move: Array,
    rewards: Array,
    dones: Array,
    round_ended: Array,
    round_pips: Array,
    round_out: Array,
    observed: bool,
    scale: Array,
    whole: Array,
    scaled: Array,
) -> None:
    """Carry out one legal action in each of the games `which` that is not over.

    Everything about a game is written while its record is at hand: the arrays are those of `BatchGame`.

    Args:
        games: records [n].
        rules: ruleset record [1].
        options: `OPTIONS` record [1].
        which: int64 [m], indices of games.
        actions: int64 [n], by game, checked by `first_illegal`; -1 to show a game as it is.
        ids: int16 [n_actions], scratch.
        row: int8 [size], scratch.
        cuts: int64 [threads + 1], where the threads' parts of `which` begin and end.
        share: int64 [threads + 1], zeros at first, the same for all threads: how many games of each part have
            been taken, and how many are done in all.
        thread: which thread this is. Number 0 returns when all games are done.
        masks: int8 [n, n_actions].
        n_legal: int64 [n], number of legal actions.
        to_move: int64 [n].
        rewards: float32 [n, players].
        dones: uint8 [n].
        round_ended: uint8 [n].
        round_pips: float32 [n, players].
        round_out: uint8 [n, players].
        observed: write what the mover sees, too, in the layout `base`.
        scale: float32 [size], see `write_observation`, as for the next two.
        whole: int8 [n, size] or [0, size].
        scaled: float32 [n, size] or [0, size].
    """
    # Counting references to the arrays, for each view of them, would take longer than the rules.
    games, rules, options = borrowed(games), borrowed(rules), borrowed(options)
    ids, row, masks, rewards = borrowed(ids), borrowed(row), borrowed(masks), borrowed(rewards)
    round_pips, round_out = borrowed(round_pips), borrowed(round_out)
    scale, whole, scaled = borrowed(scale), borrowed(whole), borrowed(scaled)
    r = rules[0]
    o = options[0]
    n = which.shape[0]
    threads = cuts.shape[0] - 1
    for k in range(threads):
        # Its own part first, which its core still holds; then what slower threads have not begun.
        part = (thread + k) % threads
        while True:
            begin = cuts[part] + fetch_add(share, part, CHUNK)
            if begin >= cuts[part + 1]:
                break
            end = min(begin + CHUNK, cuts[part + 1])
            for j in range(begin, end):
                i = which[j]
                prefetch(games, which[min(j + AHEAD, n - 1)])
                g = games[i]
                if actions[i] >= 0:
                    rewards[i, :] = 0
                    dones[i] = 0
                    round_ended[i] = 0
                    if g.stage >= st.ROUND_OVER:
                        continue
                action = wide(actions[i])
                count, ended = advance(g, r, o, action, ids, rewards[i], round_pips[i], round_out[i])
                if ended:
                    round_ended[i] = 1
                    dones[i] = ended == EPISODE
                write_mask(ids, count, masks[i])
                n_legal[i] = count
                to_move[i] = g.mover
                if observed:
                    write_observation(g, r, wide(g.mover), i, row, scale, whole, scaled)
            fetch_add(share, threads, end - begin)
    while thread == 0 and fetch_add(share, threads, 0) < n:
        pass


@kernel
def reset_games(games: Array, rules: Array, options: Array, seeds: Array, which: Array) -> None:
    """Deal new episodes; game `which[j]` depends on `seeds[j]` alone. Afterwards they are to be shown."""
    for j in range(which.shape[0]):
        g = games[which[j]]
        g.rng = seeds[j]
        start_episode(g, rules[0], options[0])
