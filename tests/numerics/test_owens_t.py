"""Phi2 by Owen's T against the slow one's own reference, and against what is known at the ends."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, owens_t

from earnshaw.numerics.owens_t import bivariate_normal_fast
from numerics.test_bivariate_normal import draw, reference

fast = jax.jit(bivariate_normal_fast)


@pytest.mark.slow
def test_values():
    """To 1e-15, |rho| to 1 - 1e-12 with the gap given."""
    rows = draw(8, 2.0, 5)
    wanted = np.array([float(reference(*row)) for row in rows.tolist()])
    assert np.max(np.abs(np.asarray(fast(*rows.T).both) - wanted)) < 1e-15


def test_against_scipys_owens_t():
    """Owen's formula with SciPy's T, for h and k of the same sign, far from rho = 1."""
    rng = np.random.default_rng(0)
    h, k, rho = *np.abs(rng.normal(size=(2, 500))) + 0.01, rng.uniform(-0.9, 0.9, 500)
    t = np.sqrt(1 - rho**2)
    wanted = (ndtr(h) + ndtr(k)) / 2 - owens_t(h, (k / h - rho) / t) - owens_t(k, (h / k - rho) / t)
    found = fast(h, k, rho, 1 - np.abs(rho))
    assert np.max(np.abs(np.asarray(found.both) - wanted)) < 1e-14
    assert np.max(np.abs(np.asarray(found.given_x) - ndtr((k - rho * h) / t))) < 1e-14


@pytest.mark.parametrize(
    ("h", "k"), [(0.0, 0.0), (0.0, 1.3), (-0.7, 0.0), (1.1, 1.1), (-2.0, -2.0)]
)
def test_ends(h, k):
    """rho = 1: the smaller one decides; rho = -1: what both leave; rho = 0: a product."""
    same = fast(h, k, 1.0, 0.0)
    assert float(same.both) == pytest.approx(stats.norm.cdf(min(h, k)), abs=1e-15)
    opposite = fast(h, k, -1.0, 0.0)
    assert float(opposite.both) == pytest.approx(max(0.0, ndtr(h) + ndtr(k) - 1), abs=1e-15)
    apart = fast(h, k, 0.0, 1.0)
    assert float(apart.both) == pytest.approx(ndtr(h) * ndtr(k), abs=1e-15)
    assert float(apart.given_x) == pytest.approx(ndtr(k), abs=1e-15)
    if h == k:
        assert float(same.given_x) == float(same.given_y) == 0.5


def test_both_at_zero():
    """1/4 + arcsin(rho)/2 pi, Sheppard's formula."""
    rho = np.linspace(-1, 1, 41)
    found = fast(0.0, 0.0, rho, 1 - np.abs(rho)).both
    assert np.allclose(found, 0.25 + np.arcsin(rho) / (2 * np.pi), atol=1e-15, rtol=0)
