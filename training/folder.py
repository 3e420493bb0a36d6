"""A run's folder: what is in it, who may write to it, and the policy that came of it."""

import platform
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from training.checkpoint import load_policy, read_checkpoint
from training.config import TrainingConfig, load_config
from training.models import build_model
from training.networks import ActionScoringPolicy

LAST, BEST = "last.safetensors", "best.safetensors"
TESTS = "evaluations.jsonl"


class RunError(ValueError):
    """A run that cannot be started or gone on with; the message says which and why."""


def run_config(folder: Path) -> TrainingConfig:
    """Returns the configuration of a run.

    Raises:
        RunError: If the folder is not that of a run.
    """
    if not (folder / "config.yaml").is_file():
        raise RunError(f"{folder}: is not a run; allowed: a folder with config.yaml, such as runs/NAME-TIME")
    return load_config(folder / "config.yaml")


def load_run_policy(folder: str | Path, which: str = BEST) -> tuple[ActionScoringPolicy, TrainingConfig]:
    """Returns the policy of a run, the best one in its tests, and the run's configuration.

    Args:
        folder: The run's folder.
        which: The file to load.

    Raises:
        RunError: If the folder is not that of a run, or the run has no such file yet.
    """
    folder = Path(folder)
    settings = run_config(folder)
    path = folder / which
    if not path.is_file():
        raise RunError(
            f"{folder}: has no tested policy yet (no {which}); allowed: a run that has been tested; "
            f"to go on with this one: mexenv train --resume {shlex.quote(str(folder))}"
        )
    model = build_model(settings, games=1)
    tensors, _ = read_checkpoint(path)
    load_policy(tensors, model.policy)
    model.policy.set_training_mode(False)
    return model.policy, settings


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Keeps two processes from writing to one run; the lock ends with its process, however that ends."""
    try:
        import fcntl
    except ImportError:  # not on Windows, where nothing guards against it
        yield
        return
    with (folder / ".lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{folder}: another process is training it") from None
        yield


def new_folder(runs: Path, name: str) -> Path:
    """Makes a folder for a run that begins now."""
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    for number in range(1000):
        folder = runs / (f"{name}-{stamp}" + (f"-{number}" if number else ""))
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise RunError(f"{runs}: no free name for a run called {name}")


def package_versions() -> dict[str, str]:
    """Returns the versions of what a run's numbers depend on."""
    packages = ("mexenv", "torch", "numpy", "numba", "stable_baselines3", "sb3_contrib")
    versions = {name: version(name) for name in packages}
    return {"python": platform.python_version(), **versions}
