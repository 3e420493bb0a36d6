"""A game on the terminal: agents play, people watch or type their moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from mexenv.agents import Agent, load_agent
from mexenv.games import Event, Game, Record
from mexenv.games.record import table_after
from mexenv.render.text import render_text
from mexenv.render.view import event_text, is_told, opening_is_veiled
from mexenv.rules import Ruleset

HUMAN = "human"
_MOVES = ("deal", "draw", "play", "pass", "stop", "out", "blocked", "scores")
_NOBODY = -1  # sees what everybody sees


def seat_names(agents: Sequence[str]) -> list[str]:
    """Returns a name for each seat: the agent's, numbered where several seats have the same."""
    short = [agent.rstrip("/").rsplit("/", 1)[-1] for agent in agents]
    many = Counter(short)
    seen: Counter[str] = Counter()
    names = []
    for name in short:
        seen[name] += 1
        names.append(f"{name}-{seen[name]}" if many[name] > 1 else name)
    return names


def play(
    agents: Sequence[str],
    ruleset: Ruleset,
    *,
    seed: int | None = None,
    match: bool = False,
    color: bool = False,
    save: str | Path | None = None,
    show: Callable[[str], None] = print,
    ask: Callable[[str], str] = input,
) -> Game:
    """Plays one round or match and tells it.

    Args:
        agents: For each seat, in order, an agent's name or path, or "human".
        ruleset: The rules.
        seed: Seed of the deal and of the agents that have randomness; None for a new one each time.
        match: Whether to play all rounds, not only the first.
        color: Whether to add ANSI colours.
        save: File to record the game in, also when it is left before its end.
        show: Takes each piece of text.
        ask: Takes a prompt and returns what the person typed.

    Returns:
        The finished game.

    Raises:
        AgentError: If an agent does not exist or does not fit the ruleset.
        OSError: If the game cannot be recorded.
    """
    loaded = {name: load_agent(name, ruleset) for name in dict.fromkeys(agents) if name != HUMAN}
    for agent in loaded.values():
        agent.seed(0 if seed is None else seed)
    names = seat_names(agents)
    people = [seat for seat, agent in enumerate(agents) if agent == HUMAN]
    viewer = None if not people else people[0] if len(people) == 1 else _NOBODY
    game = Game(ruleset, seed=seed, episode="match" if match else "round")
    told = _Teller(names, viewer, show)
    try:
        while not game.over:
            seat = game.to_move
            assert seat is not None  # somebody moves until the game is over
            told.go_on(game)
            if agents[seat] == HUMAN:
                game.step(_typed(game, seat, names, color, show, ask))
            else:
                game.step(_chosen(loaded[agents[seat]], game))
    finally:
        if save is not None:
            Record.of(game, names).write(save)
    told.go_on(game)
    _draw(game, None, color, names, show)
    _tell_scores(game, names, show)
    return game


def replay(
    record: Record,
    *,
    seat: int | None = None,
    until: int | None = None,
    color: bool = False,
    show: Callable[[str], None] = print,
) -> Game:
    """Tells a recorded game, and draws the table at the end of each round and where it stops.

    Args:
        record: The game.
        seat: Whose eyes it is for, 0 to players - 1: hidden tiles are not told. None tells all.
        until: How many moves to tell; None for all.
        color: Whether to add ANSI colours.
        show: Takes each piece of text.

    Returns:
        The table as it lies after the last move told; a round that this move ended still lies there.
    """
    names = record.agents
    told = _Teller(names, seat, show)
    game = table = record.game(0)
    told.go_on(game)
    for action in record.actions[:until]:
        told.go_on(game)
        table = table_after(game, action)
        told.go_on(table)
        if table is not game:
            _draw(table, seat, color, names, show)
    if table is game:
        _draw(game, seat, color, names, show)
    if game.over:
        _tell_scores(game, names, show)
    return table


def _draw(
    game: Game, seat: int | None, color: bool, names: Sequence[str], show: Callable[[str], None]
) -> None:
    show("")
    show(render_text(game, seat, color, names, events=0))
    show("")


class _Teller:
    """Tells events as they come; what is hidden from the viewer in an opening is told when it is over."""

    def __init__(self, names: Sequence[str], viewer: int | None, show: Callable[[str], None]) -> None:
        self._names, self._viewer, self._show = names, viewer, show
        self._seen = 0
        self._kept: list[Event] = []

    def go_on(self, game: Game) -> None:
        """Tells what is new in the game."""
        news = [*self._kept, *game.events[self._seen :]]
        self._seen, self._kept = len(game.events), []
        veiled = opening_is_veiled(game, self._viewer)
        for event in news:
            if veiled and not is_told(game, event, self._viewer):
                self._kept.append(event)
            elif text := event_text(event, self._names, self._viewer):
                self._show(text if event.kind in _MOVES else f"  {text}")


def _chosen(agent: Agent, game: Game) -> int:
    observation = None if agent.layout is None else game.observe(layout=agent.layout, dtype=np.int8)
    return agent(observation, game.action_mask())


def _typed(
    game: Game,
    seat: int,
    names: Sequence[str],
    color: bool,
    show: Callable[[str], None],
    ask: Callable[[str], str],
) -> int:
    legal = game.legal_actions()
    around = [*names[seat:], *names[:seat]]
    _draw(game, seat, color, names, show)
    for number, action in enumerate(legal, 1):
        show(f"{number:>4}  {game.actions.describe(action, around)}")
    while True:
        try:
            word = ask(f"move for {names[seat]} (1 to {len(legal)}): ").strip()
        except (EOFError, KeyboardInterrupt):
            show("")  # what follows does not go on in the line of the prompt
            raise
        if word.isdecimal() and len(word) < 5 and 1 <= int(word) <= len(legal):
            return legal[int(word) - 1]
        show(f"not a move: {word[:80]!r}; type the number of a move; Ctrl-D leaves the game")


def _tell_scores(game: Game, names: Sequence[str], show: Callable[[str], None]) -> None:
    lowest_wins = game.ruleset.scoring == "penalty"
    order = sorted(range(len(names)), key=lambda seat: game.totals[seat] * (1 if lowest_wins else -1))
    width = max(len(name) for name in names)
    show("final scores")
    for seat in order:
        show(f"  {names[seat]:<{width}}  {game.totals[seat]:g}")
