"""Gymnasium adapter: one learner among named opponents, seen from its own turns only."""

from __future__ import annotations

import operator
from typing import Any, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt

from mexenv.envs.learner import LearnerGames, Opponents
from mexenv.envs.options import (
    ActionSpace,
    GameOptions,
    Settings,
    check_render_mode,
    observation_space,
    show,
)
from mexenv.rules import Ruleset

Observation = npt.NDArray[Any] | dict[str, npt.NDArray[Any]]


class SeatEnv(gymnasium.Env[Any, Any]):
    """One seat of a game of Mexican Train.

    A step is one decision of the learner; the other seats are played by agents until it is asked again, and
    the reward is the sum of all that came meanwhile. The learner may be asked several times in one turn.

    * Actions: `Discrete(n_actions)`, numbered by `mexenv.rules.ActionLayout`.
    * Observations: a Dict of `observation` (Box [layout.size]) and `action_mask` (int8 [n_actions]), or the
      first alone.
    * Info, the same keys at all times: `action_mask`, `seat`, `round`, `engine`, `points` (the learner's, in
      the match), `illegal_action`.
    * Reward: nonzero when a round (with reward `win`: an episode) has ended.
    * End: `terminated` with the round or the match; nothing is ever truncated.

    The mask allows at least one action. In the last observation of an episode, where no action means
    anything, it allows PASS only: code that masks logits there meets no row without a legal action.

    The learner's illegal action ends the episode with reward -1 and `info["illegal_action"]` True
    (`illegal="terminate"`), or is an error that changes nothing (`illegal="raise"`).

    Args:
        opponents: agents (`mexenv.agents`) or their names: one for all other seats, or one for each,
            clockwise from the learner.
        seat: the learner's seat; `random` for each episode; or `rotate`, one further each episode.
        illegal: `terminate` or `raise`.
        observation: `dict` or `flat` (the observation alone; the mask is in `info` and `action_masks()`).
        render_mode: `ansi` (text), `rgb_array` (picture), `human` (the text is printed after every step);
            they show the learner's hand only.
        **options: the options of the game, see `mexenv.envs.options.GameOptions`.

    Raises:
        ValueError: an option is not allowed (`RulesetError`, `AgentError` where it belongs there).
    """

    # Gymnasium declares it as a plain attribute, so no ClassVar may override it: RUF012 is off here.
    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array", "human"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponents: Opponents = "greedy",
        *,
        seat: int | str = 0,
        illegal: str = "terminate",
        observation: str = "dict",
        render_mode: str | None = None,
        **options: Unpack[GameOptions],
    ) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        self._games = LearnerGames(Settings(options), 1, opponents, seat, illegal, auto_reset=False)
        games = self._games
        self.ruleset: Ruleset = games.ruleset
        self.layout = games.layout
        self.actions = games.actions
        self._flat = observation == "flat"
        self.observation_space = observation_space(games.layout, games.dtype, games.n_actions, observation)
        self.action_space = ActionSpace(games.n_actions)
        self._action = np.zeros(1, np.int64)
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode and play to the learner's first decision.

        Args:
            seed: all that is random, the opponents included, follows from it.
            options: not used.

        Returns:
            Observation and info.
        """
        super().reset(seed=seed)
        self._games.reset(None if seed is None else int(self.np_random.integers(2**63)))
        self._over = False
        if self.render_mode == "human":
            self.render()
        return self._seen(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play to its next decision.

        Args:
            action: an action id.

        Returns:
            Observation, reward, terminated, truncated (always False) and info.

        Raises:
            RuntimeError: no episode is under way.
            TypeError: the action is no whole number.
            IllegalActionError: the action is not legal and `illegal` is `raise`; nothing has changed.
        """
        if self._over:
            raise RuntimeError("step() without an episode under way: call reset() first")
        number = operator.index(action)
        self._action[0] = number if 0 <= number < self.actions.n_actions else -1
        self._games.step(self._action)
        self._over = bool(self._games.dones[0])
        if self.render_mode == "human":
            self.render()
        return self._seen(), float(self._games.rewards[0]), self._over, False, self._info()

    def action_masks(self) -> npt.NDArray[np.int8]:
        """The learner's action mask, int8 [n_actions], new at each call; sb3-contrib looks for this."""
        if self._over:
            return self._games.final_mask()
        mask: npt.NDArray[np.int8] = self._games.masks[0].copy()
        return mask

    def _seen(self) -> Observation:
        view: npt.NDArray[Any] = self._games.observe()[0]
        return view if self._flat else {"observation": view, "action_mask": self.action_masks()}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), **self._games.info(0)}

    def render(self) -> Any:
        """Draw the game as the learner sees it: text, picture or nothing, as `render_mode` says."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode: give one when making the environment")
            return None
        return show(self._games.game(0), self.render_mode, int(self._games.seats[0]))
