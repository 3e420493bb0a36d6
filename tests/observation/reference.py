"""What each section of an observation should hold, in plain Python from a game's readable attributes."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from mexenv.games import Event, Game
from mexenv.rules.tiles import Tile, all_tiles, tile_index

STAGES = ("opening", "play", "cover", "extra", "third", "chain", "drive")


class PassCount:
    """The seats whose pass counts towards a block, followed through the events."""

    def __init__(self, stalled: bool) -> None:
        self.stalled = stalled
        self.passed: set[int] = set()

    def follow(self, events: list[Event]) -> None:
        kinds = {event.kind for event in events}
        if kinds & {"play", "stop", "deal"}:
            self.passed = set()
        for event in events:
            if event.kind == "pass":
                if self.stalled and "marker_up" in kinds:
                    self.passed = set()
                assert event.seat is not None
                self.passed.add(event.seat)
        if "deal" in kinds:
            self.passed = set()


_READ = (
    "ruleset", "players", "stage", "to_move", "engine", "starter", "round_index", "hands", "boneyard",
    "trains", "ends", "lengths", "markers", "waiting", "drawn", "totals",
)  # fmt: skip


def look(game: Game) -> Any:
    """A game's readable attributes, read once."""
    return SimpleNamespace(**{name: getattr(game, name) for name in _READ})


def points(game: Any, seat: int) -> int:
    price = game.ruleset.double_blank
    return sum(price if tile == (0, 0) else sum(tile) for tile in game.hands[seat])


def may_play_on(game: Any, seat: int, train: int, own: set[int]) -> bool:
    rules = game.ruleset
    started = any(game.lengths[t] for t in own)
    if train in own:
        return True
    if (rules.own_first and not started) or (not rules.marked_may_roam and game.markers[seat]):
        return False
    if train < game.players:
        return bool(game.markers[train])
    return (
        game.lengths[train] > 0
        or {
            "anytime": True,
            "after_opening": True,
            "after_own": started,
            "after_all": all(game.lengths[: game.players]),
            "never": False,
        }[rules.mexican_train]
    )


def base(game: Any, seat: int, passed: set[int]) -> dict[str, Any]:
    """All sections of `base` but `lacks`, as whole numbers.

    Args:
        game: what `look` returned.
        seat: the observing seat.
        passed: the seats whose pass counts.
    """
    rules, p = game.ruleset, game.players
    trains, values = p + 1, rules.n_values
    secret = rules.opening == "chain_hidden" and game.stage == "opening"
    own = {seat, (seat + p // 2) % p} if rules.partners else {seat}

    def place(train: int) -> int:
        return p if train == p else (train - seat) % p

    def shown(train: int) -> bool:
        return not secret or train in (seat, p)

    found: dict[str, Any] = {
        "hand": [int(tile in game.hands[seat]) for tile in all_tiles(rules.set_max)],
        "table": [0] * rules.n_tiles,
        "ends": [[0] * values for _ in range(trains)],
        "train_open": [0] * trains,
        "marker": [0] * p,
        "length": [0] * trains,
        "double_order": [0] * values,
        "double_train": [0] * values,
        "stage": [0] * 8,
        "drawn": [0] * values,
        "hand_size": [0] * p,
        "boneyard": [min(len(game.boneyard), 127)],
        "engine": [int(v == game.engine) for v in range(values)],
        "rounds_left": [rules.match_rounds - game.round_index],
        "starter": [int((seat + k) % p == game.starter) for k in range(p)],
        "to_move": [int((seat + k) % p == game.to_move) for k in range(p)],
        "passed": [int((seat + k) % p in passed) for k in range(p)],
        "pips": [min(points(game, seat) // 2, 127)],
    }
    gaps = [(game.totals[(seat + k) % p] - game.totals[seat]) / 8 for k in range(p)]
    found["scores"] = [max(-127, min(127, round(gap))) for gap in gaps]
    seen: set[Tile] = {(game.engine, game.engine)} | game.hands[seat]
    found["table"][tile_index(game.engine, game.engine)] = trains + 1
    for train in range(trains):
        k = place(train)
        if train < p:
            found["hand_size"][k] = len(game.hands[train]) + (0 if shown(train) else game.lengths[train])
        if not shown(train):
            found["ends"][k][game.engine] = 1
            continue
        for a, b in game.trains[train]:
            seen.add((max(a, b), min(a, b)))
            found["table"][tile_index(a, b)] = k + 1
        for v in game.ends[train] or [game.engine]:
            found["ends"][k][v] = 1
        found["length"][k] = game.lengths[train]
        # While chains are hidden, whether another train may be used would tell of them.
        found["train_open"][k] = int(may_play_on(game, seat, train, own) and (not secret or train == seat))
        if train < p:
            found["marker"][k] = int(game.markers[train])
    for order, (v, train) in enumerate(pair for pair in game.waiting if shown(pair[1])):
        found["double_order"][v] = order + 1
        found["double_train"][v] = place(train) + 1
    if game.to_move == seat:
        found["stage"][STAGES.index(game.stage)] = 1
        for v in game.drawn or ():
            found["drawn"][v] = 1
    else:
        found["stage"][7] = 1
    unseen = [tile for tile in all_tiles(rules.set_max) if tile not in seen]
    found["unseen"] = [sum(v in tile for tile in unseen) for v in range(values)]
    return found


def trail_values(hand: frozenset[Tile], ends: tuple[int, ...]) -> tuple[float, dict[Tile, float]]:
    """Worth of the best trail from some ends, and of the best one that begins with each fitting tile."""

    @functools.cache
    def trails(left: frozenset[Tile], end: int) -> frozenset[tuple[float, int]]:
        """(discounted pips, length) of all trails from an end."""
        found = {(0.0, 0)}
        for tile in left:
            if end in tile:
                rest = trails(left - {tile}, sum(tile) - end)
                found |= {(sum(tile) + 0.92 * pips, length + 1) for pips, length in rest}
        return frozenset(found)

    def begin(tile: Tile, end: int) -> float:
        rest = trails(hand - {tile}, sum(tile) - end)
        return max(worth(length + 1, sum(tile) + 0.92 * pips) for pips, length in rest)

    starts = {tile: max(begin(tile, e) for e in ends if e in tile) for tile in hand if set(ends) & set(tile)}
    return max(starts.values(), default=0.0), starts


def worth(length: int, pips: float) -> float:
    """The value of a trail by its numbers."""
    return pips + 8 * length


def as_rows(section: npt.NDArray[Any]) -> Any:
    """A section as nested lists of whole numbers."""
    return np.asarray(section).tolist()
