"""Collecting self-play: every seat of every game is a stream of decisions of its own.

A seat's next decision comes after the moves of others, perhaps many steps later, and the round's reward
reaches all seats at once on somebody's move. The buffer therefore keeps whole steps, and follows each seat
through them when advantages are computed.
"""

from collections.abc import Generator
from typing import Any

import numba
import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from stable_baselines3.common.vec_env import VecEnv

from mexenv.games import BatchGame

_NO_STEP = "self-play is stepped by SelfPlayPPO; for one learner use mexenv.envs.sb3.MexicanTrainVecEnv"

PENDING = -2
"""Mark of a decision whose successor is not known yet; it waits for the next rollout."""


@numba.njit(cache=True)
def seat_advantages(
    seats: np.ndarray,
    values: np.ndarray,
    rewards: np.ndarray,
    dones: np.ndarray,
    carried: np.ndarray,
    carried_values: np.ndarray,
    gamma: float,
    lam: float,
    advantages: np.ndarray,
    carried_advantages: np.ndarray,
    pending: np.ndarray,
) -> None:
    """Computes generalised advantages along each seat's own decisions.

    A reward belongs to the last decision that its seat made before it. A decision without a known successor,
    in an episode that goes on, gets no advantage yet: its place goes to `pending`, and its value serves as
    the estimate for the decision before it.

    Args:
        seats: int64 `[steps, games]`, whose decision it is; -1 where nothing is learned from the step.
        values: float32 `[steps, games]`, the critic's estimates.
        rewards: float32 `[steps, games, players]`, what each seat got in the step.
        dones: uint8 `[steps, games]`, whether the step ended an episode.
        carried: uint8 `[games, players]`, 1 where the rollout before left a decision pending.
        carried_values: float32 `[games, players]`, their values.
        gamma: Discount for each own decision.
        lam: GAE's lambda.
        advantages: float32 `[steps, games]`, written where a decision is complete.
        carried_advantages: float32 `[games, players]`, likewise.
        pending: int64 `[games, players]`, written: the step of the decision that is left pending, -1 for
            none, `PENDING` for the carried one, which has to wait once more.
    """
    steps, games = seats.shape
    players = rewards.shape[2]
    reward = np.zeros(players)
    ended = np.zeros(players, np.uint8)
    known = np.zeros(players, np.uint8)
    next_value = np.zeros(players)
    next_advantage = np.zeros(players)
    for game in range(games):
        reward[:] = 0.0
        ended[:] = 0
        known[:] = 0
        pending[game, :] = -1
        for step in range(steps - 1, -2, -1):
            if step >= 0:
                if dones[step, game]:
                    reward[:] = 0.0
                    ended[:] = 1
                for s in range(players):
                    reward[s] += rewards[step, game, s]
            for s in range(players):
                if step >= 0 and seats[step, game] != s:
                    continue
                if step < 0 and not carried[game, s]:
                    continue
                value = values[step, game] if step >= 0 else carried_values[game, s]
                advantage = 0.0
                if ended[s]:
                    advantage = reward[s] - value
                elif known[s]:
                    advantage = reward[s] + gamma * (next_value[s] + lam * next_advantage[s]) - value
                else:
                    pending[game, s] = step if step >= 0 else PENDING
                if step >= 0:
                    advantages[step, game] = advantage
                else:
                    carried_advantages[game, s] = advantage
                next_value[s] = value
                next_advantage[s] = advantage
                reward[s] = 0.0
                ended[s] = 0
                known[s] = 1


class SelfPlayEnv(VecEnv):
    """A batch of games in the shape that stable-baselines3 expects of an environment to train on.

    It carries spaces and the first observation only: self-play has a reward for every seat, so the
    algorithm steps the batch itself.

    Args:
        batch: The games; made with an observation layout.
    """

    def __init__(self, batch: BatchGame) -> None:
        if batch.layout is None:
            raise ValueError("layout: None; training needs an observation layout, such as 'plan'")
        self.batch = batch
        self.render_mode = None
        low, high = np.asarray(batch.layout.low), np.asarray(batch.layout.high)
        observations = spaces.Box(low.astype(np.int8), high.astype(np.int8), dtype=np.int8)
        super().__init__(batch.n_games, observations, spaces.Discrete(batch.n_actions))

    def reset(self) -> np.ndarray:
        """Starts all games anew."""
        self.batch.reset()
        return self.batch.observations

    def step_async(self, actions: np.ndarray) -> None:
        """Refused: a single reward for each game cannot describe self-play."""
        raise NotImplementedError(_NO_STEP)

    def step_wait(self) -> Any:
        """Refused, as `step_async`."""
        raise NotImplementedError(_NO_STEP)

    def action_masks(self) -> np.ndarray:
        """Returns the masks of the players to move, int8 `[games, n_actions]`."""
        return self.batch.masks

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Returns an attribute once for each game."""
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Returns a method's result once for each game."""
        return [getattr(self, method_name)(*args, **kwargs)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Returns that nothing is wrapped."""
        return [False] * self.num_envs


class SeatStreamBuffer(MaskableRolloutBuffer):
    """Keeps a rollout of many games with whole-number observations, and serves complete decisions.

    Args:
        buffer_size: Steps of the batch in a rollout.
        observation_space: The public observation.
        action_space: The actions.
        device: Where minibatches go.
        gae_lambda: GAE's lambda.
        gamma: Discount for each own decision.
        n_envs: Games in the batch.
        players: Seats of a game.
        hidden_size: Columns behind the public observation that only the critic reads.
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
        hidden_size: int = 0,
        seed: int | None = None,
    ) -> None:
        self.players = players
        self.rng = np.random.default_rng(seed)
        self.row_size = int(np.prod(observation_space.shape or (0,))) + hidden_size
        self._allocated = False
        self.complete = 0
        super().__init__(buffer_size, observation_space, action_space, device, gae_lambda, gamma, n_envs)

    def reset(self) -> None:
        """Empties the buffer, but for the decisions that wait for their successors."""
        if not self._allocated:
            self._allocate()
        self.pos, self.full = 0, False

    def _allocate(self) -> None:
        self.mask_dims = int(self.action_space.n)  # type: ignore[attr-defined]
        steps, games, players = self.buffer_size, self.n_envs, self.players
        # Two parts in one array: the rollout's steps, then a place for each seat's pending decision.
        rows = steps * games + games * players
        self.observations = np.zeros((rows, self.row_size), np.int8)
        self.action_masks = np.zeros((rows, self.mask_dims), np.int8)
        self.actions = np.zeros(rows, np.int64)
        self.log_probs = np.zeros(rows, np.float32)
        self.all_values = np.zeros(rows, np.float32)
        self.all_advantages = np.zeros(rows, np.float32)
        self.seats = np.full((steps, games), -1, np.int64)
        self.rewards = np.zeros((steps, games, players), np.float32)
        self.dones = np.zeros((steps, games), np.uint8)
        self.carried = np.zeros((games, players), np.uint8)
        self._indices = np.zeros(0, np.int64)
        self._allocated = True

    def forget(self) -> None:
        """Drops everything, pending decisions too: for a batch that starts anew."""
        self._allocate()
        self.reset()

    def rows(self, step: int) -> slice:
        """Returns the rows of a step."""
        return slice(step * self.n_envs, (step + 1) * self.n_envs)

    def record(
        self,
        actions: np.ndarray,
        values: np.ndarray,
        log_probs: np.ndarray,
        seats: np.ndarray,
        rewards: np.ndarray,
        dones: np.ndarray,
    ) -> None:
        """Adds a step whose observations and masks stand in their rows already.

        Args:
            actions: int64 `[games]`.
            values: float32 `[games]`.
            log_probs: float32 `[games]`.
            seats: int64 `[games]`, whose decision to learn from; -1 for none.
            rewards: float32 `[games, players]`.
            dones: uint8 `[games]`.
        """
        rows = self.rows(self.pos)
        self.actions[rows], self.all_values[rows], self.log_probs[rows] = actions, values, log_probs
        self.seats[self.pos], self.rewards[self.pos], self.dones[self.pos] = seats, rewards, dones
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_returns_and_advantage(self, last_values: Any = None, dones: Any = None) -> None:
        """Computes advantages for the decisions that are complete; the arguments are not needed here."""
        steps, games = self.buffer_size, self.n_envs
        cut = steps * games
        values, advantages = self.all_values, self.all_advantages
        self.pending = np.empty((games, self.players), np.int64)
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
        for array in (self.observations, self.action_masks, self.actions, self.log_probs, self.all_values):
            array[target] = array[source]
        self.carried[:] = self.pending != -1

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Yields the complete decisions in random order, in minibatches of nearly equal size."""
        order = self.rng.permutation(self.complete)
        parts = max(1, round(self.complete / batch_size)) if batch_size else 1
        for chosen in np.array_split(order, parts):
            rows = self._indices[chosen]
            data = (
                self.observations[rows],
                self.actions[rows],
                self.values[chosen],
                self.log_probs[rows],
                self.advantages[chosen],
                self.returns[chosen],
                self.action_masks[rows],
            )
            yield MaskableRolloutBufferSamples(*(th.from_numpy(part).to(self.device) for part in data))
