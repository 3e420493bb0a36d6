"""Stable-Baselines3 and sb3-contrib on our environments."""

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecCheckNan, VecNormalize

from mexenv.envs import MexicanTrainVecEnv, MexicanTrainVectorEnv, SeatEnv

ID = "mexenv/MexicanTrain-v0"
SMALL: dict[str, Any] = {"players": 2, "set_max": 6, "hand_size": 6}
QUICK: dict[str, Any] = {"n_steps": 32, "batch_size": 32, "n_epochs": 1, "policy_kwargs": {"net_arch": [16]}}


@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_sb3_checker(observation: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(SeatEnv(observation=observation, **SMALL), warn=True)


def test_maskable_ppo_on_the_seat_env() -> None:
    env = make_vec_env(ID, n_envs=2, env_kwargs={**SMALL, "illegal": "raise"})
    assert is_masking_supported(env)
    MaskablePPO("MultiInputPolicy", env, **QUICK).learn(64)
    single = gymnasium.make(ID, observation="flat", illegal="raise", **SMALL)
    MaskablePPO("MlpPolicy", single, **QUICK).learn(32)


@pytest.mark.parametrize(("observation", "policy"), [("flat", "MlpPolicy"), ("dict", "MultiInputPolicy")])
def test_maskable_ppo_on_the_batch(observation: str, policy: str) -> None:
    env = MexicanTrainVecEnv(4, observation=observation, illegal="raise", **SMALL)
    assert is_masking_supported(env)
    model = MaskablePPO(policy, env, seed=0, **QUICK)
    model.learn(256)
    assert len(model.ep_info_buffer) > 0, "no episode was reported"
    mean, _ = evaluate_policy(model, env, n_eval_episodes=4, warn=True)
    assert np.isfinite(mean)


def test_infos_and_rewards_are_those_of_the_gymnasium_batch() -> None:
    ours = MexicanTrainVecEnv(3, **SMALL)
    other = MexicanTrainVectorEnv(3, observation="flat", **SMALL)
    ours.seed(11)
    views = ours.reset()
    other._games.reset(11)
    rng = np.random.default_rng(0)
    returns = np.zeros(3)
    lengths = np.zeros(3, int)
    ended = 0
    for _ in range(120):
        masks = get_action_masks(ours)
        assert np.array_equal(masks, other.action_masks())
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in masks])
        views, rewards, dones, infos = ours.step(actions)
        theirs, their_rewards, over, _, info = other.step(actions)
        assert np.array_equal(views, theirs) and np.array_equal(dones, over)
        assert np.allclose(rewards, their_rewards) and rewards.dtype == np.float32
        returns += their_rewards
        lengths += 1
        for index in np.flatnonzero(dones):
            episode = infos[index]["episode"]
            assert episode["r"] == pytest.approx(returns[index])
            assert episode["l"] == lengths[index]
            assert np.array_equal(infos[index]["terminal_observation"], info["final_obs"][index])
            returns[index] = lengths[index] = 0
            ended += 1
        assert not any("episode" in infos[index] for index in np.flatnonzero(~dones))
    assert ended > 3


def test_seeds_fix_the_games() -> None:
    env = MexicanTrainVecEnv(3, **SMALL)
    starts = []
    for seed in (1, 2, 1):
        env.seed(seed)
        starts.append(env.reset())
    assert np.array_equal(starts[0], starts[2])
    assert not np.array_equal(starts[0], starts[1])
    assert not np.array_equal(starts[2], env.reset())


def test_attributes_and_methods() -> None:
    env = MexicanTrainVecEnv(3, render_mode="rgb_array", **SMALL)
    env.reset()
    assert env.get_attr("render_mode") == ["rgb_array"] * 3
    assert not env.has_attr("nothing_of_the_kind")
    assert np.array_equal(np.stack(env.env_method("action_masks", indices=[2])), env.action_masks()[2:])
    assert env.render().ndim == 3
    with pytest.raises(AttributeError, match="allowed are 'action_masks' and 'render'"):
        env.env_method("shuffle")
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("seat", 1)


def test_sb3_wrappers_fit() -> None:
    env = VecNormalize(VecCheckNan(MexicanTrainVecEnv(2, **SMALL)))
    MaskablePPO("MlpPolicy", env, **QUICK).learn(64)
