import json

import pytest
import yaml

from tests.training.test_run import TINY
from training.config import parse_config
from training.profiling import PHASES
from training.throughput import main, measure


def test_every_way_is_measured_in_every_turn():
    speeds = measure(parse_config(TINY), turns=2, plain_envs=4)
    rows = [*speeds["self_play"].values(), speeds["plain"], *speeds["update"].values()]
    assert list(speeds["self_play"]) == ["1", "2"] and list(speeds["update"]) == ["lists", "stock"]
    for row in rows:
        assert len(row["turns"]) == 2 and row["cpu"] > 0 and row["wall"] > 0
    assert speeds["ratio_to_plain"] == pytest.approx(speeds["self_play"]["1"]["cpu"] / speeds["plain"]["cpu"])
    update = speeds["update"]
    assert speeds["ratio_to_stock_update"] == pytest.approx(update["lists"]["cpu"] / update["stock"]["cpu"])


def test_a_profile_accounts_for_an_iteration(tmp_path, capsys):
    path, result = tmp_path / "tiny.yaml", tmp_path / "profile.json"
    fields = {**TINY, "opponents": {"share": 0.5, "names": ["greedy"]}}
    path.write_text(yaml.safe_dump(fields))
    main([str(path), "--profile", "--turns", "1", "--threads", "1", "2", "--json", str(result)])
    profiles = json.loads(result.read_text())["profiles"]
    shown = capsys.readouterr().out
    assert [each["threads"] for each in profiles] == [1, 2]
    for each in profiles:
        phases = each["phases"]
        assert list(phases) == list(PHASES)
        assert sum(phase["share"] for phase in phases.values()) == pytest.approx(1.0, abs=0.02)
        assert sum(phase["seconds"] for phase in phases.values()) == pytest.approx(each["seconds"], rel=0.02)
        for name in ("engine", "observation", "features", "policy", "opponents", "forward", "backward"):
            assert phases[name]["seconds"] > 0, name
    for name in PHASES:
        assert name in shown


def test_only_self_play_is_measured(tmp_path, capsys):
    path = tmp_path / "plain.yaml"
    plain = {**TINY, "algorithm": "maskable_ppo", "opponents": {"names": ["greedy"]}}
    path.write_text(yaml.safe_dump(plain))
    with pytest.raises(SystemExit):
        main([str(path)])
    assert "allowed is 'self_play'" in capsys.readouterr().err
