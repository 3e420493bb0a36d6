"""From a run to a policy that plays without PyTorch: `policy.onnx` and `manifest.json` in one folder."""

import contextlib
import ctypes
import hashlib
import io
import json
import logging
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch as th
import yaml
from torch import nn

from mexenv.agents import PolicyAgent
from mexenv.games import BatchGame
from mexenv.observation import ObservationLayout
from mexenv.rules import PRESETS, ActionLayout, Ruleset, RulesetError, load_ruleset
from training.evaluation import score_rows
from training.networks import ILLEGAL, ActionScoringPolicy

FORMAT = 1
WEIGHTS = "policy.onnx"
RULES = "ruleset.yaml"
STALE_SECONDS = 3600
TOLERANCE = 1e-4
TESTED_AGAINST = ("own_first", "planner")
TEST_SEED = 77_003  # other deals than those that chose the best policy


class ExportError(RuntimeError):
    """An export that cannot be made, or that does not equal the policy it came from."""


def export(
    run: str | Path,
    name: str,
    *,
    checkpoints: str | Path = "checkpoints",
    deals: int = 1000,
    replace: bool = False,
) -> Path:
    """Exports the best policy of a run.

    Args:
        run: The run's folder.
        name: What to call the policy.
        checkpoints: Where its folder goes.
        deals: Deals in the tests whose results are kept beside it; 0 for none.
        replace: Whether an existing policy of that name may be replaced.

    Returns:
        The policy's folder.

    Raises:
        RunError: If there is no such run, or it has no tested policy yet.
        ExportError: See `export_policy`.
    """
    # A run's folder needs much that a plain export of a policy does not.
    from training.folder import load_run_policy

    _check_name(name)
    folder = Path(checkpoints) / name
    _check_target(folder, replace)
    policy, settings = load_run_policy(run)
    return export_policy(policy, folder, training=settings.to_dict(), deals=deals, replace=replace)


def play_command(folder: Path, command: str = "evaluate") -> str:
    """Returns a command line, to be used as it stands, in which an exported policy meets `planner`.

    Args:
        folder: The policy's folder.
        command: `evaluate` or `play`.
    """
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    rules = Ruleset(**manifest["ruleset"])
    name = _preset_of(rules)
    source = str(folder / RULES) if name is None else name
    words = [_program(), command, str(folder), "planner", "--ruleset", source]
    if name is not None and load_ruleset(name).players != rules.players:
        words += ["--players", str(rules.players)]
    return shlex.join(words)


def _program() -> str:
    """Returns what to call `mexenv` by: not everybody has activated the environment that this runs in."""
    beside = Path(sys.executable).with_name("mexenv")
    return str(beside) if shutil.which("mexenv") is None and beside.is_file() else "mexenv"


def _preset_of(rules: Ruleset) -> str | None:
    """Returns the preset that is this game with this number of players; None if there is none."""
    for name in sorted(PRESETS, key=lambda name: name != rules.name):
        with contextlib.suppress(RulesetError):  # not every preset takes every number of players
            if load_ruleset(name, players=rules.players).digest == rules.digest:
                return name
    return None


class PlayingNetwork(nn.Module):
    """The part of a policy that playing needs, from scaled observations and masks to logits.

    Args:
        policy: The policy.
    """

    def __init__(self, policy: ActionScoringPolicy) -> None:
        super().__init__()
        self.features, self.actor = policy.features, policy.actor

    def forward(self, observation: th.Tensor, action_mask: th.Tensor) -> th.Tensor:
        """Returns logits, float32 `[batch, n_actions]`; `ILLEGAL` where the mask is zero.

        Args:
            observation: float32 `[batch, size]`, scaled.
            action_mask: int8 `[batch, n_actions]`.
        """
        position = self.features.position(observation)
        listed = th.nonzero(action_mask != 0)  # onnxruntime has no NonZero for int8
        rows, actions = listed[:, 0], listed[:, 1]
        scores = self.actor(
            self.features.state(position), rows, self.features.actions(position, rows, actions)
        )
        full = th.full_like(action_mask, ILLEGAL, dtype=th.float32)
        return full.index_put((rows, actions), scores)


def onnx_bytes(policy: ActionScoringPolicy) -> bytes:
    """Returns the policy as one ONNX file with any batch size."""
    network = PlayingNetwork(policy).eval().cpu()
    size, n_actions = policy.features.observation_size, int(policy.action_space.n)
    masks = th.zeros(3, n_actions, dtype=th.int8)
    masks[:, -3:] = 1
    batch = th.export.Dim("batch", min=1)
    target = io.BytesIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), _silenced():
        warnings.simplefilter("ignore")
        program = th.onnx.export(
            network,
            (th.zeros(3, size), masks),
            dynamo=True,
            input_names=["observation", "action_mask"],
            output_names=["logits"],
            dynamic_shapes={"observation": {0: batch}, "action_mask": {0: batch}},
            external_data=False,
            verbose=False,
        )
    assert program is not None
    program.save(target, external_data=False)
    return target.getvalue()


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Keeps the exporter's remarks about its own workings off the screen; errors are raised all the same."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def largest_difference(
    weights: bytes, policy: ActionScoringPolicy, positions: int = 1000, seed: int = 0
) -> float:
    """Compares an ONNX file with the policy on positions from real games.

    Args:
        weights: The file's content.
        policy: The policy that it should equal.
        positions: How many positions.
        seed: Seed of the games.

    Returns:
        The largest difference between legal actions' logits.

    Raises:
        ExportError: If an illegal action does not get `ILLEGAL`.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    worst = 0.0
    for observations, masks in _positions(policy.ruleset, policy.layout, positions, seed):
        with th.no_grad():
            expected = policy.logits(th.from_numpy(observations), th.from_numpy(masks)).numpy()
        inputs = {"observation": policy.layout.to_float(observations), "action_mask": masks}
        found = session.run(["logits"], inputs)[0]
        legal = masks == 1
        if found.shape != expected.shape or not (found[~legal] == np.float32(ILLEGAL)).all():
            raise ExportError(f"illegal actions: the exported policy does not give them {ILLEGAL}")
        worst = max(worst, float(np.abs(found[legal] - expected[legal]).max()))
    return worst


def _positions(
    ruleset: Ruleset, layout: ObservationLayout, count: int, seed: int
) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Yields positions of random games in batches of several sizes."""
    games = min(count, 64)
    batch = BatchGame(ruleset, games, seed=seed, engine="random", layout=layout, skip_forced=True)
    rng = np.random.default_rng(seed)
    left = count
    while left > 0:
        for _ in range(5):
            batch.step((batch.masks * rng.random(batch.masks.shape, np.float32)).argmax(1))
        size = min(left, int(rng.integers(1, games + 1)))
        yield batch.observations[:size].copy(), batch.masks[:size].copy()
        left -= size


def export_policy(
    policy: ActionScoringPolicy,
    folder: Path,
    *,
    training: dict[str, Any],
    deals: int = 0,
    replace: bool = False,
) -> Path:
    """Writes a policy's folder, complete or not at all.

    Args:
        policy: The policy.
        folder: Where to; its name is the policy's name.
        training: The configuration that it was trained with.
        deals: Deals that the exported policy plays, from every seat, against each of `TESTED_AGAINST`; the
            results are kept in the manifest.
        replace: Whether an existing policy of that name may be replaced.

    Returns:
        The folder.

    Raises:
        ExportError: If the name will not do, the folder exists already, or the exported network does not
            equal the policy.
    """
    name = folder.name
    _check_target(folder, replace)
    weights = onnx_bytes(policy)
    difference = largest_difference(weights, policy)
    if not difference <= TOLERANCE:
        raise ExportError(f"{folder}: the exported network differs from the policy by {difference:g}")
    manifest = _manifest(policy, name, weights, training)
    folder.parent.mkdir(parents=True, exist_ok=True)
    _tidy(folder)
    partial = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=folder.parent))
    try:
        (partial / WEIGHTS).write_bytes(weights)
        _write_manifest(partial, manifest)
        if _preset_of(policy.ruleset) is None:
            text = yaml.safe_dump(policy.ruleset.to_dict(), sort_keys=False)
            (partial / RULES).write_text(text, encoding="utf-8")
        if deals:
            # What is tested is the file that will be played.
            agent = PolicyAgent(partial)
            manifest["evaluation"] = score_rows(
                agent, policy.ruleset, TESTED_AGAINST, deals=deals, seed=TEST_SEED
            )
            _write_manifest(partial, manifest)
        partial.chmod(0o755)
        if not folder.exists():
            os.replace(partial, folder)
        elif not _exchange(partial, folder):
            old = partial.with_name(partial.name + ".old")
            os.replace(folder, old)
            try:
                os.replace(partial, folder)
            except BaseException:
                os.replace(old, folder)
                raise
            shutil.rmtree(old)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _exchange(one: Path, other: Path) -> bool:
    """Swaps two folders in one step, where the system can: under neither name is there ever nothing."""
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2  # Linux
    except (AttributeError, OSError, TypeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    done: int = swap(here, os.fsencode(one), here, os.fsencode(other), exchange)
    return done == 0


def _tidy(folder: Path) -> None:
    """Removes what killed exports of this name left beside it, and brings back a policy moved away."""
    left = [path for path in folder.parent.glob(f".{folder.name}.*") if path.is_dir()]
    for path in left:
        if path.suffix == ".old" and not folder.exists() and (path / "manifest.json").is_file():
            os.replace(path, folder)
        elif time.time() - path.stat().st_mtime > STALE_SECONDS:
            shutil.rmtree(path, ignore_errors=True)


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise ExportError(
            f"name {name!r}: allowed are letters, digits, '_', '-' and '.', a letter or digit first, no path"
        )


def _check_target(folder: Path, replace: bool) -> None:
    _check_name(folder.name)
    if not folder.exists():
        return
    if not (folder / "manifest.json").is_file():
        raise ExportError(f"{folder}: exists already and is no policy; allowed: another name")
    if not replace:
        raise ExportError(f"{folder}: exists already; allowed: another name, or --replace to replace it")


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _manifest(
    policy: ActionScoringPolicy,
    name: str,
    weights: bytes,
    training: dict[str, Any],
) -> dict[str, Any]:
    ruleset, layout, actions = policy.ruleset, policy.layout, ActionLayout(policy.ruleset)
    return {
        "format": FORMAT,
        "name": name,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "ruleset": ruleset.to_dict(),
        "ruleset_digest": ruleset.digest,
        "players": ruleset.players,
        "set_max": ruleset.set_max,
        "n_actions": actions.n_actions,
        "action_layout": {"id": actions.id, "digest": actions.digest},
        "observation": {"layout": layout.id, "size": layout.size, "digest": layout.digest},
        "weights": {"file": WEIGHTS, "sha256": hashlib.sha256(weights).hexdigest()},
        "training": training,
        "evaluation": [],
    }
