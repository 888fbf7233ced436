"""The smallest eigenpair inside compiled code, against dense eigenvalues."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.numerics.lanczos import smallest_ritz_pair


def _symmetric(values, seed=0):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))
    return (q * values) @ q.T


@jax.jit
def _found(matrix):
    return smallest_ritz_pair(lambda v: matrix @ v, matrix.shape[0])


N = 12
SPECTRA = {
    "simple": np.linspace(-1, 3, N),
    "double": np.r_[-2.0, -2.0, np.linspace(0, 1, N - 2)],
    "two values": np.r_[-1.0, np.ones(N - 1)],
    "identity": np.ones(N),
    "zero": np.zeros(N),
    "graded": -np.logspace(-12, 0, N),
    "tiny": 1e-200 * np.linspace(-1, 3, N),
    "huge": 1e200 * np.linspace(-1, 3, N),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECTRA)
def test_exact_with_as_many_products_as_coordinates(name):
    values = SPECTRA[name]
    matrix = _symmetric(values)
    found = _found(matrix)
    size = np.max(np.abs(values))
    assert abs(float(found.value) - values.min()) <= 1e-14 * size
    assert float(found.residual) <= 1e-14 * size
    vector = np.asarray(found.vector)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-14)
    assert np.max(np.abs(matrix @ vector - float(found.value) * vector)) <= 2e-14 * size


def test_a_diagonal_matrix_with_an_invisible_direction():
    """Every coordinate vector is an invariant subspace, and the basis goes on past each."""
    matrix = np.zeros((N, N))
    matrix[7, 7] = -1e-3
    found = _found(matrix)
    assert float(found.value) == pytest.approx(-1e-3, rel=1e-12)
    assert abs(float(found.vector[7])) == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_more_coordinates_than_products():
    """An upper bound of the smallest eigenvalue, and right where that is well separated."""
    matrix = _symmetric(np.r_[-3.0, np.random.default_rng(1).uniform(-1, 1, 299)])
    found = _found(matrix)
    assert -3 - 1e-12 <= float(found.value) <= -3 + 1e-9
    vector = np.asarray(found.vector)
    measured = np.linalg.norm(matrix @ vector - float(found.value) * vector)
    assert float(found.residual) == pytest.approx(measured, abs=1e-13)
    assert float(vector @ matrix @ vector) == pytest.approx(float(found.value), rel=1e-13)


def test_one_coordinate_and_none():
    assert float(_found(jnp.asarray([[-4.0]])).value) == -4
    none = _found(jnp.zeros((0, 0)))
    assert float(none.value) == np.inf
    assert none.vector.shape == (0,)


@pytest.mark.slow
def test_batches_branches_and_repetition():
    matrices = jnp.stack([_symmetric(SPECTRA[name], 3) for name in ("simple", "double", "zero")])
    batch = jax.jit(jax.vmap(_found))(matrices)
    alone = [float(_found(matrix).value) for matrix in matrices]
    np.testing.assert_allclose(batch.value, alone, atol=1e-14)

    @jax.jit
    def branch(look, matrix):
        return jax.lax.cond(look, lambda: _found(matrix).value, lambda: jnp.asarray(0.0))

    assert float(branch(True, matrices[0])) == alone[0]
    assert float(branch(False, matrices[0])) == 0
    again = _found(matrices[0])
    assert np.array_equal(again.vector, _found(matrices[0]).vector)


@pytest.mark.slow
def test_products_that_are_not_finite_are_said_so():
    assert np.isnan(float(_found(jnp.full((3, 3), jnp.nan)).value))
