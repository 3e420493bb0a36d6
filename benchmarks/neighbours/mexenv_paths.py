"""This project, by the measuring functions of `mexenv bench`."""

from __future__ import annotations

from timing import Measurement

from mexenv import bench
from mexenv.rules import load_ruleset

DISTRIBUTION = "mexenv"
GAMES = 1024


def paths() -> dict[str, Measurement]:
    """The paths by name; all read the CPU time of their only thread."""
    found = bench.headline_paths(load_ruleset("parsons"), GAMES)
    return {path.path: Measurement(path.games, lambda run=path.run: run) for path in found}
