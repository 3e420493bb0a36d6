"""The kernel that lets scripted agents play many games on, without Python between their moves."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import borrowed, wide
from mexenv.engine._jit import announced_compile, direct, kernel
from mexenv.engine.episode import EPISODE, OPTIONS, advance
from mexenv.games.choosing import PLANNER, choose
from mexenv.games.stepping import show_game
from mexenv.observation.encode import write_base

Array = Any

NOBODY = -1
"""Stands for a seat that no kernel plays: the game waits there."""

GO_ON, STOP_AT_ROUND, STOP_AT_EPISODE = range(3)
"""What ends the play of a game, besides a seat that nobody plays and the number of moves."""


@kernel
def play_on(
    games: Array,
    rules: Array,
    options: Array,
    which: Array,
    actions: Array,
    agents: Array,
    first_seat: Array,
    moves: int,
    stop: int,
    seeds: Array,
    ids: Array,
    view: Array,
    hand: Array,
    trail: Array,
    masks: Array,
    n_legal: Array,
    to_move: Array,
    rewards: Array,
    dones: Array,
    round_ended: Array,
    round_pips: Array,
    round_out: Array,
    each: bool,
    observed: bool,
    scale: Array,
    whole: Array,
    scaled: Array,
) -> tuple[int, int]:
    """Play some games on until they stop, and write what a step writes.

    Args:
        games: records [n].
        rules: ruleset record [1].
        options: `OPTIONS` record [1].
        which: int64 [m], indices of games.
        actions: int64 [n], by game: a legal action to begin with, or -1 for none.
        agents: int64 [players], who plays the seats from `first_seat` on, clockwise: an agent of
            `choosing.SCRIPTED`, or `NOBODY`.
        first_seat: int64 [n], by game.
        moves: actions after which a game stops.
        stop: `GO_ON`, `STOP_AT_ROUND` or `STOP_AT_EPISODE`.
        seeds: uint64 [n], by game: state of the generator of random agents, moved on.
        ids: int16 [n_actions], scratch.
        view: int8 [size of `base`, or more], scratch.
        hand: int32 [n_values], scratch.
        trail: int16 [MAX_TRAIL], scratch.
        masks: int8 [n, n_actions], as in `step_games`, and so for the arrays below.
        n_legal: int64 [n].
        to_move: int64 [n].
        rewards: float32 [n, players], of all moves together.
        dones: uint8 [n], 1 where an episode ended.
        round_ended: uint8 [n], 1 where a round ended.
        round_pips: float32 [n, players], of the last round that ended.
        round_out: uint8 [n, players], likewise.
        each: write masks and observations after each move, as `step_games` does; else only at the end.
        observed: as in `step_games`, and so for the arrays below.
        scale: float32 [size].
        whole: int8 [n, size] or [0, size].
        scaled: float32 [n, size] or [0, size].

    Returns:
        The number of actions carried out, and how many games stopped otherwise than at the turn of their
        `first_seat`.
    """
    games, rules, options = borrowed(games), borrowed(rules), borrowed(options)
    ids, view, masks, rewards = borrowed(ids), borrowed(view), borrowed(masks), borrowed(rewards)
    round_pips, round_out, seeds = borrowed(round_pips), borrowed(round_out), borrowed(seeds)
    hand, trail = borrowed(hand), borrowed(trail)
    scale, whole, scaled = borrowed(scale), borrowed(whole), borrowed(scaled)
    r = rules[0]
    o = options[0]
    seats = ask.n_seats(r)
    total = 0
    elsewhere = 0
    for j in range(which.shape[0]):
        i = which[j]
        g = games[i]
        rewards[i, :] = 0
        dones[i] = 0
        round_ended[i] = 0
        action = wide(actions[i])
        made = 0
        while True:
            count, ended = advance(g, r, o, action, ids, rewards[i], round_pips[i], round_out[i])
            made += action >= 0
            if ended:
                round_ended[i] = 1
                dones[i] |= ended == EPISODE
            turn = wide(g.mover) - first_seat[i]
            agent = agents[turn if turn >= 0 else turn + seats]
            # `ended` is ROUND or EPISODE, and so is what stops.
            stopped = count == 0 or made >= moves or (ended and stop and ended >= stop)
            if stopped or each or agent == NOBODY:
                show_game(g, r, i, ids, count, view, masks, n_legal, to_move, observed, scale, whole, scaled)
            if stopped or agent == NOBODY:
                elsewhere += stopped or turn != 0
                break
            if agent == PLANNER:
                write_base(g, r, wide(g.mover), view)
            action = choose(agent, r, ids, count, view, hand, trail, seeds[i : i + 1])
        total += made
    return total, elsewhere


@cache
def play_call(record: np.dtype[np.void]) -> Callable[..., tuple[int, int]]:
    """`play_on` for one dtype of records, compiled, and announced if that takes long."""
    word, byte, line = np.zeros(1, np.int64), np.zeros(1, np.uint8), np.zeros((1, 1), np.float32)
    flags, row, scale = line.astype(np.int8), np.zeros((1, 1), np.uint8), line[0].copy()
    scale.flags.writeable = False
    with announced_compile(st.name_of_kernels("scripted play", record)):
        return direct(
            play_on,
            np.zeros(1, record), np.zeros(1, st.RULES), np.zeros(1, OPTIONS), word, word, word, word, 1,
            GO_ON, word.astype(np.uint64), word.astype(np.int16), flags[0], word.astype(np.int32),
            word.astype(np.int16), flags, word, word, line, byte, byte, line, row, True, True,
            scale, flags, line,
        )  # fmt: skip
