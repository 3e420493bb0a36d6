"""Means with intervals over deals.

The rounds of one deal, played from every seat, resemble each other; deals do not. So an interval counts
deals, each with the mean of its rounds, never the rounds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_Z: Final = 1.959963984540054  # 97.5 % of the normal distribution lie below


class Estimate(NamedTuple):
    """A mean and its 95 % interval; `low` and `high` are NaN where one deal tells nothing about others."""

    mean: float
    low: float
    high: float


def estimate(values: NDArray[np.float64]) -> Estimate:
    """The mean of one value a deal, with its 95 % interval.

    Args:
        values: float64[deals], at least one.
    """
    n = len(values)
    mean = float(values.mean())
    if n < 2:
        return Estimate(mean, float("nan"), float("nan"))
    reach = student(n - 1) * float(values.std(ddof=1)) / n**0.5
    return Estimate(mean, mean - reach, mean + reach)


def estimate_share(values: NDArray[np.float64]) -> Estimate:
    """As `estimate`, for values from 0 to 1: the interval stays within these."""
    return Estimate(*(float(value) for value in np.clip(estimate(values), 0.0, 1.0)))


def student(freedom: int) -> float:
    """97.5 % quantile of Student's distribution with that many degrees of freedom (at least 1).

    By the expansion about the normal quantile; from 3 degrees on it is within 0.03 of the true value.
    """
    if freedom <= 2:
        return (12.706204736432095, 4.302652729911275)[freedom - 1]
    z, n = _Z, float(freedom)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + sum(term / n**k for k, term in enumerate(terms, start=1))
