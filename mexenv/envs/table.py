"""A batch of games in which some can go on while others wait for somebody's decision."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mexenv.games import BatchGame

Index = npt.NDArray[np.int64]


class Table(BatchGame):
    """A batch of which some games can be stepped and dealt anew while the others wait."""

    def step_some(self, which: Index, actions: Index) -> None:
        """Carry out `actions[i]` in each game i of `which`; the other entries are not looked at."""
        self._step_some(which, actions)

    def deal_some(self, which: Index) -> None:
        """Deal the next episode in the games of `which`; no end of theirs is left marked in `dones`."""
        seeds = self.games["rng"][which]
        self._deal(which, seeds)
        self.dones[which] = 0
