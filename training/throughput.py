"""How fast training is, how that compares with plain ways, and where the time goes.

`python -m training.throughput` trains a shipped configuration in turns within one process: by self-play with
one thread and more, and the plain way, which is sb3-contrib's MaskablePPO on a DummyVecEnv of single-learner
environments, with the same network (but for hidden hands, which it cannot show a critic), epochs and number
of minibatches. It also updates one policy from the same rollouts twice, with this project's update and with
MaskablePPO's own. Decisions count that a learner made; rollouts and updates are timed, tests and checkpoints
are not. `--profile` shows the phases of an iteration instead.
"""

import argparse
import copy
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from rich.console import Console
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from mexenv.envs import SeatEnv
from training.config import TrainingConfig, load_config
from training.models import build_model
from training.networks import ActionScoringPolicy
from training.ppo import SelfPlayPPO
from training.profiling import profile, profile_table

PLAIN_DECISIONS = 8192
"""Decisions between two updates of the plain way at most, so that a turn of it takes seconds."""


def measure(
    config: TrainingConfig,
    *,
    turns: int = 3,
    threads: Sequence[int] = (1, 2),
    plain_envs: int = 32,
) -> dict[str, Any]:
    """Trains all ways in turn and returns their speeds.

    Args:
        config: What to train, with algorithm `self_play`.
        turns: How often each way trains; medians count. A turn is one rollout and its update.
        threads: Numbers of threads for self-play; the plain way has one.
        plain_envs: Environments in the DummyVecEnv.

    Returns:
        `self_play` by number of threads, `plain`, and `update` by its two ways, each with decisions a second
        by `wall` clock and by `cpu` time of all threads together, and with all turns. `ratio_to_plain` and
        `ratio_to_stock_update` are of CPU time on one thread, so that other programs do not matter;
        `ratio_with_stock_update` is that of whole iterations.
    """
    th.set_num_threads(1)
    models = {str(count): _self_play(config, threads=count) for count in threads}
    both = _self_play(config, threads=1, keep_observations=True)
    plain = _plain(config, plain_envs)
    for model in (*models.values(), both, plain):
        model.set_logger(Logger(None, []))
        model.learn(1)  # compiles, allocates
    speeds: dict[str, list[dict[str, float]]] = {}

    def note(name: str, decisions: int, spent: dict[str, float]) -> None:
        speeds.setdefault(name, []).append({clock: decisions / value for clock, value in spent.items()})

    for turn in range(turns):
        for name, model in (*models.items(), ("plain", plain)):
            start = model.num_timesteps
            spent = _timed(lambda model=model: model.learn(1, reset_num_timesteps=False))
            note(name, model.num_timesteps - start, spent)
        rollout, updates = _both_updates(both, turn)
        for way, spent in updates.items():
            note(f"{way} update", both.rollout_buffer.complete, spent)
            whole = {clock: value + rollout[clock] for clock, value in spent.items()}
            note(f"{way} whole", both.rollout_buffer.complete, whole)
    figures = {name: _figures(values) for name, values in speeds.items()}
    alone = figures[str(threads[0])]["cpu"]
    return {
        "config": config.name,
        "self_play": {str(count): figures[str(count)] for count in threads},
        "plain": figures["plain"],
        "update": {way: figures[f"{way} update"] for way in ("lists", "stock")},
        "ratio_to_plain": alone / figures["plain"]["cpu"],
        "ratio_to_stock_update": figures["lists update"]["cpu"] / figures["stock update"]["cpu"],
        "ratio_with_stock_update": figures["lists whole"]["cpu"] / figures["stock whole"]["cpu"],
    }


def speed_table(result: dict[str, Any]) -> Table:
    """Returns what `measure` found as a table."""
    table = Table(title=f"{result['config']}: decisions a second")
    table.add_column("what")
    for heading in ("CPU time", "wall clock"):
        table.add_column(heading, justify="right")
    rows = {f"self-play, {count} thread(s)": row for count, row in result["self_play"].items()}
    rows["plain MaskablePPO, DummyVecEnv"] = result["plain"]
    rows["update alone"] = result["update"]["lists"]
    rows["update alone, MaskablePPO's"] = result["update"]["stock"]
    for name, row in rows.items():
        table.add_row(name, f"{row['cpu']:,.0f}", f"{row['wall']:,.0f}")
    table.caption = (
        f"CPU time, one thread: self-play is {result['ratio_to_plain']:.1f} times as fast as plain, "
        f"the update {result['ratio_to_stock_update']:.1f} times as fast as MaskablePPO's, "
        f"rollout and update {result['ratio_with_stock_update']:.1f} times"
    )
    return table


def _self_play(config: TrainingConfig, threads: int, keep_observations: bool = False) -> SelfPlayPPO:
    return build_model(config.model_copy(update={"threads": threads}), keep_observations=keep_observations)


def _plain(config: TrainingConfig, envs: int) -> MaskablePPO:
    rules, ppo, network = config.rules(), config.ppo, config.network

    def seat_env() -> SeatEnv:
        return SeatEnv(
            "own_first", seat="rotate", observation="flat", ruleset=rules, layout=config.layout,
            engine=config.engine, skip_forced=True,
        )  # fmt: skip

    env = DummyVecEnv([seat_env] * envs)
    rollout = min(ppo.rollout, PLAIN_DECISIONS)
    sizes: dict[str, Any] = {"trunk": network.trunk, "hidden": network.hidden, "critic": network.critic}
    layout = env.envs[0].layout  # type: ignore[attr-defined]
    return MaskablePPO(
        ActionScoringPolicy,
        env,
        n_steps=max(2, rollout // envs),
        batch_size=max(8, ppo.batch_size * rollout // ppo.rollout),
        n_epochs=ppo.epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        learning_rate=ppo.learning_rate,
        seed=config.seed,
        device="cpu",
        policy_kwargs={**sizes, "ruleset": rules, "layout": layout},
    )


def _timed(work: Callable[[], Any]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def _both_updates(model: SelfPlayPPO, turn: int) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Collects a rollout and learns from it both ways, each time from the same weights.

    Returns:
        Seconds of the rollout, and of the update by its ways.
    """
    _, callback = model._setup_learn(1, None, reset_num_timesteps=False)
    rollout = _timed(lambda: model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps))
    weights, moments = (copy.deepcopy(part.state_dict()) for part in (model.policy, model.policy.optimizer))
    spent: dict[str, dict[str, float]] = {}
    for way in ("lists", "stock") if turn % 2 == 0 else ("stock", "lists"):
        model.policy.load_state_dict(weights)
        model.policy.optimizer.load_state_dict(copy.deepcopy(moments))
        model.update = way
        spent[way] = _timed(model.learn_from_rollout)
    model.update = "lists"
    return rollout, spent


def _figures(turns: list[dict[str, float]]) -> dict[str, Any]:
    medians = {clock: float(np.median([turn[clock] for turn in turns])) for clock in ("cpu", "wall")}
    return {**medians, "turns": turns}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures from the command line and prints a table."""
    parser = argparse.ArgumentParser(
        prog="python -m training.throughput",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", nargs="?", default="dominos_cc", help="a shipped configuration or a file")
    parser.add_argument("--turns", type=int, default=3, help="turns of each way, or iterations to profile")
    parser.add_argument("--threads", type=int, nargs="+", help="numbers of threads (1 2; profiling: 1)")
    parser.add_argument("--profile", action="store_true", help="show where an iteration's time goes")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    given = parser.parse_args(arguments)
    try:
        config = load_config(given.config)
    except ValueError as error:
        parser.exit(1, f"error: {error}\n")
    if config.algorithm != "self_play":
        parser.exit(1, f"error: algorithm={config.algorithm!r}: allowed is 'self_play'\n")
    threads = given.threads or ([1] if given.profile else [1, 2])
    if given.profile:
        results = [
            profile(config.model_copy(update={"threads": count}), iterations=given.turns) for count in threads
        ]
        result, tables = {"profiles": results}, [profile_table(each) for each in results]
    else:
        result = measure(config, turns=given.turns, threads=threads)
        tables = [speed_table(result)]
    for table in tables:
        Console(highlight=False).print(table)
    if given.json:
        given.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
