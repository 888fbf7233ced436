"""Sizes of activations: against what calculus gives."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.papers.bounds import activation_sizes

ERF = 2 / math.sqrt(math.pi)


@pytest.mark.parametrize(
    ("name", "radius", "right"),
    [
        # erf'' = -2 x erf' is largest at 1/sqrt(2), erf''' at 0.
        ("erf", 5.0, (math.erf(5.0), ERF, ERF * math.sqrt(2 / math.e), 2 * ERF)),
        ("erf", 0.3, (math.erf(0.3), ERF, 0.6 * ERF * math.exp(-0.09), 2 * ERF)),
        ("tanh", 5.0, (math.tanh(5.0), 1.0, 4 / 3**1.5, 2.0)),
        ("relu", 4.0, (4.0, 1.0, math.inf, math.inf)),
        ("relu2", 4.0, (16.0, 8.0, 2.0, math.inf)),
        ("relu3", 4.0, (64.0, 48.0, 24.0, 6.0)),
        ("sign", 4.0, (1.0, math.inf, math.inf, math.inf)),
        (lambda x: jnp.sin(3 * x) + 2, 4.0, (3.0, 3.0, 9.0, 27.0)),
    ],
)
def test_sizes(name, radius, right):
    found = np.asarray(activation_sizes(name, radius))
    right = np.asarray(right)
    assert np.array_equal(np.isinf(found), np.isinf(right))
    seen = np.isfinite(right)
    assert np.all(found[seen] >= right[seen])
    assert np.all(found[seen] <= 1.0015 * right[seen])


def test_a_kink_counts_only_within_reach():
    kinked = {"activation": lambda x: jnp.abs(x - 2.0), "kinks": (2.0,)}
    assert activation_sizes(radius=1.9, **kinked).second == pytest.approx(0.0, abs=1e-9)
    assert math.isinf(activation_sizes(radius=2.1, **kinked).second)


def test_a_straight_line_has_no_kink():
    sizes = activation_sizes("leaky-relu", 3.0, negative_slope=1.0, positive_slope=1.0)
    assert sizes.second == 0.0


@pytest.mark.parametrize(
    "call",
    [lambda: activation_sizes("relu", 0.0), lambda: activation_sizes("gaussian", 1.0, dim=2)],
)
def test_bad_input(call):
    with pytest.raises(EarnshawError, match="allowed"):
        call()
