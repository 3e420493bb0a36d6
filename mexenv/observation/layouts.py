"""The observation layouts: one table of sections each. A released layout never changes."""

from __future__ import annotations

from functools import lru_cache

from mexenv.observation.spec import ObservationLayout, Section
from mexenv.rules import Ruleset

# name, shape, low, high, meaning. In shapes: P seats, T trains, V values, K tiles, O other seats.
_Row = tuple[str, str, int, int, str]

_BASE: tuple[_Row, ...] = (
    ("hand", "K", 0, 1, "1 for each tile in the own hand"),
    ("table", "K", 0, 0, "where a tile lies: 0 not on the table, k+1 on train k, T+1 it is the engine"),
    ("ends", "TV", 0, 1, "1 where the train can be extended at the value (unstarted: the engine's value)"),
    ("train_open", "T", 0, 1, "1 where the observer may play in an ordinary turn (hidden opening: own only)"),
    ("marker", "P", 0, 1, "1 where the seat's marker is up"),
    ("length", "T", 0, 127, "tiles on the train, the engine not counted"),
    (
        "double_order",
        "V",
        0,
        19,
        "place of the value's double in the queue of uncovered doubles, 0 not in it",
    ),
    ("double_train", "V", 0, 19, "train of that double plus 1, 0 without one"),
    (
        "stage",
        "8",
        0,
        1,
        "one-hot: opening, play, cover, extra, third, chain, drive, not the observer's move",
    ),
    ("drawn", "V", 0, 1, "1 at the values of the tile just drawn, while only that one may be played"),
    ("hand_size", "P", 0, 127, "tiles in each seat's hand"),
    ("boneyard", "1", 0, 127, "tiles in the boneyard"),
    ("unseen", "V", 0, 19, "tiles with the value that are neither in the own hand nor on the table"),
    ("lacks", "OV", 0, 127, "tiles in that seat's hand that are proven not to have the value"),
    ("engine", "V", 0, 1, "one-hot: the engine's value"),
    ("rounds_left", "1", 0, 19, "rounds of the match still to play, this one included"),
    ("starter", "P", 0, 1, "one-hot: the seat that started the round"),
    ("to_move", "P", 0, 1, "one-hot: the seat to move"),
    ("passed", "P", 0, 1, "1 for a seat whose pass counts towards a blocked round"),
    ("scores", "P", -127, 127, "match points of each seat minus the own, divided by 8"),
    ("pips", "1", 0, 127, "points in the own hand, divided by 2"),
)
_PLAN: tuple[_Row, ...] = (
    ("trail_own_len", "K", 0, 64, "tiles in the best trail that begins with this one; 0: does not fit"),
    ("trail_own_pips", "K", 0, 127, "its pips, those at place i (from 0) counting 0.92**i"),
    ("trail_else_len", "K", 0, 64, "for a tile in the own hand: tiles in the best trail without it"),
    ("trail_else_pips", "K", 0, 127, "its pips, discounted likewise"),
    ("trail_place", "K", 0, 64, "place of the tile on the best trail from 1, 0 when off it"),
    ("trail", "3", 0, 127, "the best trail: discounted pips, tiles, plain pips / 2"),
)  # fmt: skip

LAYOUTS: dict[str, tuple[int, tuple[_Row, ...]]] = {"base": (1, _BASE), "plan": (1, _BASE + _PLAN)}


@lru_cache(maxsize=256)
def _build(name: str, n_values: int, players: int) -> ObservationLayout:
    version, rows = LAYOUTS[name]
    dims = {
        "P": players,
        "T": players + 1,
        "V": n_values,
        "K": n_values * (n_values + 1) // 2,
        "O": players - 1,
        **{str(n): n for n in range(10)},
    }
    sections: dict[str, Section] = {}
    start = 0
    for section, letters, low, high, meaning in rows:
        shape = tuple(dims[letter] for letter in letters)
        stop = start
        count = 1
        for n in shape:
            count *= n
        stop = start + count
        top = players + 2 if section == "table" else high
        sections[section] = Section(section, start, stop, shape, low, top, meaning)
        start = stop
    return ObservationLayout(name, version, n_values, players, sections)


def make_layout(name: str, ruleset: Ruleset) -> ObservationLayout:
    """The observation layout of a name for a ruleset.

    Args:
        name: `base`, or `plan` for the same plus trail planning.
        ruleset: gives the number of pip values and of seats.

    Raises:
        ValueError: `name` is not a layout.
    """
    if name not in LAYOUTS:
        raise ValueError(f"observation layout {name!r}: allowed are {', '.join(map(repr, LAYOUTS))}")
    return _build(name, ruleset.n_values, ruleset.players)


def largest_size(n_values: int, players: int) -> int:
    """Entries of the largest layout for so many values and seats; fewer of either make it smaller."""
    return max(_build(name, n_values, players).size for name in LAYOUTS)
