"""Pictures of single domino tiles, drawn once for each size and kept."""

from __future__ import annotations

from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

Color = tuple[int, int, int]

IVORY: Color = (252, 247, 234)
EDGE: Color = (120, 108, 88)
DIVIDER: Color = (176, 160, 128)

# One colour a value, as on coloured sets: an end and the tiles that fit it share their colour.
VALUE_COLORS: tuple[Color, ...] = (
    (130, 138, 150),
    (24, 146, 206),
    (38, 148, 74),
    (222, 62, 118),
    (136, 84, 40),
    (40, 76, 196),
    (212, 146, 0),
    (122, 60, 176),
    (10, 128, 122),
    (200, 36, 40),
    (236, 104, 0),
    (96, 124, 24),
    (48, 54, 66),
    (176, 56, 156),
    (86, 74, 206),
    (158, 100, 44),
    (54, 122, 168),
    (128, 24, 60),
    (0, 96, 60),
)

# Pips as columns of a standing tile's half: (pips of each column, height of a full column).
_COLUMNS: dict[int, tuple[tuple[int, ...], int]] = {
    10: ((4, 2, 4), 4),
    11: ((4, 3, 4), 4),
    12: ((4, 4, 4), 4),
    13: ((5, 3, 5), 5),
    14: ((5, 4, 5), 5),
    15: ((5, 5, 5), 5),
    16: ((4, 4, 4, 4), 4),
    17: ((6, 5, 6), 6),
    18: ((6, 6, 6), 6),
}
_GRID: dict[int, tuple[tuple[int, int], ...]] = {
    0: (),
    1: ((1, 1),),
    2: ((0, 0), (2, 2)),
    3: ((0, 0), (1, 1), (2, 2)),
    4: ((0, 0), (0, 2), (2, 0), (2, 2)),
    5: ((0, 0), (0, 2), (1, 1), (2, 0), (2, 2)),
    6: ((0, 0), (0, 1), (0, 2), (2, 0), (2, 1), (2, 2)),
    7: ((0, 0), (0, 1), (0, 2), (1, 1), (2, 0), (2, 1), (2, 2)),
    8: ((0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)),
    9: tuple((x, y) for x in range(3) for y in range(3)),
}


def pip_positions(value: int) -> list[tuple[float, float]]:
    """Returns the pips of one half of a standing tile as (x, y) in 0..1, 0..1 from its top left."""
    if value in _GRID:
        return [(0.22 + 0.28 * x, 0.22 + 0.28 * y) for x, y in _GRID[value]]
    columns, height = _COLUMNS[value]
    pitch = 0.72 / height
    points = []
    last, spread = len(columns) - 1, 0.56 if len(columns) == 3 else 0.66
    for index, count in enumerate(columns):
        x = 0.5 + (index - last / 2) * spread / last
        points += [(x, 0.5 + (row - (count - 1) / 2) * pitch) for row in range(count)]
    return points


def shows_numeral(value: int, short: float) -> bool:
    """Says whether a half of `short` pixels is too small for the pips of `value`."""
    smallest = 19 if value <= 9 else 27 if value <= 12 else 44
    return value > 0 and short < smallest


@lru_cache(maxsize=64)
def font(size: int) -> ImageFont.FreeTypeFont:
    """Returns Pillow's own font at a size in pixels."""
    loaded = ImageFont.load_default(size)
    assert isinstance(loaded, ImageFont.FreeTypeFont)
    return loaded


@lru_cache(maxsize=4096)
def tile_image(first: int, second: int, short: int, upright: bool, shown: float) -> Image.Image:
    """Draws one tile.

    Args:
        first: Value of the left half, or of the upper one of an upright tile.
        second: Value of the other half.
        short: Short side in pixels of the picture; the long one is twice that.
        upright: Whether the tile stands; otherwise it lies.
        shown: Short side in pixels of the finished picture, which decides between pips and a numeral.

    Returns:
        An RGBA picture with transparent corners.
    """
    zoom = 2  # drawn larger and shrunk, which smooths the edges
    side = short * zoom
    size = (side, 2 * side) if upright else (2 * side, side)
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    box = (0, 0, size[0] - 1, size[1] - 1)
    draw.rounded_rectangle(
        box, radius=side * 0.16, fill=IVORY, outline=EDGE, width=max(1, round(side * 0.035))
    )
    line = max(1, round(side * 0.04))
    inset = side * 0.16
    if upright:
        draw.line((inset, side, side - inset, side), fill=DIVIDER, width=line)
    else:
        draw.line((side, inset, side, side - inset), fill=DIVIDER, width=line)
    for index, value in enumerate((first, second)):
        origin = (0, index * side) if upright else (index * side, 0)
        color = VALUE_COLORS[value]
        if shows_numeral(value, shown):
            size_px = round(side * (0.72 if value < 10 else 0.62))
            center = (origin[0] + side / 2, origin[1] + side / 2)
            draw.text(
                center,
                str(value),
                font=font(size_px),
                fill=color,
                anchor="mm",
                stroke_width=max(1, side // 40),
                stroke_fill=color,
            )
            continue
        radius = side * (0.095 if value <= 9 else 0.074 if value <= 12 else 0.056)
        for x, y in pip_positions(value):
            px, py = (x, y) if upright else (y, 1 - x)
            cx, cy = origin[0] + px * side, origin[1] + py * side
            draw.ellipse((cx - radius, cy - radius, cx + radius, cy + radius), fill=color)
    return image.reduce(zoom)
