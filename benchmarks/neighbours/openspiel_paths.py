"""OpenSpiel: a loop in Python over its binding, with and without observation, and its own loop in C++."""

from __future__ import annotations

import functools
import random
import time
from typing import Any

import pyspiel
from open_spiel.python.games import block_dominoes  # noqa: F401 (registers python_block_dominoes)
from open_spiel.python.observation import make_observation
from timing import Measurement, Run, timed

DISTRIBUTION = "open-spiel"


def _check_chance_is_uniform(game: Any) -> None:
    """The loop below draws evenly among outcomes, which is faster than weighing them."""
    for _ in range(20):
        state = game.new_initial_state()
        while not state.is_terminal():
            actions = state.legal_actions()
            if state.is_chance_node():
                chances = [chance for _, chance in state.chance_outcomes()]
                if max(chances) - min(chances) > 1e-9:
                    raise ValueError(f"the chance of {game} is not uniform")
            state.apply_action(random.choice(actions))


def _observer(game: Any) -> Any:
    """What the game offers: an observation, or else the tensor of everything a player has seen."""
    observer = make_observation(game)
    if observer is None or observer.tensor is None:
        observer = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    return observer


def _loop(name: str, observe: bool) -> Run:
    game = pyspiel.load_game(name)
    _check_chance_is_uniform(game)
    observer = _observer(game) if observe else None
    draw = random.Random(0).random

    def play() -> int:
        steps = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                state.apply_action(outcomes[int(draw() * len(outcomes))][0])
                continue
            legal = state.legal_actions()
            if observer is not None:
                observer.set_from(state, state.current_player())
            state.apply_action(legal[int(draw() * len(legal))])
            steps += 1
        return steps

    return timed(play, 8)


def _compiled(name: str) -> Run:
    """Games between uniform random bots, played without coming back to Python between decisions."""
    game = pyspiel.load_game(name)
    bots = [pyspiel.make_uniform_random_bot(player, player + 1) for player in range(game.num_players())]
    draw = random.Random(0)

    def run() -> tuple[int, float]:
        states = []
        begun = time.process_time()
        for _ in range(64):
            state = game.new_initial_state()
            pyspiel.evaluate_bots(state, bots, draw.getrandbits(30))
            states.append(state)
        spent = time.process_time() - begun
        return sum(move.player >= 0 for state in states for move in state.full_history()), spent

    return run


def paths() -> dict[str, Measurement]:
    """The paths by name."""
    found = {}
    for title, name in (("crazy_eights, 5 players", "crazy_eights(players=5)"), ("hearts", "hearts")):
        found[f"{title}: Python loop"] = Measurement(1, functools.partial(_loop, name, False))
        found[f"{title}: Python loop, observation"] = Measurement(1, functools.partial(_loop, name, True))
        found[f"{title}: C++ alone, random bots"] = Measurement(1, functools.partial(_compiled, name))
    name = "python_block_dominoes"
    found[f"{name}: Python loop"] = Measurement(1, functools.partial(_loop, name, False))
    found[f"{name}: Python loop, observation"] = Measurement(1, functools.partial(_loop, name, True))
    return found
