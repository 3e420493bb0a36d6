"""How fast this machine steps the game, path by path, from kernels to wrapped environments.

A step is one decision of one player with its action mask; resets are paid for, not counted. Speeds are per
second of the thread's own CPU time, so that a busy machine changes them little; of several repeats the
median is told.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mexenv.agents import load_agent
from mexenv.files import write_whole
from mexenv.games import BatchGame, Game
from mexenv.rules import Ruleset

BATCH_SIZES = (1, 16, 128, 1024, 8192)

START_WORDS = {
    "import_s": "a fresh interpreter: import mexenv",
    "first_reset_warm_s": "then the first reset, kernels already compiled",
    "first_reset_cold_s": "the same, compiling the kernels first",
    "cold_cpu_s": "CPU time of that interpreter with compilation",
}
"""What the entries of `start_times` are."""


class Speed(NamedTuple):
    """One measured path.

    Attributes:
        path: what is stepped.
        games: games stepped together.
        steps_per_s: median steps a second of CPU time.
        low: slowest repeat.
        high: fastest repeat.
    """

    path: str
    games: int
    steps_per_s: float
    low: float
    high: float


Run = Callable[[], tuple[int, float]]
"""Makes some steps; returns how many, and the CPU seconds they took."""


def _measure(path: str, games: int, run: Run, repeats: int, seconds: float) -> Speed:
    """Repeat `run` for about `seconds` each time."""
    run()
    speeds = []
    for _ in range(repeats):
        steps, spent = 0, 0.0
        while spent < seconds:
            more, took = run()
            steps += more
            spent += took
        speeds.append(steps / spent)
    return Speed(path, games, statistics.median(speeds), min(speeds), max(speeds))


def _timed(play: Callable[[], int]) -> Run:
    """Times all that `play`, which returns its steps, does."""

    def run() -> tuple[int, float]:
        begun = time.thread_time()
        steps = play()
        return steps, time.thread_time() - begun

    return run


def batch_paths(ruleset: Ruleset, games: int) -> Iterator[tuple[str, Run]]:
    """`BatchGame.step` with random legal actions, whose choice is not timed."""
    agent = load_agent("random", ruleset)
    for path, options in (
        ("BatchGame.step: mask", {"layout": None}),
        ("BatchGame.step: mask, base int8", {"layout": "base"}),
        ("BatchGame.step: mask, base float32", {"layout": "base", "dtype": np.float32}),
        ("BatchGame.step: mask, plan int8, decisions only", {"layout": "plan", "skip_forced": True}),
    ):
        batch = BatchGame(ruleset, games, **options)

        def run(batch: BatchGame = batch) -> tuple[int, float]:
            spent = 0.0
            for _ in range(8):
                actions = agent.act(batch.observations, batch.masks)
                begun = time.thread_time()
                batch.step(actions)
                spent += time.thread_time() - begun
            return 8 * batch.n_games, spent

        yield path, run


def _episodes(env: Any, sample: Callable[[Any, Any], int]) -> Run:
    seeds = iter(range(10**9))

    def run() -> int:
        steps = 0
        env.reset(seed=next(seeds))
        for name in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
            else:
                env.step(sample(env.action_space(name), observation["action_mask"]))
                steps += 1
        return steps

    return _timed(run)


def single_paths(ruleset: Ruleset) -> Iterator[tuple[str, Run]]:
    """One game: `Game`, the AEC environments, and one learner among opponents."""
    import gymnasium

    from mexenv import mexican_train_v0

    rng = np.random.default_rng(0)
    seeds = iter(range(10**9))

    def play() -> int:
        game = Game(ruleset, seed=next(seeds), episode="round")
        steps = 0
        while not game.over:
            legal = np.flatnonzero(game.action_mask())
            game.observe(dtype=np.int8)
            game.step(int(legal[int(rng.random() * len(legal))]))
            steps += 1
        return steps

    yield "Game: mask, observe, step, events", _timed(play)

    def by_space(space: Any, mask: Any) -> int:
        return int(space.sample(mask))

    yield "AEC raw_env: last, sample, step", _episodes(mexican_train_v0.raw_env(ruleset=ruleset), by_space)
    yield "AEC env: last, sample, step", _episodes(mexican_train_v0.env(ruleset=ruleset), by_space)
    env = gymnasium.make("mexenv/MexicanTrain-v0", ruleset=ruleset, opponents="greedy")

    def learn() -> int:
        steps, over = 0, False
        _, info = env.reset(seed=next(seeds))
        while not over:
            _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            over = terminated or truncated
            steps += 1
        return steps

    yield "gymnasium.make, three greedy opponents (learner steps)", _timed(learn)


def vector_path(ruleset: Ruleset, games: int) -> tuple[str, Run]:
    """The vector environment with greedy opponents."""
    from mexenv.envs import MexicanTrainVectorEnv

    env = MexicanTrainVectorEnv(games, ruleset=ruleset, opponents="greedy")
    agent = load_agent("random", ruleset)
    state: dict[str, Any] = {}
    observation, _ = env.reset(seed=0)
    state["mask"] = observation["action_mask"]

    def run() -> int:
        for _ in range(8):
            mask = state["mask"]
            observation, *_ = env.step(agent.act(np.zeros((games, 0), np.int8), mask))
            state["mask"] = observation["action_mask"]
        return 8 * games

    return "VectorEnv, three greedy opponents (learner steps)", _timed(run)


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
    ruleset: Ruleset, *, repeats: int = 5, seconds: float = 0.5, say: Callable[[Speed], None] = print
) -> dict[str, Any]:
    """Measure everything.

    Args:
        ruleset: what is played.
        repeats: repeats of each path.
        seconds: CPU seconds of each repeat.
        say: called with each row as it is measured.

    Returns:
        `rows` (dicts of `Speed`), `start` (see `start_times`), and what was measured on.
    """
    rows: list[Speed] = []

    def add(path: str, games: int, run: Run) -> None:
        rows.append(_measure(path, games, run, repeats, seconds))
        say(rows[-1])

    for games in BATCH_SIZES:
        for path, run in batch_paths(ruleset, games):
            add(path, games, run)
    path, run = vector_path(ruleset, 1024)
    add(path, 1024, run)
    for path, run in single_paths(ruleset):
        add(path, 1, run)
    return {
        "ruleset": ruleset.name,
        "players": ruleset.players,
        "set_max": ruleset.set_max,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "rows": [row._asdict() for row in rows],
        "start": start_times(),
    }


def write_json(result: dict[str, Any], path: Path) -> None:
    """Write the result of `bench`, complete or not at all."""
    write_whole(path, lambda file: file.write(json.dumps(result, indent=1).encode()))


def write_plot(result: dict[str, Any], path: Path) -> None:
    """Draw steps a second over the number of games, both logarithmic, a line for each path."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for path_name in dict.fromkeys(row["path"] for row in result["rows"]):
        line = [(row["games"], row["steps_per_s"]) for row in result["rows"] if row["path"] == path_name]
        axes.plot(*zip(*line, strict=True), marker="o", label=path_name)
    axes.set(xscale="log", yscale="log", xlabel="games stepped together", ylabel="steps a second, one core")
    axes.grid(which="both", alpha=0.3)
    axes.legend(fontsize="small")
    write_whole(path, lambda file: figure.savefig(file, format="png"))
