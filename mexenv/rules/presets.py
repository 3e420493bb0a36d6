"""The presets: one table with a column for each rules document, and the named variations.

A new rule variant is a row of `VARIATIONS`; a new document is a column of `TABLE` and a hand table.
"""

# ruff: noqa: E501
# The two tables keep a row on a line, to be read as tables.

from collections.abc import Mapping
from typing import Any

from mexenv.rules.errors import RulesetError
from mexenv.rules.hands import table_hand
from mexenv.rules.ruleset import RULE_FIELDS, Ruleset, suggestion

DOCUMENTS: tuple[str, ...] = (
    "parsons",
    "wikipedia",
    "dominos_cc",
    "pagat",
    "highest_double",
    "tournament",
)
"""The presets that stand for a set of rules of their own; their hand tables have the same names."""

# `rounds` is for the largest number of doubles: with a smaller set it is one round for each double at most.
# Where a document has no use for a field (an extra in `highest_double`), the value is without effect.
_ALL = 19
# fmt: off
TABLE: dict[str, tuple[Any, ...]] = {
    #                      parsons           wikipedia        dominos_cc   pagat            highest_double    tournament
    "engine_from":        ("aside",          "dealt",         "aside",     "dealt",         "highest_held",   "aside"),
    "rounds":             (_ALL,             _ALL,            6,           _ALL,            1,                _ALL),
    "starter":            ("rotate",         "engine_holder", "rotate",    "engine_holder", "left_of_holder", "rotate"),
    "opening":            ("single",         "chain_hidden",  "single",    "chain",         "single",         "single"),
    "opening_must_start": (False,            False,           False,       True,            False,            False),
    "mexican_train":      ("anytime",        "after_own",     "anytime",   "after_opening", "anytime",        "anytime"),
    "must_play":          (True,             False,           True,        True,            True,             True),
    "must_play_drawn":    (True,             False,           True,        False,           False,            True),
    "draws":              (1,                1,               1,           1,               1,                1),
    "marker_on":          ("pass",           "pass",          "pass",      "pass",          "own_unplayable", "pass"),
    "marker_off":         ("own_train",      "own_train",     "own_train", "any_play",      "own_train",      "own_train"),
    "failed_extra_marks": ("own",            "double_train",  "own",       "own",           "own",            "own"),
    "marked_may_roam":    (True,             False,           True,        True,            True,             True),
    "own_first":          (False,            False,           False,       False,           False,            False),
    "extra":              ("anywhere",       "anywhere",      "anywhere",  "anywhere",      "none",           "on_double"),
    "doubles_per_turn":   ("two_with_third", "unlimited",     "unlimited", "unlimited",     "unlimited",      "one"),
    "cover_duty":         (True,             True,            True,        True,            False,            True),
    "cover_order":        ("fifo",           "fifo",          "fifo",      "fifo",          "fifo",           "fifo"),
    "double_outlets":     (1,                3,               1,           1,               1,                1),
    "double_covers":      (1,                1,               1,           1,               1,                1),
    "dead_double":        ("waits",          "waits",         "waits",     "waits",         "waits",          "released"),
    "out_on_double":      (True,             True,            True,        True,            True,             False),
    "partners":           (False,            False,           False,       False,           False,            False),
    "swan_drive":         (False,            False,           False,       False,           False,            False),
    "blanks_wild":        (False,            False,           False,       False,           False,            False),
    "double_blank":       (0,                50,              0,           0,               0,                50),
    "block":              ("stalled",        "stalled",       "row",       "stalled",       "stalled",        "stalled"),
    "scoring":            ("penalty",        "penalty",       "penalty",   "penalty",       "penalty",        "penalty"),
    "tie_break":          ("share",          "zero_rounds",   "share",     "share",         "share",          "share"),
}

_PLAIN_DOUBLES = {"double_outlets": 1, "double_covers": 1}
VARIATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "wikipedia_slow":           ("wikipedia", {"opening": "single", "starter": "left_of_holder", **_PLAIN_DOUBLES}),
    "wikipedia_delayed":        ("wikipedia", {"opening": "delayed", **_PLAIN_DOUBLES}),
    "wikipedia_no_branching":   ("wikipedia", _PLAIN_DOUBLES),
    "wikipedia_swan_drive":     ("wikipedia", {"swan_drive": True, **_PLAIN_DOUBLES}),
    "wikipedia_private_trains": ("wikipedia", {"mexican_train": "never"}),
    "wikipedia_roaming":        ("wikipedia", {"marked_may_roam": True}),
    "wikipedia_partners":       ("wikipedia", {"partners": True}),
    "pagat_no_duty":            ("pagat", {"cover_duty": False}),
    "pagat_lifo":               ("pagat", {"cover_order": "lifo"}),
    "pagat_single":             ("pagat", {"opening": "single", "mexican_train": "anytime"}),
    "pagat_winner_takes":       ("pagat", {"scoring": "winner_takes"}),
    "parsons_answer":           ("parsons", {"extra": "on_double"}),
    "parsons_one_double":       ("parsons", {"doubles_per_turn": "one"}),
    "parsons_fifty":            ("parsons", {"double_blank": 50}),
    "parsons_wild":             ("parsons", {"blanks_wild": True}),
    "parsons_chickenfoot":      ("parsons", {"double_outlets": 3, "double_covers": 3}),
    "dominos_cc_full":          ("dominos_cc", {"rounds": _ALL}),
}
# fmt: on

PRESETS: tuple[str, ...] = (*DOCUMENTS, *VARIATIONS)
"""The names of all presets."""


def preset(name: str, /, **overrides: Any) -> Ruleset:
    """Returns a preset, with 4 players and the double-12 set unless told otherwise.

    Args:
        name: One of `PRESETS`.
        **overrides: Fields of `Ruleset` to set instead of the preset's. The number of rounds fits itself to
            `set_max`, and the hand to the players and the set, unless given here.

    Raises:
        RulesetError: If there is no such preset or the ruleset is refused.
    """
    return Ruleset(**preset_with(name, overrides))


def preset_with(name: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the constructor's arguments for a preset with overrides, unchecked but for the preset's name.

    Raises:
        RulesetError: If there is no such preset.
    """
    fields = _row(name, overrides.get("set_max", 12))
    fields["name"] = modified_name(name, fields, overrides)
    return fields | dict(overrides)


def modified_name(name: str, fields: Mapping[str, Any], overrides: Mapping[str, Any]) -> str:
    """Returns the name, marked as modified where the overrides change more than the size of the game."""
    changed = any(fields[field] != value for field, value in overrides.items() if field in _IDENTITY)
    return f"{name}-modified" if changed and not name.endswith("-modified") else name


def preset_fields(name: str, players: int = 4, set_max: int = 12) -> dict[str, Any]:
    """Returns what the table says about a preset, every field settled.

    Args:
        name: One of `PRESETS`.
        players: How many play.
        set_max: The highest half of the set.

    Returns:
        A value for each of `RULE_FIELDS`; `rounds` and `hand_size` are whole numbers.

    Raises:
        RulesetError: If there is no such preset, or its hand table has no entry.
    """
    fields = _row(name, set_max) | {"players": players, "set_max": set_max}
    hand = table_hand(fields["hand_table"], set_max, players)
    if hand is None:
        raise RulesetError(
            f"preset {name!r}: hand_size is missing: the hand table {fields['hand_table']!r} has no entry "
            f"for set_max={set_max} with players={players}"
        )
    fields["hand_size"] = hand
    return {field: fields[field] for field in RULE_FIELDS}


# A preset with another value in one of these is no longer the game of that name.
_IDENTITY = frozenset(TABLE) - {"rounds"}


def _row(name: str, set_max: int) -> dict[str, Any]:
    """Returns the fields of a preset, with `rounds` fitted to the set, and its hand table."""
    if name not in PRESETS:
        raise RulesetError(
            f"unknown preset {name!r}{suggestion(name, PRESETS)}; known presets: {', '.join(PRESETS)}"
        )
    base, changes = VARIATIONS.get(name, (name, {}))
    column = DOCUMENTS.index(base)
    fields = {field: values[column] for field, values in TABLE.items()} | changes
    if isinstance(set_max, int):  # anything else is refused with the other fields
        fields["rounds"] = max(1, min(fields["rounds"], set_max + 1))
    return {"name": name, "hand_table": base, **fields}
