"""Pgx: its games, compiled for the CPU, with its own automatic reset."""

from __future__ import annotations

import functools
from typing import Any

import pgx
from jax_timing import stepping
from pgx.experimental.wrappers import auto_reset
from timing import Measurement, Run

DISTRIBUTION = "pgx"
GAMES = 256


def _steps(name: str) -> Run:
    env = pgx.make(name)
    following = auto_reset(env.step, env.init)

    def step(state: Any, action: Any, key: Any) -> tuple[Any, Any]:
        # Observation and mask are parts of its state.
        return following(state, action, key), ()

    return stepping(GAMES, env.init, lambda state: state.legal_action_mask, step)


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    names = ("sparrow_mahjong", "backgammon")
    return {f"{name}: compiled step": Measurement(GAMES, functools.partial(_steps, name)) for name in names}
