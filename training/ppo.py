"""PPO by self-play: sb3-contrib's MaskablePPO with its own way to collect decisions and to learn."""

import math
import time
from typing import Any, Literal, Protocol

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv

from mexenv.games import BatchGame
from training.buffer import SeatStreamBuffer
from training.features import PositionFeatures
from training.inputs import InputWriter, PositionInputs
from training.loss_kernels import draw_actions
from training.networks import ActionScoringPolicy, Critic
from training.phases import PhaseClock
from training.rollout import SelfPlayEnv
from training.update import LearningThreads, LossSettings, MinibatchGradients


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
        threads: Threads that share the work of the networks; PyTorch's own are best set to 1.
        update: `lists` learns from the lists of legal actions; `stock` is the update of `MaskablePPO` as it
            is, which gives the same up to rounding and is kept to compare with.
        keep_observations: Whether rollouts keep observations, so that `update` may become `stock` later.
        policy_kwargs: Sizes for `ActionScoringPolicy`.
        **kwargs: As for `MaskablePPO`.

    Attributes:
        clock: Seconds by phase since the beginning.
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
        threads: int = 1,
        update: Literal["lists", "stock"] = "lists",
        keep_observations: bool = False,
        policy_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self.batch, self.opponents = batch, opponents
        self.privileged, self.update = privileged, update
        self.workers, self.clock = LearningThreads(threads), PhaseClock()
        self._fresh = True
        sizes = {**(policy_kwargs or {}), "privileged": privileged}
        sizes |= {"ruleset": batch.ruleset, "layout": batch.layout}
        env = SelfPlayEnv(batch)
        features = PositionFeatures(batch.ruleset, batch.layout)
        super().__init__(
            ActionScoringPolicy,
            env,
            n_steps=max(2, round(decisions / batch.n_games)),
            rollout_buffer_class=SeatStreamBuffer,
            rollout_buffer_kwargs={
                "players": batch.players,
                "input_size": features.state_size + Critic.size(features, privileged),
                "action_size": features.action_size,
                "hidden_size": (batch.players - 1) * batch.ruleset.n_tiles if privileged else 0,
                "keep_observations": keep_observations or update == "stock",
                "seed": kwargs.get("seed"),
            },
            policy_kwargs=sizes,
            **kwargs,
        )
        if self.device.type != "cpu" and update != "stock":
            raise ValueError(f"device {self.device}: allowed is cpu, or update='stock'")

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "workers", "clock"]

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
        batch, buffer, clock = self.batch, self.rollout_buffer, self.clock
        if self._fresh and self.num_timesteps == 0:
            self._fit_inputs()
        self._fresh = False
        buffer.reset()
        callback.on_rollout_start()
        clock.start()
        writer, stats = self.policy.writer(), _RoundStats(batch.players)
        for _ in range(n_rollout_steps):
            counts = writer.counts(batch.masks)
            made = buffer.make_room(counts)
            if buffer.keep_observations:
                buffer.keep(batch.observations, batch.hidden() if self.privileged else None, batch.masks)
            clock.mark("copying")
            slots, values, logs = self._decide(writer, made)
            clock.share(self.workers.clocks)
            actions = made.legal[made.starts[:-1] + slots].astype(np.int64)
            seats = np.where(counts > 1, batch.to_move, -1)
            if self.opponents is not None:
                foreign = np.flatnonzero(self.opponents.rows(batch))
                if len(foreign):
                    actions[foreign] = self.opponents.act(batch, foreign)
                    seats[foreign] = -1
                clock.mark("opponents")
            batch.step(actions)
            clock.mark("engine and observation")
            buffer.record(slots, values, logs, seats, batch.rewards, batch.dones)
            self.num_timesteps += int((seats >= 0).sum())
            stats.add(batch)
            if self.opponents is not None and batch.dones.any():
                self.opponents.begin(batch, np.flatnonzero(batch.dones))
            clock.mark("recording")
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            clock.mark("callbacks")
        buffer.compute_returns_and_advantage()
        clock.mark("advantage")
        stats.log(self.logger)
        self.logger.record("rollout/decisions", buffer.complete)
        self.logger.record("rollout/return_std", float(buffer.returns.std()))
        callback.on_rollout_end()
        return True

    def _decide(self, writer: InputWriter, made: PositionInputs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Makes the inputs of all games and draws actions.

        Returns:
            Places among the legal actions int64, values float32 and log-probabilities float32, `[games]`.
        """
        batch, games = self.batch, self.batch.n_games
        slots, uniform = np.empty(games, np.int64), th.rand(games).numpy()
        values, logs = np.empty(games, np.float32), np.empty(games, np.float32)

        def work(number: int) -> None:
            begin, end = self.workers.share(games, number)
            clock, here, part = self.workers.clocks[number], slice(begin, end), made.part(begin, end)
            clock.start()
            hidden = batch.hidden(np.arange(begin, end)) if self.privileged else None
            clock.mark("hidden hands")
            writer.write(part, batch.observations[here], hidden, batch.masks[here])
            clock.mark("features")
            arrays = part.inputs, part.rows(), part.action_inputs
            with th.no_grad():
                scores, found = self.policy.judge(*(th.as_tensor(array).to(self.device) for array in arrays))
            values[here] = found.cpu().numpy()
            clock.mark("policy")
            draw_actions(scores.cpu().numpy(), part.starts, uniform[here], slots[here], logs[here])
            clock.mark("sampling")

        self.workers.run(work)
        return slots, values, logs

    def train(self) -> None:
        """Updates the policy from the rollout, then keeps what is still pending."""
        begun = time.perf_counter()
        self.learn_from_rollout()
        self.clock.start()
        self.rollout_buffer.carry()
        self.clock.mark("carrying")
        self.logger.record("time/update_seconds", time.perf_counter() - begun)

    def dump_logs(self, iteration: int = 0) -> None:
        """Writes the log."""
        self.clock.start()
        super().dump_logs(iteration)
        self.clock.mark("logging")

    def learn_from_rollout(self) -> None:
        """Updates the policy from the rollout, in the way that `update` says."""
        self.clock.start()
        if self.update == "stock":
            super().train()
            self.clock.mark("stock update")
        else:
            self._learn_from_lists()

    def _learn_from_lists(self) -> None:
        """Does what `MaskablePPO.train` does, on inputs that are there already."""
        policy, buffer, clock = self.policy, self.rollout_buffer, self.clock
        policy.set_training_mode(True)
        self._update_learning_rate(policy.optimizer)
        remaining = self._current_progress_remaining
        clip, value_clip = self.clip_range(remaining), math.inf
        if self.clip_range_vf is not None:
            value_clip = self.clip_range_vf(remaining)
        settings = LossSettings(clip, value_clip, float(self.ent_coef), float(self.vf_coef))
        gradients = MinibatchGradients(policy, buffer, self.workers)
        means: list[dict[str, float]] = []
        far = False
        for epoch in range(self.n_epochs):
            first = len(means)
            for chosen in buffer.minibatches(self.batch_size):
                clock.mark("minibatches")
                means.append(gradients.compute(chosen, self.normalize_advantage, settings))
                clock.share(self.workers.clocks)
                far = self.target_kl is not None and means[-1]["kl"] > 1.5 * self.target_kl
                if far:
                    if self.verbose >= 1:
                        print(f"Early stopping at step {epoch} due to reaching max kl: {means[-1]['kl']:.2f}")
                    break
                th.nn.utils.clip_grad_norm_(gradients.parameters, self.max_grad_norm)
                policy.optimizer.step()
                clock.mark("optimiser")
            self._n_updates += 1
            if far:
                break
        record = self.logger.record
        record("train/entropy_loss", -np.mean([mean["entropy"] for mean in means]))
        record("train/policy_gradient_loss", np.mean([mean["policy"] for mean in means]))
        record("train/value_loss", np.mean([mean["value"] for mean in means]))
        record("train/approx_kl", np.mean([mean["kl"] for mean in means[first:]]))
        record("train/clip_fraction", np.mean([mean["clipped"] for mean in means]))
        record("train/loss", means[-1]["loss"])
        record("train/explained_variance", explained_variance(buffer.values, buffer.returns))
        record("train/n_updates", self._n_updates, exclude="tensorboard")
        record("train/clip_range", clip)
        if self.clip_range_vf is not None:
            record("train/clip_range_vf", value_clip)
        clock.mark("logging")

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
