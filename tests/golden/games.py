"""The table of golden games.

A seed that no longer shows what it should is replaced by one that `python -m tests.golden --search` finds.
"""

from __future__ import annotations

from tests.golden.playthrough import Plan

_WIKIPEDIA = ("a seat is skipped", "a play held back", "a failed extra marks nobody")
_PARSONS = ("the Mexican Train is started", "a play on a marked train", "a cover by another player")

GAMES: dict[str, Plan] = {
    "parsons": Plan(
        2435,
        (
            *_PARSONS,
            "a third tile on one of two doubles",
            "a failed extra marks the player",
            "a marker comes down",
            "a double refused as extra",
        ),
        hand_size=7,
    ),
    "wikipedia": Plan(
        563,
        (
            *_WIKIPEDIA,
            "a branch",
            "a chain in the opening",
            "a double of the opening comes in force",
            "a drawn tile kept",
        ),
    ),
    "dominos_cc": Plan(
        1239, (*_PARSONS, "a second double in a turn", "two doubles wait", "blocked as a marker goes up")
    ),
    "pagat": Plan(
        2402,
        (
            "the engine is searched for",
            "a marker for an empty opening",
            "a chain in the opening",
            "a double of the opening comes in force",
            "a marker comes down by a play elsewhere",
            "a drawn tile kept",
        ),
        hand_size=4,
    ),
    "highest_double": Plan(
        186,
        (
            "a marker goes up after a play",
            "a double owes nothing",
            "an open double left alone",
            "a drawn tile kept",
            "the Mexican Train is started",
        ),
    ),
    "tournament": Plan(
        740,
        (
            "an extra refused elsewhere",
            "an extra on the double",
            "a double owes nothing",
            "an open double as last tile is not out",
            "a cover by another player",
        ),
    ),
    "wikipedia_slow": Plan(288, (*_WIKIPEDIA, "a drawn tile kept", "an extra elsewhere")),
    "wikipedia_delayed": Plan(1256, (*_WIKIPEDIA, "a delayed chain", "a chain from a drawn tile")),
    "wikipedia_no_branching": Plan(
        28, (*_WIKIPEDIA, "a chain in the opening", "nobody is skipped, all being marked")
    ),
    "wikipedia_swan_drive": Plan(
        210, ("a drive of several stops", "a drive goes on after a double", "a seat is skipped"), players=4
    ),
    "wikipedia_private_trains": Plan(
        1206,
        ("no Mexican Train for an engine tile", "a seat is skipped", "a branch", "a play on a marked train"),
    ),
    "wikipedia_roaming": Plan(
        230, ("a marked player roams", "a branch", "a play held back", "a failed extra marks nobody")
    ),
    "wikipedia_partners": Plan(
        311,
        (
            "a strike",
            "two strikes open both trains",
            "a play on the partner's train",
            "a branch",
            "a seat is skipped",
        ),
        players=4,
    ),
    "pagat_no_duty": Plan(
        298,
        (
            "an open double left alone",
            "a chain in the opening",
            "an extra elsewhere",
            "a marker comes down by a play elsewhere",
        ),
        hand_size=5,
    ),
    "pagat_lifo": Plan(
        206,
        ("the newer double comes first", "a cover by another player", "a marker for an empty opening"),
        hand_size=5,
    ),
    "pagat_single": Plan(
        150,
        (
            "the Mexican Train is started",
            "a marker comes down by a play elsewhere",
            "a drawn tile kept",
            "a second double in a turn",
        ),
        hand_size=5,
    ),
    "pagat_winner_takes": Plan(
        40,
        (
            "out",
            "a marker for an empty opening",
            "a marker comes down by a play elsewhere",
            "an extra elsewhere",
        ),
        hand_size=5,
    ),
    "parsons_answer": Plan(
        114, ("an extra refused elsewhere", "an extra on the double", "a cover by another player")
    ),
    "parsons_one_double": Plan(
        149, ("a double refused as extra", "an extra elsewhere", "a cover by another player")
    ),
    "parsons_fifty": Plan(
        1619, ("0-0 left in hand", "a third tile on one of two doubles", "out with a double")
    ),
    "parsons_wild": Plan(
        17,
        ("a blank joins another value", "a tile joins a blank", "0-0 is played", "a cover by another player"),
    ),
    "parsons_chickenfoot": Plan(
        231,
        ("a cover does not finish a double", "a branch", "a cover by another player", "an extra elsewhere"),
    ),
    "dominos_cc_full": Plan(7, ("the round of 0-0", "out", "blocked"), players=2, hand_size=2, rounds=7),
}
