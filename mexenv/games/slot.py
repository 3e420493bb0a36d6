"""One game with all that belongs to it in one record, so that a step from Python is one cheap call.

What a compiled function costs to call grows with the number of arrays it is given, and for a single game that
would be most of the cost.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._jit import kernel, record_dtype, wide
from mexenv.engine.episode import OPTIONS, advance
from mexenv.engine.legal import write_mask
from mexenv.observation import ObservationLayout
from mexenv.observation.encode import write_base, write_trails
from mexenv.observation.layouts import largest_size
from mexenv.rules import ActionLayout, Ruleset

Array = Any

SHOW = -1
ILLEGAL = -2


@cache
def _slot_dtype(state: np.dtype[np.void]) -> np.dtype[np.void]:
    seats, values = state["hand"].shape
    actions = values * (values + 1) // 2 * (seats + 1) * 2 + 2
    return record_dtype(
        [
            ("state", state),
            ("rules", st.RULES),
            ("options", OPTIONS),
            ("observed", np.int64),  # 0: nothing, 1: base, 2: plan
            ("ids", np.int16, (actions,)),
            ("mask", np.int8, (actions,)),
            ("observation", np.int8, (largest_size(values, seats),)),
            ("rewards", np.float32, (seats,)),
            ("round_pips", np.float32, (seats,)),
            ("round_out", np.uint8, (seats,)),
        ]
    )


@kernel
def step_slot(slots: Array, action: int) -> int:
    """Carry out an action and show what follows; returns what has ended (see `advance`), or `ILLEGAL`.

    `SHOW` carries out nothing.
    """
    slot = slots[0]
    g, r = slot.state, slot.rules
    mask = slot.mask[: ask.n_pairs(r) + 2]
    if action != SHOW and (action < 0 or action >= mask.shape[0] or mask[action] == 0):
        return ILLEGAL
    # Whole slices, so that all kernels are compiled for one kind of array.
    ids = slot.ids[:]
    if action != SHOW:
        slot.rewards[:] = 0
    count, ended = advance(
        g, r, slot.options, action, ids, slot.rewards[:], slot.round_pips[:], slot.round_out[:]
    )
    write_mask(ids, count, mask)
    if slot.observed:
        _write_view(g, r, wide(g.mover), slot.observed == 2, slot.observation[:])
    return ended


@kernel
def _write_view(g: Any, r: Any, seat: int, plan: bool, out: Array) -> None:
    k = write_base(g, r, seat, out)
    if plan:
        write_trails(g, r, seat, out, k)


@kernel
def observe_slot(slots: Array, seat: int, plan: bool, out: Array) -> None:
    """Write what a seat sees as int8 [size]."""
    slot = slots[0]
    _write_view(slot.state, slot.rules, seat, plan, out)


class Slot:
    """A game and its arrays. The arrays are views of one record and are overwritten by every step.

    Attributes:
        games: structured [1], the game record.
        rules: structured [1], the ruleset record.
        options: structured [1], how the game plays on.
        mask: int8 [n_actions], the mover's action mask; all zero when nothing is to be decided.
        observation: int8 [layout.size], what the mover sees.
        rewards: float32 [players], rewards of the last step.
        layout: the layout of `observation`.
    """

    def __init__(self, ruleset: Ruleset, options: st.StateArray, layout: ObservationLayout) -> None:
        """Make room for a game; somebody is to deal it and call `show`.

        Args:
            ruleset: the rules.
            options: structured [1], copied.
            layout: what the mover is shown after every step.
        """
        self.layout = layout
        self._n_actions = ActionLayout(ruleset).n_actions
        self._players = ruleset.players
        self._slots: st.StateArray = np.zeros(1, _slot_dtype(st.dtype_for(ruleset)))
        self._slots["rules"] = st.rules_record(ruleset)
        self._slots["options"] = options
        self._slots["observed"] = 2 if layout.name == "plan" else 1
        self._look()

    def _look(self) -> None:
        slots = self._slots
        self.games: st.StateArray = slots["state"]
        self.rules: st.StateArray = slots["rules"]
        self.options: st.StateArray = slots["options"]
        self.mask: npt.NDArray[np.int8] = slots["mask"][0, : self._n_actions]
        self.observation: npt.NDArray[np.int8] = slots["observation"][0, : self.layout.size]
        self.rewards: npt.NDArray[np.float32] = slots["rewards"][0, : self._players]

    def step(self, action: int) -> int:
        """Carry out an action.

        Returns:
            `ILLEGAL`, and nothing has changed; or what has ended: 0, `ROUND` or `EPISODE`.
        """
        ended: int = step_slot(self._slots, action) if action >= 0 else ILLEGAL
        return ended

    def show(self) -> None:
        """Write mask and observation anew after the record was changed from outside."""
        step_slot(self._slots, SHOW)

    def observe(self, seat: int, layout: ObservationLayout) -> npt.NDArray[np.int8]:
        """What any seat sees, int8 [layout.size], new at each call."""
        out = np.empty(layout.size, np.int8)
        observe_slot(self._slots, seat, layout.name == "plan", out)
        return out

    def copy(self) -> Self:
        """An independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._slots = self._slots.copy()
        twin._look()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        views = ("games", "rules", "options", "mask", "observation", "rewards")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._look()
