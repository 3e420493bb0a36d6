"""Every preset has a readable game on file, the engine still plays it so, and the oracle agrees with it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from mexenv.games import Game
from mexenv.rules import PRESETS
from tests.differential import compare, oracle_actions, oracle_for
from tests.golden.games import GAMES
from tests.golden.playthrough import FOLDER, play, tell
from tests.golden.shows import SHOWS, Step, shown
from tests.oracle import MEXICAN

MAX_BYTES = 600_000
EACH = pytest.mark.parametrize("name", GAMES)


@cache
def played(name: str) -> tuple[Game, list[Step]]:
    return play(GAMES[name].ruleset(name), GAMES[name])


def on_file(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_every_preset_has_a_file_and_every_file_a_preset() -> None:
    assert set(GAMES) == set(PRESETS)
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(PRESETS)


def test_the_files_stay_small_enough_to_read() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.txt")) < MAX_BYTES


@EACH
def test_a_fresh_game_gives_the_same_text(name: str) -> None:
    assert tell(name, GAMES[name]) == on_file(name), "if this is meant: python -m tests.golden"


@EACH
def test_the_game_shows_what_is_special_about_its_rules(name: str) -> None:
    wanted = set(GAMES[name].shows)
    assert wanted <= set(SHOWS)
    seen = {what for step in played(name)[1] for what in shown(step)}
    assert wanted <= seen, "look for another seed: python -m tests.golden --search 1000"


def told(text: str) -> Iterator[dict[str, str]]:
    """The steps of a golden file, by label; `head` is the first line."""
    for block in re.split(r"\n\n", text):
        if re.match(r" *\d+ player_\d", block) is None:
            continue
        head, *lines = block.splitlines()
        step = {"head": head}
        label = ""
        for line in lines:
            label = line[4:12].strip() or label
            step[label] = f"{step.get(label, '')} {line[12:].strip()}".strip()
        yield step


def word(action: tuple[Any, ...], two_way: bool) -> str:
    """An action of the oracle as the golden files write it."""
    if action[0] != "play":
        return str(action[0])
    _, (high, low), train, half = action
    first, second = (low, high) if two_way and half == low else (high, low)
    return f"{first}-{second}@{'M' if train == MEXICAN else train}"


@EACH
def test_the_oracle_plays_the_same_game(name: str) -> None:
    recorded, _ = played(name)
    ruleset = recorded.ruleset
    game = Game(ruleset, seed=0, deals=recorded.deals, first_starter=recorded.first_starter)
    oracle = oracle_for(ruleset, recorded.deals, recorded.first_starter)
    compare(game, None, oracle)
    for step in told(on_file(name)):
        assert re.match(rf" *\d+ player_{oracle.to_move} {oracle.stage}\b", step["head"])
        named = {word(action, ruleset.two_way): action for action in oracle.legal_actions()}
        assert sorted(named) == sorted(step["may"].split()), step["head"]
        ids = {action: number for number, action in oracle_actions(game, oracle).items()}
        chosen = named[step["does"]]
        number = ids[chosen]
        oracle.step(chosen)
        game.step(number)
        compare(game, None, oracle)
    assert oracle.to_move is None
    assert game.action_list == recorded.action_list
