"""The outcome of an evaluation: rows, differences, and the files they are written to."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from mexenv.arena.statistics import estimate, estimate_share
from mexenv.files import write_whole

FORMAT: Final = 1


@dataclass(frozen=True)
class Row:
    """How one agent did; where it has several seats of the line-up, in all of them together.

    Attributes:
        agent: its name.
        mean_pips: points a round (fewer are better, except where the winner takes them).
        low: lower end of the 95 % interval of `mean_pips`; this and the other ends are NaN with one deal.
        high: upper end.
        went_out: share of its rounds in which it went out.
        went_out_low: lower end.
        went_out_high: upper end.
        matches_won: share of its matches won, a shared win counted in part; None where rounds were played.
        matches_won_low: lower end.
        matches_won_high: upper end.
        rounds: rounds it played, each seat counted.
    """

    agent: str
    mean_pips: float
    low: float
    high: float
    went_out: float
    went_out_low: float
    went_out_high: float
    matches_won: float | None
    matches_won_low: float | None
    matches_won_high: float | None
    rounds: int


@dataclass(frozen=True)
class Difference:
    """Points a round of agent `a` minus those of agent `b` on the same deals, with its 95 % interval."""

    a: str
    b: str
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Tally:
    """Sums over the rounds of each deal: float64[deals, agents] each, in the order of `names`.

    Attributes:
        names: the distinct agents, in the order of the line-up.
        pips: points.
        outs: rounds gone out.
        rounds: rounds played.
        wins: matches won, shared ones in part; None where rounds were played.
        matches: matches played.
    """

    names: list[str]
    pips: NDArray[np.float64]
    outs: NDArray[np.float64]
    rounds: NDArray[np.float64]
    wins: NDArray[np.float64] | None
    matches: NDArray[np.float64]


@dataclass(frozen=True)
class Results:
    """The outcome of an evaluation.

    Attributes:
        header: what was played: version, ruleset, players, line-up, deals, seed, engine and so on.
        rows: one for each distinct agent, in the order of the line-up.
        paired: one for each pair of distinct agents.
    """

    header: dict[str, Any]
    rows: list[Row]
    paired: list[Difference]

    @classmethod
    def from_tally(cls, header: dict[str, Any], tally: Tally) -> Results:
        """Means and intervals from the sums of each deal."""
        pips = tally.pips / tally.rounds
        outs = tally.outs / tally.rounds
        rows = []
        for k, name in enumerate(tally.names):
            won = None if tally.wins is None else estimate_share(tally.wins[:, k] / tally.matches[:, k])
            rows.append(
                Row(
                    name,
                    *estimate(pips[:, k]),
                    *estimate_share(outs[:, k]),
                    matches_won=None if won is None else won.mean,
                    matches_won_low=None if won is None else won.low,
                    matches_won_high=None if won is None else won.high,
                    rounds=int(tally.rounds[:, k].sum()),
                )
            )
        paired = [
            Difference(a, b, *estimate(pips[:, i] - pips[:, j]))
            for i, a in enumerate(tally.names)
            for j, b in enumerate(tally.names)
            if i < j
        ]
        return cls(header, rows, paired)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values fit for JSON; an interval that does not exist has None as its ends."""
        content = {
            **self.header,
            "rows": [asdict(row) for row in self.rows],
            "paired": [asdict(pair) for pair in self.paired],
        }
        for entry in [*content["rows"], *content["paired"]]:
            for key, value in entry.items():
                if isinstance(value, float) and math.isnan(value):
                    entry[key] = None
        return content

    def write_json(self, path: str | Path) -> None:
        """Writes `to_dict` to a file, all of it or nothing."""
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
        write_whole(path, lambda file: file.write(text.encode()))

    def write_plot(self, path: str | Path) -> None:
        """Draws mean points, and shares of matches won, with their intervals as a PNG."""
        from mexenv.arena.plot import draw

        write_whole(path, lambda file: draw(self, file))

    def tables(self) -> list[Table]:
        """Tables for the terminal: the agents, and the differences where there are any."""
        agents = Table(title=self.title)
        agents.add_column("agent")
        agents.add_column("pips a round")
        agents.add_column("goes out")
        matches = any(row.matches_won is not None for row in self.rows)
        if matches:
            agents.add_column("matches won")
        agents.add_column("rounds", justify="right")
        for row in self.rows:
            cells = [
                row.agent,
                _with_interval(row.mean_pips, row.low, row.high, "{:.2f}"),
                _with_interval(row.went_out, row.went_out_low, row.went_out_high, "{:.1%}"),
            ]
            if row.matches_won is not None:
                cells.append(
                    _with_interval(row.matches_won, row.matches_won_low, row.matches_won_high, "{:.1%}")
                )
            agents.add_row(*cells, f"{row.rounds:,}")
        if not self.paired:
            return [agents]
        pairs = Table(title="pips a round, the first minus the second, on the same deals")
        for heading in ("agent", "minus", "difference"):
            pairs.add_column(heading)
        for pair in self.paired:
            pairs.add_row(pair.a, pair.b, _with_interval(pair.difference, pair.low, pair.high, "{:+.2f}"))
        return [agents, pairs]

    @property
    def title(self) -> str:
        """One line that says what was played."""
        head = self.header
        one, many = ("match", "matches") if head["match"] else ("deal", "deals")
        number = f"{head['deals']:,} {one if head['deals'] == 1 else many}"
        return f"{head['ruleset_name']}, {head['players']} players, {number}, seed {head['seed']}"


def _with_interval(mean: float, low: float | None, high: float | None, form: str) -> str:
    if low is None or high is None or math.isnan(low):
        return form.format(mean)
    return f"{form.format(mean)}  ({form.format(low)} to {form.format(high)})"
