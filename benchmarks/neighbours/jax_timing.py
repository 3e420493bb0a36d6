"""Timing for libraries on JAX: a compiled step of many games, waited for; choosing actions is not timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from timing import Run


def choose(mask: Any, key: Any) -> Any:
    """Random legal actions; the last axis of `mask` runs over actions."""
    return jax.random.categorical(key, jnp.log(mask.astype(jnp.float32)), axis=-1)


def stepping(
    games: int,
    reset: Callable[[Any], Any],
    mask: Callable[[Any], Any],
    step: Callable[[Any, Any, Any], tuple[Any, Any]],
) -> Run:
    """Times the step of many games.

    Args:
        games: how many.
        reset: makes the state of one game from a key.
        mask: the legal actions of one state.
        step: from a state, actions and a key the next state, and what a player is given with it; a game that
            ended goes on as a new one.
    """

    def several(state: Any, actions: Any, key: Any) -> tuple[Any, Any]:
        return jax.vmap(step)(state, actions, jax.random.split(key, games))

    compiled = jax.jit(several)
    chosen = jax.jit(lambda state, key: choose(jax.vmap(mask)(state), key))
    key = jax.random.PRNGKey(0)
    state = jax.jit(jax.vmap(reset))(jax.random.split(key, games))

    def run() -> tuple[int, float]:
        nonlocal state, key
        spent = 0.0
        for _ in range(4):
            key, first, second = jax.random.split(key, 3)
            actions = jax.block_until_ready(chosen(state, first))
            begun = time.process_time()
            state, given = compiled(state, actions, second)
            jax.block_until_ready((state, given))
            spent += time.process_time() - begun
        return 4 * games, spent

    run()  # compiles
    return run
