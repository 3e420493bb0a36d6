"""RLCard: its environments, whose state carries observation and legal actions."""

from __future__ import annotations

import functools
import random

import rlcard
from timing import Measurement, Run, timed

DISTRIBUTION = "rlcard"


def _loop(name: str) -> Run:
    env = rlcard.make(name, config={"seed": 0})
    draw = random.Random(0).random

    def play() -> int:
        steps = 0
        state, _ = env.reset()
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(draw() * len(legal))])
            steps += 1
        return steps

    return timed(play)


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    return {f"{name}: step": Measurement(1, functools.partial(_loop, name)) for name in ("uno", "gin-rummy")}
