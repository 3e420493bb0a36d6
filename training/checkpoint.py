"""Saving and loading a run's state: one safetensors file with everything, nothing that runs on load.

The file holds the policy's weights, the optimizer's moments and former policies as tensors, and counters as
JSON text in its header. Each file is written under another name and renamed, so that a kill at any moment
leaves the old file or the new one.
"""

import json
import os
from pathlib import Path
from typing import Any

import torch as th
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

FORMAT = 1


class CheckpointError(ValueError):
    """A checkpoint that cannot be loaded; the message says which and why."""


def write_atomic(path: Path, content: bytes) -> None:
    """Writes a file so that readers see the old content or the new one, never a part."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def save_checkpoint(
    path: Path,
    policy: Any,
    counters: dict[str, Any],
    *,
    optimizer: bool = True,
    former: list[Any] | None = None,
) -> None:
    """Writes the state of a training.

    Args:
        path: The file.
        policy: The policy, with its optimizer.
        counters: JSON values to keep beside the tensors.
        optimizer: Whether to keep the optimizer's state, which only going on needs.
        former: Former policies kept as opponents.
    """
    tensors = {f"policy.{name}": value for name, value in policy.state_dict().items()}
    if optimizer:
        for index, state in policy.optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{index}.{name}": th.as_tensor(value) for name, value in state.items()}
    for place, frozen in enumerate(former or []):
        tensors |= {f"former.{place}.{name}": value for name, value in frozen.state_dict().items()}
    header = {"format": str(FORMAT), "counters": json.dumps(counters)}
    kept = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    write_atomic(path, save(kept, header))


def read_checkpoint(path: Path) -> tuple[dict[str, th.Tensor], dict[str, Any]]:
    """Reads a file that `save_checkpoint` wrote.

    Returns:
        The tensors by name, and the counters.

    Raises:
        CheckpointError: If there is no such file, or it is damaged or of another format.
    """
    try:
        with safe_open(path, framework="pt") as stream:
            header = stream.metadata() or {}
            tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118  # not a dict
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such checkpoint") from None
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: cannot be read: {error}") from None
    if header.get("format") != str(FORMAT):
        raise CheckpointError(f"{path}: format {header.get('format')!r}; this version reads format {FORMAT}")
    return tensors, json.loads(header["counters"])


def load_policy(tensors: dict[str, th.Tensor], policy: Any, prefix: str = "policy.") -> None:
    """Puts saved weights into a policy.

    Raises:
        CheckpointError: If they are not those of such a policy.
    """
    weights = {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}
    own = policy.state_dict()
    for name in sorted(own.keys() | weights.keys()):
        mine = tuple(own[name].shape) if name in own else None
        saved = tuple(weights[name].shape) if name in weights else None
        if mine != saved:
            raise CheckpointError(
                f"weights {name}: the checkpoint has shape {saved}, the configured network {mine}; "
                "allowed: the network, ruleset and layout of the run that wrote it"
            )
    policy.load_state_dict(weights)


def load_optimizer(tensors: dict[str, th.Tensor], optimizer: Any) -> None:
    """Puts a saved state into the optimizer of a policy of the same shape."""
    state: dict[int, dict[str, th.Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, index, name = key.split(".", 2)
            state.setdefault(int(index), {})[name] = value
    if state:
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": state, "param_groups": groups})


def former_count(tensors: dict[str, th.Tensor]) -> int:
    """Returns how many former policies a checkpoint holds."""
    return len({name.split(".")[1] for name in tensors if name.startswith("former.")})
