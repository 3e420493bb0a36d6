"""One readable game for each preset: which one, played by a seeded player, and told as text."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mexenv.games import Game
from mexenv.rules import RULE_FIELDS, VARIATIONS, Ruleset, Tile, format_tile, preset
from tests.golden.shows import Step, shown

FOLDER = Path(__file__).parent
WIDTH = 100


@dataclass(frozen=True)
class Plan:
    """A golden game.

    Attributes:
        seed: Deals the game and makes the choices.
        shows: What it has to show (`shows.SHOWS`).
        players: Number of seats.
        hand_size: Tiles dealt to each.
        rounds: Rounds played.
        eager: How often the player plays where it may and could also do something else.
    """

    seed: int
    shows: tuple[str, ...]
    players: int = 3
    hand_size: int = 6
    rounds: int = 1
    eager: float = 0.9

    def ruleset(self, name: str) -> Ruleset:
        """The preset in the size of this game, always on the double-6 set."""
        return preset(name, set_max=6, players=self.players, hand_size=self.hand_size, rounds=self.rounds)


def play(ruleset: Ruleset, plan: Plan) -> tuple[Game, list[Step]]:
    """The game of a plan, all steps told."""
    game = Game(ruleset, seed=plan.seed)
    rng = random.Random(plan.seed)
    steps = []
    while not game.over:
        ids = game.legal_actions()
        plays = [a for a in ids if a < game.actions.draw]
        if plays and rng.random() < plan.eager:
            ids = plays
        # Of all of `random`, only `random()` promises the same numbers in every version.
        action = ids[int(rng.random() * len(ids))]
        before = game.clone()
        events = game.step(action)
        steps.append(Step(before, action, events, game.clone()))
    return game, steps


# --- in words -----------------------------------------------------------------------------------


def _word(game: Game, action: int) -> str:
    """`5-4@1` for a play on train 1, `5-4@M` on the Mexican Train; the joined half first if that matters."""
    kind, tile, place, half = game.actions.decode(action)
    if tile is None or place is None:
        return kind
    assert game.to_move is not None
    train = "M" if place == game.players else (game.to_move + place) % game.players
    return f"{format_tile(tile[::-1] if half == 1 else tile)}@{train}"


def _tiles(tiles: Any) -> str:
    return " ".join(map(format_tile, tiles)) or "-"


def _hand(tiles: set[Tile]) -> str:
    return _tiles(sorted(tiles, reverse=True))


def _lines(label: str, text: str) -> Iterator[str]:
    """A labelled paragraph, wrapped."""
    indent = " " * 12
    first = f"    {label:<8}"
    yield from textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )


def _duty(game: Game) -> str:
    where = [f"{v}-{v} on {'M' if t == game.players else t}" for v, t in game.in_force]
    return f" {' or '.join(where)}" if where else ""


def _train(game: Game, train: int) -> str:
    """One train: owner, marker, hand, tiles and ends."""
    mexican = train == game.players
    waiting = {(v, v): "?" for v, t in game.waiting if t == train and game.ruleset.cover_duty}
    waiting |= {(v, v): "!" for v, t in game.in_force if t == train}
    words: list[str] = []
    end = game.engine
    for tile in game.trains[train]:
        if tile[0] != end and words and game.ruleset.double_outlets > 1:
            words.append("/")
        words.append(format_tile(tile) + waiting.get(tile, ""))
        end = tile[1]
    marker = "^" if not mexican and game.markers[train] else " "
    hand = "   " if mexican else f"({len(game.hands[train])})"
    ends = ",".join(map(str, game.ends[train])) or "-"
    return f"{'M' if mexican else train}{marker} {hand} {' '.join(words) or 'not started'} > {ends}"


def _table(game: Game) -> list[str]:
    return [_train(game, train) for train in range(game.players + 1)]


def _public(game: Game) -> tuple[Any, ...]:
    """What makes a new drawing worth while."""
    return game.trains, game.markers, game.in_force


def _deal(game: Game) -> Iterator[str]:
    yield f"Round {game.round_index + 1}: engine {game.engine}-{game.engine}, player_{game.starter} begins"
    for seat, hand in enumerate(game.hands):
        yield f"    player_{seat}  {_hand(hand)}"
    yield from _lines("boneyard", f" {_tiles(game.boneyard)}")


def _step(number: int, step: Step) -> Iterator[str]:
    game = step.before
    head = f"{number:>3} player_{step.seat} {game.stage}{_duty(game)}"
    if game.drawn is not None:
        head += f", drew {format_tile(game.drawn)}"
    yield f"{head}, boneyard {len(game.boneyard)}"
    yield from _lines("hand", _hand(game.hands[step.seat]))
    yield from _lines("may", " ".join(_word(game, a) for a in game.legal_actions()))
    yield from _lines("does", _word(game, step.action))
    told = [
        e.text + (f" {format_tile(e.tile)}" if e.kind == "draw" and e.tile else "")
        for e in step.events
        if e.kind not in ("deal", "scores")
    ]
    yield from _lines("so", "; ".join(told))
    if step.round_over:
        yield from _round_end(step)
    elif _public(game) != _public(step.after):
        label = "table"
        for line in _table(step.after):
            yield f"    {label:<8}{line}"
            label = ""


def _round_end(step: Step) -> Iterator[str]:
    """The scores and, in the last round, the hands that they were counted from."""
    last = step.after.round_history[-1]
    hands = [set(hand) for hand in step.before.hands]
    if step.tile is not None:
        hands[step.seat].discard(step.tile)
    elif step.kind == "draw":
        hands[step.seat].add(step.before.boneyard[0])
    for seat, hand in enumerate(hands):
        points = f"{last['scores'][seat]:g}"
        yield from _lines("end" if seat == 0 else "", f"player_{seat} {_hand(hand)} scores {points}")


def _rules(name: str, ruleset: Ruleset) -> str:
    if name in VARIATIONS:
        base, changes = VARIATIONS[name]
        same = ", ".join(f"{field}={value}" for field, value in changes.items() if field != "rounds")
        return f"as {base}, but {same or 'as many rounds as doubles'}"
    size = ("set_max", "players", "hand_size", "rounds")
    return ", ".join(f"{field}={getattr(ruleset, field)}" for field in RULE_FIELDS if field not in size)


def tell(name: str, plan: Plan) -> str:
    """The text of a golden file."""
    ruleset = plan.ruleset(name)
    game, steps = play(ruleset, plan)
    first: dict[str, int] = {}
    for number, step in enumerate(steps, 1):
        for what in shown(step):
            first.setdefault(what, number)
    rounds = "1 round" if plan.rounds == 1 else f"{plan.rounds} rounds"
    lines = [
        f"{name}: {plan.players} players, double-6, {ruleset.hand} tiles each, {rounds}, seed {plan.seed}",
        "",
        *textwrap.wrap(f"Rules: {_rules(name, ruleset)}", WIDTH, break_on_hyphens=False),
        *textwrap.wrap(
            "Shows (first step): " + ", ".join(f"{what} ({n})" for what, n in first.items()), WIDTH
        ),
        "",
        "5-4@1: 5-4 on the train of player_1, M the Mexican Train; trains begin at the engine, > their ends;",
        "^ marker up, (n) tiles in hand, ! must be covered now, ? waits for its cover, / a branch begins.",
        "",
        *_deal(steps[0].before),
        "",
    ]
    for number, step in enumerate(steps, 1):
        lines += [*_step(number, step), ""]
        if step.round_over and not step.after.over:
            lines += [*_deal(step.after), ""]
    lines.append(f"Totals {', '.join(f'{x:g}' for x in game.totals)}; places {game.places}")
    return "\n".join(lines) + "\n"
