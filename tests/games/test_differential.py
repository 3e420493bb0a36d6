"""A few rounds of engine against oracle; `python -m tests.differential` plays as many as wanted."""

from __future__ import annotations

import random

import pytest

from mexenv.rules import PRESETS, Ruleset
from tests.differential import play_both, random_ruleset, report, sized_preset

MATCHES = 3
RANDOM_RULESETS = 200
CHUNKS = 8


def check(ruleset: Ruleset, seed: int, with_batch: bool) -> None:
    game, difference = play_both(ruleset, seed, with_batch, max_rounds=2)
    if difference is not None:
        pytest.fail(report(ruleset, seed, game, difference), pytrace=False)


@pytest.mark.parametrize("name", PRESETS)
def test_preset_plays_as_the_oracle_says(name: str) -> None:
    for seed in range(MATCHES):
        check(sized_preset(name, random.Random(f"{name}/{seed}")), seed, with_batch=seed == 0)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_rules_play_as_the_oracle_says(chunk: int) -> None:
    for seed in range(chunk, RANDOM_RULESETS, CHUNKS):
        check(random_ruleset(random.Random(f"random/{seed}")), seed, with_batch=seed % 4 == 0)
