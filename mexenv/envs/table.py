"""A batch of games in which some can go on while others wait for somebody's decision."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mexenv.engine import batch as loops
from mexenv.engine._jit import kernel
from mexenv.games import BatchGame, IllegalActionError

Index = npt.NDArray[np.int64]


@kernel
def _step_listed(
    games: Any,
    rules: Any,
    options: Any,
    which: Any,
    actions: Any,
    masks: Any,
    to_move: Any,
    rewards: Any,
    dones: Any,
    round_ended: Any,
    round_pips: Any,
    round_out: Any,
) -> int:
    """`step_games` for the games `which` alone; returns -1, or the first whose action is illegal."""
    for j in range(which.shape[0]):
        i = which[j]
        bad = loops.step_games(
            games,
            rules,
            options,
            actions,
            i,
            i + 1,
            masks,
            to_move,
            rewards,
            dones,
            round_ended,
            round_pips,
            round_out,
        )
        if bad >= 0:
            return bad
    return -1


class Table(BatchGame):
    """A batch of which some games can be stepped and dealt anew while the others wait."""

    def step_some(self, which: Index, actions: Index) -> None:
        """Carry out `actions[i]` in each game i of `which`; the other entries are not looked at."""
        if which.shape[0] == 1:  # one game needs no kernel of its own
            bad = self._step_slice(actions, int(which[0]), int(which[0]) + 1)
        else:
            bad = _step_listed(
                self.games,
                self._rules,
                self._options,
                which,
                actions,
                self.masks,
                self.to_move,
                self.rewards,
                self.dones,
                self.round_ended,
                self.round_pips,
                self.round_out,
            )
        if bad >= 0:
            raise IllegalActionError(self._complaint(bad, int(actions[bad])))

    def deal_some(self, which: Index) -> None:
        """Deal the next episode in the games of `which`; no end of theirs is left marked in `dones`."""
        seeds = self.games["rng"][which]
        loops.reset_games(self.games, self._rules, self._options, seeds, which, self.masks, self.to_move)
        self.dones[which] = 0
