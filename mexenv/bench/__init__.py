"""How fast this machine plays: what `mexenv bench` measures, prints and draws."""

from mexenv.bench.measure import Path, Run, Speed
from mexenv.bench.paths import batch_paths, headline_paths, preset_paths, single_paths, vector_paths
from mexenv.bench.report import bench, table, write_json, write_plot

__all__ = [
    "Path",
    "Run",
    "Speed",
    "batch_paths",
    "bench",
    "headline_paths",
    "preset_paths",
    "single_paths",
    "table",
    "vector_paths",
    "write_json",
    "write_plot",
]
