"""Checks for environments with action masks, for this package's own and for variants built on it.

The frameworks' own checkers (`pettingzoo.test.api_test`, `gymnasium.utils.env_checker.check_env`) do not look
at masks inside a Dict observation, at rewards that arrive on somebody else's move, or at vector environments.
These do. Each function plays random legal games and raises an AssertionError that says what is wrong.
"""

from mexenv.testing.aec import (
    check_copies,
    check_illegal_actions,
    check_masks,
    check_off_turn_masks,
    check_rewards_through_last,
    check_seeding,
)
from mexenv.testing.vector import check_vector

__all__ = [
    "check_copies",
    "check_illegal_actions",
    "check_masks",
    "check_off_turn_masks",
    "check_rewards_through_last",
    "check_seeding",
    "check_vector",
]
