"""What a run writes and shows while it goes: a CSV file, TensorBoard, and one line on the screen."""

import csv
import io
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat

from training.checkpoint import write_atomic


class CsvMetrics(KVWriter):
    """A CSV file that a resumed run goes on with.

    Args:
        path: The file; rows of an earlier part of the run are kept.
        decisions: Drop earlier rows from beyond this many decisions; they will be written again.
    """

    def __init__(self, path: Path, decisions: int) -> None:
        self.path = path
        self.rows: list[dict[str, str]] = []
        self.columns: list[str] = ["decisions"]
        if path.is_file():
            with path.open(newline="", encoding="utf-8") as stream:
                reader = csv.DictReader(stream)
                self.columns = list(reader.fieldnames or self.columns)
                self.rows = [row for row in reader if float(row["decisions"] or 0) <= decisions]
            self._write_all()

    def write(
        self,
        key_values: dict[str, Any],
        key_excluded: dict[str, tuple[str, ...]],
        step: int = 0,
    ) -> None:
        """Adds a row."""
        row = {"decisions": str(step)}
        for key, value in sorted(key_values.items()):
            if hasattr(value, "__float__"):
                row[key] = f"{float(value):.6g}"
        self.rows.append(row)
        if set(row) <= set(self.columns) and self.path.is_file():
            with self.path.open("a", newline="", encoding="utf-8") as stream:
                csv.DictWriter(stream, self.columns).writerow(row)
        else:
            self.columns += [key for key in row if key not in self.columns]
            self._write_all()

    def _write_all(self) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, self.columns)
        writer.writeheader()
        writer.writerows(self.rows)
        write_atomic(self.path, text.getvalue().encode())

    def close(self) -> None:
        """Nothing is open between rows."""


def run_logger(folder: Path, decisions: int) -> Logger:
    """Returns a logger that writes `metrics.csv` and TensorBoard files below a run's folder.

    Args:
        folder: The run's folder.
        decisions: Where the run stands.
    """
    board = TensorBoardOutputFormat(str(folder / "tensorboard"))
    return Logger(str(folder), [CsvMetrics(folder / "metrics.csv", decisions), board])
