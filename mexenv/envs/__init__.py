"""Thin adapters that give the engine the shape of each framework; no rule of the game lives here.

| name | framework |
|---|---|
| `env`, `raw_env` | PettingZoo AEC (also as the module `mexenv.mexican_train_v0`) |
| `SeatEnv` | Gymnasium: one learner among named opponents |
| `MexicanTrainVectorEnv` | Gymnasium vector environment: many learners, one batch |
| `MexicanTrainVecEnv` | Stable-Baselines3 vector environment (needs stable-baselines3) |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mexenv.envs.aec import env as env
    from mexenv.envs.aec import raw_env as raw_env
    from mexenv.envs.sb3 import MexicanTrainVecEnv as MexicanTrainVecEnv
    from mexenv.envs.seat import SeatEnv as SeatEnv
    from mexenv.envs.vector import MexicanTrainVectorEnv as MexicanTrainVectorEnv

_HOME = {
    "env": "mexenv.envs.aec",
    "raw_env": "mexenv.envs.aec",
    "MexicanTrainVecEnv": "mexenv.envs.sb3",
    "SeatEnv": "mexenv.envs.seat",
    "MexicanTrainVectorEnv": "mexenv.envs.vector",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    # Each adapter loads its framework only when somebody asks for it.
    if name not in _HOME:
        raise AttributeError(f"module 'mexenv.envs' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
