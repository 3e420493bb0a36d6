"""Rulesets from files, mappings and names."""

from pathlib import Path

import pytest

from mexenv.rules import Ruleset, RulesetError, load_ruleset, preset

SHIPPED = Path(__file__).parents[2] / "configs" / "rulesets"


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_rulesets_load(path: Path) -> None:
    assert load_ruleset(path).name == path.stem
    assert load_ruleset(str(path)) == load_ruleset(path)


def test_house_rules() -> None:
    rules = load_ruleset(SHIPPED / "house.yaml")
    base = preset("parsons")
    changed = {key for key, value in rules.to_dict().items() if value != base.to_dict()[key]}
    assert changed == {"name", "own_first", "draws", "double_blank", "dead_double"}


def test_names_mappings_and_rulesets() -> None:
    assert load_ruleset("pagat", players=5) == preset("pagat", players=5)
    assert load_ruleset({"preset": "pagat", "players": 5}) == preset("pagat", players=5)
    assert load_ruleset({"base": "pagat"}, players=5) == preset("pagat", players=5)
    assert load_ruleset(preset("pagat").to_dict()) == preset("pagat")
    rules = preset("pagat")
    assert load_ruleset(rules) is rules


def test_overrides_on_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, "preset: parsons\nplayers: 3\ndouble_blank: 50\n")
    rules = load_ruleset(path, players=2, set_max=9)
    assert (rules.players, rules.hand, rules.rounds, rules.double_blank) == (2, 12, 10, 50)
    assert rules.name == "mine"


def test_another_set_keeps_a_match_over_all_doubles() -> None:
    full, short = preset("parsons"), preset("parsons", rounds=4)
    for source in (full, full.to_dict()):
        assert load_ruleset(source, set_max=9).rounds == 10
        assert load_ruleset(source, set_max=9, rounds=2).rounds == 2
    assert load_ruleset(short, set_max=9).rounds == 4
    assert load_ruleset(full, double_blank=50).name == "parsons-modified"


def test_yaml_truth_values(tmp_path: Path) -> None:
    rules = load_ruleset(write(tmp_path, "preset: pagat\ncover_duty: no\nmust_play_drawn: yes\n"))
    assert (rules.cover_duty, rules.must_play_drawn) == (False, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("preset: [parsons\nplayers: 3\n", r"mine\.yaml: line 2: not valid YAML"),
        ("a: b: c\n", r"mine\.yaml: line 1: not valid YAML"),
        (
            "preset: parsons\nplayers: 3\nplayers: 4\n",
            r"mine\.yaml: line 3: not valid YAML: 'players' stands twice",
        ),
        ("preset: !!python/object/apply:os.getcwd []\n", r"mine\.yaml: line 1: not valid YAML"),
        ("preset: parsons\n\x07", r"mine\.yaml: not valid YAML"),
        ("", r"mine\.yaml: expected fields such as 'preset: parsons', found nothing"),
        ("- parsons\n", r"mine\.yaml: expected fields .*, found a list"),
        ("parsons\n", r"mine\.yaml: expected fields .*, found a str"),
        ("preset: parsonz\n", r"mine\.yaml: unknown preset 'parsonz' \(did you mean 'parsons'\?\)"),
        ("preset: 3\n", r"mine\.yaml: preset=3 is not allowed"),
        ("preset: parsons\nbase: pagat\n", r"mine\.yaml: 'preset' and 'base' mean the same"),
        ("preset: parsons\n3: 4\n", r"mine\.yaml: key 3: allowed are names of fields"),
        ("preset: parsons\ndraw: 2\n", r"mine\.yaml: .*unknown field 'draw' \(did you mean 'draws'\?\)"),
        ("preset: parsons\ndraws: yes\n", r"mine\.yaml: .*draws=True is not allowed; allowed: 1, 2"),
        (
            "preset: parsons\nmust_play: 1\n",
            r"mine\.yaml: .*must_play=1 is not allowed; allowed: true or false",
        ),
        ("players: 4\n", r"mine\.yaml: .*missing: engine_from, .*start from a preset"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(RulesetError, match=message):
        load_ruleset(write(tmp_path, text))


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(RulesetError, match=r"none\.yaml: no such file"):
        load_ruleset(tmp_path / "none.yaml")
    with pytest.raises(RulesetError, match="cannot be read"):
        load_ruleset(tmp_path)
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RulesetError, match="cannot be read"):
        load_ruleset(tmp_path / "binary.yaml")


def test_unknown_names() -> None:
    with pytest.raises(RulesetError, match=r"unknown ruleset 'pagatt' \(did you mean 'pagat'\?\); allowed"):
        load_ruleset("pagatt")
    with pytest.raises(RulesetError, match="ruleset source 3: allowed"):
        load_ruleset(3)  # type: ignore[arg-type]
    with pytest.raises(RulesetError, match="unknown ruleset ''"):
        load_ruleset("")


def test_every_ruleset_can_be_put_in_words() -> None:
    from mexenv.rules import PRESETS

    texts = {name: preset(name).plain_words() for name in PRESETS}
    assert all(sentence.endswith(".") for sentences in texts.values() for sentence in sentences)
    assert len({tuple(sentences) for sentences in texts.values()}) == len(PRESETS)
    assert isinstance(preset("parsons"), Ruleset)
