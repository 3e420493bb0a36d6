"""The comparison with other libraries: turns are interleaved, and what cannot be measured is named."""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import installing  # noqa: E402
import interleaved  # noqa: E402
import peers  # noqa: E402

ANSWERING = """
import json, sys, time
for line in sys.stdin:
    seconds = json.loads(line)["seconds"]
    print(json.dumps({"steps": 10, "seconds": seconds}), flush=True)
"""


def script(folder: Path, text: str) -> Path:
    path = folder / "script.py"
    path.write_text(text)
    return path


def worker(folder: Path, text: str) -> interleaved.Worker:
    return interleaved.Worker(Path(sys.executable), [], script(folder, text))


class Fake:
    """Writes down its turns; breaks in one of them."""

    def __init__(self, name: str, log: list[str], speeds: Sequence[float], breaks: int = 0) -> None:
        self.name, self.log, self.speeds, self.breaks = name, log, iter(speeds), breaks

    def turn(self, seconds: float) -> tuple[int, float]:
        self.log.append(self.name)
        if self.log.count(self.name) == self.breaks:
            raise interleaved.WorkerError("broken")
        return round(next(self.speeds) * seconds), seconds


def test_everybody_has_a_turn_before_anybody_has_another() -> None:
    log: list[str] = []
    workers = {name: Fake(name, log, speeds) for name, speeds in (("a", (10, 30, 20)), ("b", (5, 5, 5)))}
    speeds = interleaved.interleave(workers, 3, 2.0, lambda name, reason: pytest.fail(reason))
    assert log == ["a", "b"] * 3
    assert speeds == {"a": [10, 30, 20], "b": [5, 5, 5]}


def test_who_breaks_is_named_and_the_others_go_on() -> None:
    log: list[str] = []
    failed: list[tuple[str, str]] = []
    workers = {"a": Fake("a", log, [1] * 3, breaks=2), "b": Fake("b", log, [1] * 3)}
    speeds = interleaved.interleave(workers, 3, 1.0, lambda *told: failed.append(told))
    assert log == ["a", "b", "a", "b", "b"]
    assert speeds == {"b": [1, 1, 1]} and failed == [("a", "broken")]


def test_a_worker_stays_alive_between_turns(tmp_path: Path) -> None:
    with worker(tmp_path, ANSWERING) as asked:
        assert [asked.turn(0.5), asked.turn(0.25)] == [(10, 0.5), (10, 0.25)]
    asked.close()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise ValueError('no such game')", "ValueError: no such game"),
        ("import sys; sys.exit(3)", "ended with exit code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "ended by signal 15"),
        ("print('hello')", "not an answer: hello"),
        ("print([1])", "not an answer: .1."),
    ],
)
def test_why_a_worker_does_not_answer(tmp_path: Path, text: str, reason: str) -> None:
    with worker(tmp_path, text) as asked, pytest.raises(interleaved.WorkerError, match=reason):
        asked.turn(0.1)


def test_a_silent_worker_is_given_up(tmp_path: Path) -> None:
    with (
        worker(tmp_path, "import time; time.sleep(600)") as asked,
        pytest.raises(interleaved.WorkerError, match="no answer within 0 seconds"),
    ):
        asked.turn(0.1, patience=0.2)


def test_the_reason_is_the_error_and_not_the_advice_after_it() -> None:
    output = """
      File "setup.py", line 63
      urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>
      [end of output]
    error: subprocess-exited-with-error
    note: This error originates from a subprocess, and is likely not a problem with pip.
    """
    found = installing.reason_in(output)
    assert found == "urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>"
    assert installing.reason_in("ERROR: No matching distribution\nhint: see above\n") == (
        "ERROR: No matching distribution"
    )
    assert installing.reason_in("one\ntwo\n\n") == "two" and installing.reason_in("") == ""


def test_finished_environments_are_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []
    codes = [0, 0, 0, 1, 0, 0]

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        assert "PYTHONPATH" not in options["env"]
        if "venv" in command:
            (tmp_path / "some").mkdir()
            (tmp_path / "some" / "pyvenv.cfg").touch()
        return subprocess.CompletedProcess(command, codes[len(commands) - 1], "no room left\n")

    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setattr(installing.subprocess, "run", run)
    python = installing.install(tmp_path, "some", ["some==1"])
    assert installing.install(tmp_path, "some", ["some==1"]) == python and len(commands) == 2
    # Another release begins anew; what was not finished does too.
    with pytest.raises(installing.InstallError, match="no room left"):
        installing.install(tmp_path, "some", ["some==2"])
    installing.install(tmp_path, "some", ["some==2"])
    assert [command[-1] for command in commands[1::2]] == ["some==1", "some==2", "some==2"]


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter").touch()
    with pytest.raises(installing.InstallError, match="no virtual environment"):
        installing.install(tmp_path, "taken", [])
    assert (tmp_path / "taken" / "letter").exists()


def test_what_cannot_be_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = peers.Neighbour("Absent", ("absent-on-purpose==1.5",), (("PIP_NO_INDEX", "1"),))
    monkeypatch.setattr(peers, "NEIGHBOURS", {"absent": absent})
    result = tmp_path / "result.json"
    peers.main(["--turns", "1", "--envs", str(tmp_path / "envs"), "--json", str(result)])
    (miss,) = json.loads(result.read_text())["missing"]
    assert (miss["library"], miss["version"], miss["path"]) == ("Absent", "1.5", "")
    assert "absent-on-purpose==1.5" in miss["reason"]
    assert "not measured: Absent 1.5: ERROR: " in capsys.readouterr().out


def test_our_side_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Each path is a process of its own, so only the first goes all the way.
    every = peers.list_paths(Path(sys.executable), "mexenv")
    assert len(every) == len({entry.path for entry in every}) >= 8
    assert {entry.games for entry in every} == {1, 1024}
    monkeypatch.setattr(peers, "list_paths", lambda python, key: every[:1])
    result = tmp_path / "result.json"
    peers.main(["--only", "mexenv", "--turns", "2", "--seconds", "0.001", "--json", str(result)])
    content = json.loads(result.read_text())
    assert content["missing"] == [] and content["turns"] == 2
    (row,) = content["rows"]
    assert list(row) == ["library", "version", "path", "games", "steps_per_s", "low", "high"]
    assert [row[field] for field in ("library", "version", "path", "games")] == list(every[0])
    assert 0 < row["low"] <= row["steps_per_s"] <= row["high"]
    assert "1 paths of 1 libraries measured" in capsys.readouterr().out


def test_every_path_of_ours_makes_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS / "neighbours")
    measurements = importlib.import_module("mexenv_paths").paths()
    turn = importlib.import_module("worker").turn
    for path, measurement in measurements.items():
        made = turn(measurement.build(), 0.001)
        assert made["steps"] > 0 and made["seconds"] >= 0.001, path


def test_the_table_has_every_row() -> None:
    rows = [
        peers.Row("One", "1.0", "first [path]", 1, 1234567.0, 1000.0, 2e6),
        peers.Row("One", "1.0", "second", 256, 0.123, 0.1, 0.2),
        peers.Row("Two", "2.0", "third", 1024, 59512.4, 59000.0, 60000.0),
    ]
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(peers.table(rows))
    text = console.export_text()
    assert "first [path]" in text and "1,230,000" in text and "59,500" in text and "0.12" in text
    assert text.count("One 1.0") == text.count("Two 2.0") == 1


@pytest.mark.parametrize(
    "options", [["--turns", "0"], ["--seconds", "0"], ["--seconds", "nan"], ["--only", "chess"]]
)
def test_wrong_options_are_refused(options: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        peers.main(options)
    assert refused.value.code == 2


def test_every_neighbour_is_pinned_and_has_its_paths() -> None:
    for key, neighbour in peers.NEIGHBOURS.items():
        assert (BENCHMARKS / "neighbours" / f"{key}_paths.py").is_file()
        assert all("==" in requirement for requirement in neighbour.requirements)
