"""Duplicate evaluation: who plays better, by how much, and how sure that is."""

from mexenv.arena.duplicate import evaluate
from mexenv.arena.results import Difference, Results, Row

__all__ = ["Difference", "Results", "Row", "evaluate"]
