"""What happened in a step, told by comparing the record before and after it."""

from __future__ import annotations

from typing import Any, NamedTuple

from mexenv.engine import state as st
from mexenv.rules import ActionLayout, Tile, format_tile, tile_index, tile_of


class Event(NamedTuple):
    """One thing that happened.

    Attributes:
        kind: deal, play, draw, pass, stop (a chain), marker_up, marker_down, covered, released,
            double_in_force, knock, out, blocked or scores.
        seat: the seat it is about, None if none.
        tile: the tile, None if none; in a draw it is hidden from the other seats.
        train: the absolute train, None if none.
        value: the double's or engine's value, None if none.
        text: the event in words, without drawn tiles. In a hidden opening it names chains that the other
            seats do not see yet (`mexenv.render` leaves them out).
    """

    kind: str
    seat: int | None
    tile: Tile | None
    train: int | None
    value: int | None
    text: str


_STOPS = {st.OPENING: "opening", st.CHAIN: "chain", st.DRIVE: "drive"}


def _name(seat: int) -> str:
    return f"player_{seat}"


def _train(train: int, players: int) -> str:
    return "the Mexican Train" if train == players else f"player_{train}'s train"


def step_events(
    actions: ActionLayout,
    before: Any,
    after: Any,
    was_in_force: list[tuple[int, int]],
    in_force: list[tuple[int, int]],
    action: int,
) -> list[Event]:
    """Events of one step, without those of a round's end.

    Args:
        actions: the action layout.
        before: game record before the step.
        after: game record after it.
        was_in_force: (value, train) of the doubles in force before it.
        in_force: the same after it.
        action: the action id carried out.
    """
    players = actions.players
    seat = int(before["mover"])
    events: list[Event] = []
    kind, tile, place, _ = actions.decode(action)
    laid: tuple[int, int] | None = None
    if kind == "draw":
        drawn = tile_of(int(before["pile"][before["pile_next"]]))
        events.append(Event("draw", seat, drawn, None, None, f"{_name(seat)} draws"))
    elif kind == "pass" and int(before["stage"]) in _STOPS:
        what = _STOPS[int(before["stage"])]
        events.append(Event("stop", seat, None, None, None, f"{_name(seat)} ends its {what}"))
    elif kind == "pass":
        events.append(Event("pass", seat, None, None, None, f"{_name(seat)} passes"))
    else:
        assert tile is not None and place is not None
        train = players if place == players else (seat + place) % players
        end = tile[1] if after["joined_low"][tile_index(*tile)] else tile[0]
        laid = (end, train)
        shown = format_tile((end, tile[0] + tile[1] - end))
        text = f"{_name(seat)} plays {shown} on {_train(train, players)}"
        events.append(Event("play", seat, tile, train, None, text))
    old = [(int(before["q_value"][q]), int(before["q_train"][q])) for q in range(before["q_n"])]
    new = [(int(after["q_value"][q]), int(after["q_train"][q])) for q in range(after["q_n"])]
    for value, train in old:
        if (value, train) not in new:
            only_end = int(before["end_mask"][train]) == 1 << value
            on_it = laid is not None and train == laid[1] and (value == laid[0] or only_end)
            how = "covered" if on_it else "released"
            text = f"{value}-{value} on {_train(train, players)} is {how}"
            events.append(Event(how, seat, None, train, value, text))
    changed = int(before["marker"]) ^ int(after["marker"])
    for s in range(players):
        if changed >> s & 1:
            way = "up" if int(after["marker"]) >> s & 1 else "down"
            text = f"{_name(s)}'s marker goes {way}"
            events.append(Event(f"marker_{way}", s, None, s, None, text))
    if kind == "play" and after["hand_n"][seat] == 1:
        events.append(Event("knock", seat, None, None, None, f"{_name(seat)} knocks: one tile left"))
    for value, train in in_force:
        if (value, train) not in was_in_force:
            text = f"{value}-{value} on {_train(train, players)} must be covered"
            events.append(Event("double_in_force", None, None, train, value, text))
    return events


def round_events(out: list[int], blocked: bool, scores: list[float]) -> list[Event]:
    """Events of a round's end."""
    events = [Event("out", s, None, None, None, f"{_name(s)} is out") for s in out]
    if blocked:
        events.append(Event("blocked", None, None, None, None, "the round is blocked"))
    points = ", ".join(f"{_name(s)} {x:g}" for s, x in enumerate(scores))
    events.append(Event("scores", None, None, None, None, f"scores: {points}"))
    return events


def deal_event(g: Any) -> Event:
    """The event of a deal just made; `g` is the game record."""
    engine, starter = int(g["engine"]), int(g["starter"])
    text = f"round {int(g['round_index']) + 1}: engine {engine}-{engine}, {_name(starter)} starts"
    return Event("deal", starter, None, None, engine, text)
