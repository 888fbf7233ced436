"""The extreme eigenpairs of an operator given by its products, against NumPy's dense solver."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.errors import EarnshawError
from earnshaw.numerics import eigenpairs
from earnshaw.numerics.eigenpairs import largest_eigenpair, smallest_eigenpair

ROUNDING = np.finfo(float).eps


def symmetric(spectrum, seed=0):
    """A matrix with this spectrum in a random orthonormal basis."""
    size = len(spectrum)
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))
    matrix = (basis * np.asarray(spectrum)) @ basis.T
    return (matrix + matrix.T) / 2


def counted(matrix):
    """The product of a matrix, and the list of its calls."""
    calls = []

    def product(vector):
        calls.append(vector)
        return matrix @ np.asarray(vector)

    return product, calls


def check(matrix, found, side, tolerance=1e-6):
    """What an `Eigenpair` says is so; `side` is 0 for the smallest, -1 for the largest."""
    vector, value = np.asarray(found.vector), float(found.value)
    values = np.linalg.eigvalsh(matrix)
    norm, truth = np.max(np.abs(values)), values[side]
    rounding = 50 * ROUNDING * norm
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-14)
    residual = np.linalg.norm(matrix @ vector - value * vector)
    assert residual == pytest.approx(float(found.residual), rel=1e-3, abs=rounding)
    assert float(found.norm) <= norm * (1 + 1e-12)
    if found.stop == "converged":
        assert float(found.residual) <= tolerance * abs(value)
    assert np.min(np.abs(values - value)) <= residual + rounding
    # Never beyond the end of the spectrum; inside it by no more than clusters can hide.
    inside = value - truth if side == 0 else truth - value
    assert -rounding <= inside <= 100 * tolerance * abs(value) + rounding


SPECTRA = {
    "indefinite": np.linspace(-3.0, 5.0, 60),
    "positive": np.linspace(1.0, 9.0, 60),
    "negative": np.linspace(-9.0, -1.0, 60),
    "one below": np.r_[-1e-3, np.linspace(0.5, 1.0, 59)],
    "far above": np.r_[np.linspace(-1.0, 1.0, 59), 1e9],
    "geometric": -(0.7 ** np.arange(60)),
    "multiple": np.r_[-2.0, -2.0, -2.0, np.linspace(-1.0, 1.0, 57)],
    "close": np.r_[-1.0, -1.0 + 1e-9, np.linspace(0.0, 1.0, 58)],
    "two values": np.r_[np.full(30, -1.0), np.full(30, 4.0)],
    "identity": np.full(60, 2.5),
    "tiny": 1e-200 * np.linspace(-3.0, 5.0, 60),
    "huge": 1e200 * np.linspace(-3.0, 5.0, 60),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_both_ends_of_assorted_spectra(name):
    scale = np.max(np.abs(SPECTRA[name]))
    matrix = symmetric(SPECTRA[name] / scale) * scale
    unit = matrix / scale
    for search, truth in (
        (smallest_eigenpair, np.min(SPECTRA[name])),
        (largest_eigenpair, np.max(SPECTRA[name])),
    ):
        product, calls = counted(matrix)
        found = search(product, 60)
        assert found.products == len(calls) <= 61
        shrunk = jax.tree.map(lambda a: a / scale, (found.value, found.residual, found.norm))
        assert found.stop == "converged"
        assert float(shrunk[1]) <= 1e-6 * abs(float(shrunk[0]))
        vector = np.asarray(found.vector)
        error = np.linalg.norm(unit @ vector - float(shrunk[0]) * vector)
        assert error <= float(shrunk[1]) + 50 * ROUNDING
        assert abs(float(shrunk[0]) - truth / scale) <= float(shrunk[1]) + 50 * ROUNDING


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    size=st.integers(1, 30),
    seed=st.integers(0, 1000),
    decades=st.floats(0, 8),
    shift=st.sampled_from([-1.0, 0.0, 1.0]),
    copies=st.integers(1, 3),
)
def test_random_matrices(size, seed, decades, shift, copies):
    generator = np.random.default_rng(seed)
    spectrum = generator.standard_normal(size) * 10 ** (-decades * generator.random(size)) + shift
    spectrum = np.repeat(spectrum, copies)
    matrix = symmetric(spectrum, seed)
    product, calls = counted(matrix)
    found = smallest_eigenpair(product, len(spectrum), seed=seed)
    check(matrix, found, 0)
    assert found.products == len(calls) <= len(spectrum) + 1
    check(matrix, largest_eigenpair(product, len(spectrum), seed=seed), -1)


@pytest.mark.slow
@pytest.mark.parametrize("room", [20, 40])
def test_a_full_basis_is_cut_and_grows_again(room, monkeypatch):
    monkeypatch.setattr(eigenpairs, "BASIS", room)
    matrix = symmetric(np.r_[-1.0, np.linspace(-0.98, 1.0, 299)])
    product, calls = counted(matrix)
    found = smallest_eigenpair(product, 300)
    check(matrix, found, 0)
    assert found.stop == "converged"
    assert room < len(calls) < 200


def test_memory_is_bounded_for_many_coordinates():
    size = 10**7
    assert eigenpairs._Basis(10, np.zeros((0, 10))).room == 10
    assert eigenpairs._Basis(10**4, np.zeros((0, 10**4))).room == eigenpairs.BASIS
    assert max(20, eigenpairs.MEMORY // (8 * size)) == 20


def test_zero_operator_and_one_coordinate():
    found = smallest_eigenpair(lambda v: 0 * v, 7)
    assert (float(found.value), float(found.residual), found.stop) == (0, 0, "converged")
    found = smallest_eigenpair(lambda v: -3 * v, 1)
    assert (float(found.value), found.products, found.stop) == (-3, 2, "converged")
    assert abs(float(found.vector[0])) == 1


def test_an_eigenvalue_below_rounding_is_said_to_be_so():
    matrix = symmetric(np.r_[0.0, np.linspace(1.0, 1e3, 49)])
    found = smallest_eigenpair(lambda v: matrix @ v, 50)
    assert found.stop == "rounding"
    assert abs(float(found.value)) < 1e-11
    assert float(found.residual) < 1e-11
    strict = smallest_eigenpair(lambda v: symmetric(np.arange(1, 9.0)) @ v, 8, tolerance=1e-300)
    assert strict.stop == "rounding"
    assert float(strict.value) == pytest.approx(1, rel=1e-14)


def test_products_run_out():
    matrix = symmetric(np.linspace(0.0, 1.0, 200) ** 2 + 1e-4)
    product, calls = counted(matrix)
    found = smallest_eigenpair(product, 200, max_products=12)
    assert (found.stop, found.products, len(calls)) == ("products", 12, 12)
    assert float(found.value) >= np.linalg.eigvalsh(matrix)[0]


def test_a_start_that_is_orthogonal_to_the_eigenvector_does_not_hide_it():
    matrix = np.diag(np.r_[-1.0, np.linspace(0.0, 1.0, 99)])
    for start in (np.eye(100)[50], np.r_[0.0, np.ones(99)], np.zeros(100)):
        found = smallest_eigenpair(lambda v: matrix @ v, 100, start=start)
        assert float(found.value) == pytest.approx(-1, abs=1e-6)


def test_a_good_start_saves_products():
    matrix = symmetric(np.linspace(-1.0, 1.0, 400) ** 3)
    product = jax.jit(lambda v: jnp.asarray(matrix) @ v)
    cold = smallest_eigenpair(product, 400)
    warm = smallest_eigenpair(product, 400, start=cold.vector)
    assert float(warm.value) == pytest.approx(float(cold.value), rel=1e-9)
    assert warm.products < cold.products


def test_further_eigenpairs_one_at_a_time_with_multiplicity():
    spectrum = np.r_[-2.0, -2.0, -1.0, np.linspace(0.0, 1.0, 37)]
    matrix, found = symmetric(spectrum), []
    for _ in range(4):
        kept_out = np.array(found) if found else None
        found.append(smallest_eigenpair(lambda v: matrix @ v, 40, orthogonal_to=kept_out).vector)
    values = [float(v @ matrix @ v) for v in np.array(found)]
    np.testing.assert_allclose(values, spectrum[:4], atol=1e-6)
    np.testing.assert_allclose(np.array(found) @ np.array(found).T, np.eye(4), atol=1e-12)


def test_what_is_kept_out_need_not_be_an_eigenvector():
    matrix = symmetric(np.linspace(-1.0, 1.0, 12))
    out = np.random.default_rng(3).standard_normal((5, 12))
    out[4] = out[0] - out[1]  # dependent rows are allowed
    found = smallest_eigenpair(lambda v: matrix @ v, 12, orthogonal_to=out)
    complement = np.linalg.svd(out)[2][4:]
    assert float(found.value) == pytest.approx(
        np.linalg.eigvalsh(complement @ matrix @ complement.T)[0], rel=1e-9
    )
    np.testing.assert_allclose(out @ np.asarray(found.vector), 0, atol=1e-13)


def test_the_seed_decides():
    matrix = symmetric(np.linspace(-1.0, 1.0, 50))
    first, again, other = (
        smallest_eigenpair(lambda v: matrix @ v, 50, seed=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first.vector, again.vector)
    assert not np.array_equal(first.vector, other.vector)
    assert float(other.value) == pytest.approx(float(first.value), rel=1e-9)


@pytest.mark.parametrize(
    ("product", "arguments"),
    [
        (lambda v: v, {"size": 0}), (lambda v: v, {"size": 2.5}),
        (lambda v: v, {"max_products": 1}), (lambda v: v, {"tolerance": 0.0}),
        (lambda v: v, {"start": np.ones(3)}), (lambda v: v, {"start": np.full(4, np.nan)}),
        (lambda v: v, {"orthogonal_to": np.ones(4)}), (lambda v: v, {"orthogonal_to": np.eye(4)}),
        (lambda v: v * np.nan, {}), (lambda v: v[:2], {}),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(product, arguments):
    with pytest.raises(EarnshawError) as error:
        smallest_eigenpair(product, **{"size": 4, **arguments})
    assert "\n" not in str(error.value)
