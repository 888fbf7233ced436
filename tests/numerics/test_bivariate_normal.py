"""Phi2 against 60-digit arithmetic, SciPy and theorems; derivatives against their definition."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import stats

import affine_reference
from earnshaw.numerics.bivariate_normal import bivariate_normal_cdf

cdf = jax.jit(bivariate_normal_cdf)


def reference(h: float, k: float, rho: float, gap: float) -> mpmath.mpf:
    """integral_-inf^h phi(x) Phi((k - rho x)/t) dx, with 1 - |rho| = gap exactly."""
    with mpmath.workdps(30):
        h, k, gap = (mpmath.mpf(x) for x in (h, k, gap))
        rho = (1 - gap) if rho > 0 else gap - 1
        t = mpmath.sqrt(gap * (2 - gap))
        edges = [h - mpmath.mpf(i) * 2 for i in range(20)] + [
            h - mpmath.mpf(2) ** -i for i in range(6)
        ]
        if rho:
            edges += [k / rho + t / abs(rho) * i for i in (-16, -8, -4, -2, 0, 2, 4, 8, 16)]
        inside = sorted({edge for edge in edges if h - 38 <= edge <= h})
        return mpmath.quad(
            lambda x: mpmath.npdf(x) * mpmath.ncdf((k - rho * x) / t), inside, maxdegree=5
        )


def draw(count: int, spread: float, seed: int) -> np.ndarray:
    """Rows h, k, rho, gap: nearly parallel, nearly antiparallel and ordinary ones."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(count):
        h, k = rng.normal(size=2) * spread
        if i % 4 == 0:
            k = rng.choice([-1, 1]) * h + rng.normal() * 10.0 ** -rng.integers(0, 8)
        gap = rng.random() if i % 2 else 10.0 ** -rng.uniform(0, 12)
        rows.append((h, k, rng.choice([-1.0, 1.0]) * (1 - gap), gap))
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "seed"), [(1.0, 0), (3.0, 1)])
def test_values(spread, seed):
    """To 1e-15; |rho| to 1 - 1e-12 with the gap given."""
    rows = draw(6, spread, seed)
    wanted = np.array([float(reference(*row)) for row in rows.tolist()])
    assert np.max(np.abs(np.asarray(cdf(*rows.T)) - wanted)) < 1e-15


@pytest.mark.slow
def test_tails_keep_their_digits():
    """Small probabilities are right relative to themselves: P(u > 0, v > 0) of means h, k."""
    rows = [(-6.0, -7.0, 0.3), (-5.0, -4.0, -0.6), (-12.0, -12.1, 0.99), (-3.0, -15.0, 0.5)]
    rows += [(-3.0, -9.0, -0.5), (-20.0, -20.0, 0.999), (4.0, -25.0, 0.2), (-8.3, -12.2, 0.29)]
    wanted = [affine_reference.mean("step", "step", h, k, 1.0, 1.0, rho) for h, k, rho in rows]
    found = np.asarray(cdf(*np.array(rows).T))
    assert np.max(np.abs(found / wanted - 1)) < 2e-13


def test_against_scipy():
    """SciPy's own, at ordinary arguments."""
    rng = np.random.default_rng(4)
    h, k = rng.normal(size=(2, 20))
    rho = rng.uniform(-0.95, 0.95, 20)
    for row in zip(h, k, rho, np.asarray(cdf(h, k, rho)), strict=True):
        law = stats.multivariate_normal(cov=[[1, row[2]], [row[2], 1]])
        assert row[3] == pytest.approx(law.cdf(row[:2]), abs=1e-13)


@pytest.mark.slow
def test_ends():
    """rho = +-1 and 0, and infinite arguments."""
    h, k = np.array([0.3, -1.2, 2.0, 0.0]), np.array([0.3, 0.4, -2.0, 0.0])
    assert np.allclose(cdf(h, k, 1.0), stats.norm.cdf(np.minimum(h, k)), rtol=1e-15, atol=0)
    across = np.maximum(0.0, stats.norm.cdf(h) - stats.norm.cdf(-k))
    assert np.allclose(cdf(h, k, -1.0), across, rtol=0, atol=2e-16)
    assert np.allclose(cdf(h, k, 0.0), stats.norm.cdf(h) * stats.norm.cdf(k), rtol=1e-15)
    for rho in (-1.0, -0.4, 0.0, 0.7, 1.0):
        assert float(cdf(0.4, jnp.inf, rho)) == pytest.approx(stats.norm.cdf(0.4), abs=1e-16)
        assert float(cdf(-jnp.inf, 2.0, rho)) == 0.0
        assert float(cdf(jnp.inf, jnp.inf, rho)) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("rho", [-0.999999, 0.0, 0.8])
def test_derivatives(rho):
    """The gradient, and the Hessian as derivatives of the gradient's definition."""
    h, k = 0.7, 0.6 if rho > 0 else -0.6
    with mpmath.workdps(40):
        t = lambda r: mpmath.sqrt(1 - r * r)  # noqa: E731

        def density(x, y, r):
            form = (x * x - 2 * r * x * y + y * y) / (2 * (1 - r * r))
            return mpmath.exp(-form) / (2 * mpmath.pi * t(r))

        first = (
            lambda x, y, r: mpmath.npdf(x) * mpmath.ncdf((y - r * x) / t(r)),
            lambda x, y, r: mpmath.npdf(y) * mpmath.ncdf((x - r * y) / t(r)),
            density,
        )
        at = tuple(mpmath.mpf(x) for x in (h, k, rho))
        gradient = [float(part(*at)) for part in first]
        orders = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
        hessian = np.array(
            [[float(mpmath.diff(part, at, order)) for order in orders] for part in first]
        )
    numbers = [jnp.asarray(x) for x in (h, k, rho)]
    found = jax.jacfwd(bivariate_normal_cdf, (0, 1, 2))(*numbers)
    assert np.allclose(found, gradient, rtol=1e-9, atol=1e-15)
    twice = np.array(jax.jacfwd(jax.jacfwd(bivariate_normal_cdf, (0, 1, 2)), (0, 1, 2))(*numbers))
    assert np.allclose(twice, hessian, rtol=1e-8, atol=1e-12 * np.max(np.abs(hessian)))
