"""Dealing a round and finding its engine."""

from __future__ import annotations

from dataclasses import dataclass

from .table import Tile, is_double


@dataclass
class Deal:
    """The outcome of a deal.

    Attributes:
        hands: The hands, the engine already taken out.
        boneyard: What is left, drawn from the front.
        engine: Value of the engine.
        holder: The seat that held the engine, or None when it was set aside.
    """

    hands: list[set[Tile]]
    boneyard: list[Tile]
    engine: int
    holder: int | None


def deal(pile: list[Tile], players: int, hand_size: int, engine_from: str, engine: int, first: int) -> Deal:
    """Deals a pile in blocks and finds the engine.

    Args:
        pile: The shuffled tiles.
        players: Number of seats.
        hand_size: Tiles for each.
        engine_from: "aside", "dealt" or "highest_held".
        engine: The engine value due this round (not used by "highest_held").
        first: The seat that draws first when the engine has to be searched for.

    Returns:
        Hands, boneyard and engine.
    """
    hands = [set(pile[seat * hand_size : (seat + 1) * hand_size]) for seat in range(players)]
    boneyard = list(pile[players * hand_size :])
    if engine_from == "aside":
        return Deal(hands, boneyard, engine, None)

    wanted = {(engine, engine)} if engine_from == "dealt" else {tile for tile in pile if is_double(tile)}
    seen: dict[Tile, int] = {tile: seat for seat, hand in enumerate(hands) for tile in hand}
    order = [(first + step) % players for step in range(players)]
    while not wanted & set(seen):
        # Nobody looks before all have drawn, unless the pile is too small for that.
        whole_lap = len(boneyard) >= players
        seen = {}
        for seat in order:
            tile = boneyard.pop(0)
            hands[seat].add(tile)
            seen[tile] = seat
            if not whole_lap and tile in wanted:
                break
    best = max(wanted & set(seen))
    holder = seen[best]
    hands[holder].remove(best)
    return Deal(hands, boneyard, best[0], holder)
