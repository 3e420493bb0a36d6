"""Rules: the tiles, the fields of a ruleset, the presets, and the numbering of actions."""

from mexenv.rules.actions import Action, ActionLayout
from mexenv.rules.errors import RulesetError
from mexenv.rules.hands import HAND_TABLES, table_hand
from mexenv.rules.loading import load_ruleset, read_ruleset_file
from mexenv.rules.presets import DOCUMENTS, PRESETS, VARIATIONS, preset, preset_fields
from mexenv.rules.ruleset import RULE_FIELDS, Ruleset
from mexenv.rules.tiles import (
    Tile,
    all_tiles,
    format_tile,
    n_tiles,
    parse_tile,
    pips,
    tile_index,
    tile_of,
)

__all__ = [
    "DOCUMENTS",
    "HAND_TABLES",
    "PRESETS",
    "RULE_FIELDS",
    "VARIATIONS",
    "Action",
    "ActionLayout",
    "Ruleset",
    "RulesetError",
    "Tile",
    "all_tiles",
    "format_tile",
    "load_ruleset",
    "n_tiles",
    "parse_tile",
    "pips",
    "preset",
    "preset_fields",
    "read_ruleset_file",
    "table_hand",
    "tile_index",
    "tile_of",
]
