"""One game with all that belongs to it in one record, so that a step from Python is one cheap call.

What a compiled function costs to call grows with the number of arrays it is given, and for a single game that
would be most of the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine._intrinsics import wide
from mexenv.engine._jit import announced_compile, direct, inner, kernel, record_dtype
from mexenv.engine.episode import OPTIONS, advance
from mexenv.engine.legal import write_mask
from mexenv.games.stepping import reset_games
from mexenv.observation import ObservationLayout
from mexenv.observation.encode import base_size, observe_games, put_scaled, write_base
from mexenv.observation.layouts import largest_size
from mexenv.observation.plan import plan_call, write_trails
from mexenv.rules import ActionLayout, Ruleset

Array = Any

SHOW = -(2**62)
ILLEGAL = -1
ENDED = 256


@cache
def _slot_dtype(state: np.dtype[np.void]) -> np.dtype[np.void]:
    seats, values = state["hand"].shape
    actions = values * (values + 1) // 2 * (seats + 1) * 2 + 2
    return record_dtype(
        [
            ("state", state),
            ("rules", st.RULES),
            ("options", OPTIONS),
            ("floats", np.int64),  # 1: the scaled form is written too
            ("n_legal", np.int64),
            ("ids", np.int16, (actions,)),
            ("mask", np.int8, (actions,)),
            ("observation", np.int8, (largest_size(values, seats),)),
            ("scale", np.float32, (largest_size(values, seats),)),
            ("scaled", np.float32, (largest_size(values, seats),)),
            ("rewards", np.float32, (seats,)),
            ("round_pips", np.float32, (seats,)),
            ("round_out", np.uint8, (seats,)),
        ]
    )


@kernel
def step_slot(slots: Array, action: int) -> int:
    """Carry out an action and show what follows.

    Args:
        slots: the slot [1].
        action: an action id, or `SHOW` to carry out nothing.

    Returns:
        What has ended (0, `ROUND` or `EPISODE`) times `ENDED`, plus the seat to move; or `ILLEGAL`.
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
    _sort(ids, count)
    slot.n_legal = count
    view = slot.observation[:]
    end = write_base(g, r, wide(g.mover), view)
    if slot.floats:
        put_scaled(view, slot.scale[:], slot.scaled[:], 0, end)
    return ended * ENDED + wide(g.mover)


@inner
def _sort(ids: Array, count: int) -> None:
    """Put the first so many ids, which are few, in ascending order."""
    for k in range(1, count):
        x = ids[k]
        j = k
        while j > 0 and ids[j - 1] > x:
            ids[j] = ids[j - 1]
            j -= 1
        ids[j] = x


@kernel
def plan_slot(slots: Array) -> None:
    """Write what the layout `plan` adds to the mover's observation."""
    slot = slots[0]
    begin = base_size(slot.rules)
    end = write_trails(slot.state, slot.rules, wide(slot.state.mover), slot.observation[:], begin)
    if slot.floats:
        put_scaled(slot.observation[:], slot.scale[:], slot.scaled[:], begin, end)


@cache
def _step_call(dtype: np.dtype[np.void], plan: bool) -> Callable[[st.StateArray, int], int]:
    step = direct(step_slot, np.zeros(1, dtype), 0)
    if not plan:
        return step
    with announced_compile(st.name_of_kernels("single trail planning", dtype["state"])):
        add_plan = direct(plan_slot, np.zeros(1, dtype))

    def step_and_plan(slots: st.StateArray, action: int) -> int:
        result: int = step(slots, action)
        if result != ILLEGAL:
            add_plan(slots)
        return result

    return step_and_plan


class Slot:
    """A game and its arrays. The arrays are views of one record and are overwritten by every step.

    Attributes:
        games: structured [1], the game record.
        rules: structured [1], the ruleset record.
        options: structured [1], how the game plays on.
        mask: int8 [n_actions], the mover's action mask; all zero when nothing is to be decided.
        observation: int8 [layout.size], what the mover sees.
        scaled: float32 [layout.size], the same scaled, if wanted.
        view: whichever of the two is wanted.
        slots: structured [1], the whole; what `call` takes.
        call: `step_slot` for `slots` and an action id.
        rewards: float32 [players], rewards of the last step.
        layout: the layout of `observation`.
    """

    def __init__(
        self, ruleset: Ruleset, options: st.StateArray, layout: ObservationLayout, *, floats: bool = False
    ) -> None:
        """Make room for a game; somebody is to deal it and call `show`.

        Args:
            ruleset: the rules.
            options: structured [1], copied.
            layout: what the mover is shown after every step.
            floats: whether it is shown scaled, too.
        """
        self.layout = layout
        self._n_actions = ActionLayout(ruleset).n_actions
        self._players = ruleset.players
        self.slots: st.StateArray = np.zeros(1, _slot_dtype(st.dtype_for(ruleset)))
        self.slots["rules"] = st.rules_record(ruleset)
        self.slots["options"] = options
        self.slots["floats"] = floats
        self.slots["scale"][0, : layout.size] = layout.scale
        with announced_compile(st.name_of_kernels("single game", st.dtype_for(ruleset))):
            self._look()

    def _look(self) -> None:
        slots = self.slots
        self.call = _step_call(slots.dtype, self.layout.name == "plan")
        self.games: st.StateArray = slots["state"]
        self.rules: st.StateArray = slots["rules"]
        self.options: st.StateArray = slots["options"]
        self.mask: npt.NDArray[np.int8] = slots["mask"][0, : self._n_actions]
        self.observation: npt.NDArray[np.int8] = slots["observation"][0, : self.layout.size]
        self.scaled: npt.NDArray[np.float32] = slots["scaled"][0, : self.layout.size]
        self._floats = bool(slots["floats"][0])
        self.view: npt.NDArray[Any] = self.scaled if self._floats else self.observation
        self.rewards: npt.NDArray[np.float32] = slots["rewards"][0, : self._players]
        self._n_legal, self._ids = slots["n_legal"].data, slots["ids"][0].data

    def scaled_view(self) -> npt.NDArray[np.float32]:
        """`scaled`, which is written from the first look at it on."""
        if not self._floats:
            self._floats = True
            self.slots["floats"] = True
            self.show()
        return self.scaled

    def legal(self) -> list[int]:
        """Ids of the mover's legal actions, ascending."""
        found: list[int] = self._ids[: self._n_legal[0]].tolist()
        return found

    def deal(self, seed: np.uint64 | None = None) -> None:
        """Deal a new episode, from a state of the generator, or going on with the game's own."""
        states = self.games["rng"].copy() if seed is None else np.array([seed], np.uint64)
        reset_games(self.games, self.rules, self.options, states, _FIRST)
        self.show()

    def show(self) -> None:
        """Write mask and observation anew after the record was changed from outside."""
        self.call(self.slots, SHOW)

    def observe(self, seat: int, layout: ObservationLayout) -> npt.NDArray[np.int8]:
        """What any seat sees, int8 [layout.size], new at each call."""
        out = np.empty((1, layout.size), np.int8)
        seats = np.array([seat])
        none = np.empty((0, layout.size), np.float32)
        observe_games(self.games, self.rules, _FIRST, seats, layout.scale, out, none)
        if layout.name == "plan":
            plan_call(self.games.dtype)(
                self.games, self.rules, _FIRST, _FIRST, seats, layout.scale, out, none
            )
        row: npt.NDArray[np.int8] = out[0]
        return row

    def copy(self) -> Self:
        """An independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.slots = st.copy_records(self.slots)
        twin._look()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("layout", "slots", "_n_actions", "_players")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if not self.slots.flags.writeable:  # unpickled from somebody's memory; the kernels would not ask
            self.slots = self.slots.copy()
        self._look()


_FIRST = np.zeros(1, np.int64)
