"""Testing a policy in training: the same deals from every seat against scripted or trained opponents."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from mexenv.agents import Agent
from mexenv.games import BatchGame
from mexenv.observation import ObservationLayout, make_layout
from mexenv.rules import Ruleset

Act = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From int8 observations and masks to action ids, row by row."""


@dataclass(frozen=True)
class Score:
    """What a policy did against one kind of opponent.

    Attributes:
        opponent: Who filled the other seats.
        deals: Deals played; each once from every seat.
        pips: Mean points a round of the policy.
        error: Standard error of that mean, over deals.
        opponent_pips: Mean points of the others.
        out: Share of the rounds in which the policy went out.
    """

    opponent: str
    deals: int
    pips: float
    error: float
    opponent_pips: float
    out: float

    def to_dict(self) -> dict[str, Any]:
        """Returns the figures, rounded for files that people read."""
        return {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(self).items()}


def duplicate_score(
    act: Act,
    layout: ObservationLayout,
    opponent: Agent,
    ruleset: Ruleset,
    *,
    deals: int,
    seed: int,
    engine: str = "first",
) -> Score:
    """Plays one round of each deal from every seat.

    Args:
        act: The policy.
        layout: The observations that it reads.
        opponent: Fills the other seats; bound to the ruleset.
        ruleset: The rules.
        deals: Number of deals.
        seed: Seed of the deals; the same seed gives the same deals.
        engine: The round of the match that is played, `first` or `random`.
    """
    theirs = None if opponent.layout is None else make_layout(opponent.layout, ruleset)
    shared = theirs is not None and theirs.size <= layout.size  # the layout plan begins with base
    batch = BatchGame(
        ruleset, deals, seed=seed, engine=engine, layout=layout, skip_forced=True, auto_reset=False
    )
    own = np.zeros((ruleset.players, deals))
    others, out = np.zeros_like(own), np.zeros_like(own)
    for seat in range(ruleset.players):
        batch.reset(seed)
        while not batch.over.all():
            actions = np.zeros(deals, np.int64)
            live = ~batch.over
            mine = np.flatnonzero(live & (batch.to_move == seat))
            rest = np.flatnonzero(live & (batch.to_move != seat))
            if len(mine):
                actions[mine] = act(batch.observations[mine], batch.masks[mine])
            if len(rest):
                if theirs is None:
                    seen = None
                elif shared:
                    seen = np.ascontiguousarray(batch.observations[rest, : theirs.size])
                else:
                    seen = batch.observe(theirs, games=rest)
                actions[rest] = opponent.act(seen, batch.masks[rest])
            batch.step(actions)
        own[seat] = batch.round_pips[:, seat]
        others[seat] = np.delete(batch.round_pips, seat, axis=1).mean(1)
        out[seat] = batch.round_out[:, seat]
    by_deal = own.mean(0)
    error = float(by_deal.std(ddof=1) / np.sqrt(deals)) if deals > 1 else float("nan")
    return Score(
        opponent.name, deals, float(own.mean()), error, float(others.mean()), float(out.mean())
    )


def torch_act(policy: Any) -> Act:
    """Returns the most likely actions of a torch policy as an `Act`."""
    import torch as th

    def act(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        policy.set_training_mode(False)
        with th.no_grad():
            result: np.ndarray = policy.act(th.from_numpy(observations), th.from_numpy(masks)).cpu().numpy()
        return result

    return act
