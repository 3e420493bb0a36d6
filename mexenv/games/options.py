"""The options of a game, checked and turned into what the kernels read; texts shared by one game and many."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mexenv.engine import episode as episodes
from mexenv.engine import state as st
from mexenv.observation import ObservationLayout
from mexenv.rules import ActionLayout, Ruleset

EPISODES = ("round", "match")
REWARDS = ("relative", "pips", "win")
REWARD_SCALES = {"relative": 0.04, "pips": 0.04, "win": 1.0}
"""Default factors: about one over the standard deviation of a round's pips; a win is worth 1."""

_TINY, _HUGE = 1e-30, 1e30  # float32 holds rewards of all rounds within these


def round_option(engine: str | int, ruleset: Ruleset) -> int:
    """Round index for an `engine` option: `first` is 0, `random` is -1, a number is itself.

    Raises:
        ValueError: another word, or a number that is no round of the match.
    """
    if engine == "first":
        return 0
    if engine == "random":
        return -1
    if _is_whole(engine) and 0 <= int(engine) < ruleset.match_rounds:
        return int(engine)
    raise ValueError(
        f"engine {engine!r}: allowed are 'first', 'random' and round numbers 0 to {ruleset.match_rounds - 1}"
    )


def options_record(
    ruleset: Ruleset,
    episode: str = "round",
    engine: str | int = "first",
    reward: str = "relative",
    reward_scale: float | None = None,
    skip_forced: bool = False,
    auto_reset: bool = True,
) -> st.StateArray:
    """The one-element array of `engine.episode.OPTIONS`.

    Raises:
        ValueError: a word that is not allowed.
    """
    for field, value, allowed in (("episode", episode, EPISODES), ("reward", reward, REWARDS)):
        if value not in allowed:
            raise ValueError(f"{field} {value!r}: allowed are {', '.join(map(repr, allowed))}")
    for field, flag in (("skip_forced", skip_forced), ("auto_reset", auto_reset)):
        if not isinstance(flag, (bool, np.bool_)):
            raise ValueError(f"{field} {flag!r}: allowed are True and False")
    factor = REWARD_SCALES[reward] if reward_scale is None else reward_scale
    number = isinstance(factor, (int, float, np.integer, np.floating)) and not isinstance(factor, bool)
    if not (number and _TINY <= factor <= _HUGE):
        raise ValueError(
            f"reward_scale {reward_scale!r}: allowed are numbers from {_TINY:g} to {_HUGE:g}, and None"
        )
    options = np.zeros(1, episodes.OPTIONS)
    options["match"] = episode == "match"
    options["round_index"] = 0 if episode == "match" else round_option(engine, ruleset)
    options["reward"] = REWARDS.index(reward)
    options["reward_scale"] = factor
    options["skip_forced"] = skip_forced
    options["auto_reset"] = auto_reset
    return options


def seeds_for(seed: int, n: int) -> npt.NDArray[np.uint64]:
    """`n` generator states spread out from one seed (numpy's SeedSequence).

    Raises:
        ValueError: `seed` is no whole number from 0 on.
    """
    if not _is_whole(seed) or seed < 0:
        raise ValueError(f"seed {seed!r}: allowed are whole numbers from 0 on")
    return np.random.SeedSequence(seed).generate_state(n, np.uint64).astype(np.uint64, copy=False)


def check_count(name: str, count: Any) -> None:
    """Make sure that an option is a whole number from 1 on.

    Raises:
        ValueError: it is something else.
    """
    if not _is_whole(count) or count < 1:
        raise ValueError(f"{name} {count!r}: allowed are whole numbers, 1 or more")


def check_seat(name: str, seat: Any, players: int) -> None:
    """Make sure that a seat is one.

    Raises:
        ValueError: it is something else.
    """
    if not _is_whole(seat) or not 0 <= seat < players:
        raise ValueError(f"{name} {seat!r}: allowed are the seats 0 to {players - 1}")


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def check_layout(layout: ObservationLayout, ruleset: Ruleset) -> None:
    """Make sure that a layout was made for such a ruleset.

    Raises:
        ValueError: it was made for another set or another number of seats.
    """
    if layout.n_values != ruleset.n_values or layout.players != ruleset.players:
        raise ValueError(
            f"layout {layout.id} was made for {layout.players} players and double-{layout.n_values - 1}, "
            f"the game has {ruleset.players} players and double-{ruleset.set_max}"
        )


def check_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """The dtype of observations.

    Raises:
        ValueError: neither int8 nor float32.
    """
    try:
        checked = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"dtype {dtype!r}: allowed are int8 and float32") from None
    if checked not in (np.dtype(np.int8), np.dtype(np.float32)):
        raise ValueError(f"dtype {checked}: allowed are int8 and float32")
    return checked


def illegal_text(layout: ActionLayout, action: int, legal: list[int]) -> str:
    """One line that names a refused action and the legal ones in words."""
    named = f"({layout.describe(action)}) " if 0 <= action < layout.n_actions else ""
    allowed = "; ".join(f"{a} = {layout.describe(a)}" for a in legal)
    return f"action {action} {named}is not legal; allowed: {allowed}"
