"""The whole measurement: rows, limits and start times, as a table, as JSON and as a picture."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from rich.table import Table

from mexenv.bench import paths
from mexenv.bench.measure import Path, measure
from mexenv.engine.state import dtype_for
from mexenv.files import write_whole
from mexenv.games import BatchGame
from mexenv.rules import Ruleset

BATCH_SIZES = (1, 16, 128, 1024, 8192)
GAMES = 1024

WORDS = {
    "record_bytes": "bytes of a game's record",
    "game_bytes": "bytes of a game with mask, int8 observation and results",
    "step_bytes": "bytes of mask and int8 observation, written at each step",
    "copy_steps_per_s": "steps/s if a step were a plain copy of those bytes",
    "copy_share": "share of that speed that BatchGame.step reaches",
    "thread_ratio_1024": "two threads against one, 1,024 games",
    "thread_ratio_4096": "two threads against one, 4,096 games",
    "slowest_preset_ratio": "slowest preset against the ruleset measured",
    "import_s": "seconds: a fresh interpreter imports mexenv",
    "first_reset_warm_s": "seconds more to a first reset, kernels already compiled",
    "first_reset_cold_s": "the same, compiling the kernels first",
    "cold_cpu_s": "CPU seconds of that interpreter, compiling included",
}
"""What the figures beside the rows are."""


def _limits(ruleset: Ruleset, turns: int, seconds: float) -> dict[str, float]:
    """What memory allows: the bytes of a step, and how fast they can be copied."""
    batch = BatchGame(ruleset, GAMES)
    arrays = (batch.masks, batch.observations)
    step_bytes = sum(array[0].nbytes for array in arrays)
    results = (batch.rewards, batch.to_move, batch.n_legal, batch.dones, batch.round_ended)
    record = dtype_for(ruleset).itemsize
    source = [np.ones_like(array) for array in arrays]

    def copy() -> tuple[int, float]:
        begun = time.thread_time()
        for target, bytes_ in zip(arrays, source, strict=True):
            np.copyto(target, bytes_)
        return GAMES, time.thread_time() - begun

    (speed,) = measure([Path("copy", GAMES, copy)], turns, seconds)
    return {
        "record_bytes": record,
        "game_bytes": record + step_bytes + sum(array[0].nbytes for array in results),
        "step_bytes": step_bytes,
        "copy_steps_per_s": speed.steps_per_s,
    }


def start_times() -> dict[str, float]:
    """Seconds from a fresh interpreter: import, first reset warm, and cold compilation (wall, CPU)."""
    code = (
        "import time; a=time.perf_counter(); import mexenv; b=time.perf_counter();"
        "from mexenv import mexican_train_v0; mexican_train_v0.raw_env().reset(seed=0);"
        "c=time.perf_counter(); print(b-a, c-b, time.process_time())"
    )

    def fresh(environment: dict[str, str]) -> list[float]:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        return [float(x) for x in done.stdout.split()]

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        _, cold, cpu = fresh(environment)
        warm = [fresh(environment) for _ in range(3)]
    return {
        "import_s": statistics.median(row[0] for row in warm),
        "first_reset_warm_s": statistics.median(row[1] for row in warm),
        "first_reset_cold_s": cold,
        "cold_cpu_s": cpu,
    }


def bench(
    ruleset: Ruleset,
    *,
    turns: int = 5,
    seconds: float = 0.2,
    sizes: tuple[int, ...] = BATCH_SIZES,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Measure everything.

    Args:
        ruleset: what is played.
        turns: how often each path is measured, in turn with the others.
        seconds: how long each time.
        sizes: numbers of games of the batch paths.
        say: told what is being measured.

    Returns:
        `rows` (dicts of `Speed`), `limits` and `start` (see `WORDS`), and what was measured on.
    """
    say("making and compiling the paths ...")
    found = [path for games in sizes for path in paths.kernel_paths(ruleset, games)]
    found += [path for games in sizes for path in paths.batch_paths(ruleset, games)]
    found += [
        *paths.thread_paths(ruleset, GAMES),
        *paths.thread_paths(ruleset, 4 * GAMES),
        *paths.play_paths(ruleset, GAMES),
        *paths.single_paths(ruleset),
        *paths.vector_paths(ruleset, GAMES),
        *paths.preset_paths(GAMES),
    ]
    say(f"measuring {len(found)} paths, {turns} times each ...")
    rows = [row._asdict() for row in measure(found, turns, seconds)]
    speed = {(row["path"], row["games"]): row["steps_per_s"] for row in rows}
    limits = _limits(ruleset, turns, seconds)
    step = "BatchGame.step: mask, base int8"
    plain = speed[step, max(size for size in sizes if size <= GAMES)]
    limits["copy_share"] = plain / limits["copy_steps_per_s"]
    for games in (GAMES, 4 * GAMES):
        ratio = speed[f"{step}, 2 threads", games] / speed[f"{step}, 1 thread", games]
        limits[f"thread_ratio_{games}"] = ratio
    presets = [value for (path, _), value in speed.items() if path.startswith("preset ")]
    limits["slowest_preset_ratio"] = min(presets) / plain
    say("measuring fresh starts ...")
    return {
        "ruleset": ruleset.name,
        "players": ruleset.players,
        "set_max": ruleset.set_max,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processors": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "rows": rows,
        "limits": limits,
        "start": start_times(),
    }


def table(result: dict[str, Any]) -> Table:
    """The result of `bench` to print."""
    shown = Table("path", "games", "steps/s", "low", "high", "clock")
    for column in shown.columns[1:5]:
        column.justify = "right"
    for row in result["rows"]:
        speeds = [f"{row[name]:,.0f}" for name in ("steps_per_s", "low", "high")]
        shown.add_row(row["path"], f"{row['games']:,}", *speeds, row["clock"])
    shown.add_section()
    for name, value in {**result["limits"], **result["start"]}.items():
        shown.add_row(WORDS[name], "", f"{value:,.0f}" if value > 100 else f"{value:,.2f}", "", "", "")
    return shown


def write_json(result: dict[str, Any], path: FilePath) -> None:
    """Write the result of `bench`, complete or not at all."""
    write_whole(path, lambda file: file.write(json.dumps(result, indent=1).encode()))


def write_plot(result: dict[str, Any], path: FilePath) -> None:
    """Draw steps a second over the number of games, both logarithmic: a line or a point for each path."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots()
    rows = [row for row in result["rows"] if not row["path"].startswith("preset ")]
    for path_name in dict.fromkeys(row["path"] for row in rows):
        line = [(row["games"], row["steps_per_s"]) for row in rows if row["path"] == path_name]
        axes.plot(*zip(*line, strict=True), marker="o", label=path_name)
    axes.set(xscale="log", yscale="log", xlabel="games stepped together", ylabel="steps a second")
    axes.grid(which="both", alpha=0.3)
    figure.legend(fontsize="small", loc="outside right upper")
    write_whole(path, lambda file: figure.savefig(file, format="png"))
