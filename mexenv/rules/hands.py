"""How many tiles each player is dealt: one table per rules document.

The documents give a hand for a number of players, and some of them only for certain sets. A ruleset keeps
the *name* of its table, so that the hand follows when the players or the set change.
"""

from collections.abc import Callable

_DOUBLE_12_PARSONS = {2: 16, 3: 15, 4: 14, 5: 12, 6: 11, 7: 10, 8: 9}
_DOUBLE_9_PARSONS = {2: 12, 3: 11, 4: 10}


def _parsons(set_max: int, players: int) -> int | None:
    if set_max == 6:
        return 7
    if set_max == 9:
        return _DOUBLE_9_PARSONS.get(players)
    if set_max == 12:
        return _DOUBLE_12_PARSONS.get(players)
    return 11 if set_max in (15, 18) and players >= 9 else None


def _wikipedia(set_max: int, players: int) -> int | None:
    if set_max == 6:
        return 7 if players <= 4 else None
    if players <= 4:
        return 15
    return 12 if players <= 6 else 11


def _dominos_cc(set_max: int, players: int) -> int | None:
    return 15 if set_max == 12 and players <= 4 else None


def _pagat(set_max: int, players: int) -> int | None:
    if players <= 4:
        return 15
    if players <= 6:
        return 12
    if players <= 8:
        return 10
    return 8 if players <= 10 else None


def _highest_double(set_max: int, players: int) -> int | None:
    return 15


def _tournament(set_max: int, players: int) -> int | None:
    return _pagat(set_max, players) if players <= 8 else None


HAND_TABLES: dict[str, Callable[[int, int], int | None]] = {
    "parsons": _parsons,
    "wikipedia": _wikipedia,
    "dominos_cc": _dominos_cc,
    "pagat": _pagat,
    "highest_double": _highest_double,
    "tournament": _tournament,
}


def table_hand(table: str, set_max: int, players: int) -> int | None:
    """Returns the hand that a table gives, or None where it has no entry.

    Args:
        table: A key of `HAND_TABLES`.
        set_max: The highest half of the set.
        players: How many play.
    """
    return HAND_TABLES[table](set_max, players)


def served_players(table: str, set_max: int) -> list[int]:
    """Returns the numbers of players (2 to 18) for which a table has an entry with that set."""
    return [players for players in range(2, 19) if table_hand(table, set_max, players) is not None]
