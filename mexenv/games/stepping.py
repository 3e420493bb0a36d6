"""Kernels that step, deal and show many games: the loops under `BatchGame`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mexenv.engine import state as st
from mexenv.engine._intrinsics import (
    borrowed,
    compare_and_swap,
    fetch_add,
    load,
    prefetch,
    store,
    wide,
)
from mexenv.engine._jit import direct, inlined, inner, kernel
from mexenv.engine.episode import EPISODE, OPTIONS, advance, start_episode
from mexenv.engine.legal import write_mask
from mexenv.games.threads import LINE, WAITING, call_workers, is_called, take_back_calls, wait_a_little
from mexenv.observation.encode import write_observation

Array = Any
Record = Any

CHUNK = 32
"""Games that a thread takes at a time."""

AHEAD = 3
"""How many games earlier than it is stepped a record is fetched from memory."""


@inlined
def _taken(cuts: Array, shares: Array, phase: int, part: int) -> int:
    """Take the next games of a part: where they begin in `which`, or past the end of the part."""
    counter = (phase * cuts.shape[0] + part) * LINE
    begin: int = cuts[part] + fetch_add(shares, counter, CHUNK)
    return begin


@inlined
def _keep_largest(shares: Array, counter: int, value: int) -> None:
    before = load(shares, counter)
    while before < value and not compare_and_swap(shares, counter, before, value):
        before = load(shares, counter)


@inlined
def _is_illegal(g: Record, mask: Array, action: int) -> bool:
    illegal = action < 0 or action >= mask.shape[0] or mask[action] == 0
    return bool(illegal and g.stage < st.ROUND_OVER)


@kernel
def first_illegal(games: Array, which: Array, actions: Array, masks: Array) -> int:
    """The first of the games `which` that goes on and whose action its mask forbids, or -1."""
    for j in range(which.shape[0]):
        i: int = which[j]
        if _is_illegal(games[i], masks[i], actions[i]):
            return i
    return -1


@inner
def _check_actions(
    cuts: Array,
    shares: Array,
    thread: int,
    checked: int,
    illegal: int,
    games: Array,
    which: Array,
    actions: Array,
    masks: Array,
) -> None:
    """Look for illegal actions, see `step_games`, until all threads together have looked at all games."""
    threads = cuts.shape[0] - 1
    for k in range(threads):
        # Its own part first, which its core still holds; then what slower threads have not begun.
        part = (thread + k) % threads
        while True:
            begin = _taken(cuts, shares, 0, part)
            if begin >= cuts[part + 1]:
                break
            end = min(begin + CHUNK, cuts[part + 1])
            for j in range(begin, end):
                i = which[j]
                if _is_illegal(games[i], masks[i], wide(actions[i])):
                    _keep_largest(shares, illegal, which.shape[0] - j)
                    break
            fetch_add(shares, checked, end - begin)
    while load(shares, checked) < which.shape[0]:
        wait_a_little()


@inlined
def show_game(
    g: Record,
    r: Record,
    i: int,
    ids: Array,
    count: int,
    row: Array,
    masks: Array,
    n_legal: Array,
    to_move: Array,
    observed: bool,
    scale: Array,
    whole: Array,
    scaled: Array,
) -> None:
    """Write mover, mask and observation of game i, see `step_games`; its legal actions are `ids[:count]`."""
    write_mask(ids, count, masks[i])
    n_legal[i] = count
    to_move[i] = g.mover
    if observed:
        write_observation(g, r, wide(g.mover), i, row, scale, whole, scaled)


@kernel
def step_games(
    words: Array,
    thread: int,
    cuts: Array,
    shares: Array,
    check: bool,
    games: Array,
    rules: Array,
    options: Array,
    which: Array,
    actions: Array,
    all_ids: Array,
    all_rows: Array,
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
) -> int:
    """Carry out one action in each of the games `which` that is not over.

    Everything about a game is written while its record is at hand: the arrays are those of `BatchGame`.
    Threads share the work: number 0 is called for each step and returns when all games are done; the others
    step as often as number 0 calls them (`mexenv.games.threads`).

    Args:
        words: int64, what the other threads do; empty without them.
        thread: which thread this is.
        cuts: int64 [threads + 1], where the threads' parts of `which` begin and end.
        shares: int64 [share_size(threads)], zeros, the same for all threads.
        check: carry out nothing if an action is illegal; of games that are over only the results are cleared.
            Without it, no action is carried out at all, and all games are shown.
        games: records [n].
        rules: ruleset record [1].
        options: `OPTIONS` record [1].
        which: int64 [m], indices of games.
        actions: int64 [n], by game; -1 unless they are to be checked.
        all_ids: int16 [threads, n_actions], scratch.
        all_rows: int8 [threads, size], scratch.
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

    Returns:
        The first game with an illegal action, or -1.
    """
    # Counting references to the arrays, for each view of them, would take longer than the rules.
    games, rules, options = borrowed(games), borrowed(rules), borrowed(options)
    ids, row = borrowed(all_ids)[thread], borrowed(all_rows)[thread]
    masks, rewards = borrowed(masks), borrowed(rewards)
    round_pips, round_out = borrowed(round_pips), borrowed(round_out)
    scale, whole, scaled = borrowed(scale), borrowed(whole), borrowed(scaled)
    r = rules[0]
    o = options[0]
    n = which.shape[0]
    threads = cuts.shape[0] - 1
    checked, illegal = threads * LINE, (2 * threads + 1) * LINE
    if thread == 0:
        call_workers(words)
    while thread == 0 or is_called(words, thread - 1):
        if check:
            _check_actions(cuts, shares, thread, checked, illegal, games, which, actions, masks)
        if load(shares, illegal) == 0:
            for k in range(threads):
                part = (thread + k) % threads
                while True:
                    begin = _taken(cuts, shares, 1, part)
                    if begin >= cuts[part + 1]:
                        break
                    for j in range(begin, min(begin + CHUNK, cuts[part + 1])):
                        i = which[j]
                        prefetch(games, which[min(j + AHEAD, n - 1)])
                        g = games[i]
                        action = wide(actions[i])
                        if check:
                            rewards[i, :] = 0
                            dones[i] = 0
                            round_ended[i] = 0
                            if g.stage >= st.ROUND_OVER:
                                continue
                        count, ended = advance(g, r, o, action, ids, rewards[i], round_pips[i], round_out[i])
                        if ended:
                            round_ended[i] = 1
                            dones[i] = ended == EPISODE
                        show_game(
                            g, r, i, ids, count, row,
                            masks, n_legal, to_move, observed, scale, whole, scaled,
                        )  # fmt: skip
        if thread == 0:
            take_back_calls(words)
            j = n - shares[illegal]
            shares[:] = 0
            return -1 if j == n else which[j]
        store(words, (thread - 1) * LINE, WAITING)
    return -1


@cache
def step_call(record: np.dtype[np.void]) -> Callable[..., int]:
    """`step_games` for one dtype of records, called without a look at the kinds of its arguments."""
    word, byte, line = np.zeros(1, np.int64), np.zeros(1, np.uint8), np.zeros((1, 1), np.float32)
    flags, row, scale = line.astype(np.int8), np.zeros((1, 1), np.uint8), line[0].copy()
    scale.flags.writeable = False
    return direct(
        step_games,
        word, 0, word, word, True, np.zeros(1, record), np.zeros(1, st.RULES), np.zeros(1, OPTIONS),
        word, word, line.astype(np.int16), flags, flags, word, word, line, byte, byte, line, row,
        True, scale, flags, line,
    )  # fmt: skip


def share_size(threads: int) -> int:
    """Length of the array by which so many threads share a step: a counter in each line of the cache."""
    return 2 * (threads + 1) * LINE


@kernel
def reset_games(games: Array, rules: Array, options: Array, seeds: Array, which: Array) -> None:
    """Deal new episodes; game `which[j]` depends on `seeds[j]` alone. Afterwards they are to be shown."""
    for j in range(which.shape[0]):
        g = games[which[j]]
        g.rng = seeds[j]
        start_episode(g, rules[0], options[0])
