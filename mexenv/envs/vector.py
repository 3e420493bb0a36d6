"""Gymnasium vector adapter: many learners at once, straight on the batch engine."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mexenv.envs.learner import LearnerGames, Opponents
from mexenv.envs.options import GameOptions, Settings, check_render_mode, observation_space, show

Observation = npt.NDArray[Any] | dict[str, npt.NDArray[Any]]


class MexicanTrainVectorEnv(VectorEnv[Any, Any, Any]):
    """Many games of Mexican Train with one learner each; `SeatEnv`, n times, in one batch.

    Made by `gymnasium.make_vec("mexenv/MexicanTrain-v0", num_envs=n, ...)`. What is said of `SeatEnv` holds
    for each game. A finished episode is followed by the next in the same step (autoreset mode SAME_STEP):
    the observation returned is the new episode's first one, the old episode's last one stands in
    `info["final_obs"]` and its info in `info["final_info"]`. So every mask row belongs to a decision.

    Args:
        num_envs: number of games.
        opponents: see `SeatEnv`.
        seat: see `SeatEnv`; here the learner goes one seat further each episode if nothing else is said.
        illegal: see `SeatEnv`.
        observation: see `SeatEnv`.
        render_mode: `ansi` or `rgb_array`; a frame for each game.
        **options: the options of the game, see `mexenv.envs.options.GameOptions`.

    Raises:
        ValueError: an option is not allowed (`RulesetError`, `AgentError` where it belongs there).
    """

    # Gymnasium declares it as a plain attribute, so no ClassVar may override it: RUF012 is off here.
    metadata: dict[str, Any] = {  # noqa: RUF012
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
    }

    def __init__(
        self,
        num_envs: int = 1,
        opponents: Opponents = "greedy",
        *,
        seat: int | str = "rotate",
        illegal: str = "terminate",
        observation: str = "dict",
        render_mode: str | None = None,
        **options: Unpack[GameOptions],
    ) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self.num_envs = num_envs
        self._games = LearnerGames(Settings(options), num_envs, opponents, seat, illegal, auto_reset=True)
        games = self._games
        self.ruleset = games.ruleset
        self.layout = games.layout
        self.actions = games.actions
        self._flat = observation == "flat"
        self.single_observation_space = observation_space(
            games.layout, games.dtype, games.n_actions, observation
        )
        self.single_action_space = spaces.Discrete(games.n_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode in every game and play to the learners' first decisions.

        Args:
            seed: one seed for all games; all that is random, the opponents included, follows from it.
            options: not used.

        Returns:
            Observations [num_envs, ...] and info.
        """
        super().reset(seed=seed)
        self._games.reset(None if seed is None else int(self.np_random.integers(2**63)))
        return self._seen(), self._info()

    def step(
        self, actions: Any
    ) -> tuple[
        Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]
    ]:
        """Carry out the learners' actions and play to their next decisions.

        Args:
            actions: integers [num_envs].

        Returns:
            Observations, rewards, terminations, truncations (always False) and info.

        Raises:
            IllegalActionError: an action is not legal and `illegal` is `raise`; nothing has changed.
        """
        games = self._games
        games.step(whole_numbers(actions))
        truncations = np.zeros(self.num_envs, np.bool_)
        return self._seen(), games.rewards.copy(), games.dones.copy(), truncations, self._info()

    def action_masks(self) -> npt.NDArray[np.int8]:
        """The learners' action masks, int8 [num_envs, n_actions], new at each call."""
        return self._games.masks.copy()

    def _seen(self) -> Observation:
        views = self._games.observe()
        return views if self._flat else {"observation": views, "action_mask": self.action_masks()}

    def _info(self) -> dict[str, Any]:
        """Info as Gymnasium's vector environments give it: arrays, and beside each a bool array `_key`."""
        games = self._games
        info: dict[str, Any] = {"action_mask": self.action_masks(), **games.infos()}
        for key in list(info):
            info[f"_{key}"] = np.ones(self.num_envs, np.bool_)
        for index, view in games.finals.items():
            last = view if self._flat else {"observation": view, "action_mask": games.final_mask()}
            final = {"action_mask": games.final_mask(), **games.final_infos[index]}
            self._add_info(info, {"final_obs": last, "final_info": final}, index)
        return info

    def render(self) -> tuple[Any, ...] | None:
        """A frame for each game, as its learner sees it; None without a render mode."""
        if self.render_mode is None:
            return None
        games = self._games
        return tuple(
            show(games.game(index), self.render_mode, int(games.seats[index]))
            for index in range(self.num_envs)
        )


def whole_numbers(actions: Any) -> npt.NDArray[np.integer[Any]]:
    """Actions as an integer array.

    Raises:
        TypeError: they are something else, such as floats.
    """
    array = np.asarray(actions)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"actions of dtype {array.dtype}: allowed are integers")
    return array
