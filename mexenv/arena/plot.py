"""The picture of an evaluation."""

from __future__ import annotations

import math
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from mexenv.arena.results import Results


def draw(results: Results, file: IO[bytes]) -> None:
    """Draws mean points a round with 95 % intervals, best agent on top, into an open file, as a PNG."""
    # Imported here: matplotlib takes a second, and few runs draw. The figure is made without pyplot, which
    # would choose a window system and keep the figure alive.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = sorted(results.rows, key=lambda row: row.mean_pips, reverse=True)
    if results.header["scoring"] == "winner_takes":
        rows.reverse()
    figure = Figure(figsize=(7.0, 1.4 + 0.45 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        reach = 0.0 if math.isnan(row.high) else row.high - row.mean_pips
        axes.errorbar(row.mean_pips, place, xerr=reach, fmt="o", color="tab:blue", capsize=4)
        axes.annotate(
            f"{row.mean_pips:.2f}",
            (row.mean_pips, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(rows)), [row.agent for row in rows])
    axes.set_ylim(-0.6, len(rows) - 0.3)
    axes.margins(x=0.15)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("mean pips a round, with 95 % interval over deals")
    axes.set_title(results.title, fontsize=10)
    figure.savefig(file, format="png", dpi=150)
