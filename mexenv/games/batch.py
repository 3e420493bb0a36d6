"""Many games stepped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from mexenv.engine import state as st
from mexenv.engine._jit import announced_compile
from mexenv.games import playing
from mexenv.games.arrays import GameArrays, both_forms
from mexenv.games.choosing import agent_codes
from mexenv.games.errors import IllegalActionError
from mexenv.games.options import (
    check_count,
    check_dtype,
    check_layout,
    options_record,
    seeds_for,
)
from mexenv.games.stepping import first_illegal
from mexenv.observation import ObservationLayout, make_layout
from mexenv.observation.encode import observe_games, write_hidden
from mexenv.observation.plan import plan_call
from mexenv.rules import Ruleset, load_ruleset

if TYPE_CHECKING:
    from mexenv.games.single import Game


class BatchGame(GameArrays):
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
        n_legal: int64 [n], how many actions the mask allows.
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
        check_count("n_games", n_games)
        check_count("threads", threads)
        ruleset = load_ruleset(ruleset)
        options = options_record(ruleset, episode, engine, reward, reward_scale, skip_forced, auto_reset)
        shown = make_layout(layout, ruleset) if isinstance(layout, str) else layout
        if shown is not None:
            check_layout(shown, ruleset)
        super().__init__(ruleset, n_games, options, shown, check_dtype(dtype), threads)
        with announced_compile(st.name_of_kernels("game", self.games.dtype)):
            self.reset(seed)

    def reset(self, seed: int | None = None, *, seeds: npt.ArrayLike | None = None) -> None:
        """Deal a new episode in every game.

        Args:
            seed: one seed for all games together; None goes on with the games' own generators.
            seeds: uint64 [n], one seed for each game, which then depends on it alone.

        Raises:
            ValueError: the seeds are something else.
        """
        if seeds is not None:
            given = np.asarray(seeds)
            if given.shape != (self.n_games,) or given.dtype.kind not in "iu" or (given < 0).any():
                raise ValueError(
                    f"seeds of shape {given.shape} and dtype {given.dtype}: "
                    f"allowed are ({self.n_games},) and whole numbers from 0 on"
                )
            states = np.ascontiguousarray(given, np.uint64)
        elif seed is not None:
            states = seeds_for(seed, self.n_games)
        else:
            states = self.games["rng"].copy()
        self._deal(self._all, states)
        self.rewards[:] = 0
        self.dones[:] = 0
        self.round_ended[:] = 0

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
        # The kernels are compiled for one kind of array only, and threads know this one.
        self._actions[:] = actions
        if self._threads == 1:
            bad = self._step(self._all, self._actions, True)
        else:
            bad = self._step_part(self._workers.awake(self._step_part), 0)
        if bad >= 0:
            raise IllegalActionError(self._complaint(bad, int(actions[bad]), bad))
        if self._plans:
            self._workers.run(lambda k: self._plan(self._slices[k]))

    def play(self, agents: str | Sequence[str] = "random", moves: int = 1, *, seed: int = 0) -> int:
        """Let scripted agents play on in every game, without Python between their moves.

        Afterwards the arrays show what a step would show, but `rewards` are those of all moves together, and
        `dones` and `round_ended` tell of any of them.

        Args:
            agents: a name of `mexenv.games.SCRIPTED` for all seats, or one for each seat.
            moves: actions in each game, at least 1; without `auto_reset` a game stops at its end.
            seed: random agents follow from it.

        Returns:
            The number of actions carried out, in all games together.

        Raises:
            ValueError: an agent or a number is not allowed.
        """
        check_count("moves", moves)
        codes = agent_codes(agents, self.players)
        return self._play_all(codes, seeds_for(seed, self.n_games), moves, playing.GO_ON)

    def playout(
        self,
        agents: str | Sequence[str] = "greedy",
        *,
        games: npt.NDArray[np.int64] | None = None,
        actions: npt.NDArray[np.int64] | None = None,
        repeats: int = 1,
        until: Literal["round", "episode"] = "episode",
        seed: int = 0,
    ) -> npt.NDArray[np.float32]:
        """Play games to an end on copies, with scripted agents: the value of a position for a search.

        Everything goes on from the true position, tiles that the mover cannot see included. A search that may
        not know them deals them anew first, in games of its own.

        Args:
            agents: a name of `mexenv.games.SCRIPTED` for all seats, or one for each seat.
            games: int64 [m], which games; None for all.
            actions: int64 [m], the action of each game's mover to begin with; None to let the agents choose.
                Not looked at where a game is over.
            repeats: playouts of each game. They differ by what random agents do, and by the rounds dealt
                later.
            until: the end of the present `round`, or of the `episode`.
            seed: all that is random follows from it.

        Returns:
            float32 [m, repeats, players], what each seat gains; 0 for a game that is over.

        Raises:
            IllegalActionError: an action is not legal.
            ValueError: an agent, a game or a number is not allowed.
        """
        which = self._all if games is None else _row_of_numbers("games", games)
        if ((which < 0) | (which >= self.n_games)).any():
            raise ValueError(f"games: allowed are whole numbers 0 to {self.n_games - 1}, a row of them")
        check_count("repeats", repeats)
        if until not in ("round", "episode"):
            raise ValueError(f"until {until!r}: allowed are 'round', 'episode'")
        codes = agent_codes(agents, self.players)
        n = len(which) * repeats
        if not n:
            return np.zeros((0, repeats, self.players), np.float32)
        table = self._copies(np.repeat(which, repeats))
        first = np.full(n, -1)
        if actions is not None:
            given = np.asarray(actions)
            if given.shape != which.shape or given.dtype.kind not in "iu":
                raise ValueError(
                    f"actions of shape {given.shape} and dtype {given.dtype}: "
                    f"allowed are {which.shape} and whole numbers"
                )
            first[:] = np.repeat(given, repeats)
            bad = first_illegal(table.games, table._all, first, table.masks)
            if bad >= 0:
                raise IllegalActionError(table._complaint(bad, int(first[bad]), int(which[bad // repeats])))
            first[table.over] = -1
        seeds = seeds_for(seed, 2 * n)
        table.games["rng"] = seeds[n:]
        stop = playing.STOP_AT_ROUND if until == "round" else playing.STOP_AT_EPISODE
        table._play_all(codes, seeds[:n], 2**62, stop, first)
        return table.rewards.reshape(len(which), repeats, self.players)

    def _copies(self, which: npt.NDArray[np.int64]) -> BatchGame:
        """A batch of copies of these games, that stops at the end of an episode."""
        twin = BatchGame(self.ruleset, len(which), layout=None, threads=self._threads)
        twin._options[:] = self._options
        twin._options["auto_reset"] = 0
        st.copy_records(self.games, which, to=twin.games)
        twin.refresh()
        return twin

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
        which = self._all if games is None else _row_of_numbers("games", games)
        who = np.full(which.shape, -1) if seats is None else _row_of_numbers("seats", seats)
        check_layout(layout, self.ruleset)
        if out is None:
            out = np.empty((which.shape[0], layout.size), check_dtype(dtype))
        elif check_dtype(out.dtype) and out.shape != (which.shape[0], layout.size):
            raise ValueError(f"out of shape {out.shape}: allowed is {(which.shape[0], layout.size)}")
        if not out.flags.writeable:
            raise ValueError("out: it is read-only; allowed is an array to write into")
        if who.shape != which.shape:
            raise ValueError(f"seats of shape {who.shape}: allowed is {which.shape}")
        # Observations are written as vectors, so into rows without gaps.
        rows = np.ascontiguousarray(out)
        forms = both_forms(rows)
        observe_games(self.games, self._rules, which, who, layout.scale, *forms)
        if layout.name == "plan":
            every = np.arange(len(which))
            plan_call(self.games.dtype)(self.games, self._rules, which, every, who, layout.scale, *forms)
        if rows is not out:
            out[:] = rows
        return out

    def hidden(self, games: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int8]:
        """The other seats' hands, for centralised critics only.

        Args:
            games: int64 [m], which games; None for all.

        Returns:
            int8 [m, (players - 1) * n_tiles], tile bits, clockwise from the mover.
        """
        which = self._all if games is None else _row_of_numbers("games", games)
        out = np.empty((which.shape[0], (self.players - 1) * self.ruleset.n_tiles), np.int8)
        write_hidden(self.games, self._rules, which, out)
        return out

    def game(self, index: int) -> Game:
        """A copy of one game as a `Game`, to look at and to play on; its events begin here."""
        from mexenv.games.single import Game

        if not 0 <= index < self.n_games:
            raise IndexError(f"game {index}: allowed are 0 to {self.n_games - 1}")
        return Game.from_record(self.ruleset, self.games[index : index + 1], self._options)

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """Bool [n]: the game is over (only without `auto_reset`)."""
        result: npt.NDArray[np.bool_] = self.games["stage"] >= st.ROUND_OVER
        return result

    def refresh(self) -> None:
        """Write masks, movers and observations anew after the records were changed from outside."""
        self._show(self._all)


def _row_of_numbers(name: str, numbers: npt.ArrayLike) -> npt.NDArray[np.int64]:
    row = np.asarray(numbers)
    if row.ndim != 1 or not (row.dtype.kind in "iu" or row.size == 0):
        given = f"shape {row.shape} and dtype {row.dtype}"
        raise ValueError(f"{name} of {given}: allowed is a row of whole numbers")
    return np.ascontiguousarray(row, np.int64)
