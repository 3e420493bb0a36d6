"""Scripted agents inside the kernels do what they do outside, whoever steps the games."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

from mexenv.agents import PlannerAgent, load_agent
from mexenv.agents.scripted import kernel_code
from mexenv.engine._jit import kernel
from mexenv.engine.state import rules_record
from mexenv.games import SCRIPTED, BatchGame, Game, IllegalActionError
from mexenv.games import arrays as module
from mexenv.games.choosing import draw_legal
from mexenv.games.threads import WorkerThreads
from mexenv.observation import make_layout
from mexenv.observation.encode import base_size, base_starts
from mexenv.rules import PRESETS, Ruleset, preset

SMALL: dict[str, Any] = {"set_max": 6, "players": 4, "hand_size": 5}
ARRAYS = ("games", "masks", "n_legal", "to_move", "observations", "round_pips", "round_out")


def act(batch: BatchGame, name: str, agent: Any) -> np.ndarray:
    seen = None if agent.layout is None else batch.observe(make_layout(agent.layout, batch.ruleset))
    return agent.act(seen, batch.masks)


@pytest.mark.parametrize("options", [{}, {"layout": "plan", "dtype": np.float32, "skip_forced": True}])
@pytest.mark.parametrize("name", SCRIPTED[1:])
@pytest.mark.parametrize("rules", ["parsons", "wikipedia", "dominos_cc"])
def test_play_makes_the_moves_of_the_agents(rules: str, name: str, options: dict[str, Any]) -> None:
    ruleset = preset(rules, **SMALL)
    inside, outside = (BatchGame(ruleset, 30, seed=1, episode="match", **options) for _ in range(2))
    agent = load_agent(name, ruleset)
    for moves in (1, 7, 40):
        assert inside.play(name, moves) == 30 * moves
        paid = np.zeros_like(outside.rewards)
        for _ in range(moves):
            outside.step(act(outside, name, agent))
            paid += outside.rewards
        for array in ARRAYS:
            assert np.array_equal(getattr(inside, array), getattr(outside, array)), array
        assert inside.rewards == pytest.approx(paid, abs=1e-5)


@pytest.mark.parametrize(("n", "threads"), [(1, 1), (2, 1), (1024, 1), (1024, 2)])
def test_the_number_of_games_and_threads_changes_nothing(n: int, threads: int) -> None:
    ruleset = preset("parsons", **SMALL)
    batch = BatchGame(ruleset, n, seed=5, threads=threads, auto_reset=False, layout="plan")
    assert batch._threads == threads
    chosen = np.unique([0, 1, n // 2, n - 1]).clip(0, n - 1)
    alone = {i: BatchGame(ruleset, 1, auto_reset=False, layout="plan") for i in chosen.tolist()}
    for i, single in alone.items():
        single.games[:] = batch.games[i]
        single.refresh()
    agent = load_agent("random", ruleset)
    for _ in range(60):
        actions = agent.act(None, batch.masks)
        batch.step(actions)
        for i, single in alone.items():
            single.step(actions[i : i + 1])
            for array in (*ARRAYS, "rewards", "dones", "round_ended"):
                assert np.array_equal(getattr(single, array)[0], getattr(batch, array)[i]), array


def test_random_play_follows_from_the_seed_alone() -> None:
    ruleset = preset("pagat", **SMALL)
    results = []
    for threads, seed in ((1, 3), (2, 3), (1, 4)):
        batch = BatchGame(ruleset, 1024, seed=0, threads=threads)
        batch.play("random", 50, seed=seed)
        results.append(batch.games.tobytes())
    assert results[0] == results[1] != results[2]


def test_random_play_takes_each_play_equally_often() -> None:
    batch = BatchGame("parsons", 6000)
    batch.games[:] = batch.games[np.flatnonzero(batch.n_legal >= 3)[0]]
    batch.refresh()
    legal = np.flatnonzero(batch.masks[0])
    before = Game.from_record(batch.ruleset, batch.games[:1], batch._options)
    after = {}
    for action in legal.tolist():
        game = before.clone()
        game.step(action)
        after[game._games["order"][0, game._games["n_laid"][0] - 1], game._games["where"].tobytes()] = action
    batch.play("random", 1, seed=9)
    laid = batch.games["order"][np.arange(6000), batch.games["n_laid"] - 1]
    counts = dict.fromkeys(legal.tolist(), 0)
    for tile, record in zip(laid, batch.games, strict=True):
        counts[after[tile, record["where"].tobytes()]] += 1
    share = 6000 / len(legal)
    assert all(abs(count - share) < 5 * share**0.5 for count in counts.values())


def test_agents_by_seat_sit_where_they_are_told() -> None:
    ruleset = preset("parsons", **SMALL)
    names = ["greedy", "own_first", "planner", "greedy"]
    inside, outside = (BatchGame(ruleset, 20, seed=2) for _ in range(2))
    inside.play(names, 25)
    agents = [load_agent(name, ruleset) for name in names]
    for _ in range(25):
        choices = np.stack([act(outside, name, agent) for name, agent in zip(names, agents, strict=True)])
        outside.step(choices[outside.to_move, np.arange(20)])
    assert inside.games.tobytes() == outside.games.tobytes()


@pytest.mark.parametrize("until", ["round", "episode"])
def test_playouts_end_as_the_games_played_on_do(until: str) -> None:
    ruleset = preset("parsons", **SMALL)
    batch = BatchGame(ruleset, 6, seed=4, episode="match")
    batch.play("own_first", 9)
    before = [batch.games.tobytes(), batch.masks.tobytes(), batch.rewards.tobytes()]
    which = np.array([4, 1, 1])
    first = np.array([batch.game(i).legal_actions()[-1] for i in which])
    gains = batch.playout("greedy", games=which, actions=first, until=until, repeats=2)
    assert gains.shape == (3, 2, 4) and gains.dtype == np.float32
    assert [batch.games.tobytes(), batch.masks.tobytes(), batch.rewards.tobytes()] == before
    agent = load_agent("greedy", ruleset)
    for row, (i, action) in enumerate(zip(which.tolist(), first.tolist(), strict=True)):
        game, total = batch.game(i), np.zeros(4)
        game.step(action)
        total += game.rewards
        while not game.over and not (until == "round" and game.round_history):
            game.step(agent(None, game.action_mask()))
            total += game.rewards
        if until == "round":  # later rounds are dealt from another seed
            assert gains[row] == pytest.approx(np.stack([total, total]), abs=1e-5)
    assert (gains[:, 0] != gains[:, 1]).any() == (until == "episode")


def test_a_playout_of_a_game_that_is_over_gains_nothing() -> None:
    batch = BatchGame(preset("parsons", **SMALL), 3, auto_reset=False)
    batch.play("greedy", 1000)
    assert batch.over.all()
    assert not batch.playout("greedy", actions=np.zeros(3, np.int64)).any()
    assert batch.play("greedy", 5) == 0
    assert batch.playout("greedy", games=np.zeros(0, np.int64)).shape == (0, 1, 4)


def test_wrong_calls_are_refused() -> None:
    batch = BatchGame(preset("parsons", **SMALL), 3)
    for call, message in (
        (lambda: batch.play("gready"), "agents: 'gready'; allowed are 'random'"),
        (lambda: batch.play(["greedy"] * 3), "agents: got 3; allowed are 1 name .* or 4"),
        (lambda: batch.play("greedy", 0), "moves 0"),
        (lambda: batch.play("greedy", 2.5), "moves 2.5"),
        (lambda: batch.playout(actions=np.zeros(3)), "actions of shape .3,. and dtype float64"),
        (lambda: batch.playout(actions=np.zeros(1, int)), "actions of shape .1,. and dtype int64"),
        (lambda: batch.observe(batch.layout, games=[1.7]), "games of shape .1,. and dtype float64"),
        (lambda: batch.observe(batch.layout, games=np.ones(3, bool)), "games of shape .3,. and dtype bool"),
        (lambda: batch.playout(repeats=0), "repeats 0"),
        (lambda: batch.playout(until="match"), "until 'match'"),
        (lambda: batch.playout(games=np.array([3])), "games: allowed are whole numbers 0 to 2"),
        (lambda: batch.playout(games=np.array([0.0])), "games of shape .1,. and dtype float64"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    illegal = np.full(3, int(np.flatnonzero(batch.masks[1] == 0)[0]))
    with pytest.raises(IllegalActionError, match=r"game \d: action"):
        batch.playout(actions=illegal)


def test_only_agents_that_do_the_same_are_played_by_kernels() -> None:
    assert [kernel_code(load_agent(name)) for name in SCRIPTED] == [0, 1, 2, 3]

    class Other(PlannerAgent):
        pass

    assert kernel_code(Other()) is None
    assert kernel_code(PlannerAgent(weights=np.zeros(7))) is None
    patched = load_agent("greedy")
    patched.act = lambda observations, masks: masks.argmax(1)
    assert kernel_code(patched) is None


def test_draw_legal_reaches_every_action() -> None:
    for size in (1, 63, 64, 65, 200):
        for legal in ([0], [size - 1], sorted({0, size // 2, size - 1})):
            mask = np.zeros(size, np.int8)
            mask[legal] = 1
            shares = (np.arange(len(legal)) + 0.5) / len(legal)
            assert [draw_legal(mask, float(u)) for u in shares] == legal
        assert draw_legal(np.zeros(size, np.int8), 0.5) == -1


@kernel
def starts(rules: Any) -> tuple[Any, int]:
    return base_starts(rules[0]), base_size(rules[0])


@pytest.mark.parametrize("ruleset", [preset("parsons"), preset("pagat", set_max=18, players=16, hand_size=5),
                                     preset("parsons", set_max=2, players=2, hand_size=1)])  # fmt: skip
def test_kernels_know_where_sections_begin(ruleset: Ruleset) -> None:
    layout = make_layout("base", ruleset)
    names = ("table", "ends", "train_open", "marker", "length", "double_order", "stage", "hand_size",
             "unseen", "lacks", "passed")  # fmt: skip
    found, size = starts(rules_record(ruleset))
    assert dict(zip(names, found, strict=True)) == {name: layout[name].start for name in names}
    assert size == layout.size


@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (18, 18), (12, 8), (15, 9), (16, 3)])
def test_vectors_do_not_pass_the_end_of_a_row(sizes: tuple[int, int]) -> None:
    """What stands behind a row must survive the row's being written."""
    set_max, players = sizes
    ruleset = preset("parsons", set_max=set_max, players=players, hand_size=1)
    batch = BatchGame(ruleset, 1, layout=None)
    layout = make_layout("base", ruleset)
    rows = np.full((3, layout.size), 77, np.int8)
    batch.observe(layout, seats=np.array([players - 1]), out=rows[1:2])
    assert (rows[0] == 77).all() and (rows[2] == 77).all() and (rows[1] != 77).any()


# --- threads --------------------------------------------------------------------------------------


def test_worker_threads_tell_results_and_errors() -> None:
    threads = WorkerThreads(3)
    assert threads.run(lambda k: k * k) == [0, 1, 4]
    for bad in range(3):
        with pytest.raises(ZeroDivisionError):
            threads.run(lambda k, bad=bad: 1 // (k - bad))
    assert threads.run(lambda k: k) == [0, 1, 2]
    for twin in (copy.deepcopy(threads), pickle.loads(pickle.dumps(threads))):
        assert twin.run(lambda k: k) == [0, 1, 2]


@pytest.mark.parametrize("threads", [2, 3, 4])
def test_threads_step_as_one_whether_they_listen_or_sleep(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps at once after each other, after a rest, and after other work; with illegal actions in between."""
    monkeypatch.setattr(module, "_THREAD_GAMES", 8)
    ruleset, rng = preset("parsons", **SMALL), np.random.default_rng(threads)
    agent = load_agent("random", ruleset)
    alone, shared = (BatchGame(ruleset, 203, seed=4, threads=count) for count in (1, threads))
    assert shared._threads == threads
    for turn in range(200):
        actions = agent.act(alone.observations, alone.masks)
        if turn % 7 == 3:
            bad = actions.copy()
            wrong = np.sort(rng.choice(203, 3, replace=False))
            bad[wrong] = [-1, alone.n_actions, 2**40]
            for batch in (alone, shared):
                with pytest.raises(IllegalActionError, match=rf"^game {wrong[0]}: action "):
                    batch.step(bad)
        for batch in (alone, shared):
            batch.step(actions)
            if turn % 11 == 5:
                batch.play("greedy", 2, seed=turn)
        if turn % 13 == 7:
            time.sleep(0.001)
        for name in (
            "games",
            "masks",
            "n_legal",
            "to_move",
            "observations",
            "rewards",
            "dones",
            "round_ended",
        ):
            assert getattr(shared, name).tobytes() == getattr(alone, name).tobytes(), (turn, name)


def test_an_error_in_a_thread_that_listens_is_told_at_the_next_step() -> None:
    threads = WorkerThreads(2)
    done = threading.Event()

    def listen(words: Any, k: int) -> None:
        done.set()
        raise ZeroDivisionError

    threads.awake(listen)
    assert done.wait(10)
    with pytest.raises(ZeroDivisionError):
        for _ in range(1000):
            threads.awake(listen)
            time.sleep(0.001)
    assert threads.run(lambda k: k) == [0, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_THREAD_GAMES", 8)
    batch = BatchGame(preset("parsons", **SMALL), 32, threads=2)
    batch.play("greedy", 2)
    child = os.fork()
    if child == 0:
        batch.play("greedy", 2)
        batch.step(batch.masks.argmax(1))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_batches_and_their_threads_go_when_nobody_holds_them() -> None:
    before = threading.active_count()
    batch = BatchGame(preset("parsons", **SMALL), 600, threads=2)
    for _ in range(5):
        batch.playout("greedy", until="round")
        batch.step(batch.masks.argmax(1))
    gone = weakref.ref(batch)
    del batch
    for _ in range(200):  # a thread that listens for the next step holds the batch for a moment
        gc.collect()
        if gone() is None and threading.active_count() <= before:
            break
        time.sleep(0.05)
    assert gone() is None
    assert threading.active_count() <= before


def test_a_batch_with_threads_can_be_copied() -> None:
    batch = BatchGame(preset("parsons", **SMALL), 512, threads=2)
    batch.play("random", 20)
    for twin in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        actions = batch.masks.argmax(1)
        expected = copy.deepcopy(batch)
        expected.step(actions)
        twin.step(actions)
        assert twin.games.tobytes() == expected.games.tobytes()
        assert twin.observations.tobytes() == expected.observations.tobytes()


def test_every_preset_is_played_by_every_agent() -> None:
    for name in PRESETS:
        batch = BatchGame(preset(name, set_max=6, players=4, hand_size=4), 4)
        for agent in SCRIPTED:
            assert batch.play(agent, 30) == 120
