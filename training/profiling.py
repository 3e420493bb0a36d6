"""Where the time of a training iteration goes: a rollout, its log and its update, phase by phase."""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from rich.table import Table

from mexenv.games import BatchGame
from training.config import TrainingConfig
from training.metrics import run_logger
from training.models import build_model

PHASES = (
    "engine", "observation", "hidden hands", "features", "policy", "sampling", "opponents", "copying",
    "recording", "callbacks", "advantage", "logging", "minibatches", "gather", "forward", "loss", "backward",
    "optimiser", "carrying", "other",
)  # fmt: skip
"""The phases in the order in which an iteration meets them; those of the update from `minibatches` on."""


def profile(config: TrainingConfig, *, iterations: int = 3) -> dict[str, Any]:
    """Trains for some iterations and says where their time went.

    Args:
        config: What to train, with algorithm `self_play`.
        iterations: How many, after one that is not counted.

    Returns:
        `decisions` and `seconds` (wall clock) of an iteration, `threads`, `iterations`, and `phases`: for
        each its `seconds` in an iteration and its `share`. Time that threads spend side by side counts once.
    """
    th.set_num_threads(1)
    model = build_model(config)
    with tempfile.TemporaryDirectory() as folder:
        model.set_logger(run_logger(Path(folder), 0))
        model.learn(1)
        model.clock.seconds.clear()
        decisions, begun = model.num_timesteps, time.perf_counter()
        for _ in range(iterations):
            model.learn(1, reset_num_timesteps=False)
        seconds = (time.perf_counter() - begun) / iterations
        model.logger.close()
    found = {phase: spent / iterations for phase, spent in model.clock.seconds.items()}
    both = found.pop("engine and observation")
    share = _observation_share(model.batch)
    found |= {"engine": both * (1 - share), "observation": both * share}
    found["other"] = max(0.0, seconds - sum(found.values()))
    phases = {
        name: {"seconds": found[name], "share": found[name] / seconds} for name in PHASES if name in found
    }
    return {
        "config": config.name,
        "threads": model.workers.count,
        "iterations": iterations,
        "decisions": (model.num_timesteps - decisions) / iterations,
        "seconds": seconds,
        "phases": phases,
    }


def profile_table(result: dict[str, Any]) -> Table:
    """Returns what `profile` found as a table."""
    speed = result["decisions"] / result["seconds"]
    table = Table(
        title=f"{result['config']}, {result['threads']} thread(s)\n"
        f"{result['decisions']:,.0f} decisions in {result['seconds']:.2f} s, {speed:,.0f} a second",
        min_width=48,
    )
    table.add_column("phase")
    for heading in ("seconds", "share"):
        table.add_column(heading, justify="right")
    for name, figures in result["phases"].items():
        table.add_row(
            name, f"{figures['seconds']:.3f}", f"{figures['share']:.1%}", end_section=name == "logging"
        )
    return table


def _observation_share(batch: BatchGame, steps: int = 20) -> float:
    """Returns how much of a step is spent on observations, from steps that are followed by one more."""
    games = min(batch.n_games, 256)
    twin = BatchGame(batch.ruleset, games, seed=1, engine="random", layout=batch.layout, skip_forced=True)
    assert twin.layout is not None
    rng, out = np.random.default_rng(0), np.empty_like(twin.observations)
    stepping = observing = 0.0
    for step in range(2 * steps):
        actions = (twin.masks * rng.random(twin.masks.shape, np.float32)).argmax(1)
        begun = time.perf_counter()
        twin.step(actions)
        between = time.perf_counter()
        twin.observe(twin.layout, out=out)
        if step >= steps:  # the first rounds have hardly begun before
            stepping += between - begun
            observing += time.perf_counter() - between
    return min(1.0, observing / stepping)
