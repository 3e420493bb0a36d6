"""Playable games over the compiled engine: one, friendly (`Game`), or many at once (`BatchGame`)."""

from mexenv.games.batch import BatchGame
from mexenv.games.choosing import SCRIPTED
from mexenv.games.errors import IllegalActionError, PositionError
from mexenv.games.events import Event
from mexenv.games.record import Record, RecordError
from mexenv.games.single import Game

__all__ = [
    "SCRIPTED",
    "BatchGame",
    "Event",
    "Game",
    "IllegalActionError",
    "PositionError",
    "Record",
    "RecordError",
]
