"""Which actions a seat has.

Everything here only reads the game. A play is found in two steps: the slots that the stage of the turn leaves
open, then the tiles and halves that join one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .table import MEXICAN, Action, Slot, Tile, TrainId, fits, halves, is_double, joins

if TYPE_CHECKING:
    from .position import Position

DRAW: Action = ("draw",)
PASS: Action = ("pass",)


def mexican_startable(game: Position, seat: int) -> bool:
    """Tells whether a seat may lay the first tile of the still missing common train."""
    when = game.rules["mexican_train"]
    if when == "after_own":
        return any(game.trains[train].length for train in game.own_trains(seat))
    if when == "after_all":
        return all(game.trains[other].length for other in range(game.players))
    # "after_opening" needs no test: in an opening phase a seat has no other train than its own anyway.
    return bool(when != "never")


def held_back(game: Position, seat: int) -> bool:
    """Tells whether the house rule keeps a seat on its own train because that has no tile yet.

    With partners one started train of the two is enough, as it is for starting the common train.
    """
    if not game.rules["own_first"]:
        return False
    return not any(game.trains[train].length for train in game.own_trains(seat))


def tied_to_own(game: Position, seat: int) -> bool:
    """Tells whether a marker keeps a seat on its own train."""
    return game.markers[seat] and not game.rules["marked_may_roam"]


def free_trains(game: Position, seat: int) -> list[TrainId]:
    """Returns the trains a seat may extend while no double binds it."""
    own = game.own_trains(seat)
    if tied_to_own(game, seat) or held_back(game, seat):
        return list(own)
    usable: list[TrainId] = [train for train in range(game.players) if train in own or game.markers[train]]
    if game.trains[MEXICAN].length:
        usable.append(MEXICAN)
    return usable


def free_slots(game: Position, seat: int) -> list[Slot]:
    """Returns the slots open to a seat while no double binds it."""
    found = [slot for train in free_trains(game, seat) for slot in game.trains[train].slots()]
    at_home = tied_to_own(game, seat) or held_back(game, seat)
    if not game.trains[MEXICAN].length and not at_home and mexican_startable(game, seat):
        found.append(Slot(MEXICAN, game.engine))
    return found


def cover_slots(game: Position, seat: int) -> list[Slot]:
    """Returns the slots of those binding doubles that the seat may actually cover."""
    own = game.own_trains(seat)
    found = []
    for double in game.binding():
        if double.train not in own:
            if held_back(game, seat):
                continue
            # A marked seat that stays at home is asked for a foreign double only when all seats are asked.
            # One that owns another of several binding doubles may cover just its own one.
            if tied_to_own(game, seat) and not game.skipping_suspended():
                continue
        found.append(Slot(double.train, double.value, double))
    return found


def drive_slots(game: Position, seat: int) -> list[Slot]:
    """Returns the slots at the next stop of a drive, and of the common train if that stands before it."""
    assert game.drive_at is not None
    line: list[TrainId] = []
    for step in range(game.players):
        stop = (seat + step) % game.players
        line.append(stop)
        if game.mexican_starter == stop:
            line.append(MEXICAN)
    found: list[Slot] = []
    for train in line[line.index(game.drive_at) + 1 :]:
        if train == MEXICAN:
            found += game.trains[MEXICAN].slots()
        elif game.markers[int(train)]:
            found += game.trains[train].slots()
            break
    return found


def open_slots(game: Position) -> list[Slot]:
    """Returns the slots that the current stage leaves to the seat to move."""
    seat = game.to_move
    assert seat is not None
    if game.stage in ("opening", "chain"):
        assert game.chain_end is not None
        return [game.chain_end]
    if game.stage == "drive":
        return drive_slots(game, seat)
    if game.stage == "cover":
        return cover_slots(game, seat)
    if game.stage == "play":
        return free_slots(game, seat)

    mine = [Slot(double.train, double.value, double) for double in game.own_open_doubles()]
    if game.stage == "third" or game.rules["extra"] == "on_double":
        return mine
    # A double of an earlier turn can bind during an extra only after a cover that was itself a double (wild
    # blanks) while several waited. It shuts the other trains then, but not the player's own fresh doubles.
    elsewhere = cover_slots(game, seat) if game.binding() else free_slots(game, seat)
    return mine + elsewhere


def double_permitted(game: Position, tile: Tile, train: TrainId) -> bool:
    """Applies the limit on doubles to one played as the extra, or as the third tile of a turn."""
    limit = game.rules["doubles_per_turn"]
    assert game.to_move is not None
    hand = game.hands[game.to_move]
    last = len(hand) == 1
    if game.stage == "third":
        return last
    if game.stage != "extra" or limit == "unlimited":
        return True
    if limit == "one":
        return last
    first = game.run_of_doubles[0]
    if train == first.train:
        return False
    if last:
        return True
    # Drawing for the extra shows that there was nothing to go on with; the tile drawn cannot be a second
    # double even if a tile in hand would by chance fit it.
    if tile == game.drawn_tile:
        return False
    rest = hand - {tile}
    # A tile drawn earlier in the turn, for the first double, is in hand by now and counts like any other.
    thirds = [other for other in rest if not is_double(other) or len(rest) == 1]
    wild = game.rules["blanks_wild"]
    return any(fits(other, value, wild) for other in thirds for value in (first.value, tile[0]))


def plays(game: Position, tiles: Iterable[Tile]) -> dict[Action, Slot]:
    """Finds the plays of some tiles.

    Args:
        game: The game.
        tiles: Tiles of the hand of the seat to move.

    Returns:
        Each legal play with the slot it goes to. Where several slots of a train take a tile by the same half,
        an open double has precedence.
    """
    wild = game.rules["blanks_wild"]
    slots = open_slots(game)
    slots.sort(key=lambda slot: slot.double is None)  # stable: open doubles first, by age within a train
    found: dict[Action, Slot] = {}
    for tile in sorted(tiles, reverse=True):
        for slot in slots:
            if is_double(tile) and not double_permitted(game, tile, slot.train):
                continue
            for half in halves(tile):
                if joins(half, slot.value, wild):
                    found.setdefault(("play", tile, slot.train, half), slot)
    return found


def actions(game: Position) -> list[Action]:
    """Lists all legal actions of the seat to move."""
    rules = game.rules
    if game.to_move is None:
        return []
    hand = game.hands[game.to_move]
    if game.stage in ("opening", "chain", "drive"):
        options = list(plays(game, hand))
        must = game.stage == "opening" and rules["opening_must_start"] and not game.laid_in_opening
        # Stopping is asked for even when nothing fits. A drive with a next stop is handled alike.
        return options if must and options else [*options, PASS]

    if game.drawn_tile is None:
        options = list(plays(game, hand))
        if options and rules["must_play"]:
            return options
        return [*options, DRAW if game.boneyard else PASS]

    options = list(plays(game, [game.drawn_tile]))
    if options:
        compulsory = rules["must_play_drawn"] or (game.stage == "cover" and rules["must_play"])
        return options if compulsory else [*options, PASS]
    limit = rules["draws"]
    more = limit == "until_playable" or game.draws_made < limit
    return [DRAW] if more and game.boneyard else [PASS]
