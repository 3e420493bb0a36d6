"""This project, by the measuring functions of `mexenv bench`."""

from __future__ import annotations

from collections.abc import Iterator

from timing import Measurement, Run

from mexenv import bench
from mexenv.rules import load_ruleset

DISTRIBUTION = "mexenv"
GAMES = 1024


def ours() -> Iterator[tuple[str, int, Run]]:
    """Every path with its games and what is measured, which reads the CPU time of its only thread."""
    ruleset = load_ruleset("parsons")
    for name, run in bench.batch_paths(ruleset, GAMES):
        yield name, GAMES, run
    for name, run in bench.single_paths(ruleset):
        yield name, 1, run
    name, run = bench.vector_path(ruleset, GAMES)
    yield name, GAMES, run


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    return {name: Measurement(games, lambda run=run: run) for name, games, run in ours()}
