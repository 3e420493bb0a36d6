"""Self-play as a stream of decisions for every seat of every game.

A seat's next decision comes after the moves of others, perhaps many steps later, and the round's reward
reaches all seats at once on somebody's move. Advantages therefore follow each seat through whole steps.
"""

from typing import Any

import numba
import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from mexenv.games import BatchGame

_NO_STEP = "self-play is stepped by SelfPlayPPO; for one learner use mexenv.envs.sb3.MexicanTrainVecEnv"

PENDING = -2
"""Mark of a decision whose successor is not known yet; it waits for the next rollout."""


@numba.njit(cache=True, nogil=True, error_model="numpy")
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
