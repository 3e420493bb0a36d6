"""The loops over many games: step them, deal them anew, pay the rewards, play forced moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._jit import kernel, record_dtype, wide
from mexenv.engine.deal import below, new_match, next_round
from mexenv.engine.legal import write_mask
from mexenv.engine.play import apply
from mexenv.engine.score import place_of

Record = Any
Array = Any

RELATIVE, PIPS, WIN = range(3)

# How a batch plays on; one record, so that the kernels take one argument for it.
OPTIONS = record_dtype(
    [
        ("match", np.int32),  # 1: an episode is a match, 0: a single round
        ("round_index", np.int32),  # the round that an episode begins with, -1 for a random one
        ("reward", np.int32),  # RELATIVE, PIPS or WIN
        ("skip_forced", np.int32),  # 1: moves without a choice are played at once
        ("auto_reset", np.int32),  # 1: a finished episode is followed by the next
        ("reward_scale", np.float64),
    ]
)


@kernel
def start_episode(g: Record, r: Record, options: Record) -> None:
    """Deal a new episode from the game's own generator."""
    index = wide(options.round_index)
    if index < 0:
        index = below(g, ask.rounds(r))
    new_match(g, r, index)


@kernel
def pay(g: Record, r: Record, options: Record, last: bool, rewards: Array) -> None:
    """Add the rewards of a finished round to `rewards` (float32 [players])."""
    seats = ask.n_seats(r)
    sign = 1.0 if ask.winner_takes(r) else -1.0
    if options.reward == WIN:
        if last:
            winners = 0
            for s in range(seats):
                winners += place_of(g, r, s) == 1
            for s in range(seats):
                if place_of(g, r, s) == 1:
                    rewards[s] += options.reward_scale / winners
        return
    total = 0.0
    for s in range(seats):
        total += g.round_score[s] / st.POINT
    team = 2 if ask.has_partners(r) else 1
    for s in range(seats):
        own = g.round_score[s] / st.POINT
        if options.reward == RELATIVE:
            own -= (total - team * own) / (seats - team)
        rewards[s] += sign * own * options.reward_scale


@kernel
def _only_action(mask: Array) -> int:
    for action in range(mask.shape[0] - 1, -1, -1):
        if mask[action]:
            return action
    return -1


@kernel
def step_games(
    games: Array,
    rules: Array,
    options: Array,
    actions: Array,
    begin: int,
    end: int,
    masks: Array,
    to_move: Array,
    rewards: Array,
    dones: Array,
    round_ended: Array,
    round_pips: Array,
    round_out: Array,
) -> int:
    """Carry out one action in each of the games `begin` to `end` - 1.

    All actions are checked before the first is carried out. Games that are over are left alone.
    After the end of a round the next decision is always shown, even a forced one, so that no step
    can run through two ends.

    Returns:
        -1, or the first game whose action is illegal; then nothing has changed.
    """  # fmt: skip
    r = rules[0]
    o = options[0]
    n_actions = masks.shape[1]
    seats = ask.n_seats(r)
    for i in range(begin, end):
        if games[i].stage < st.ROUND_OVER:
            a = actions[i]
            if a < 0 or a >= n_actions or masks[i, a] == 0:
                return i
    for i in range(begin, end):
        g = games[i]
        mask = masks[i]
        reward = rewards[i]
        reward[:] = 0
        dones[i] = 0
        round_ended[i] = 0
        if g.stage >= st.ROUND_OVER:
            continue
        apply(g, r, wide(actions[i]))
        while True:
            if g.stage >= st.ROUND_OVER:
                last = o.match == 0 or g.stage == st.MATCH_OVER
                pay(g, r, o, last, reward)
                round_ended[i] = 1
                for s in range(seats):
                    round_pips[i, s] = g.round_score[s] / st.POINT
                    round_out[i, s] = g.out[s]
                if not last:
                    next_round(g, r)
                else:
                    dones[i] = 1
                    if o.auto_reset == 0:
                        mask[:] = 0
                        break
                    start_episode(g, r, o)
            if write_mask(g, r, mask) != 1 or o.skip_forced == 0 or round_ended[i]:
                break
            apply(g, r, _only_action(mask))
        to_move[i] = g.mover
    return -1


@kernel
def reset_games(
    games: Array, rules: Array, options: Array, seeds: Array, which: Array, masks: Array, to_move: Array
) -> None:
    """Deal new episodes; game `which[i]` depends on `seeds[i]` alone."""
    r = rules[0]
    o = options[0]
    for j in range(which.shape[0]):
        i = which[j]
        g = games[i]
        g.rng = seeds[j]
        start_episode(g, r, o)
        write_mask(g, r, masks[i])
        to_move[i] = g.mover


@kernel
def write_masks(games: Array, rules: Array, masks: Array, to_move: Array) -> None:
    """Write the masks and movers of all games anew, from their records."""
    r = rules[0]
    for i in range(games.shape[0]):
        write_mask(games[i], r, masks[i])
        to_move[i] = games[i].mover
