"""Testing a policy in training: the same deals from every seat, as `mexenv evaluate` does it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch as th

from mexenv.agents import Agent
from mexenv.arena import evaluate
from mexenv.rules import Ruleset


class TorchAgent(Agent):
    """A policy that is being trained, as an agent.

    Args:
        policy: The policy; its weights may change between two calls.
        name: What to call it.
        sampled: Whether to draw from the policy instead of taking its most likely action.
    """

    def __init__(self, policy: Any, name: str = "policy", sampled: bool = False) -> None:
        super().__init__(name)
        self.policy, self.sampled = policy, sampled
        self.layout = policy.layout.name

    def act(self, observations: np.ndarray | None, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        self._check(observations, masks, self.policy.layout.size)
        self.policy.set_training_mode(False)
        with th.no_grad():
            actions = self.policy.act(
                th.from_numpy(observations).to(self.policy.device),
                th.from_numpy(masks),
                deterministic=not self.sampled,
            )
        return actions.cpu().numpy()


def score_rows(
    agent: Agent, ruleset: Ruleset, opponents: Sequence[str], *, deals: int, seed: int
) -> list[dict[str, Any]]:
    """Plays an agent alone against each kind of opponent, on the same deals from every seat.

    Args:
        agent: The agent.
        ruleset: The rules.
        opponents: Names; each fills all other seats in a test of its own.
        deals: Deals in a test.
        seed: Seed of the deals.

    Returns:
        One row for each opponent, fit for JSON: `opponent`, `pips` (mean points a round), `low` and `high`
        (its 95 % interval), `opponent_pips`, `went_out` (share of the rounds), `deals`, `seed`, `engine`.
    """
    rows = []
    for name in opponents:
        results = evaluate([agent, name], ruleset, deals, seed=seed, engine="first")
        mine, other = results.rows[0], results.rows[-1]
        figures = {
            "pips": mine.mean_pips,
            "low": mine.low,
            "high": mine.high,
            "opponent_pips": other.mean_pips,
            "went_out": mine.went_out,
        }
        rounded = {key: round(value, 4) if np.isfinite(value) else None for key, value in figures.items()}
        rows.append({"opponent": name, **rounded, "deals": deals, "seed": seed, "engine": "first"})
    return rows
