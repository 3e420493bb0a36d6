"""The planner: knows what it could lay on its own train without help, and protects that.

Its plan is the best trail of its hand from the end of its own train. Every legal play is scored by what it
leaves: the value of the best trail after it, the points it takes out of the hand, and a few terms for
doubles, the own marker and the end of the round. So tiles that are on no trail go to other trains first,
heaviest first, and the next trail tile is laid where nothing else can be done with profit.
"""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from mexenv.agents.base import Actions, Masks, Observations
from mexenv.agents.scripted import ScriptedAgent, no_play
from mexenv.engine._jit import kernel
from mexenv.observation import make_layout
from mexenv.observation.trail import DISCOUNT, LENGTH_BONUS, MAX_NODES, MAX_TRAIL, best_trail, flip_tile
from mexenv.rules import Ruleset

# What a play is worth, in pips. Tuned by hand on duplicate deals of dominos_cc.
WEIGHTS: Final = np.array(
    [
        1.0,  # 0: the best trail after the play
        1.0,  # 1: the points of the tile
        7.0,  # 2: a double, with a tile in hand that can follow it
        0.0,  # 3: a double without one
        12.0,  # 4: the own marker comes down
        0.5,  # 5: on the own train
        0.5,  # 6: instead of 0, while somebody holds two tiles or fewer
    ]
)


@kernel
def plan_row(
    observation: NDArray[np.int8],
    mask: NDArray[np.int8],
    plays: Any,
    sections: NDArray[np.int64],
    weights: NDArray[np.float64],
    hand: NDArray[np.int32],
    trail: NDArray[np.int16],
) -> int:
    """The play that leaves the planner best off; without a play, draw, else pass.

    Args:
        observation: int8[size], layout `base` (or one that begins with it).
        mask: int8[n_plays + 2].
        plays: the `PlayTable`.
        sections: int64[6]: number of values, then where the sections `ends`, `marker`, `stage`, `hand_size`
            begin, then the number of players.
        weights: float64[7], `WEIGHTS`.
        hand: int32[V], scratch.
        trail: int16[MAX_TRAIL], scratch.
    """
    n_values, ends_at, marker_at, stage_at, sizes_at, players = sections
    n_plays = plays.pips.shape[0]
    first = -1
    count = 0
    for action in range(n_plays):
        if mask[action]:
            count += 1
            if first < 0:
                first = action
    if count == 0:
        return no_play(mask, n_plays)
    if count == 1:
        return first

    tile = 0
    hand[:] = 0
    for high in range(n_values):
        for low in range(high + 1):
            if observation[tile]:
                flip_tile(hand, high, low)
            tile += 1
    ends = 0
    for v in range(n_values):
        if observation[ends_at + v]:
            ends |= 1 << v
    held = int(observation[sizes_at])
    hurry = False
    for seat in range(1, players):
        hurry = hurry or observation[sizes_at + seat] <= 2
    trail_weight = weights[6] if hurry else weights[0]
    opening = observation[stage_at] != 0

    best = -1
    best_score = -1e30
    for action in range(first, n_plays):
        if not mask[action]:
            continue
        hi = int(plays.high[action])
        lo = int(plays.low[action])
        own = plays.train[action] == 0
        after = ends
        if own:
            joined = int(plays.joined[action])
            if joined >= 0:
                after = (ends & ~(1 << joined)) | (1 << (hi + lo - joined))
            else:
                after = (((ends >> hi) & 1) << lo) | (((ends >> lo) & 1) << hi)
        flip_tile(hand, hi, lo)
        value, _, _ = best_trail(hand, after, MAX_NODES, trail, DISCOUNT, LENGTH_BONUS)
        score = trail_weight * value + weights[1] * plays.pips[action]
        if hi == lo and not opening and held > 1:
            score += weights[2] if hand[hi] else weights[3]
        flip_tile(hand, hi, lo)
        if own:
            score += weights[5]
            if observation[marker_at]:
                score += weights[4]
        if score > best_score + 1e-9:
            best_score = score
            best = action
    return best


@kernel
def _plan_rows(
    observations: Observations,
    masks: Masks,
    plays: Any,
    sections: NDArray[np.int64],
    weights: NDArray[np.float64],
    out: Actions,
) -> None:
    hand = np.empty(sections[0], np.int32)
    trail = np.empty(MAX_TRAIL, np.int16)
    for i in range(masks.shape[0]):
        out[i] = plan_row(observations[i], masks[i], plays, sections, weights, hand, trail)


class PlannerAgent(ScriptedAgent):
    """Plans the trail of its own hand and scores plays by what they leave of it."""

    layout = "base"

    def __init__(self, name: str = "planner", weights: NDArray[np.float64] = WEIGHTS) -> None:
        super().__init__(name)
        self.weights = weights

    def bind(self, ruleset: Ruleset) -> Self:
        """See `Agent.bind`; the planner plays every ruleset."""
        layout = make_layout("base", ruleset)
        starts = [layout[name].start for name in ("ends", "marker", "stage", "hand_size")]
        self._size = layout.size
        self._sections = np.array([ruleset.n_values, *starts, ruleset.players], np.int64)
        return super().bind(ruleset)

    def act(self, observations: Observations | None, masks: Masks) -> Actions:
        """See `Agent.act`."""
        masks = self._rows(masks)
        self._check(observations, masks, self._size)
        out = np.empty(len(masks), np.int64)
        rows = np.ascontiguousarray(observations, np.int8)
        _plan_rows(rows, masks, self._plays, self._sections, self.weights, out)
        return out
