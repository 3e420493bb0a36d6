"""Threads that wait for work and share it: what kernels need, which run without the GIL."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import Any

import numpy as np

from mexenv.engine._intrinsics import compare_and_swap, give_way, load, pause
from mexenv.engine._jit import inner, kernel

Array = Any

_Answer = tuple[int, Any, BaseException | None]
_Task = tuple[Callable[[int], Any], int, SimpleQueue[_Answer]]

ASLEEP, WAITING, CALLED, RUNNING = range(4)
"""What a worker does: it waits in Python, which takes long to wake up from, or in a kernel, or works."""

LINE = 8
"""A worker's word is the first of so many int64, a line of a cache: threads take lines from each other."""

PATIENCE = 100
"""How often a worker looks for a call before it goes to sleep: for somewhat longer than waking up takes."""


@inner
def wait_a_little() -> None:
    """Wait for half a microsecond or so, or for longer if another thread waits for this core."""
    for _ in range(16):
        pause()
    give_way()


@inner
def call_workers(words: Array) -> None:
    """Call the workers that wait in a kernel, where words (int64 [workers * LINE]) say what each does."""
    for k in range(words.shape[0] // LINE):
        compare_and_swap(words, k * LINE, WAITING, CALLED)


@kernel
def send_workers_to_sleep(words: Array) -> None:
    """Have workers that wait in a kernel wait in Python, where they can be given any work."""
    for k in range(words.shape[0] // LINE):
        compare_and_swap(words, k * LINE, WAITING, ASLEEP)


@inner
def is_called(words: Array, k: int) -> bool:
    """Wait for a call of worker `k`, in that worker; False if it is to sleep."""
    looks = 0
    while True:
        does = load(words, k * LINE)
        if does == CALLED and compare_and_swap(words, k * LINE, CALLED, RUNNING):
            return True
        if does == ASLEEP:
            return False
        looks += 1
        if looks > PATIENCE and compare_and_swap(words, k * LINE, WAITING, ASLEEP):
            return False
        wait_a_little()


@inner
def take_back_calls(words: Array) -> None:
    """Take back the calls that no worker has heard, and wait for workers at work."""
    for k in range(words.shape[0] // LINE):
        compare_and_swap(words, k * LINE, CALLED, WAITING)
        while load(words, k * LINE) == RUNNING:
            wait_a_little()


def _serve(tasks: SimpleQueue[_Task | None]) -> None:
    """Carry out tasks until None comes."""
    while (task := tasks.get()) is not None:
        work, k, answers = task
        try:
            answers.put((k, work(k), None))
        except BaseException as error:  # told to the caller, whatever it is
            answers.put((k, None, error))
        # While it waits, a thread must not keep alive what the task was about.
        del task, work, answers


def _stop(tasks: SimpleQueue[_Task | None], thread: Thread, process: int) -> None:
    """End a thread, at the latest when Python ends: it must not be cut off inside a kernel."""
    tasks.put(None)
    if thread is not current_thread() and process == os.getpid():
        thread.join()


class WorkerThreads:
    """A fixed number of threads, the caller's included.

    Between two pieces of work they sleep, from which a thread takes some 30 microseconds to wake up. After a
    kernel that listens for calls they look for the next call for as long before they sleep, and then start at
    once. Copies and pickles are new threads, and so are those of a forked process.

    Args:
        count: number of threads, at least 1.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._tasks: list[SimpleQueue[_Task | None]] = []
        self._words = np.zeros(0, np.int64)
        self._left: SimpleQueue[_Answer] = SimpleQueue()
        self._process = -1

    def run(self, work: Callable[[int], Any]) -> list[Any]:
        """Call `work` with the number of each thread, in that thread, the caller's being 0.

        Returns:
            What the calls returned, by number. An exception in a thread is raised here when all are done.
        """
        self._begin()
        send_workers_to_sleep(self._words)
        answers: SimpleQueue[_Answer] = SimpleQueue()
        for k, tasks in enumerate(self._tasks, 1):
            tasks.put((work, k, answers))
        results = [None] * self.count
        try:
            results[0] = work(0)
        finally:
            found = [answers.get() for _ in self._tasks]
        for k, result, error in found:
            if error is not None:
                raise error
            results[k] = result
        return results

    def awake(self, listen: Callable[[Array, int], Any]) -> Array:
        """Have all workers wait in a kernel, those on their way there included.

        Args:
            listen: calls the kernel, always the same one, with the words and the number of the thread. There
                a worker works as often as `is_called` says so, and then says that it is `WAITING`. The caller
                begins with `call_workers`, takes its own share of the work, all of it if nobody hears the
                call, and ends with `take_back_calls`.

        Returns:
            int64 [workers * LINE], the words that those functions take.
        """
        self._begin()
        words = self._words
        while not self._left.empty():
            _, _, error = self._left.get()
            if error is not None:
                send_workers_to_sleep(words)
                raise error
        for k, tasks in enumerate(self._tasks):
            if words[k * LINE] == ASLEEP:
                try:
                    words[k * LINE] = WAITING
                    tasks.put((partial(listen, words), k + 1, self._left))
                except BaseException:  # an interrupt: whether the worker comes or not, it is to sleep
                    words[k * LINE] = ASLEEP
                    raise
        return words

    def _begin(self) -> None:
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        self._words = np.zeros((self.count - 1) * LINE, np.int64)
        self._tasks = [SimpleQueue() for _ in range(1, self.count)]
        for tasks in self._tasks:
            thread = Thread(target=_serve, args=(tasks,), daemon=True)
            thread.start()
            weakref.finalize(self, _stop, tasks, thread, self._process)

    def __reduce__(self) -> tuple[type[WorkerThreads], tuple[int]]:
        return type(self), (self.count,)
