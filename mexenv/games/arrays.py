"""The arrays of many games, and the kernels called on them: what is under `BatchGame`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mexenv.engine import state as st
from mexenv.engine._jit import JIT_DISABLED
from mexenv.games.options import illegal_text
from mexenv.games.playing import play_call
from mexenv.games.stepping import reset_games, share_size, step_call
from mexenv.games.threads import WorkerThreads
from mexenv.observation import ObservationLayout, make_layout
from mexenv.observation.plan import plan_call
from mexenv.observation.trail import MAX_TRAIL
from mexenv.rules import ActionLayout, Ruleset

_LINE = 64  # entries, and so bytes at least
_THREAD_GAMES = 256  # a slice below this is not worth a thread


class GameArrays:
    """Games of one ruleset with what is shown of them; see `BatchGame` for the attributes."""

    def __init__(
        self,
        ruleset: Ruleset,
        n_games: int,
        options: st.StateArray,
        layout: ObservationLayout | None,
        dtype: np.dtype[Any],
        threads: int,
    ) -> None:
        """Make the arrays; no game is dealt yet.

        Args:
            ruleset: the rules.
            n_games: number of games, n.
            options: structured [1] (`engine.episode.OPTIONS`).
            layout: the observation layout, or None.
            dtype: int8 or float32, of the observations.
            threads: threads that share the games of a step.
        """
        self.ruleset = ruleset
        self.n_games = n_games
        self.players = ruleset.players
        self.actions = ActionLayout(ruleset)
        self.n_actions = self.actions.n_actions
        self.layout = layout
        self.games: st.StateArray = np.zeros(n_games, st.dtype_for(ruleset))
        self._rules = st.rules_record(ruleset)
        self._options = options
        self.to_move = np.zeros(n_games, np.int64)
        self.masks = np.zeros((n_games, self.n_actions), np.int8)
        self.n_legal = np.zeros(n_games, np.int64)
        size = 0 if self.layout is None else self.layout.size
        self.observations: npt.NDArray[Any] = np.zeros((n_games, size), dtype)
        self._views = both_forms(self.observations)
        self._scale = _NO_SCALE if self.layout is None else self.layout.scale
        self._observed = self.layout is not None
        self._plans = self.layout is not None and self.layout.name == "plan"
        self.rewards = np.zeros((n_games, self.players), np.float32)
        self.dones = np.zeros(n_games, np.uint8)
        self.round_ended = np.zeros(n_games, np.uint8)
        self.round_pips = np.zeros((n_games, self.players), np.float32)
        self.round_out = np.zeros((n_games, self.players), np.uint8)
        self._all = np.arange(n_games)
        self._threads = 1 if JIT_DISABLED else min(threads, max(1, n_games // _THREAD_GAMES))
        self._workers = WorkerThreads(self._threads)
        self._slices = np.array_split(self._all, self._threads)
        self._cuts = np.cumsum([0, *map(len, self._slices)])
        self._shares = np.zeros(share_size(self._threads), np.int64)
        self._actions = np.zeros(n_games, np.int64)
        self._no_actions = np.full(n_games, -1)
        self._movers = self._no_actions
        # Scratch, for each thread its own, a line of the cache away from the next.
        self._ids = np.zeros((self._threads, self.n_actions + _LINE), np.int16)
        view = max(size, make_layout("base", ruleset).size)
        self._seen = np.zeros((self._threads, view + _LINE), np.int8)
        self._hands = np.zeros((self._threads, ruleset.n_values), np.int32)
        self._trails = np.zeros((self._threads, MAX_TRAIL), np.int16)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays unpickled from somebody's memory may not be written; the kernels would not ask.
        self.__dict__.update({name: _writable(value) for name, value in state.items()})
        self._scale = _NO_SCALE if self.layout is None else self.layout.scale
        self._views = both_forms(self.observations)

    def _deal(self, which: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64]) -> None:
        """Deal new episodes in the games `which`, from one generator state each."""
        reset_games(self.games, self._rules, self._options, seeds, which)
        self._show(which)

    def _step_part(self, words: npt.NDArray[np.int64], thread: int) -> int:
        """What one of several threads does of a step."""
        return self._step(self._all, self._actions, True, words, thread, self._cuts, self._shares)

    def _complaint(self, row: int, action: int, game: int) -> str:
        """Why an action in the game of this row, which the caller knows by another number, is refused."""
        legal = np.flatnonzero(self.masks[row]).tolist()
        return f"game {game}: {illegal_text(self.actions, action, legal)}"

    def _step(
        self,
        which: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
        check: bool,
        words: npt.NDArray[np.int64] | None = None,
        thread: int = 0,
        cuts: npt.NDArray[np.int64] | None = None,
        shares: npt.NDArray[np.int64] | None = None,
    ) -> int:
        """See `stepping.step_games`; by itself, one thread does it."""
        if words is None:
            words, cuts, shares = _NO_WORDS, np.array([0, len(which)]), np.zeros(share_size(1), np.int64)
        bad: int = step_call(self.games.dtype)(
            words, thread, cuts, shares, check,
            self.games, self._rules, self._options, which, actions, self._ids, self._seen,
            self.masks, self.n_legal, self.to_move, self.rewards, self.dones, self.round_ended,
            self.round_pips, self.round_out, self._observed, self._scale, *self._views,
        )  # fmt: skip
        return bad

    def _plan(self, which: npt.NDArray[np.int64]) -> None:
        """Write what the layout `plan` adds to the movers' observations, if that is the layout."""
        if self._plans:
            movers = self._movers[: len(which)]
            plan = plan_call(self.games.dtype)
            plan(self.games, self._rules, which, which, movers, self._scale, *self._views)

    def _play_all(
        self,
        codes: npt.NDArray[np.int64],
        seeds: npt.NDArray[np.uint64],
        moves: int,
        stop: int,
        actions: npt.NDArray[np.int64] | None = None,
        each: bool = False,
    ) -> int:
        """`_play_some` with all games, on all threads; `codes` by seat from seat 0 on."""
        first = self._no_actions if actions is None else actions
        seats = np.zeros(self.n_games, np.int64)

        def play(k: int) -> int:
            return self._play_some(self._slices[k], first, codes, seats, seeds, moves, stop, each, k)[0]

        return sum(self._workers.run(play))

    def _play_some(
        self,
        which: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
        codes: npt.NDArray[np.int64],
        seats: npt.NDArray[np.int64],
        seeds: npt.NDArray[np.uint64],
        moves: int,
        stop: int,
        each: bool = False,
        thread: int = 0,
    ) -> tuple[int, int]:
        """See `playing.play_on`."""
        played = play_call(self.games.dtype)(
            self.games, self._rules, self._options, which, actions, codes, seats, moves, stop, seeds,
            self._ids[thread], self._seen[thread],
            self._hands[thread], self._trails[thread], self.masks, self.n_legal, self.to_move, self.rewards,
            self.dones, self.round_ended, self.round_pips, self.round_out, each, self._observed, self._scale,
            *self._views,
        )  # fmt: skip
        self._plan(which)
        return played

    def _show(self, which: npt.NDArray[np.int64]) -> None:
        self._step(which, self._no_actions, False)
        self._plan(which)


def _writable(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) and not value.flags.writeable else value


_NO_WORDS = np.zeros(0, np.int64)
_NO_SCALE = np.zeros(0, np.float32)
_NO_SCALE.flags.writeable = False  # as that of a layout: kernels are compiled for each kind of array


def both_forms(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Observations as the kernels take them, int8 and float32, of which the one not written has no rows."""
    size = rows.shape[1]
    if rows.dtype == np.int8:
        return rows, np.empty((0, size), np.float32)
    return np.empty((0, size), np.int8), rows
