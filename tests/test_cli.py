"""The command line: what it prints, where errors go, and that nothing heavy is loaded for a help text."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mexenv.cli import app
from mexenv.rules import DOCUMENTS, RULE_FIELDS, VARIATIONS, preset_fields

COMMANDS = ("train", "evaluate", "export", "play", "replay", "agents", "rules", "bench")


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
    for command in COMMANDS:
        assert command in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_text(command: str) -> None:
    assert run(command, "--help").exit_code == 0


def test_rules() -> None:
    told = run("rules", "parsons").stdout
    assert "two_with_third" in told and "4 players" in told
    assert "3 players" in run("rules", "parsons", "--players", "3").stdout
    assert "must_play: false" in run("rules", "wikipedia").stdout
    assert "did you mean 'parsons'" in refused("rules", "parson")
    assert "mexenv rules NAME --players N" in refused("rules", "--players", "3")


def test_the_presets_side_by_side() -> None:
    lines = run("rules").stdout.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.strip()}
    assert tuple(rows["field"]) == DOCUMENTS
    assert [name for name in rows if name in RULE_FIELDS] == list(RULE_FIELDS)
    for column, name in enumerate(DOCUMENTS):
        for field, value in preset_fields(name).items():
            word = str(value).lower() if isinstance(value, bool) else str(value)
            differs = value != preset_fields("parsons")[field]
            assert rows[field][column] == word + "*" * differs
    assert "*: differs from parsons" in lines
    for name, (base, _) in VARIATIONS.items():
        assert rows[name][:2] == [base, "with"]
    assert " ".join(rows["wikipedia_no_branching"]) == "wikipedia with double_outlets: 1"


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
    trained = {line.split()[0]: line for line in lines[4:]}
    assert "policy trained for dominos_cc, 4 players, double-12" in trained["dominos_cc-ppo"]


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
    assert "type the number of a move; Ctrl-D leaves the game" in result.stdout
    assert "human (you)" in result.stdout and "final scores" in result.stdout
    assert "greedy draws" in result.stdout
    before_the_end = result.stdout[: result.stdout.index("scores:")]
    assert not any(line.startswith("greedy draws ") for line in before_the_end.splitlines())


def test_a_person_leaves() -> None:
    result = run("play", "human", "greedy", "-p", "2", "--seed", "3", typed="1\n")
    assert result.exit_code == 1
    assert "the game was left before its end" in result.stderr
    assert result.stdout.endswith(": \n")  # the message begins a line


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
    assert not data.with_suffix(".png").exists()


def test_evaluate_draws_beside_the_json_file(tmp_path: Path) -> None:
    data = tmp_path / "results.json"
    result = run("evaluate", "greedy", "-p", "2", "--deals", "2", "--json", str(data))
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json", "results.png"]
    assert (tmp_path / "results.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("evaluate", "plannner"), "did you mean 'planner'"),
        (("evaluate", "no/such/folder"), "no such folder"),
        (("evaluate", "x" * 5000), "File name too long"),
        (("evaluate", "human", "greedy"), "human is for `mexenv play`"),
        (("evaluate", "random", "--engine", "9" * 5000), "allowed are first, random"),
        (("evaluate", "random", "-p", "9"), "players=9"),
        (("evaluate", "random", "-r", "wikipedia_partners", "-p", "5"), "partners=True with players=5"),
        (("evaluate", "random", "--engine", "third"), "allowed are first, random, and the numbers 0 to 5"),
        (("evaluate", "random", "--deals", "0"), "--deals"),
        (("play", "random", "random", "greedy", "-p", "2"), "3 agents for 2 players"),
        (("play", "nobody"), "unknown agent 'nobody'"),
        (("evaluate", "random", "--json", "out.png"), "--json out.png: the picture would go over it"),
        (("replay", "no/such.json"), "no/such.json: no such file"),
        (("replay", __file__), "not valid JSON"),
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


def test_a_recorded_game_is_told_again(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    words = ("planner", "greedy", "-p", "3", "-r", "tournament", "--seed", "5", "--match")
    live = run("play", *words, "--save", str(file)).stdout.splitlines()
    assert live == run("play", *words).stdout.splitlines()
    told = run("replay", str(file)).stdout.splitlines()
    events = [line for line in live if " plays " in line or " draws" in line or "scores" in line]
    assert [line for line in told if " plays " in line or " draws" in line or "scores" in line] == events
    assert told.count("the round is over") == 13
    assert told[-4:] == live[-4:]
    assert told[-5:-4] == [""] and told[-4] == "final scores"


def test_a_recorded_game_as_one_seat_saw_it_and_up_to_a_move(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    run("play", "planner", "greedy", "-p", "2", "--seed", "5", "--save", str(file))
    moves = len(json.loads(file.read_text())["actions"])
    whole = run("replay", str(file)).stdout
    assert run("replay", str(file), "--until", str(moves)).stdout == whole
    part = run("replay", str(file), "--until", "9", "--seat", "1").stdout
    assert part.count("tiles, ") == 1 and "greedy (you)" in part and "final scores" not in part
    assert not any(line.startswith("planner draws ") for line in part.splitlines())
    start = run("replay", str(file), "--until", "0").stdout
    assert " plays " not in start and "planner: 15 tiles" in start
    assert f"--until {moves + 1}: allowed are 0 to {moves}" in refused(
        "replay", str(file), "--until", str(moves + 1)
    )
    assert "--until -1: allowed" in refused("replay", str(file), "--until", "-1")
    assert "--seat 2: allowed are 0 to 1" in refused("replay", str(file), "--seat", "2")


def test_a_picture_of_a_recorded_game(tmp_path: Path) -> None:
    file, picture = tmp_path / "game.json", tmp_path / "new" / "position.png"
    run("play", "greedy", "-p", "2", "--seed", "5", "--save", str(file))
    result = run("replay", str(file), "--until", "20", "--seat", "0", "--picture", str(picture))
    assert result.exit_code == 0 and result.stdout == "", result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    message = refused("replay", str(file), "--picture", str(tmp_path / "game.json"))
    assert "allowed are names that end in .png" in message
    assert json.loads(file.read_text())["format"] == "mexenv-game"


def test_a_game_that_was_left_is_recorded_up_to_there(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    result = run("play", "human", "greedy", "-p", "2", "--seed", "3", "--save", str(file), typed="1\n1\n")
    assert result.exit_code == 1
    told = run("replay", str(file))
    assert told.exit_code == 0 and " plays " in told.stdout and "final scores" not in told.stdout


def test_a_changed_record_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    run("play", "greedy", "-p", "2", "--seed", "5", "--save", str(file))
    content = json.loads(file.read_text())
    content["result"]["totals"][0] += 1
    file.write_text(json.dumps(content))
    assert "game.json: result.totals[0]: " in refused("replay", str(file))


def test_a_ruleset_of_the_house_serves_wherever_a_preset_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mexenv import BatchGame, load_ruleset, mexican_train_v0
    from mexenv.envs import SeatEnv
    from training.config import load_config

    monkeypatch.chdir(tmp_path)
    Path("house.yaml").write_text("preset: parsons\nplayers: 3\ndraws: 2\ndouble_blank: 50\n")
    rules = load_ruleset("house.yaml")
    assert (rules.name, rules.players, rules.draws, rules.rounds) == ("house", 3, 2, 13)
    assert "up to two tiles" in run("rules", "house.yaml").stdout
    assert "house, 3 players, 2 deals" in run("evaluate", "greedy", "-r", "house.yaml", "--deals", "2").stdout
    assert "house | round 1 of 13" in run("play", "greedy", "-r", "house.yaml", "--save", "game.json").stdout
    assert (
        "house, 2 players" in run("evaluate", "greedy", "-r", "house.yaml", "-p", "2", "--deals", "2").stdout
    )
    assert BatchGame(rules, 2).ruleset == rules
    assert mexican_train_v0.env(ruleset="house.yaml").unwrapped.ruleset == rules
    assert SeatEnv(ruleset="house.yaml").unwrapped.ruleset == rules

    Path("run.yaml").write_text("ruleset: house.yaml\nminutes: 1\n")
    config = load_config("run.yaml")
    assert config.rules() == rules
    Path("kept.yaml").write_text(config.to_yaml())
    Path("house.yaml").unlink()  # a run keeps its rules, a recorded game too
    assert load_config("kept.yaml").rules() == rules
    assert "house | round 1 of 13" in run("replay", "game.json").stdout


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
