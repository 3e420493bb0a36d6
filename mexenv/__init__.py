"""mexenv: the domino game Mexican Train for reinforcement learning.

Importing this package registers its environments and loads nothing else of it: the public names below
come from their modules on first use, so that a program pays only for the parts it touches.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mexenv.envs.registration import register_envs

if TYPE_CHECKING:
    from mexenv.agents import Agent as Agent
    from mexenv.agents import agent_names as agent_names
    from mexenv.agents import load_agent as load_agent
    from mexenv.envs import MexicanTrainVectorEnv as MexicanTrainVectorEnv
    from mexenv.envs import SeatEnv as SeatEnv
    from mexenv.envs import env as env
    from mexenv.envs import raw_env as raw_env
    from mexenv.games import BatchGame as BatchGame
    from mexenv.games import Event as Event
    from mexenv.games import Game as Game
    from mexenv.games import IllegalActionError as IllegalActionError
    from mexenv.observation import ObservationLayout as ObservationLayout
    from mexenv.observation import make_layout as make_layout
    from mexenv.rules import ActionLayout as ActionLayout
    from mexenv.rules import Ruleset as Ruleset
    from mexenv.rules import RulesetError as RulesetError
    from mexenv.rules import load_ruleset as load_ruleset
    from mexenv.rules import preset as preset

_HOME = {
    "Agent": "mexenv.agents",
    "agent_names": "mexenv.agents",
    "load_agent": "mexenv.agents",
    "BatchGame": "mexenv.games",
    "Event": "mexenv.games",
    "Game": "mexenv.games",
    "IllegalActionError": "mexenv.games",
    "MexicanTrainVectorEnv": "mexenv.envs",
    "SeatEnv": "mexenv.envs",
    "env": "mexenv.envs",
    "raw_env": "mexenv.envs",
    "ObservationLayout": "mexenv.observation",
    "make_layout": "mexenv.observation",
    "ActionLayout": "mexenv.rules",
    "Ruleset": "mexenv.rules",
    "RulesetError": "mexenv.rules",
    "load_ruleset": "mexenv.rules",
    "preset": "mexenv.rules",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("mexenv")
    else:
        raise AttributeError(f"module 'mexenv' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_envs()
