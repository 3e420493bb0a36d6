"""PPO by self-play: sb3-contrib's MaskablePPO with its own way to collect decisions."""

import time
from typing import Any, Protocol

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from mexenv.games import BatchGame
from training.networks import ActionScoringPolicy
from training.rollout import SeatStreamBuffer, SelfPlayEnv


class Opponents(Protocol):
    """What plays the seats that do not learn."""

    def begin(self, batch: BatchGame, games: np.ndarray) -> None:
        """Draws who sits where in the games (indices) that have just begun."""

    def rows(self, batch: BatchGame) -> np.ndarray:
        """Returns bool `[games]`: where the player to move is not the learner."""

    def act(self, batch: BatchGame, rows: np.ndarray) -> np.ndarray:
        """Returns the actions for these rows (indices)."""


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO in which every seat of every game learns.

    One step of the batch asks the policy for one decision in each game, whoever's turn it is there. Steps
    with a single legal action teach nothing and are not kept. `num_timesteps` counts decisions kept.

    Args:
        batch: The games, with `skip_forced=True` and `auto_reset=True`.
        decisions: About how many decisions a rollout has.
        opponents: Who plays some of the seats; None for nobody.
        privileged: Whether the critic sees the other seats' hands.
        policy_kwargs: Sizes for `ActionScoringPolicy`.
        **kwargs: As for `MaskablePPO`.
    """

    policy: ActionScoringPolicy
    rollout_buffer: SeatStreamBuffer

    def __init__(
        self,
        batch: BatchGame,
        *,
        decisions: int = 32768,
        opponents: Opponents | None = None,
        privileged: bool = True,
        policy_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.batch, self.opponents = batch, opponents
        self.privileged = privileged
        self._fresh = True
        hidden = (batch.players - 1) * batch.ruleset.n_tiles if privileged else 0
        sizes = {**(policy_kwargs or {}), "privileged": privileged}
        sizes |= {"ruleset": batch.ruleset, "layout": batch.layout}
        super().__init__(
            ActionScoringPolicy,
            SelfPlayEnv(batch),
            n_steps=max(2, round(decisions / batch.n_games)),
            rollout_buffer_class=SeatStreamBuffer,
            rollout_buffer_kwargs={
                "players": batch.players,
                "hidden_size": hidden,
                "seed": kwargs.get("seed"),
            },
            policy_kwargs=sizes,
            **kwargs,
        )

    def _setup_learn(self, *args: Any, **kwargs: Any) -> Any:
        result = super()._setup_learn(*args, **kwargs)
        self.rollout_buffer.forget()
        if self.opponents is not None:
            self.opponents.begin(self.batch, np.arange(self.batch.n_games))
        return result

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Plays `n_rollout_steps` steps of the batch and computes advantages.

        Returns:
            False if a callback asked to stop.
        """
        self.policy.set_training_mode(False)
        batch, buffer = self.batch, self.rollout_buffer
        if self._fresh and self.num_timesteps == 0:
            self._fit_inputs()
        self._fresh = False
        buffer.reset()
        callback.on_rollout_start()
        public = batch.observations.shape[1]
        stats = _RoundStats(batch.players)
        for step in range(n_rollout_steps):
            rows = buffer.rows(step)
            observations, masks = buffer.observations[rows], buffer.action_masks[rows]
            observations[:, :public] = batch.observations
            if self.privileged:
                observations[:, public:] = batch.hidden()
            masks[:] = batch.masks
            with th.no_grad():
                actions_, values_, logs_ = self.policy(
                    th.from_numpy(observations).to(self.device), action_masks=th.from_numpy(masks)
                )
            actions = actions_.cpu().numpy()
            seats = np.where(masks.sum(1, dtype=np.int64) > 1, batch.to_move, -1)
            if self.opponents is not None:
                foreign = np.flatnonzero(self.opponents.rows(batch))
                if len(foreign):
                    actions[foreign] = self.opponents.act(batch, foreign)
                    seats[foreign] = -1
            batch.step(actions)
            buffer.record(
                actions,
                values_.cpu().numpy().reshape(-1),
                logs_.cpu().numpy(),
                seats,
                batch.rewards,
                batch.dones,
            )
            self.num_timesteps += int((seats >= 0).sum())
            stats.add(batch)
            if self.opponents is not None and batch.dones.any():
                self.opponents.begin(batch, np.flatnonzero(batch.dones))
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        buffer.compute_returns_and_advantage()
        stats.log(self.logger)
        self.logger.record("rollout/decisions", buffer.complete)
        self.logger.record("rollout/return_std", float(buffer.returns.std()))
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """Updates the policy from the rollout, then keeps what is still pending."""
        begun = time.perf_counter()
        super().train()
        self.rollout_buffer.carry()
        self.logger.record("time/update_seconds", time.perf_counter() - begun)

    def _fit_inputs(self) -> None:
        """Plays a few steps at random legal moves to see what inputs look like, then starts anew."""
        batch, rng = self.batch, np.random.default_rng(self.seed or 0)
        kept: list[np.ndarray] = []
        masks: list[np.ndarray] = []
        for step in range(48):
            choice = (batch.masks * rng.random(batch.masks.shape, np.float32)).argmax(1)
            if step % 6 == 5:
                pick = rng.permutation(batch.n_games)[:1024]
                parts = [batch.observations[pick]]
                if self.privileged:
                    parts.append(batch.hidden()[pick])
                kept.append(np.concatenate(parts, 1))
                masks.append(batch.masks[pick])
            batch.step(choice)
        self.policy.fit_inputs(th.from_numpy(np.concatenate(kept)), th.from_numpy(np.concatenate(masks)))
        batch.reset()
        if self.opponents is not None:
            self.opponents.begin(batch, np.arange(batch.n_games))


class _RoundStats:
    """Sums up the rounds that ended in a rollout."""

    def __init__(self, players: int) -> None:
        self.rounds, self.pips, self.best, self.out = 0, 0.0, 0.0, 0

    def add(self, batch: BatchGame) -> None:
        ended = batch.round_ended.astype(bool)
        if not ended.any():
            return
        pips = batch.round_pips[ended]
        self.rounds += len(pips)
        self.pips += float(pips.mean(1).sum())
        self.best += float(pips.min(1).sum())
        self.out += int(batch.round_out[ended].any(1).sum())

    def log(self, logger: Any) -> None:
        if self.rounds:
            logger.record("rollout/rounds", self.rounds)
            logger.record("rollout/round_pips", self.pips / self.rounds)
            logger.record("rollout/best_pips", self.best / self.rounds)
            logger.record("rollout/share_gone_out", self.out / self.rounds)
