"""How fast other libraries step their games on this machine, and how fast this one does, in one run.

    python benchmarks/peers.py [--json PATH] [--only NAME ...] [--turns 5] [--seconds 1.0] [--envs FOLDER]

A step is one decision of one player, with the legal actions that go with it; chance and resets are paid for,
not counted. Actions are random and legal; choosing them is timed where a path steps one game, and not where
it steps many. Speeds are per second of CPU time of the process, all its threads together, on one core where
the system lets a process choose. Every path is measured once, then every path again, and so on; told are the
median, the slowest and the fastest turn.

Each library is installed from the package index into a virtual environment of its own, which is kept for the
next run. What cannot be installed or measured is named with the reason.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from installing import InstallError, default_folder, install
from interleaved import START_PATIENCE, Worker, WorkerError, interleave
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mexenv.files import write_whole


class Neighbour(NamedTuple):
    """A library to measure.

    Attributes:
        library: its name.
        requirements: what is installed, the library itself first; nothing for this project, which is here.
        settings: environment variables for its installation.
    """

    library: str
    requirements: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def version(self) -> str:
        """The release asked for."""
        return self.requirements[0].rpartition("==")[2] if self.requirements else ""


NEIGHBOURS = {
    "mexenv": Neighbour("mexenv"),
    "openspiel": Neighbour("OpenSpiel", ("open-spiel==2.0.2",)),
    "rlcard": Neighbour("RLCard", ("rlcard==1.2.0",)),
    "pettingzoo": Neighbour("PettingZoo", ("pettingzoo[classic]==1.27.0",)),
    "envpool": Neighbour("EnvPool", ("envpool==1.2.5",)),
    "pgx": Neighbour("Pgx", ("pgx==2.6.0", "jax==0.10.2")),
    "jaxmarl": Neighbour("JaxMARL", ("jaxmarl==0.2.0", "jax==0.10.2")),
    # Its wheel is built here and fetches more while it is; NO_TRAIN leaves out what only training needs.
    "pufferlib": Neighbour("PufferLib", ("pufferlib==3.0.0",), (("NO_TRAIN", "1"),)),
    "dominoes": Neighbour("dominoes", ("dominoes==6.1.0",)),
}
"""By the name that --only takes, which is also the beginning of its module in `neighbours`."""


class Row(NamedTuple):
    """One measured path; speeds are steps a second of CPU time."""

    library: str
    version: str
    path: str
    games: int
    steps_per_s: float
    low: float
    high: float


class Missing(NamedTuple):
    """What could not be measured; without a path it is the whole library."""

    library: str
    version: str
    path: str
    reason: str


class Entry(NamedTuple):
    """A path about to be measured."""

    library: str
    version: str
    path: str
    games: int


def say(text: str) -> None:
    """Tell what is going on, apart from the result."""
    print(text, file=sys.stderr, flush=True)


def list_paths(python: Path, key: str) -> list[Entry]:
    """The paths of a library.

    Raises:
        WorkerError: If it cannot tell them.
    """
    with Worker(python, [f"{key}_paths"]) as worker:
        told = worker.answer(START_PATIENCE)
    library = NEIGHBOURS[key].library
    return [Entry(library, told["version"], path["path"], path["games"]) for path in told["paths"]]


def measure(keys: Sequence[str], folder: Path, turns: int, seconds: float) -> tuple[list[Row], list[Missing]]:
    """Install what is missing, then measure everything in turns.

    Args:
        keys: of `NEIGHBOURS`.
        folder: holds the environments.
        turns: turns of each path.
        seconds: CPU seconds of each turn.

    Returns:
        What was measured, and what could not be.
    """
    missing: list[Missing] = []

    def failed(entry: Entry, reason: str) -> None:
        missing.append(Missing(*entry[:3], reason))
        say(f"  {' '.join(filter(None, entry[:3]))}: {reason}")

    with ExitStack() as stack:
        workers: dict[Entry, Worker] = {}
        for key in keys:
            neighbour = NEIGHBOURS[key]
            try:
                python = Path(sys.executable)
                if neighbour.requirements:
                    say(f"{neighbour.library}: installing, unless it was before")
                    python = install(folder, key, neighbour.requirements, dict(neighbour.settings))
                say(f"{neighbour.library}: starting")
                entries = list_paths(python, key)
            except (InstallError, WorkerError) as error:
                failed(Entry(neighbour.library, neighbour.version, "", 0), str(error))
                continue
            for entry in entries:
                worker = stack.enter_context(Worker(python, [f"{key}_paths", entry.path]))
                try:
                    worker.turn(min(seconds, 0.5), START_PATIENCE)
                except WorkerError as error:
                    failed(entry, str(error))
                else:
                    workers[entry] = worker
        speeds = interleave(
            workers, turns, seconds, failed, lambda turn: say(f"turn {turn} of {turns}, {len(workers)} paths")
        )
    rows = [Row(*entry, statistics.median(made), min(made), max(made)) for entry, made in speeds.items()]
    return rows, missing


def rounded(speed: float) -> str:
    """Three digits, which is more than such a measurement is good for, and thousands set apart."""
    return f"{round(speed, 2 - math.floor(math.log10(speed))):,.0f}" if speed >= 1 else f"{speed:.2g}"


def table(rows: Sequence[Row]) -> Table:
    """The rows as a table."""
    made = Table(title="steps a second of CPU time, one core, median of the turns")
    for heading in ("library", "path"):
        made.add_column(heading, overflow="fold")
    for heading in ("games", "steps/s", "low", "high"):
        made.add_column(heading, justify="right", no_wrap=True)
    before = ""
    for row in rows:
        title = f"{row.library} {row.version}"
        if before and title != before:
            made.add_section()
        speeds = (rounded(speed) for speed in (row.steps_per_s, row.low, row.high))
        made.add_row("" if title == before else escape(title), escape(row.path), f"{row.games:,}", *speeds)
        before = title
    return made


def summary(rows: Sequence[Row], missing: Sequence[Missing]) -> list[str]:
    """What follows the table: how much was measured, and what was not and why."""
    lines = [f"{len(rows)} paths of {len({row.library for row in rows})} libraries measured"]
    for miss in missing:
        title = " ".join(part for part in (miss.library, miss.version, miss.path) if part)
        lines.append(f"not measured: {title}: {miss.reason}")
    return lines


def positive(text: str) -> float:
    """A number above zero, for the command line."""
    number = float(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError("must be above zero")
    return number


def count(text: str) -> int:
    """A whole number above zero, for the command line."""
    return int(positive(str(int(text))))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description="Compare the speed of other libraries with this one's.")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file to write the result to")
    parser.add_argument("--only", nargs="+", choices=NEIGHBOURS, metavar="NAME", help=", ".join(NEIGHBOURS))
    parser.add_argument("--turns", type=count, default=5, help="turns of each path (5)")
    parser.add_argument("--seconds", type=positive, default=1.0, help="CPU seconds of a turn (1.0)")
    parser.add_argument("--envs", type=Path, default=default_folder(), help=f"folder ({default_folder()})")
    options = parser.parse_args(arguments)
    keys = [key for key in NEIGHBOURS if options.only is None or key in options.only]
    rows, missing = measure(keys, options.envs.absolute(), options.turns, options.seconds)
    console = Console(width=None if sys.stdout.isatty() else 120)
    if rows:
        console.print(table(rows))
    for line in summary(rows, missing):
        console.print(line, markup=False, highlight=False)
    if options.json is not None:
        result = {
            "turns": options.turns,
            "seconds": options.seconds,
            "clock": "CPU time of the process",
            "python": platform.python_version(),
            "machine": platform.platform(),
            "rows": [row._asdict() for row in rows],
            "missing": [miss._asdict() for miss in missing],
        }
        write_whole(options.json, lambda file: file.write((json.dumps(result, indent=1) + "\n").encode()))


if __name__ == "__main__":
    main()
