"""Truncation and products of two units: against Monte Carlo, exact cases, and each other."""

import math

import numpy as np
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.papers.bounds import (
    linear_complexity,
    product_complexity,
    product_deviation,
    samples_needed,
    truncation_error,
    truncation_radius,
    uniform_deviation,
)


@pytest.mark.parametrize(("dim", "power", "radius"), [(1, 0, 1.5), (3, 2, 2.0), (8, 1, 3.0)])
def test_truncation_error_against_monte_carlo(dim, power, radius):
    lengths = np.linalg.norm(np.random.default_rng(0).standard_normal((200_000, dim)), axis=1)
    inside = lengths <= radius
    worst = np.where(inside, -1.0, 1.0) * lengths**power  # the f that is worst
    found = worst.mean() - worst[inside].mean()
    spread = 3 * worst.std() / math.sqrt(inside.sum())
    assert truncation_error(dim, power, radius) == pytest.approx(found, abs=2 * spread)
    assert truncation_error(dim, power, radius, 3.0) == pytest.approx(
        3 * truncation_error(dim, power, radius)
    )


@pytest.mark.parametrize("dim", [1, 3, 50, 300])
@pytest.mark.parametrize("power", [0, 1, 2.5, 20])
@pytest.mark.parametrize("error", [10.0, 0.3, 1e-3, 1e-12])
def test_truncation_radius_is_the_least(dim, power, error):
    radius = truncation_radius(dim, power, error)
    if radius == 0:
        assert error > max(truncation_error(dim, power, r) for r in np.geomspace(1e-6, 100, 60))
        return
    assert truncation_error(dim, power, radius) <= error * (1 + 1e-6)
    assert truncation_error(dim, power, 0.999 * radius) > error


def test_complexities():
    assert linear_complexity(3.0, 100) == pytest.approx(0.6)
    assert product_complexity(1.0, 0.0, 5.0, 4) == pytest.approx(12.0)
    assert product_complexity(2.0, 1.0, 1.0, 1) == pytest.approx(96 + 96)
    four = [product_complexity(1.0, 1.0, 2.0, n) for n in (10, 40)]
    assert four[0] == pytest.approx(2 * four[1])


def test_deviations():
    assert uniform_deviation(0.1, 8, 1 - 2 / math.e) == pytest.approx(1.1)
    count = samples_needed(1.0, 1.0, 3.0, 0.1, 0.9)
    assert product_deviation(1.0, 1.0, 3.0, count, 0.9) <= 0.1
    assert product_deviation(1.0, 1.0, 3.0, count - 1, 0.9) > 0.1
    # Scaling sigma scales the products by its square.
    assert product_deviation(3.0, 3.0, 2.0, 50, 0.9) == pytest.approx(
        9 * product_deviation(1.0, 1.0, 2.0, 50, 0.9)
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: truncation_error(0, 1, 1.0),
        lambda: truncation_error(3, -1, 1.0),
        lambda: truncation_error(3, math.nan, 1.0),
        lambda: truncation_radius(3, 1, 0.0),
        lambda: linear_complexity(-1.0, 10),
        lambda: linear_complexity(1.0, 0),
        lambda: product_complexity(1.0, -1.0, 1.0, 1),
        lambda: uniform_deviation(0.1, 10, 1.0),
        lambda: samples_needed(1.0, 1.0, 1.0, math.inf, 0.5),
    ],
)
def test_bad_input(call):
    with pytest.raises(EarnshawError, match="allowed"):
        call()
