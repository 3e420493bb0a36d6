"""A slow, readable reference engine for Mexican Train.

It shares no code with the package under test: the two are compared move by move, so every rule is written
here a second time, in the plainest way that works.
"""

from .game import OracleGame
from .table import MEXICAN

__all__ = ["MEXICAN", "OracleGame"]
