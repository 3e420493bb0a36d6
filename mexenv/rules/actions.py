"""Numbers for actions: a fixed list for each ruleset, the same for every seat and every state."""

import hashlib
from collections.abc import Sequence
from typing import Literal, NamedTuple

from mexenv.rules.ruleset import Ruleset
from mexenv.rules.tiles import Tile, format_tile, tile_index, tile_of


class Action(NamedTuple):
    """An action in words.

    Attributes:
        kind: `play`, `draw` or `pass` (which also stops a chain or a drive).
        tile: The tile played, `(hi, lo)`; None unless it is a play.
        train: The train played on, as the mover counts: 0 its own, k that of the k-th seat clockwise, and
            `players` the Mexican Train; None unless it is a play.
        half: The half that joins the train, 0 the high one, 1 the low one; None unless it is a play under
            rules where a tile can join a train in two ways.
    """

    kind: Literal["play", "draw", "pass"]
    tile: Tile | None = None
    train: int | None = None
    half: int | None = None


class ActionLayout:
    """The list of actions of a ruleset.

    Plays come first, by tile, then train, then joined half; then draw; then pass. With double-12 and four
    players these are 91 x 5 plays and two more: 457 actions.

    Attributes:
        n_actions: How many actions there are; ids run from 0 to `n_actions - 1`.
        n_plays: How many of them are plays.
        draw: The id of the draw.
        pass_: The id of the pass.
    """

    def __init__(self, ruleset: Ruleset) -> None:
        self.players = ruleset.players
        self.n_tiles = ruleset.n_tiles
        self.n_trains = ruleset.n_trains
        self.two_way = ruleset.two_way
        self.n_plays = self.n_tiles * self.n_trains * (2 if self.two_way else 1)
        self.draw = self.n_plays
        self.pass_ = self.n_plays + 1
        self.n_actions = self.n_plays + 2

    @property
    def id(self) -> str:
        """Name and version of the numbering."""
        return "tile-train-half/1" if self.two_way else "tile-train/1"

    @property
    def digest(self) -> str:
        """16 hex digits that two layouts share exactly when every id means the same."""
        text = f"{self.id} tiles={self.n_tiles} trains={self.n_trains}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def encode(self, tile: Tile, train: int, half: int | None = None) -> int:
        """Returns the id of a play.

        Args:
            tile: The tile, its halves in either order.
            train: The train, counted from the mover: 0 to `players`.
            half: The joined half: 0 the higher, 1 the lower. Needed exactly where the ruleset is two-way;
                a double joins by 0 there, which may be left out.

        Raises:
            ValueError: If the tile, the train or the half does not exist under the ruleset.
        """
        index = tile_index(*tile)
        if index >= self.n_tiles:
            raise ValueError(f"tile {format_tile(tile)}: the set ends at {format_tile(self._last)}")
        if not 0 <= train < self.n_trains:
            raise ValueError(f"train {train}: allowed are 0 (own) to {self.players} (Mexican Train)")
        pair = index * self.n_trains + train
        if not self.two_way:
            if half is not None:
                raise ValueError(f"half {half}: a tile joins in one way only here; allowed: None")
            return pair
        if half is None and tile[0] == tile[1]:
            half = 0
        if half not in (0, 1):
            raise ValueError(f"half {half} of tile {format_tile(tile)}: allowed are 0 (high) and 1 (low)")
        return pair * 2 + half

    def decode(self, action: int) -> Action:
        """Returns what an id means.

        Raises:
            ValueError: If there is no such id.
        """
        action = self._checked(action)
        if action == self.draw:
            return Action("draw")
        if action == self.pass_:
            return Action("pass")
        pair, half = divmod(action, 2) if self.two_way else (action, None)
        index, train = divmod(pair, self.n_trains)
        return Action("play", tile_of(index), train, half)

    def describe(self, action: int, names: Sequence[str] | None = None) -> str:
        """Returns an id in words, such as `12-5 on the Mexican Train`.

        Args:
            action: The id.
            names: What to call the seats, the mover first, then clockwise (`players` of them). Without, the
                trains are called by their distance.

        Raises:
            ValueError: If there is no such id, or the number of names is wrong.
        """
        if names is not None and len(names) != self.players:
            raise ValueError(f"names: got {len(names)}, one for each of the {self.players} players is needed")
        kind, tile, train, half = self.decode(action)
        if tile is None or train is None:
            return kind
        text = format_tile(tile)
        if half is not None and tile[0] != tile[1]:
            text += f" by its {tile[half]}"
        return f"{text} on {self._train_name(train, names)}"

    @property
    def _last(self) -> Tile:
        return tile_of(self.n_tiles - 1)

    def _checked(self, action: int) -> int:
        action = int(action)
        if not 0 <= action < self.n_actions:
            raise ValueError(f"action {action}: allowed are 0 to {self.n_actions - 1}")
        return action

    def _train_name(self, train: int, names: Sequence[str] | None) -> str:
        if train == self.players:
            return "the Mexican Train"
        if names is not None:
            return f"{names[train]}'s train"
        if train == 0:
            return "the own train"
        return "the next seat's train" if train == 1 else f"the train {train} seats on"
