"""A batch of games in which some can go on while others wait for somebody's decision."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mexenv.games import BatchGame
from mexenv.games.playing import STOP_AT_ROUND

Index = npt.NDArray[np.int64]


class Table(BatchGame):
    """A batch of which some games can be played on and dealt anew while the others wait."""

    def play_some(
        self,
        which: Index,
        actions: Index,
        codes: Index,
        first_seats: Index,
        seeds: npt.NDArray[np.uint64],
    ) -> bool:
        """Play on in the games `which` until somebody is to move whom no kernel plays, or a round ends.

        Args:
            which: int64 [m], indices of games.
            actions: int64 [n], by game: a legal action to begin with, or -1.
            codes: int64 [players], see `mexenv.games.playing.play_on`.
            first_seats: int64 [n], by game: the seat that `codes[0]` is about.
            seeds: uint64 [n], by game: generators of random agents, moved on.

        Returns:
            Whether all stopped at the turn of their first seat, no round having ended.
        """
        return self._play_some(which, actions, codes, first_seats, seeds, 2**62, STOP_AT_ROUND)[1] == 0

    def deal_some(self, which: Index) -> None:
        """Deal the next episode in the games of `which`; no end of theirs is left marked in `dones`."""
        seeds = self.games["rng"][which]
        self._deal(which, seeds)
        self.dones[which] = 0
