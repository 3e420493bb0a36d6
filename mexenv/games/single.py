"""One game, friendly: readable state, events, copies, replays, positions set up by hand."""

from __future__ import annotations

import base64
import json
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from mexenv.engine import deal as dealing
from mexenv.engine import decisions as ask
from mexenv.engine import episode as episodes
from mexenv.engine import state as st
from mexenv.engine.episode import EPISODE
from mexenv.engine.play import next_turn
from mexenv.games.errors import IllegalActionError, PositionError
from mexenv.games.events import Event, deal_event
from mexenv.games.log import GameLog, StepEvents, fill_pile
from mexenv.games.options import (
    check_dtype,
    check_layout,
    check_seat,
    illegal_text,
    options_record,
    seeds_for,
)
from mexenv.games.position import check_deal, check_options, check_record, fill_position
from mexenv.games.slot import ENDED, ILLEGAL, Slot
from mexenv.games.view import GameView
from mexenv.observation import ObservationLayout, make_layout
from mexenv.rules import ActionLayout, Ruleset, Tile, load_ruleset, tile_index

_SNAPSHOT_FORMAT = 2


class Game(GameView):
    """One game of Mexican Train: a match or a single round.

    Seats are numbered clockwise from 0. Trains are absolute here: train s belongs to seat s, train
    `players` is the Mexican Train. Action ids, however, are egocentric: they count trains from the mover
    (`actions`, an `ActionLayout`).

    Copies by `clone`, `copy.deepcopy` and `pickle` are full copies of the live game.

    Attributes:
        ruleset: the rules.
        actions: the action layout.
        players: seats.
        first_starter: the seat drawn (or given) to start the first round.
        round_history: one dict a finished round: round, engine, starter, scores, out, blocked.
        rewards: float [players], rewards of the last step.
    """

    def __init__(
        self,
        ruleset: Ruleset | str | Path | Mapping[str, Any],
        *,
        seed: int | None = None,
        episode: Literal["match", "round"] = "match",
        engine: str | int = "first",
        reward: Literal["relative", "pips", "win"] = "relative",
        reward_scale: float | None = None,
        deals: Sequence[Sequence[Tile]] | None = None,
        first_starter: int | None = None,
    ) -> None:
        """Deal a game.

        Args:
            ruleset: the rules, or what `load_ruleset` takes: a preset's name, a YAML file, a mapping.
            seed: everything random follows from it; None for a fresh one from the system.
            episode: a whole `match`, or a single `round`.
            engine: the round that a single-round game plays: `first`, `random` or an index.
            reward: see `BatchGame`.
            reward_scale: see `BatchGame`.
            deals: piles to deal instead of shuffled ones, one a round: all tiles of the set (without the
                engine where it is set aside), hands first in blocks, seat 0 first, then the boneyard.
                Rounds beyond the list are shuffled.
            first_starter: the seat that starts the first round, where the starter rotates.

        Raises:
            PositionError: a deal is not a permutation of the tiles.
            ValueError: an option is not allowed.
        """
        ruleset = load_ruleset(ruleset)
        self.ruleset = ruleset
        self.players = ruleset.players
        self.actions = ActionLayout(ruleset)
        options = options_record(ruleset, episode, engine, reward, reward_scale, False, False)
        options["hold"] = True  # the piles may be given
        self._slot = Slot(ruleset, options, make_layout("base", ruleset))
        self.round_history: list[dict[str, Any]] = []
        self._over = False
        if first_starter is not None:
            check_seat("first_starter", first_starter, self.players)
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
        self._deal_first(int(seeds_for(seed, 1)[0]), first_starter, deals or ())

    # --- what the record and the log hold ---------------------------------------------------

    @property
    def over(self) -> bool:
        """The match (or the single round) is over."""
        return self._over

    @property
    def _mask(self) -> npt.NDArray[np.int8]:
        return self._slot.mask

    @property
    def rewards(self) -> npt.NDArray[np.float32]:
        """Rewards of the last step by seat, float32 [players], new at each look."""
        return self._slot.rewards.copy()

    @property
    def events(self) -> list[Event]:
        """What has happened, in order; new at each look. It tells everything, hidden tiles too."""
        return self._log.events.copy()

    @property
    def action_list(self) -> list[int]:
        """The action ids carried out so far, new at each look."""
        return self._log.actions.copy()

    @property
    def deals(self) -> list[list[Tile]]:
        """The pile of each round so far, tiles in the order they were dealt."""
        return self._log.deals

    # --- playing ----------------------------------------------------------------------------

    def action_mask(self, seat: int | None = None) -> npt.NDArray[np.int8]:
        """The action mask of a seat.

        Args:
            seat: the seat, None for the mover.

        Returns:
            int8 [n_actions]; all zero for a seat that is not to move.

        Raises:
            ValueError: there is no such seat.
        """
        if seat is not None:
            check_seat("seat", seat, self.players)
            if seat != self.to_move:
                return np.zeros_like(self._slot.mask)
        return self._slot.mask.copy()

    def legal_actions(self) -> list[int]:
        """Action ids of the mover, ascending; empty when the game is over."""
        return self._slot.legal()

    def observe(
        self,
        seat: int | None = None,
        layout: str | ObservationLayout = "base",
        dtype: npt.DTypeLike = np.float32,
    ) -> npt.NDArray[Any]:
        """What a seat may know.

        Args:
            seat: the observing seat, None for the mover.
            layout: layout or its name.
            dtype: float32 (scaled) or int8 (whole numbers).

        Returns:
            float32 or int8 [layout.size].

        Raises:
            ValueError: there is no such seat, or the layout or dtype is not allowed.
        """
        slot = self._slot
        if seat is None and (layout == "base" or layout is slot.layout):
            if dtype is np.int8:
                return slot.observation.copy()
            if dtype is np.float32:
                return slot.scaled_view().copy()
        if isinstance(layout, str):
            layout = make_layout(layout, self.ruleset)
        if seat is None and layout is slot.layout:
            view = slot.observation
        else:
            check_layout(layout, self.ruleset)
            if seat is not None:
                check_seat("seat", seat, self.players)
            view = slot.observe(int(self._g["mover"]) if seat is None else seat, layout)
        return view.copy() if check_dtype(dtype) == np.int8 else layout.to_float(view)

    def step(self, action: int) -> Sequence[Event]:
        """Carry out an action of the mover; a following round is dealt at once.

        Args:
            action: an action id of the mover.

        Returns:
            What happened, in order.

        Raises:
            IllegalActionError: the mover does not have this action; nothing has changed.
        """
        number = action if type(action) is int else _whole(action)
        slot = self._slot
        try:
            result = slot.call(slot.slots, number) if number >= 0 else ILLEGAL
        except OverflowError:
            result = ILLEGAL
        if result == ILLEGAL:
            raise IllegalActionError(self._complaint(action, number))
        log = self._log
        actions = log.actions
        actions.append(number)
        if result >= ENDED:
            self._finish_round(result // ENDED == EPISODE)
        return StepEvents(log, len(actions) - 1)

    def _complaint(self, action: object, number: int) -> str:
        if number < 0:
            return f"action {action!r} is not legal: ids are whole numbers from 0 on"
        if self.over:
            return f"action {number} is not legal: the game is over"
        return illegal_text(self.actions, number, self.legal_actions())

    def _finish_round(self, last: bool) -> None:
        """Note the scores of a round and deal the next."""
        self._over = last
        g = self._g
        p = self.players
        self.round_history.append(
            {
                "round": self.round_index,
                "engine": self.engine,
                "starter": self.starter,
                "scores": [int(x) / st.POINT for x in g["round_score"][:p]],
                "out": [s for s in range(p) if int(g["out"]) >> s & 1],
                "blocked": bool(g["blocked"]),
            }
        )
        if not last:
            dealing.begin_next_round(g, self._rules[0])
            self._log.piles.append(self._next_pile(len(self._log.piles)))
            dealing.deal_next_round(g, self._rules[0])
            self._slot.show()

    def _deal_first(self, rng: int, first_starter: int | None, deals: Sequence[Sequence[Tile]]) -> None:
        """As `new_match`, but with given piles and starter."""
        g, r = self._g, self._rules[0]
        self._games["rng"] = rng
        if self._options["round_index"][0] < 0:
            self._options["round_index"] = dealing.below(g, ask.rounds(r))
        first = int(self._options["round_index"][0])
        rounds = self.ruleset.match_rounds - first if self._options["match"][0] else 1
        if len(deals) > rounds:
            raise PositionError(f"deals: {len(deals)} piles, the game has {rounds} rounds")
        top = self.ruleset.set_max - first
        self._given = [check_deal(self.ruleset, k, deal, top - k) for k, deal in enumerate(deals)]
        dealing.clear_match(g, first)
        starter = dealing.below(g, self.players)
        g["starter"] = starter if first_starter is None else first_starter
        self.first_starter = int(g["starter"])
        pile = self._next_pile(0)
        dealing.deal_round(g, r, 0)
        self._slot.show()
        self._log = GameLog(self.actions, self._rules, self._games, piles=[pile], events=[deal_event(g)])

    def _next_pile(self, n: int) -> bytes:
        """Put the tiles of the n-th round on the pile: those given, or all shuffled."""
        g = self._g
        if n < len(self._given):
            fill_pile(g, bytes(tile_index(*tile) for tile in self._given[n]))
        else:
            dealing.shuffle(g, self._rules[0])
        return bytes(g["pile"][: g["pile_end"]].tolist())

    # --- copies and records -----------------------------------------------------------------

    def clone(self) -> Self:
        """An independent copy of the live game."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._slot = self._slot.copy()
        twin._log = self._log.copy()
        twin.round_history = list(self.round_history)
        return twin

    def __copy__(self) -> Self:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = self.clone()
        memo[id(self)] = twin
        return twin

    def snapshot(self) -> bytes:
        """The whole game as bytes (JSON, safe to load), for `restore`."""
        content = {
            "format": _SNAPSHOT_FORMAT,
            "ruleset": self.ruleset.to_dict(),
            "options": base64.b64encode(self._options.tobytes()).decode(),
            "state": base64.b64encode(self._games.tobytes()).decode(),
            "actions": self.action_list,
            "deals": self.deals,
            "given": self._given,
            "first_starter": self.first_starter,
            "rounds": self.round_history,
            "rewards": self.rewards.tolist(),
            "events": [list(e) for e in self.events],
        }
        return json.dumps(content).encode()

    def restore(self, snapshot: bytes) -> None:
        """Go back to a snapshot of a game of the same ruleset.

        Raises:
            PositionError: the bytes are no snapshot, or of another ruleset; nothing has changed.
        """
        try:
            content = json.loads(snapshot)
            if content["format"] != _SNAPSHOT_FORMAT:
                raise PositionError(f"snapshot: format {content['format']}, allowed is {_SNAPSHOT_FORMAT}")
            theirs = Ruleset(**content["ruleset"])
            if theirs.digest != self.ruleset.digest:
                raise PositionError(
                    f"snapshot: made under ruleset {theirs.name!r}, this game plays {self.ruleset.name!r}"
                )
            games = np.frombuffer(base64.b64decode(content["state"]), self._games.dtype).copy()
            options = np.frombuffer(base64.b64decode(content["options"]), episodes.OPTIONS).copy()
            if games.shape != (1,) or options.shape != (1,):
                raise PositionError("snapshot: the state has the wrong size")
            events = [
                Event(k, s, None if t is None else tuple(t), *rest) for k, s, t, *rest in content["events"]
            ]
            deals = [[(int(a), int(b)) for a, b in deal] for deal in content["deals"]]
            given = [[(int(a), int(b)) for a, b in deal] for deal in content["given"]]
            rewards = np.array(content["rewards"], np.float32)
            actions = [int(a) for a in content["actions"]]
            rounds, starter = [dict(entry) for entry in content["rounds"]], int(content["first_starter"])
            if rewards.shape != self.rewards.shape:
                raise PositionError("snapshot: the rewards have the wrong size")
            if not (all(0 <= a < self.actions.n_actions for a in actions) and 0 <= starter < self.players):
                raise PositionError("snapshot: an action or the first starter is out of range")
            check_options(self.ruleset, options)
            check_record(self.ruleset, games[0])
            top = self.ruleset.set_max - int(options["round_index"][0])
            for k, deal in enumerate(given):
                check_deal(self.ruleset, k, deal, top - k)
            piles = [bytes(tile_index(*tile) for tile in deal) for deal in deals]
        except PositionError:
            raise
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise PositionError(f"snapshot: not a snapshot of a game ({error})") from None
        self._adopt(games, options)
        self._slot.rewards[:] = rewards
        self._given, self.round_history, self.first_starter = given, rounds, starter
        self._log = GameLog(self.actions, self._rules, games, actions=actions, piles=piles, events=events)

    def _adopt(self, games: st.StateArray, options: st.StateArray) -> None:
        """Go on from a record; the log begins here."""
        slot = self._slot
        st.copy_records(games, to=slot.games)
        slot.options[:] = options
        slot.options["hold"], slot.options["auto_reset"], slot.options["skip_forced"] = True, False, False
        if slot.options["round_index"][0] < 0:  # the batch deals random rounds; this is one of them
            slot.options["round_index"] = games["round_index"]
        slot.show()
        self._over = bool(slot.games["stage"][0] >= st.ROUND_OVER)
        self._log = GameLog(self.actions, self._rules, games)

    @classmethod
    def replay(
        cls,
        ruleset: Ruleset,
        deals: Sequence[Sequence[Tile]],
        actions: Sequence[int],
        first_starter: int | None = None,
        **options: Any,
    ) -> Self:
        """Play recorded actions from recorded deals.

        Args:
            ruleset: the rules.
            deals: the piles (`Game.deals`).
            actions: the action ids (`Game.action_list`).
            first_starter: the seat that started the first round (`Game.first_starter`).
            **options: as for the constructor.

        Raises:
            IllegalActionError: an action does not fit; the message says which.
        """
        game = cls(ruleset, seed=0, deals=deals, first_starter=first_starter, **options)
        for k, action in enumerate(actions):
            try:
                game.step(action)
            except IllegalActionError as error:
                raise IllegalActionError(f"action {k} of the replay: {error}") from None
        return game

    @classmethod
    def from_record(cls, ruleset: Ruleset, record: st.StateArray, options: st.StateArray) -> Self:
        """A game that goes on from a record of the engine (`BatchGame.game`).

        Args:
            ruleset: the rules of the record.
            record: structured [1], copied.
            options: structured [1], how the game plays on (`mexenv.engine.episode.OPTIONS`), copied.
        """
        game = cls(ruleset, seed=0)
        game._adopt(record, options)
        game.round_history = []
        game.first_starter = game.starter
        return game

    @classmethod
    def from_position(cls, ruleset: Ruleset, position: Mapping[str, Any], **options: Any) -> Self:
        """Set up a position at the start of a turn by hand.

        Args:
            ruleset: the rules.
            position: `hands` (a list of tiles for each seat) and any of `trains` (tiles in the order laid,
                by train, Mexican Train last), `boneyard` (in drawing order; default: all tiles left over,
                ascending), `markers`, `to_move` (default 0), `starter` (default 0), `round_index`
                (default 0), `engine` (default: the round's), `waiting` ((value, train) of uncovered
                doubles in order; default: by train from the starter's on), `passed` (seats that have
                passed since the last play), `totals`, `opening` (True: the seat to move begins its opening
                chain; the seats before it from the starter have had theirs), `mexican_starter` (the seat
                that started the Mexican Train), `strikes` (with partners, one for each team).
                Where a tile fits a train by both halves, the half written first joins. Tiles named
                nowhere are out of the game.
            **options: as for the constructor.

        Raises:
            PositionError: the position contradicts itself; the message names the field.
        """
        if options.get("deals"):
            raise PositionError("deals: not allowed with a position; later rounds are shuffled")
        game = cls(ruleset, seed=0, **options)
        fill_position(ruleset, game._games, position)
        dealing.begin_turn(game._g)
        if game._g["stage"] != st.OPENING:
            wanted = int(game._g["mover"])
            next_turn(game._g, game._rules[0], wanted)
            if game.to_move != wanted:
                raise PositionError(
                    f"to_move: seat {wanted} is skipped while {game.in_force} must be covered; "
                    f"the next seat asked is {game.to_move}"
                )
        game._adopt(st.copy_records(game._games), game._options.copy())
        return game


def _whole(action: object) -> int:
    """A whole number of any type as an int, and -1 for everything else, truth values included."""
    if isinstance(action, bool):
        return -1
    try:
        return operator.index(action)  # type: ignore[arg-type]  # caught
    except TypeError:
        return -1
