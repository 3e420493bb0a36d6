"""JaxMARL: Hanabi, compiled for the CPU; its step resets by itself."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import jaxmarl
from jax_timing import stepping
from timing import Measurement, Run

DISTRIBUTION = "jaxmarl"
GAMES = 256


def _hanabi() -> Run:
    env = jaxmarl.make("hanabi")

    def mask(state: Any) -> Any:
        legal = env.get_legal_moves(state)
        return jnp.stack([legal[agent] for agent in env.agents])

    def step(state: Any, actions: Any, key: Any) -> tuple[Any, Any]:
        # Those whose turn it is not may only do nothing, so of all players one decides.
        by_agent = {agent: actions[index] for index, agent in enumerate(env.agents)}
        observations, state, rewards, dones, _ = env.step(key, state, by_agent)
        return state, (observations, rewards, dones, mask(state))

    return stepping(GAMES, lambda key: env.reset(key)[1], mask, step)


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    return {"hanabi, 2 players: compiled step": Measurement(GAMES, _hanabi)}
