"""Hundreds of rounds of engine against oracle; `python -m tests.differential` plays as many as wanted."""

from __future__ import annotations

import pytest

from mexenv.rules import PRESETS
from tests.differential import Chunk, play_chunk

ROUNDS = 200
CHUNKS = 8


def check(chunk: Chunk) -> None:
    _, played, failures = play_chunk(chunk)
    if failures:
        pytest.fail(min(failures)[1], pytrace=False)
    assert played >= chunk.rounds


@pytest.mark.parametrize("name", PRESETS)
def test_preset_plays_as_the_oracle_says(name: str) -> None:
    check(Chunk(name, 0, ROUNDS))


# Every match has a ruleset of its own, with two and a half rounds on average: some three hundred in all.
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_rules_play_as_the_oracle_says(chunk: int) -> None:
    check(Chunk("random", 1000 * chunk, 100))
