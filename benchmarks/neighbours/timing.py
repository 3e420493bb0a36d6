"""What every measuring script shares: the form of a path, and timing by the CPU time of the process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

Run = Callable[[], tuple[int, float]]
"""Makes some steps; returns how many, and the CPU seconds they took."""


class Measurement(NamedTuple):
    """One way to step a game.

    Attributes:
        games: games stepped together.
        build: makes everything ready and returns what is measured.
    """

    games: int
    build: Callable[[], Run]


def timed(play: Callable[[], int], times: int = 1) -> Run:
    """Times whole games, with their resets and the choice of actions.

    Args:
        play: plays a game and returns its steps.
        times: games for each reading of the clock, more where games are short.
    """

    def run() -> tuple[int, float]:
        steps = 0
        begun = time.process_time()
        for _ in range(times):
            steps += play()
        return steps, time.process_time() - begun

    return run
