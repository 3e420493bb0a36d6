"""The presets against the rules documents, written out by hand."""

import pytest

from mexenv.rules import (
    DOCUMENTS,
    PRESETS,
    RULE_FIELDS,
    VARIATIONS,
    RulesetError,
    preset,
    preset_fields,
    table_hand,
)

EXPECTED = {
    "parsons": {
        "engine_from": "aside",
        "rounds": 13,
        "starter": "rotate",
        "opening": "single",
        "mexican_train": "anytime",
        "must_play": True,
        "must_play_drawn": True,
        "draws": 1,
        "marker_on": "pass",
        "marker_off": "own_train",
        "failed_extra_marks": "own",
        "marked_may_roam": True,
        "own_first": False,
        "extra": "anywhere",
        "doubles_per_turn": "two_with_third",
        "cover_duty": True,
        "cover_order": "fifo",
        "double_outlets": 1,
        "double_covers": 1,
        "dead_double": "waits",
        "out_on_double": True,
        "partners": False,
        "swan_drive": False,
        "blanks_wild": False,
        "double_blank": 0,
        "block": "stalled",
        "scoring": "penalty",
        "tie_break": "share",
    },
    "wikipedia": {
        "engine_from": "dealt",
        "rounds": 13,
        "starter": "engine_holder",
        "opening": "chain_hidden",
        "opening_must_start": False,
        "mexican_train": "after_own",
        "must_play": False,
        "must_play_drawn": False,
        "draws": 1,
        "marker_on": "pass",
        "marker_off": "own_train",
        "failed_extra_marks": "double_train",
        "marked_may_roam": False,
        "extra": "anywhere",
        "doubles_per_turn": "unlimited",
        "cover_duty": True,
        "cover_order": "fifo",
        "double_outlets": 3,
        "double_covers": 1,
        "dead_double": "waits",
        "out_on_double": True,
        "double_blank": 50,
        "block": "stalled",
        "scoring": "penalty",
        "tie_break": "zero_rounds",
    },
    "dominos_cc": {
        "engine_from": "aside",
        "rounds": 6,
        "starter": "rotate",
        "opening": "single",
        "mexican_train": "anytime",
        "must_play": True,
        "must_play_drawn": True,
        "marker_on": "pass",
        "marker_off": "own_train",
        "failed_extra_marks": "own",
        "marked_may_roam": True,
        "extra": "anywhere",
        "doubles_per_turn": "unlimited",
        "cover_duty": True,
        "cover_order": "fifo",
        "double_outlets": 1,
        "double_covers": 1,
        "dead_double": "waits",
        "out_on_double": True,
        "double_blank": 0,
        "block": "row",
        "tie_break": "share",
    },
    "pagat": {
        "engine_from": "dealt",
        "rounds": 13,
        "starter": "engine_holder",
        "opening": "chain",
        "opening_must_start": True,
        "mexican_train": "after_opening",
        "must_play": True,
        "must_play_drawn": False,
        "marker_on": "pass",
        "marker_off": "any_play",
        "failed_extra_marks": "own",
        "marked_may_roam": True,
        "extra": "anywhere",
        "doubles_per_turn": "unlimited",
        "cover_duty": True,
        "cover_order": "fifo",
        "double_outlets": 1,
        "double_covers": 1,
        "dead_double": "waits",
        "out_on_double": True,
        "double_blank": 0,
        "block": "stalled",
        "scoring": "penalty",
        "tie_break": "share",
    },
    "highest_double": {
        "engine_from": "highest_held",
        "rounds": 1,
        "starter": "left_of_holder",
        "opening": "single",
        "mexican_train": "anytime",
        "must_play": True,
        "must_play_drawn": False,
        "marker_on": "own_unplayable",
        "marker_off": "own_train",
        "marked_may_roam": True,
        "extra": "none",
        "cover_duty": False,
        "double_outlets": 1,
        "double_covers": 1,
        "out_on_double": True,
        "double_blank": 0,
        "block": "stalled",
        "tie_break": "share",
    },
    "tournament": {
        "engine_from": "aside",
        "rounds": 13,
        "starter": "rotate",
        "opening": "single",
        "mexican_train": "anytime",
        "must_play": True,
        "must_play_drawn": True,
        "marker_on": "pass",
        "marker_off": "own_train",
        "failed_extra_marks": "own",
        "marked_may_roam": True,
        "extra": "on_double",
        "doubles_per_turn": "one",
        "cover_duty": True,
        "cover_order": "fifo",
        "double_outlets": 1,
        "double_covers": 1,
        "dead_double": "released",
        "out_on_double": False,
        "double_blank": 50,
        "block": "stalled",
        "tie_break": "share",
    },
}

# What differs from the preset in front of the first underscore group.
EXPECTED_CHANGES = {
    "wikipedia_slow": {"opening": "single", "starter": "left_of_holder", "double_outlets": 1},
    "wikipedia_delayed": {"opening": "delayed", "double_outlets": 1},
    "wikipedia_no_branching": {"double_outlets": 1},
    "wikipedia_swan_drive": {"swan_drive": True, "double_outlets": 1},
    "wikipedia_private_trains": {"mexican_train": "never"},
    "wikipedia_roaming": {"marked_may_roam": True},
    "wikipedia_partners": {"partners": True},
    "pagat_no_duty": {"cover_duty": False},
    "pagat_lifo": {"cover_order": "lifo"},
    "pagat_single": {"opening": "single", "mexican_train": "anytime"},
    "pagat_winner_takes": {"scoring": "winner_takes"},
    "parsons_answer": {"extra": "on_double"},
    "parsons_one_double": {"doubles_per_turn": "one"},
    "parsons_fifty": {"double_blank": 50},
    "parsons_wild": {"blanks_wild": True},
    "parsons_chickenfoot": {"double_outlets": 3, "double_covers": 3},
    "dominos_cc_full": {"rounds": 13},
}


def test_the_names() -> None:
    assert set(DOCUMENTS) == set(EXPECTED)
    assert set(VARIATIONS) == set(EXPECTED_CHANGES)
    assert set(PRESETS) == set(EXPECTED) | set(EXPECTED_CHANGES)


@pytest.mark.parametrize("name", EXPECTED)
def test_document_fields(name: str) -> None:
    fields = preset_fields(name)
    assert {field: fields[field] for field in EXPECTED[name]} == EXPECTED[name]
    assert tuple(fields) == RULE_FIELDS


@pytest.mark.parametrize("name", EXPECTED_CHANGES)
def test_variation_changes_exactly_these_fields(name: str) -> None:
    base = preset_fields(VARIATIONS[name][0])
    assert name.startswith(VARIATIONS[name][0] + "_")
    fields = preset_fields(name)
    assert {field: fields[field] for field in fields if fields[field] != base[field]} == EXPECTED_CHANGES[
        name
    ]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_makes_sense(name: str) -> None:
    rules = preset(name)
    assert rules.name == name
    settled = {field: getattr(rules, field) for field in RULE_FIELDS} | {"hand_size": rules.hand}
    assert settled == preset_fields(name)


@pytest.mark.parametrize(
    ("set_max", "parsons", "dominos_cc", "dominos_cc_full", "highest_double"),
    [(12, 13, 6, 13, 1), (9, 10, 6, 10, 1), (4, 5, 5, 5, 1), (18, 19, 6, 19, 1)],
)
def test_rounds_fit_the_set(
    set_max: int, parsons: int, dominos_cc: int, dominos_cc_full: int, highest_double: int
) -> None:
    def rounds(name: str) -> int:
        return preset(name, set_max=set_max, players=2, hand_size=3).match_rounds

    assert rounds("parsons") == parsons
    assert rounds("dominos_cc") == dominos_cc
    assert rounds("dominos_cc_full") == dominos_cc_full
    assert rounds("highest_double") == highest_double


HANDS = {
    ("parsons", 12): {2: 16, 3: 15, 4: 14, 5: 12, 6: 11, 7: 10, 8: 9, 9: None, 18: None},
    ("parsons", 9): {2: 12, 3: 11, 4: 10, 5: None},
    ("parsons", 15): {8: None, 9: 11, 12: 11},
    ("parsons", 18): {8: None, 9: 11, 16: 11},
    ("parsons", 6): {2: 7, 3: 7, 4: 7},
    ("parsons", 7): {2: None},
    ("wikipedia", 6): {2: 7, 4: 7, 5: None},
    ("wikipedia", 12): {2: 15, 3: 15, 4: 15, 5: 12, 6: 12, 7: 11, 8: 11},
    ("wikipedia", 9): {2: 15, 3: 15},
    ("wikipedia", 18): {13: 11, 17: 11},
    ("dominos_cc", 12): {2: 15, 3: 15, 4: 15, 5: None},
    ("dominos_cc", 9): {2: None},
    ("pagat", 12): {2: 15, 4: 15, 5: 12, 6: 12, 7: 10, 8: 10, 9: 8, 10: 8, 11: None},
    ("pagat", 15): {4: 15, 10: 8},
    ("highest_double", 12): {2: 15, 6: 15},
    ("tournament", 12): {2: 15, 4: 15, 5: 12, 6: 12, 7: 10, 8: 10, 9: None},
}


@pytest.mark.parametrize(("table", "set_max"), HANDS)
def test_hand_tables(table: str, set_max: int) -> None:
    expected = HANDS[table, set_max]
    assert {players: table_hand(table, set_max, players) for players in expected} == expected


@pytest.mark.parametrize(
    ("name", "set_max", "players"),
    [
        ("parsons", 6, 3),
        ("parsons", 9, 4),
        ("parsons", 12, 8),
        ("parsons", 15, 12),
        ("parsons", 18, 17),  # 187 of the 189 tiles besides the engine
        ("wikipedia", 6, 4),  # all 28 tiles
        ("wikipedia", 12, 8),
        ("wikipedia", 15, 12),
        ("wikipedia", 18, 16),
        ("pagat", 12, 10),
        ("highest_double", 12, 6),
        ("tournament", 12, 8),
    ],
)
def test_sets_that_serve(name: str, set_max: int, players: int) -> None:
    rules = preset(name, set_max=set_max, players=players)
    assert rules.players * rules.hand <= rules.n_tiles


def test_overrides_go_before_the_table() -> None:
    rules = preset("parsons", players=2, hand_size=5, double_blank=25)
    assert (rules.players, rules.hand, rules.double_blank) == (2, 5, 25)
    assert rules.name == "parsons-modified"
    assert preset("parsons", players=2, set_max=9, rounds=3).name == "parsons"
    assert preset("parsons", double_blank=25, name="ours").name == "ours"


def test_unknown_preset_suggests_the_near_name() -> None:
    with pytest.raises(RulesetError, match=r"unknown preset 'parson' \(did you mean 'parsons'\?\); known"):
        preset("parson")


def test_a_hand_without_an_entry_is_required() -> None:
    with pytest.raises(
        RulesetError, match=r"hand_size is missing.*'parsons'.*set_max=9 with players=5.*2, 3, 4"
    ):
        preset("parsons", set_max=9, players=5)
    with pytest.raises(RulesetError, match=r"hand_size is missing.*'dominos_cc' has no entry for set_max=9;"):
        preset("dominos_cc", set_max=9)
    with pytest.raises(RulesetError, match="hand_size is missing"):
        preset_fields("dominos_cc", set_max=9)
    assert preset("parsons", set_max=9, players=5, hand_size=8).hand == 8
