"""The state of a match and what can be asked of it."""

from __future__ import annotations

from typing import Any

from . import legal, scoring
from .table import Action, OpenDouble, Slot, Tile, Train, TrainId


class Position:
    """Everything a match consists of at one moment; the flow of play is added by `OracleGame`.

    Attributes:
        rules: The ruleset as a plain dict.
        players: Number of seats.
        to_move: The seat asked now; None when the match is over.
        round_index: Number of the round, from 0.
        engine: Value of the engine.
        starter: The seat that started the round.
        stage: What the seat is asked for: "opening", "play", "cover", "extra", "third", "chain" or "drive";
            "over" after the match.
        hands: The hands.
        boneyard: Face-down tiles, drawn from the front.
        trains: All trains.
        markers: Marker of each seat's train.
        strikes: With partners, whether a strike stands against each team.
        round_history: One entry per finished round.
        totals: Points so far.
    """

    # The match.
    rules: dict[str, Any]
    players: int
    round_index: int
    starter: int
    to_move: int | None
    stage: str
    round_history: list[dict[str, Any]]
    totals: list[scoring.Points]

    # The round.
    engine: int
    hands: list[set[Tile]]
    boneyard: list[Tile]
    trains: dict[TrainId, Train]
    mexican_starter: int | None
    on_table: set[Tile]
    uncovered: list[OpenDouble]  # in the order laid, dead ones removed
    markers: list[bool]
    strikes: list[bool]
    passed: set[int]  # seats that passed since the last play, for the block
    suspended_for: list[OpenDouble]  # the doubles that once all seats would have been skipped for
    empty_on: dict[int, OpenDouble]  # seats whose last tile is a double that must be covered first
    laid_in_opening: int

    # The turn.
    turn_doubles: list[OpenDouble]
    run_of_doubles: list[OpenDouble]  # doubles that follow each other as extras
    chain_end: Slot | None
    driving: bool
    drive_at: TrainId | None
    played_own: bool
    own_tile_fitted: bool
    drawn_tile: Tile | None
    draws_made: int

    # ------------------------------------------------------------------ looking at the game

    @property
    def ends(self) -> dict[TrainId, list[int]]:
        """Open ends of every train."""
        return {name: train.ends() for name, train in self.trains.items()}

    @property
    def lengths(self) -> dict[TrainId, int]:
        """Number of tiles of every train."""
        return {name: train.length for name, train in self.trains.items()}

    @property
    def waiting(self) -> list[tuple[int, TrainId]]:
        """Doubles that want a cover, in the order laid; the last tile of a running chain is among them."""
        if not self.rules["cover_duty"]:
            return []
        return [(double.value, double.train) for double in self.uncovered]

    @property
    def in_force(self) -> list[tuple[int, TrainId]]:
        """Doubles that bind the seat to move."""
        return [(double.value, double.train) for double in self.binding()]

    @property
    def drawn(self) -> Tile | None:
        """The tile just drawn, if it may be played."""
        if self.drawn_tile is None or not legal.plays(self, [self.drawn_tile]):
            return None
        return self.drawn_tile

    def legal_actions(self) -> list[Action]:
        """Returns all legal actions of the seat to move."""
        return legal.actions(self)

    def places(self) -> list[int]:
        """Returns each seat's place by the points so far."""
        return scoring.rank(
            [entry["scores"] for entry in self.round_history],
            self.players,
            self.rules["partners"],
            self.rules["scoring"],
            self.rules["tie_break"],
        )

    # ------------------------------------------------------------------ small questions

    def partner(self, seat: int) -> int:
        """Returns the seat opposite."""
        return (seat + self.players // 2) % self.players

    def own_trains(self, seat: int) -> list[int]:
        """Returns the train of a seat; with partners those of its team."""
        return sorted((seat, self.partner(seat))) if self.rules["partners"] else [seat]

    def own_open_doubles(self) -> list[OpenDouble]:
        """Returns the doubles laid in the current turn that want a cover."""
        return [double for double in self.uncovered if double in self.turn_doubles]

    def binding(self) -> list[OpenDouble]:
        """Returns the doubles in force: none of this turn, and of the older ones those due by the order."""
        if not self.rules["cover_duty"] or self.stage in ("opening", "over"):
            return []
        older = [double for double in self.uncovered if double not in self.turn_doubles]
        order = self.rules["cover_order"]
        if order == "fifo":
            return older[:1]
        return older[-1:] if order == "lifo" else older

    def skipping_suspended(self) -> bool:
        """Tells whether a double is in force that all seats would have been skipped for."""
        return bool(self.suspended_for) and all(double in self.uncovered for double in self.suspended_for)

    def _barred(self, seat: int) -> bool:
        """Tells whether a seat's marker keeps it from the double in force."""
        force = self.binding()
        if self.rules["marked_may_roam"] or not force or not self.markers[seat]:
            return False
        return not any(double.train in self.own_trains(seat) for double in force)

    def skipped(self, seat: int) -> bool:
        """Tells whether a seat gets no turn for now."""
        return self._barred(seat) and not self.skipping_suspended()

    def _is_dead(self, value: int) -> bool:
        """Tells whether every tile with that value is on the table, where the ruleset cares."""
        if self.rules["dead_double"] != "released" or self.rules["blanks_wild"]:
            return False
        everything = {(max(value, other), min(value, other)) for other in range(self.rules["set_max"] + 1)}
        return everything <= self.on_table

    # ------------------------------------------------------------------ markers

    def _raise_markers(self, seats: set[int]) -> bool:
        """Puts markers up, or strikes against teams; tells whether a marker that was down is up now."""
        before = list(self.markers)
        if self.rules["partners"]:
            for team in {min(self.own_trains(seat)) for seat in seats}:
                if self.strikes[team]:
                    for train in self.own_trains(team):
                        self.markers[train] = True
                self.strikes[team] = True
        else:
            for seat in seats:
                self.markers[seat] = True
        return self.markers != before

    def _lower_markers(self, seat: int, train: TrainId) -> None:
        """Takes down what a play of this seat on that train takes down."""
        own = self.own_trains(seat)
        self.strikes[min(own)] = False
        if train in own or self.rules["marker_off"] == "any_play":
            for mine in own:
                self.markers[mine] = False
