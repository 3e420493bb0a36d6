"""The record of one game, and the record of one ruleset as the kernels see it.

A batch is a 1-D structured array with one record a game. Two sizes of record exist, so that
the kernels are compiled at most twice: up to double-12 with 8 seats, and up to double-18 with
18 seats. How many values, seats and tiles are really in play stands in the ruleset record.

Conventions used by every field:

* values run from 0 to N (`set_max`), seats from 0 to P-1 in clockwise order;
* trains are absolute here: train s belongs to seat s, train P is the Mexican Train;
* a tile is its index hi * (hi + 1) / 2 + lo, whatever the set.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mexenv.engine._jit import record_dtype
from mexenv.rules import Ruleset

StateArray = npt.NDArray[np.void]

# Stages of a turn. The order is part of the observation layout.
OPENING, PLAY, COVER, EXTRA, THIRD, CHAIN, DRIVE, ROUND_OVER, MATCH_OVER = range(9)
STAGE_NAMES = ("opening", "play", "cover", "extra", "third", "chain", "drive", "over", "over")

# Tied winners share points, so scores are whole numbers of 1 / POINT: every number of up to 18 divides it.
POINT = math.lcm(*range(1, 19))
NO_ROUND = 2**62

ENGINE_PLACE = 254  # `where` of the engine tile


def state_dtype(n_values: int, n_seats: int) -> np.dtype[np.void]:
    """The dtype of a game record with room for `n_values` pip values and `n_seats` seats.

    What every step looks at stands first. Sets of seats and of values are bit sets. Kernels read and
    write whole vectors of bytes, past the end of a short array into the field behind it, so rows that
    are written that way are `lanes` wide.
    """
    v, p = n_values, n_seats
    tiles = v * (v + 1) // 2
    trains = p + 1
    lanes = lanes_for(v)
    bits = np.int16 if v < 16 else np.int32
    fields: list[tuple[Any, ...]] = [
        ("rng", np.uint64),  # state of the game's own generator
        ("passed", np.int32),  # bit s: seat s has passed since the last play
        ("marker", np.int32),  # bit s: the marker of seat s is up
        ("strike", np.int32),  # partners only, bit s: a strike stands against the team of seats s, s + P/2
        ("out", np.int32),  # bit s: seat s went out in the present round
        ("stage", np.uint8),
        ("mover", np.uint8),
        ("starter", np.uint8),
        ("engine", np.uint8),  # value of the engine
        ("q_n", np.uint8),  # uncovered doubles
        ("turn_doubles", np.uint8),  # doubles laid in the present turn
        ("own_played", np.uint8),  # a tile went on the mover's own train in this turn
        ("own_fits", np.uint8),  # at the last decision a held tile fitted the own train
        ("drive_at", np.uint8),  # swan drive: train + 1 of its last stop, 0 without a drive
        ("no_skip", np.uint8),  # nobody is skipped until a double in force (q_asked) is covered
        ("opening_left", np.uint8),  # seats that have not finished the opening
        ("mexican_seat", np.uint8),  # seat + 1 that started the Mexican Train, else 0
        ("chain_train", np.uint8),  # train that the mover's chain grows on
        ("chain_end", np.uint8),  # value at which it goes on
        ("blocked", np.uint8),
        ("scored", np.uint8),  # points have been booked in the match
        ("round_index", np.int16),
        ("pile_next", np.int16),  # the boneyard is pile[pile_next:pile_end]
        ("pile_end", np.int16),
        ("drawn", np.int16),  # tile just drawn + 1 while only it may be played, else 0
        ("n_laid", np.int16),
        ("draws_used", np.int16),  # draws of the present need
        ("turn_plays", np.int16),  # tiles laid in the present turn
        ("points", np.int16, (p,)),  # pips of the tiles in hand
        ("end_mask", np.int32, (trains,)),  # bit x: the train can be extended at value x
        ("held", np.int32, (p,)),  # bit x: seat s holds a tile with the value x
        ("hand", bits, (p, v)),  # bit w of hand[s, x]: seat s holds the tile x-w
        ("hand_n", np.uint8, (p,)),
        ("length", np.uint8, (trains,)),  # tiles on the train, engine not counted
        ("laid", np.uint8, (v,)),  # tiles on the table that show the value
        ("lacks", np.uint8, (p, lanes)),  # tiles in the hand that are proven not to have the value
        ("where", np.uint8, (tiles,)),  # train + 1 the tile lies on, 0 hidden, ENGINE_PLACE
        # Uncovered doubles in the order they were laid.
        ("q_value", np.uint8, (v,)),
        ("q_train", np.uint8, (v,)),
        ("q_covers", np.uint8, (v,)),
        ("q_fresh", np.uint8, (v,)),  # laid in the present turn
        ("q_asked", np.uint8, (v,)),  # in force when otherwise every seat would have been skipped
        ("empty_double", np.uint8, (p,)),  # value + 1 of the last tile, an uncovered double, else 0
        ("pile", np.uint8, (tiles,)),
        ("order", np.uint8, (tiles,)),  # tiles in the order they were laid
        ("joined_low", np.uint8, (tiles,)),  # the tile on the table joined by its low half
        ("end_n", np.uint8, (trains, v)),  # open ends of the value, where trains branch
        ("zero_rounds", np.uint8, (p,)),  # rounds of the match with 0 points
        ("total", np.int64, (p,)),  # match points so far, in units of 1 / POINT
        ("round_score", np.int64, (p,)),  # points of the round that ended last, likewise
        ("lowest_round", np.int64, (p,)),  # lowest round score above 0, likewise; NO_ROUND without one
    ]
    return record_dtype(_spaced(fields))


def lanes_for(n_values: int) -> int:
    """Bytes of a vector that holds a number for each value."""
    return 16 if n_values <= 16 else 32


def _spaced(fields: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The fields with every gap made a field: equal games are to have equal bytes, padding included."""
    spaced: list[tuple[Any, ...]] = []
    at = gaps = 0

    def fill(width: int) -> None:
        nonlocal at, gaps
        if at % width:
            gaps += 1
            spaced.append((f"gap{gaps}", np.uint8, (width - at % width,)))
            at += width - at % width

    for name, kind, *shape in fields:
        fill(np.dtype(kind).itemsize)
        spaced.append((name, kind, *shape))
        at += np.dtype([(name, kind, *shape)]).itemsize
    fill(8)
    return spaced


SMALL = state_dtype(13, 8)
LARGE = state_dtype(19, 18)


def dtype_for(ruleset: Ruleset) -> np.dtype[np.void]:
    """The smaller of the two record sizes that holds a game of `ruleset`."""
    return SMALL if ruleset.n_values <= 13 and ruleset.players <= 8 else LARGE


_CHOICES: dict[str, tuple[Any, ...]] = {
    "engine_from": ("aside", "dealt", "highest_held"),
    "starter": ("rotate", "engine_holder", "left_of_holder"),
    "opening": ("single", "chain", "chain_hidden", "delayed"),
    "mexican_train": ("anytime", "after_opening", "after_own", "after_all", "never"),
    "marker_on": ("pass", "own_unplayable"),
    "marker_off": ("own_train", "any_play"),
    "failed_extra_marks": ("own", "double_train"),
    "extra": ("anywhere", "on_double", "none"),
    "doubles_per_turn": ("one", "two_with_third", "unlimited"),
    "cover_order": ("fifo", "lifo", "any"),
    "dead_double": ("waits", "released"),
    "block": ("row", "stalled"),
    "scoring": ("penalty", "winner_takes"),
    "tie_break": ("share", "zero_rounds"),
}
_FLAGS = (
    "opening_must_start", "must_play", "must_play_drawn", "marked_may_roam", "own_first", "cover_duty",
    "out_on_double", "partners", "swan_drive", "blanks_wild",
)  # fmt: skip
_NUMBERS = ("set_max", "players", "double_outlets", "double_covers", "double_blank")

RULES = record_dtype(
    [(name, np.int32) for name in (*_CHOICES, *_FLAGS, *_NUMBERS)]
    + [("hand_size", np.int32), ("rounds", np.int32), ("draws", np.int32), ("two_way", np.int32)]
    + [("pair_inverse", np.int64)]
)

# The codes that `decisions.py` compares with; each is the place of the word in _CHOICES.
ASIDE, DEALT, HIGHEST_HELD = range(3)
ROTATE, ENGINE_HOLDER, LEFT_OF_HOLDER = range(3)
SINGLE, CHAIN_OPENING, CHAIN_HIDDEN, DELAYED = range(4)
ANYTIME, AFTER_OPENING, AFTER_OWN, AFTER_ALL, NEVER = range(5)
ON_PASS, OWN_UNPLAYABLE = range(2)
OFF_OWN_TRAIN, OFF_ANY_PLAY = range(2)
MARKS_OWN, MARKS_DOUBLE_TRAIN = range(2)
ANYWHERE, ON_DOUBLE, NO_EXTRA = range(3)
ONE, TWO_WITH_THIRD, UNLIMITED = range(3)
FIFO, LIFO, ANY = range(3)
WAITS, RELEASED = range(2)
ROW, STALLED = range(2)
PENALTY, WINNER_TAKES = range(2)
SHARE, ZERO_ROUNDS = range(2)


def rules_record(ruleset: Ruleset) -> StateArray:
    """The one-element array in which the kernels read a ruleset.

    Args:
        ruleset: a validated ruleset.

    Returns:
        Structured array of shape [1] and dtype `RULES`; words are the codes above, flags 0 or 1,
        `draws` is 1000 for `until_playable`; action * `pair_inverse` >> 32 is the tile of the action.
    """
    record = np.zeros(1, RULES)
    for name, words in _CHOICES.items():
        record[name] = words.index(getattr(ruleset, name))
    for name in (*_FLAGS, *_NUMBERS):
        record[name] = getattr(ruleset, name)
    record["hand_size"] = ruleset.hand
    record["rounds"] = ruleset.match_rounds
    record["draws"] = 1000 if ruleset.draws == "until_playable" else ruleset.draws
    record["two_way"] = ruleset.two_way
    # Rounded up, so exact for action ids, which are far below 2**32 / (actions of a tile).
    record["pair_inverse"] = -(-(2**32) // ((ruleset.players + 1) * (2 if ruleset.two_way else 1)))
    return record


def name_of_kernels(what: str, record: np.dtype[np.void]) -> str:
    """What kernels for such records are called when they are compiled: each size is compiled by itself."""
    return what if record != LARGE else f"large {what}"


_ALL = slice(None)


def copy_records(
    records: StateArray, which: npt.NDArray[np.int64] | slice = _ALL, to: StateArray | None = None
) -> StateArray:
    """Copy records as plain bytes, since NumPy copies them field by field, which takes fifty times as long.

    Args:
        records: structured [n].
        which: int64 [m], indices of records; by default all.
        to: structured [m], written over; None for a new array.

    Returns:
        Structured [m].

    Raises:
        TypeError: the records are of two kinds.
    """
    if to is not None and to.dtype != records.dtype:
        raise TypeError("records of one size cannot be copied to records of another")
    plain = np.dtype((np.void, records.dtype.itemsize))
    if to is None:
        to = np.empty(records.shape[0] if isinstance(which, slice) else len(which), records.dtype)
    to.view(plain)[:] = records.view(plain)[which]
    return to
