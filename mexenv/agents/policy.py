"""Trained policies: a folder with `policy.onnx` and `manifest.json`, played by onnxruntime.

Nothing in such a folder is executed: the network is a graph of arithmetic, the manifest plain JSON. Before a
policy plays, its manifest is held against the ruleset and against this version's observations and actions,
since a network with the right shapes and another meaning of its inputs would play on, badly.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from mexenv.agents.base import Actions, Agent, AgentError, Masks, Observations, plain, shown
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
_LONGEST: Final = 100  # characters of the name, and of the name of the file with the weights
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
        home: the ruleset that the policy was trained for.

    Raises:
        AgentError: If a file is missing or damaged, the format is another one, or the manifest and the
            weights do not hold together.
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
                f"policy {self.name}: observation layout {shown(layout)}; this version has {', '.join(known)}"
            )
        return str(layout).partition("/")[0]

    def _home(self) -> Ruleset:
        try:
            rules = Ruleset(**self._entry("ruleset"))
        except (RulesetError, TypeError, ValueError, RecursionError) as error:
            why = plain(" ".join(str(error).split()))
            raise AgentError(
                f"policy {self.name}: this version cannot play the ruleset in its manifest: {why}"
            ) from None
        said = self._entry("ruleset_digest")
        if said != rules.digest:
            raise AgentError(
                f"policy {self.name}: ruleset_digest is {shown(said)}, but the ruleset in its manifest has "
                f"{rules.digest!r}"
            )
        return rules

    def _weights(self) -> bytes:
        file = self._entry("weights.file")
        if not _is_line(file) or Path(file).name != file or file in (".", ".."):
            raise AgentError(
                f"policy {self.name}: weights.file is {shown(file)}; allowed: the name of a file in its "
                f"folder, of at most {_LONGEST} printable characters"
            )
        path = self.folder / file
        try:
            content: bytes = path.read_bytes()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise AgentError(f"policy {self.name}: cannot read its weights {plain(path)}: {why}") from None
        found, said = hashlib.sha256(content).hexdigest(), self._entry("weights.sha256")
        if found != said:
            raise AgentError(
                f"policy {self.name}: {plain(path)} was changed or damaged: its sha256 is {found}, "
                f"the manifest says {shown(said)}"
            )
        return content

    def _check_network(self) -> None:
        ends = [*self._session.get_inputs(), *self._session.get_outputs()]
        found = {end.name: (end.type, end.shape[-1] if end.shape else None) for end in ends}
        n_actions = self._entry("n_actions")
        wanted = {
            "observation": ("tensor(float)", self._entry("observation.size")),
            "action_mask": ("tensor(int8)", n_actions),
            "logits": ("tensor(float)", n_actions),
        }
        if found != wanted:
            raise AgentError(
                f"policy {self.name}: the network's inputs and outputs are {plain(found)}; "
                f"by the manifest {wanted}"
            )

    def _complaints(self, ruleset: Ruleset) -> list[str]:
        """What does not fit, the ruleset's fields first, since the rest mostly follows from them."""
        if self.home.digest != ruleset.digest:
            differing = [
                f"{field} {getattr(self.home, field)!r}, asked for {getattr(ruleset, field)!r}"
                for field in RULE_FIELDS
                if field != "hand_size" and getattr(self.home, field) != getattr(ruleset, field)
            ]
            if self.home.hand != ruleset.hand:
                differing.append(f"hand {self.home.hand}, asked for {ruleset.hand}")
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
        return [f"{key} {shown(its)}, this version has {ours!r}" for key, its, ours in pairs if its != ours]


def read_manifest(folder: Path) -> dict[str, Any]:
    """Reads and checks the manifest of a policy.

    Raises:
        AgentError: If it is missing, not JSON, of another format, or lacks an entry.
    """
    path = folder / MANIFEST
    place = plain(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise AgentError(f"no policy in {plain(folder)}: {MANIFEST} is missing") from None
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise AgentError(f"{place}: cannot be read: {plain(why)}") from None
    if not isinstance(content, dict):
        raise AgentError(f"{place}: expected an object, found a {type(content).__name__}")
    number = content.get("format")
    if type(number) is not int or number != FORMAT:
        raise AgentError(f"{place}: format {shown(number)}; this version of mexenv reads format {FORMAT}")
    for key, kind in _REQUIRED.items():
        value: Any = content
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if not isinstance(value, kind) or isinstance(value, bool):
            raise AgentError(f"{place}: {key} is {shown(value)}; allowed: a {kind.__name__}")
    if not _is_line(content["name"]):
        raise AgentError(
            f"{place}: name is {shown(content['name'])}; allowed: a line of 1 to {_LONGEST} printable "
            "characters"
        )
    return content


def _is_line(text: str) -> bool:
    """Whether it can be shown: printable, so without line ends and lone surrogates, and not too long."""
    return 0 < len(text) <= _LONGEST and text.isprintable() and not text.isspace()


@functools.cache
def _onnxruntime() -> Any:
    # Imported here, since it takes a while and only policies need it.
    # Its telemetry begins with the import: it keeps files in the home folder and warns where it cannot.
    for switch in ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED"):  # its versions differ in the name
        os.environ.setdefault(switch, "1")
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    if hasattr(onnxruntime, "disable_telemetry_events"):
        onnxruntime.disable_telemetry_events()
    return onnxruntime


def _session(weights: bytes) -> Any:
    onnxruntime = _onnxruntime()
    options = onnxruntime.SessionOptions()
    # One thread: policies are small, and several processes often share a machine.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises classes of its own, without a common one
        raise AgentError(f"onnxruntime does not read the weights: {plain(error)}") from None
