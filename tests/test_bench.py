"""The benchmark measures every path and keeps what it measured."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from mexenv.bench import BATCH_SIZES
from mexenv.cli import app


def test_bench_measures_and_writes(tmp_path: Path) -> None:
    result, picture = tmp_path / "bench.json", tmp_path / "bench.png"
    options = ["--seconds", "0.001", "--repeats", "1", "--json", str(result), "--plot", str(picture)]
    done = CliRunner().invoke(app, ["bench", "--ruleset", "dominos_cc", *options])
    assert done.exit_code == 0, done.output
    content = json.loads(result.read_text())
    rows = content["rows"]
    assert {row["games"] for row in rows if row["path"].startswith("BatchGame")} == set(BATCH_SIZES)
    assert all(row["low"] <= row["steps_per_s"] <= row["high"] for row in rows)
    assert min(row["low"] for row in rows) > 0
    assert all(row["path"] in done.output for row in rows)
    assert content["start"]["cold_cpu_s"] > content["start"]["first_reset_warm_s"] > 0
    assert done.output.startswith("dominos_cc, 4 players, double-12\n")
    assert "import mexenv" in done.output and "_s " not in done.output
    assert picture.read_bytes().startswith(b"\x89PNG")
