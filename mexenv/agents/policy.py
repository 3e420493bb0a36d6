"""Trained policies: a folder with `policy.onnx` and `manifest.json`, played by onnxruntime.

Nothing in such a folder is executed: the network is a graph of arithmetic, the manifest plain JSON. Before a
policy plays, its manifest is held against the ruleset and against this version's observations and actions,
since a network with the right shapes and another meaning of its inputs would play on, badly.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from mexenv.agents.base import Actions, Agent, AgentError, Masks, Observations
from mexenv.observation import LAYOUTS, make_layout
from mexenv.rules import RULE_FIELDS, ActionLayout, Ruleset, RulesetError

FORMAT: Final = 1
"""Version of the manifest that this version reads."""
MANIFEST: Final = "manifest.json"

# Key of the manifest to the type of its value; "a.b" is the key b of the object a.
_REQUIRED: Final[dict[str, type]] = {
    "name": str,
    "ruleset": dict,
    "ruleset_digest": str,
    "players": int,
    "n_actions": int,
    "action_layout.id": str,
    "action_layout.digest": str,
    "observation.layout": str,
    "observation.size": int,
    "observation.digest": str,
    "weights.file": str,
    "weights.sha256": str,
}
_BATCH: Final = 4096  # rows per call of the network: bounds the memory of its inner layers


class PolicyAgent(Agent):
    """A trained policy.

    Args:
        folder: the folder with `manifest.json` and the weights that it names.
        temperature: 0 for the action with the highest logit (the lowest id among equals); above 0 actions are
            drawn with probability proportional to `exp(logit / temperature)`.
        name: what to call it; the name in the manifest if left out.

    Attributes:
        manifest: the content of `manifest.json`.
        home: the ruleset that the policy was trained for; None if this version cannot play it.

    Raises:
        AgentError: If a file is missing or damaged, the format is another one, or the weights are not those
            that the manifest describes.
    """

    def __init__(self, folder: str | Path, *, temperature: float = 0.0, name: str | None = None) -> None:
        self.folder = Path(folder)
        if not 0.0 <= temperature < float("inf"):
            raise AgentError(f"temperature {temperature}: allowed are 0 (the best action) and above")
        self.temperature = temperature
        self.manifest = read_manifest(self.folder)
        super().__init__(self._entry("name") if name is None else name)
        self.layout = self._layout_name()
        self.home = self._home()
        self._content = self._weights()
        self._session = _session(self._content)
        self._check_network()
        self.seed(0)

    def __getstate__(self) -> dict[str, Any]:
        # A session can be neither copied nor pickled; a copy opens its own from the same weights.
        return {name: value for name, value in self.__dict__.items() if name != "_session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._session = _session(self._content)

    def seed(self, seed: int) -> None:
        """Restarts the randomness of a policy with a temperature."""
        self._random = np.random.default_rng(seed % 2**64)

    def bind(self, ruleset: Ruleset) -> Self:
        """See `Agent.bind`; a policy plays the ruleset that it was trained for and no other."""
        complaints = self._complaints(ruleset)
        if complaints:
            raise AgentError(f"policy {self.name} does not fit: " + "; ".join(complaints))
        self._scale = make_layout(str(self.layout), ruleset).scale
        return super().bind(ruleset)

    def act(self, observations: Observations | None, masks: Masks) -> Actions:
        """See `Agent.act`."""
        logits = self.logits(observations, masks)
        if self.temperature > 0.0:
            # The largest of logit / temperature + Gumbel noise is a draw from the softmax.
            logits /= np.float32(self.temperature)
            logits += self._random.gumbel(size=logits.shape).astype(np.float32)
        logits[masks == 0] = -np.inf
        best: Actions = logits.argmax(axis=1)
        return best

    def logits(self, observations: Observations | None, masks: Masks) -> NDArray[np.float32]:
        """The network's outputs: float32[n, n_actions], illegal actions at -1e9. Arguments as for `act`."""
        self._check(observations, masks, self._entry("observation.size"))
        assert observations is not None
        out = np.empty(masks.shape, np.float32)
        for start in range(0, len(masks), _BATCH):
            part = slice(start, start + _BATCH)
            inputs = {
                "observation": observations[part] * self._scale,
                "action_mask": np.ascontiguousarray(masks[part], np.int8),
            }
            out[part] = self._session.run(["logits"], inputs)[0]
        return out

    def describe(self) -> dict[str, Any]:
        """Name, and the hash of the weights."""
        return {"name": self.name, "sha256": self._entry("weights.sha256"), "temperature": self.temperature}

    def _entry(self, key: str) -> Any:
        value: Any = self.manifest
        for part in key.split("."):
            value = value[part]
        return value

    def _layout_name(self) -> str:
        layout = self._entry("observation.layout")
        known = [f"{known}/{number}" for known, (number, _) in LAYOUTS.items()]
        if layout not in known:
            raise AgentError(
                f"policy {self.name}: observation layout {layout!r}; this version has {', '.join(known)}"
            )
        return str(layout).partition("/")[0]

    def _home(self) -> Ruleset | None:
        try:
            return Ruleset(**self._entry("ruleset"))
        except (RulesetError, TypeError):
            return None

    def _weights(self) -> bytes:
        file = str(self._entry("weights.file"))
        if Path(file).name != file or file in ("", ".", ".."):
            raise AgentError(
                f"policy {self.name}: weights.file is {file!r}; allowed: a file name in its folder"
            )
        path = self.folder / file
        try:
            content: bytes = path.read_bytes()
        except OSError as error:
            raise AgentError(
                f"policy {self.name}: cannot read its weights {path}: {error.strerror or error}"
            ) from None
        found, said = hashlib.sha256(content).hexdigest(), self._entry("weights.sha256")
        if found != said:
            raise AgentError(
                f"policy {self.name}: {path} was changed or damaged: its sha256 is {found}, "
                f"the manifest says {said}"
            )
        return content

    def _check_network(self) -> None:
        found = {i.name: (i.type, i.shape[-1]) for i in self._session.get_inputs()}
        found |= {o.name: (o.type, o.shape[-1]) for o in self._session.get_outputs()}
        n_actions = self._entry("n_actions")
        wanted = {
            "observation": ("tensor(float)", self._entry("observation.size")),
            "action_mask": ("tensor(int8)", n_actions),
            "logits": ("tensor(float)", n_actions),
        }
        if found != wanted:
            raise AgentError(
                f"policy {self.name}: the network's inputs and outputs are {found}; by the manifest {wanted}"
            )

    def _complaints(self, ruleset: Ruleset) -> list[str]:
        """What does not fit, the ruleset's fields first, since the rest mostly follows from them."""
        if self._entry("ruleset_digest") != ruleset.digest:
            trained = self._entry("ruleset")
            differing = [
                f"{field} {trained.get(field)!r}, asked for {getattr(ruleset, field)!r}"
                for field in RULE_FIELDS
                if field != "hand_size" and trained.get(field) != getattr(ruleset, field)
            ]
            if self.home is not None and self.home.hand != ruleset.hand:
                differing.append(f"hand {self.home.hand}, asked for {ruleset.hand}")
            if not differing:
                differing = [f"digest {self._entry('ruleset_digest')}, asked for {ruleset.digest}"]
            return ["it was trained with " + "; ".join(differing)]
        actions = ActionLayout(ruleset)
        layout = make_layout(str(self.layout), ruleset)
        pairs = [
            ("players", self._entry("players"), ruleset.players),
            ("n_actions", self._entry("n_actions"), actions.n_actions),
            ("action_layout.id", self._entry("action_layout.id"), actions.id),
            ("action_layout.digest", self._entry("action_layout.digest"), actions.digest),
            ("observation.size", self._entry("observation.size"), layout.size),
            ("observation.digest", self._entry("observation.digest"), layout.digest),
        ]
        return [f"{key} {its!r}, this version has {ours!r}" for key, its, ours in pairs if its != ours]


def read_manifest(folder: Path) -> dict[str, Any]:
    """Reads and checks the manifest of a policy.

    Raises:
        AgentError: If it is missing, not JSON, of another format, or lacks an entry.
    """
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise AgentError(f"no policy in {folder}: {MANIFEST} is missing") from None
    except (OSError, ValueError) as error:
        raise AgentError(f"{path}: cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise AgentError(f"{path}: expected an object, found a {type(content).__name__}")
    if content.get("format") != FORMAT:
        raise AgentError(
            f"{path}: format {content.get('format')!r}; this version of mexenv reads format {FORMAT}"
        )
    for key, kind in _REQUIRED.items():
        value: Any = content
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if not isinstance(value, kind) or isinstance(value, bool):
            raise AgentError(f"{path}: {key} is {value!r}; allowed: a {kind.__name__}")
    return content


def _session(weights: bytes) -> Any:
    # Imported here, since it takes a while and only policies need it.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread: policies are small, and several processes often share a machine.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises classes of its own, without a common one
        raise AgentError(f"onnxruntime does not read the weights: {error}") from None
