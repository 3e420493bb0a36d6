"""A game in short words, for tests: tiles are `5-4`, plays `5-4@2` (train 2) or `5-4@M` (Mexican Train).

Under rules where a tile can join a train in two ways, the joined half is written first: `4-5@2`.
"""

from __future__ import annotations

from typing import Any, Self

from mexenv.games import Game
from mexenv.rules import Ruleset
from mexenv.rules.tiles import Tile, format_tile, parse_tile


def tiles(text: str) -> list[Tile]:
    """Read `12-5 3-3` as tiles."""
    return [parse_tile(word) for word in text.split()]


def laid(text: str) -> list[Tile]:
    """Read the tiles of a train, the halves in the order written."""
    return [(int(a), int(b)) for a, b in (word.split("-") for word in text.split())]


class Board:
    """A `Game` that is told what to do in words, with absolute trains."""

    def __init__(self, game: Game) -> None:
        self.game = game

    @classmethod
    def of(
        cls,
        ruleset: Ruleset,
        hands: list[str],
        trains: dict[int | str, str] | None = None,
        boneyard: str | None = "",
        options: dict[str, Any] | None = None,
        **fields: Any,
    ) -> Self:
        """A position; trains are given by seat or `M`, tiles not named are out of the game."""
        rows: list[list[Tile]] = [[] for _ in range(ruleset.n_trains)]
        for train, text in (trains or {}).items():
            rows[ruleset.players if train == "M" else int(train)] = laid(text)
        position: dict[str, Any] = {"hands": [tiles(hand) for hand in hands], "trains": rows, **fields}
        if boneyard is not None:
            position["boneyard"] = tiles(boneyard)
        return cls(Game.from_position(ruleset, position, **(options or {})))

    def _word(self, action: int) -> str:
        kind, tile, place, half = self.game.actions.decode(action)
        if tile is None or place is None:
            return kind
        assert self.game.to_move is not None
        train: int | str = (self.game.to_move + place) % self.game.players
        shown = tile[::-1] if half == 1 else tile
        return f"{format_tile(shown)}@{'M' if place == self.game.players else train}"

    @property
    def legal(self) -> set[str]:
        """The mover's actions in words."""
        return {self._word(action) for action in self.game.legal_actions()}

    def do(self, *words: str) -> Self:
        """Carry out actions, in order."""
        for word in words:
            named = {self._word(action): action for action in self.game.legal_actions()}
            assert word in named, f"{word} is not legal for seat {self.game.to_move}: {sorted(named)}"
            self.game.step(named[word])
        return self

    @property
    def now(self) -> tuple[int | None, str]:
        """Who is to move, and the stage."""
        return self.game.to_move, self.game.stage

    @property
    def last_round(self) -> dict[str, Any]:
        """The round that ended last."""
        return self.game.round_history[-1]
