"""The engine against the oracle: same deal, same choices, everything compared after every step.

`python -m tests.differential --rounds 5000` plays that many rounds of each preset, and of random
rulesets; a difference is printed as the shortest failing game found, with the seed that gives it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
from typing import Any, NamedTuple

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mexenv.games import BatchGame, Game
from mexenv.rules import PRESETS, RULE_FIELDS, Ruleset, RulesetError, preset
from mexenv.rules.tiles import Tile, all_tiles
from tests.oracle import MEXICAN, OracleGame

CHOICES: dict[str, tuple[Any, ...]] = {
    "engine_from": ("aside", "dealt", "highest_held"),
    "starter": ("rotate", "engine_holder", "left_of_holder"),
    "opening": ("single", "chain", "chain_hidden", "delayed"),
    "opening_must_start": (True, False),
    "mexican_train": ("anytime", "after_opening", "after_own", "after_all", "never"),
    "must_play": (True, False),
    "must_play_drawn": (True, False),
    "draws": (1, 2, "until_playable"),
    "marker_on": ("pass", "own_unplayable"),
    "marker_off": ("own_train", "any_play"),
    "failed_extra_marks": ("own", "double_train"),
    "marked_may_roam": (True, False),
    "own_first": (True, False),
    "extra": ("anywhere", "on_double", "none"),
    "doubles_per_turn": ("one", "two_with_third", "unlimited"),
    "cover_duty": (True, False),
    "cover_order": ("fifo", "lifo", "any"),
    "double_outlets": (1, 3),
    "double_covers": (1, 3),
    "dead_double": ("waits", "released"),
    "out_on_double": (True, False),
    "partners": (False, True),
    "swan_drive": (False, True),
    "blanks_wild": (False, True),
    "double_blank": (0, 25, 50),
    "block": ("row", "stalled"),
    "scoring": ("penalty", "winner_takes"),
    "tie_break": ("share", "zero_rounds"),
}


class Difference(AssertionError):
    """The engine and the oracle disagree."""


def random_ruleset(rng: random.Random) -> Ruleset:
    """A random legal ruleset, mostly of small sets."""
    while True:
        fields = {name: rng.choice(values) for name, values in CHOICES.items()}
        set_max = rng.choice((2, 3, 3, 4, 4, 5, 6, 6, 7, 9, 12))
        players = rng.randint(2, min(6, set_max + 1))
        tiles = (set_max + 1) * (set_max + 2) // 2
        hand = rng.randint(1, max(1, min(15, (tiles - 1) // players)))
        rounds = rng.randint(1, min(4, set_max + 1))
        try:
            return Ruleset(
                name="random", set_max=set_max, players=players, hand_size=hand, rounds=rounds, **fields
            )
        except RulesetError:
            continue


def piles_for(ruleset: Ruleset, rng: random.Random) -> list[list[Tile]]:
    """A random pile for each round of the match."""
    piles = []
    for k in range(ruleset.match_rounds):
        tiles = list(all_tiles(ruleset.set_max))
        if ruleset.engine_from == "aside":
            tiles.remove((ruleset.set_max - k, ruleset.set_max - k))
        rng.shuffle(tiles)
        piles.append(tiles)
    return piles


def oracle_for(ruleset: Ruleset, piles: list[list[Tile]], first_starter: int) -> OracleGame:
    """The oracle's game of the same ruleset and deal."""
    rules = {name: getattr(ruleset, name) for name in RULE_FIELDS}
    rules["hand_size"] = ruleset.hand
    rules["rounds"] = ruleset.match_rounds
    return OracleGame(rules, ruleset.players, piles, first_starter)


def oracle_actions(game: Game, oracle: OracleGame) -> dict[int, tuple[Any, ...]]:
    """The oracle's legal actions under the engine's ids."""
    layout = game.actions
    mover = oracle.to_move
    assert mover is not None
    found = {}
    for action in oracle.legal_actions():
        if action[0] == "draw":
            found[layout.draw] = action
        elif action[0] == "pass":
            found[layout.pass_] = action
        else:
            _, tile, train, half = action
            place = game.players if train == MEXICAN else (train - mover) % game.players
            way = None
            if layout.two_way:
                way = 0 if half == tile[0] else 1
            found[layout.encode(tile, place, way)] = action
    return found


def _absolute(game: Game, pairs: Any) -> list[tuple[int, int]]:
    return [(v, game.players if t == MEXICAN else t) for v, t in pairs]


def compare(game: Game, batch: BatchGame | None, oracle: OracleGame) -> dict[int, tuple[Any, ...]]:
    """Everything visible and hidden, side by side.

    Returns:
        The oracle's legal actions under the engine's ids.

    Raises:
        Difference: naming the first thing that differs.
    """
    p = game.players

    def same(what: str, engine: Any, reference: Any) -> None:
        if engine != reference:
            raise Difference(f"{what}: engine {engine}, oracle {reference}")

    same("to move", game.to_move, oracle.to_move)
    same("finished rounds", len(game.round_history), len(oracle.round_history))
    for ours, theirs in zip(game.round_history, oracle.round_history, strict=True):
        same("round scores", ours["scores"], [float(x) for x in theirs["scores"]])
        same("seats out", sorted(ours["out"]), sorted(theirs["out"]))
        same("blocked", ours["blocked"], theirs["blocked"])
        same("engine", ours["engine"], theirs["engine"])
        same("starter", ours["starter"], theirs["starter"])
    same("totals", game.totals, [float(x) for x in oracle.totals])
    if oracle.to_move is None:
        same("places", list(game.places), list(oracle.places()))
        return {}
    same("round", game.round_index, oracle.round_index)
    same("engine", game.engine, oracle.engine)
    same("starter", game.starter, oracle.starter)
    same("stage", game.stage, oracle.stage)
    same("hands", game.hands, [set(hand) for hand in oracle.hands])
    same("boneyard", game.boneyard, list(oracle.boneyard))
    same("ends", game.ends, [sorted(oracle.ends[t]) for t in (*range(p), MEXICAN)])
    same("lengths", game.lengths, [oracle.lengths[t] for t in (*range(p), MEXICAN)])
    same("markers", game.markers, list(oracle.markers))
    same("in force", game.in_force, _absolute(game, oracle.in_force))
    if game.ruleset.cover_duty and game.stage != "opening":
        same("waiting", game.waiting, _absolute(game, oracle.waiting))
    actions = oracle_actions(game, oracle)
    same("legal actions", game.legal_actions(), sorted(actions))
    if batch is not None:
        compare_batch(game, batch)
    return actions


def compare_batch(game: Game, batch: BatchGame) -> None:
    """Every game of a batch beside the single game.

    Raises:
        Difference: naming the first game that differs.
    """
    assert batch.layout is not None
    n = batch.n_games
    columns = {
        "mover": (batch.to_move, game.to_move),
        "number of actions": (batch.n_legal, len(game.legal_actions())),
        "mask": (batch.masks, game.action_mask()),
        "state": (batch.games.view(np.uint8).reshape(n, -1), game._games.view(np.uint8)),
        "observation": (batch.observations, game.observe(layout=batch.layout, dtype=np.int8)),
    }
    for what, (ours, single) in columns.items():
        wrong = np.flatnonzero((ours != single).reshape(n, -1).any(1))
        if wrong.size:
            raise Difference(f"batch {what}: games {wrong.tolist()} of {n} differ from the single game")


def play_both(
    ruleset: Ruleset, seed: int, games: int = 0, max_rounds: int | None = None
) -> tuple[Game, Difference | None]:
    """Play one random match in engine and oracle, and the same in a batch of so many games beside them.

    Large batches share the games among two threads, every other time.

    Returns:
        The engine's game, and the difference that stopped it, if any.
    """
    rng = random.Random(seed)
    piles = piles_for(ruleset, rng)
    starter = rng.randrange(ruleset.players)
    eager = rng.random()
    game = Game(ruleset, seed=0, deals=piles, first_starter=starter)
    oracle = oracle_for(ruleset, piles, starter)
    batch = None
    if games:
        threads = 1 + seed % 2
        batch = BatchGame(ruleset, games, episode="match", auto_reset=False, threads=threads)
        batch.games[:] = game._games
        batch.refresh()
    try:
        actions = compare(game, batch, oracle)
        while oracle.to_move is not None:
            rounds = len(game.round_history)
            if max_rounds is not None and rounds >= max_rounds:
                break
            ids = sorted(actions)
            plays = [a for a in ids if a < game.actions.draw]
            chosen = rng.choice(plays if plays and rng.random() < eager else ids)
            oracle.step(actions[chosen])
            game.step(chosen)
            if batch is not None:
                batch.step(np.full(batch.n_games, chosen))
                if len(game.round_history) > rounds and not game.over:
                    batch.games[:] = game._games  # the next pile is the given one
                    batch.refresh()
            actions = compare(game, batch if not game.over else None, oracle)
    except Difference as difference:
        return game, difference
    return game, None


def report(ruleset: Ruleset, seed: int, game: Game, difference: Difference) -> str:
    """A failing game as text."""
    fields = {k: v for k, v in ruleset.to_dict().items() if v is not None}
    lines = [f"seed {seed}: {difference}", f"ruleset {fields}", f"hands dealt from {game.deals[-1]}"]
    start = max((k for k, e in enumerate(game.events) if e.kind == "deal"), default=0)
    lines += [f"  {e.text}" for e in game.events[start:]]
    lines.append(f"  to move: {game.to_move}, stage {game.stage}, hands {game.hands}")
    return "\n".join(lines)


def sized_preset(name: str, rng: random.Random) -> Ruleset:
    """The preset on a random set and number of players that it can serve, mostly few and small ones."""
    while True:
        set_max = rng.choice((4, 5, 6, 6, 6, 6, 6, 7, 9, 9, 12, rng.choice((12, 15, 18))))
        players = rng.choice((2, 3, 4, 4, rng.randint(2, 12)))
        hand = rng.choice((None, rng.randint(2, 9)))
        try:
            return preset(name, set_max=set_max, players=players, hand_size=hand)
        except RulesetError:
            continue


BATCHES = (2, 0, 0, 1, 0, 0, 2, 0, 0, 1024, 0, 0, 1, 0, 1024)
"""Games in the batch beside a match, by its seed; their number is odd, so all meet odd and even seeds."""


class Chunk(NamedTuple):
    """A piece of a long run: matches of one preset from one seed on, until so many rounds are played."""

    name: str
    first_seed: int
    rounds: int


def play_chunk(chunk: Chunk) -> tuple[Chunk, int, list[tuple[int, str]]]:
    """Rounds played, and (steps, report) of each game in which engine and oracle differ."""
    played, seed = 0, chunk.first_seed
    failures = []
    while played < chunk.rounds:
        rng = random.Random(f"{chunk.name}/{seed}")
        ruleset = random_ruleset(rng) if chunk.name == "random" else sized_preset(chunk.name, rng)
        games = BATCHES[seed % len(BATCHES)]
        game, difference = play_both(ruleset, seed, games)
        played += max(1, len(game.round_history))
        if difference is not None:
            failures.append((len(game.action_list), report(ruleset, seed, game, difference)))
        seed += 1
    return chunk, played, failures


def main() -> int:
    """Command line; exit status 1 when there is a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300, help="rounds for each preset")
    parser.add_argument("--presets", nargs="*", default=[*PRESETS, "random"], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    size = 100
    chunks = [
        Chunk(name, first, min(size, options.rounds - first))
        for first in range(0, options.rounds, size)
        for name in options.presets
    ]
    counts = dict.fromkeys(options.presets, 0)
    shortest: dict[str, tuple[int, str]] = {}
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("rounds"), TimeRemainingColumn())
    spawn = multiprocessing.get_context("spawn")
    with Progress(*columns) as progress, spawn.Pool(options.jobs) as pool:
        task = progress.add_task("", total=options.rounds * len(options.presets))
        for chunk, played, failures in pool.imap_unordered(play_chunk, chunks):
            counts[chunk.name] += played
            progress.advance(task, chunk.rounds)
            for failure in failures:
                progress.print(f"{chunk.name}, {failure[1].splitlines()[0]}")
                shortest[chunk.name] = min(failure, shortest.get(chunk.name, failure))
    for name, (_, text) in shortest.items():
        print(f"\n{name}: shortest failing game\n{text}")
    for name, n in counts.items():
        print(f"{name}: {n} rounds" + ("  DIFFERS" if name in shortest else ""))
    return 1 if shortest else 0


if __name__ == "__main__":
    raise SystemExit(main())
