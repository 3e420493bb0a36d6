"""Tiles and their numbers.

A tile is a pair `(hi, lo)` with `hi >= lo`. Its index, `hi * (hi + 1) / 2 + lo`, does not depend on the
set: the double-6 set is the first 28 tiles of the double-12 set.
"""

import re
from math import isqrt

Tile = tuple[int, int]

_TILE_TEXT = re.compile(r"\s*(\d{1,3})\s*[-:|]\s*(\d{1,3})\s*")


def tile_index(hi: int, lo: int) -> int:
    """Returns the index of tile `hi`-`lo`; the halves may come in either order.

    Raises:
        ValueError: If a half is negative.
    """
    if hi < lo:
        hi, lo = lo, hi
    if lo < 0:
        raise ValueError(f"tile {hi}-{lo}: no half can be below 0")
    return hi * (hi + 1) // 2 + lo


def tile_of(index: int) -> Tile:
    """Returns the tile `(hi, lo)` with that index.

    Raises:
        ValueError: If the index is negative.
    """
    if index < 0:
        raise ValueError(f"tile index {index}: must be 0 or more")
    hi = (isqrt(8 * index + 1) - 1) // 2
    return hi, index - hi * (hi + 1) // 2


def n_tiles(set_max: int) -> int:
    """Returns how many tiles the double-`set_max` set has."""
    return (set_max + 1) * (set_max + 2) // 2


def pips(tile: Tile) -> int:
    """Returns the spots on both halves (what 0-0 costs in hand is a matter of the ruleset)."""
    return tile[0] + tile[1]


def all_tiles(set_max: int) -> list[Tile]:
    """Returns every tile of the double-`set_max` set, in the order of the indices."""
    return [(hi, lo) for hi in range(set_max + 1) for lo in range(hi + 1)]


def format_tile(tile: Tile) -> str:
    """Returns the tile as text in the orientation given, such as `12-5`."""
    return f"{tile[0]}-{tile[1]}"


def parse_tile(text: str) -> Tile:
    """Reads a tile written as `12-5`, `5-12`, `12:5` or `12|5`.

    Raises:
        ValueError: If the text is no tile.
    """
    match = _TILE_TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"tile {text!r}: expected two numbers such as '12-5'")
    first, second = int(match[1]), int(match[2])
    return max(first, second), min(first, second)
