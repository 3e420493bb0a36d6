"""What lies on the table: trains, their open ends, and doubles that still want a cover."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Tile = tuple[int, int]
Action = tuple[Any, ...]
TrainId = int | str

MEXICAN = "mexican"


@dataclass(eq=False)
class OpenDouble:
    """A double on a train that does not yet carry the covers it needs.

    Attributes:
        value: Its pip value; also the value of each of its ends.
        train: The train it lies on.
        covers_left: How many tiles must still be laid on it.
    """

    value: int
    train: TrainId
    covers_left: int


@dataclass(eq=False)
class Slot:
    """One place where a tile may be laid.

    Attributes:
        train: The train the place belongs to.
        value: The pip value a tile has to join.
        double: The open double that would be covered there, or None for an ordinary end.
    """

    train: TrainId
    value: int
    double: OpenDouble | None = None


@dataclass(eq=False)
class Train:
    """A seat's train or the common one.

    Attributes:
        name: Seat number or MEXICAN.
        plain: Values of the ends that do not belong to an open double.
        doubles: Open doubles of this train, oldest first. A dead one stays, since its end is still visible.
        length: Number of tiles laid.
    """

    name: TrainId
    plain: list[int]
    doubles: list[OpenDouble] = field(default_factory=list)
    length: int = 0

    def ends(self) -> list[int]:
        """Returns every open end, sorted."""
        shown = list(self.plain)
        for double in self.doubles:
            shown += [double.value] * double.covers_left
        return sorted(shown)

    def slots(self) -> list[Slot]:
        """Returns the places of this train, the preferred ones first: open doubles by age, then the rest."""
        found = [Slot(self.name, double.value, double) for double in self.doubles]
        return found + [Slot(self.name, value) for value in sorted(set(self.plain))]


def is_double(tile: Tile) -> bool:
    """Tells whether both halves of a tile are equal."""
    return tile[0] == tile[1]


def halves(tile: Tile) -> list[int]:
    """Returns the different values by which a tile can join something."""
    return [tile[0]] if is_double(tile) else [tile[0], tile[1]]


def other_half(tile: Tile, half: int) -> int:
    """Returns the half that stays free when the tile joins by `half`."""
    return tile[1] if half == tile[0] else tile[0]


def joins(half: int, end: int, wild: bool) -> bool:
    """Tells whether a half may lie against an end; with wild blanks a blank on either side always does."""
    return half == end or (wild and (half == 0 or end == 0))


def fits(tile: Tile, end: int, wild: bool) -> bool:
    """Tells whether a tile may lie against an end by at least one half."""
    return any(joins(half, end, wild) for half in halves(tile))


def lay(
    train: Train, slot: Slot, tile: Tile, half: int, outlets: int, covers: int, chained: bool
) -> OpenDouble | None:
    """Lays a tile into a slot of a train and updates the train's ends.

    Args:
        train: The train that grows.
        slot: Where on that train.
        tile: The tile.
        half: The half of the tile that joins.
        outlets: Tiles that a double can carry in all.
        covers: Tiles that a double must carry to count as covered.
        chained: True while a chain is being laid: a double inside it is finished with the next tile whatever
            the covers needed, and its remaining outlets are ordinary ends.

    Returns:
        The new open double, if the tile is a double.
    """
    train.length += 1
    if slot.double is None:
        train.plain.remove(slot.value)
    else:
        slot.double.covers_left -= 1
        if slot.double.covers_left == 0 or chained:
            train.doubles.remove(slot.double)
            train.plain += [slot.double.value] * (outlets - covers + slot.double.covers_left)
    if not is_double(tile):
        train.plain.append(other_half(tile, half))
        return None
    fresh = OpenDouble(tile[0], train.name, covers)
    train.doubles.append(fresh)
    return fresh
