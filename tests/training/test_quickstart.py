import json

import pytest
import yaml

from tests.training.test_run import TINY
from training.quickstart import main
from training.throughput import measure


def test_from_a_config_to_a_tested_policy(tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    fields = {**TINY, "name": "mine", "decisions": None}
    path.write_text(yaml.safe_dump(fields))
    folders = ["--runs", str(tmp_path / "runs"), "--checkpoints", str(tmp_path / "policies")]
    main([str(path), "--minutes", "0.03", "--deals", "20", *folders])
    manifest = json.loads((tmp_path / "policies" / "mine" / "manifest.json").read_text())
    assert [row["opponent"] for row in manifest["evaluation"]] == ["own_first", "planner"]
    assert manifest["training"]["minutes"] == 0.03
    shown = capsys.readouterr().out
    for words in ("own_first", "planner", "goes out", "mexenv evaluate", "load_agent"):
        assert words in shown


def test_a_wrong_config_is_one_message(tmp_path):
    with pytest.raises(SystemExit, match="error: unknown training config 'nothing'"):
        main(["nothing"])


def test_throughput_counts_the_decisions_of_both_ways():
    speeds = measure(turns=2, rollout=512, plain_envs=4, games=64)
    assert [len(speeds["turns"][way]) for way in ("self_play", "plain")] == [2, 2]
    assert speeds["ratio"] == pytest.approx(speeds["self_play"] / speeds["plain"])
    assert speeds["plain"] > 0
