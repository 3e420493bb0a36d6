"""Seats that do not learn: scripted agents and former policies, in a share of the games."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch as th

from mexenv.agents import Agent
from mexenv.games import BatchGame
from mexenv.observation import make_layout

LEARNER = -1


class OpponentSeats:
    """Decides, at the start of each episode, who sits where.

    The first `share` of the games are mixed: in each, one opponent drawn from all of them takes a random
    number of seats, at least one and never all. In the other games every seat learns.

    Args:
        games: Number of games in the batch.
        players: Seats of a game.
        share: Share of the games that are mixed.
        agents: Agents bound to the ruleset.
        snapshots: How many former policies to keep; the oldest makes room.
        seed: Seed of the seating.
    """

    def __init__(
        self, games: int, players: int, share: float, agents: Sequence[Agent], snapshots: int, seed: int
    ) -> None:
        self.mixed = round(games * share)
        self.players = players
        self.agents = list(agents)
        self.room = snapshots
        self.former: list[Any] = []
        self.seating = np.full((games, players), LEARNER, np.int64)
        self._rng = np.random.default_rng(seed)

    def remember(self, policy: Any) -> None:
        """Keeps a frozen copy of the policy as an opponent."""
        if not self.room:
            return
        frozen = copy.deepcopy(policy)
        frozen.set_training_mode(False)
        # In place, so that the numbers in the seating stay those of the same sort of opponent.
        if len(self.former) == self.room:
            self.former.pop(0)
        self.former.append(frozen)

    def begin(self, batch: BatchGame, games: np.ndarray) -> None:
        """Draws who sits where in games that have just begun.

        Args:
            batch: The games.
            games: int64 `[n]`, which of them.
        """
        games = games[games < self.mixed]
        choices = len(self.agents) + len(self.former)
        if not choices or not len(games):
            return
        taken = self._rng.integers(1, self.players, len(games))
        order = self._rng.random((len(games), self.players)).argsort(1)
        who = self._rng.integers(0, choices, len(games))
        self.seating[games] = np.where(order < taken[:, None], who[:, None], LEARNER)

    def rows(self, batch: BatchGame) -> np.ndarray:
        """Returns bool `[games]`: where the player to move is not the learner."""
        return self._movers(batch) != LEARNER

    def act(self, batch: BatchGame, rows: np.ndarray) -> np.ndarray:
        """Returns the opponents' actions.

        Args:
            batch: The games.
            rows: int64 `[n]`, the games where an opponent moves.

        Returns:
            int64 `[n]`.
        """
        movers = self._movers(batch)[rows]
        actions = np.zeros(len(rows), np.int64)
        for who in np.unique(movers):
            part = np.flatnonzero(movers == who)
            games = rows[part]
            if who < len(self.agents):
                actions[part] = self._scripted(self.agents[who], batch, games)
            else:
                policy = self.former[who - len(self.agents)]
                with th.no_grad():
                    chosen = policy.act(
                        th.from_numpy(batch.observations[games]).to(policy.device),
                        th.from_numpy(batch.masks[games]),
                        deterministic=False,
                    )
                actions[part] = chosen.cpu().numpy()
        return actions

    def _scripted(self, agent: Agent, batch: BatchGame, games: np.ndarray) -> np.ndarray:
        if agent.layout is None:
            return agent.act(None, batch.masks[games])
        layout = make_layout(agent.layout, batch.ruleset)
        return agent.act(batch.observe(layout, games=games), batch.masks[games])

    def _movers(self, batch: BatchGame) -> np.ndarray:
        return self.seating[np.arange(batch.n_games), batch.to_move]
