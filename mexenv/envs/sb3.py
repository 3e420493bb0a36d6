"""Stable-Baselines3 adapter: a `VecEnv` of many learners, straight on the batch engine.

The only module of the package that loads Stable-Baselines3 (and with it torch); nothing else imports it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from mexenv.envs.learner import LearnerGames, Opponents
from mexenv.envs.options import GameOptions, Settings, check_render_mode, observation_space, show
from mexenv.envs.vector import whole_numbers


class MexicanTrainVecEnv(VecEnv):
    """Many games of Mexican Train with one learner each, for Stable-Baselines3 and sb3-contrib.

    What is said of `mexenv.envs.SeatEnv` holds for each game. `MaskablePPO` finds the masks through
    `env_method("action_masks")`. `infos[i]` of a game whose episode has ended holds `terminal_observation`
    and `episode` (`r` return, `l` decisions, `t` seconds since the start), so no Monitor is needed.

    Args:
        n_envs: number of games.
        opponents: see `SeatEnv`.
        seat: see `SeatEnv`; here the learner goes one seat further each episode if nothing else is said.
        illegal: see `SeatEnv`.
        observation: `flat` (for `MlpPolicy`) or `dict` (for `MultiInputPolicy`).
        render_mode: `rgb_array` or None.
        **options: the options of the game, see `mexenv.envs.options.GameOptions`.

    Raises:
        ValueError: an option is not allowed (`RulesetError`, `AgentError` where it belongs there).
    """

    def __init__(
        self,
        n_envs: int = 1,
        opponents: Opponents = "greedy",
        *,
        seat: int | str = "rotate",
        illegal: str = "terminate",
        observation: str = "flat",
        render_mode: str | None = None,
        **options: Unpack[GameOptions],
    ) -> None:
        check_render_mode(render_mode, ["rgb_array"])
        self.render_mode = render_mode
        self.num_envs = n_envs
        self._games = LearnerGames(Settings(options), n_envs, opponents, seat, illegal, auto_reset=True)
        games = self._games
        self.ruleset = games.ruleset
        self.layout = games.layout
        self.actions = games.actions
        self._flat = observation == "flat"
        self._waiting: npt.NDArray[np.integer[Any]] = np.zeros(n_envs, np.int64)
        self._returns = np.zeros(n_envs)
        self._lengths = np.zeros(n_envs, np.int64)
        self._started = time.monotonic()
        super().__init__(
            n_envs,
            observation_space(games.layout, games.dtype, games.n_actions, observation),
            spaces.Discrete(games.n_actions),
        )

    def reset(self) -> VecEnvObs:
        """Start an episode in every game; the first seed that `seed()` noted is used for all."""
        self._games.reset(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        self.reset_infos = [self._games.info(index) for index in range(self.num_envs)]
        return self._seen()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Note the actions, integers [n_envs], for `step_wait`."""
        self._waiting = whole_numbers(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Carry out the learners' actions and play to their next decisions.

        Returns:
            Observations, rewards (float32 [n_envs]), dones (bool [n_envs]) and one info for each game.

        Raises:
            IllegalActionError: an action is not legal and `illegal` is `raise`; nothing has changed.
        """
        games = self._games
        games.step(self._waiting)
        self._returns += games.rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index, view in games.finals.items():
            infos[index] = {
                **games.final_infos[index],
                "terminal_observation": self._last(view),
                "TimeLimit.truncated": False,
                "episode": {
                    "r": float(self._returns[index]),
                    "l": int(self._lengths[index]),
                    "t": round(time.monotonic() - self._started, 6),
                },
            }
            self._returns[index] = 0
            self._lengths[index] = 0
            self.reset_infos[index] = games.info(index)
        return self._seen(), games.rewards.astype(np.float32), games.dones.copy(), infos

    def action_masks(self) -> npt.NDArray[np.int8]:
        """The learners' action masks, int8 [n_envs, n_actions], new at each call."""
        return self._games.masks.copy()

    def _seen(self) -> VecEnvObs:
        views = self._games.observe()
        return views if self._flat else {"observation": views, "action_mask": self.action_masks()}

    def _last(self, view: npt.NDArray[Any]) -> npt.NDArray[Any] | dict[str, npt.NDArray[Any]]:
        if self._flat:
            return view
        return {"observation": view, "action_mask": self._games.final_mask()}

    def close(self) -> None:
        """Nothing is held open."""

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """A picture of each game, as its learner sees it; None without a render mode."""
        return [self._render_game(index) for index in range(self.num_envs)]

    def _render_game(self, index: int) -> Any:
        return show(self._games.game(index), self.render_mode, int(self._games.seats[index]))

    def _mask_of(self, index: int) -> npt.NDArray[np.int8]:
        mask: npt.NDArray[np.int8] = self._games.masks[index].copy()
        return mask

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute for each game: of this object, but for the methods of a single game."""
        single = {"action_masks": self._mask_of, "render": self._render_game}
        chosen = self._get_indices(indices)
        if attr_name in single:
            return [partial(single[attr_name], index) for index in chosen]
        value = getattr(self, attr_name)
        return [value for _ in chosen]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: the games share one batch and have no attributes of their own.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name} cannot be set: options are given when the environment is made")

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of a single game: `action_masks` or `render`.

        Raises:
            AttributeError: another method.
        """
        if method_name not in ("action_masks", "render"):
            raise AttributeError(f"method {method_name!r}: allowed are 'action_masks' and 'render'")
        return [call(*method_args, **method_kwargs) for call in self.get_attr(method_name, indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """False; True for SB3's Monitor, whose `episode` entries the infos carry."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
