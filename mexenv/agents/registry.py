"""Agents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from mexenv.agents.base import Agent, AgentError, plain, shown
from mexenv.agents.policy import MANIFEST, PolicyAgent
from mexenv.agents.scripted import GreedyAgent, OwnFirstAgent, PlannerAgent, RandomAgent
from mexenv.assets import shipped_checkpoints
from mexenv.games import SCRIPTED
from mexenv.rules import Ruleset, load_ruleset
from mexenv.rules.ruleset import suggestion

_MAKERS: Final[dict[str, Callable[[], Agent]]] = dict(
    zip(SCRIPTED, (RandomAgent, GreedyAgent, OwnFirstAgent, PlannerAgent), strict=True)
)


def agent_names() -> list[str]:
    """The names that `load_agent` knows: the scripted agents, weakest first, then the shipped policies."""
    return [*SCRIPTED, *(name for name in shipped_checkpoints() if name not in SCRIPTED)]


def load_agent(
    name_or_path: str | Path,
    ruleset: str | Path | Mapping[str, Any] | Ruleset | None = None,
    *,
    temperature: float = 0.0,
) -> Agent:
    """An agent by name, or the policy in a folder.

    Args:
        name_or_path: a name of `agent_names()`, or the path of a policy's folder (or of its manifest).
        ruleset: what to bind the agent to, a ruleset or what `load_ruleset` takes; left out, the caller
            binds it.
        temperature: for policies, see `PolicyAgent`; scripted agents take 0 only.

    Raises:
        AgentError: If there is no such agent, the policy cannot be loaded, or it does not fit the ruleset.
        RulesetError: If the ruleset cannot be found or read, or is refused.
    """
    rules = None if ruleset is None else load_ruleset(ruleset)
    agent = _find(name_or_path, temperature)
    return agent if rules is None else agent.bind(rules)


def _find(name_or_path: str | Path, temperature: float) -> Agent:
    text = str(name_or_path)
    if isinstance(name_or_path, str) and text in SCRIPTED:
        if temperature:
            raise AgentError(
                f"temperature {temperature} for {text}: allowed is 0, only policies have another"
            )
        return _MAKERS[text]()
    shipped = shipped_checkpoints()
    if isinstance(name_or_path, str) and text in shipped:
        return PolicyAgent(shipped[text], temperature=temperature, name=text)
    names = agent_names()
    try:
        path = Path(name_or_path)
        if path.name == MANIFEST:
            path = path.parent
        found = path.is_dir()
    except (OSError, ValueError, TypeError) as error:
        what = f"agent {shown(name_or_path)}: {plain(getattr(error, 'strerror', None) or error)}"
    else:
        if found:
            return PolicyAgent(path, temperature=temperature)
        what = (
            f"no such folder: {plain(text)}"
            if len(path.parts) > 1
            else f"unknown agent {shown(text)}{suggestion(text, names)}"
        )
    raise AgentError(f"{what}; allowed are {', '.join(names)}, or the folder of a policy")
