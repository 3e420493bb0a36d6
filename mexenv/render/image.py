"""A game as a picture: trains on their tracks, real pips, and the hand of the seat that looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from mexenv.render.tiles import VALUE_COLORS, Color, font, tile_image
from mexenv.render.view import HandView, TableView, TrainView, hand_pips, table_view
from mexenv.rules.tiles import Tile

if TYPE_CHECKING:
    from mexenv.games import Game

WIDTH = 1440
_SCALE = 2  # everything is drawn twice as large and shrunk: smooth edges without a font of our own
_MARGIN = 20
_HEADER = 84
_FOOTER = 40
_HUB_WIDTH = 140
_PLATE_WIDTH = 216
_TRACK_LEFT = _MARGIN + _HUB_WIDTH + _PLATE_WIDTH + 24
_TRACK_RIGHT = WIDTH - _MARGIN - 14

_TABLE: Color = (22, 58, 56)
_PANEL: Color = (15, 42, 42)
_BAND: Color = (28, 70, 67)
_BAND_MOVER: Color = (44, 96, 88)
_RAIL: Color = (74, 116, 108)
_TEXT: Color = (240, 244, 238)
_FAINT: Color = (156, 186, 176)
_MARKER: Color = (255, 152, 32)
_MEXICAN: Color = (250, 208, 92)
_DUTY: Color = (255, 56, 118)
_WAITING: Color = (255, 190, 80)
_PLAYABLE: Color = (108, 226, 128)
_LAST: Color = (120, 214, 255)


def render_image(
    game: Game, seat: int | None = None, names: Sequence[str] | None = None
) -> NDArray[np.uint8]:
    """Draws a game as a picture.

    The size depends on the ruleset and on whether one hand or all are shown, never on the position:
    the pictures of a game make a film.

    Args:
        game: The game to show.
        seat: Whose eyes it is for, 0 to players - 1: only that hand is shown. None shows every hand.
        names: One name a seat; None stands for player_0, player_1, …

    Returns:
        RGB picture, uint8 [height, 1440, 3].

    Raises:
        ValueError: If the seat does not exist or the names are not one a seat.
    """
    view = table_view(game, seat, names, n_events=3)
    return np.asarray(_Scene(view, seat).draw_all(), dtype=np.uint8).copy()


@dataclass(frozen=True)
class _Item:
    """One thing that lies on a track: a tile, or the chip that stands for the tiles left out."""

    position: int
    tile: Tile | None
    text: str = ""
    gap: bool = False

    @property
    def space(self) -> float:
        """Pixels before it."""
        return 12 if self.gap else 3

    def width(self, long: float) -> float:
        """Pixels it takes along the track where a lying tile takes `long`."""
        if self.tile is None:
            return long * 0.9
        return long / 2 if self.tile[0] == self.tile[1] else long


def _flow(items: list[_Item], long: float, room: float, n_lines: int) -> list[list[_Item]] | None:
    """Breaks items into at most `n_lines` lines of `room` pixels; None where they do not fit."""
    lines: list[list[_Item]] = [[]]
    used = 0.0
    for item in items:
        need = item.space + item.width(long)
        if used + need > room:
            lines.append([])
            used = 0.0
        lines[-1].append(item)
        used += need
    return lines if len(lines) <= n_lines else None


class _Scene:
    """The picture while it is drawn; coordinates are pixels of the finished picture."""

    def __init__(self, view: TableView, seat: int | None) -> None:
        self.view = view
        self.seat = seat
        rows = len(view.trains)
        self.row_height = max(44, min(98, 640 // rows))
        self.rows_top = _HEADER + 12
        self.rows_bottom = self.rows_top + rows * self.row_height
        self.columns = 1 if len(view.hands) == 1 else 2 if len(view.hands) <= 8 else 3
        self.hand_height = 150 if len(view.hands) == 1 else 112 if len(view.hands) <= 4 else 84
        hand_rows = math.ceil(len(view.hands) / self.columns)
        self.hands_top = self.rows_bottom + 14
        self.height = self.hands_top + hand_rows * (self.hand_height + 8) + _FOOTER
        self.image = Image.new("RGB", (WIDTH * _SCALE, self.height * _SCALE), _TABLE)
        self.pen = ImageDraw.Draw(self.image)

    def draw_all(self) -> Image.Image:
        self._header()
        for index in range(len(self.view.trains)):
            self._row(index)
        self._hub()
        for index, hand in enumerate(self.view.hands):
            self._hand(index, hand)
        self._footer()
        return self.image.reduce(_SCALE)

    # Drawing in finished pixels.

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        fill: Color | None = None,
        outline: Color | None = None,
        width: float = 1,
        radius: float = 8,
    ) -> None:
        area = (left * _SCALE, top * _SCALE, right * _SCALE, bottom * _SCALE)
        self.pen.rounded_rectangle(area, radius * _SCALE, fill, outline, max(1, round(width * _SCALE)))

    def disc(self, x: float, y: float, radius: float, fill: Color, outline: Color | None = None) -> None:
        area = [v * _SCALE for v in (x - radius, y - radius, x + radius, y + radius)]
        self.pen.ellipse(area, fill, outline, 2 * _SCALE)

    def line(self, points: Sequence[tuple[float, float]], color: Color, width: float) -> None:
        scaled = [(x * _SCALE, y * _SCALE) for x, y in points]
        self.pen.line(scaled, color, max(1, round(width * _SCALE)), joint="curve")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        color: Color = _TEXT,
        anchor: str = "lm",
        bold: bool = False,
        room: float | None = None,
    ) -> float:
        """Writes `text`, shortened where it is wider than `room`; returns its width."""
        face = font(round(size * _SCALE))
        if room is not None and face.getlength(text) > room * _SCALE:
            while len(text) > 1 and face.getlength(text + "…") > room * _SCALE:
                text = text[:-1]
            text += "…"
        stroke = max(1, round(size * _SCALE / 44)) if bold else 0
        self.pen.text(
            (x * _SCALE, y * _SCALE), text, color, face, anchor, stroke_width=stroke, stroke_fill=color
        )
        return face.getlength(text) / _SCALE

    def tile(self, x: float, y: float, tile: Tile, short: float, upright: bool, dim: bool = False) -> None:
        """Puts a tile with its top left corner at (x, y)."""
        side = round(short * _SCALE)
        picture = tile_image(tile[0], tile[1], side, upright, short)
        at = (round(x * _SCALE), round(y * _SCALE))
        shade = Image.new("RGB", picture.size, (10, 30, 30))
        alpha = picture.getchannel("A")
        self.image.paste(shade, (at[0] + _SCALE, at[1] + 2 * _SCALE), alpha.point(lambda a: a * 2 // 5))
        self.image.paste(picture, at, alpha.point(lambda a: a * 11 // 20) if dim else alpha)

    # The parts of the picture.

    def _header(self) -> None:
        view = self.view
        self.box(0, 0, WIDTH, _HEADER, _PANEL, radius=0)
        self.text(_MARGIN, 30, "Mexican Train", 27, bold=True)
        self.text(_MARGIN, 60, view.title, 17, _FAINT, room=250)
        x = 300.0
        for caption, value in (
            ("ROUND", view.round_text),
            ("ENGINE", f"{view.engine[0]}-{view.engine[1]}"),
            ("BONEYARD", str(view.boneyard)),
        ):
            self.box(x, 14, x + 128, _HEADER - 14, _BAND)
            self.text(x + 64, 29, caption, 12, _FAINT, "mm")
            self.text(x + 64, 51, value, 21, _TEXT, "mm", bold=True)
            x += 140
        right = WIDTH - _MARGIN
        y = 30 if view.duty_text else _HEADER / 2
        self.text(right, y, view.turn_text, 23, _TEXT, "rm", bold=True, room=right - x - 20)
        if view.duty_text:
            self.text(right, 60, view.duty_text, 18, _DUTY, "rm", bold=True, room=right - x - 20)

    def _row(self, index: int) -> None:
        train = self.view.trains[index]
        top = self.rows_top + index * self.row_height
        middle = top + self.row_height / 2
        mover = index == self.view.to_move
        left = _MARGIN + _HUB_WIDTH
        self.box(
            left,
            top + 3,
            WIDTH - _MARGIN,
            top + self.row_height - 3,
            _BAND_MOVER if mover else _BAND,
            radius=10,
        )
        self._plate(index, train, left, top, mover)
        color = _MARKER if train.marker else _MEXICAN if index == len(self.view.names) else _RAIL
        self._train(index, train, middle, color)

    def _plate(self, index: int, train: TrainView, left: float, top: float, mover: bool) -> None:
        height = self.row_height
        middle = top + height / 2
        right = left + _PLATE_WIDTH
        player = index < len(self.view.names)
        edge = _TEXT if mover else None
        self.box(left, top + 3, right, top + height - 3, _PANEL, edge, 2, radius=10)
        small = height < 60
        room = _PLATE_WIDTH - (84 if train.marker or small else 24)
        name = train.name + (" (you)" if player and index == self.seat else "")
        color = _TEXT if player else _MEXICAN
        if not player:
            self.text(left + 14, middle, name, 16 if small else 20, color, bold=True, room=room)
        else:
            count, total = self.view.hand_sizes[index], self.view.totals[index]
            tiles = f"{count} tile{'' if count == 1 else 's'}"
            y = middle - (9 if small else 13)
            self.text(left + 14, y, name, 15 if small else 20, color, bold=True, room=room)
            score = f"{tiles} · {total:.4g} pts" if total < 10000 else f"{tiles} · {total:.0f} pts"
            self.text(
                left + 14, middle + (10 if small else 15), score, 13 if small else 16, _FAINT, room=room
            )
        if train.marker:
            radius = min(25.0, height * 0.34)
            x = right - 14 - radius
            self.disc(x, middle, radius, _MARKER, (255, 226, 178))
            self.text(x, middle, "OPEN", radius * 0.58, (66, 32, 0), "mm", bold=True)

    def _hub(self) -> None:
        """Draws the engine in its station, with a track to every plate."""
        x = _MARGIN + 52.0
        y = (self.rows_top + self.rows_bottom) / 2
        for index, train in enumerate(self.view.trains):
            row = self.rows_top + (index + 0.5) * self.row_height
            color = _MARKER if train.marker else _MEXICAN if index == len(self.view.names) else _RAIL
            end = _MARGIN + _HUB_WIDTH - 1.0
            points = []
            for step in range(25):
                t = step / 24
                ease = t * t * (3 - 2 * t)
                points.append((x + (end - x) * t, y + (row - y) * ease))
            self.line(points, color, 4)
        self.disc(x, y, 50, _PANEL, _FAINT)
        self.disc(x, y, 42, _BAND)
        self.tile(x - 16, y - 32, self.view.engine, 32, upright=True)

    def _train(self, index: int, train: TrainView, middle: float, color: Color) -> None:
        badge = min(17.0, self.row_height * 0.3)
        room = _TRACK_RIGHT - _TRACK_LEFT - len(train.ends) * (2 * badge + 6) - 8
        lines, long = self._fit(train, room)
        x = float(_TRACK_LEFT)
        y = middle
        for number, items in enumerate(lines):
            x = float(_TRACK_LEFT)
            y = middle + (number - (len(lines) - 1) / 2) * (long + 3)
            self._rails(y, min(11.0, long * 0.14), color)
            for item in items:
                x += item.space
                self._item(index, train, item, x, y, long)
                x += item.width(long)
        if not train.tiles:
            x += self.text(x + 6, y, "not started", 15, _FAINT) + 14
        badge = min(badge, 0.45 * long) if len(lines) > 1 else badge
        duty = {train.tiles[position][0] for position in train.in_force}
        for end in train.ends:
            x += badge + 6
            self._badge(x, y, badge, end, end in duty)
            x += badge

    def _rails(self, y: float, gauge: float, color: Color) -> None:
        tint = (
            (color[0] + 2 * _BAND[0]) // 3,
            (color[1] + 2 * _BAND[1]) // 3,
            (color[2] + 2 * _BAND[2]) // 3,
        )
        for x in range(_TRACK_LEFT, _TRACK_RIGHT, 14):
            self.line([(x, y - gauge - 4), (x, y + gauge + 4)], tint, 2)
        for side in (-gauge, gauge):
            self.line([(_TRACK_LEFT - 8, y + side), (_TRACK_RIGHT, y + side)], tint, 2)

    def _item(self, index: int, train: TrainView, item: _Item, x: float, y: float, long: float) -> None:
        width = item.width(long)
        if item.tile is None:
            self.box(x, y - long * 0.24, x + width, y + long * 0.24, _PANEL, radius=long * 0.2)
            self.text(x + width / 2, y, item.text, long * 0.25, _FAINT, "mm", bold=True)
            return
        double = item.tile[0] == item.tile[1]
        height = long if double else long / 2
        top = y - height / 2
        self.tile(x, top, item.tile, long / 2, upright=double)
        color, weight = None, 2.5
        if item.position in train.in_force:
            color, weight = _DUTY, max(3.0, long * 0.06)
        elif item.position in train.waiting:
            color = _WAITING
        elif self.view.last_play in ((index, item.tile), (index, item.tile[::-1])):
            color = _LAST
        if color is not None:
            grow = weight - 1
            radius = 0.08 * long + grow
            self.box(x - grow, top - grow, x + width + grow, top + height + grow, None, color, weight, radius)

    def _fit(self, train: TrainView, room: float) -> tuple[list[list[_Item]], float]:
        """Chooses size and lines of a train's tiles: smaller at first, then two lines, then left out."""
        items = [_Item(i, tile, gap=not train.joins[i] and i > 0) for i, tile in enumerate(train.tiles)]
        long = self.row_height - (18.0 if self.row_height >= 60 else 8.0)
        smallest = max(30.0, long * 0.72)
        while long > smallest:
            if (lines := _flow(items, long, room, 1)) is not None:
                return lines, long
            long -= 2
        n_lines = 1
        if self.row_height >= 80:
            n_lines = 2
            long = (self.row_height - 13) / 2
        if (lines := _flow(items, long, room, n_lines)) is not None:
            return lines, long
        kept = {0, len(items) - 1, *train.in_force, *train.waiting}
        best = [self._elided(items, kept)]
        for candidate in range(len(items) - 2, 0, -1):
            kept.add(candidate)
            if (lines := _flow(self._elided(items, kept), long, room, n_lines)) is None:
                break
            best = lines
        return best, long

    @staticmethod
    def _elided(items: list[_Item], kept: set[int]) -> list[_Item]:
        shown: list[_Item] = []
        left_out = 0
        for item in items:
            if item.position not in kept:
                left_out += 1
                continue
            if left_out:
                shown.append(_Item(item.position, None, f"+{left_out}"))
                left_out = 0
            shown.append(item)
        return shown

    def _badge(self, x: float, y: float, radius: float, value: int, duty: bool) -> None:
        self.disc(x, y, radius, VALUE_COLORS[value], _DUTY if duty else _TEXT)
        self.text(x, y, str(value), radius * 1.02, (255, 255, 255), "mm", bold=True)

    def _hand(self, index: int, hand: HandView) -> None:
        column, row = index % self.columns, index // self.columns
        full = (WIDTH - 2 * _MARGIN - (self.columns - 1) * 10) / self.columns
        left = _MARGIN + column * (full + 10)
        top = self.hands_top + row * (self.hand_height + 8)
        edge = _TEXT if hand.seat == self.view.to_move else None
        self.box(left, top, left + full, top + self.hand_height, _PANEL, edge, 2, radius=10)
        single = self.columns == 1
        size = 18 if single else 14
        written = self.text(left + 14, top + size * 0.95, hand.name, size, bold=True, room=full * 0.5)
        note = f"{len(hand.tiles)} tiles · {hand_pips(hand)} pips"
        if hand.playable:
            note += " · playable ones are raised"
        self.text(left + 26 + written, top + size * 0.95, note, size * 0.85, _FAINT, room=full - written - 40)
        self._hand_tiles(hand, left + 14, top + size * 1.9, full - 28, self.hand_height - size * 1.9 - 8)

    def _hand_tiles(self, hand: HandView, left: float, top: float, width: float, height: float) -> None:
        count = len(hand.tiles)
        if not count:
            return
        lift = 7 if self.columns == 1 else 3
        gap = 8 if self.columns == 1 else 6
        short = 0.0
        lines = 1
        for tried in range(1, 5):
            by_width = width / math.ceil(count / tried) - gap
            by_height = (height / tried - lift - 3) / 2
            size = min(by_width, by_height, 46)
            if size > short:
                short, lines = size, tried
        a_line = math.ceil(count / lines)
        for position, tile in enumerate(hand.tiles):
            x = left + (position % a_line) * (short + gap)
            y = top + lift + (position // a_line) * (2 * short + lift + 3)
            playable = tile in hand.playable
            if playable:
                y -= lift
                rim = 3 if self.columns == 1 else 2
                frame = (x - rim, y - rim, x + short + rim, y + 2 * short + rim)
                self.box(*frame, _PLAYABLE, radius=short * 0.16 + rim)
            self.tile(x, y, tile, short, upright=True, dim=bool(hand.playable) and not playable)

    def _footer(self) -> None:
        if self.view.events:
            text = "Last: " + "; ".join(self.view.events)
            self.text(_MARGIN, self.height - _FOOTER / 2, text, 16, _FAINT, room=WIDTH - 2 * _MARGIN)
