"""The loop under all single-learner environments: play the other seats until the learner is to move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mexenv.agents import Agent, AgentError, load_agent
from mexenv.agents.scripted import kernel_code
from mexenv.engine.state import POINT
from mexenv.envs.options import Settings, fresh_seed
from mexenv.envs.table import Index, Table
from mexenv.games import IllegalActionError, stepping
from mexenv.games.options import illegal_text, seeds_for
from mexenv.games.playing import NOBODY
from mexenv.observation import make_layout
from mexenv.rules import Ruleset

Opponents = Sequence[str | Agent] | str | Agent

ILLEGAL_REWARD = -1.0


class LearnerGames:
    """Games in which one seat is the learner's and agents play the others.

    Between calls the learner is to move in every game (or the game is over, without `auto_reset`). Rewards
    that arrive on the others' moves are added to those of the learner's own.

    Attributes:
        ruleset: the rules.
        n_games: number of games, n below.
        n_actions: number of action ids.
        actions: the action layout.
        layout: layout of the observations.
        seats: int64 [n], the learner's seat.
        masks: int8 [n, n_actions], overwritten; all zero only for a game that is over.
        rewards: float64 [n], the learner's rewards since its decision before.
        dones: bool [n], an episode ended since that decision; with `auto_reset` a new one is under way.
        illegal: bool [n], it ended because the learner's action was illegal.
        finals: observations at the end of the episodes that ended, by game; else empty.
        final_infos: likewise, see `info`.
    """

    def __init__(
        self,
        settings: Settings,
        n_games: int,
        opponents: Opponents,
        seat: int | str,
        illegal: str,
        *,
        auto_reset: bool,
    ) -> None:
        """Make the games; `reset` deals.

        Args:
            settings: the game options.
            n_games: number of games.
            opponents: one agent for all other seats, or one for each, clockwise from the learner.
            seat: the learner's seat; `random` for each episode; or `rotate`, one further each episode.
            illegal: `terminate`: an illegal action of the learner ends the episode with reward -1; `raise`:
                it is an error and changes nothing.
            auto_reset: whether an episode that ends is followed by the next at once.

        Raises:
            ValueError: an option is not allowed (`AgentError` where it is an opponent).
        """
        if illegal not in ("terminate", "raise"):
            raise ValueError(f"illegal {illegal!r}: allowed are 'terminate' and 'raise'")
        self.ruleset = settings.ruleset
        players = self.ruleset.players
        fixed = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
        if not (seat in ("random", "rotate") if isinstance(seat, str) else fixed and 0 <= seat < players):
            raise ValueError(f"seat {seat!r}: allowed are 0 to {players - 1}, 'random' and 'rotate'")
        self.n_games = n_games
        self.layout = make_layout(settings.layout, self.ruleset)
        self.dtype = settings.dtype
        self._table = Table(
            self.ruleset, n_games, layout=self.layout, dtype=self.dtype, auto_reset=False,
            **settings.batch_options,
        )  # fmt: skip

        self.actions = self._table.actions
        self.n_actions = self._table.n_actions
        self.masks = self._table.masks
        self.opponents = seated_opponents(opponents, self.ruleset)
        self._agents = list(dict.fromkeys(self.opponents))
        # How the seats after the learner's are played: by a kernel, or by asking one of the agents.
        compiled = [kernel_code(agent) for agent in self.opponents]
        self._codes = np.array([NOBODY, *(NOBODY if code is None else code for code in compiled)], np.int64)
        asked = [
            self._agents.index(agent) if code is None else -1
            for agent, code in zip(self.opponents, compiled, strict=True)
        ]
        self._asked_at = np.array([-1, *asked])
        self._seeds = np.zeros(n_games, np.uint64)
        self._agent_layouts = [
            make_layout(agent.layout, self.ruleset) if agent.layout is not None else None
            for agent in self._agents
        ]
        self._seat = seat
        self._illegal = illegal
        self._auto_reset = auto_reset
        self._rng: np.random.Generator | None = None
        self._all = np.arange(n_games)
        self._chosen = np.zeros(n_games, np.int64)
        self.seats = np.zeros(n_games, np.int64)
        self.rewards = np.zeros(n_games)
        # Nobody has been dealt anything yet, or an opponent has failed in the middle of a step.
        self._interrupted = True
        self._early = np.zeros(n_games)  # rewards of an episode before the learner's first decision
        self.dones = np.zeros(n_games, np.bool_)
        self.illegal = np.zeros(n_games, np.bool_)
        self.finals: dict[int, npt.NDArray[Any]] = {}
        self.final_infos: dict[int, dict[str, Any]] = {}

    def reset(self, seed: int | None = None) -> None:
        """Deal new episodes and play to the learner's first decisions.

        Args:
            seed: all that is random, the opponents included, follows from it; None goes on from before.
        """
        self._interrupted = True
        if seed is None and self._rng is None:
            seed = fresh_seed()
        if seed is not None:
            self._rng = np.random.default_rng(seed)
            for agent in self._agents:
                agent.seed(int(self._rng.integers(2**63)))
            self._seeds[:] = seeds_for(int(self._rng.integers(2**63)), self.n_games)
            self._table.reset(seeds=seeds_for(int(self._rng.integers(2**63)), self.n_games))
            if self._seat == "rotate":
                self.seats[:] = self._all % self.ruleset.players - 1
        else:
            self._table.reset()
        self._take_seats(self._all)
        self._clear()
        self._early[:] = 0
        self.dones[:] = True  # nothing is under way that a reward could belong to
        self._play_others(self._all)
        self._clear()
        self._interrupted = False

    def step(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Carry out the learner's actions and play to its next decisions.

        Args:
            actions: integers [n]; the entries of games that are over are not looked at.

        Raises:
            IllegalActionError: an action is not legal and `illegal` is `raise`; nothing has changed.
            RuntimeError: `reset` has not been called, or not since an opponent failed.
        """
        if actions.shape != (self.n_games,):
            raise ValueError(f"actions of shape {actions.shape}: allowed is ({self.n_games},)")
        if self._interrupted:
            raise RuntimeError("no episode is under way, or an opponent failed in one: call reset() first")
        np.copyto(self._chosen, actions, casting="unsafe")
        table = self._table
        playing, refused = self._all, self._all[:0]
        if stepping.first_illegal(table.games, self._all, self._chosen, self.masks) >= 0:
            playing, refused = self._sort_out(actions)
        self._interrupted = True
        self._clear()
        if self._early.any():
            self.rewards += self._early
            self._early[:] = 0
        stopped = self._step(playing)
        if refused.size:
            self.illegal[refused] = True
            self.rewards[refused] += ILLEGAL_REWARD
            self._finish(refused)
        if not stopped or refused.size:
            self._play_others(self._all)
        self._interrupted = False

    def _sort_out(self, actions: npt.NDArray[np.integer[Any]]) -> tuple[Index, Index]:
        """The games with a legal action, and those whose learner is refused; games that are over are neither.

        Raises:
            IllegalActionError: an action is not legal and `illegal` is `raise`.
        """
        inside = (actions >= 0) & (actions < self.n_actions)
        legal = inside & (self.masks[self._all, np.where(inside, actions, 0)] == 1)
        live = ~self._table.over
        refused = np.flatnonzero(live & ~legal)
        if refused.size and self._illegal == "raise":
            i = int(refused[0])
            text = illegal_text(self.actions, int(actions[i]), np.flatnonzero(self.masks[i]).tolist())
            raise IllegalActionError(text if self.n_games == 1 else f"game {i}: {text}")
        return np.flatnonzero(live & legal), refused

    def _clear(self) -> None:
        self.rewards[:] = 0
        self.dones[:] = False
        self.illegal[:] = False
        self.finals = {}
        self.final_infos = {}

    def _take_seats(self, which: Index) -> None:
        """Seat the learner for a new episode."""
        players = self.ruleset.players
        if self._seat == "rotate":
            self.seats[which] = (self.seats[which] + 1) % players
        elif self._seat == "random":
            assert self._rng is not None
            self.seats[which] = self._rng.integers(players, size=which.size)
        else:
            self.seats[which] = int(self._seat)

    def _play_others(self, which: Index) -> None:
        """Let the agents play in the games `which` until the learner is to move there."""
        table = self._table
        while True:
            ahead = (table.to_move[which] - self.seats[which]) % self.ruleset.players
            waiting = (ahead != 0) & (table.dones[which] == 0)
            which = which[waiting]
            if not which.size:
                return
            # Where the mover is played by a kernel, it chooses there.
            self._chosen[which] = -1
            at = self._asked_at[ahead[waiting]]
            for k in np.unique(at[at >= 0]).tolist():
                mine = which[at == k]
                layout = self._agent_layouts[k]
                seen = None if layout is None else table.observe(layout, np.int8, mine)
                chosen = self._agents[k].act(seen, table.masks[mine])
                self._take_choices(mine, self._agents[k], np.asarray(chosen))
            self._step(which)

    def _take_choices(self, which: Index, agent: Agent, chosen: npt.NDArray[Any]) -> None:
        """Note an agent's actions; wrong ones are refused, for the kernels carry out what they are given."""
        if chosen.shape != which.shape or chosen.dtype.kind not in "iu":
            raise AgentError(
                f"agent {agent.name}: act() gave shape {chosen.shape} and dtype {chosen.dtype}; "
                f"allowed are {which.shape} and whole numbers"
            )
        self._chosen[which] = chosen
        table = self._table
        bad = stepping.first_illegal(table.games, which, self._chosen, table.masks)
        if bad >= 0:
            legal = np.flatnonzero(table.masks[bad]).tolist()
            text = illegal_text(self.actions, int(self._chosen[bad]), legal)
            raise IllegalActionError(f"agent {agent.name}: {text}")

    def _step(self, which: Index) -> bool:
        """Carry out the chosen actions, let kernels play on, and book what that brings the learner.

        Returns:
            Whether the learner is to move in all of these games, no round having ended.
        """
        if not which.size:
            return True
        table = self._table
        if table.play_some(which, self._chosen, self._codes, self.seats, self._seeds):
            return True
        ended = which[table.round_ended[which] != 0]
        if not ended.size:
            return False
        gained = table.rewards[ended, self.seats[ended]]
        # What a new episode brings before its first decision must not count for the one that has ended.
        late = self.dones[ended]
        self.rewards[ended[~late]] += gained[~late]
        self._early[ended[late]] += gained[late]
        done = ended[table.dones[ended] != 0]
        if done.size:
            self._finish(done)
        return False

    def _finish(self, which: Index) -> None:
        """The episodes of the games `which` have ended: keep what the learner last saw, and deal the next."""
        late = self.dones[which]
        first, again = which[~late], which[late]
        if first.size:
            views = self._table.observe(self.layout, self.dtype, first, self.seats[first])
            self.finals.update(zip(first.tolist(), views, strict=True))
            self.final_infos.update((i, self.info(i)) for i in first.tolist())
            self.dones[first] = True
        if self._auto_reset:
            again = which
        if again.size:
            # An episode that ended before the learner was asked anything is forgotten, rewards and all.
            self._early[again] = 0
            self._table.deal_some(again)
            self._take_seats(again)

    def observe(self) -> npt.NDArray[Any]:
        """What the learner sees: [n, layout.size], int8 or float32, new at each call."""
        if self._auto_reset or not self.dones.any():
            return self._table.observations.copy()  # the learner is to move everywhere
        return self._table.observe(self.layout, self.dtype, None, self.seats)

    def info(self, index: int) -> dict[str, Any]:
        """The info of one game: seat, round, engine, points (the learner's, in the match), illegal_action."""
        game = self._table.games[index]
        seat = int(self.seats[index])
        return {
            "seat": seat,
            "round": int(game["round_index"]),
            "engine": int(game["engine"]),
            "points": int(game["total"][seat]) / POINT,
            "illegal_action": bool(self.illegal[index]),
        }

    def infos(self) -> dict[str, npt.NDArray[Any]]:
        """`info` of all games, as arrays [n]."""
        games = self._table.games
        return {
            "seat": self.seats.copy(),
            "round": games["round_index"].astype(np.int64),
            "engine": games["engine"].astype(np.int64),
            "points": games["total"][self._all, self.seats] / POINT,
            "illegal_action": np.zeros(self.n_games, np.bool_),
        }

    def final_mask(self) -> npt.NDArray[np.int8]:
        """The mask to show at the end of an episode, int8 [n_actions]: PASS only, see `SeatEnv`."""
        mask = np.zeros(self.n_actions, np.int8)
        mask[self.actions.pass_] = 1
        return mask

    def game(self, index: int) -> Any:
        """A readable view of one game (`mexenv.games.Game`)."""
        return self._table.game(index)


def seated_opponents(opponents: Opponents, ruleset: Ruleset) -> list[Agent]:
    """The agents of the other seats, clockwise from the learner, bound to the ruleset.

    Args:
        opponents: one name or agent, or a list of one or of players - 1. A name given twice is one agent.
        ruleset: the rules.

    Raises:
        ValueError: the number does not fit; `AgentError` where an agent is unknown or does not fit.
    """
    try:
        wanted = [opponents] if isinstance(opponents, str | Agent) else list(opponents)
    except TypeError:
        allowed = "a name, an agent, or a list of them"
        raise ValueError(f"opponents {opponents!r}: allowed are {allowed}") from None
    others = ruleset.players - 1
    if len(wanted) not in (1, others):
        raise ValueError(
            f"opponents: got {len(wanted)}; allowed are 1 for all other seats, or {others}, one for each"
        )
    by_name = {name: load_agent(name, ruleset) for name in wanted if isinstance(name, str)}
    agents = [by_name[agent] if isinstance(agent, str) else agent.bind(ruleset) for agent in wanted]
    return agents * others if len(agents) == 1 else agents
