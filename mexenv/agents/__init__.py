"""Agents: players by name, scripted or trained, that see only what their seat may know."""

from mexenv.agents.base import Agent, AgentError
from mexenv.agents.policy import PolicyAgent
from mexenv.agents.registry import agent_names, load_agent
from mexenv.agents.scripted import GreedyAgent, OwnFirstAgent, PlannerAgent, RandomAgent

__all__ = [
    "Agent",
    "AgentError",
    "GreedyAgent",
    "OwnFirstAgent",
    "PlannerAgent",
    "PolicyAgent",
    "RandomAgent",
    "agent_names",
    "load_agent",
]
