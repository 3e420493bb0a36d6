"""PufferLib: Triple Triad in C, one learner against a random bot; only the step is timed."""

from __future__ import annotations

import time

import numpy as np
from pufferlib.ocean.tripletriad.tripletriad import TripleTriad
from timing import Measurement, Run

DISTRIBUTION = "pufferlib"
GAMES = 256


def _legal(observations: np.ndarray) -> np.ndarray:
    """Five actions choose a card, nine a cell; which are legal is read off the observation."""
    choosing = observations[:, 24:25] < 0
    cards = (observations[:, 104:109] == 0) & choosing
    cells = (observations[:, 14:23] == 0) & ~choosing
    return np.concatenate([cards, cells], axis=1)


def _steps() -> Run:
    env = TripleTriad(num_envs=GAMES, report_interval=1024, seed=0)
    observations, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    over = np.zeros(GAMES, bool)

    def run() -> tuple[int, float]:
        nonlocal observations, over
        steps, spent = 0, 0.0
        for _ in range(64):
            mask = _legal(observations)
            actions = (mask * rng.random(mask.shape, np.float32)).argmax(1)
            begun = time.process_time()
            observations, _, terminals, _, _ = env.step(actions)
            spent += time.process_time() - begun
            # The step after a game's last one only resets it.
            steps += GAMES - int(over.sum())
            over = terminals.astype(bool)
        return steps, spent

    return run


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    return {"tripletriad: step": Measurement(GAMES, _steps)}
