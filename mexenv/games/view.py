"""A game record made readable: hands, trains, ends, markers, points."""

from __future__ import annotations

from typing import Any

from mexenv.engine import state as st
from mexenv.engine.score import place_of
from mexenv.games.log import doubles_in_force, doubles_waiting
from mexenv.games.slot import Slot
from mexenv.rules import Ruleset, Tile, tile_of


class GameView:
    """What can be read off a game. Seats and trains are absolute; train `players` is the Mexican Train."""

    ruleset: Ruleset
    players: int
    _slot: Slot

    @property
    def _games(self) -> st.StateArray:
        return self._slot.games

    @property
    def _rules(self) -> st.StateArray:
        return self._slot.rules

    @property
    def _options(self) -> st.StateArray:
        return self._slot.options

    @property
    def _g(self) -> Any:
        return self._games[0]

    @property
    def over(self) -> bool:
        """The match (or the single round) is over."""
        return bool(self._g["stage"] >= st.ROUND_OVER)

    @property
    def to_move(self) -> int | None:
        """The seat to move, None when the game is over."""
        return None if self.over else int(self._g["mover"])

    @property
    def stage(self) -> str:
        """`opening`, `play`, `cover`, `extra`, `third` or `over`."""
        return st.STAGE_NAMES[self._g["stage"]]

    @property
    def round_index(self) -> int:
        """Index of the present round, from 0."""
        return int(self._g["round_index"])

    @property
    def engine(self) -> int:
        """Value of the engine."""
        return int(self._g["engine"])

    @property
    def starter(self) -> int:
        """The seat that started the round."""
        return int(self._g["starter"])

    @property
    def hands(self) -> list[set[Tile]]:
        """The tiles held, by seat."""
        masks = self._g["hand"][: self.players, : self.ruleset.n_values].tolist()
        return [
            {(hi, lo) for hi, mask in enumerate(hand) if mask for lo in range(hi + 1) if mask >> lo & 1}
            for hand in masks
        ]

    @property
    def boneyard(self) -> list[Tile]:
        """The tiles of the boneyard in the order they will be drawn."""
        g = self._g
        return [tile_of(int(t)) for t in g["pile"][g["pile_next"] : g["pile_end"]]]

    @property
    def ends(self) -> list[list[int]]:
        """Open ends by train, sorted; [] for an unstarted Mexican Train."""
        g = self._g
        found: list[list[int]] = []
        for t in range(self.players + 1):
            if t == self.players and g["length"][t] == 0:
                found.append([])
            elif self.ruleset.double_outlets == 1:
                found.append([int(g["end_mask"][t]).bit_length() - 1])
            else:
                count = [int(n) for n in g["end_n"][t]]
                for q in range(g["q_n"]):
                    if g["q_train"][q] == t:
                        count[g["q_value"][q]] += self.ruleset.double_covers - int(g["q_covers"][q])
                found.append([v for v, n in enumerate(count) for _ in range(n)])
        return found

    @property
    def lengths(self) -> list[int]:
        """Tiles on each train, the engine not counted."""
        return [int(n) for n in self._g["length"][: self.players + 1]]

    @property
    def trains(self) -> list[list[Tile]]:
        """The tiles of each train in the order laid, the joined half first (branches run together)."""
        g = self._g
        trains: list[list[Tile]] = [[] for _ in range(self.players + 1)]
        for index in g["order"][: g["n_laid"]]:
            train = trains[int(g["where"][index]) - 1]
            hi, lo = tile_of(int(index))
            train.append((lo, hi) if g["joined_low"][index] else (hi, lo))
        return trains

    @property
    def markers(self) -> list[bool]:
        """Whether each seat's marker is up."""
        return [bool(int(self._g["marker"]) >> s & 1) for s in range(self.players)]

    @property
    def waiting(self) -> list[tuple[int, int]]:
        """(value, train) of the uncovered doubles in the order they were laid."""
        return doubles_waiting(self._games)

    @property
    def in_force(self) -> list[tuple[int, int]]:
        """(value, train) of the doubles that the seat to move must cover."""
        return [] if self.over else doubles_in_force(self._games, self._rules)

    @property
    def drawn(self) -> Tile | None:
        """The tile just drawn, while only that one may be played."""
        return tile_of(int(self._g["drawn"]) - 1) if self._g["drawn"] else None

    @property
    def totals(self) -> list[float]:
        """Match points by seat."""
        return [int(x) / st.POINT for x in self._g["total"][: self.players]]

    @property
    def places(self) -> list[int]:
        """Place of each seat by the totals so far, from 1; equal seats share it."""
        return [int(place_of(self._g, self._rules[0], s)) for s in range(self.players)]
