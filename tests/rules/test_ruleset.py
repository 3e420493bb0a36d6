"""Fields, refusals and the values derived from a ruleset."""

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

from mexenv.rules import RULE_FIELDS, Ruleset, RulesetError, preset

NUMBERS_AS_WRITTEN = {
    "draws": "1, 2, 'until_playable'",
    "double_outlets": "1, 3",
    "double_blank": "0, 25, 50",
    "players": "a whole number from 2 to 18",
    "set_max": "a whole number from 2 to 18",
    "rounds": "a whole number from 1 to set_max [+] 1",
    "hand_size": "a whole number from 1",
}


@pytest.mark.parametrize("field", NUMBERS_AS_WRITTEN)
@pytest.mark.parametrize("value", [True, False, 1.0, "3", -1, 77.5, [], {}])
def test_numbers_are_numbers(field: str, value: object) -> None:
    with pytest.raises(RulesetError, match=f"{field}=.* not allowed; allowed: {NUMBERS_AS_WRITTEN[field]}"):
        preset("parsons", **{field: value})


@pytest.mark.parametrize("field", [f for f in RULE_FIELDS if Ruleset.model_fields[f].annotation is bool])
@pytest.mark.parametrize("value", [0, 1, "yes", "true", None])
def test_truth_values_are_true_or_false(field: str, value: object) -> None:
    with pytest.raises(RulesetError, match=f"{field}={value!r} is not allowed; allowed: true or false"):
        preset("parsons", **{field: value})


@pytest.mark.parametrize(
    ("field", "allowed"),
    [
        ("engine_from", "'aside', 'dealt', 'highest_held'"),
        ("starter", "'rotate', 'engine_holder', 'left_of_holder'"),
        ("opening", "'single', 'chain', 'chain_hidden', 'delayed'"),
        ("mexican_train", "'anytime', 'after_opening', 'after_own', 'after_all', 'never'"),
        ("marker_on", "'pass', 'own_unplayable'"),
        ("marker_off", "'own_train', 'any_play'"),
        ("failed_extra_marks", "'own', 'double_train'"),
        ("extra", "'anywhere', 'on_double', 'none'"),
        ("doubles_per_turn", "'one', 'two_with_third', 'unlimited'"),
        ("cover_order", "'fifo', 'lifo', 'any'"),
        ("dead_double", "'waits', 'released'"),
        ("block", "'row', 'stalled'"),
        ("scoring", "'penalty', 'winner_takes'"),
        ("tie_break", "'share', 'zero_rounds'"),
    ],
)
def test_words_are_the_listed_ones(field: str, allowed: str) -> None:
    with pytest.raises(RulesetError) as caught:
        preset("parsons", **{field: "Any"})
    assert str(caught.value) == (
        f"ruleset 'parsons-modified': {field}='Any' is not allowed; allowed: {allowed}"
    )


@pytest.mark.parametrize("field", ["set_max", "players"])
@pytest.mark.parametrize("value", [1, 19, 0])
def test_bounds(field: str, value: int) -> None:
    with pytest.raises(RulesetError, match=f"{field}={value} is not allowed"):
        preset("parsons", **{field: value})


def test_one_line_for_each_wrong_field() -> None:
    with pytest.raises(RulesetError) as caught:
        preset("parsons", players=1, draws=3, must_paly=True)
    lines = str(caught.value).splitlines()
    assert lines[0] == "ruleset 'parsons-modified':"
    assert [line.split()[0] for line in lines[1:]] == ["players=1", "draws=3", "unknown"]
    assert "did you mean 'must_play'?" in lines[3]


def test_missing_fields_are_named_in_one_line() -> None:
    with pytest.raises(RulesetError, match=r"^ruleset 'custom': missing: engine_from, rounds.*preset$"):
        Ruleset()


SENSELESS: list[tuple[dict[str, Any], str]] = [
    (
        {"players": 7, "hand_size": 13},
        "players=7 x hand_size=13 needs 91 tiles, but set_max=12 has 90 besides",
    ),
    ({"players": 18, "set_max": 2, "hand_size": 1}, "players=18 x hand_size=1 needs 18.*players up to 5"),
    (
        {"set_max": 6},
        "players=4 x hand_size=7 .from the hand table 'parsons'.*hand_size up to 6 or players up to 3",
    ),
    ({"rounds": 14}, "rounds=14 with set_max=12.*1 to 13"),
    ({"set_max": 9, "rounds": 13}, "rounds=13 with set_max=9.*1 to 10"),
    ({"engine_from": "highest_held", "rounds": 14}, "rounds=14 with set_max=12"),
    ({"starter": "engine_holder"}, "starter='engine_holder' with engine_from='aside'"),
    ({"starter": "left_of_holder"}, "starter='left_of_holder' with engine_from='aside'"),
    ({"double_covers": 3}, "double_covers=3 with double_outlets=1.*1/1, 3/1, 3/3"),
    ({"blanks_wild": True, "double_outlets": 3}, "blanks_wild=True with double_outlets=3"),
    ({"partners": True, "players": 5}, "partners=True with players=5: allowed players: 4, 6, 8"),
    ({"partners": True, "players": 2}, "partners=True with players=2"),
    ({"partners": True, "players": 10, "hand_size": 5}, "partners=True with players=10"),
    ({"swan_drive": True, "partners": True}, "swan_drive=True with partners=True"),
    ({"swan_drive": True, "opening": "delayed"}, "swan_drive=True with opening='delayed'"),
    ({"tie_break": "zero_rounds", "scoring": "winner_takes"}, "tie_break='zero_rounds' with scoring="),
    ({"hand_size": 1, "engine_from": "dealt"}, "hand_size=1 with engine_from='dealt'"),
    ({"hand_size": 1, "engine_from": "highest_held"}, "hand_size=1 with engine_from='highest_held'"),
    ({"hand_table": None}, "hand_size is missing: no hand_table is given"),
]


@pytest.mark.parametrize(("changes", "message"), SENSELESS)
def test_senseless_combinations(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesetError, match=message):
        preset("parsons", **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"players": 7, "hand_size": 13, "engine_from": "dealt"},  # all 91 tiles in hands
        {"players": 18, "set_max": 18, "hand_size": 10},
        {"hand_size": 1},
        {"engine_from": "highest_held", "rounds": 13},
        {"partners": True, "players": 8},
        {"double_outlets": 3, "double_covers": 3},
        {"double_outlets": 3},
        {"swan_drive": True, "opening": "chain"},
        {"tie_break": "zero_rounds"},
        {"out_on_double": False, "extra": "none"},
        {"mexican_train": "after_opening"},
        {"opening_must_start": True},
        {"cover_duty": False, "cover_order": "lifo", "dead_double": "released"},
    ],
)
def test_unusual_but_sensible_combinations(changes: dict[str, Any]) -> None:
    preset("parsons", **changes)


def test_several_senseless_combinations_are_all_named() -> None:
    with pytest.raises(RulesetError) as caught:
        preset("parsons", players=5, partners=True, rounds=20, starter="engine_holder")
    assert len(str(caught.value).splitlines()) == 4


def test_derived_values() -> None:
    rules = preset("parsons", players=3, set_max=9)
    assert (rules.hand, rules.n_values, rules.n_tiles, rules.n_trains) == (11, 10, 55, 4)
    assert (rules.match_rounds, rules.two_way) == (10, False)


@pytest.mark.parametrize(
    ("name", "two_way"),
    [("wikipedia", True), ("parsons_wild", True), ("parsons_chickenfoot", True), ("pagat", False)],
)
def test_two_ways_to_join(name: str, two_way: bool) -> None:
    assert preset(name).two_way is two_way


def test_frozen_hashable_picklable() -> None:
    rules = preset("pagat", players=5)
    with pytest.raises(ValueError, match="frozen"):
        rules.players = 4  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(rules))
    assert again == rules
    assert hash(again) == hash(rules)
    assert {rules: 1}[copy.deepcopy(rules)] == 1
    assert rules != preset("pagat", players=4)


def test_numpy_numbers_are_numbers() -> None:
    rules = preset("parsons", players=np.int64(4), double_blank=np.int32(50))
    assert type(rules.players) is int
    assert rules.digest == preset("parsons_fifty").digest


def test_dict_round_trip_is_plain_json() -> None:
    rules = preset("pagat")
    assert Ruleset(**json.loads(json.dumps(rules.to_dict()))) == rules
    assert set(rules.to_dict()) == {*RULE_FIELDS, "name", "hand_table"}


def test_digest_is_about_the_game_only() -> None:
    rules = preset("parsons")
    assert len(rules.digest) == 16
    assert int(rules.digest, 16) >= 0
    assert rules.replace(name="other").digest == rules.digest
    assert rules.replace(hand_size=14, hand_table=None).digest == rules.digest
    assert rules.replace(hand_size=13).digest != rules.digest
    assert rules.replace(players=3).digest != rules.digest
    assert preset("pagat").digest != preset("pagat_lifo").digest


def test_digest_does_not_drift() -> None:
    # Stored in checkpoints: a change here makes every one of them unreadable.
    assert preset("parsons").digest == "5354bd17e3ebb4b2"


def test_copies_are_checked() -> None:
    rules = preset("parsons")
    assert rules.replace(players=2).hand == 16
    assert rules.model_copy() == rules
    with pytest.raises(RulesetError, match="players=99"):
        rules.replace(players=99)
    with pytest.raises(RulesetError, match="players=99"):
        rules.model_copy(update={"players": 99})


def test_name_is_one_line() -> None:
    for name in ("", " ", "two\nlines", 3):
        with pytest.raises(RulesetError, match=r"name=.* not allowed; allowed: a line"):
            preset("parsons", name=name)
