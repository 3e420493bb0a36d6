"""What a game has gone through: its actions and piles, and the events that they amount to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self, overload

from mexenv.engine import deal as dealing
from mexenv.engine import decisions as ask
from mexenv.engine import state as st
from mexenv.engine.play import apply
from mexenv.games.events import Event, deal_event, round_events, step_events
from mexenv.rules import ActionLayout, Tile, tile_of


class GameLog:
    """The course of a game.

    Events are told only when somebody asks for them: the actions are then played again on a copy of the
    record, since comparing records before and after takes far longer than playing.

    Attributes:
        actions: the action ids carried out so far.
        piles: the pile of each round so far, one byte a tile, in the order dealt.
    """

    def __init__(
        self,
        layout: ActionLayout,
        rules: st.StateArray,
        games: st.StateArray,
        *,
        actions: Sequence[int] = (),
        piles: Sequence[bytes] = (),
        events: Sequence[Event] = (),
    ) -> None:
        """Begin a log.

        Args:
            layout: the action layout.
            rules: structured [1], the ruleset record.
            games: structured [1], the game as it is now.
            actions: what was done before, without telling its events again.
            piles: the piles so far.
            events: the events so far.
        """
        self._layout = layout
        self._rules = rules.copy()
        self._games = st.copy_records(games)  # the game where `_events` end
        self._events = list(events)
        self._ends = [len(self._events)] * (len(actions) + 1)  # events up to each action
        self._rounds = len(piles)
        self.actions = list(actions)
        self.piles = list(piles)

    @property
    def deals(self) -> list[list[Tile]]:
        """`piles` as tiles."""
        return [[tile_of(t) for t in pile] for pile in self.piles]

    @property
    def events(self) -> list[Event]:
        """All events, in order."""
        while len(self._ends) <= len(self.actions):
            self._events += self._replay(self.actions[len(self._ends) - 1])
            self._ends.append(len(self._events))
        return self._events

    def of_step(self, step: int) -> list[Event]:
        """The events of one action, given by its place in `actions`."""
        return self.events[self._ends[step] : self._ends[step + 1]]

    def _replay(self, action: int) -> list[Event]:
        """Carry out the next action on the copy and tell what happens."""
        before, was_in_force = st.copy_records(self._games), doubles_in_force(self._games, self._rules)
        g, r = self._games[0], self._rules[0]
        apply(g, r, action)
        over = bool(g["stage"] >= st.ROUND_OVER)
        in_force = [] if over else doubles_in_force(self._games, self._rules)
        events = step_events(self._layout, before[0], g, was_in_force, in_force, action)
        if over:
            p = self._layout.players
            scores = [int(x) / st.POINT for x in g["round_score"][:p]]
            out = [s for s in range(p) if int(g["out"]) >> s & 1]
            events += round_events(out, bool(g["blocked"]), scores)
            if self._rounds < len(self.piles):
                dealing.begin_next_round(g, r)
                fill_pile(g, self.piles[self._rounds])
                dealing.deal_next_round(g, r)
                events.append(deal_event(g))
                self._rounds += 1
        return events

    def copy(self) -> Self:
        """An independent copy."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._games = st.copy_records(self._games)
        for name in ("_events", "_ends", "actions", "piles"):
            setattr(twin, name, list(getattr(self, name)))
        return twin


class StepEvents(Sequence[Event]):
    """The events of one step, told when they are looked at; equal to a list of the same events."""

    __slots__ = ("_log", "_step")

    def __init__(self, log: GameLog, step: int) -> None:
        """Stands for the events of the action `log.actions[step]`."""
        self._log = log
        self._step = step

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        return self._log.of_step(self._step)[index]

    def __len__(self) -> int:
        return len(self._log.of_step(self._step))

    def __iter__(self) -> Iterator[Event]:
        return iter(self._log.of_step(self._step))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        return repr(list(self))


def doubles_waiting(games: st.StateArray) -> list[tuple[int, int]]:
    """(value, train) of the uncovered doubles of `games[0]` in the order they were laid."""
    g = games[0]
    return [(int(g["q_value"][q]), int(g["q_train"][q])) for q in range(g["q_n"])]


def doubles_in_force(games: st.StateArray, rules: st.StateArray) -> list[tuple[int, int]]:
    """(value, train) of the doubles that the seat to move in `games[0]` must cover."""
    pairs = enumerate(doubles_waiting(games))
    return [pair for q, pair in pairs if ask.is_in_force(games[0], rules[0], q)]


def fill_pile(g: Any, pile: bytes) -> None:
    """Put tiles on the pile of a game record, in the order in which they are dealt."""
    g["pile"][: len(pile)] = list(pile)
    g["pile_end"] = len(pile)
