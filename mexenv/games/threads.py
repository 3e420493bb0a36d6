"""Threads that wait for work and share it: what kernels need, which run without the GIL."""

from __future__ import annotations

import atexit
import contextlib
import os
import weakref
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread, current_thread
from typing import Any

import numpy as np

from mexenv.engine._intrinsics import compare_and_swap, give_way, load, pause
from mexenv.engine._jit import inner, kernel

Array = Any

_Tasks = SimpleQueue[Callable[[], None] | None]

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


class _Job:
    """A piece of work for each worker, of which those not begun can be called off."""

    def __init__(self, work: Callable[[int], Any], count: int) -> None:
        self.done: dict[int, tuple[Any, BaseException | None]] = {}
        self._work = work
        self._open = set(range(1, count))
        self._begun: set[int] = set()
        self._hints: SimpleQueue[None] = SimpleQueue()

    def carry_out(self, k: int) -> None:
        """Do the work of thread k, in that thread, unless it was called off."""
        self._begun.add(k)
        if not self._is_open(k):
            self._begun.discard(k)
            return
        try:
            self.done[k] = self._work(k), None
        except BaseException as error:  # told to the caller, whatever it is
            self.done[k] = None, error
        self._hints.put(None)

    def _is_open(self, k: int) -> bool:
        try:
            self._open.remove(k)  # one operation, so that a worker or the caller has it
        except KeyError:
            return False
        return True

    def wait(self) -> None:
        """Wait until all is done."""
        while self._open or self._begun - self.done.keys():
            self._wait_for_a_hint(1.0)

    def call_off(self) -> None:
        """Let no more work begin, and wait for what has begun, whoever interrupts."""
        while self._open or self._begun - self.done.keys():
            with contextlib.suppress(BaseException):
                self._open.clear()
                self._wait_for_a_hint(0.01)

    def _wait_for_a_hint(self, seconds: float) -> None:
        with contextlib.suppress(Empty):
            self._hints.get(timeout=seconds)


def _serve(tasks: _Tasks) -> None:
    """Carry out tasks until None comes."""
    try:
        while (task := tasks.get()) is not None:
            task()
            # While it waits, a thread must not keep alive what the task was about.
            del task
    finally:
        _serving.pop(current_thread(), None)


_serving: dict[Thread, _Tasks] = {}
_ended = False


@atexit.register
def _end_all() -> None:
    """End all threads before Python ends: they must not be cut off inside a kernel."""
    global _ended
    _ended = True
    threads = list(_serving.items())
    for _, tasks in threads:
        tasks.put(None)
    for thread, _ in threads:
        thread.join()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_serving.clear)


class WorkerThreads:
    """A fixed number of threads, the caller's included.

    Between two pieces of work they sleep, from which a thread takes some 30 microseconds to wake up. After a
    kernel that listens for calls they look for the next call for as long before they sleep, and then start at
    once. Copies and pickles are new threads, and so are those of a forked process. While Python ends, the
    caller does all the work.

    Args:
        count: number of threads, at least 1.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._tasks: list[_Tasks] = []
        self._words = np.zeros(0, np.int64)
        self._process = -1
        self._error: BaseException | None = None

    def run(self, work: Callable[[int], Any]) -> list[Any]:
        """Call `work` with the number of each thread, in that thread, the caller's being 0.

        An exception is raised here when nobody works any more.

        Returns:
            What the calls returned, by number.
        """
        self._begin()
        if not self._tasks:
            return [work(k) for k in range(self.count)]
        send_workers_to_sleep(self._words)
        job = _Job(work, self.count)
        try:
            for k, tasks in enumerate(self._tasks, 1):
                tasks.put(partial(job.carry_out, k))
            first = work(0)
            job.wait()
        finally:
            job.call_off()
        rest = [job.done[k] for k in range(1, self.count)]
        for _, error in rest:
            if error is not None:
                raise error
        return [first, *(result for result, _ in rest)]

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
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        for k, tasks in enumerate(self._tasks):
            if words[k * LINE] == ASLEEP:
                try:
                    words[k * LINE] = WAITING
                    tasks.put(partial(self._listen, listen, k + 1))
                except BaseException:  # an interrupt: whether the worker comes or not, it is to sleep
                    words[k * LINE] = ASLEEP
                    raise
        return words

    def _listen(self, listen: Callable[[Array, int], Any], k: int) -> None:
        try:
            listen(self._words, k)
        except BaseException as error:  # told to the caller when it calls next
            self._words[(k - 1) * LINE] = ASLEEP
            self._error = error

    def _begin(self) -> None:
        """Start the threads, if there are none yet in this process."""
        if self._process == os.getpid() and not _ended:
            return
        tasks: list[_Tasks] = []
        try:
            for _ in range(0 if _ended else self.count - 1):
                tasks.append(SimpleQueue())
                thread = Thread(target=_serve, args=tasks[-1:], daemon=True)
                thread.start()
                _serving[thread] = tasks[-1]
            self._words = np.zeros(len(tasks) * LINE, np.int64)
            self._tasks = tasks
            weakref.finalize(self, _end, tasks).atexit = False
            self._process = os.getpid()
        except BaseException:
            _end(tasks)
            raise

    def __reduce__(self) -> tuple[type[WorkerThreads], tuple[int]]:
        return type(self), (self.count,)


def _end(threads: list[_Tasks]) -> None:
    """End threads without waiting for them, since this may be said anywhere, by the garbage collector."""
    for tasks in threads:
        tasks.put(None)
