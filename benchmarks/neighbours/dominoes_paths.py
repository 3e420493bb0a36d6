"""The dominoes library: block dominoes in Python, with the legal moves and no observation."""

from __future__ import annotations

import random

import dominoes
from timing import Measurement, Run, timed

DISTRIBUTION = "dominoes"


def _loop() -> Run:
    draw = random.Random(0).random

    def play() -> int:
        steps = 0
        game = dominoes.Game.new()
        while game.result is None:
            moves = game.valid_moves
            game.make_move(*moves[int(draw() * len(moves))])
            steps += 1
        return steps

    return timed(play, 8)


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    return {"block dominoes, 4 players: make_move": Measurement(1, _loop)}
