"""Deals and positions given by hand: checked, then written into a game record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mexenv.engine import state as st
from mexenv.games.errors import PositionError
from mexenv.rules import Ruleset, Tile, all_tiles, format_tile, tile_index

_FIELDS = (
    "hands", "trains", "boneyard", "markers", "to_move", "starter", "round_index", "engine", "waiting",
    "passed", "totals", "opening",
)  # fmt: skip


def _tile(ruleset: Ruleset, where: str, tile: Sequence[int]) -> Tile:
    try:
        a, b = (int(x) for x in tile)
    except (TypeError, ValueError):
        raise PositionError(f"{where}: {tile!r} is not a tile (hi, lo)") from None
    if not (0 <= min(a, b) and max(a, b) <= ruleset.set_max):
        raise PositionError(f"{where}: tile {tile!r} is not in the double-{ruleset.set_max} set")
    return max(a, b), min(a, b)


def check_deal(ruleset: Ruleset, k: int, deal: Sequence[Sequence[int]]) -> list[Tile]:
    """The pile of round `k`, checked to be a permutation of the round's tiles.

    Raises:
        PositionError: tiles are missing, double or foreign.
    """
    where = f"deals[{k}]"
    pile = [_tile(ruleset, where, tile) for tile in deal]
    tiles = set(all_tiles(ruleset.set_max))
    if ruleset.engine_from == "aside":
        engines = [(v, v) for v in range(ruleset.n_values) if (v, v) not in pile]
        if len(engines) == 1:
            tiles -= set(engines)
    missing = sorted(tiles - set(pile))
    twice = sorted({tile for tile in pile if pile.count(tile) > 1})
    if missing or twice or len(pile) != len(tiles):
        told = [f"missing {', '.join(map(format_tile, missing))}"] if missing else []
        told += [f"double {', '.join(map(format_tile, twice))}"] if twice else []
        if not told:
            told = ["the engine set aside must not be in it"]
        raise PositionError(f"{where}: not a permutation of the {len(tiles)} tiles: {'; '.join(told)}")
    return pile


def _seat(ruleset: Ruleset, position: Mapping[str, Any], field: str) -> int:
    seat = int(position.get(field, 0))
    if not 0 <= seat < ruleset.players:
        raise PositionError(f"{field}: {seat}, allowed are seats 0 to {ruleset.players - 1}")
    return seat


def _rows(position: Mapping[str, Any], field: str, n: int, default: Iterable[Any]) -> list[Any]:
    rows = list(position.get(field, default))
    if len(rows) != n:
        raise PositionError(f"{field}: {len(rows)} entries, {n} are needed")
    return rows


def fill_position(ruleset: Ruleset, games: st.StateArray, position: Mapping[str, Any]) -> None:
    """Write a position, described at `Game.from_position`, into the record `games[0]`.

    Raises:
        PositionError: it contradicts itself.
    """
    unknown = sorted(set(position) - set(_FIELDS))
    if unknown:
        raise PositionError(f"position: unknown {', '.join(unknown)}; allowed are {', '.join(_FIELDS)}")
    p, values = ruleset.players, ruleset.n_values
    g = games[0]
    rng = int(g["rng"])
    games.view("u1")[:] = 0
    g["rng"] = rng
    g["lack_since"] = st.UNMARKED
    g["lowest_round"] = float("inf")

    round_index = int(position.get("round_index", 0))
    if not 0 <= round_index < ruleset.match_rounds:
        raise PositionError(f"round_index: {round_index}, allowed are 0 to {ruleset.match_rounds - 1}")
    engine = int(position.get("engine", ruleset.set_max - round_index))
    if not 0 <= engine < values:
        raise PositionError(f"engine: {engine}, allowed are 0 to {ruleset.set_max}")
    g["round_index"], g["engine"] = round_index, engine
    used: dict[Tile, str] = {(engine, engine): "the engine"}

    def claim(where: str, raw: Sequence[int]) -> Tile:
        tile = _tile(ruleset, where, raw)
        if tile in used:
            raise PositionError(f"{where}: tile {format_tile(tile)} is already in {used[tile]}")
        used[tile] = where
        return tile

    g["where"][tile_index(engine, engine)] = st.ENGINE_PLACE
    g["laid"][engine] = 1
    for t, tiles in enumerate(_rows(position, "trains", p + 1, [[]] * (p + 1))):
        end = engine
        for raw in tiles:
            tile = claim(f"trains[{t}]", raw)
            if end not in tile:
                raise PositionError(f"trains[{t}]: {format_tile(tile)} does not join the end {end}")
            end = tile[0] + tile[1] - end
            index = tile_index(*tile)
            g["where"][index] = t + 1
            g["joined_low"][index] = end != tile[0]
            g["order"][g["n_laid"]] = index
            g["n_laid"] += 1
            for v in set(tile):
                g["laid"][v] += 1
        g["end_mask"][t] = 1 << end
        g["length"][t] = len(tiles)
    g["mexican_seat"] = 1 if g["length"][p] else 0
    for s, tiles in enumerate(_rows(position, "hands", p, ())):
        for raw in tiles:
            hi, lo = claim(f"hands[{s}]", raw)
            g["hand"][s, hi] |= 1 << lo
            g["hand"][s, lo] |= 1 << hi
            g["hand_n"][s] += 1
    left = [tile for tile in all_tiles(ruleset.set_max) if tile not in used]
    boneyard = [claim("boneyard", raw) for raw in position.get("boneyard", left)]
    g["pile"][: len(boneyard)] = [tile_index(*tile) for tile in boneyard]
    g["pile_end"] = len(boneyard)
    g["marker"][:p] = _rows(position, "markers", p, [False] * p)
    g["total"][:p] = _rows(position, "totals", p, [0.0] * p)
    g["mover"], g["starter"] = _seat(ruleset, position, "to_move"), _seat(ruleset, position, "starter")
    for s in position.get("passed", ()):
        g["passed"] |= 1 << int(s)
    if position.get("opening", False):
        if not ruleset.opening.startswith("chain"):
            raise PositionError(f"opening: ruleset {ruleset.name!r} has no opening phase")
        g["stage"] = st.OPENING
        g["opening_left"] = p - (int(g["mover"]) - int(g["starter"])) % p
    _fill_waiting(ruleset, g, position)


def _fill_waiting(ruleset: Ruleset, g: Any, position: Mapping[str, Any]) -> None:
    tops: list[tuple[int, int]] = []
    last = {int(g["where"][t]) - 1: int(t) for t in g["order"][: g["n_laid"]]}
    for t in sorted(last):
        end = int(g["end_mask"][t]).bit_length() - 1
        if last[t] == tile_index(end, end):
            tops.append((end, t))
    default = [] if position.get("opening", False) else tops
    for value, train in position.get("waiting", default):
        if (value, train) not in tops:
            raise PositionError(f"waiting: no uncovered {value}-{value} at the end of train {train}")
        if ruleset.dead_double == "released" and g["laid"][value] > ruleset.set_max:
            continue
        q = int(g["q_n"])
        g["q_value"][q], g["q_train"][q] = value, train
        g["q_n"] += 1
