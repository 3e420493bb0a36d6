"""The paths from the kernels to the wrapped environments.

A step is one decision of one player with its action mask, draws and passes counted; resets are paid for, not
counted. Play is random and legal; a finished episode is followed by the next.
"""

from __future__ import annotations

import importlib.util
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mexenv.agents import load_agent
from mexenv.bench.measure import Path, Run, timed
from mexenv.games import SCRIPTED, BatchGame, Game
from mexenv.games.playing import GO_ON
from mexenv.rules import PRESETS, Ruleset, load_ruleset, preset

STEPS = 8  # of a batch, between two looks at the clock
MOVES = 100  # of a game, in one call of a kernel
GREEDY = "greedy for the other seats (learner steps)"


def kernel_paths(ruleset: Ruleset, games: int) -> Iterator[Path]:
    """Random play inside one kernel, which chooses the actions; each game in turn plays `MOVES` of them."""
    for path, layout in (("kernel: rules only", None), ("kernel: mask, base int8", "base")):
        batch = BatchGame(ruleset, games, layout=layout)
        codes = np.zeros(batch.players, np.int64)
        seeds = np.arange(games, dtype=np.uint64)
        each = layout is not None

        def play(batch: BatchGame = batch, codes: Any = codes, seeds: Any = seeds, each: bool = each) -> int:
            return batch._play_all(codes, seeds, MOVES, GO_ON, each=each)

        yield Path(path, games, timed(play))


def _stepped(batch: BatchGame, clock: Callable[[], float]) -> Run:
    """Times `BatchGame.step` alone; the choice of actions is not timed."""
    agent = load_agent("random", batch.ruleset)

    def run() -> tuple[int, float]:
        spent = 0.0
        for _ in range(STEPS):
            actions = agent.act(batch.observations, batch.masks)
            begun = clock()
            batch.step(actions)
            spent += clock() - begun
        return STEPS * batch.n_games, spent

    return run


def batch_paths(ruleset: Ruleset, games: int) -> Iterator[Path]:
    """`BatchGame.step` with random legal actions from Python, whose choice is not timed."""
    for path, options in (
        ("BatchGame.step: mask", {"layout": None}),
        ("BatchGame.step: mask, base int8", {"layout": "base"}),
        ("BatchGame.step: mask, base float32", {"layout": "base", "dtype": np.float32}),
        ("BatchGame.step: mask, plan int8, decisions only", {"layout": "plan", "skip_forced": True}),
    ):
        yield Path(path, games, _stepped(BatchGame(ruleset, games, **options), time.thread_time))


def thread_paths(ruleset: Ruleset, games: int) -> Iterator[Path]:
    """One thread and two, by the clock on the wall: the only measure of what a second thread brings."""
    for threads in (1, 2):
        batch = BatchGame(ruleset, games, threads=threads)
        word = f"BatchGame.step: mask, base int8, {threads} thread{'s' * (threads > 1)}"
        yield Path(word, games, _stepped(batch, time.perf_counter), "wall")


def preset_paths(games: int) -> Iterator[Path]:
    """Every preset, and the largest table, with mask and observation."""
    for name in PRESETS:
        batch = BatchGame(preset(name), games)
        yield Path(f"preset {name}: mask, base int8", games, _stepped(batch, time.thread_time))
    large = load_ruleset("parsons", set_max=18, players=16)
    batch = BatchGame(large, games)
    yield Path("double-18, 16 players: mask, base int8", games, _stepped(batch, time.thread_time))


def _recorded(ruleset: Ruleset, rounds: int) -> list[list[int]]:
    """Rounds of random play, to be played again without the cost of choosing."""
    games = []
    for seed in range(rounds):
        game, rng = Game(ruleset, seed=seed, episode="round"), np.random.default_rng(seed)
        while not game.over:
            game.step(int(rng.choice(game.legal_actions())))
        games.append(game.action_list)
    return games


def _game_path(ruleset: Ruleset, rounds: list[list[int]], dtype: type[Any]) -> Run:
    fresh = [Game(ruleset, seed=seed, episode="round") for seed in range(len(rounds))]

    def run() -> tuple[int, float]:
        steps, spent = 0, 0.0
        for start, actions in zip(fresh, rounds, strict=True):
            game = start.clone()
            begun = time.thread_time()
            for action in actions:
                game.step(action)
                game.action_mask()
                game.observe(dtype=dtype)
            spent += time.thread_time() - begun
            steps += len(actions)
        return steps, spent

    return run


def _chosen_path(ruleset: Ruleset) -> Run:
    """Random play as a user writes it, the choice of the action included."""
    draw = random.Random(0).random
    start = Game(ruleset, seed=0, episode="round")

    def play() -> int:
        game, steps = start.clone(), 0
        while not game.over:
            legal = game.legal_actions()
            game.observe(dtype=np.int8)
            game.step(legal[int(draw() * len(legal))])
            steps += 1
        return steps

    return timed(play)


def _episodes(env: Any) -> Run:
    seeds = iter(range(10**9))

    def run() -> int:
        steps = 0
        env.reset(seed=next(seeds))
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
            else:
                env.step(env.action_space(agent).sample(observation["action_mask"]))
                steps += 1
        return steps

    return timed(run)


def single_paths(ruleset: Ruleset) -> Iterator[Path]:
    """One game: `Game`, the AEC environments, and one learner among opponents."""
    import gymnasium

    from mexenv import mexican_train_v0

    rounds = _recorded(ruleset, 20)
    yield Path("Game: step, mask, base int8", 1, _game_path(ruleset, rounds, np.int8))
    yield Path("Game: step, mask, base float32", 1, _game_path(ruleset, rounds, np.float32))
    yield Path("Game: legal actions, base int8, choice, step", 1, _chosen_path(ruleset))
    yield Path("AEC raw_env: last, sample, step", 1, _episodes(mexican_train_v0.raw_env(ruleset=ruleset)))
    yield Path("AEC env: last, sample, step", 1, _episodes(mexican_train_v0.env(ruleset=ruleset)))
    env = gymnasium.make("mexenv/MexicanTrain-v0", ruleset=ruleset, opponents="greedy")
    seeds = iter(range(10**9))

    def learn() -> int:
        steps, over = 0, False
        _, info = env.reset(seed=next(seeds))
        while not over:
            _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            over = terminated or truncated
            steps += 1
        return steps

    yield Path(f"gymnasium.make, {GREEDY}", 1, timed(learn))


def vector_paths(ruleset: Ruleset, games: int) -> Iterator[Path]:
    """The vector environments; Stable-Baselines3's only where that is installed."""
    from mexenv.envs import MexicanTrainVectorEnv

    agent = load_agent("random", ruleset)
    vector = MexicanTrainVectorEnv(games, ruleset=ruleset, opponents="greedy")
    vector.reset(seed=0)
    yield Path(f"VectorEnv, {GREEDY}", games, _learned(vector, agent))
    if importlib.util.find_spec("stable_baselines3") is not None:
        from mexenv.envs.sb3 import MexicanTrainVecEnv

        stacked = MexicanTrainVecEnv(games, ruleset=ruleset, opponents="greedy")
        stacked.reset()
        yield Path(f"SB3 VecEnv, {GREEDY}", games, _learned(stacked, agent))


def _learned(env: Any, agent: Any) -> Run:
    """Times `step` alone; masks are fetched and actions chosen in between."""

    def run() -> tuple[int, float]:
        spent = 0.0
        for _ in range(STEPS):
            actions = agent.act(None, env.action_masks())
            begun = time.thread_time()
            env.step(actions)
            spent += time.thread_time() - begun
        return STEPS * env.num_envs, spent

    return run


def play_paths(ruleset: Ruleset, games: int) -> Iterator[Path]:
    """Scripted agents in all seats, played by `BatchGame.play`."""
    for agent in SCRIPTED[1:]:
        batch = BatchGame(ruleset, games, layout=None)
        moves = MOVES if agent != "planner" else MOVES // 20

        def play(batch: BatchGame = batch, agent: str = agent, moves: int = moves) -> int:
            return batch.play(agent, moves)

        yield Path(f"BatchGame.play: {agent} in all seats", games, timed(play))


def headline_paths(ruleset: Ruleset, games: int = 1024) -> Iterator[Path]:
    """The paths that a comparison with other libraries needs."""
    yield from kernel_paths(ruleset, games)
    yield from batch_paths(ruleset, games)
    yield from single_paths(ruleset)
    yield from vector_paths(ruleset, games)
