"""The match: rounds, openings, turns."""

from __future__ import annotations

from typing import Any

from . import legal, scoring
from .dealing import deal
from .position import Position
from .table import MEXICAN, Action, OpenDouble, Slot, Tile, Train, TrainId, fits, is_double, lay, other_half


class OracleGame(Position):
    """A match of Mexican Train.

    What can be looked at is described in `Position`.
    """

    def __init__(
        self, rules: dict[str, Any], players: int, piles: list[list[Tile]], first_starter: int
    ) -> None:
        """Starts a match and deals its first round.

        Args:
            rules: Every field of the ruleset, the hand size as a number.
            players: Number of seats.
            piles: The shuffled tiles of each round.
            first_starter: Who starts the first round when the start rotates.
        """
        if rules["starter"] != "rotate" and rules["engine_from"] == "aside":
            raise ValueError("starter: nobody holds an engine that is set aside (engine_from)")
        self.rules = dict(rules)
        self.players = players
        self.piles = [[(high, low) for high, low in pile] for pile in piles]
        self.first_starter = first_starter
        self.round_index = 0
        self.starter = 0
        self.round_history = []
        self.totals = [0] * players
        self.to_move = None
        self._start_round()

    # ------------------------------------------------------------------ rounds

    def _start_round(self) -> None:
        """Deals the round `round_index` and asks the first seat."""
        rules = self.rules
        dealt = deal(
            self.piles[self.round_index],
            self.players,
            rules["hand_size"],
            rules["engine_from"],
            rules["set_max"] - self.round_index,
            self.starter,
        )
        self.hands = dealt.hands
        self.boneyard = dealt.boneyard
        self.engine = dealt.engine
        if rules["starter"] == "rotate":
            self.starter = (self.first_starter + self.round_index) % self.players
        else:
            assert dealt.holder is not None
            shift = 1 if rules["starter"] == "left_of_holder" else 0
            self.starter = (dealt.holder + shift) % self.players

        self.trains = {seat: Train(seat, [self.engine]) for seat in range(self.players)}
        self.trains[MEXICAN] = Train(MEXICAN, [])
        self.mexican_starter = None
        self.on_table = {(self.engine, self.engine)}
        self.uncovered = []
        self.markers = [False] * self.players
        self.strikes = [False] * self.players
        self.passed = set()
        self.suspended_for = []
        self.empty_on = {}
        self._clear_turn()

        self.opening_queue = []
        self.laid_in_opening = 0
        if rules["opening"] in ("chain", "chain_hidden"):
            self.opening_queue = [(self.starter + step) % self.players for step in range(self.players)]
            self.stage = "opening"
            self._next_opening()
        else:
            self._begin_turn(self.starter)

    def _finish_round(self, out: list[int]) -> None:
        """Books a round and goes on to the next one or ends the match."""
        rules = self.rules
        pips = [scoring.pips_of(hand, rules["double_blank"]) for hand in self.hands]
        points = scoring.round_points(pips, out, self.players, rules["partners"], rules["scoring"])
        self.totals = [before + now for before, now in zip(self.totals, points, strict=True)]
        self.round_history.append(
            {
                "engine": self.engine,
                "starter": self.starter,
                "scores": points,
                "out": sorted(out),
                "blocked": not out,
                "pips": pips,
            }
        )
        rounds = rules["rounds"]
        if rules["engine_from"] != "highest_held":
            rounds = min(rounds, rules["set_max"] + 1)
        if len(self.round_history) >= min(rounds, len(self.piles)):
            self._clear_turn()
            self.stage = "over"
            self.to_move = None
        else:
            self.round_index += 1
            self._start_round()

    # ------------------------------------------------------------------ opening phase

    def _next_opening(self) -> None:
        """Asks the next seat for its chain, or starts ordinary play."""
        self.laid_in_opening = 0
        if self.opening_queue:
            seat = self.opening_queue.pop(0)
            self.to_move = seat
            # With partners too each seat lays its chain on the train in front of it: the chains count as laid
            # at the same time, so that nobody can build on the partner's.
            self.chain_end = Slot(seat, self.engine)
            return
        self._clear_turn()
        self.stage = "play"
        out = [seat for seat in range(self.players) if self._is_out(seat)]
        if out:
            self._finish_round(out)
        else:
            self._next_turn(self.starter)

    # ------------------------------------------------------------------ turns

    def _clear_turn(self) -> None:
        """Forgets everything that belongs to one turn."""
        self.turn_doubles = []
        self.run_of_doubles = []
        self.chain_end = None
        self.driving = False
        self.drive_at = None
        self.played_own = False
        self.own_tile_fitted = False
        self._new_need()

    def _new_need(self) -> None:
        """Lets the seat draw anew: for its turn, or for another extra."""
        self.drawn_tile = None
        self.draws_made = 0

    def _begin_turn(self, seat: int) -> None:
        """Asks a seat for its turn."""
        self._clear_turn()
        self.to_move = seat
        self.stage = "play"
        if self.binding():
            self.stage = "cover"

    def _next_turn(self, first: int) -> None:
        """Asks the first seat from `first` on that is not skipped."""
        self._suspend_skipping()
        for step in range(self.players):
            seat = (first + step) % self.players
            if not self.skipped(seat):
                self._begin_turn(seat)
                return
        raise AssertionError("all seats are skipped")

    def _suspend_skipping(self) -> None:
        """Stops skipping for the double in force if otherwise nobody would be asked."""
        if not self.skipping_suspended():
            everybody = all(self._barred(seat) for seat in range(self.players))
            self.suspended_for = self.binding() if everybody else []

    def _end_turn(self, failed: bool, marks: set[int] | None = None) -> None:
        """Ends a turn: markers, block, next seat.

        Args:
            failed: Whether it ended with a pass in place of a play that was owed.
            marks: Seats on whose trains that puts a marker.
        """
        seat = self.to_move
        assert seat is not None
        marks = set(marks or ())
        if self.rules["marker_on"] == "own_unplayable" and not self.played_own and not self.own_tile_fitted:
            marks.add(seat)
        raised = self._raise_markers(marks)
        self._clear_turn()
        self.stage = "play"
        if failed:
            if raised and self.rules["block"] == "stalled":
                self.passed = set()
            self.passed.add(seat)
            self._suspend_skipping()
            # Taken at its word: a failed extra that marks nobody can block the round, although one more pass
            # would have marked the last seat and so have brought the skipped ones back.
            asked = {other for other in range(self.players) if not self.skipped(other)}
            if not self.boneyard and asked <= self.passed:
                self._finish_round([])
                return
        self._next_turn((seat + 1) % self.players)

    # ------------------------------------------------------------------ actions

    def step(self, action: Action) -> None:
        """Applies an action.

        Args:
            action: One of `legal_actions()`.

        Raises:
            ValueError: If the action is not legal; nothing has changed then.
        """
        if action not in self.legal_actions():
            raise ValueError(f"not legal now: {action!r}")
        seat = self.to_move
        assert seat is not None
        own_ends = [end for train in self.own_trains(seat) for end in self.trains[train].ends()]
        wild = self.rules["blanks_wild"]
        self.own_tile_fitted = any(fits(tile, end, wild) for tile in self.hands[seat] for end in own_ends)
        if action[0] == "draw":
            self._draw(seat)
        elif action[0] == "pass":
            self._pass(seat)
        else:
            self._play(seat, action)

    def _draw(self, seat: int) -> None:
        """Takes the front tile of the boneyard."""
        self.drawn_tile = self.boneyard.pop(0)
        self.draws_made += 1
        self.hands[seat].add(self.drawn_tile)
        self.empty_on.pop(seat, None)

    def _pass(self, seat: int) -> None:
        """Stops a chain or a drive, or gives up a play that is owed.

        Only the latter counts towards a block, so neither does an opening without a tile.
        """
        if self.stage == "opening":
            if self.rules["opening_must_start"] and not self.laid_in_opening:
                self._raise_markers({seat})
            self._next_opening()
        elif self.stage in ("chain", "drive"):
            self._end_turn(failed=False)
        elif self.stage in ("extra", "third") and self.rules["failed_extra_marks"] == "double_train":
            trains = {double.train for double in self.own_open_doubles()} - {MEXICAN}
            self._end_turn(failed=True, marks={int(train) for train in trains})
        else:
            self._end_turn(failed=True, marks={seat})

    def _is_out(self, seat: int) -> bool:
        """Tells whether a seat's hand is empty and nothing keeps it from going out."""
        return not self.hands[seat] and self.empty_on.get(seat) not in self.uncovered

    def _lay(
        self, seat: int, tile: Tile, train: TrainId, half: int, slot: Slot, chained: bool
    ) -> OpenDouble | None:
        """Puts a tile on the table and brings all lists up to date.

        Returns:
            The new double if it wants a cover; a dead one does not.
        """
        target = self.trains[train]
        if train == MEXICAN and not target.length:
            self.mexican_starter = seat
            target.plain = [self.engine]
        self.hands[seat].remove(tile)
        self.on_table.add(tile)
        rules = self.rules
        fresh = lay(target, slot, tile, half, rules["double_outlets"], rules["double_covers"], chained)
        if slot.double is not None and slot.double not in target.doubles:
            self.uncovered.remove(slot.double)
        if fresh is not None:
            self.uncovered.append(fresh)
            self.turn_doubles.append(fresh)
        # Only the duty of a dead double goes away: its end stays in view, and no branches grow from it.
        self.uncovered = [double for double in self.uncovered if not self._is_dead(double.value)]
        if fresh is not None and not self.hands[seat] and not rules["out_on_double"]:
            self.empty_on[seat] = fresh
        self._lower_markers(seat, train)
        self.passed = set()
        return fresh if fresh in self.uncovered else None

    def _play(self, seat: int, action: Action) -> None:
        """Lays a tile and finds out what comes next in the turn."""
        _, tile, train, half = action
        slot = legal.plays(self, [tile])[action]
        stage = self.stage
        unstarted = not self.trains[train].length
        on_own = train in self.own_trains(seat)
        chained = stage in ("opening", "chain")
        fresh = self._lay(seat, tile, train, half, slot, chained)
        self._new_need()
        self.played_own = self.played_own or on_own

        begins_chain = self.rules["opening"] == "delayed" and on_own and unstarted
        if chained or begins_chain:
            # With partners a first tile on either of the team's trains may be followed by a chain.
            end = other_half(tile, half)
            last = self.trains[train].doubles[-1] if is_double(tile) else None
            self.chain_end = Slot(train, end, last)

        if stage == "opening":
            self.laid_in_opening += 1
            if not self.hands[seat]:
                self._next_opening()
            return
        out = [other for other in range(self.players) if self._is_out(other)]
        if out:
            self._finish_round(out)
            return
        if chained or begins_chain:
            self.stage = "chain"
            if not self.hands[seat]:
                self._end_turn(failed=False)
            return
        self._after_tile(seat, stage, train, slot, fresh)

    def _after_tile(
        self, seat: int, stage: str, train: TrainId, slot: Slot, fresh: OpenDouble | None
    ) -> None:
        """Goes on after a tile outside chains: an extra, the next stop of a drive, or the end of the turn."""
        if stage in ("extra", "third"):
            # A drive outlives an extra only if that covers the double it was owed for. Where a double needs
            # three covers, one extra does not do that.
            owed_for = self.run_of_doubles[-1]
            if slot.double is not owed_for or owed_for in self.uncovered:
                self.driving = False
        elif stage == "play" and train == seat and self.rules["swan_drive"]:
            self.driving = True
            self.drive_at = train
        elif stage == "drive":
            self.drive_at = train

        # A dead double is no `fresh` one: it owes nothing, even as the second of two that need a third tile.
        if fresh is not None and self.rules["extra"] != "none":
            self.run_of_doubles.append(fresh)
            limited = self.rules["doubles_per_turn"] == "two_with_third"
            self.stage = "third" if limited and len(self.run_of_doubles) >= 2 else "extra"
            return
        if self.driving:
            self.run_of_doubles = []  # each stop stands for itself as far as the number of doubles goes
            self.stage = "drive"
            if legal.drive_slots(self, seat):
                return
        self._end_turn(failed=False)
