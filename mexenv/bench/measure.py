"""Measuring in turns, so that whatever else the machine does hits all paths alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

Run = Callable[[], tuple[int, float]]
"""Makes some steps; returns how many, and the seconds they took."""

Clock = Literal["cpu", "wall"]


class Path(NamedTuple):
    """Something to measure.

    Attributes:
        path: what is stepped, in words.
        games: games stepped together.
        run: makes some steps and times them.
        clock: `cpu` for seconds of CPU time of the one thread that works, `wall` for seconds on the clock.
    """

    path: str
    games: int
    run: Run
    clock: Clock = "cpu"


class Speed(NamedTuple):
    """One measured path.

    Attributes:
        path: what is stepped.
        games: games stepped together.
        steps_per_s: median of the turns.
        low: slowest turn.
        high: fastest turn.
        clock: see `Path`.
    """

    path: str
    games: int
    steps_per_s: float
    low: float
    high: float
    clock: Clock


def measure(paths: Iterable[Path], turns: int, seconds: float) -> Iterator[Speed]:
    """Measure each path once in every turn.

    Args:
        paths: what to measure; all of it is held at once.
        turns: how often each is measured.
        seconds: how long, at least, each time.

    Yields:
        The speeds, in the order of the paths, after the last turn.
    """
    paths = list(paths)
    for path in paths:
        path.run()  # compiles, allocates
    speeds: list[list[float]] = [[] for _ in paths]
    for _ in range(turns):
        for path, found in zip(paths, speeds, strict=True):
            steps, spent = 0, 0.0
            while spent < seconds:
                more, took = path.run()
                steps += more
                spent += took
            found.append(steps / spent)
    for path, found in zip(paths, speeds, strict=True):
        yield Speed(path.path, path.games, statistics.median(found), min(found), max(found), path.clock)


def timed(play: Callable[[], int]) -> Run:
    """Times all that `play`, which returns its steps, does in this thread."""

    def run() -> tuple[int, float]:
        begun = time.thread_time()
        steps = play()
        return steps, time.thread_time() - begun

    return run
