"""An episode of one game: begin it, pay its rewards, carry an action through to the next decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import wide
from mexenv.engine._jit import inlined, inner, record_dtype
from mexenv.engine.deal import below, new_match, next_round
from mexenv.engine.legal import list_actions
from mexenv.engine.play import apply
from mexenv.engine.score import place_of

Record = Any
Array = Any

RELATIVE, PIPS, WIN = range(3)

ROUND, EPISODE = 1, 2
"""What an action has ended."""

# How games play on; one record, so that the kernels take one argument for it.
OPTIONS = record_dtype(
    [
        ("match", np.int32),  # 1: an episode is a match, 0: a single round
        ("round_index", np.int32),  # the round that an episode begins with, -1 for a random one
        ("reward", np.int32),  # RELATIVE, PIPS or WIN
        ("skip_forced", np.int32),  # 1: moves without a choice are played at once
        ("auto_reset", np.int32),  # 1: a finished episode is followed by the next
        ("hold", np.int32),  # 1: the rounds of a match are dealt by somebody else
        ("reward_scale", np.float64),
    ]
)


@inner
def start_episode(g: Record, r: Record, options: Record) -> None:
    """Deal a new episode from the game's own generator."""
    index = wide(options.round_index)
    if index < 0:
        index = below(g, ask.rounds(r))
    new_match(g, r, index)


@inner
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


@inlined
def advance(
    g: Record, r: Record, options: Record, action: int, ids: Array, reward: Array, pips: Array, out: Array
) -> tuple[int, int]:
    """Carry out an action and all that follows without a choice, up to the next decision.

    After the end of a round the next decision is always shown, even a forced one, so that no call can run
    through two ends.

    Args:
        g: the game, not over.
        r: the ruleset.
        options: how the game plays on.
        action: a legal action, or -1 for none: then the present decision is listed.
        ids: int16 [n_actions], overwritten: the actions of the next decision, see `list_actions`.
        reward: float32 [players], added to.
        pips: float32 [players], overwritten where a round has ended: its points.
        out: uint8 [players], overwritten where a round has ended: 1 for the seats that went out.

    Returns:
        The number of actions listed (0: nothing was dealt after the end), and what has ended: 0, `ROUND` or
        `EPISODE` (and the round with it).
    """
    ended = 0
    while True:
        if action >= 0:
            apply(g, r, action)
        if action >= 0 and g.stage >= st.ROUND_OVER:
            last = options.match == 0 or g.stage == st.MATCH_OVER
            pay(g, r, options, last, reward)
            for s in range(ask.n_seats(r)):
                pips[s] = g.round_score[s] / st.POINT
                out[s] = (wide(g.out) >> s) & 1
            if last:
                ended = EPISODE
                if options.auto_reset == 0:
                    return 0, ended
                start_episode(g, r, options)
            else:
                ended = ROUND
                if options.hold:
                    return 0, ended
                next_round(g, r)
        count = list_actions(g, r, ids)
        if count != 1 or ended or action < 0 or options.skip_forced == 0:
            return count, ended
        action = wide(ids[0])
