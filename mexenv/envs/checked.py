"""The wrapper of `env()`: what PettingZoo's classic games get from three generic ones, in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from pettingzoo.utils import wrappers
from pettingzoo.utils.env import AECIterable
from pettingzoo.utils.env_logger import EnvLogger

from mexenv.games import IllegalActionError

if TYPE_CHECKING:
    from mexenv.envs.aec import Observation, raw_env

_ILLEGAL_REWARD = -1.0


def _look_up(name: str) -> property:
    """An attribute of the raw environment that is there from the first `reset` on."""

    def get(self: CheckedEnv) -> Any:
        if not self._has_reset:
            raise AttributeError(name)  # Python then asks `__getattr__`, which says more
        return getattr(self.env, name)

    return property(get, doc=f"`{name}` of the raw environment.")


class CheckedEnv(wrappers.OrderEnforcingWrapper):  # type: ignore[misc]  # PettingZoo ships no types
    """A `raw_env` that answers wrong calls as PettingZoo's classic games do.

    It stands for `TerminateIllegalWrapper(illegal_reward=-1)`, `AssertOutOfBoundsWrapper` and
    `OrderEnforcingWrapper`, which look up every attribute through one another and halve the speed twice.

    Args:
        env: the raw environment.
    """

    env: raw_env

    agents = _look_up("agents")
    agent_selection = _look_up("agent_selection")
    rewards = _look_up("rewards")
    terminations = _look_up("terminations")
    truncations = _look_up("truncations")
    infos = _look_up("infos")

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """The space of one agent's actions; the same for all."""
        return self.env.action_spaces[agent]

    def observe(self, agent: str) -> Observation:
        """See `raw_env.observe`.

        Raises:
            AssertionError: before the first `reset`.
        """
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        return self.env.observe(agent)

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """See `raw_env.last`.

        Raises:
            AttributeError: before the first `reset`.
        """
        if not self._has_reset:
            raise AttributeError("agent_selection cannot be accessed before reset")
        return self.env.last(observe)

    def step(self, action: Any) -> None:
        """Carry out an action of `agent_selection`; an illegal one ends the episode, with a warning.

        Args:
            action: a number in the action space; None for an agent whose episode is over.

        Raises:
            AssertionError: before the first `reset`, or the action is not in the action space.
            ValueError: the agent's episode is over and the action is not None.
        """
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        env = self.env
        if not env.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            unchecked = action is not None
        else:
            # Plain numbers are left to the raw environment; of other types it takes more than the space.
            unchecked = type(action) not in (int, np.int64)
        if unchecked:
            self._check_in_space(action)
        try:
            env.step(action)
        except IllegalActionError:
            self._check_in_space(action)
            self._end_illegal()

    def _check_in_space(self, action: Any) -> None:
        if not self.action_space(self.env.agent_selection).contains(action):
            raise AssertionError("action is not in action space")

    def _end_illegal(self) -> None:
        """End the episode for all; the agent that has just moved gets the reward of an illegal action."""
        EnvLogger.warn_on_illegal_move()
        env = self.env
        loser = env.agent_selection
        env.terminations = dict.fromkeys(env.agents, True)
        env.truncations = dict.fromkeys(env.agents, True)
        env.rewards = {**dict.fromkeys(env.agents, 0), loser: _ILLEGAL_REWARD}
        env._cumulative_rewards[loser] = 0
        env._accumulate_rewards()
        env._deads_step_first()

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable:
        """`agent_selection` for each step, at most `max_iter` times, until no agent is left.

        Raises:
            AssertionError: before the first `reset`; in the loop, without a `step` or `reset` in between.
        """
        if not self._has_reset:
            EnvLogger.error_agent_iter_before_reset()
        return _Turns(self, max_iter)

    def __str__(self) -> str:
        return str(self.env)


class _Turns(AECIterable):  # type: ignore[misc]  # PettingZoo ships no types
    """PettingZoo's iterable over the agents to move; a generator is faster than its iterator."""

    def __iter__(self) -> Iterator[str]:
        checked: CheckedEnv = self.env
        raw = checked.env
        left = self.max_iter
        while raw.agents and left > 0:
            left -= 1
            if not checked._has_updated:
                raise AssertionError("need to call step() or reset() in a loop over `agent_iter`")
            checked._has_updated = False
            yield raw.agent_selection
