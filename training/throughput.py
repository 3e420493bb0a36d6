"""How fast training is, and how that compares with the plain way: `python -m training.throughput`.

Both sides train the same network with the same minibatches, epochs and amount of data between updates, in
one process, one after the other in several turns, and count decisions that a learner made. The plain way is
sb3-contrib's MaskablePPO on a DummyVecEnv of single-learner environments.
"""

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

from mexenv.envs import SeatEnv
from mexenv.games import BatchGame
from mexenv.rules import load_ruleset
from training.networks import ActionScoringPolicy
from training.ppo import SelfPlayPPO


def measure(
    ruleset: str = "dominos_cc",
    *,
    turns: int = 3,
    rollout: int = 8192,
    plain_envs: int = 32,
    games: int = 512,
    threads: int = 1,
) -> dict[str, Any]:
    """Trains both ways in turn and returns their speeds.

    Args:
        ruleset: The ruleset played.
        turns: How often each side trains; the median counts. A turn is one rollout and its update.
        rollout: Decisions between two updates, on both sides.
        plain_envs: Environments in the DummyVecEnv.
        games: Games in the self-play batch.
        threads: Threads for PyTorch, on both sides.

    Returns:
        `self_play` and `plain` in decisions a second, with all turns, and their `ratio`.
    """
    th.set_num_threads(threads)
    rules = load_ruleset(ruleset)
    sizes: dict[str, Any] = {"trunk": 64, "hidden": [64, 64], "critic": [128, 64]}
    common: dict[str, Any] = {
        "batch_size": rollout // 4,
        "n_epochs": 4,
        "gamma": 1.0,
        "gae_lambda": 0.95,
        "learning_rate": 3e-4,
        "device": "cpu",
        "seed": 0,
    }
    batch = BatchGame(rules, games, engine="random", layout="plan", skip_forced=True)
    # The same network on both sides: the plain way has no hidden hands to show its critic.
    ours = SelfPlayPPO(batch, decisions=rollout, privileged=False, policy_kwargs=sizes, **common)

    def seat_env() -> SeatEnv:
        return SeatEnv(
            "own_first", seat="rotate", observation="flat", ruleset=rules, layout="plan", engine="random",
            skip_forced=True,
        )  # fmt: skip

    env = DummyVecEnv([seat_env] * plain_envs)
    plain = MaskablePPO(
        ActionScoringPolicy,
        env,
        n_steps=rollout // plain_envs,
        policy_kwargs={**sizes, "ruleset": rules, "layout": batch.layout},
        **common,
    )
    speeds: dict[str, list[float]] = {"self_play": [], "plain": []}
    for model in (ours, plain):
        model.learn(1)  # compiles, allocates
    for _ in range(turns):
        for name, model in (("self_play", ours), ("plain", plain)):
            start, wall, cpu = model.num_timesteps, time.perf_counter(), time.process_time()
            model.learn(1, reset_num_timesteps=False)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            # CPU seconds where one thread works: other programs on the machine then do not matter.
            speeds[name].append((model.num_timesteps - start) / (cpu if threads == 1 else wall))
    medians = {name: float(np.median(values)) for name, values in speeds.items()}
    return {**medians, "ratio": medians["self_play"] / medians["plain"], "turns": speeds, "threads": threads}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures from the command line and prints JSON."""
    parser = argparse.ArgumentParser(prog="python -m training.throughput", description=__doc__)
    parser.add_argument("--ruleset", default="dominos_cc")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(arguments)
    print(json.dumps(measure(given.ruleset, turns=given.turns, threads=given.threads), indent=2))


if __name__ == "__main__":
    main()
