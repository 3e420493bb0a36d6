"""What a playthrough shows: each characteristic of a ruleset, recognised in a single step.

The names are printed at the head of a golden file, and the table of games says which of them a file has to
show, so that a file cannot quietly stop showing what it is there for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mexenv.games import Event, Game
from mexenv.rules import Tile, tile_index


@dataclass(frozen=True)
class Step:
    """One step of a game: the game before it (a copy), the action taken, and what came of it."""

    before: Game
    action: int
    events: list[Event]
    after: Game

    @property
    def seat(self) -> int:
        """The mover."""
        assert self.before.to_move is not None
        return self.before.to_move

    @property
    def stage(self) -> str:
        """The stage the mover was in."""
        return self.before.stage

    @property
    def kind(self) -> str:
        """`play`, `draw` or `pass`."""
        return self.before.actions.decode(self.action).kind

    @property
    def tile(self) -> Tile | None:
        """The tile played."""
        return self.before.actions.decode(self.action).tile

    @property
    def double(self) -> bool:
        """A double was played."""
        return self.tile is not None and self.tile[0] == self.tile[1]

    @property
    def train(self) -> int:
        """The absolute train played on, -1 without a play."""
        place = self.before.actions.decode(self.action).train
        if place is None:
            return -1
        return self.mexican if place == self.mexican else (self.seat + place) % self.mexican

    @property
    def mexican(self) -> int:
        """The Mexican Train, which is also the number of players."""
        return self.before.players

    @property
    def joined(self) -> int:
        """The value by which the tile joined, -1 without a play."""
        if self.tile is None:
            return -1
        return self.tile[1] if self.after._g["joined_low"][tile_index(*self.tile)] else self.tile[0]

    @property
    def plays(self) -> list[tuple[Tile, int]]:
        """(tile, absolute train) of the legal plays."""
        found = []
        for action in self.before.legal_actions():
            _, tile, place, _ = self.before.actions.decode(action)
            if tile is not None and place is not None:
                train = place if place == self.mexican else (self.seat + place) % self.mexican
                found.append((tile, train))
        return found

    @property
    def round_over(self) -> bool:
        """The step ended the round."""
        return len(self.after.round_history) > len(self.before.round_history)

    @property
    def turn_over(self) -> bool:
        """The step ended the turn, but not the round."""
        return not self.round_over and self.after.to_move != self.seat

    def event(self, kind: str, seat: int | None = None) -> bool:
        """Something of that kind happened (to that seat)."""
        return any(e.kind == kind and seat in (None, e.seat) for e in self.events)

    def hand_fits(self, *trains: int) -> Iterator[Tile]:
        """Tiles of the mover's hand that match an end of one of the trains."""
        ends = {end for train in trains for end in self.before.ends[train]}
        return (tile for tile in self.before.hands[self.seat] if ends & set(tile))

    @property
    def partner(self) -> int:
        """The seat opposite."""
        return (self.seat + self.mexican // 2) % self.mexican


def _opening_chain(s: Step) -> bool:
    return s.stage == "opening" and s.kind == "play" and s.before.lengths[s.seat] > 0


def _opening_double_in_force(s: Step) -> bool:
    return s.stage == "opening" and s.after.stage == "cover"


def _skipped(s: Step) -> bool:
    return s.turn_over and s.stage != "opening" and s.after.to_move != (s.seat + 1) % s.mexican


def _nobody_skipped(s: Step) -> bool:
    at_home = s.before.markers[s.seat] and not s.before.ruleset.marked_may_roam
    return s.stage == "cover" and at_home and all(train != s.seat for _, train in s.before.in_force)


def _on_marked_train(s: Step) -> bool:
    foreign = 0 <= s.train < s.mexican and s.train != s.seat
    return foreign and s.stage == "play" and s.before.markers[s.train]


def _branch(s: Step) -> bool:
    tiles = s.before.trains[s.train] if s.train >= 0 and s.before.ruleset.double_outlets > 1 else []
    return bool(tiles) and s.joined != tiles[-1][1]


def _refused_double(s: Step) -> bool:
    doubles = [tile for tile in s.hand_fits(s.seat, s.mexican) if tile[0] == tile[1]]
    return s.stage == "extra" and any(tile not in {t for t, _ in s.plays} for tile in doubles)


def _refused_extra(s: Step) -> bool:
    on_double = {train for _, train in s.before.waiting}
    elsewhere = {s.seat, s.mexican} - on_double
    return s.stage == "extra" and not s.plays and any(s.hand_fits(*elsewhere))


def _no_mexican_train(s: Step) -> bool:
    able = s.before.lengths[s.seat] > 0 and not s.before.markers[s.seat] and s.stage == "play"
    holds = any(s.before.engine in tile for tile in s.before.hands[s.seat])
    return s.before.ruleset.mexican_train == "never" and able and holds and s.before.drawn is None


def _wild_join(s: Step) -> bool:
    ends = s.before.ends[s.train] if s.train >= 0 else []
    return s.joined == 0 and s.tile != (0, 0) and bool(ends) and 0 not in ends


def _double_left_alone(s: Step) -> bool:
    elsewhere = all(train != s.train for _, train in s.before.waiting)
    return s.stage == "play" and bool(s.before.waiting) and s.kind == "play" and elsewhere


def _empty_hand_not_out(s: Step) -> bool:
    return s.kind == "play" and not s.round_over and not s.after.hands[s.seat] and s.stage != "opening"


def _searched(s: Step) -> bool:
    start = not s.before.action_list
    dealt = s.mexican * s.before.ruleset.hand - (s.before.ruleset.engine_from != "aside")
    return start and sum(map(len, s.before.hands)) > dealt


def _last_scores(s: Step) -> dict[str, Any]:
    return s.after.round_history[-1] if s.round_over else {"out": [], "blocked": False, "scores": []}


def _strike(s: Step) -> bool:
    own = s.before.ruleset.partners and not s.before.markers[s.seat]
    return own and s.kind == "pass" and s.stage in ("play", "cover") and not s.event("marker_up")


def _both_public(s: Step) -> bool:
    return s.before.ruleset.partners and len([e for e in s.events if e.kind == "marker_up"]) == 2


def _failed_extra_marks_nobody(s: Step) -> bool:
    unmarked = not s.before.markers[s.seat] and not s.before.ruleset.partners
    return s.stage == "extra" and s.kind == "pass" and unmarked and not s.event("marker_up")


SHOWS: dict[str, Callable[[Step], bool]] = {
    # deals and openings
    "the engine is searched for": _searched,
    "the round of 0-0": lambda s: s.before.engine == 0,
    "a chain in the opening": _opening_chain,
    "a marker for an empty opening": lambda s: s.stage == "opening" and s.event("marker_up"),
    "an empty opening without a marker": lambda s: (
        s.stage == "opening" and s.kind == "pass" and not s.before.lengths[s.seat] and not s.events[1:]
    ),
    "a double of the opening comes in force": _opening_double_in_force,
    "a delayed chain": lambda s: s.stage == "chain" and s.train >= 0,
    "a chain from a drawn tile": lambda s: s.before.drawn is not None and s.after.stage == "chain",
    # where tiles go
    "the Mexican Train is started": lambda s: s.train == s.mexican and not s.before.lengths[s.mexican],
    "no Mexican Train for an engine tile": _no_mexican_train,
    "a play on a marked train": _on_marked_train,
    "a marked player roams": lambda s: (
        s.stage == "play" and s.before.markers[s.seat] and s.train not in (-1, s.seat)
    ),
    "a branch": _branch,
    "a blank joins another value": _wild_join,
    "a tile joins a blank": lambda s: (
        s.train >= 0 and s.joined > 0 and s.before.ends[s.train] == [0] and s.before.ruleset.blanks_wild
    ),
    "0-0 is played": lambda s: s.tile == (0, 0),
    # must and may
    "a play held back": lambda s: (
        s.stage in ("play", "cover") and s.train < 0 and bool(s.plays) and s.before.drawn is None
    ),
    "a drawn tile kept": lambda s: s.before.drawn is not None and s.kind == "pass" and bool(s.plays),
    "a drawn tile played": lambda s: s.before.drawn is not None and s.kind == "play",
    # markers
    "a marker comes down": lambda s: s.event("marker_down"),
    "a marker comes down by a play elsewhere": lambda s: s.event("marker_down") and s.train != s.seat,
    "a marker goes up after a play": lambda s: s.kind == "play" and s.event("marker_up", s.seat),
    "a strike": _strike,
    "two strikes open both trains": _both_public,
    "a play on the partner's train": lambda s: (
        s.before.ruleset.partners and s.train == s.partner and not s.before.markers[s.partner]
    ),
    "a seat is skipped": _skipped,
    "nobody is skipped, all being marked": _nobody_skipped,
    # doubles
    "an extra on the double": lambda s: s.stage == "extra" and s.event("covered"),
    "an extra elsewhere": lambda s: (
        s.stage == "extra" and s.train >= 0 and s.before.waiting[-1] in s.after.waiting
    ),
    "a failed extra marks the player": lambda s: s.stage == "extra" and s.event("marker_up", s.seat),
    "a failed extra marks nobody": _failed_extra_marks_nobody,
    "a second double in a turn": lambda s: s.stage == "extra" and s.double and len(s.after.waiting) > 1,
    "a third tile on one of two doubles": lambda s: s.stage == "third" and s.kind == "play",
    "a double refused as extra": _refused_double,
    "an extra refused elsewhere": _refused_extra,
    "a double owes nothing": lambda s: s.double and s.turn_over and s.stage == "play",
    "an open double left alone": _double_left_alone,
    "a cover by another player": lambda s: s.stage == "cover" and s.event("covered") and s.train != s.seat,
    "a cover does not finish a double": lambda s: (
        (s.joined, s.train) in s.before.waiting and s.before.waiting == s.after.waiting
    ),
    "the newer double comes first": lambda s: (
        s.stage == "cover" and len(s.before.waiting) > 1 and s.before.in_force == s.before.waiting[-1:]
    ),
    "two doubles wait": lambda s: s.turn_over and len(s.after.waiting) > 1,
    "a dead double is released": lambda s: s.event("released"),
    "an open double as last tile is not out": _empty_hand_not_out,
    # drives
    "a drive": lambda s: s.stage == "drive" and s.train >= 0,
    "a drive of several stops": lambda s: s.stage == s.after.stage == "drive" and s.train >= 0,
    "a drive goes on after a double": lambda s: s.stage == "extra" and s.after.stage == "drive",
    # ends
    "out": lambda s: bool(_last_scores(s)["out"]),
    "out with a double": lambda s: bool(_last_scores(s)["out"]) and s.double,
    "blocked": lambda s: bool(_last_scores(s)["blocked"]),
    "blocked as a marker goes up": lambda s: bool(_last_scores(s)["blocked"]) and s.event("marker_up"),
    "0-0 left in hand": lambda s: s.round_over and any((0, 0) in hand for hand in s.before.hands),
}
"""Name of each characteristic, and how to recognise it."""


def shown(step: Step) -> list[str]:
    """Names of what a step shows."""
    return [name for name, test in SHOWS.items() if test(step)]
