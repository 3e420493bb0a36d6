"""What a rollout leaves to learn from: network inputs, made once, and what happened."""

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

from training.inputs import PositionInputs
from training.rollout import PENDING, seat_advantages


class SeatStreamBuffer(MaskableRolloutBuffer):
    """Keeps a rollout of many games and serves complete decisions.

    Each decision has a place; places hold inputs of a fixed width. The inputs of its legal actions stand in
    one list, which holds no more than there are legal actions.

    Args:
        buffer_size: Steps of the batch in a rollout.
        observation_space: The public observation.
        action_space: The actions.
        device: Where minibatches go.
        gae_lambda: GAE's lambda.
        gamma: Discount for each own decision.
        n_envs: Games in the batch.
        players: Seats of a game.
        input_size: Columns of the inputs of actor and critic together.
        action_size: Columns of the inputs of an action.
        hidden_size: Columns behind the public observation that only the critic reads.
        keep_observations: Whether to keep observations and masks too, which `get` needs.
        seed: Seed of the order of minibatches.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Discrete,
        device: th.device | str = "cpu",
        gae_lambda: float = 1.0,
        gamma: float = 1.0,
        n_envs: int = 1,
        *,
        players: int,
        input_size: int,
        action_size: int,
        hidden_size: int = 0,
        keep_observations: bool = False,
        seed: int | None = None,
    ) -> None:
        self.players = players
        self.rng = np.random.default_rng(seed)
        self.input_size, self.action_size = input_size, action_size
        self.row_size = int(np.prod(observation_space.shape or (0,))) + hidden_size
        self.keep_observations = keep_observations
        self._allocated = False
        self.complete = 0
        super().__init__(buffer_size, observation_space, action_space, device, gae_lambda, gamma, n_envs)

    def reset(self) -> None:
        """Empties the buffer, but for the decisions that wait for their successors."""
        if not self._allocated:
            self._allocate()
        self.pos, self.full = 0, False
        self._used = self._carried_actions

    def _allocate(self) -> None:
        self.mask_dims = int(self.action_space.n)  # type: ignore[attr-defined]
        steps, games, players = self.buffer_size, self.n_envs, self.players
        # Two parts in one array: the rollout's steps, then a place for each seat's pending decision.
        places = steps * games + games * players
        self.inputs = np.empty((places, self.input_size), np.float32)
        self.list_starts = np.zeros(places, np.int64)
        self.counts = np.zeros(places, np.int64)
        self.slots = np.zeros(places, np.int64)
        self.log_probs = np.zeros(places, np.float32)
        self.all_values = np.zeros(places, np.float32)
        self.all_advantages = np.zeros(places, np.float32)
        self.legal = np.empty(4 * places, np.int32)
        self.action_inputs = np.empty((4 * places, self.action_size), np.float32)
        kept = places if self.keep_observations else 0
        self.observations = np.zeros((kept, self.row_size), np.int8)
        self.action_masks = np.zeros((kept, self.mask_dims), np.int8)
        self.seats = np.full((steps, games), -1, np.int64)
        self.rewards = np.zeros((steps, games, players), np.float32)
        self.dones = np.zeros((steps, games), np.uint8)
        self.carried = np.zeros((games, players), np.uint8)
        self.pending = np.full((games, players), -1, np.int64)
        self._indices = np.zeros(0, np.int64)
        self._carried_actions = 0
        self._allocated = True

    def forget(self) -> None:
        """Drops everything, pending decisions too: for a batch that starts anew."""
        self.carried[:] = 0
        self._carried_actions = 0
        self.reset()

    def rows(self, step: int) -> slice:
        """Returns the places of a step."""
        return slice(step * self.n_envs, (step + 1) * self.n_envs)

    def make_room(self, counts: np.ndarray) -> PositionInputs:
        """Returns where the inputs of the step to come belong.

        Args:
            counts: int64 `[games]`, how many actions are legal in each game.
        """
        rows = self.rows(self.pos)
        starts = np.concatenate([[0], np.cumsum(counts)])
        begin, end = self._used, self._used + int(starts[-1])
        if end > len(self.legal):
            more = max(end, len(self.legal) * 3 // 2)
            self.legal = _longer(self.legal, more, begin)
            self.action_inputs = _longer(self.action_inputs, more, begin)
        self._used = end
        self.counts[rows] = counts
        self.list_starts[rows] = begin + starts[:-1]
        return PositionInputs(self.inputs[rows], starts, self.legal[begin:end], self.action_inputs[begin:end])

    def keep(self, observations: np.ndarray, hidden: np.ndarray | None, masks: np.ndarray) -> None:
        """Keeps what the step to come looks like, for minibatches as stable-baselines3 knows them."""
        rows = self.rows(self.pos)
        self.observations[rows, : observations.shape[1]] = observations
        if hidden is not None:
            self.observations[rows, observations.shape[1] :] = hidden
        self.action_masks[rows] = masks

    def record(
        self,
        slots: np.ndarray,
        values: np.ndarray,
        log_probs: np.ndarray,
        seats: np.ndarray,
        rewards: np.ndarray,
        dones: np.ndarray,
    ) -> None:
        """Adds a step whose inputs stand in their places already.

        Args:
            slots: int64 `[games]`, the places of the actions among the legal ones.
            values: float32 `[games]`.
            log_probs: float32 `[games]`.
            seats: int64 `[games]`, whose decision to learn from; -1 for none.
            rewards: float32 `[games, players]`.
            dones: uint8 `[games]`.
        """
        rows = self.rows(self.pos)
        self.slots[rows], self.all_values[rows], self.log_probs[rows] = slots, values, log_probs
        self.seats[self.pos], self.rewards[self.pos], self.dones[self.pos] = seats, rewards, dones
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_returns_and_advantage(self, last_values: Any = None, dones: Any = None) -> None:
        """Computes advantages for the decisions that are complete; the arguments are not needed here."""
        steps, games = self.buffer_size, self.n_envs
        cut = steps * games
        values, advantages = self.all_values, self.all_advantages
        seat_advantages(
            self.seats,
            values[:cut].reshape(steps, games),
            self.rewards,
            self.dones,
            self.carried,
            values[cut:].reshape(games, self.players),
            self.gamma,
            self.gae_lambda,
            advantages[:cut].reshape(steps, games),
            advantages[cut:].reshape(games, self.players),
            self.pending,
        )
        learned = self.seats.reshape(-1) >= 0
        game, _ = np.nonzero(self.pending >= 0)
        learned[self.pending[self.pending >= 0] * games + game] = False
        waiting = (self.carried == 1) & (self.pending != PENDING)
        self._indices = np.concatenate([np.flatnonzero(learned), cut + np.flatnonzero(waiting)])
        self.complete = len(self._indices)
        self.values = values[self._indices]
        self.advantages = advantages[self._indices]
        self.returns = self.advantages + self.values

    def carry(self) -> None:
        """Moves pending decisions to their places behind the steps; to be called after learning."""
        games, cut = self.n_envs, self.buffer_size * self.n_envs
        game, seat = np.nonzero(self.pending >= 0)
        source = self.pending[game, seat] * games + game
        target = cut + game * self.players + seat
        moved = [self.inputs, self.list_starts, self.counts, self.slots, self.log_probs, self.all_values]
        if self.keep_observations:
            moved += [self.observations, self.action_masks]
        for array in moved:
            array[target] = array[source]
        self.carried[:] = self.pending != -1
        self._carry_lists(cut + np.flatnonzero(self.carried))

    def _carry_lists(self, places: np.ndarray) -> None:
        """Moves the lists of some decisions to the front, where the next rollout leaves them alone."""
        counts = self.counts[places]
        stops = np.cumsum(counts)
        total = int(stops[-1]) if len(stops) else 0
        source = np.arange(total) + np.repeat(self.list_starts[places] - (stops - counts), counts)
        self.legal[:total], self.action_inputs[:total] = self.legal[source], self.action_inputs[source]
        self.list_starts[places] = stops - counts
        self._carried_actions = total

    def minibatches(self, batch_size: int | None = None) -> Iterator[np.ndarray]:
        """Yields which complete decisions go together: random order, minibatches of nearly equal size."""
        order = self.rng.permutation(self.complete)
        parts = max(1, round(self.complete / batch_size)) if batch_size else 1
        yield from np.array_split(order, parts)

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Yields minibatches in the form that stable-baselines3 knows."""
        if not self.keep_observations:
            raise ValueError("keep_observations=False: allowed is True, for minibatches of observations")
        for chosen in self.minibatches(batch_size):
            rows = self._indices[chosen]
            data = (
                self.observations[rows],
                self.legal[self.list_starts[rows] + self.slots[rows]].astype(np.int64),
                self.values[chosen],
                self.log_probs[rows],
                self.advantages[chosen],
                self.returns[chosen],
                self.action_masks[rows],
            )
            yield MaskableRolloutBufferSamples(*(th.from_numpy(part).to(self.device) for part in data))


def _longer(array: np.ndarray, length: int, used: int) -> np.ndarray:
    longer = np.empty((length, *array.shape[1:]), array.dtype)
    longer[:used] = array[:used]
    return longer
