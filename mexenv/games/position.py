"""Deals and positions given by hand: checked, then written into a game record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import Any

import numpy as np

from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine.deal import give
from mexenv.engine.lay import lay
from mexenv.games.errors import PositionError
from mexenv.rules import Ruleset, Tile, all_tiles, format_tile, tile_index, tile_of

_FIELDS = (
    "hands", "trains", "boneyard", "markers", "to_move", "starter", "round_index", "engine", "waiting",
    "passed", "totals", "opening", "mexican_starter", "strikes",
)  # fmt: skip


def _tile(ruleset: Ruleset, where: str, tile: Sequence[int]) -> Tile:
    try:
        a, b = (int(x) for x in tile)
    except (TypeError, ValueError):
        raise PositionError(f"{where}: {tile!r} is not a tile (hi, lo)") from None
    if not (min(a, b) >= 0 and max(a, b) <= ruleset.set_max):
        raise PositionError(f"{where}: tile {tile!r} is not in the double-{ruleset.set_max} set")
    return max(a, b), min(a, b)


def check_deal(ruleset: Ruleset, k: int, deal: Sequence[Sequence[int]], engine: int) -> list[Tile]:
    """The pile `deals[k]`, for the round of that engine, checked to be a permutation of its tiles.

    Raises:
        PositionError: tiles are missing, double or foreign.
    """
    where = f"deals[{k}]"
    pile = [_tile(ruleset, where, tile) for tile in _list({where: deal}, where, ())]
    tiles = set(all_tiles(ruleset.set_max))
    if ruleset.engine_from == "aside":
        tiles.remove((engine, engine))
    missing = sorted(tiles - set(pile))
    twice = sorted({tile for tile in pile if pile.count(tile) > 1})
    if missing or twice or len(pile) != len(tiles):
        told = [f"missing {', '.join(map(format_tile, missing))}"] if missing else []
        told += [f"double {', '.join(map(format_tile, twice))}"] if twice else []
        if not told:
            told = [f"the engine {engine}-{engine} is set aside and must not be in it"]
        raise PositionError(f"{where}: not a permutation of the {len(tiles)} tiles: {'; '.join(told)}")
    return pile


def _number(field: str, value: Any, top: int, what: str = "") -> int:
    """`value` as a whole number from 0 to `top`."""
    try:
        number = index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= top:
        raise PositionError(f"{field}: {value!r}, allowed are {what}0 to {top}")
    return number


def _list(position: Mapping[str, Any], field: str, default: Iterable[Any]) -> list[Any]:
    try:
        return list(position.get(field, default))
    except TypeError:
        raise PositionError(f"{field}: {position[field]!r} is not a list") from None


def _bits(flags: list[Any]) -> int:
    """Flags as a bit set, the first one lowest."""
    return sum(bool(flag) << place for place, flag in enumerate(flags))


def _rows(position: Mapping[str, Any], field: str, n: int, default: Iterable[Any]) -> list[Any]:
    rows = _list(position, field, default)
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
    p = ruleset.players
    g = games[0]
    rng = int(g["rng"])
    games.view("u1")[:] = 0
    g["rng"] = rng
    g["lowest_round"] = st.NO_ROUND

    round_index = _number("round_index", position.get("round_index", 0), ruleset.match_rounds - 1)
    engine = _number("engine", position.get("engine", ruleset.set_max - round_index), ruleset.set_max)
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
    g["end_mask"][: p + 1] = 1 << engine
    g["end_n"][: p + 1, engine] = 1
    rules = st.rules_record(ruleset)
    mexican_starter = _number("mexican_starter", position.get("mexican_starter", 0), p - 1, "seats ")
    for t, tiles in enumerate(_rows(position, "trains", p + 1, [[]] * (p + 1))):
        for raw in _list({f"trains[{t}]": tiles}, f"trains[{t}]", ()):
            hi, lo = claim(f"trains[{t}]", raw)
            ends = int(ask.joining_halves(rules[0], int(g["end_mask"][t])))
            joined = next((int(half) for half in raw if ends >> int(half) & 1), None)
            if joined is None:
                end = int(g["end_mask"][t]).bit_length() - 1
                raise PositionError(f"trains[{t}]: {format_tile((hi, lo))} does not join the end {end}")
            seat = t if t < p else mexican_starter
            give(g, seat, hi, lo)
            lay(g, rules[0], seat, t, hi, lo, joined, False)
    for s, tiles in enumerate(_rows(position, "hands", p, ())):
        for raw in _list({f"hands[{s}]": tiles}, f"hands[{s}]", ()):
            hi, lo = claim(f"hands[{s}]", raw)
            give(g, s, hi, lo)
        if not g["hand_n"][s]:
            raise PositionError(f"hands[{s}]: empty, so the round would be over")
    left = [tile for tile in all_tiles(ruleset.set_max) if tile not in used]
    boneyard = [claim("boneyard", raw) for raw in _list(position, "boneyard", left)]
    g["pile"][: len(boneyard)] = [tile_index(*tile) for tile in boneyard]
    g["pile_end"] = len(boneyard)
    g["marker"] = _bits(_rows(position, "markers", p, [False] * p))
    totals = _rows(position, "totals", p, [0.0] * p)
    try:
        g["total"][:p] = [round(float(points) * st.POINT) for points in totals]
    except (TypeError, ValueError, OverflowError):
        raise PositionError(f"totals: {totals}, allowed are numbers") from None
    g["scored"] = any(g["total"])
    for name, field in (("mover", "to_move"), ("starter", "starter")):
        g[name] = _number(field, position.get(field, 0), p - 1, "seats ")
    if ruleset.partners:
        g["strike"] = _bits(_rows(position, "strikes", p // 2, [False] * (p // 2)))
    for s in _list(position, "passed", ()):
        g["passed"] |= 1 << _number("passed", s, p - 1, "seats ")
    g["stage"] = st.PLAY
    if position.get("opening", False):
        if not ruleset.opening.startswith("chain"):
            raise PositionError(f"opening: ruleset {ruleset.name!r} has no opening phase")
        g["stage"] = st.OPENING
        g["opening_left"] = p - (int(g["mover"]) - int(g["starter"])) % p
    g["chain_train"], g["chain_end"] = g["mover"], g["engine"]
    _order_waiting(ruleset, g, position)


def _order_waiting(ruleset: Ruleset, g: Any, position: Mapping[str, Any]) -> None:
    """Put the queue of uncovered doubles, found in the order of the trains, in the order asked for."""
    found = [(int(g["q_value"][q]), int(g["q_train"][q])) for q in range(g["q_n"])]
    start = int(g["starter"])
    p = ruleset.players
    default = sorted(found, key=lambda pair: (pair[1] == p, (pair[1] - start) % p))
    wanted = [tuple(pair) if isinstance(pair, list) else pair for pair in _list(position, "waiting", default)]
    covers = {int(g["q_value"][q]): int(g["q_covers"][q]) for q in range(g["q_n"])}
    for k, pair in enumerate(wanted):
        if pair not in found or pair in wanted[:k]:
            raise PositionError(
                f"waiting: {pair!r}, allowed are (value, train) of uncovered doubles on the table: {found}"
            )
    for value, train in set(found) - set(wanted):
        g["end_n"][train, value] += ruleset.double_covers - covers[value]
    g["q_n"] = len(wanted)
    g["q_fresh"] = 0
    for q, (value, train) in enumerate(wanted):
        g["q_value"][q], g["q_train"][q], g["q_covers"][q] = value, train, covers[value]


def check_record(ruleset: Ruleset, g: Any) -> None:
    """Make sure that a record from outside cannot lead the kernels beyond its arrays.

    Raises:
        PositionError: a number in it is out of range, or a tile is in two places.
    """
    p, values, tiles = ruleset.players, ruleset.n_values, ruleset.n_tiles
    seats = (1 << p) - 1
    tops = {
        "passed": seats, "marker": seats, "strike": seats, "out": seats, "held": (1 << values) - 1,
        "round_index": ruleset.match_rounds - 1, "pile_next": int(g["pile_end"]), "pile_end": tiles,
        "drawn": tiles, "n_laid": tiles, "where": st.ENGINE_PLACE, "order": tiles - 1, "pile": tiles - 1,
        "hand": (1 << values) - 1, "end_mask": (1 << values) - 1, "empty_double": values,
        "q_value": values - 1, "q_train": p, "q_n": values, "stage": st.MATCH_OVER, "mover": p - 1,
        "starter": p - 1, "engine": values - 1, "opening_left": p, "mexican_seat": p, "drive_at": p + 1,
        "chain_train": p, "chain_end": values - 1,
    }  # fmt: skip
    for field, top in tops.items():
        if np.min(g[field]) < 0 or np.max(g[field]) > top:
            raise PositionError(f"snapshot: {field} is out of range")
    laid = [int(t) for t in g["order"][: g["n_laid"]]]
    there = [tile_index(int(g["engine"]), int(g["engine"])), *laid]
    there += [int(t) for t in g["pile"][g["pile_next"] : g["pile_end"]]]
    for s in range(p):
        held = [tile_index(a, b) for a, b in all_tiles(ruleset.set_max) if int(g["hand"][s, a]) >> b & 1]
        there += held
        values_held = sum(1 << v for v in range(values) if g["hand"][s, v])
        pips = sum(tile_of(t)[0] + tile_of(t)[1] for t in held)
        if (len(held), values_held, pips) != (g["hand_n"][s], g["held"][s], g["points"][s]):
            raise PositionError(f"snapshot: hand_n, held or points of seat {s} do not fit its tiles")
    doubles = [int(v) for v in g["q_value"][: g["q_n"]]]
    on_table = all(1 <= g["where"][t] <= p + 1 for t in (*laid, *(tile_index(v, v) for v in doubles)))
    if len(set(there)) < len(there) or len(set(doubles)) < len(doubles) or not on_table:
        raise PositionError("snapshot: a tile is in two places, or in none")


def check_options(ruleset: Ruleset, options: Any) -> None:
    """Make sure that a record of options from outside is one that a game could have.

    Raises:
        PositionError: a number in it is out of range.
    """
    flags = ("match", "skip_forced", "auto_reset", "hold")
    tops = {"round_index": ruleset.match_rounds - 1, "reward": 2, **dict.fromkeys(flags, 1)}
    inside = all(0 <= int(options[name][0]) <= top for name, top in tops.items())
    if not inside or not 0 < float(options["reward_scale"][0]) < np.inf:
        raise PositionError("snapshot: the options are out of range")
