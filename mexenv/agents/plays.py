"""What each action of a ruleset plays, as columns of numbers for the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mexenv.rules import ActionLayout, Ruleset, all_tiles


class PlayTable(NamedTuple):
    """One entry for each action that is a play; draw and pass are the two ids after the last.

    Attributes:
        pips: int16[n_plays], what the tile costs its holder when the round ends (so 0-0 by the ruleset).
        train: int16[n_plays], 0 the mover's own train, then clockwise, the Mexican Train last.
        tile: int16[n_plays], index of the tile.
        joined: int16[n_plays], the value that joins the train; -1 where the rules leave only one way, so that
            the end of the train decides.
        high: int16[n_plays], the higher half.
        low: int16[n_plays], the lower half.
    """

    pips: NDArray[np.int16]
    train: NDArray[np.int16]
    tile: NDArray[np.int16]
    joined: NDArray[np.int16]
    high: NDArray[np.int16]
    low: NDArray[np.int16]


def play_table(ruleset: Ruleset) -> PlayTable:
    """The plays of a ruleset, in the order of their ids."""
    actions = ActionLayout(ruleset)
    tiles = np.array(all_tiles(ruleset.set_max), np.int16)
    cost = tiles.sum(axis=1, dtype=np.int16)
    cost[0] = ruleset.double_blank
    pair, half = np.divmod(np.arange(actions.n_plays), 2 if actions.two_way else 1)
    tile, train = np.divmod(pair, actions.n_trains)
    joined = (
        np.where(half == 0, tiles[tile, 0], tiles[tile, 1]) if actions.two_way else np.full(len(tile), -1)
    )
    columns = (cost[tile], train, tile, joined, tiles[tile, 0], tiles[tile, 1])
    return PlayTable(*(np.ascontiguousarray(column, np.int16) for column in columns))
