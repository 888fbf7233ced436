"""R^d and the sphere: what defines a projection, a retraction, a gradient and a Hessian."""

from __future__ import annotations

import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.charges.manifolds import Manifold, Space, Sphere, manifold
from earnshaw.errors import EarnshawError, UnknownName

SPACE, SPHERE = Space(), Sphere()
BOTH = pytest.mark.parametrize("where", [SPACE, SPHERE], ids=["space", "sphere"])
DIMS = pytest.mark.parametrize("dim", [2, 3, 4, 5])


def points(where: Manifold, units: int, dim: int, seed: int = 0) -> np.ndarray:
    x = np.random.default_rng(seed).standard_normal((units, dim))
    return x if where.name == "space" else x / np.linalg.norm(x, axis=1, keepdims=True)


def tangents(where: Manifold, x: np.ndarray, seed: int = 1) -> np.ndarray:
    """Tangent vectors, by their definition: orthogonal to the rows of x on the sphere."""
    v = np.random.default_rng(seed).standard_normal(x.shape)
    if where.name == "space":
        return v
    return v - np.sum(v * x, axis=1, keepdims=True) * x


def geodesic(where: Manifold, x: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    """The straight line, or the great circle cos(t|v|) x + sin(t|v|) v/|v|."""
    if where.name == "space":
        return x + t * v
    speed = np.linalg.norm(v, axis=1, keepdims=True)
    return np.cos(t * speed) * x + np.sin(t * speed) * v / speed


@eqx.filter_jit
def everything(on: Manifold, x, a, b) -> dict:
    once = on.tangent(x, a)
    return {
        "projected": on.project(a),
        "projected twice": on.project(on.project(a)),
        "tangent": once,
        "tangent twice": on.tangent(x, once),
        "other tangent": on.tangent(x, b),
        "gradient": on.gradient(x, a),
        "basis": on.basis(x),
        "moved": on.retract(x, once),
        "not moved": on.retract(x, 0 * x),
    }


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    units=st.integers(0, 3),
    dim=st.integers(1, 4),
    seed=st.integers(0, 2**31),
    on=st.sampled_from([SPACE, SPHERE]),
)
def test_shapes_and_defining_properties(units, dim, seed, on):
    """Projections are idempotent, tangent ones self-adjoint; the basis spans the tangent space."""
    x = points(on, units, dim, seed)
    on.check(x, "unit")
    a, b = np.random.default_rng(seed + 1).standard_normal((2, units, dim))
    found = {name: np.asarray(value) for name, value in everything(on, x, a, b).items()}
    freedom = dim if on.name == "space" else dim - 1
    basis = found["basis"]
    assert basis.shape == (units, dim, freedom)
    assert all(value.shape == (units, dim) for name, value in found.items() if name != "basis")
    along, other = found["tangent"], found["other tangent"]
    close = partial(np.testing.assert_allclose, rtol=1e-13, atol=1e-13)
    close(found["projected twice"], found["projected"])
    close(found["tangent twice"], along)
    close(np.sum(along * b, axis=1), np.sum(a * other, axis=1))
    close(found["gradient"], along)
    gram = np.einsum("kdf,kdg->kfg", basis, basis)
    close(gram, np.broadcast_to(np.eye(freedom), gram.shape))
    close(np.einsum("kdf,kef,ke->kd", basis, basis, a), along)
    close(found["not moved"], x)
    if on.name == "sphere":
        close(np.linalg.norm(found["moved"], axis=1), 1.0)
        close(np.sum(x * along, axis=1), 0.0)
    else:
        close(found["moved"], x + a)


@pytest.mark.slow
@BOTH
@DIMS
def test_retraction_follows_the_geodesic_to_second_order(where, dim):
    """The gap to the geodesic shrinks at least as the cube of the step."""
    x = points(where, 4, dim)
    v = tangents(where, x)
    steps = 10.0 ** -np.arange(1, 4)
    gaps = np.array(
        [np.max(np.abs(where.retract(x, t * v) - geodesic(where, x, v, t))) for t in steps]
    )
    if where.name == "space":
        assert np.all(gaps == 0)
    else:
        slopes = np.diff(np.log10(gaps)) / np.diff(np.log10(steps))
        np.testing.assert_allclose(slopes, 3.0, atol=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_basis_at_the_poles_of_its_reflection(dim):
    """At +-e1 and next to them, where a careless reflection divides by zero."""
    first = np.eye(1, dim)
    nearly = first + 1e-9 * np.ones((1, dim))
    nearly /= np.linalg.norm(nearly)
    x = np.concatenate([first, -first, nearly, -nearly])
    basis = np.asarray(SPHERE.basis(x))
    assert basis.shape == (4, dim, dim - 1)
    together = np.concatenate([x[:, :, None], basis], axis=2)
    gram = np.einsum("kdf,kdg->kfg", together, together)
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(dim), gram.shape), atol=1e-15)


class Quadratic:
    """x^T A x, with its derivatives by hand, for rows x."""

    def __init__(self, dim: int) -> None:
        a = np.random.default_rng(2).standard_normal((dim, dim))
        self.a = a + a.T

    def value(self, x):
        return np.sum(x * (x @ self.a), axis=1)

    def gradient(self, x):
        return 2 * x @ self.a

    def hvp(self, x, v):
        return 2 * v @ self.a


class Quartic:
    """|Ax|_4^4 + sum_i sin(Bx)_i."""

    def __init__(self, dim: int) -> None:
        self.a, self.b = np.random.default_rng(3).standard_normal((2, dim, dim))

    def value(self, x):
        return np.sum((x @ self.a.T) ** 4, axis=1) + np.sum(np.sin(x @ self.b.T), axis=1)

    def gradient(self, x):
        return 4 * (x @ self.a.T) ** 3 @ self.a + np.cos(x @ self.b.T) @ self.b

    def hvp(self, x, v):
        quartic = 12 * (x @ self.a.T) ** 2 * (v @ self.a.T) @ self.a
        return quartic - np.sin(x @ self.b.T) * (v @ self.b.T) @ self.b


@BOTH
@DIMS
@pytest.mark.parametrize("make", [Quadratic, Quartic])
def test_gradient_and_hessian_are_derivatives_along_geodesics(where, dim, make):
    """F(gamma(t)) has slope <grad, v> and curvature <v, Hess v> at t = 0."""
    function = make(dim)
    x = points(where, 3, dim)
    v, u = tangents(where, x, 1), tangents(where, x, 2)
    slopes = function.gradient(x)
    gradient = where.gradient(x, slopes)
    hvp = where.hvp(x, v, slopes, function.hvp(x, v))
    other = where.hvp(x, u, slopes, function.hvp(x, u))
    np.testing.assert_allclose(where.tangent(x, hvp), hvp, atol=1e-12)
    np.testing.assert_allclose(np.sum(u * hvp, axis=1), np.sum(v * other, axis=1), rtol=1e-10)
    h = 1e-3  # fourth-order differences
    low2, low, middle, high, high2 = (
        function.value(geodesic(where, x, v, t * h)) for t in (-2, -1, 0, 1, 2)
    )
    slope = (low2 - 8 * low + 8 * high - high2) / (12 * h)
    curvature = (-low2 + 16 * low - 30 * middle + 16 * high - high2) / (12 * h * h)
    np.testing.assert_allclose(np.sum(gradient * v, axis=1), slope, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(np.sum(hvp * v, axis=1), curvature, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3, 5])
def test_trace_of_the_hessian_is_the_laplacian_on_the_sphere(dim):
    """The Laplacian of the linear function c.x on S^(d-1) is -(d - 1) c.x."""
    c = np.random.default_rng(5).standard_normal(dim)
    x = points(SPHERE, 4, dim)
    basis = SPHERE.basis(x)
    slopes, none = np.broadcast_to(c, x.shape), np.zeros_like(x)
    trace = sum(
        jnp.sum(basis[:, :, f] * SPHERE.hvp(x, basis[:, :, f], slopes, none), axis=1)
        for f in range(dim - 1)
    )
    np.testing.assert_allclose(trace, -(dim - 1) * x @ c, atol=1e-13)


@pytest.mark.slow
def test_the_sphere_of_one_dimension_is_two_points():
    x = np.array([[1.0], [-1.0]])
    assert np.all(SPHERE.tangent(x, np.array([[3.0], [4.0]])) == 0)
    assert SPHERE.basis(x).shape == (2, 1, 0)
    np.testing.assert_array_equal(SPHERE.project(np.array([[0.3], [-7.0]])), x)
    np.testing.assert_array_equal(SPHERE.retract(x, np.zeros((2, 1))), x)


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1.0, 1e170, 1e300])
def test_projection_at_extreme_lengths(size):
    x = size * np.array([[3.0, -4.0], [0.0, 1.0]])
    np.testing.assert_allclose(SPHERE.project(x), [[0.6, -0.8], [0.0, 1.0]], rtol=1e-14)


def test_projection_of_the_origin_and_its_derivative():
    np.testing.assert_array_equal(SPHERE.project(np.zeros((1, 3))), [[1.0, 0.0, 0.0]])
    jacobian = jax.jit(jax.jacfwd(SPHERE.project))
    assert np.all(np.isfinite(jacobian(np.zeros(3))))
    unit = np.array([1.0, 2.0, -2.0]) / 3
    exact = (np.eye(3) - np.outer(unit, unit)) / 3
    np.testing.assert_allclose(jacobian(3 * unit), exact, atol=1e-15)


def test_manifolds_by_name():
    assert manifold("space").name == "space"
    assert manifold("sphere").name == "sphere"
    assert manifold(SPHERE) is SPHERE
    for bad in ("sfere", "", None, ["sphere"], 3):
        with pytest.raises(UnknownName, match="manifold") as caught:
            manifold(bad)
        assert "\n" not in str(caught.value)


def test_points_off_the_sphere_are_refused():
    x = points(SPHERE, 5, 3)
    SPHERE.check(x, "unit")
    SPACE.check(7 * x, "unit")
    SPHERE.check(x * (1 + 1e-10), "unit")
    x[3] *= math.sqrt(2)
    for batch in (x, np.stack([points(SPHERE, 5, 3), x])):
        with pytest.raises(EarnshawError, match=r"unit 3 has length 1\.41421356.*length 1"):
            SPHERE.check(batch, "unit")
