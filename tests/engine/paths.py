"""Games to be played on several paths: compiled, in plain Python, and with checked array bounds.

`python -m tests.engine.paths plain` and `... bounds` run them in a process of their own, since Numba reads
NUMBA_DISABLE_JIT and NUMBA_BOUNDSCHECK once, when it is imported.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

from mexenv.engine import state as st
from mexenv.games import BatchGame, Game
from mexenv.observation import make_layout
from mexenv.observation.trail import DISCOUNT, LENGTH_BONUS, MAX_TRAIL, best_trail
from mexenv.rules import PRESETS, Ruleset, RulesetError, preset
from tests.differential import random_ruleset

# A record just large enough: a wrong index falls off its arrays instead of into spare room.
VALUES, SEATS = 7, 4


def fitting(rulesets: int) -> Iterator[Ruleset]:
    """The presets, then random rulesets, all of double-6 with four players."""
    for name in PRESETS:
        yield preset(name, set_max=VALUES - 1, players=SEATS, hand_size=5)
    rng = random.Random(6)
    while rulesets:
        try:
            yield random_ruleset(rng).replace(
                set_max=VALUES - 1, players=SEATS, hand_size=rng.randint(2, 6), rounds=2
            )
        except RulesetError:
            continue
        rulesets -= 1


def follow(ruleset: Ruleset, seed: int, steps: int) -> str:
    """A digest of everything that a random game shows."""
    game = Game(ruleset, seed=seed)
    layout = make_layout("plan", ruleset)
    rng = random.Random(seed)
    digest = hashlib.sha256()
    for step in range(steps):
        if game.over:
            break
        digest.update(game._games.tobytes())
        digest.update(game.action_mask().tobytes())
        if step % 8 == 0:
            for seat in range(game.players):
                digest.update(game.observe(seat, layout, np.int8).tobytes())
        legal = game.legal_actions()
        plays = [a for a in legal if a < game.actions.draw]
        game.step(rng.choice(plays if plays and rng.random() < 0.9 else legal))
    digest.update(repr((game.round_history, game.totals, game.places)).encode())
    return digest.hexdigest()[:16]


def digests(rulesets: int, steps: int) -> list[str]:
    """One digest a ruleset."""
    return [follow(ruleset, seed, steps) for seed, ruleset in enumerate(fitting(rulesets))]


def batches(rulesets: int, steps: int) -> str:
    """A digest of batches of the same rulesets, with forced moves played and scaled observations."""
    rng = np.random.default_rng(0)
    digest = hashlib.sha256()
    for seed, ruleset in enumerate(fitting(rulesets)):
        episode: Any = "match" if seed % 2 else "round"
        batch = BatchGame(
            ruleset, 3, seed=seed, dtype=np.float32, episode=episode, engine="random", skip_forced=True
        )
        for _ in range(steps):
            batch.step((rng.random(batch.masks.shape) * batch.masks).argmax(axis=1))
            for shown in (batch.games, batch.masks, batch.observations, batch.rewards, batch.hidden()):
                digest.update(shown.tobytes())
    return digest.hexdigest()[:16]


def short() -> list[str]:
    """Digests of so few games that plain Python plays them in seconds."""
    return [batches(0, 12), *digests(4, 50)]


def see_a_wrong_index() -> None:
    """Make sure that this process does notice an index outside of an array."""
    game = Game(preset("parsons", set_max=VALUES - 1, players=SEATS, hand_size=5), seed=1)
    action = game.legal_actions()[0]
    game._games["mover"] = 200
    try:
        game.step(action)
    except IndexError:
        return
    raise SystemExit("a wrong index was not noticed")


def long_trails() -> None:
    """Search hands far larger than any trail may be."""
    out = np.empty(MAX_TRAIL, np.int16)
    for values in (5, 13, 19):
        hand = np.full(values, (1 << values) - 1, np.int32)
        _, length, _ = best_trail(hand, 1, 5000, out, DISCOUNT, LENGTH_BONUS)
        assert 0 < length <= MAX_TRAIL


def main(path: str) -> None:
    """Play, and print the digests."""
    if path == "bounds":
        tight = st.state_dtype(VALUES, SEATS)
        st.dtype_for = lambda ruleset: tight
        see_a_wrong_index()
        long_trails()
        print(batches(40, 40), *digests(60, 150))
    else:
        assert numba.config.DISABLE_JIT
        print(*short())


if __name__ == "__main__":
    main(sys.argv[1])
