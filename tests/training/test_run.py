import csv
import json
import shutil
import signal
import subprocess
import sys
import time

import pytest
import torch as th

from training.checkpoint import CheckpointError, read_checkpoint, save_checkpoint
from training.config import ConfigError, parse_config
from training.folder import RunError, load_run_policy, run_config
from training.models import build_model
from training.run import RunStopped, _Run, train

TINY = {
    "name": "tiny",
    "ruleset": "dominos_cc",
    "players": 2,
    "set_max": 4,
    "overrides": {"hand_size": 4},
    "decisions": 4000,
    "games": 32,
    "network": {"trunk": 16, "hidden": [16], "critic": [16]},
    "ppo": {"rollout": 1000, "batch_size": 250, "epochs": 2},
    "evaluation": {"every": 1500, "deals": 16},
    "checkpoint_seconds": 0.01,
}


def rows_of(folder):
    with (folder / "metrics.csv").open() as stream:
        return [int(row["decisions"]) for row in csv.DictReader(stream)]


def evaluations_of(folder):
    return [json.loads(line)["decisions"] for line in (folder / "evaluations.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return train(parse_config(TINY), runs=tmp_path_factory.mktemp("runs"), quiet=True)


def test_a_run_leaves_its_config_metrics_checkpoints_and_tests(finished):
    assert run_config(finished) == parse_config(TINY)
    rows = rows_of(finished)
    assert rows == sorted(set(rows)) and 3000 < rows[-1] <= 5000
    assert evaluations_of(finished) == sorted(set(evaluations_of(finished)))
    assert list((finished / "tensorboard").glob("events.*"))
    assert not list(finished.glob("**/.*partial"))
    policy, settings = load_run_policy(finished)
    assert settings.name == "tiny" and policy.ruleset.players == 2


def test_a_finished_run_has_nothing_to_go_on_with(finished, capsys):
    before = rows_of(finished)
    train(resume=finished)
    assert rows_of(finished) == before
    assert capsys.readouterr().out.startswith("already finished: ")


def test_a_killed_run_goes_on_and_loses_no_more_than_one_checkpoint(tmp_path):
    config = tmp_path / "long.yaml"
    settings = parse_config(
        {
            **TINY,
            "name": "long",
            "decisions": 10**9,
            "opponents": {"share": 0.5, "snapshots": 2, "snapshot_every": 900},
        }
    )
    config.write_text(settings.to_yaml())
    code = f"from training.run import train; train({str(config)!r}, runs={str(tmp_path)!r}, quiet=True)"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline and process.poll() is None:
            folders = list(tmp_path.glob("long-*"))
            if folders and (folders[0] / "metrics.csv").is_file() and len(rows_of(folders[0])) > 6:
                break
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    folder = folders[0]
    tensors, counters = read_checkpoint(folder / "last.safetensors")
    written = rows_of(folder)[-1]
    rollout = 1100
    # Checkpoints are written between rollouts here, since their interval has always passed by then.
    assert counters["decisions"] >= written - 2 * rollout
    assert any(name.startswith("former.1.") for name in tensors)
    assert any(name.startswith("optimizer.") for name in tensors)
    longer = settings.model_copy(update={"decisions": counters["decisions"] + 2500})
    (folder / "config.yaml").write_text(longer.to_yaml())
    assert train(resume=folder, quiet=True) == folder
    rows = rows_of(folder)
    assert rows == sorted(set(rows)) and rows[-1] >= longer.decisions
    assert evaluations_of(folder) == sorted(set(evaluations_of(folder)))
    assert read_checkpoint(folder / "last.safetensors")[1]["updates"] > counters["updates"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_saves_and_says_how_to_go_on(tmp_path, number):
    config = tmp_path / "long.yaml"
    config.write_text(
        parse_config({**TINY, "name": "long", "decisions": 10**9, "checkpoint_seconds": 3600}).to_yaml()
    )
    code = "from mexenv.cli import app; app()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "train", str(config)], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline and process.poll() is None:
            files = list(tmp_path.glob("runs/*/metrics.csv"))
            if files and len(rows_of(files[0].parent)) > 3:
                break
            time.sleep(0.02)
        process.send_signal(number)
        shown = process.communicate(timeout=60)[0].splitlines()
    finally:
        process.kill()
    folder = files[0].parent
    decisions = read_checkpoint(folder / "last.safetensors")[1]["decisions"]
    assert process.returncode == 130
    assert decisions in rows_of(folder)
    resume = f"mexenv train --resume {folder.relative_to(tmp_path)}"
    assert shown[-1] == f"stopped at {decisions} decisions; go on with: {resume}"


def test_a_test_under_way_can_be_left(tmp_path, monkeypatch):
    def interrupted(*args, **kwargs):
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("went on")

    monkeypatch.setattr("training.run.score_rows", interrupted)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RunStopped, match="stopped at"):
        train(parse_config(TINY), runs=tmp_path, quiet=True)
    assert signal.getsignal(signal.SIGINT) is before
    folder = next(tmp_path.iterdir())
    with pytest.raises(RunError, match="no tested policy yet"):
        load_run_policy(folder)
    monkeypatch.undo()
    train(resume=folder, quiet=True)
    assert evaluations_of(folder)[-1] >= TINY["decisions"] and load_run_policy(folder)


def test_the_first_update_is_saved_at_once(tmp_path, monkeypatch):
    saved = []
    real = _Run.save
    monkeypatch.setattr(_Run, "save", lambda run: (saved.append(run.model.num_timesteps), real(run)))
    slow = {**TINY, "checkpoint_seconds": 3600, "evaluation": {"every": 10**6, "deals": 4}}
    train(parse_config(slow), runs=tmp_path, quiet=True)
    assert saved[0] == 0 and 0 < saved[1] < 1200 and saved[2] > 3000


def test_nothing_of_an_abandoned_attempt_stays(finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    kept = evaluations_of(folder)
    counters = read_checkpoint(folder / "last.safetensors")[1]
    assert read_checkpoint(folder / "best.safetensors")[1]["decisions"] == counters["best_at"]
    with (folder / "evaluations.jsonl").open("a") as stream:
        stream.write(json.dumps({"decisions": kept[-1] + 1, "rows": []}) + "\n")
    model = build_model(parse_config(TINY), games=2)
    save_checkpoint(folder / "best.safetensors", model.policy, {**counters, "decisions": kept[-1] + 1})
    train(resume=folder, quiet=True)
    assert evaluations_of(folder) == kept
    if counters["best_at"] == counters["decisions"]:
        assert read_checkpoint(folder / "best.safetensors")[1]["decisions"] == counters["decisions"]
    else:
        assert not (folder / "best.safetensors").exists()


def test_what_is_saved_is_what_is_loaded(finished, tmp_path):
    settings = parse_config(TINY)
    model = build_model(settings, games=4)
    model.learn(1)
    save_checkpoint(tmp_path / "x.safetensors", model.policy, {"a": 1})
    tensors, counters = read_checkpoint(tmp_path / "x.safetensors")
    assert counters == {"a": 1}
    again = build_model(settings, games=4)
    from training.checkpoint import load_optimizer, load_policy

    load_policy(tensors, again.policy)
    load_optimizer(tensors, again.policy.optimizer)
    for name, value in model.policy.state_dict().items():
        assert th.equal(value, again.policy.state_dict()[name])
    old, new = (m.policy.optimizer.state_dict()["state"] for m in (model, again))
    assert old.keys() == new.keys() and old
    for key in old:
        for name in old[key]:
            assert th.equal(old[key][name], new[key][name])


def test_wrong_runs_and_checkpoints_are_refused(finished, tmp_path):
    with pytest.raises(RunError, match="is not a run"):
        train(resume=tmp_path / "none")
    with pytest.raises(ConfigError, match="quickstart"):
        train(None)
    (tmp_path / "config.yaml").write_text(parse_config(TINY).to_yaml())
    with pytest.raises(RunError, match=r"no last\.safetensors"):
        train(resume=tmp_path)
    with pytest.raises(RunError, match=r"no tested policy yet.*train --resume"):
        load_run_policy(tmp_path)
    (tmp_path / "last.safetensors").write_bytes(b"not a checkpoint")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_run_policy(tmp_path, "last.safetensors")
    other = parse_config({**TINY, "network": {"trunk": 8, "hidden": [16], "critic": [16]}})
    (tmp_path / "config.yaml").write_text(other.to_yaml())
    (tmp_path / "last.safetensors").write_bytes((finished / "last.safetensors").read_bytes())
    with pytest.raises(CheckpointError, match="has shape"):
        load_run_policy(tmp_path, "last.safetensors")


def test_one_run_is_trained_by_one_process(finished):
    import fcntl

    with (finished / ".lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="another process"):
            train(resume=finished, quiet=True)


def test_the_plain_way_trains_too(tmp_path):
    config = {
        **TINY,
        "algorithm": "maskable_ppo",
        "opponents": {"names": ["greedy"]},
        "games": 8,
        "decisions": 1500,
    }
    config["network"] = {**TINY["network"], "privileged_critic": False}
    folder = train(parse_config(config), runs=tmp_path, quiet=True)
    assert rows_of(folder)[-1] >= 1500
    assert train(resume=folder, quiet=True) == folder
