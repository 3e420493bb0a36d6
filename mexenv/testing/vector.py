"""A conformance check for Gymnasium vector environments with action masks; Gymnasium ships none."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

Vector = VectorEnv[Any, Any, Any]


def _random_actions(masks: npt.NDArray[np.int8], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    return np.array([rng.choice(np.flatnonzero(row)) for row in masks], dtype=np.int64)


def _share_memory(one: Any, other: Any) -> bool:
    """Whether arrays in the same place of two nested dicts are, or look at, the same memory."""
    if isinstance(one, dict) and isinstance(other, dict):
        return any(_share_memory(one[key], other[key]) for key in one.keys() & other.keys())
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype != object and bool(np.shares_memory(one, other))
    return False


def _check_info(env: Vector, observations: Any, info: dict[str, Any]) -> npt.NDArray[np.int8]:
    """Check masks and info arrays of one reset or step; returns the masks, int8 [num_envs, n_actions]."""
    n_actions = int(env.single_action_space.n)  # type: ignore[attr-defined]
    assert env.observation_space.contains(observations), "observations are not in observation_space"
    assert "action_mask" in info, "info has no action_mask"
    masks: npt.NDArray[np.int8] = info["action_mask"]
    assert masks.shape == (env.num_envs, n_actions), f"masks have shape {masks.shape}"
    assert masks.dtype == np.int8, f"masks are {masks.dtype}, Discrete.sample wants int8"
    empty = np.flatnonzero(~masks.any(axis=1))
    assert empty.size == 0, f"games {empty.tolist()}: the action mask is all zero"
    if isinstance(observations, dict):
        assert np.array_equal(observations["action_mask"], masks), "info and observation hold different masks"
    for key, value in info.items():
        if key.startswith("_"):
            assert key[1:] in info, f"info has {key!r} without {key[1:]!r}"
            continue
        assert f"_{key}" in info, f"info[{key!r}] has no {'_' + key!r} to say for which games it holds"
        present = info[f"_{key}"]
        assert present.shape == (env.num_envs,) and present.dtype == np.bool_, (
            f"info['_{key}'] is no bool array"
        )
        if not isinstance(value, dict):
            assert len(value) == env.num_envs, f"info[{key!r}] has {len(value)} entries"
    return masks


def check_vector(env: Vector, steps: int = 300, seed: int = 0) -> None:
    """Play random legal actions and check everything a vector environment promises.

    Spaces and metadata; shapes, types and bounds of all that `reset` and `step` return; masks that are never
    empty, at the end of an episode too; `final_obs` and `final_info` exactly where an episode ended (in the
    autoreset mode SAME_STEP); arrays that are not written to again; and equal games from equal seeds.

    Args:
        env: the vector environment.
        steps: number of steps; enough for at least one episode to end.
        seed: seed of the games and of the actions.

    Raises:
        AssertionError: with what is wrong.
    """
    mode = env.metadata.get("autoreset_mode")
    assert isinstance(mode, AutoresetMode), f"metadata['autoreset_mode'] is {mode!r}, no AutoresetMode"
    assert env.observation_space == batch_space(env.single_observation_space, env.num_envs)
    assert env.action_space == batch_space(env.single_action_space, env.num_envs)
    assert isinstance(env.single_action_space, gymnasium.spaces.Discrete)
    first = _trajectory(env, steps, seed, mode)
    second = _trajectory(env, steps, seed, mode)
    assert data_equivalence(first, second, exact=True), "the same seed and actions gave different games"


def _trajectory(env: Vector, steps: int, seed: int, mode: AutoresetMode) -> list[Any]:
    rng = np.random.default_rng(seed)
    observations, info = env.reset(seed=seed)
    masks = _check_info(env, observations, info)
    ended = 0
    trajectory: list[Any] = []
    for _ in range(steps):
        actions = _random_actions(masks, rng)
        assert env.action_space.contains(actions)
        kept = deepcopy((observations, info))
        before = (observations, info)
        observations, rewards, terminations, truncations, info = env.step(actions)
        assert data_equivalence(kept, before, exact=True), "step() wrote to arrays it had given away"
        for old, new in zip(before, (observations, info), strict=True):
            assert not _share_memory(old, new), "step() returned an array it had given away before"
        masks = _check_info(env, observations, info)
        assert rewards.shape == (env.num_envs,) and np.issubdtype(rewards.dtype, np.floating)
        assert np.isfinite(rewards).all()
        for flags in (terminations, truncations):
            assert flags.shape == (env.num_envs,) and flags.dtype == np.bool_
        over = terminations | truncations
        ended += int(over.sum())
        if mode == AutoresetMode.SAME_STEP:
            _check_finals(env, over, info)
        trajectory.append(deepcopy((observations, rewards, terminations, truncations, masks)))
    assert ended, f"no episode ended in {steps} steps"
    return trajectory


def _check_finals(env: Vector, over: npt.NDArray[np.bool_], info: dict[str, Any]) -> None:
    marked = info.get("_final_obs", np.zeros(env.num_envs, dtype=np.bool_))
    assert np.array_equal(marked, over), "final_obs is not given exactly where an episode ended"
    for index in np.flatnonzero(over):
        final = info["final_obs"][index]
        assert env.single_observation_space.contains(final), f"game {index}: final_obs is not in its space"
        if isinstance(final, dict):
            assert final["action_mask"].any(), f"game {index}: the final action mask is all zero"
    if over.any():
        assert np.array_equal(info["_final_info"], over), "final_info is not given where final_obs is"
