"""The environments' names in the registries of Gymnasium and PettingZoo."""

from __future__ import annotations

import gymnasium

GYMNASIUM_ID = "mexenv/MexicanTrain-v0"
PETTINGZOO_ID = "mexenv/mexican_train-v0"


def register_envs() -> None:
    """Enter the environments in both registries; a second call changes nothing.

    After it `gymnasium.make("mexenv/MexicanTrain-v0")`, `gymnasium.make_vec(...)` with the same name and
    `pettingzoo.make("aec", "mexenv/mexican_train-v0")` work. The entry points are strings: neither the engine
    nor the compiler is loaded before somebody makes an environment.
    """
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            id=GYMNASIUM_ID,
            entry_point="mexenv.envs.seat:SeatEnv",
            vector_entry_point="mexenv.envs.vector:MexicanTrainVectorEnv",
        )
    try:
        from pettingzoo import aec_registry, register
    except ImportError:  # PettingZoo before 1.27 has no registry.
        return
    if PETTINGZOO_ID not in aec_registry:
        register("aec", PETTINGZOO_ID, entry_point="mexenv.mexican_train_v0:env")
