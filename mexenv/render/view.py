"""What a picture of a game may show to whom: the one place that keeps hidden tiles hidden."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mexenv.rules.tiles import Tile, format_tile, pips

if TYPE_CHECKING:
    from mexenv.games import Event, Game

STAGE_TEXT = {
    "opening": "lays the opening train",
    "play": "to play",
    "cover": "must cover the double",
    "extra": "owes an extra tile",
    "third": "owes the third tile",
    "chain": "may go on with the train",
    "drive": "may drive on",
    "over": "the round is over",
}
_NUMBERED = re.compile(r"\bplayer_(\d+)\b")


@dataclass(frozen=True)
class TrainView:
    """One train as it lies on the table.

    Attributes:
        name: Name of the train's owner, or "Mexican Train".
        tiles: The tiles in the order laid, the joined half first.
        joins: For each tile, whether it lies directly on the one before it (a branch does not).
        ends: Values at which the train can be extended.
        open: Whether everybody may play on it.
        marker: Whether a marker stands on it.
        in_force: Positions in `tiles` of the doubles that must be covered now.
        waiting: Positions in `tiles` of the uncovered doubles whose turn comes later.
    """

    name: str
    tiles: list[Tile]
    joins: list[bool]
    ends: list[int]
    open: bool
    marker: bool
    in_force: list[int]
    waiting: list[int]


@dataclass(frozen=True)
class HandView:
    """One hand that may be shown: `playable` holds the tiles the seat may play at this moment."""

    seat: int
    name: str
    tiles: list[Tile]
    playable: set[Tile]
    drawn: Tile | None


@dataclass(frozen=True)
class TableView:
    """All that is shown of a game, with the names filled in."""

    title: str
    round_text: str
    engine: Tile
    boneyard: int
    turn_text: str
    to_move: int | None
    duty_text: str
    names: list[str]
    trains: list[TrainView]
    hand_sizes: list[int]
    totals: list[float]
    hands: list[HandView]
    events: list[str]
    last_play: tuple[int, Tile] | None


def default_names(players: int) -> list[str]:
    """Returns the names used where none are given: `player_0`, `player_1` and so on."""
    return [f"player_{seat}" for seat in range(players)]


def hand_order(tiles: Sequence[Tile] | set[Tile]) -> list[Tile]:
    """Sorts a hand for reading: highest value first, the double at the head of its value."""
    return sorted(tiles, key=lambda tile: (-tile[0], -tile[1]))


def _joins(tiles: list[Tile], engine: int, blanks_wild: bool) -> list[bool]:
    result = []
    end = engine
    for inner, outer in tiles:
        result.append(inner == end or (blanks_wild and 0 in (inner, end)))
        end = outer
    return result


def event_text(event: Event, names: Sequence[str], seat: int | None) -> str:
    """Says one event in words.

    Args:
        event: The event.
        names: The players' names by seat.
        seat: The seat for whose eyes it is; None for a spectator who may see everything.

    Returns:
        One short phrase that names no tile hidden from `seat`; empty for an event not worth telling.
    """
    who = names[event.seat] if event.seat is not None else "everybody"
    seen = seat is None or event.seat == seat
    tile = format_tile(event.tile) if event.tile is not None else ""
    where = ""
    if event.train is not None:
        if event.train == len(names):
            where = "the Mexican Train"
        elif event.train == event.seat:
            where = "its own train"
        else:
            where = f"{names[event.train]}'s train"
    match event.kind:
        case "deal":
            return f"a round with engine {event.value}-{event.value} is dealt, {who} begins"
        case "play":
            return f"{who} plays {tile} on {where}"
        case "draw":
            return f"{who} draws {tile}" if seen and tile else f"{who} draws"
        case "pass":
            return f"{who} passes"
        case "marker_up" | "marker_down":
            owner = names[event.train] if event.train is not None and event.train < len(names) else who
            return f"{owner}'s marker goes {'up' if event.kind == 'marker_up' else 'down'}"
        case "double_in_force":
            return f"the double {event.value} on {where or 'the table'} must be covered"
        case "covered":
            return f"the double {event.value} is covered"
        case "released":
            return f"the double {event.value} is dead and is let go"
        case "knock":
            return f"{who} has one tile left"
        case "out":
            return f"{who} is out"
        case "blocked":
            return "the round is blocked"
        case "stop" | "scores":
            return _NUMBERED.sub(lambda found: names[int(found[1])], event.text)
        case _:
            return event.text if seen else ""


def opening_is_veiled(game: Game, seat: int | None) -> bool:
    """Says whether the others' chains are hidden from a seat at this moment."""
    return seat is not None and game.ruleset.opening == "chain_hidden" and game.stage == "opening"


def is_told(game: Game, event: Event, seat: int | None) -> bool:
    """Says whether a seat learns of an event while the others' chains are hidden.

    Args:
        game: The game, in a hidden opening.
        event: One of its events.
        seat: The seat.

    Returns:
        True for the seat's own doings, and for all that was before this round's deal.
    """
    if event.seat == seat or event.kind == "deal":
        return True
    deal = max((at for at, past in enumerate(game.events) if past.kind == "deal"), default=-1)
    return any(past is event for past in game.events[:deal])


def table_view(
    game: Game, seat: int | None = None, names: Sequence[str] | None = None, n_events: int = 6
) -> TableView:
    """Collects what a picture for `seat` may show.

    Args:
        game: The game.
        seat: Seat whose hand is shown, 0 to players - 1; None shows every hand.
        names: One name a seat; None stands for player_0, player_1, …
        n_events: How many of the last events are told.

    Returns:
        The view. With a seat given it holds nothing that this seat may not know.

    Raises:
        ValueError: If the seat does not exist or the names are not one a seat.
    """
    ruleset = game.ruleset
    players = ruleset.players
    if seat is not None and not 0 <= seat < players:
        raise ValueError(f"seat must be 0 to {players - 1} or None, got {seat}")
    shown_names = list(names) if names is not None else default_names(players)
    if len(shown_names) != players:
        raise ValueError(f"names must hold {players} names, got {len(shown_names)}")

    veiled = opening_is_veiled(game, seat)
    trains = [
        _veiled_train(game, shown_names[train])
        if veiled and train != seat and train < players
        else _train_view(game, train, shown_names)
        for train in range(players + 1)
    ]
    sizes = [
        len(hand) + (len(game.trains[other]) if veiled and other != seat else 0)
        for other, hand in enumerate(game.hands)
    ]
    hands = [
        _hand_view(game, other, shown_names) for other in range(players) if seat is None or other == seat
    ]
    told = [event for event in game.events if not veiled or is_told(game, event, seat)]
    texts = [text for event in told if (text := event_text(event, shown_names, seat))]
    last_play = next(
        ((e.train, e.tile) for e in reversed(told) if e.kind == "play" and e.train is not None and e.tile),
        None,
    )
    to_move = None if game.over else game.to_move
    stage = STAGE_TEXT.get(game.stage, game.stage)
    return TableView(
        title=ruleset.name,
        round_text=f"{game.round_index + 1} of {max(ruleset.match_rounds, game.round_index + 1)}",
        engine=(game.engine, game.engine),
        boneyard=len(game.boneyard),
        turn_text=stage if to_move is None else f"{shown_names[to_move]} {stage}",
        to_move=to_move,
        duty_text="" if veiled else _duty_text(game, shown_names),
        names=shown_names,
        trains=trains,
        hand_sizes=sizes,
        totals=[float(total) for total in game.totals],
        hands=hands,
        events=texts[-n_events:] if n_events else [],
        last_play=last_play,
    )


def _train_view(game: Game, train: int, names: Sequence[str]) -> TrainView:
    tiles = list(game.trains[train])
    mexican = train == len(names)
    marker = not mexican and bool(game.markers[train])

    def positions(doubles: Sequence[tuple[int, int]]) -> list[int]:
        values = {value for value, where in doubles if where == train}
        return [i for i, (inner, outer) in enumerate(tiles) if inner == outer and inner in values]

    in_force = positions(game.in_force)
    return TrainView(
        name="Mexican Train" if mexican else names[train],
        tiles=tiles,
        joins=_joins(tiles, game.engine, game.ruleset.blanks_wild),
        ends=sorted(set(game.ends[train])),
        open=mexican or marker,
        marker=marker,
        in_force=in_force,
        waiting=[i for i in positions(game.waiting) if i not in in_force],
    )


def _veiled_train(game: Game, name: str) -> TrainView:
    return TrainView(name, [], [], [game.engine], open=False, marker=False, in_force=[], waiting=[])


def _hand_view(game: Game, seat: int, names: Sequence[str]) -> HandView:
    playable: set[Tile] = set()
    drawn = None
    if not game.over and game.to_move == seat:
        decoded = (game.actions.decode(action) for action in game.legal_actions())
        playable = {action.tile for action in decoded if action.tile is not None}
        drawn = game.drawn
    return HandView(seat, names[seat], hand_order(game.hands[seat]), playable, drawn)


def _duty_text(game: Game, names: Sequence[str]) -> str:
    parts = []
    for value, train in game.in_force:
        where = "the Mexican Train" if train == len(names) else f"{names[train]}'s train"
        parts.append(f"{value}-{value} on {where}")
    return f"to be covered: {', '.join(parts)}" if parts else ""


def hand_pips(hand: HandView) -> int:
    """Returns the pips of a shown hand, 0-0 counted as none."""
    return sum(pips(tile) for tile in hand.tiles)
