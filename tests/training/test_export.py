import json
import os
import shlex
import time

import numpy as np
import pytest
import torch as th

from mexenv.agents import load_agent
from mexenv.games import BatchGame
from mexenv.rules import load_ruleset, preset
from tests.training.conftest import make_policy
from training.export import ExportError, _tidy, export, export_policy, largest_difference, play_command


def test_an_exported_policy_plays_like_the_policy(game, tmp_path):
    policy = make_policy(game, privileged=True)
    folder = export_policy(policy, tmp_path / "mine", training={"a": 1})
    files = {path.name for path in folder.iterdir()}
    assert files - {"ruleset.yaml"} == {"manifest.json", "policy.onnx"}
    words = shlex.split(play_command(folder))
    assert words[1:5] == ["evaluate", str(folder), "planner", "--ruleset"]
    players = {"players": int(words[7])} if "--players" in words else {}
    assert load_ruleset(words[5], **players).digest == game.ruleset.digest
    assert ("ruleset.yaml" in files) == (words[5] == str(folder / "ruleset.yaml"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert largest_difference((folder / "policy.onnx").read_bytes(), policy, positions=1000) < 1e-4
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["evaluation"] == []
    assert manifest["ruleset_digest"] == game.ruleset.digest and manifest["training"] == {"a": 1}
    agent = load_agent(folder, game.ruleset)
    with th.no_grad():
        expected = policy.act(th.from_numpy(game.observations), game.masks).numpy()
        logits = policy.logits(th.from_numpy(game.observations), game.masks).numpy()
    chosen = agent.act(game.observations, game.masks)
    rows = np.arange(game.n_games)
    assert np.allclose(logits[rows, chosen], logits[rows, expected], atol=1e-4)
    assert (game.masks[rows, chosen] == 1).all()
    one = agent(game.layout.to_float(game.observations[0]), game.masks[0])
    assert game.masks[0, one] == 1


@pytest.fixture
def quick(monkeypatch):
    """A policy whose network takes no time to export: what is written is not looked at."""
    monkeypatch.setattr("training.export.onnx_bytes", lambda policy: b"network")
    monkeypatch.setattr("training.export.largest_difference", lambda weights, policy: 0.0)
    ruleset = preset("dominos_cc", players=2, set_max=4, hand_size=4)
    return make_policy(BatchGame(ruleset, 16, layout="base"))


def test_nothing_is_replaced_unasked_and_names_are_plain(quick, tmp_path):
    (tmp_path / "taken").mkdir()
    for replace in (False, True):
        with pytest.raises(ExportError, match="exists already"):
            export_policy(quick, tmp_path / "taken", training={}, replace=replace)
    with pytest.raises(ExportError, match="letters"):
        export_policy(quick, tmp_path / ".hidden", training={})


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/tmp/x", "a b", ".hidden", "a\n"])
def test_a_name_is_no_path(name, tmp_path):
    with pytest.raises(ExportError, match="allowed are letters"):
        export(tmp_path, name, checkpoints=tmp_path / "policies", replace=True)
    assert not list(tmp_path.iterdir())


def test_a_preset_is_named_with_its_players(tmp_path):
    for players, words in ((4, []), (3, ["--players", "3"])):
        rules = preset("parsons", players=players)
        (tmp_path / "manifest.json").write_text(json.dumps({"ruleset": rules.to_dict()}))
        assert shlex.split(play_command(tmp_path))[4:] == ["--ruleset", "parsons", *words]


def test_what_killed_exports_left_is_tidied(quick, tmp_path):
    for name, age in ((".p.abcd1234", 7200), (".p.abcd5678", 0), (".q.abcd1234", 7200)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    export_policy(quick, tmp_path / "p", training={"a": 1})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".p.abcd5678", ".q.abcd1234", "p"]
    (tmp_path / "p").rename(tmp_path / ".p.abcd9999.old")  # killed between two renames
    _tidy(tmp_path / "p")
    assert (tmp_path / "p" / "manifest.json").is_file()


@pytest.mark.parametrize("swap", [True, False])
def test_a_policy_can_be_replaced_when_asked(quick, swap, monkeypatch, tmp_path):
    if not swap:
        monkeypatch.setattr("training.export._exchange", lambda one, other: False)
    folder = export_policy(quick, tmp_path / "p", training={})
    with pytest.raises(ExportError, match=r"exists already.*--replace"):
        export_policy(quick, folder, training={})
    export_policy(quick, folder, training={"b": 2}, replace=True)
    assert json.loads((folder / "manifest.json").read_text())["training"] == {"b": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["p"]


def test_a_network_that_differs_is_not_written(quick, monkeypatch, tmp_path):
    monkeypatch.setattr("training.export.largest_difference", lambda weights, policy: float("nan"))
    with pytest.raises(ExportError, match="differs"):
        export_policy(quick, tmp_path / "p", training={})
    assert not list(tmp_path.iterdir())
