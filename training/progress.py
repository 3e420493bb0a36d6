"""What a person watching a run sees: a bar on a terminal, a line now and then elsewhere."""

import sys
import time
from pathlib import Path
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn

from training.config import TrainingConfig

_LINE_SECONDS = 30.0


class RunDisplay:
    """Shows how a run gets on; to be used as a context manager.

    Args:
        settings: The run's configuration.
        folder: Its folder.
        quiet: Whether to show nothing.
    """

    def __init__(self, settings: TrainingConfig, folder: Path, quiet: bool) -> None:
        self.settings, self.folder, self.quiet = settings, folder, quiet
        self.console = Console(file=sys.stdout, quiet=quiet, soft_wrap=True, highlight=False)
        self.live = self.console.is_terminal and not quiet
        self.score = ""
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._line_at = 0.0
        self._start = (0, 0.0)

    def __enter__(self) -> Self:
        if self.live:
            columns = (SpinnerColumn(), BarColumn(bar_width=30), TextColumn("{task.description}"))
            self._bar = Progress(*columns, console=self.console)
            self._task = self._bar.add_task("starting", total=1.0)
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin(self, run: Any) -> None:
        """Says what is about to be trained."""
        self._start = (run.model.num_timesteps, run.seconds)
        rules = run.ruleset
        known = "goes on" if run.model.num_timesteps else "starts"
        self.console.print(
            f"{known}: {rules.name}, {rules.players} players, double-{rules.set_max}; run: {self.folder}"
        )
        self._line_at = time.perf_counter()

    def tested(self, rows: list[dict[str, Any]]) -> None:
        """Notes the latest scores."""
        self.score = ", ".join(
            f"{row['pips']:.2f} pips to {row['opponent']}'s {row['opponent_pips']:.2f}" for row in rows
        )
        if not self.live:
            self.console.print(f"test: {self.score}")

    def update(self, run: Any) -> None:
        """Shows speed, time left and the latest score."""
        decisions, seconds = run.model.num_timesteps, run.seconds
        done = decisions - self._start[0]
        spent = seconds - self._start[1]
        speed = done / spent if spent > 0 else 0.0
        remaining = run.remaining
        left = seconds * remaining / (1 - remaining) if remaining < 1 and seconds else 0.0
        minutes, rest = divmod(round(left), 60)
        text = f"{decisions:,} decisions, {speed:,.0f}/s, {minutes}:{rest:02d} left"
        if self._bar is not None and self._task is not None:
            shown = f"{text}; {self.score}" if self.score else text
            self._bar.update(self._task, completed=1 - remaining, description=shown)
        elif not self.quiet and time.perf_counter() - self._line_at >= _LINE_SECONDS:
            self._line_at = time.perf_counter()
            self.console.print(text)

    def finished(self, run: Any) -> None:
        """Says that a run has nothing left to do."""
        self.console.print(f"already finished: {run.model.num_timesteps:,} decisions; run: {self.folder}")
        self.console.print(f"export it: mexenv export {self.folder} NAME")

    def end(self, run: Any) -> None:
        """Says where everything is."""
        self.console.print(f"done: {run.model.num_timesteps:,} decisions in {run.seconds / 60:.1f} min")
        self.console.print(f"export it: mexenv export {self.folder} NAME")
