"""Threads that wait for work and share it: what kernels need, which run without the GIL."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any

_Task = Callable[[], Any] | None
_Answer = tuple[Any, BaseException | None]


def _serve(tasks: SimpleQueue[_Task], answers: SimpleQueue[_Answer]) -> None:
    """Carry out tasks until None comes."""
    while (task := tasks.get()) is not None:
        try:
            answers.put((task(), None))
        except BaseException as error:  # told to the caller, whatever it is
            answers.put((None, error))
        # While it waits, a thread must not keep alive what the task was about.
        del task


def _stop(tasks: SimpleQueue[_Task], thread: Thread, process: int) -> None:
    """End a thread, at the latest when Python ends: it must not be cut off inside a kernel."""
    tasks.put(None)
    if thread is not current_thread() and process == os.getpid():
        thread.join()


class WorkerThreads:
    """A fixed number of threads, the caller's included, that start on a task within some 30 microseconds.

    They wait without spinning, so nothing is lost while there is no work. Copies and pickles are new threads,
    and so are those of a forked process.

    Args:
        count: number of threads, at least 1.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._workers: list[tuple[SimpleQueue[_Task], SimpleQueue[_Answer]]] = []
        self._process = -1
        self._busy = False

    def run(self, work: Callable[[int], Any]) -> list[Any]:
        """Call `work` with the number of each thread, in that thread, the caller's being 0.

        Returns:
            What the calls returned, by number. An exception in a thread is raised here when all are done.
        """
        self.start(work)
        try:
            first = work(0)
        finally:
            rest = self.join()
        return [first, *rest]

    def start(self, work: Callable[[int], Any]) -> None:
        """Call `work(k)` in each thread but the caller's, which goes on.

        What was started before is waited for first, and its exceptions are raised here.
        """
        if self.count > 1 and self._process != os.getpid():
            self._begin()
        if self._busy:
            self.join()
        self._busy = bool(self._workers)
        for k, (tasks, _) in enumerate(self._workers, 1):
            tasks.put(partial(work, k))

    def join(self) -> list[Any]:
        """Wait for what was started; returns what the calls returned."""
        found = [answers.get() for _, answers in self._workers] if self._busy else []
        self._busy = False
        for _, error in found:
            if error is not None:
                raise error
        return [result for result, _ in found]

    def _begin(self) -> None:
        self._process = os.getpid()
        self._busy = False
        self._workers = [(SimpleQueue(), SimpleQueue()) for _ in range(1, self.count)]
        for tasks, answers in self._workers:
            thread = Thread(target=_serve, args=(tasks, answers), daemon=True)
            thread.start()
            weakref.finalize(self, _stop, tasks, thread, self._process)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_workers": [], "_process": -1, "_busy": False}

    def __deepcopy__(self, memo: dict[int, Any]) -> WorkerThreads:
        return type(self)(self.count)
