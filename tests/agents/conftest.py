"""A tiny policy folder, made by hand: a linear network in ONNX and its manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mexenv.observation import make_layout
from mexenv.rules import ActionLayout, Ruleset

MakePolicy = Callable[..., Path]


def linear_network(weights: np.ndarray, bias: np.ndarray) -> bytes:
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto as Types
    from onnx import helper, numpy_helper

    size, n_actions = weights.shape
    constants = {"weights": weights, "bias": bias, "illegal": np.array(-1e9)}
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["observation", "weights"], ["product"]),
            helper.make_node("Add", ["product", "bias"], ["open"]),
            helper.make_node("Cast", ["action_mask"], ["legal"], to=Types.BOOL),
            helper.make_node("Where", ["legal", "open", "illegal"], ["logits"]),
        ],
        "linear",
        [
            helper.make_tensor_value_info("observation", Types.FLOAT, ["batch", size]),
            helper.make_tensor_value_info("action_mask", Types.INT8, ["batch", n_actions]),
        ],
        [helper.make_tensor_value_info("logits", Types.FLOAT, ["batch", n_actions])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model.SerializeToString()


@pytest.fixture
def make_policy(tmp_path: Path) -> MakePolicy:
    def make(ruleset: Ruleset, layout="base", name="tiny", weights=None, bias=None, **changes) -> Path:
        spec, actions = make_layout(layout, ruleset), ActionLayout(ruleset)
        weights = np.zeros((spec.size, actions.n_actions)) if weights is None else weights
        bias = np.zeros(actions.n_actions) if bias is None else bias
        network = linear_network(weights, bias)
        manifest = {
            "format": 1,
            "name": name,
            "created": "2026-01-01T00:00:00Z",
            "ruleset": ruleset.to_dict(),
            "ruleset_digest": ruleset.digest,
            "players": ruleset.players,
            "set_max": ruleset.set_max,
            "n_actions": actions.n_actions,
            "action_layout": {"id": actions.id, "digest": actions.digest},
            "observation": {"layout": spec.id, "size": spec.size, "digest": spec.digest},
            "weights": {"file": "policy.onnx", "sha256": hashlib.sha256(network).hexdigest()},
            "training": {},
            "evaluation": [],
        }
        for key, value in changes.items():
            place, *rest = key.split("__")
            if rest:
                manifest[place][rest[0]] = value
            else:
                manifest[place] = value
        folder = tmp_path / name
        folder.mkdir()
        (folder / "policy.onnx").write_bytes(network)
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    return make
