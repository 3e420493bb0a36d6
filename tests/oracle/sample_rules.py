"""Rulesets for the oracle's own tests."""

from __future__ import annotations

import random
from typing import Any

from .table import Tile

PARSONS: dict[str, Any] = {
    "set_max": 6,
    "hand_size": 7,
    "engine_from": "aside",
    "rounds": 1,
    "starter": "rotate",
    "opening": "single",
    "opening_must_start": False,
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
}
DOMINOS_CC = {**PARSONS, "doubles_per_turn": "unlimited", "block": "row"}
PAGAT = {
    **PARSONS,
    "engine_from": "dealt",
    "starter": "engine_holder",
    "opening": "chain",
    "opening_must_start": True,
    "mexican_train": "after_opening",
    "must_play_drawn": False,
    "marker_off": "any_play",
    "doubles_per_turn": "unlimited",
}
HIGHEST_DOUBLE = {
    **PARSONS,
    "engine_from": "highest_held",
    "starter": "left_of_holder",
    "must_play_drawn": False,
    "marker_on": "own_unplayable",
    "extra": "none",
    "cover_duty": False,
}
TOURNAMENT = {
    **PARSONS,
    "extra": "on_double",
    "doubles_per_turn": "one",
    "dead_double": "released",
    "out_on_double": False,
    "double_blank": 50,
}
WIKIPEDIA = {
    **PARSONS,
    "engine_from": "dealt",
    "starter": "engine_holder",
    "opening": "chain_hidden",
    "mexican_train": "after_own",
    "must_play": False,
    "must_play_drawn": False,
    "failed_extra_marks": "double_train",
    "marked_may_roam": False,
    "doubles_per_turn": "unlimited",
    "double_outlets": 3,
    "double_blank": 50,
    "tie_break": "zero_rounds",
}
FLAT_WIKIPEDIA = {**WIKIPEDIA, "double_outlets": 1}

BASES = {
    "parsons": PARSONS,
    "dominos_cc": DOMINOS_CC,
    "pagat": PAGAT,
    "highest_double": HIGHEST_DOUBLE,
    "tournament": TOURNAMENT,
    "wikipedia": WIKIPEDIA,
    "slow": {**FLAT_WIKIPEDIA, "opening": "single", "starter": "left_of_holder"},
    "delayed": {**FLAT_WIKIPEDIA, "opening": "delayed"},
    "swan": {**FLAT_WIKIPEDIA, "swan_drive": True},
    "private": {**WIKIPEDIA, "mexican_train": "never"},
    "partners": {**WIKIPEDIA, "partners": True},
    "roaming_partners": {**DOMINOS_CC, "partners": True, "scoring": "winner_takes"},
    "wild": {**PARSONS, "blanks_wild": True},
    "chickenfoot": {**PARSONS, "double_outlets": 3, "double_covers": 3},
}


def all_tiles(set_max: int) -> list[Tile]:
    """Returns every tile of a set."""
    return [(high, low) for high in range(set_max + 1) for low in range(high + 1)]


def random_piles(rules: dict[str, Any], rng: random.Random) -> list[list[Tile]]:
    """Shuffles a pile for every round of a match."""
    piles = []
    for number in range(rules["rounds"]):
        pile = all_tiles(rules["set_max"])
        if rules["engine_from"] == "aside":
            engine = rules["set_max"] - number
            pile.remove((engine, engine))
        rng.shuffle(pile)
        piles.append(pile)
    return piles
