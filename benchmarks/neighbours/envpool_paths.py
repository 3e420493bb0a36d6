"""EnvPool: its card and tile games with masks; only its step is timed, not the choice of actions."""

from __future__ import annotations

import functools
import time

import envpool
import numpy as np
from timing import Measurement, Run

DISTRIBUTION = "envpool"
GAMES = 256


def _steps(name: str) -> Run:
    env = envpool.make_gymnasium(name, num_envs=GAMES, num_threads=1, seed=0)
    _, info = env.reset()
    rng = np.random.default_rng(0)
    mask = info["legal_action_mask"]
    over = np.zeros(GAMES, bool)

    def run() -> tuple[int, float]:
        nonlocal mask, over
        steps, spent = 0, 0.0
        for _ in range(4):
            actions = (mask * rng.random(mask.shape, np.float32)).argmax(1).astype(np.int32)
            begun = time.process_time()
            _, _, termination, truncation, info = env.step(actions)
            spent += time.process_time() - begun
            # The step after a game's last one only resets it.
            steps += GAMES - int(over.sum())
            over = termination | truncation
            mask = info["legal_action_mask"]
        return steps, spent

    return run


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    names = ("SparrowMahjong-v1", "LeducHoldem-v1")
    return {f"{name}: step": Measurement(GAMES, functools.partial(_steps, name)) for name in names}
