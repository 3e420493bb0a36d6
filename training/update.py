"""The gradient of a minibatch, piece by piece and on several threads.

Pieces are small enough to stay in a core's cache. Losses are means over the minibatch, so gradients of
pieces add up to that of the whole.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch as th

from mexenv.games.threads import WorkerThreads
from training.buffer import SeatStreamBuffer
from training.loss_kernels import CLIPPED, ENTROPY, KL, POLICY, VALUE, gather_positions, ppo_gradients
from training.networks import ActionScoringPolicy
from training.phases import PhaseClock

PIECE = 1024
"""Decisions in a piece."""


class LearningThreads(WorkerThreads):
    """Threads that share an update, each with a clock of its own.

    They wait without spinning, so a core that something else uses delays them by no more than its share.
    PyTorch's own threads would wait for it at every operation.

    Args:
        count: Number of threads.
    """

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.clocks = [PhaseClock() for _ in range(count)]

    def share(self, size: int, number: int) -> tuple[int, int]:
        """Returns the thread's stretch of so many things."""
        return size * number // self.count, size * (number + 1) // self.count


@dataclass(frozen=True)
class LossSettings:
    """What the PPO loss depends on beside the data.

    Attributes:
        clip: How far a ratio of probabilities counts.
        value_clip: How far a value may move; infinite for any distance.
        entropy_weight: Weight of the entropy bonus.
        value_weight: Weight of the critic's loss.
    """

    clip: float
    value_clip: float
    entropy_weight: float
    value_weight: float


class MinibatchGradients:
    """Computes gradients of minibatches of a buffer.

    Args:
        policy: The policy, on the CPU.
        buffer: Where the decisions are.
        workers: Threads to work on.
    """

    def __init__(
        self, policy: ActionScoringPolicy, buffer: SeatStreamBuffer, workers: LearningThreads
    ) -> None:
        self.policy, self.buffer, self.workers = policy, buffer, workers
        self.parameters = [weight for weight in policy.parameters() if weight.requires_grad]
        self._pieces = [_Piece(buffer) for _ in range(workers.count)]

    def compute(self, chosen: np.ndarray, normalize: bool, settings: LossSettings) -> dict[str, float]:
        """Sets the gradients of the policy's weights.

        Args:
            chosen: int64 `[n]`, which complete decisions.
            normalize: Whether to normalise advantages over the minibatch.
            settings: Of the loss.

        Returns:
            Means over the minibatch: `policy`, `value`, `entropy`, `clipped`, `kl`, and the whole `loss`.
        """
        advantages = self.buffer.advantages[chosen]
        if normalize:
            advantages = (advantages - advantages.mean()) / (advantages.std(ddof=1) + np.float32(1e-8))

        def work(number: int) -> tuple[list[th.Tensor] | None, np.ndarray]:
            begin, end = self.workers.share(len(chosen), number)
            return self._stretch(number, chosen[begin:end], advantages[begin:end], len(chosen), settings)

        parts = self.workers.run(work)
        gradients: list[th.Tensor] | None = None
        for part, _ in parts:
            gradients = _sum(gradients, part)
        assert gradients is not None
        for weight, gradient in zip(self.parameters, gradients, strict=True):
            weight.grad = gradient
        means = np.sum([sums for _, sums in parts], 0) / len(chosen)
        loss = means[POLICY] - settings.entropy_weight * means[ENTROPY] + settings.value_weight * means[VALUE]
        names = {"policy": POLICY, "value": VALUE, "entropy": ENTROPY, "clipped": CLIPPED, "kl": KL}
        return {name: float(means[place]) for name, place in names.items()} | {"loss": float(loss)}

    def _stretch(
        self, number: int, chosen: np.ndarray, advantages: np.ndarray, total: int, settings: LossSettings
    ) -> tuple[list[th.Tensor] | None, np.ndarray]:
        clock, piece = self.workers.clocks[number], self._pieces[number]
        clock.start()
        gradients: list[th.Tensor] | None = None
        sums = np.zeros(5)
        for begin in range(0, len(chosen), PIECE):
            part = slice(begin, begin + PIECE)
            inputs, rows, action_inputs = piece.gather(chosen[part])
            clock.mark("gather")
            with th.enable_grad():
                scores, values = self.policy.judge(inputs, rows, action_inputs)
            clock.mark("forward")
            d_scores, d_values = piece.losses(scores, values, advantages[part], total, settings, sums)
            clock.mark("loss")
            found = th.autograd.grad((scores, values), self.parameters, (d_scores, d_values))
            gradients = _sum(gradients, found)
            clock.mark("backward")
        return gradients, sums


class _Piece:
    """A thread's arrays for one piece after the other."""

    def __init__(self, buffer: SeatStreamBuffer) -> None:
        self.buffer = buffer
        self.starts = np.zeros(PIECE + 1, np.int64)
        self.inputs = np.empty((PIECE, buffer.input_size), np.float32)
        self.actions = 0

    def gather(self, chosen: np.ndarray) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        buffer, n = self.buffer, len(chosen)
        self.chosen, self.places = chosen, buffer._indices[chosen]
        k = int(buffer.counts[self.places].sum())
        if k > self.actions:
            self.actions = k + k // 4
            self.rows = np.empty(self.actions, np.int64)
            self.action_inputs = np.empty((self.actions, buffer.action_size), np.float32)
            self.d_scores = np.empty(self.actions, np.float32)
        gather_positions(
            self.places, buffer.list_starts, buffer.counts, buffer.inputs, buffer.action_inputs,
            self.starts, self.rows, self.inputs, self.action_inputs,
        )  # fmt: skip
        arrays = self.inputs[:n], self.rows[:k], self.action_inputs[:k]
        inputs, rows, action_inputs = (th.from_numpy(array) for array in arrays)
        return inputs, rows, action_inputs

    def losses(
        self,
        scores: th.Tensor,
        values: th.Tensor,
        advantages: np.ndarray,
        total: int,
        settings: LossSettings,
        sums: np.ndarray,
    ) -> tuple[th.Tensor, th.Tensor]:
        buffer, places, chosen = self.buffer, self.places, self.chosen
        d_scores, d_values = self.d_scores[: len(scores)], np.empty(len(chosen), np.float32)
        ppo_gradients(
            scores.detach().numpy(), self.starts, buffer.slots[places], buffer.log_probs[places], advantages,
            values.detach().numpy(), buffer.values[chosen], buffer.returns[chosen],
            settings.clip, settings.value_clip, settings.entropy_weight, settings.value_weight, total,
            d_scores, d_values, sums,
        )  # fmt: skip
        return th.from_numpy(d_scores), th.from_numpy(d_values)


def _sum(gradients: list[th.Tensor] | None, more: Iterable[th.Tensor] | None) -> list[th.Tensor] | None:
    if more is None:
        return gradients
    if gradients is None:
        return list(more)
    th._foreach_add_(gradients, list(more))
    return gradients
