"""From a configuration to the algorithm that it describes."""

import os
from typing import Any

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO

from mexenv.agents import load_agent
from mexenv.games import BatchGame
from training.config import TrainingConfig
from training.networks import ActionScoringPolicy
from training.opponents import OpponentSeats
from training.ppo import SelfPlayPPO


def build_model(
    settings: TrainingConfig, games: int | None = None, *, keep_observations: bool = False
) -> Any:
    """Returns the algorithm that a configuration describes, untrained.

    Args:
        settings: The configuration.
        games: Number of games instead of the configured one.
        keep_observations: As for `SelfPlayPPO`.
    """
    ruleset, ppo, network = settings.rules(), settings.ppo, settings.network
    games = settings.games if games is None else games
    threads = settings.threads or os.cpu_count() or 1
    sizes = {"trunk": network.trunk, "hidden": network.hidden, "critic": network.critic}
    common: dict[str, Any] = {
        "learning_rate": ppo.learning_rate,
        "batch_size": ppo.batch_size,
        "n_epochs": ppo.epochs,
        "gamma": ppo.gamma,
        "gae_lambda": ppo.gae_lambda,
        "clip_range": ppo.clip,
        "ent_coef": ppo.entropy,
        "vf_coef": ppo.value_weight,
        "max_grad_norm": ppo.max_grad_norm,
        "target_kl": ppo.target_kl,
        "seed": settings.seed,
        "device": "cpu",
    }
    if settings.algorithm == "maskable_ppo":
        from mexenv.envs.sb3 import MexicanTrainVecEnv

        named = settings.opponents.names
        env = MexicanTrainVecEnv(
            n_envs=games,
            opponents=named[0] if len(named) == 1 else named,
            ruleset=ruleset,
            layout=settings.layout,
            episode=settings.episode,
            engine=settings.engine,
            reward=settings.reward,
            reward_scale=ppo.reward_scale,
            skip_forced=True,
        )
        env.seed(settings.seed)
        return MaskablePPO(
            ActionScoringPolicy,
            env,
            n_steps=max(2, round(ppo.rollout / games)),
            policy_kwargs={**sizes, "ruleset": ruleset, "layout": env.layout},
            **common,
        )
    batch = BatchGame(
        ruleset,
        games,
        seed=settings.seed,
        episode=settings.episode,
        engine=settings.engine,
        layout=settings.layout,
        reward=settings.reward,
        reward_scale=ppo.reward_scale,
        skip_forced=True,
        threads=threads,
    )
    others = settings.opponents
    seats = None
    if others.share > 0:
        agents = [load_agent(name, ruleset) for name in others.names]
        seats = OpponentSeats(games, ruleset.players, others.share, agents, others.snapshots, settings.seed)
    return SelfPlayPPO(
        batch,
        decisions=ppo.rollout,
        opponents=seats,
        privileged=network.privileged_critic,
        threads=threads,
        keep_observations=keep_observations,
        policy_kwargs=sizes,
        **common,
    )


def fit_plain_inputs(model: MaskablePPO) -> None:
    """Sets a policy's input normalisation from some steps of random legal play."""
    env, rng = model.env, np.random.default_rng(model.seed or 0)
    assert env is not None
    observations, seen, legal = env.reset(), [], []
    for _ in range(24):
        masks = env.action_masks()  # type: ignore[attr-defined]
        seen.append(observations)
        legal.append(masks)
        observations = env.step((masks * rng.random(masks.shape)).argmax(1))[0]
    model.policy.fit_inputs(th.from_numpy(np.concatenate(seen)), th.from_numpy(np.concatenate(legal)))
