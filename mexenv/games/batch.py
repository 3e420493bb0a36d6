"""Many games stepped together."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from mexenv.engine import batch as loops
from mexenv.engine import state as st
from mexenv.engine._jit import announce_compile
from mexenv.games.errors import IllegalActionError
from mexenv.games.options import check_dtype, check_layout, illegal_text, options_record, seeds_for
from mexenv.observation import ObservationLayout, make_layout
from mexenv.observation.encode import encode_float, encode_int8, write_hidden
from mexenv.rules import ActionLayout, Ruleset, load_ruleset

if TYPE_CHECKING:
    from mexenv.games.single import Game

_THREAD_GAMES = 256  # a slice below this is not worth a thread


class BatchGame:
    """Many games of one ruleset, stepped together by compiled kernels.

    The arrays are made once and overwritten by every `reset` and `step`; copy what is to be kept.

    Attributes:
        ruleset: the rules.
        n_games: number of games, n below.
        players: seats.
        n_actions: number of action ids.
        actions: the action layout.
        layout: the observation layout, or None.
        games: structured [n], the game records (`mexenv.engine.state`).
        to_move: int64 [n], the seat to move.
        masks: int8 [n, n_actions], the mover's action mask; all zero for a game that is over.
        observations: int8 or float32 [n, layout.size], the mover's observation.
        rewards: float32 [n, players], rewards of the last step by absolute seat.
        dones: uint8 [n], 1 where an episode ended in the last step. With `auto_reset` the arrays
            above then show the next episode already.
        round_ended: uint8 [n], 1 where a round ended in the last step.
        round_pips: float32 [n, players], points of the last finished round.
        round_out: uint8 [n, players], 1 for the seats that went out in it.
    """

    def __init__(
        self,
        ruleset: Ruleset | str | Path | Mapping[str, Any],
        n_games: int,
        *,
        seed: int = 0,
        episode: Literal["round", "match"] = "round",
        engine: str | int = "first",
        layout: str | ObservationLayout | None = "base",
        dtype: npt.DTypeLike = np.int8,
        reward: Literal["relative", "pips", "win"] = "relative",
        reward_scale: float | None = None,
        skip_forced: bool = False,
        auto_reset: bool = True,
        threads: int = 1,
    ) -> None:
        """Make the batch and deal all games.

        Args:
            ruleset: the rules, or what `load_ruleset` takes: a preset's name, a YAML file, a mapping.
            n_games: number of games, at least 1.
            seed: everything random follows from it.
            episode: whether an episode is one `round` or a whole `match`.
            engine: the round that single-round episodes play: `first` (the highest double),
                `random`, or the round's index.
            layout: name of the observation layout, or None for no observations.
            dtype: int8 (whole numbers) or float32 (scaled) observations.
            reward: `relative` (mean of the others' points minus own), `pips` (own points, as a
                cost) or `win` (1 to the best place at the end of the episode, shared by ties).
            reward_scale: factor of the reward; None for `REWARD_SCALES`.
            skip_forced: play moves without a choice at once. The first decision of a round is always
                shown.
            auto_reset: deal the next episode as soon as one ends.
            threads: threads that share the games of a step.

        Raises:
            ValueError: an option is not allowed.
        """
        if n_games < 1:
            raise ValueError(f"n_games {n_games}: allowed is 1 or more")
        if threads < 1:
            raise ValueError(f"threads {threads}: allowed is 1 or more")
        ruleset = load_ruleset(ruleset)
        self.ruleset = ruleset
        self.n_games = n_games
        self.players = ruleset.players
        self.actions = ActionLayout(ruleset)
        self.n_actions = self.actions.n_actions
        self.layout = make_layout(layout, ruleset) if isinstance(layout, str) else layout
        if self.layout is not None:
            check_layout(self.layout, ruleset)
        self._dtype = check_dtype(dtype)
        record = st.dtype_for(ruleset)
        self.games: st.StateArray = np.zeros(n_games, record)
        self._rules = st.rules_record(ruleset)
        self._options = options_record(
            ruleset, episode, engine, reward, reward_scale, skip_forced, auto_reset
        )
        self.to_move = np.zeros(n_games, np.int64)
        self.masks = np.zeros((n_games, self.n_actions), np.int8)
        size = 0 if self.layout is None else self.layout.size
        self.observations: npt.NDArray[Any] = np.zeros((n_games, size), self._dtype)
        self.rewards = np.zeros((n_games, self.players), np.float32)
        self.dones = np.zeros(n_games, np.uint8)
        self.round_ended = np.zeros(n_games, np.uint8)
        self.round_pips = np.zeros((n_games, self.players), np.float32)
        self.round_out = np.zeros((n_games, self.players), np.uint8)
        self._all = np.arange(n_games)
        self._movers = np.full(n_games, -1)
        self._threads = min(threads, max(1, n_games // _THREAD_GAMES))
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        cuts = np.linspace(0, n_games, self._threads + 1).astype(int)
        self._slices = [(int(a), int(b)) for a, b in pairwise(cuts)]
        done = announce_compile("game" if record is st.SMALL else "large game")
        self.reset(seed)
        done()

    def reset(self, seed: int | None = None, *, seeds: npt.ArrayLike | None = None) -> None:
        """Deal a new episode in every game.

        Args:
            seed: one seed for all games together; None goes on with the games' own generators.
            seeds: uint64 [n], one seed for each game, which then depends on it alone.
        """
        if seeds is not None:
            states = np.ascontiguousarray(seeds, np.uint64)
            if states.shape != (self.n_games,):
                raise ValueError(f"seeds of shape {states.shape}: allowed is ({self.n_games},)")
        elif seed is not None:
            states = seeds_for(seed, self.n_games)
        else:
            states = self.games["rng"].copy()
        loops.reset_games(self.games, self._rules, self._options, states, self._all, self.masks, self.to_move)
        self.rewards[:] = 0
        self.dones[:] = 0
        self.round_ended[:] = 0
        self._observe(0, self.n_games)

    def step(self, actions: npt.NDArray[np.integer[Any]]) -> None:
        """Carry out one action in every game that is not over.

        Args:
            actions: integers [n], an action id for the mover of each game.

        Raises:
            IllegalActionError: an action is not legal; nothing has changed.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.n_games,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions of shape {actions.shape} and dtype {actions.dtype}: "
                f"allowed are ({self.n_games},) and whole numbers"
            )
        # The kernels are compiled for one kind of array only.
        actions = np.ascontiguousarray(actions, np.int64)
        if self._pool is None:
            bad = self._step_slice(actions, 0, self.n_games)
        else:
            bad = self._first_illegal(actions)
            if bad < 0:
                list(self._pool.map(lambda cut: self._step_slice(actions, *cut), self._slices))
        if bad >= 0:
            raise IllegalActionError(self._complaint(bad, int(actions[bad])))

    def _step_slice(self, actions: npt.NDArray[np.integer[Any]], begin: int, end: int) -> int:
        bad: int = loops.step_games(
            self.games, self._rules, self._options, actions, begin, end, self.masks, self.to_move,
            self.rewards, self.dones, self.round_ended, self.round_pips, self.round_out,
        )  # fmt: skip
        if bad < 0:
            self._observe(begin, end)
        return bad

    def _observe(self, begin: int, end: int) -> None:
        if self.layout is None:
            return
        which, seats = self._all[begin:end], self._movers[begin:end]
        plan = self.layout.name == "plan"
        target = self.observations[begin:end]
        if self._dtype == np.int8:
            encode_int8(self.games, self._rules, which, seats, plan, target)
        else:
            encode_float(self.games, self._rules, which, seats, plan, self.layout.scale, target)

    def observe(
        self,
        layout: ObservationLayout,
        dtype: npt.DTypeLike = np.int8,
        games: npt.NDArray[np.int64] | None = None,
        seats: npt.NDArray[np.int64] | None = None,
        out: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[Any]:
        """Observations in any layout.

        Args:
            layout: the layout, made for this ruleset.
            dtype: int8 or float32.
            games: int64 [m], which games; None for all.
            seats: int64 [m], the observing seats, -1 for the mover; None for the movers.
            out: array [m, layout.size] to write into.

        Returns:
            int8 or float32 [m, layout.size].
        """
        which = self._all if games is None else np.ascontiguousarray(games, np.int64)
        who = np.full(which.shape, -1) if seats is None else np.ascontiguousarray(seats, np.int64)
        check_layout(layout, self.ruleset)
        if out is None:
            out = np.empty((which.shape[0], layout.size), check_dtype(dtype))
        elif check_dtype(out.dtype) and out.shape != (which.shape[0], layout.size):
            raise ValueError(f"out of shape {out.shape}: allowed is {(which.shape[0], layout.size)}")
        if who.shape != which.shape:
            raise ValueError(f"seats of shape {who.shape}: allowed is {which.shape}")
        plan = layout.name == "plan"
        if out.dtype == np.int8:
            encode_int8(self.games, self._rules, which, who, plan, out)
        else:
            encode_float(self.games, self._rules, which, who, plan, layout.scale, out)
        return out

    def hidden(self, games: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int8]:
        """The other seats' hands, for centralised critics only.

        Args:
            games: int64 [m], which games; None for all.

        Returns:
            int8 [m, (players - 1) * n_tiles], tile bits, clockwise from the mover.
        """
        which = self._all if games is None else np.ascontiguousarray(games, np.int64)
        out = np.empty((which.shape[0], (self.players - 1) * self.ruleset.n_tiles), np.int8)
        write_hidden(self.games, self._rules, which, out)
        return out

    def game(self, index: int) -> Game:
        """A copy of one game as a `Game`, to look at and to play on; its events begin here."""
        from mexenv.games.single import Game

        return Game.from_record(self.ruleset, self.games[index : index + 1], self._options)

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """Bool [n]: the game is over (only without `auto_reset`)."""
        result: npt.NDArray[np.bool_] = self.games["stage"] >= st.ROUND_OVER
        return result

    def refresh(self) -> None:
        """Write masks, movers and observations anew after the records were changed from outside."""
        loops.write_masks(self.games, self._rules, self.masks, self.to_move)
        self._observe(0, self.n_games)

    def _first_illegal(self, actions: npt.NDArray[np.integer[Any]]) -> int:
        live = ~self.over
        inside = (actions >= 0) & (actions < self.n_actions)
        legal = inside & (self.masks[self._all, np.where(inside, actions, 0)] == 1)
        bad = np.flatnonzero(live & ~legal)
        return int(bad[0]) if bad.size else -1

    def _complaint(self, game: int, action: int) -> str:
        legal = [int(a) for a in np.flatnonzero(self.masks[game])]
        return f"game {game}: {illegal_text(self.actions, action, legal)}"
