"""What every agent is: something that turns positions, seen from its own seat, into actions."""

from __future__ import annotations

import abc
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mexenv.rules import ActionLayout, Ruleset

Observations = NDArray[np.int8]
Masks = NDArray[np.int8]
Actions = NDArray[np.int64]


class AgentError(ValueError):
    """An agent that cannot be had or does not fit: the message says which and why."""


def shown(value: object) -> str:
    """A value from outside for a message: escaped, and shortened to 100 characters."""
    try:
        return _shortened(repr(value), 100)
    except (RecursionError, ValueError):
        return f"a {type(value).__name__}"


def plain(text: object) -> str:
    """A path or a message from outside for a message: without quotes, escaped, at most 400 characters."""
    return _shortened("".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text)), 400)


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = limit // 2 - 3
    return f"{text[: limit - end - 3]}...{text[-end:]}"


class Agent(abc.ABC):
    """A player that sees observations and action masks, never the game itself.

    An agent keeps nothing between two positions, so it can play any number of games, and several seats of
    one game, at once. Before it acts it is bound to a ruleset.

    Attributes:
        name: What to call it.
        layout: Name of the observation layout that it reads, `"base"` or `"plan"`; None if the action mask is
            all it needs.
        ruleset: The ruleset it is bound to; None before.
    """

    name: str
    layout: str | None = None

    def __init__(self, name: str) -> None:
        self.name = name
        self.ruleset: Ruleset | None = None

    def bind(self, ruleset: Ruleset) -> Self:
        """Prepares the agent for the positions of a ruleset; it may be bound again later.

        Returns:
            The agent itself.

        Raises:
            AgentError: If the agent cannot play that ruleset.
        """
        self.ruleset = ruleset
        self._n_actions = ActionLayout(ruleset).n_actions
        return self

    def seed(self, seed: int) -> None:  # noqa: B027  # most agents have no randomness
        """Restarts the agent's own randomness; nothing happens where it has none."""

    @abc.abstractmethod
    def act(self, observations: Observations | None, masks: Masks) -> Actions:
        """Chooses an action for each of n positions.

        Args:
            observations: int8[n, size] in the layout named by `layout`, each the view of the seat to move;
                not looked at, and may be None, where `layout` is None.
            masks: int8[n, n_actions], 1 where the action is legal.

        Returns:
            int64[n], action ids; legal ones wherever the row of the mask has any.

        Raises:
            AgentError: If the agent is not bound, or the shapes are not those of its ruleset.
        """

    def describe(self) -> dict[str, Any]:
        """What identifies this agent in a table of results: its name, and more where there is more to say."""
        return {"name": self.name}

    def __call__(self, observation: Any, action_mask: Any = None) -> int:
        """Chooses an action for one position.

        Args:
            observation: The view of the seat to move, as a vector: int8 whole numbers, or floats scaled as
                the environments give them; of the agent's own layout, or of `plan` where the agent reads
                `base`. Or a dict with the keys `observation` and `action_mask`.
            action_mask: int8[n_actions]; left out where `observation` is a dict that has it.

        Raises:
            AgentError: If the agent is not bound, the mask is missing, or a shape does not fit.
        """
        if isinstance(observation, dict):
            action_mask = observation.get("action_mask") if action_mask is None else action_mask
            observation = observation.get("observation")
        if action_mask is None:
            raise AgentError(f"agent {self.name}: action_mask is missing; allowed: int8[n_actions]")
        masks = np.asarray(action_mask).astype(np.int8)[None]
        rows = None
        if self.layout is not None:
            rows = self._whole_numbers(np.asarray(observation))[None]
        return int(self.act(rows, masks)[0])

    def __repr__(self) -> str:
        rules = "not bound" if self.ruleset is None else f"bound to {self.ruleset.name}"
        return f"<{type(self).__name__} {self.name}, {rules}>"

    def _check(self, observations: Observations | None, masks: Masks, size: int | None) -> None:
        """Refuses what does not belong to the ruleset: the kernels do not check their bounds."""
        if self.ruleset is None:
            raise AgentError(f"agent {self.name} is not bound to a ruleset: call bind(ruleset) first")
        if masks.ndim != 2 or masks.shape[1] != self._n_actions:
            raise AgentError(
                f"agent {self.name}: masks have shape {masks.shape}; allowed: (n, {self._n_actions})"
            )
        if size is None:
            return
        if observations is None or observations.shape != (masks.shape[0], size):
            shape = None if observations is None else observations.shape
            raise AgentError(
                f"agent {self.name}: observations have shape {shape}; allowed: "
                f"({masks.shape[0]}, {size}), layout {self.layout!r} for {self.ruleset.players} players"
            )

    def _whole_numbers(self, observation: NDArray[Any]) -> NDArray[np.int8]:
        from mexenv.observation import make_layout

        if self.ruleset is None or self.layout is None:
            raise AgentError(f"agent {self.name} is not bound to a ruleset: call bind(ruleset) first")
        layout = make_layout(self.layout, self.ruleset)
        if self.layout == "base" and observation.shape == (make_layout("plan", self.ruleset).size,):
            observation = observation[: layout.size]  # the layout plan begins with the whole of base
        if observation.shape != (layout.size,):
            raise AgentError(
                f"agent {self.name}: observation has shape {observation.shape}; allowed: ({layout.size},)"
            )
        if observation.dtype.kind == "f":
            return layout.to_int8(observation)
        return observation.astype(np.int8)
