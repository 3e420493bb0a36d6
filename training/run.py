"""One training run: a folder with its configuration, metrics, checkpoints and best policy."""

import json
import os
import shlex
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
from stable_baselines3.common.callbacks import BaseCallback

from mexenv.agents import load_agent
from training.checkpoint import (
    CheckpointError,
    former_count,
    load_optimizer,
    load_policy,
    read_checkpoint,
    save_checkpoint,
    write_atomic,
)
from training.config import ConfigError, TrainingConfig, load_config
from training.evaluation import TorchAgent, score_rows
from training.folder import (
    BEST,
    LAST,
    TESTS,
    RunError,
    new_folder,
    only_one,
    package_versions,
    run_config,
)
from training.metrics import run_logger
from training.models import build_model, fit_plain_inputs
from training.ppo import SelfPlayPPO
from training.progress import RunDisplay


class RunStopped(KeyboardInterrupt):
    """A run that was stopped by SIGINT or SIGTERM and has been saved; the message says how to go on."""

    def __init__(self, folder: Path, decisions: int) -> None:
        command = f"mexenv train --resume {shlex.quote(str(folder))}"
        super().__init__(f"stopped at {decisions} decisions; go on with: {command}")


def train(
    config: str | Path | TrainingConfig | None = None,
    *,
    resume: str | Path | None = None,
    runs: str | Path = "runs",
    quiet: bool = False,
) -> Path:
    """Trains a policy from a configuration, or goes on with a run.

    Args:
        config: The name of a shipped configuration, the path of a YAML file, or a configuration.
        resume: Folder of a run to go on with; then no other configuration than that run's is taken.
        runs: Where the folder of a new run goes.
        quiet: Whether to show nothing on the screen.

    Returns:
        The run's folder: `config.yaml`, `metrics.csv`, `tensorboard/`, `evaluations.jsonl`,
        `last.safetensors`, `best.safetensors`.

    Raises:
        ConfigError: If the configuration is wrong.
        RunError: If the run to go on with does not exist or has nothing to go on from.
        RunStopped: If SIGINT or SIGTERM came; the run has saved a checkpoint.
    """
    if resume is not None:
        folder = Path(resume)
        settings = run_config(folder)
        if not (folder / LAST).is_file():
            raise RunError(f"{folder}: has no {LAST}; allowed: a run that has reached its first checkpoint")
    else:
        if config is None:
            raise ConfigError("config: missing; allowed: a shipped name such as quickstart, or a YAML file")
        settings = config if isinstance(config, TrainingConfig) else load_config(config)
        folder = new_folder(Path(runs), settings.name)
        write_atomic(folder / "config.yaml", settings.to_yaml().encode())
    with only_one(folder):
        _Run(settings, folder, quiet).go(resumed=resume is not None)
    return folder


class _Run:
    """A run under way."""

    def __init__(self, settings: TrainingConfig, folder: Path, quiet: bool) -> None:
        self.settings, self.folder = settings, folder
        self.display = RunDisplay(settings, folder, quiet)
        self.ruleset = settings.rules()
        # What a checkpoint keeps beside tensors.
        self.seconds = 0.0
        self.best: float | None = None
        self.best_at: int | None = None
        self.next_test = settings.evaluation.every
        self.next_snapshot = settings.opponents.snapshot_every
        self.tested_at = -1
        self.saved, self.saved_at = time.perf_counter(), -1
        self.stopping = self._testing = False

    def go(self, resumed: bool) -> None:
        with self._stoppable():
            self._go(resumed)

    def _go(self, resumed: bool) -> None:
        settings = self.settings
        # Self-play shares its work out itself: PyTorch's threads spin while they wait for each other.
        own = settings.algorithm == "self_play"
        th.set_num_threads(1 if own else settings.threads or os.cpu_count() or 1)
        for name in dict.fromkeys([*settings.evaluation.opponents, *settings.opponents.names]):
            load_agent(name, self.ruleset)  # a wrong name should not be found after an hour
        self.model = build_model(settings)
        if resumed:
            self._load()
            if self.spent() and self.tested_at >= self.model.num_timesteps:
                self.display.finished(self)
                return
        self.model.set_logger(run_logger(self.folder, self.model.num_timesteps))
        if not resumed:
            if not isinstance(self.model, SelfPlayPPO):
                fit_plain_inputs(self.model)
            write_atomic(self.folder / "versions.json", json.dumps(package_versions(), indent=2).encode())
        with self.display:
            self.display.begin(self)
            hooks = _Hooks(self)
            try:
                if not self.spent():
                    # The hooks end the training; this is only more than it can be.
                    self.model.learn(2**60, hooks, log_interval=1, reset_num_timesteps=False)
                if not self.stopping:
                    if self.model.num_timesteps > self.tested_at:
                        self.test()
                    self.save()
                    self.display.end(self)
                    return
            except _TestInterrupted:
                pass
            # Of a rollout under way nothing has been learned: it is not counted.
            if hooks.kept is not None:
                self.model.num_timesteps = hooks.kept
            self.save()
        raise RunStopped(self.folder, self.model.num_timesteps)

    @contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Makes the first SIGINT or SIGTERM a wish to stop at a safe moment; a second one ends at once."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread gets signals
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        # What is ignored stays so, such as SIGINT in the background of a script; None is not Python's.
        before = {number: old for number, old in before.items() if old not in (None, signal.SIG_IGN)}

        def restore() -> None:
            for number, old in before.items():
                signal.signal(number, old)

        def stop(number: int, frame: Any) -> None:
            restore()
            self.stopping = True
            if self._testing:
                raise _TestInterrupted

        for number in before:
            signal.signal(number, stop)
        try:
            yield
        finally:
            restore()

    @property
    def remaining(self) -> float:
        """Share of the run that is still to come, by whichever length runs out first."""
        shares = [0.0]
        if self.settings.decisions is not None:
            shares.append(self.model.num_timesteps / self.settings.decisions)
        if self.settings.minutes is not None:
            shares.append(self.seconds / (60 * self.settings.minutes))
        return max(0.0, 1.0 - max(shares))

    def spent(self) -> bool:
        return self.remaining <= 0.0

    def test(self) -> None:
        test = self.settings.evaluation
        agent = TorchAgent(self.model.policy)
        try:
            self._testing = True
            if self.stopping:
                raise _TestInterrupted
            rows = score_rows(agent, self.ruleset, test.opponents, deals=test.deals, seed=test.seed)
        finally:
            self._testing = False
        for row in rows:
            self.model.logger.record(f"evaluation/{row['opponent']}_pips", row["pips"])
            self.model.logger.record(f"evaluation/{row['opponent']}_went_out", row["went_out"])
        self.display.tested(rows)
        line = {"decisions": self.model.num_timesteps, "seconds": round(self.seconds, 1), "rows": rows}
        write_atomic(self.folder / TESTS, "".join([*self._old_tests(), json.dumps(line) + "\n"]).encode())
        self.tested_at = self.model.num_timesteps
        self.next_test = self.tested_at + test.every
        score = float(np.mean([row["pips"] for row in rows]))
        if self.ruleset.scoring == "winner_takes":
            score = -score  # there points are won
        better = self.best is None or score <= self.best
        if better:
            self.best, self.best_at = score, self.tested_at
        # In this order the best policy is never from beyond the point that the run goes on from.
        self.save()
        if better:
            self._save_best()

    def _save_best(self) -> None:
        save_checkpoint(self.folder / BEST, self.model.policy, self._counters(), optimizer=False)

    def _old_tests(self) -> list[str]:
        """Returns the lines of tests up to now; those of a lost part of the run will be written again."""
        path = self.folder / TESTS
        lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
        return [line for line in lines if json.loads(line)["decisions"] < self.model.num_timesteps]

    def save(self) -> None:
        seats = getattr(self.model, "opponents", None)
        save_checkpoint(
            self.folder / LAST, self.model.policy, self._counters(), former=seats.former if seats else None
        )
        self.saved, self.saved_at = time.perf_counter(), self.model.num_timesteps

    def _counters(self) -> dict[str, Any]:
        return {
            "decisions": self.model.num_timesteps,
            "updates": self.model._n_updates,
            "seconds": self.seconds,
            "best": self.best,
            "best_at": self.best_at,
            "next_test": self.next_test,
            "next_snapshot": self.next_snapshot,
            "tested_at": self.tested_at,
        }

    def _load(self) -> None:
        tensors, counters = read_checkpoint(self.folder / LAST)
        load_policy(tensors, self.model.policy)
        load_optimizer(tensors, self.model.policy.optimizer)
        seats = getattr(self.model, "opponents", None)
        if seats is not None:
            for place in range(former_count(tensors)):
                seats.remember(self.model.policy)
                load_policy(tensors, seats.former[-1], prefix=f"former.{place}.")
        self.model.num_timesteps = counters["decisions"]
        self.model._n_updates = counters["updates"]
        self.seconds, self.best = counters["seconds"], counters["best"]
        self.next_test, self.next_snapshot = counters["next_test"], counters["next_snapshot"]
        self.tested_at = counters["tested_at"]
        self.saved_at = counters["decisions"]
        self._drop_abandoned(counters)
        # The games start anew, so they must not be those of the run's beginning.
        fresh = (self.settings.seed + counters["decisions"]) % 2**31
        self.model.set_random_seed(fresh)
        if isinstance(self.model, SelfPlayPPO):
            self.model.batch.reset(fresh)
            self.model.rollout_buffer.rng = np.random.default_rng(fresh)
        else:
            self.model.env.seed(fresh)

    def _drop_abandoned(self, counters: dict[str, Any]) -> None:
        """Removes what an attempt left that went on beyond the checkpoint and was lost."""
        path, best = self.folder / TESTS, self.folder / BEST
        if path.is_file():
            lines = path.read_text().splitlines(keepends=True)
            kept = [line for line in lines if json.loads(line)["decisions"] <= counters["decisions"]]
            if kept != lines:
                write_atomic(path, "".join(kept).encode())
        found = None
        if best.is_file():
            with suppress(CheckpointError):
                found = read_checkpoint(best)[1]["decisions"]
        # Checkpoints of older versions do not say where the best one is from.
        older = (
            found if self.best is not None and found is not None and found <= counters["decisions"] else None
        )
        self.best_at = counters.get("best_at", older)
        if found == self.best_at:
            return
        if self.best_at == counters["decisions"]:
            self._save_best()  # the run was killed between writing the one and the other
        else:
            best.unlink(missing_ok=True)
            self.best = self.best_at = None


class _TestInterrupted(BaseException):
    """Leaves a test under way, which changes nothing about the run."""


class _Hooks(BaseCallback):
    """Between two rollouts: schedules, tests, snapshots and checkpoints."""

    def __init__(self, run: _Run) -> None:
        super().__init__()
        self.run = run
        self.kept: int | None = None  # decisions that have been learned from
        self._stop = False
        self._mark = time.perf_counter()

    def _on_training_start(self) -> None:
        self._mark = time.perf_counter()

    def _on_rollout_start(self) -> None:
        run, model, settings = self.run, self.run.model, self.run.settings
        run.seconds += time.perf_counter() - self._mark
        self.kept = model.num_timesteps
        ppo, share = settings.ppo, run.remaining
        rate = ppo.final_learning_rate + (ppo.learning_rate - ppo.final_learning_rate) * share
        model.lr_schedule = lambda _: rate
        model.ent_coef = ppo.final_entropy + (ppo.entropy - ppo.final_entropy) * share
        seats = getattr(model, "opponents", None)
        if seats is not None and seats.room and model.num_timesteps >= run.next_snapshot:
            run.next_snapshot = model.num_timesteps + settings.opponents.snapshot_every
            seats.remember(model.policy)
        if model.num_timesteps >= run.next_test:
            run.test()
        # One at once and one after the first update, so that nobody goes on from zero for want of a minute.
        if (
            time.perf_counter() - run.saved >= settings.checkpoint_seconds
            or run.saved_at < 0
            or run.saved_at == 0 < model.num_timesteps
        ):
            run.save()
        run.display.update(run)
        self._stop = run.spent()
        self._mark = time.perf_counter()  # tests are not training time

    def _on_step(self) -> bool:
        # The run's own end is at a rollout's first step, so that no rollout under way is thrown away.
        return not (self._stop or self.run.stopping)
