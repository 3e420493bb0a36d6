"""A game as text, for terminals, logs and doctests."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mexenv.render.view import HandView, TableView, TrainView, hand_pips, table_view
from mexenv.rules.tiles import Tile, format_tile

if TYPE_CHECKING:
    from mexenv.games import Game

WIDTH = 100
_SHOWN_TILES = 12  # a longer train is elided in the middle

_Paint = Callable[[str, str], str]
_BOLD, _DIM, _RED, _GREEN, _YELLOW, _CYAN = "1", "2", "1;31", "1;32", "33", "36"


def render_text(
    game: Game,
    seat: int | None = None,
    color: bool = False,
    names: Sequence[str] | None = None,
    events: int = 6,
) -> str:
    """Draws a game as text.

    Every train stands on a line with its owner, the tiles in the order laid, its open end and its
    marker. `[7-7]!` is a double that must be covered now, `[7-7]` one that waits; `*` flags the tiles
    of a hand that may be played; `|` stands where a branch leaves the line.

    Args:
        game: The game to show.
        seat: Whose eyes it is for, 0 to players - 1: only that hand is shown and nothing hidden from
            the seat is told. None shows every hand.
        color: Whether to add ANSI colours.
        names: One name a seat; None stands for player_0, player_1, …
        events: How many of the last events to tell.

    Returns:
        Several lines, at most 100 characters wide unless names are long, without a final newline.

    Raises:
        ValueError: If the seat does not exist or the names are not one a seat.
    """
    view = table_view(game, seat, names, events)
    paint = _paint if color else _plain
    lines = [*_header(view, paint), "", *_trains(view, seat, paint)]
    for hand in view.hands:
        lines += ["", *_hand(hand, paint)]
    if view.events:
        lines += ["", paint("Last: ", _DIM) + _wrapped(view.events, 6)]
    return "\n".join(lines)


def _plain(text: str, _style: str) -> str:
    return text


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def _wrapped(parts: list[str], indent: int) -> str:
    lines = textwrap.wrap("; ".join(parts), WIDTH - indent)
    return ("\n" + " " * indent).join(lines)


def _number(value: float) -> str:
    return f"{value:g}" if value == round(value, 2) else f"{value:.2f}"


def _header(view: TableView, paint: _Paint) -> list[str]:
    facts = [
        paint(view.title, _BOLD),
        f"round {view.round_text}",
        f"engine {format_tile(view.engine)}",
        f"boneyard {view.boneyard}",
    ]
    turn = paint(view.turn_text, _BOLD)
    if view.duty_text:
        turn += "  " + paint(f"({view.duty_text})", _RED)
    return [" | ".join(facts), turn]


def _trains(view: TableView, seat: int | None, paint: _Paint) -> list[str]:
    labels = [f"{name} (you)" if other == seat else name for other, name in enumerate(view.names)]
    labels.append("Mexican Train")
    width = max(len(label) for label in labels)
    lines = [paint(f"  {'train':<{width}}  hand  score    end        tiles", _DIM)]
    for index, (label, train) in enumerate(zip(labels, view.trains, strict=True)):
        mover = index == view.to_move
        name = paint(f"{label:<{width}}", _BOLD) if mover else f"{label:<{width}}"
        numbers = " " * 13
        if index < len(view.names):
            numbers = f"{view.hand_sizes[index]:>4}  {_number(view.totals[index]):>5}  "
        ends = ",".join(str(end) for end in train.ends)
        flag = "OPEN" if train.marker else "open" if train.open else ""
        lines.append(
            f"{'>' if mover else ' '} {name}  {numbers}  {paint(f'{ends:>3}', _CYAN)}  "
            f"{paint(f'{flag:<4}', _YELLOW)}  {_tiles(train, paint)}"
        )
    return lines


def _tiles(train: TrainView, paint: _Paint) -> str:
    if not train.tiles:
        return paint("not started", _DIM)
    words = []
    for position, tile in enumerate(train.tiles):
        word = f"{tile[0]}-{tile[1]}"
        if position in train.in_force:
            word = paint(f"[{word}]!", _RED)
        elif position in train.waiting:
            word = paint(f"[{word}]", _YELLOW)
        words.append(word if train.joins[position] else f"| {word}")
    if len(words) <= _SHOWN_TILES:
        return " ".join(words)
    head, tail = 2, _SHOWN_TILES - 3
    flagged = [i for i in (*train.in_force, *train.waiting) if head <= i < len(words) - tail]
    middle = [f"..{len(words) - head - tail} more.."] + [words[i] for i in flagged]
    return " ".join([*words[:head], *middle, *words[-tail:]])


def _hand(hand: HandView, paint: _Paint) -> list[str]:
    def word(tile: Tile) -> str:
        text = format_tile(tile) + ("*" if tile in hand.playable else "")
        return text + (" (just drawn)" if tile == hand.drawn else "")

    title = f"{hand.name}: {len(hand.tiles)} tiles, {hand_pips(hand)} pips"
    rows = textwrap.wrap(" ".join(word(tile) for tile in hand.tiles), WIDTH - 2) or ["no tile left"]
    painted = [" ".join(paint(w, _GREEN) if w.endswith("*") else w for w in row.split()) for row in rows]
    return [paint(title, _BOLD), *(f"  {row}" for row in painted)]
