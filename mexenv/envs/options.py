"""What all adapters share: the options of a game, and the spaces that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from mexenv.engine._jit import direct
from mexenv.games.choosing import draw_legal
from mexenv.games.options import check_dtype
from mexenv.observation import ObservationLayout
from mexenv.rules import Ruleset, load_ruleset

DEFAULT_RULESET = "dominos_cc"


class GameOptions(TypedDict, total=False):
    """The keyword arguments that every environment of this package takes.

    Attributes:
        ruleset: name of a preset, path of a YAML file, mapping of fields, or a `Ruleset`.
        players: number of seats; left out, the ruleset's.
        set_max: highest half of the set of tiles; left out, the ruleset's.
        hand_size: tiles dealt to each seat; left out, the ruleset's. Small sets need it.
        episode: `round` (default) or `match`.
        engine: which round single-round episodes play: `first` (default), `random`, or its index.
        layout: observation layout, `base` (default) or `plan`.
        dtype: `float32` (default, scaled to [0, 1], scores to [-1, 1]) or `int8` (whole numbers).
        reward: `relative` (default: mean of the others' points minus own), `pips` (own points, as a cost) or
            `win` (1 to the best place at the end of the episode, shared by ties).
        reward_scale: factor of the reward; left out, about one over the spread of a round's points.
        skip_forced: play moves without a choice at once; the first decision of a round is always shown.
    """

    ruleset: str | Path | Mapping[str, Any] | Ruleset
    players: int | None
    set_max: int | None
    hand_size: int | None
    episode: Literal["round", "match"]
    engine: str | int
    layout: str
    dtype: npt.DTypeLike
    reward: Literal["relative", "pips", "win"]
    reward_scale: float | None
    skip_forced: bool


class Settings:
    """Checked game options.

    Attributes:
        ruleset: the ruleset that is played.
        layout: name of the observation layout.
        dtype: dtype of the observations.
        batch_options: the keyword arguments of `BatchGame` that follow from the options.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        """Check the options.

        Raises:
            TypeError: an unknown option.
            ValueError: an option's value is not allowed; `RulesetError` where it belongs to the ruleset.
        """
        known = GameOptions.__annotations__
        for name in options:
            if name not in known:
                raise TypeError(f"unknown option {name!r}: allowed are {', '.join(known)}")
        rest = dict(options)
        overrides = {key: rest.pop(key, None) for key in ("players", "set_max", "hand_size")}
        self.ruleset = load_ruleset(
            rest.pop("ruleset", DEFAULT_RULESET),
            **{key: value for key, value in overrides.items() if value is not None},
        )
        self.layout: str = rest.pop("layout", "base")
        self.dtype: np.dtype[Any] = check_dtype(rest.pop("dtype", np.float32))
        self.batch_options: dict[str, Any] = rest


def observation_box(layout: ObservationLayout, dtype: np.dtype[Any]) -> spaces.Box:
    """The space of flat observations of a layout: shape [layout.size], int8 or float32."""
    low: npt.NDArray[Any] = layout.low
    high: npt.NDArray[Any] = layout.high
    if dtype == np.float32:
        low, high = layout.to_float(layout.low), layout.to_float(layout.high)
    return spaces.Box(low, high, dtype=dtype.type)


def observation_space(
    layout: ObservationLayout, dtype: np.dtype[Any], n_actions: int, kind: str
) -> spaces.Box | spaces.Dict:
    """The observation space of one seat.

    Args:
        layout: the observation layout.
        dtype: int8 or float32.
        n_actions: number of action ids.
        kind: `dict` for `{"observation", "action_mask"}`, `flat` for the observation alone.

    Raises:
        ValueError: another kind.
    """
    if kind not in ("dict", "flat"):
        raise ValueError(f"observation {kind!r}: allowed are 'dict' and 'flat'")
    box = observation_box(layout, dtype)
    if kind == "flat":
        return box
    return spaces.Dict({"observation": box, "action_mask": spaces.Box(0, 1, (n_actions,), np.int8)})


class ActionSpace(spaces.Discrete):
    """`Discrete` whose masked `sample` takes a tenth of the time: the loop of most users lives off it."""

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """A random action, uniform over the legal ones where an action mask is given.

        Args:
            mask: int8 [n], not 0 where an action may be drawn.
            probability: see `gymnasium.spaces.Discrete`.
        """
        # Anything that is no mask is left to the checks of the parent, and so is one that allows nothing.
        plain = isinstance(mask, np.ndarray) and mask.dtype is _INT8 and mask.shape == (self.n,)
        if plain and probability is None and mask.flags.c_contiguous:
            choice = _draw_legal()(mask, self.np_random.random())
            if choice >= 0:
                return np.int64(choice)
        return super().sample(mask, probability)


_INT8 = np.dtype(np.int8)


@cache
def _draw_legal() -> Callable[[npt.NDArray[np.int8], float], int]:
    return direct(draw_legal, np.zeros(1, np.int8), 0.5)


def fresh_seed() -> int:
    """A seed that nobody asked for, from the operating system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def show(game: Any, render_mode: str | None, seat: int | None) -> str | npt.NDArray[np.uint8] | None:
    """Draw a game in one of the render modes.

    Args:
        game: the `Game` to draw, or an object that `mexenv.render` takes for one.
        render_mode: `ansi`, `rgb_array`, `human` (print the text) or None (nothing).
        seat: whose hand is shown; None for all hands.

    Returns:
        The text, the picture (uint8 [height, width, 3]), or None.
    """
    if render_mode is None:
        return None
    # Drawing needs fonts and pictures, which nobody should load who only trains.
    from mexenv import render

    if render_mode == "rgb_array":
        return render.render_image(game, seat)
    text = render.render_text(game, seat)
    if render_mode == "ansi":
        return text
    print(text, end="\n\n", flush=True)
    return None


def check_render_mode(render_mode: str | None, allowed: list[str]) -> None:
    """Refuse an unknown render mode.

    Raises:
        ValueError: the mode is neither None nor one of `allowed`.
    """
    if render_mode is not None and render_mode not in allowed:
        raise ValueError(f"render_mode {render_mode!r}: allowed are None, {', '.join(map(repr, allowed))}")
