"""Threads of a batch when something goes wrong: interrupts, exits, no more threads, memory of others."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from mexenv.games import BatchGame, Game
from mexenv.games import arrays as module
from mexenv.games.threads import WorkerThreads
from mexenv.rules import preset

SMALL: dict[str, Any] = {"set_max": 6, "players": 4, "hand_size": 5}


@pytest.fixture(autouse=True)
def threads_for_few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_THREAD_GAMES", 8)


def run_script(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs timers that send signals")
@pytest.mark.parametrize(
    "work", ["b.step((b.masks != 0).argmax(1))", "b.play('random', 30)"], ids=["step", "play"]
)
def test_nothing_goes_on_after_an_interrupt(work: str) -> None:
    """Neither do threads work on after it, nor is the next step lost or refused."""
    told = run_script(f"""
import signal, time, numpy as np
import mexenv.games.arrays as arrays
from mexenv.games import BatchGame
arrays._THREAD_GAMES = 8
b = BatchGame("dominos_cc", 300, seed=1, threads=3)
b.step((b.masks != 0).argmax(1)), b.play("random", 1)
rng = np.random.default_rng(0)
def alarm(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, alarm)
for _ in range(400):
    try:
        signal.setitimer(signal.ITIMER_REAL, 5e-6 + rng.random() * 2e-4)
        {work}
        while True: pass
    except KeyboardInterrupt:
        pass
    at_once = b.games.tobytes()
    time.sleep(0.0003)
    assert b.games.tobytes() == at_once, "threads go on"
    b.step((b.masks != 0).argmax(1))
    assert b.games.tobytes() != at_once, "a step was lost"
print("done")
""")
    assert told == "done\n"


def test_python_ends_whatever_threads_do() -> None:
    told = run_script("""
import atexit
def late():
    b.step((b.masks != 0).argmax(1))
    b.play("greedy", 3)
    print("late")
atexit.register(late)  # runs after the threads have been ended
import mexenv.games.arrays as arrays
from mexenv.games import BatchGame
arrays._THREAD_GAMES = 8
b = BatchGame("dominos_cc", 64, seed=1, threads=3)
b.play("greedy", 3)
b.step((b.masks != 0).argmax(1))
""")
    assert told == "late\n"


def test_threads_that_cannot_start_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    start, refused = threading.Thread.start, []

    def refuse_once(thread: threading.Thread) -> None:
        if len(refused) < 1:
            refused.append(thread)
            raise RuntimeError("can't start new thread")
        start(thread)

    batch = BatchGame(preset("parsons", **SMALL), 64, seed=1, threads=3)
    expected = BatchGame(preset("parsons", **SMALL), 64, seed=1)
    expected.play("greedy", 3)
    monkeypatch.setattr(threading.Thread, "start", refuse_once)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        batch.play("greedy", 3)
    batch.play("greedy", 3)
    assert batch.games.tobytes() == expected.games.tobytes()


def test_work_that_fails_here_is_called_off_elsewhere() -> None:
    threads, done = WorkerThreads(2), []
    threads.run(lambda k: None)

    def work(k: int) -> None:
        if k == 0:
            raise ZeroDivisionError
        done.append(k)

    for _ in range(50):
        with pytest.raises(ZeroDivisionError):
            threads.run(work)
        now = len(done)
        assert threads.run(lambda k: k) == [0, 1]
        assert len(done) == now, "it began after the caller had given up"


@pytest.mark.parametrize("kind", ["batch", "batch with floats", "game"])
def test_memory_that_must_not_be_written_is_not(kind: str) -> None:
    """Arrays unpickled from other buffers, such as bytes or a mapped file, belong to somebody."""
    rules = preset("parsons", **SMALL)
    one: Any = Game(rules, seed=3)
    if kind != "game":
        one = BatchGame(rules, 32, seed=3, threads=2, dtype=np.float32 if "floats" in kind else np.int8)
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(one, 5, buffer_callback=buffers.append)
    memory = [bytes(buffer.raw()) for buffer in buffers]
    before = copy.deepcopy([bytearray(piece) for piece in memory])
    twin = pickle.loads(data, buffers=memory)
    for game in (one, twin):
        if kind == "game":
            for _ in range(10):
                game.step(game.legal_actions()[0])
        else:
            game.play("greedy", 3)
            game.step((game.masks != 0).argmax(1))
    records = [game._games if kind == "game" else game.games for game in (one, twin)]
    assert records[0].tobytes() == records[1].tobytes()
    if kind != "game":
        assert one.observations.tobytes() == twin.observations.tobytes()
    assert [bytearray(piece) for piece in memory] == before


@pytest.mark.parametrize("threads", [1, 2])
def test_results_of_a_finished_game_are_told_once_whatever_its_action(threads: int) -> None:
    batch = BatchGame(preset("parsons", **SMALL), 32, seed=1, threads=threads, auto_reset=False)
    ends = np.zeros(32, int)
    for turn in range(2000):
        actions = (batch.masks != 0).argmax(1)
        actions[batch.over] = [-1, 0, 2**40, -(2**62)][turn % 4]
        batch.step(actions)
        ends += batch.dones
        assert (batch.rewards[batch.dones == 0] == 0).all()
        if batch.over.all() and turn % 4 == 3:
            break
    assert batch.over.all()
    assert (ends == 1).all()


def test_a_refused_action_is_named_as_it_was_given() -> None:
    batch = BatchGame(preset("parsons", **SMALL), 2, seed=1)
    with pytest.raises(ValueError, match=rf"game 0: action {2**64 - 1} is not legal"):
        batch.step(np.full(2, 2**64 - 1, np.uint64))


@pytest.mark.parametrize("games", [[1.5], [[0, 1]], ["a"]])
def test_hidden_hands_are_those_of_games_by_number(games: Any) -> None:
    with pytest.raises(ValueError, match="games of shape"):
        BatchGame(preset("parsons", **SMALL), 2, seed=1).hidden(np.array(games))
