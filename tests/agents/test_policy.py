from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from mexenv.agents import AgentError, GreedyAgent, PolicyAgent, load_agent
from mexenv.arena import evaluate
from mexenv.games import BatchGame
from mexenv.observation import make_layout
from mexenv.rules import ActionLayout, preset

pytest.importorskip("onnxruntime")
RULES = preset("dominos_cc", players=2, set_max=6, hand_size=7)
ACTIONS = ActionLayout(RULES)


def greedy_bias() -> np.ndarray:
    actions = ActionLayout(RULES)
    plays = [actions.decode(action).tile or () for action in range(actions.n_plays)]
    return np.array([*(sum(tile) for tile in plays), -1, -2])


def test_a_network_that_means_greedy_plays_like_greedy(make_policy) -> None:
    policy = PolicyAgent(make_policy(RULES, bias=greedy_bias()))
    results = evaluate([policy, "greedy"], RULES, 50, seed=2)
    (pair,) = results.paired
    # Both seats of each deal see the same two games, so not even luck can tell them apart.
    assert (pair.a, pair.b, pair.difference) == ("tiny", "greedy", 0.0)


@pytest.mark.parametrize("layout", ["base", "plan"])
def test_the_network_gets_scaled_observations_of_its_layout(make_policy, layout: str) -> None:
    spec = make_layout(layout, RULES)
    weights = np.random.default_rng(0).normal(size=(spec.size, ACTIONS.n_actions))
    policy = PolicyAgent(make_policy(RULES, layout, weights=weights)).bind(RULES)
    assert policy.layout == layout
    batch = BatchGame(RULES, 8, seed=4, layout=layout)
    for _ in range(5):
        batch.step(GreedyAgent().bind(RULES).act(None, batch.masks))
    logits = policy.logits(batch.observations, batch.masks)
    legal = batch.masks == 1
    expected = spec.to_float(batch.observations) @ weights.astype(np.float32)
    np.testing.assert_allclose(logits[legal], expected[legal], rtol=1e-4, atol=1e-4)
    assert (logits[~legal] == np.float32(-1e9)).all()
    chosen = policy.act(batch.observations, batch.masks)
    assert (chosen == np.where(legal, expected, -np.inf).argmax(axis=1)).all()
    assert policy(spec.to_float(batch.observations[3]), batch.masks[3]) == chosen[3]


def test_a_temperature_draws_from_the_softmax_and_repeats_from_a_seed(make_policy) -> None:
    bias = np.zeros(ACTIONS.n_actions)
    bias[5] = np.log(3) * 2  # at temperature 2: three times as likely
    policy = load_agent(str(make_policy(RULES, bias=bias)), RULES, temperature=2.0)
    masks = np.zeros((8000, ACTIONS.n_actions), np.int8)
    masks[:, [5, 9]] = 1
    seen = np.zeros((8000, make_layout("base", RULES).size), np.int8)
    policy.seed(1)
    chosen = policy.act(seen, masks)
    assert set(chosen.tolist()) == {5, 9}
    assert abs((chosen == 5).mean() - 0.75) < 0.03
    policy.seed(1)
    assert (policy.act(seen, masks) == chosen).all()
    with pytest.raises(AgentError, match=r"temperature -1"):
        PolicyAgent(make_policy(RULES, name="other"), temperature=-1)


def test_a_copy_plays_alike(make_policy) -> None:
    agent = load_agent(str(make_policy(RULES, bias=greedy_bias())), RULES)
    batch = BatchGame(RULES, 8)
    played = agent.act(batch.observations, batch.masks)
    for twin in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert twin.act(batch.observations, batch.masks).tolist() == played.tolist()


def test_another_ruleset_is_refused_by_the_names_of_the_differing_fields(make_policy) -> None:
    policy = PolicyAgent(make_policy(RULES))
    with pytest.raises(AgentError) as refusal:
        policy.bind(preset("tournament", players=2, set_max=6, hand_size=7))
    text = str(refusal.value)
    assert "extra 'anywhere', asked for 'on_double'" in text
    assert "out_on_double" in text
    assert "players" not in text
    with pytest.raises(AgentError, match=r"players 2, asked for 3; hand 7, asked for 6"):
        policy.bind(preset("dominos_cc", players=3, set_max=6, hand_size=6))


def test_the_name_of_a_ruleset_does_not_matter(make_policy) -> None:
    PolicyAgent(make_policy(RULES)).bind(RULES.replace(name="ours"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, r"format 2; .* reads format 1"),
        ({"format": True}, r"format True; .* reads format 1"),
        ({"name": "a\nb"}, r"name is 'a\\nb'; allowed: a line of 1 to 100 printable characters"),
        ({"name": " "}, r"name is ' '; allowed"),
        ({"name": "\ud800"}, r"name is '\\ud800'; allowed"),
        ({"name": "x" * 101}, r"name is 'x+\.\.\.x+'; allowed"),
        ({"weights__file": "a\0b"}, r"weights.file is 'a\\x00b'; allowed"),
        ({"weights__file": "\ud800"}, r"weights.file is '\\ud800'; allowed"),
        ({"weights__file": "x" * 999}, r"weights.file is 'x+\.\.\.x+'; allowed"),
        ({"ruleset__draws": 9}, r"cannot play the ruleset in its manifest: .*draws=9 is not allowed"),
        ({"ruleset__draws": 2}, r"ruleset_digest is '\w{16}', but the ruleset in its manifest has '\w{16}'"),
        ({"ruleset_digest": "\x1b[0m" * 99}, r"ruleset_digest is '\\x1b.*\.\.\..*', but"),
        (
            {"weights__sha256": "0" * 64},
            r"policy.onnx was changed or damaged: its sha256 is [0-9a-f]{64}, .*0{64}",
        ),
        ({"weights__file": "../policy.onnx"}, r"weights.file is '\.\./policy.onnx'"),
        ({"weights__file": "gone.onnx"}, r"cannot read its weights .*gone.onnx"),
        ({"observation__layout": "base/9"}, r"observation layout 'base/9'; this version has base/1"),
        ({"players": "two"}, r"players is 'two'; allowed: a int"),
        ({"n_actions": 17}, r"inputs and outputs"),
    ],
)
def test_what_does_not_hold_together_is_refused_on_loading(make_policy, changes, message) -> None:
    name = changes.pop("name", None)
    folder = make_policy(RULES, **changes)
    if name is not None:
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest | {"name": name}))
    with pytest.raises(AgentError, match=message) as refusal:
        PolicyAgent(folder)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 1000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"action_layout__digest": "abc"}, r"action_layout.digest 'abc', this version has"),
        ({"observation__digest": "abc"}, r"observation.digest 'abc', this version has"),
        ({"players": 3}, r"players 3, this version has 2"),
    ],
)
def test_another_meaning_of_inputs_or_outputs_is_refused_on_binding(make_policy, changes, message) -> None:
    with pytest.raises(AgentError, match=message):
        PolicyAgent(make_policy(RULES, **changes)).bind(RULES)


def test_missing_and_damaged_files_are_refused(make_policy, tmp_path) -> None:
    with pytest.raises(AgentError, match=r"manifest.json is missing"):
        PolicyAgent(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(AgentError, match=r"cannot be read"):
        PolicyAgent(tmp_path)
    for content in (b"[" * 200_000, b"\xff", b"9" * 5000):
        (tmp_path / "manifest.json").write_bytes(content)
        with pytest.raises(AgentError, match=r"cannot be read"):
            PolicyAgent(tmp_path)
    folder = make_policy(RULES)
    (folder / "policy.onnx").write_bytes(b"not a network")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["weights"]["sha256"] = "6b2cbe6da1cda98c94e2f1cd37bbb7ff1e0b2f2ab3fe0b1d5bd6e3c24b0ee66f"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(AgentError, match=r"changed or damaged"):
        PolicyAgent(folder)


def test_a_policy_prints_nothing_where_the_home_folder_cannot_be_written(make_policy) -> None:
    folder = make_policy(RULES)
    program = f"from mexenv.agents import load_agent; load_agent({str(folder)!r})"
    environment = {**os.environ, "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_onnxruntime_is_loaded_only_with_a_policy() -> None:
    program = (
        "import sys, mexenv.agents, mexenv.arena; print('onnxruntime' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
