"""What fast sums are made of: the window, the cut-off transforms, the search for neighbours."""

import math

import numpy as np
import pytest
from scipy import special
from scipy.integrate import quad

from earnshaw.energy.fast_sums.columns import PIECE, in_columns
from earnshaw.energy.fast_sums.screened import truncation
from earnshaw.energy.fast_sums.screened_near import rule, spherical_wave
from earnshaw.energy.fast_sums.window import ORDER, log_transform, shape_for, smearing, tail


def sphere(dim):
    """The surface of the unit sphere."""
    return 2 * math.pi ** (dim / 2) / math.gamma(dim / 2)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_window_has_its_transform(dim):
    alpha = 9.0

    def chi(r):
        root = np.sqrt(np.maximum(1 - r * r, 0.0))
        return root**ORDER * special.iv(ORDER, alpha * root)

    def transform(k):
        wave = lambda r: float(spherical_wave(k * r, dim) * chi(r) * r ** (dim - 1))  # noqa: E731
        return quad(wave, 0, 1, epsabs=1e-9, epsrel=0, limit=200)[0]

    k = np.array([0.0, 3.0, 8.99, 9.0, 9.01, 14.0, 31.0])
    sign, logs = log_transform(k * k - alpha * alpha, dim)
    found = sign * np.exp(logs)
    expected = np.array([transform(float(each)) for each in k])
    np.testing.assert_allclose(found / found[0], expected / expected[0], atol=1e-9)
    assert smearing(np.array([0.0]), 1.0, alpha, 0.0, dim) == pytest.approx(1.0)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_screened_function_smeared_is_itself_beyond_the_window(dim):
    """The mean value property, which the near part's radius rests on: by the inverse transform."""
    rho, alpha, rate = 0.7, 25.0, 1.3
    k, weights = rule(200.0, rate, 2.0)
    k, weights = k[k < 200], weights[k < 200]
    r = np.array([0.71, 0.9, 2.0])
    smeared = smearing(k, rho, alpha, rate * rate, dim) / (k * k + rate * rate)
    found = spherical_wave(np.outer(r, k), dim) @ (weights * smeared * k ** (dim - 1))
    found *= sphere(dim) / (2 * math.pi) ** dim
    z, order = rate * r, dim / 2 - 1
    expected = z**-order * special.kv(order, z) * rate ** (dim - 2) / (2 * math.pi) ** (dim / 2)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("rate", [1e-3, 1.0, 7.0])
def test_transforms_of_functions_that_are_cut_off(dim, rate):
    end, order = 2.3, dim / 2 - 1

    def function(r):
        z, last = rate * r, rate * end
        beyond = last**-order * special.kv(order, last)
        return (z**-order * special.kv(order, z) - beyond) * r ** (dim - 1)

    norm = (2 * math.pi) ** (dim / 2) * rate ** (2 - dim)
    for k in (0.0, 1.7, 11.0):
        wave = lambda r, k=k: float(spherical_wave(k * r, dim)) * function(r)  # noqa: E731
        expected = sphere(dim) * quad(wave, 0, end, epsabs=0, epsrel=1e-9, limit=200)[0]
        factor = float(truncation(np.array([k]), end, rate, dim)[0])
        assert norm * factor / (k * k + rate * rate) == pytest.approx(expected, rel=1e-6)


def test_windows_are_as_narrow_as_the_tolerance_allows():
    for dim in (1, 2, 3):
        shapes = [shape_for(dim, allowed, allowed) for allowed in (1e-4, 1e-8, 1e-12)]
        assert shapes == sorted(shapes)
        for allowed, shape in zip((1e-4, 1e-8, 1e-12), shapes, strict=True):
            assert max(tail(shape, dim, power) for power in (0, 1)) <= allowed
            assert max(tail(shape - 1, dim, power) for power in (0, 1)) > allowed


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("shape", ["even", "one place", "a line", "far away"])
def test_no_neighbour_is_missed(dim, shape):
    """Items hold every near pair once; of pairs too far apart, not nearly all."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (500, dim)), rng.uniform(-1, 1, (700, dim))
    if shape == "one place":
        x, y = 1e-9 * x, np.zeros_like(y)
    if shape == "a line":
        x[:, :-1], y[:, 0] = 0.0, 0.5
    if shape == "far away":
        x[0], y[1] = 1e3, -1e3
    radius = 0.11
    columns = in_columns(x, y, radius)
    seen = np.zeros((len(x), len(y)), dtype=int)
    for items in columns.items():
        assert np.all((items.length > 0) & (items.length <= PIECE))
        for chunk, start, length in zip(*items, strict=True):
            first = columns.chunk_start[chunk]
            targets = columns.target_order[first : first + columns.chunk_size[chunk]]
            sources = columns.source_order[start : start + length]
            seen[np.ix_(targets, sources)] += 1
    gaps = np.linalg.norm(x[:, None] - y, axis=-1)
    assert np.all(seen[gaps < radius] == 1)
    assert np.all(seen <= 1)
    assert np.sum(seen) == columns.pairs()
    if shape == "even":
        assert np.sum(seen) < 0.5 * seen.size
