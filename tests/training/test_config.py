import subprocess
import sys

import pytest
import yaml

from training.config import ConfigError, load_config, parse_config, reference, shipped_configs

BASE = {"minutes": 1}


@pytest.mark.parametrize("name", sorted(shipped_configs()))
def test_shipped_configs_are_valid_and_survive_writing(name, tmp_path):
    config = load_config(name)
    assert config.name == name
    path = tmp_path / "again.yaml"
    path.write_text(config.to_yaml())
    assert load_config(path) == config


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ppo": {"epoch": 3}}, ["'ppo.epoch'", "did you mean 'epochs'", "learning_rate"]),
        ({"game": 3}, ["'game'", "did you mean 'games'"]),
        ({"ppo": {"clip": 3.0}}, ["ppo.clip=3.0", "at most 1"]),
        ({"games": "many"}, ["games='many'", "a whole number"]),
        ({"games": True}, ["games=True", "a whole number"]),
        ({"layout": "full"}, ["layout='full'", "'base' or 'plan'"]),
        ({"ppo": {"gamma": 0}}, ["ppo.gamma=0", "more than 0"]),
        ({"ppo": 3}, ["ppo=3", "fields"]),
        ({"network": {"hidden": [64, 0]}}, ["hidden=[64, 0]", "1 to 4096"]),
        ({"minutes": None}, ["decisions=None", "minutes=None"]),
        ({"players": 40}, ["players=40"]),
        ({"ruleset": "domino"}, ["'domino'", "dominos_cc"]),
        ({"overrides": {"draw": 2}}, ["draw"]),
        ({"algorithm": "maskable_ppo"}, ["opponents.names=[]"]),
        ({"opponents": {"share": 0.5}}, ["share=0.5", "names or snapshots"]),
        ({"name": "../x"}, ["name='../x'"]),
    ],
)
def test_a_wrong_field_is_named_with_its_value_and_what_is_allowed(fields, words):
    with pytest.raises(ConfigError) as error:
        parse_config({**BASE, **fields}, "my.yaml")
    message = str(error.value)
    assert message.startswith("my.yaml: ")
    assert "\n" not in message or all(line.startswith("my.yaml: ") for line in message.splitlines())
    for word in words:
        assert word in message


def test_unknown_names_and_files_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'quickstart'"):
        load_config("quickstrat")
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path / "none.yaml")
    (tmp_path / "list.yaml").write_text("- 1\n")
    with pytest.raises(ConfigError, match="expected fields"):
        load_config(tmp_path / "list.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1\n")
    with pytest.raises(ConfigError, match="not valid YAML"):
        load_config(tmp_path / "broken.yaml")
    (tmp_path / "code.yaml").write_text("minutes: !!python/object/apply:os.system ['true']\n")
    with pytest.raises(ConfigError, match="not valid YAML"):
        load_config(tmp_path / "code.yaml")


def test_changes_go_before_the_file():
    assert load_config("quickstart", minutes=0.5, seed=None).minutes == 0.5


def test_every_field_has_a_description():
    for line in reference().splitlines():
        assert not line.endswith("| None |") and not line.endswith("|  |")
    assert "`ppo.gae_lambda`" in reference()


def test_the_configuration_loads_without_torch():
    code = "import sys, training.config as c; c.load_config('quickstart'); print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_numbers_with_underscores_are_numbers():
    assert isinstance(yaml.safe_load("x: 2_000")["x"], int)
