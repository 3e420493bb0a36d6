"""The benchmark measures every path and keeps what it measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mexenv.bench import Path as Measured
from mexenv.bench import bench, table, write_json, write_plot
from mexenv.bench.measure import measure
from mexenv.bench.report import WORDS
from mexenv.cli import app
from mexenv.engine.state import SMALL
from mexenv.rules import PRESETS, preset


def test_bench_measures_and_writes(tmp_path: Path) -> None:
    result = bench(preset("parsons"), turns=1, seconds=0.001, sizes=(1, 16), say=lambda text: None)
    rows = result["rows"]
    for start in ("kernel: rules only", "kernel: mask, base int8", "BatchGame.step: mask, base int8"):
        assert {row["games"] for row in rows if row["path"] == start} == {1, 16}
    for start in ("Game", "AEC raw_env", "AEC env", "gymnasium.make", "VectorEnv", "SB3 VecEnv", "double-18"):
        assert any(row["path"].startswith(start) for row in rows), start
    assert {row["path"].split(":")[0] for row in rows} >= {f"preset {name}" for name in PRESETS}
    assert all(0 < row["low"] <= row["steps_per_s"] <= row["high"] for row in rows)
    assert {row["clock"] for row in rows if "thread" in row["path"]} == {"wall"}
    limits = result["limits"]
    assert limits["record_bytes"] == SMALL.itemsize
    assert limits["step_bytes"] == 457 + 396  # actions, and entries of the layout `base`
    assert limits["game_bytes"] > limits["record_bytes"] + limits["step_bytes"]
    assert set(WORDS) == {*limits, *result["start"]}
    assert result["start"]["cold_cpu_s"] > result["start"]["first_reset_warm_s"] > 0
    assert table(result).row_count == len(rows) + len(WORDS)
    write_json(result, tmp_path / "bench.json")
    assert json.loads((tmp_path / "bench.json").read_text()) == result
    write_plot(result, tmp_path / "bench.png")
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")


def test_paths_are_measured_in_turns() -> None:
    order = []

    def path(name: str, speeds: list[float]) -> Measured:
        found = iter([1.0, *speeds])  # the first call warms up

        def run() -> tuple[int, float]:
            order.append(name)
            return 1000, 1000 / next(found)

        return Measured(name, 2, run)

    slow, fast = measure([path("slow", [10, 30, 20]), path("fast", [500, 100, 400])], 3, 1e-9)
    assert order == ["slow", "fast"] * 4
    assert [slow.path, fast.path] == ["slow", "fast"]
    assert [slow.steps_per_s, slow.low, slow.high] == pytest.approx([20, 10, 30])
    assert [fast.steps_per_s, fast.low, fast.high] == pytest.approx([400, 100, 500])


def test_the_command_tells_the_setting_and_draws_beside_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = {
        "rows": [{"path": "kernel: rules only", "games": 8, "steps_per_s": 2e6, "low": 1e6, "high": 3e6,
                  "clock": "cpu"}],
        "limits": {"record_bytes": 1264}, "start": {"import_s": 0.125},
    }  # fmt: skip
    monkeypatch.setattr("mexenv.bench.bench", lambda ruleset, **options: result)
    done = CliRunner().invoke(app, ["bench", "--ruleset", "dominos_cc", "--json", str(tmp_path / "x.json")])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("dominos_cc, 4 players, double-12\n")
    for text in ("kernel: rules only", "2,000,000", "1,264", "0.12"):
        assert text in done.output
    assert json.loads((tmp_path / "x.json").read_text()) == result
    assert (tmp_path / "x.png").exists()
