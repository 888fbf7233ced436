"""Functions of one point in R^n whose derivatives are bounded by what they are made of.

    f(x) = g.x + x.H x/2 + t (v.x)^3/6 + sum_i q_i (Q_i.x)^4/4 + sum_j A_j cos(U_j.x + p_j),

|v| = 1. With waves alone |grad f| <= sum |A_j| |U_j|, |Hessian| <= sum |A_j| |U_j|^2, and the
Hessian has the Lipschitz constant sum |A_j| |U_j|^3; a cubic has exactly |t|; quartics less squares
are wells with saddles between them. All are one compiled function, told apart by their parameters.

`Surface` is a function as an objective that the library's methods descend on; below it stands the
same f in NumPy, and in 50 digits, for tests that trust neither JAX nor rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from mpmath import mp, mpf

from earnshaw.charges.manifolds import Manifold, Space
from earnshaw.charges.network import Student
from earnshaw.descent.method import Method, State
from earnshaw.energy.objective import Gradient, Moving, Objective

DIGITS = 50
Parameters = Mapping[str, Any]
Function = Callable[[Array, dict[str, Array]], Array]


class Surface(Objective):
    """A function of the position of the only unit, whose weight does not move."""

    manifold: Manifold
    wrt: Moving = eqx.field(static=True)
    name: str = eqx.field(static=True)
    teacher: None
    parameters: dict[str, Array]
    size: int = eqx.field(static=True)
    function: Function = eqx.field(static=True)

    def __init__(self, size: int, function: Function, parameters: dict[str, Array]) -> None:
        self.manifold, self.wrt, self.name, self.teacher = Space(), "positions", "surface", None
        self.size, self.function, self.parameters = size, function, parameters

    @property
    def dim(self) -> int:
        return self.size

    def euclidean(self, student: Student) -> tuple[Array, Gradient]:
        value, slope = jax.value_and_grad(self.function)(student.positions[0], self.parameters)
        return value, Gradient(slope[None], jnp.zeros_like(student.weights))

    def euclidean_hvp(self, student: Student, direction: Gradient) -> Gradient:
        slope = lambda x: jax.grad(self.function)(x, self.parameters)  # noqa: E731
        bent = jax.jvp(slope, (student.positions[0],), (direction.positions[0],))[1]
        return Gradient(bent[None], jnp.zeros_like(student.weights))

    def _of_networks(self, *_: Any) -> NoReturn:
        """What only networks have; a descent of all coordinates uses value and derivatives."""
        raise NotImplementedError("a surface has no charges")

    laplacian = refit = left_by = unexplained = free_units = empty_value = _of_networks  # type: ignore[assignment]


def surface(instance: Parameters) -> Surface:
    """The f of an instance."""
    parameters = {name: jnp.asarray(instance[name], dtype=float) for name in NAMES}
    return Surface(len(parameters["slope"]), _surface, parameters)


def point(x: Any) -> Student:
    """A place as a student of one unit."""
    return Student(jnp.asarray(x, dtype=float)[None], jnp.ones(1))


def points(x: Any) -> Student:
    """Several places as starts, (s, n)."""
    places = jnp.asarray(x, dtype=float)[:, None]
    return Student(places, jnp.ones(places.shape[:2]))


@eqx.filter_jit
def one_step(method: Method, objective: Objective, student: Student) -> tuple[State, State]:
    """The states before and after the first step."""
    before = method.init(objective, student)
    return before, method.step(objective, before, jax.random.key(0, impl="threefry2x32"))


NAMES = ("slope", "matrix", "axis", "cubic", "frame", "quartic", "heights", "waves", "phases")


def flat(n: int, waves: int = 4) -> dict[str, Any]:
    """The parameters of f = 0."""
    return {
        "slope": np.zeros(n),
        "matrix": np.zeros((n, n)),
        "axis": np.eye(n)[0],
        "cubic": 0.0,
        "frame": np.eye(n),
        "quartic": np.zeros(n),
        "heights": np.zeros(waves),
        "waves": np.zeros((waves, n)),
        "phases": np.zeros(waves),
    }


def _surface(x: Array, p: dict[str, Array]) -> Array:
    smooth = p["slope"] @ x + x @ p["matrix"] @ x / 2 + p["cubic"] * (p["axis"] @ x) ** 3 / 6
    wells = jnp.sum(p["quartic"] * (p["frame"] @ x) ** 4) / 4
    return smooth + wells + jnp.sum(p["heights"] * jnp.cos(p["waves"] @ x + p["phases"]))


def _arrays(instance: Parameters) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(instance[name], dtype=float) for name in NAMES)


def gradient(instance: Parameters, x: Any) -> np.ndarray:
    """grad f at one point x (n,), in NumPy; shape (n,)."""
    g, H, v, t, Q, q, A, U, p = _arrays(instance)
    x = np.asarray(x, dtype=float)
    return (
        g
        + H @ x
        + t * (v @ x) ** 2 / 2 * v
        + Q.T @ (q * (Q @ x) ** 3)
        - U.T @ (A * np.sin(U @ x + p))
    )


def hessian(instance: Parameters, x: Any) -> np.ndarray:
    """The matrix of second derivatives of f at x."""
    _, H, v, t, Q, q, A, U, p = _arrays(instance)
    x = np.asarray(x, dtype=float)
    wells = Q.T @ np.diag(3 * q * (Q @ x) ** 2) @ Q
    return H + t * (v @ x) * np.outer(v, v) + wells - U.T @ np.diag(A * np.cos(U @ x + p)) @ U


def difference(instance: Parameters, x: Any, y: Any) -> float:
    """f(x) - f(y) in 50 digits, at the floats given."""
    with mp.workdps(DIGITS):
        return float(_exact(instance, x) - _exact(instance, y))


def _exact(instance: Parameters, x: Any) -> mpf:
    g, H, v, t, Q, q, A, U, p = (_exactly(part) for part in _arrays(instance))
    x = _exactly(np.asarray(x, dtype=float))
    smooth = g @ x + x @ H @ x / 2 + t * (v @ x) ** 3 / 6 + sum(q * (Q @ x) ** 4) / 4
    return smooth + sum(height * mp.cos(angle) for height, angle in zip(A, U @ x + p, strict=True))


def _exactly(values: np.ndarray) -> Any:
    """The same floats as numbers of 50 digits."""
    if values.ndim == 0:
        return mpf(float(values))
    return np.vectorize(mpf, otypes=[object])(values)


def wave_bounds(instance: Parameters) -> tuple[float, float, float, float]:
    """B0, B1, B2, B3 of a surface of waves alone."""
    sizes, lengths = np.abs(instance["heights"]), np.linalg.norm(instance["waves"], axis=1)
    b0, b1, b2, b3 = (float(np.sum(sizes * lengths**order)) for order in range(4))
    return b0, b1, b2, b3


def random_waves(rng: np.random.Generator, n: int, waves: int = 4) -> dict[str, Any]:
    """Waves of random heights, directions, lengths and phases."""
    return flat(n, waves) | {
        "heights": rng.uniform(0.2, 1.0, waves),
        "waves": rng.standard_normal((waves, n)) * rng.uniform(0.3, 2.0),
        "phases": rng.uniform(0, 2 * np.pi, waves),
    }


def random_wells(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """sum_i (y_i^4 - 2 p_i y_i^2)/4 in random orthonormal coordinates y = Q x.

    Its critical points are the 3^n places with y_i in {0, +-sqrt(p_i)}. The 2^n without a zero are
    minima, all of them global, of value -sum p_i^2/4; all others have a direction of negative
    curvature.
    """
    frame = np.linalg.qr(rng.standard_normal((n, n)))[0]
    depths = rng.uniform(0.5, 1.5, n)
    return flat(n) | {
        "frame": frame,
        "quartic": np.ones(n),
        "matrix": -frame.T @ np.diag(depths) @ frame,
        "depths": depths,
    }
