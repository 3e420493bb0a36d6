from __future__ import annotations

import math

import numpy as np
import pytest

from mexenv.arena.statistics import estimate, student


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (10**6, 1.960)],
)
def test_quantiles_of_students_distribution(freedom: int, quantile: float) -> None:
    assert student(freedom) == pytest.approx(quantile, abs=0.03)


def test_an_interval_by_hand() -> None:
    mean, low, high = estimate(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    assert mean == 3.5
    # Standard deviation sqrt(3.5), six values, five degrees of freedom.
    assert high - mean == pytest.approx(2.571 * math.sqrt(3.5 / 6), rel=2e-3)
    assert mean - low == pytest.approx(high - mean)


def test_one_deal_gives_no_interval() -> None:
    mean, low, high = estimate(np.array([7.0]))
    assert mean == 7
    assert math.isnan(low)
    assert math.isnan(high)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(1000):
        _, low, high = estimate(rng.exponential(20.0, 40))
        hits += low < 20.0 < high
    assert 900 < hits < 970
