"""What cannot have a potential is refused in one line, from Python as from the command line."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import earnshaw as ew
from earnshaw.errors import EarnshawError, NotSquareIntegrable, OutOfRange, UnknownName


def test_errors_are_value_errors():
    assert issubclass(EarnshawError, ValueError)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.exp(np.asarray(x) ** 2),
        lambda x: np.exp(np.asarray(x) ** 2 / 4),
        lambda x: 1 / np.asarray(x),
        lambda x: np.abs(np.asarray(x)) ** -0.5,
    ],
)
def test_functions_that_are_not_square_integrable(function):
    with pytest.raises(NotSquareIntegrable, match="square-integrable"):
        ew.potential(function)


def test_a_function_that_returns_nan_says_where():
    with pytest.raises(NotSquareIntegrable, match="NaN at x = -"):
        ew.potential(lambda x: np.sqrt(x))


def test_a_function_that_is_not_elementwise():
    with pytest.raises(NotSquareIntegrable, match="elementwise"):
        ew.potential(lambda x: jnp.sum(x))


def test_growth_below_the_limit_is_accepted():
    """exp(x^2/8) grows, but E[s^2] = sqrt(2) is finite; its dual is a Gaussian integral."""
    phi = ew.potential(lambda x: jnp.exp(x**2 / 8), normalize=False, max_norm=1.0)
    b, rho = 1 / 8, 0.5
    exact = ((1 - 2 * b) ** 2 - 4 * b**2 * rho**2) ** -0.5
    assert abs(float(phi(rho)) - exact) <= max(phi.error_estimate, 1e-10)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ew.activation("rellu"), UnknownName, "did you mean relu"),
        (lambda: ew.potential("rellu"), UnknownName, "did you mean relu"),
        (lambda: ew.activation("relu", slope=1.0), EarnshawError, "no parameter 'slope'"),
        (lambda: ew.activation("hermite", degree=-1), OutOfRange, "from 0 to 1000"),
        (lambda: ew.activation("hermite", degree=2.5), OutOfRange, "integer"),
        (lambda: ew.activation("rbf", gamma=0.0), OutOfRange, "gamma"),
        (lambda: ew.activation("gaussian-bump", curvature=0.5), OutOfRange, "curvature"),
        (lambda: ew.activation("elu", alpha=float("nan")), OutOfRange, "alpha"),
        (lambda: ew.activation("polynomial", coefficients=[]), EarnshawError, "non-empty"),
        (lambda: ew.activation("polynomial", coefficients=["a"]), EarnshawError, "numbers"),
        (lambda: ew.activation(3.0), EarnshawError, "a name or a function"),
        (lambda: ew.potential("relu", kinks=[0.0]), EarnshawError, "kinks"),
        (lambda: ew.potential(jnp.tanh, alpha=1.0), EarnshawError, "by name"),
        (lambda: ew.potential("relu", width=float("inf")), OutOfRange, "width"),
        (lambda: ew.potential("gaussian"), EarnshawError, "dim="),
        (lambda: ew.potential("relu", dim=0), OutOfRange, "integer from 1 to"),
        (lambda: ew.potential("relu").laplacian(0.5), EarnshawError, "dim="),
        (lambda: ew.Gaussian(0.0), OutOfRange, "width"),
        (lambda: ew.realize(3.0), EarnshawError, "formula"),
        (
            lambda: ew.potential("relu") + ew.potential("gaussian", dim=2),
            EarnshawError,
            "do not",
        ),
    ],
)
def test_bad_input_is_one_line(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
