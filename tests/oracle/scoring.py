"""Pips, points of a round, and places at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from .table import Tile

Points = int | Fraction


def pips_of(hand: Iterable[Tile], double_blank: int) -> int:
    """Adds up a hand, the double blank at its special price."""
    return sum(double_blank if tile == (0, 0) else tile[0] + tile[1] for tile in hand)


def sides(players: int, partners: bool) -> list[list[int]]:
    """Groups the seats into those that score together: each alone, or with the seat opposite."""
    if not partners:
        return [[seat] for seat in range(players)]
    half = players // 2
    return [[seat, seat + half] for seat in range(half)]


def round_points(
    pips: Sequence[int], out: Sequence[int], players: int, partners: bool, scoring: str
) -> list[Points]:
    """Computes what each seat books for a round.

    Args:
        pips: Pips left in each hand.
        out: Seats that went out; empty when the round was blocked.
        players: Number of seats.
        partners: Whether opposite seats score together.
        scoring: "penalty" or "winner_takes".

    Returns:
        Points by seat; partners both show their team's.
    """
    groups = sides(players, partners)
    held = [sum(pips[seat] for seat in group) for group in groups]
    finished = [any(seat in out for seat in group) for group in groups]
    if scoring == "penalty":
        booked: list[Points] = [0 if done else left for done, left in zip(finished, held, strict=True)]
    else:
        winners = finished if any(finished) else [left == min(held) for left in held]
        prize = Fraction(sum(left for won, left in zip(winners, held, strict=True) if not won), sum(winners))
        share: Points = prize.numerator if prize.denominator == 1 else prize
        booked = [share if won else 0 for won in winners]
    points: list[Points] = [0] * players
    for group, amount in zip(groups, booked, strict=True):
        for seat in group:
            points[seat] = amount
    return points


def rank(
    rounds: Sequence[Sequence[Points]], players: int, partners: bool, scoring: str, tie_break: str
) -> list[int]:
    """Ranks the seats by their points so far.

    Places count sides, not seats: of two teams the second has place 2 although two players are ahead of it.
    Equal sides share the better place and the next side's place leaves a gap.

    Args:
        rounds: Points by seat, one entry per finished round.
        players: Number of seats.
        partners: Whether opposite seats are ranked together.
        scoring: "penalty" (few points are good) or "winner_takes" (many are).
        tie_break: "share", or "zero_rounds" to look at rounds without points, then at the best other round.

    Returns:
        The place of each seat, 1 for the winner.
    """
    groups = sides(players, partners)
    keys: list[tuple[Points, ...]] = []
    for group in groups:
        line = [booked[group[0]] for booked in rounds]
        total = sum(line)
        key: tuple[Points, ...] = (total if scoring == "penalty" else -total,)
        if tie_break == "zero_rounds":
            others = [points for points in line if points != 0]
            key += (-line.count(0), min(others, default=0))
        keys.append(key)
    places = [0] * players
    for group, key in zip(groups, keys, strict=True):
        for seat in group:
            places[seat] = 1 + sum(rival < key for rival in keys)
    return places
