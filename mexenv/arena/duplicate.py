"""Playing agents against each other on duplicate deals.

Every deal is played once from each turn of the line-up around the table, so that each agent holds each hand
against the same others. What is luck of the deal falls out of the comparison.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mexenv.agents import Agent, AgentError, load_agent
from mexenv.arena.results import FORMAT, Results, Tally
from mexenv.games import BatchGame
from mexenv.observation import ObservationLayout, make_layout
from mexenv.rules import Ruleset, load_ruleset

GAMES_AT_ONCE: Final = 2048
"""Games stepped together: enough for the kernels, small enough for the caches."""

Progress = Callable[[int, int], None]


def evaluate(
    agents: Sequence[str | Agent],
    ruleset: str | Path | Mapping[str, Any] | Ruleset,
    deals: int,
    match: bool = False,
    seed: int = 0,
    engine: str | int = "first",
    *,
    threads: int = 1,
    progress: Progress | bool = False,
) -> Results:
    """Plays a line-up on duplicate deals.

    The line-up goes once around the table for each deal: in rotation r, seat s is played by entry
    `(s - r) % players`. Entries of the same name are one agent, measured in all its seats together. With
    fewer entries than players the last one takes the remaining seats too: `["mine", "planner"]` at four
    players is one `mine` against three `planner`.

    Args:
        agents: the line-up: names for `load_agent`, or agents, which are bound to the ruleset.
        ruleset: a ruleset, or what `load_ruleset` takes.
        deals: how many deals (whole matches with `match`), each played from every seat.
        match: whole matches instead of single rounds.
        seed: decides the deals and the agents' own randomness. The first n deals of a seed are the same
            however many follow.
        engine: which round is played where rounds are: `"first"`, `"random"`, or its index from 0.
        threads: threads that step the games.
        progress: called now and then with the number of games finished and of all games; or True for a bar
            on standard error while that is a terminal.

    Raises:
        AgentError: If an agent is unknown or does not fit, or there are too few or too many.
        ValueError: If `deals` is below 1.
    """
    rules = load_ruleset(ruleset)
    if deals < 1:
        raise ValueError(f"deals {deals}: allowed are 1 and more")
    lineup, players = _lineup(agents, rules)
    for k, agent in enumerate(players):
        agent.seed(seed + k)
    rotations = _rotations(lineup)
    seeds = np.random.default_rng(seed).integers(0, 2**64, deals, np.uint64)
    tally = _Counter(deals, len(players), rules.players)
    total = deals * rotations
    seat = np.arange(rules.players)
    batch: BatchGame | None = None
    with _reporting(progress, total) as report:
        for start in range(0, total, GAMES_AT_ONCE):
            deal, rotation = np.divmod(np.arange(start, min(start + GAMES_AT_ONCE, total)), rotations)
            who = lineup[(seat[None, :] - rotation[:, None]) % rules.players]
            if batch is None or batch.n_games != len(deal):
                batch = BatchGame(
                    rules,
                    len(deal),
                    episode="match" if match else "round",
                    engine=engine,
                    layout=None,
                    reward="win",
                    skip_forced=True,
                    auto_reset=False,
                    threads=threads,
                )
            for finished in _play(batch, players, who, seeds[deal], deal, tally):
                report(start + finished, total)
    header = {
        "format": FORMAT,
        "mexenv": importlib.metadata.version("mexenv"),
        "ruleset_name": rules.name,
        "ruleset_digest": rules.digest,
        "ruleset": rules.to_dict(),
        "scoring": rules.scoring,
        "players": rules.players,
        "lineup": [players[k].name for k in lineup],
        "agents": [agent.describe() for agent in players],
        "deals": deals,
        "rotations": rotations,
        "match": match,
        "seed": seed,
        "engine": engine,
    }
    return Results.from_tally(header, tally.result([agent.name for agent in players], match))


def _lineup(agents: Sequence[str | Agent], rules: Ruleset) -> tuple[NDArray[np.int64], list[Agent]]:
    """Index of the agent of each entry, and the distinct agents."""
    if not 1 <= len(agents) <= rules.players:
        raise AgentError(
            f"{len(agents)} agents for {rules.players} players: allowed are 1 to {rules.players}"
        )
    players: list[Agent] = []
    keys: list[Any] = []
    entries = []
    for entry in agents:
        key: Any = entry if isinstance(entry, str) else id(entry)
        if key not in keys:
            agent = load_agent(entry, rules) if isinstance(entry, str) else entry.bind(rules)
            if any(agent.name == other.name for other in players):
                raise AgentError(
                    f"two different agents are called {agent.name!r}; allowed: each its own name"
                )
            keys.append(key)
            players.append(agent)
        entries.append(keys.index(key))
    entries += [entries[-1]] * (rules.players - len(entries))
    return np.array(entries, np.int64), players


def _rotations(lineup: NDArray[np.int64]) -> int:
    """Turns of the line-up until it looks as at first: further ones would repeat the same games."""
    n = len(lineup)
    return next(k for k in range(1, n + 1) if n % k == 0 and (np.roll(lineup, k) == lineup).all())


@contextmanager
def _reporting(progress: Progress | bool, total: int) -> Iterator[Progress]:
    """What is called with the number of finished games."""
    if callable(progress):
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = progress and console.is_terminal
    with Bar(*columns, console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task("games", total=total)
        yield lambda finished, _: bar.update(task, completed=finished)


class _Counter:
    """Sums for each deal and agent."""

    def __init__(self, deals: int, n_agents: int, n_seats: int) -> None:
        self.pips, self.outs, self.rounds, self.wins, self.matches = np.zeros((5, deals, n_agents))
        self.n_seats = n_seats

    def round(self, deal: NDArray[Any], who: NDArray[Any], pips: NDArray[Any], out: NDArray[Any]) -> None:
        """Counts finished rounds: deal [m], agents by seat [m, seats], points and who went out likewise."""
        at = (np.repeat(deal, self.n_seats), who.ravel())
        np.add.at(self.pips, at, pips.ravel())
        np.add.at(self.outs, at, out.ravel())
        np.add.at(self.rounds, at, 1.0)

    def match(self, deal: NDArray[Any], who: NDArray[Any], won: NDArray[Any]) -> None:
        """Counts finished matches; `won` [m, seats] holds equal shares of 1 for the winners."""
        at = (np.repeat(deal, self.n_seats), who.ravel())
        np.add.at(self.wins, at, won.ravel())
        np.add.at(self.matches, at, 1.0)

    def result(self, names: list[str], match: bool) -> Tally:
        """The sums under the agents' names."""
        return Tally(names, self.pips, self.outs, self.rounds, self.wins if match else None, self.matches)


def _play(
    batch: BatchGame,
    players: list[Agent],
    who: NDArray[np.int64],
    seeds: NDArray[np.uint64],
    deal: NDArray[np.int64],
    tally: _Counter,
) -> Iterator[int]:
    """Plays a batch to its end; yields the number of finished games after each step."""
    layouts: list[ObservationLayout | None] = [
        None if agent.layout is None else make_layout(agent.layout, batch.ruleset) for agent in players
    ]
    batch.reset(seeds=seeds)
    actions = np.zeros(batch.n_games, np.int64)
    going = np.arange(batch.n_games)
    while len(going):
        moving = who[going, batch.to_move[going]]
        for k, agent in enumerate(players):
            games = going[moving == k]
            if not len(games):
                continue
            layout = layouts[k]
            seen = None if layout is None else batch.observe(layout, games=games)
            actions[games] = agent.act(seen, batch.masks[games])
        batch.step(actions)
        ended = going[batch.round_ended[going] != 0]
        if len(ended):
            tally.round(deal[ended], who[ended], batch.round_pips[ended], batch.round_out[ended])
            over = going[batch.dones[going] != 0]
            if len(over):
                prize = batch.rewards[over].astype(np.float64)
                tally.match(deal[over], who[over], prize / prize.sum(axis=1, keepdims=True))
                going = going[batch.dones[going] == 0]
            yield batch.n_games - len(going)
