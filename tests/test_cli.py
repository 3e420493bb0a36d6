"""The command line: what it prints, where errors go, and that nothing heavy is loaded for a help text."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mexenv.cli import app
from mexenv.rules import PRESETS


def run(*words: str, typed: str | None = None) -> Result:
    return CliRunner().invoke(app, list(words), input=typed)


def refused(*words: str) -> str:
    """The message of a refused command; it stands alone on standard error, without a traceback."""
    result = run(*words)
    assert result.exit_code in (1, 2), result.output
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


def test_version() -> None:
    import importlib.metadata

    assert run("--version").stdout.strip() == f"mexenv {importlib.metadata.version('mexenv')}"


def test_help_is_quick() -> None:
    code = (
        "import sys\n"
        "from mexenv.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'onnxruntime', 'matplotlib', 'PIL', 'torch', 'training', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for command in ("train", "evaluate", "export", "play", "agents", "rules"):
        assert command in done.stdout


@pytest.mark.parametrize("command", ["train", "evaluate", "export", "play", "agents", "rules"])
def test_every_command_has_a_help_text(command: str) -> None:
    assert run(command, "--help").exit_code == 0


def test_rules() -> None:
    listed = run("rules").stdout
    for name in PRESETS:
        assert name in listed
    told = run("rules", "parsons").stdout
    assert "two_with_third" in told and "4 players" in told
    assert "3 players" in run("rules", "parsons", "--players", "3").stdout
    assert "must_play: False" in run("rules", "wikipedia").stdout
    assert "did you mean 'parsons'" in refused("rules", "parson")


def test_rules_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("preset: dominos_cc\nplayers: 3\ndraws: 2\n")
    assert "up to two tiles" in run("rules", str(file)).stdout
    file.write_text("preset: dominos_cc\ndraw: 2\n")
    assert "unknown field 'draw'" in refused("rules", str(file))


def test_agents() -> None:
    lines = run("agents").stdout.splitlines()
    assert [line.split()[0] for line in lines][:4] == ["random", "greedy", "own_first", "planner"]
    assert all(len(line.split()) > 3 for line in lines)


def test_play_tells_the_game() -> None:
    result = run("play", "planner", "greedy", "--players", "3", "--seed", "5")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("a round with engine 12-12 is dealt, ")
    assert any(line.startswith("greedy-1 plays ") for line in lines)
    assert lines[-4] == "final scores"
    totals = [float(line.split()[-1]) for line in lines[-3:]]
    assert totals == sorted(totals)
    assert run("play", "planner", "greedy", "--players", "3", "--seed", "5").stdout == result.stdout


def test_play_a_match_without_people() -> None:
    result = run("play", "own_first", "-p", "2", "-r", "tournament", "--match", "--seed", "1")
    assert result.stdout.count("is dealt,") == 13


def test_a_person_plays() -> None:
    result = run("play", "human", "greedy", "-p", "2", "--seed", "3", typed="hello\n0\n" + "1\n" * 300)
    assert result.exit_code == 0, result.output
    assert "not a move: 'hello'" in result.stdout and "not a move: '0'" in result.stdout
    assert "human (you)" in result.stdout and "final scores" in result.stdout
    assert "greedy draws" in result.stdout
    before_the_end = result.stdout[: result.stdout.index("scores:")]
    assert not any(line.startswith("greedy draws ") for line in before_the_end.splitlines())


def test_a_person_leaves() -> None:
    result = run("play", "human", "greedy", "-p", "2", "--seed", "3", typed="1\n")
    assert result.exit_code == 1
    assert "the game was left before its end" in result.stderr


def test_evaluate(tmp_path: Path) -> None:
    data, picture = tmp_path / "out" / "results.json", tmp_path / "results.png"
    files = ("--json", str(data), "--plot", str(picture))
    result = run("evaluate", "planner", "random", "-p", "2", "--deals", "20", *files)
    assert result.exit_code == 0, result.output
    assert "planner" in result.stdout and "pips a round" in result.stdout
    content = json.loads(data.read_text())
    assert content["deals"] == 20 and content["players"] == 2
    assert [row["agent"] for row in content["rows"]] == ["planner", "random"]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("evaluate", "plannner"), "did you mean 'planner'"),
        (("evaluate", "no/such/folder"), "no such folder"),
        (("evaluate", "random", "-p", "9"), "players=9"),
        (("evaluate", "random", "-r", "wikipedia_partners", "-p", "5"), "partners=True with players=5"),
        (("evaluate", "random", "--engine", "third"), "allowed are first, random, and the numbers 0 to 5"),
        (("evaluate", "random", "--deals", "0"), "--deals"),
        (("play", "random", "random", "greedy", "-p", "2"), "3 agents for 2 players"),
        (("play", "nobody"), "unknown agent 'nobody'"),
        (("train", "no_such_config"), "unknown training config 'no_such_config'"),
        (("train", "./missing.yaml"), "missing.yaml: no such file"),
        (("export", "runs/none", "name"), "runs/none"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_errors_are_one_message(words: tuple[str, ...], message: str) -> None:
    if words[0] in ("train", "export"):
        pytest.importorskip("torch")
    assert message in " ".join(refused(*words).split())


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("evaluate", "random", "-p", "2", "--deals", "1", "--json", str(tmp_path / "file" / "x.json"))
    assert result.exit_code == 1 and result.stderr.startswith("error: ")
    assert "x.json" in result.stderr or "file" in result.stderr


@pytest.mark.parametrize("words", [("train", "quickstart"), ("export", "runs/some", "name")])
def test_without_the_training_extra(words: tuple[str, ...]) -> None:
    code = "import sys; sys.modules['torch'] = None; from mexenv.cli import app; app(sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert "training needs the extra: pip install mexenv[train]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_hidden_opening_is_told_when_it_is_over() -> None:
    result = run("play", "greedy", "human", "-p", "2", "-r", "wikipedia", "--seed", "4", typed="1\n" * 300)
    assert result.exit_code == 0, result.output
    opening = result.stdout.rindex("human lays the opening train")
    assert "greedy plays" not in result.stdout[:opening]
    assert "greedy plays" in result.stdout[opening:]
