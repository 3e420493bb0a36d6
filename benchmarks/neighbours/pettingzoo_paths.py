"""PettingZoo: the loop of its documentation over turn-based (AEC) environments, wrapped and bare."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pettingzoo.classic import connect_four_v3, texas_holdem_v4
from timing import Measurement, Run, timed

DISTRIBUTION = "pettingzoo"


def _loop(make: Callable[[], Any]) -> Run:
    env = make()
    # Seeded once: some environments are built anew by a reset with a seed.
    env.reset(seed=0)
    for name in env.possible_agents:
        env.action_space(name).seed(0)

    def play() -> int:
        steps = 0
        env.reset()
        for name in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
            else:
                env.step(env.action_space(name).sample(observation["action_mask"]))
                steps += 1
        return steps

    return timed(play)


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    found = {}
    for game, module in (("connect_four_v3", connect_four_v3), ("texas_holdem_v4", texas_holdem_v4)):
        for kind in ("env", "raw_env"):
            title = f"{game} {kind}: last, sample, step"
            found[title] = Measurement(1, functools.partial(_loop, getattr(module, kind)))
    return found
