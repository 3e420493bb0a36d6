"""The picture of an evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mexenv.arena.results import Results, Row


def draw(results: Results, file: IO[bytes]) -> None:
    """Draws mean points a round with 95 % intervals, best agent on top, into an open file, as a PNG.

    Where matches were played, a second panel shows the share of them that each agent won.
    """
    # Imported here: matplotlib takes a second, and few runs draw. The figure is made without pyplot, which
    # would choose a window system and keep the figure alive.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = sorted(results.rows, key=lambda row: row.mean_pips, reverse=True)
    if results.header["scoring"] == "winner_takes":
        rows.reverse()
    matches = bool(results.header["match"])
    figure = Figure(figsize=(11.0 if matches else 7.0, 1.4 + 0.45 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 2 if matches else 1, sharey=True, squeeze=False)[0]
    _panel(panels[0], rows, _pips, "{:.2f}", "mean pips a round")
    if matches:
        _panel(panels[1], rows, _won, "{:.1%}", "share of matches won")
        panels[1].xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    panels[0].set_yticks(range(len(rows)), [row.agent for row in rows], parse_math=False)
    panels[0].set_ylim(-0.6, len(rows) - 0.3)
    figure.suptitle(results.title, fontsize=10, parse_math=False)
    figure.savefig(file, format="png", dpi=150)


_Interval = tuple[float, float, float]


def _pips(row: Row) -> _Interval:
    return row.mean_pips, row.low, row.high


def _won(row: Row) -> _Interval:
    assert (
        row.matches_won is not None and row.matches_won_low is not None and row.matches_won_high is not None
    )
    return row.matches_won, row.matches_won_low, row.matches_won_high


def _panel(axes: Any, rows: list[Row], interval: Callable[[Row], _Interval], form: str, label: str) -> None:
    for place, row in enumerate(rows):
        mean, low, high = interval(row)
        reach = [[0.0], [0.0]] if math.isnan(high) else [[max(mean - low, 0.0)], [max(high - mean, 0.0)]]
        axes.errorbar(mean, place, xerr=reach, fmt="o", color="tab:blue", capsize=4)
        axes.annotate(
            form.format(mean),
            (mean, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    axes.margins(x=0.15)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel(f"{label}, with 95 % interval over deals")
