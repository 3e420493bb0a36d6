"""Worker processes that measure in turns, so that noise on the machine meets all of them alike."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TypeVar

from installing import reason_in, surroundings

WORKER = Path(__file__).parent / "neighbours" / "worker.py"
START_PATIENCE = 900.0
"""Wall seconds that a worker may take to import, compile and warm up."""

_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JAX_PLATFORMS": "cpu",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


class WorkerError(Exception):
    """A worker could not go on; the message is the reason."""


class Measuring(Protocol):
    """What takes turns."""

    def turn(self, seconds: float) -> tuple[int, float]:
        """Measure for about so many seconds; returns steps and seconds."""


Name = TypeVar("Name")


class Worker:
    """A process that answers each line of JSON with one.

    Args:
        python: its interpreter.
        arguments: of `neighbours/worker.py`, or of another script that `script` names.
        script: what it runs.
    """

    def __init__(self, python: Path, arguments: Sequence[str], script: Path = WORKER) -> None:
        # This project may well be found by PYTHONPATH; it runs with the interpreter that runs this.
        own = str(python) == sys.executable
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
        self._process = subprocess.Popen(
            [str(python), str(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, **_ONE_THREAD} if own else surroundings(**_ONE_THREAD),
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def answer(self, patience: float, request: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Read an answer, after sending the request if there is one.

        Raises:
            WorkerError: If the process ends, is silent for more than `patience` seconds, or talks nonsense.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(patience, give_up)
        timer.start()
        try:
            if request is not None:
                self._process.stdin.write(json.dumps(request) + "\n")
                self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if late.is_set():
            raise WorkerError(f"no answer within {patience:.0f} seconds")
        if not line:
            raise WorkerError(self._why())
        try:
            return dict(json.loads(line))
        except (ValueError, TypeError):
            raise WorkerError(f"not an answer: {line.strip()[:200]}") from None

    def turn(self, seconds: float, patience: float | None = None) -> tuple[int, float]:
        """Measure for about so many seconds; returns steps and seconds."""
        given = 120 + 30 * seconds if patience is None else patience
        answer = self.answer(given, {"seconds": seconds})
        return int(answer["steps"]), float(answer["seconds"])

    def close(self) -> None:
        """End the process; more than one call does no harm."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()

    def _why(self) -> str:
        """The reason that a process has closed its output."""
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            return "no answer any more"
        if code < 0:
            return f"ended by signal {-code}"
        self._errors.seek(0)
        return reason_in(self._errors.read().decode(errors="replace")) or f"ended with exit code {code}"


def interleave(
    workers: Mapping[Name, Measuring],
    turns: int,
    seconds: float,
    failed: Callable[[Name, str], None],
    began: Callable[[int], None] = lambda turn: None,
) -> dict[Name, list[float]]:
    """Give everybody a first turn, then everybody a second one, and so on.

    Args:
        workers: who takes turns, in this order.
        turns: how many each.
        seconds: how long each is.
        failed: called with whoever cannot go on, who gets no more turns, and the reason.
        began: called with the number of each turn, from 1.

    Returns:
        The speed of each turn, of those who took all of them.
    """
    speeds: dict[Name, list[float]] = {name: [] for name in workers}
    for number in range(1, turns + 1):
        began(number)
        for name in list(speeds):
            try:
                steps, spent = workers[name].turn(seconds)
            except WorkerError as error:
                del speeds[name]
                failed(name, str(error))
            else:
                speeds[name].append(steps / spent)
    return speeds
