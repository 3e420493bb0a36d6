import json

import pytest
import yaml

from tests.training.test_run import TINY
from training.quickstart import main


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
