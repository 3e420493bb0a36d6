"""Agents that follow one sentence, and the planner. Their kernels stand in `mexenv.games.choosing`."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from mexenv.agents.base import Actions, Agent, AgentError, Masks, Observations
from mexenv.engine.state import rules_record
from mexenv.games.choosing import PLANNER, SCRIPTED, choose_rows
from mexenv.games.planning import WEIGHTS
from mexenv.observation import make_layout
from mexenv.rules import Ruleset

_NO_VIEWS = np.zeros((0, 0), np.int8)


class ScriptedAgent(Agent):
    """What the agents whose kernel is compiled have in common.

    Attributes:
        code: The kernel's number, the agent's place in `mexenv.games.SCRIPTED`.
    """

    code: int
    _weights: NDArray[np.float64] = WEIGHTS
    _state: NDArray[np.uint64]

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._state = np.zeros(1, np.uint64)

    def bind(self, ruleset: Ruleset) -> Self:
        """See `Agent.bind`; these agents play every ruleset."""
        self._rules = rules_record(ruleset)
        self._size = None if self.layout is None else make_layout(self.layout, ruleset).size
        return super().bind(ruleset)

    def act(self, observations: Observations | None, masks: Masks) -> Actions:
        """See `Agent.act`."""
        self._check(observations, masks, None if self.ruleset is None else self._size)
        # The kernels are compiled for one kind of array only.
        masks = np.ascontiguousarray(masks, np.int8)
        views = _NO_VIEWS if self.layout is None else np.ascontiguousarray(observations, np.int8)
        out = np.empty(len(masks), np.int64)
        choose_rows(self.code, self._rules, masks, views, self._weights, self._state, out)
        return out


class RandomAgent(ScriptedAgent):
    """Any legal play, each equally likely."""

    code = SCRIPTED.index("random")

    def __init__(self, name: str = "random", seed: int = 0) -> None:
        super().__init__(name)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Restarts the agent's randomness."""
        self._state = np.array([seed % 2**64], np.uint64)


class GreedyAgent(ScriptedAgent):
    """The heaviest legal tile, wherever it fits."""

    code = SCRIPTED.index("greedy")

    def __init__(self, name: str = "greedy") -> None:
        super().__init__(name)


class OwnFirstAgent(ScriptedAgent):
    """The heaviest tile for the own train, else the heaviest one anywhere."""

    code = SCRIPTED.index("own_first")

    def __init__(self, name: str = "own_first") -> None:
        super().__init__(name)


class PlannerAgent(ScriptedAgent):
    """Plans the trail of its own hand and scores plays by what they leave of it.

    Args:
        name: What to call it.
        weights: float64[7], what a play is worth, see `mexenv.games.planning.WEIGHTS`.

    Raises:
        AgentError: The weights are not seven numbers.
    """

    code = PLANNER
    layout = "base"

    def __init__(self, name: str = "planner", weights: NDArray[np.float64] = WEIGHTS) -> None:
        super().__init__(name)
        self._weights = np.ascontiguousarray(weights, np.float64)
        if self._weights.shape != WEIGHTS.shape:
            raise AgentError(f"weights of shape {self._weights.shape}: allowed is {WEIGHTS.shape}")


def kernel_code(agent: Agent) -> int | None:
    """The number of the kernel that does exactly what an agent does; None if there is none.

    A subclass may act otherwise, and so may an agent whose `act` was replaced, and a planner with weights of
    its own.
    """
    if "act" in vars(agent) or type(agent) not in (RandomAgent, GreedyAgent, OwnFirstAgent, PlannerAgent):
        return None
    if isinstance(agent, PlannerAgent) and not np.array_equal(agent._weights, WEIGHTS):
        return None
    return agent.code if isinstance(agent, ScriptedAgent) else None
