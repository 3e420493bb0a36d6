"""Agents that follow one sentence. They look at the action mask only.

All of them play whenever a tile can be played, a drawn one included, and so lay a chain as long as it goes
on; they draw and pass only when nothing else is legal.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from mexenv.agents.base import Actions, Agent, Masks, Observations
from mexenv.agents.plays import PlayTable, play_table
from mexenv.engine._jit import kernel, wide
from mexenv.rules import Ruleset


@kernel
def no_play(mask: NDArray[np.int8], n_plays: int) -> int:
    """Draw where it is legal, else pass."""
    return n_plays if mask[n_plays] else n_plays + 1


@kernel
def next_random(state: NDArray[np.uint64]) -> int:
    """The next 63 random bits of the generator (SplitMix64) whose state stands in ``state[0]``."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return wide((z ^ (z >> np.uint64(31))) >> np.uint64(1))


@kernel
def random_row(mask: NDArray[np.int8], n_plays: int, state: NDArray[np.uint64]) -> int:
    """A legal play, each equally likely; without one, draw, else pass.

    Args:
        mask: int8[n_plays + 2].
        n_plays: how many of the actions are plays.
        state: uint64[1], state of the generator.
    """
    count = 0
    for action in range(n_plays):
        count += mask[action] != 0
    if count == 0:
        return no_play(mask, n_plays)
    skip = next_random(state) % count
    for action in range(n_plays):
        if mask[action]:
            if skip == 0:
                return action
            skip -= 1
    return n_plays + 1


@kernel
def greedy_row(mask: NDArray[np.int8], pips: NDArray[np.int16]) -> int:
    """The heaviest legal tile, the lowest id among equals; without one, draw, else pass.

    Args:
        mask: int8[n_plays + 2].
        pips: int16[n_plays], see `PlayTable`.
    """
    n_plays = pips.shape[0]
    best = -1
    for action in range(n_plays):
        if mask[action] and (best < 0 or pips[action] > pips[best]):
            best = action
    return best if best >= 0 else no_play(mask, n_plays)


@kernel
def own_first_row(mask: NDArray[np.int8], pips: NDArray[np.int16], train: NDArray[np.int16]) -> int:
    """The heaviest tile for the own train; without one, what `greedy_row` says.

    Args:
        mask: int8[n_plays + 2].
        pips: int16[n_plays], see `PlayTable`.
        train: int16[n_plays], see `PlayTable`.
    """
    best = -1
    for action in range(pips.shape[0]):
        if mask[action] and train[action] == 0 and (best < 0 or pips[action] > pips[best]):
            best = action
    return best if best >= 0 else greedy_row(mask, pips)


@kernel
def _random_rows(masks: Masks, n_plays: int, state: NDArray[np.uint64], out: Actions) -> None:
    for i in range(masks.shape[0]):
        out[i] = random_row(masks[i], n_plays, state)


@kernel
def _greedy_rows(masks: Masks, pips: NDArray[np.int16], out: Actions) -> None:
    for i in range(masks.shape[0]):
        out[i] = greedy_row(masks[i], pips)


@kernel
def _own_first_rows(masks: Masks, pips: NDArray[np.int16], train: NDArray[np.int16], out: Actions) -> None:
    for i in range(masks.shape[0]):
        out[i] = own_first_row(masks[i], pips, train)


class ScriptedAgent(Agent):
    """What agents that choose by the table of plays have in common."""

    _plays: PlayTable

    def bind(self, ruleset: Ruleset) -> Self:
        """See `Agent.bind`; these agents play every ruleset."""
        self._plays = play_table(ruleset)
        return super().bind(ruleset)

    def _rows(self, masks: Masks) -> Masks:
        """The masks in the one form that the kernels are compiled for."""
        self._check(None, masks, None)
        return np.ascontiguousarray(masks, np.int8)


class RandomAgent(ScriptedAgent):
    """Any legal play, each equally likely."""

    def __init__(self, name: str = "random", seed: int = 0) -> None:
        super().__init__(name)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Restarts the agent's randomness."""
        self._state = np.array([seed % 2**64], np.uint64)

    def act(self, observations: Observations | None, masks: Masks) -> Actions:
        """See `Agent.act`."""
        masks = self._rows(masks)
        out = np.empty(len(masks), np.int64)
        _random_rows(masks, len(self._plays.pips), self._state, out)
        return out


class GreedyAgent(ScriptedAgent):
    """The heaviest legal tile, wherever it fits."""

    def __init__(self, name: str = "greedy") -> None:
        super().__init__(name)

    def act(self, observations: Observations | None, masks: Masks) -> Actions:
        """See `Agent.act`."""
        masks = self._rows(masks)
        out = np.empty(len(masks), np.int64)
        _greedy_rows(masks, self._plays.pips, out)
        return out


class OwnFirstAgent(ScriptedAgent):
    """The heaviest tile for the own train, else the heaviest one anywhere."""

    def __init__(self, name: str = "own_first") -> None:
        super().__init__(name)

    def act(self, observations: Observations | None, masks: Masks) -> Actions:
        """See `Agent.act`."""
        masks = self._rows(masks)
        out = np.empty(len(masks), np.int64)
        _own_first_rows(masks, self._plays.pips, self._plays.train, out)
        return out
