"""The solvers and special functions of earnshaw.numerics beside the libraries one would reach for.

    python benchmarks/numerics.py                 (about three minutes on 2 cores)
    python benchmarks/numerics.py --only bessel   (or eigenpairs, ritz, angle)

eigenpairs   the smallest eigenpair of H known by its products, to |H v - value v| <= 1e-6 |value|:
             how many products `smallest_eigenpair` takes, and SciPy's `eigsh` and `lobpcg`, each at
             the loosest of its tolerances 1e-3, ..., 1e-12 that keeps that promise, eigsh with a
             basis of its default 20 vectors and at the best of three sizes. Medians of 3 starts.
ritz         the same inside compiled code, products fixed at 64: `smallest_ritz_pair`, and
             `jax.experimental.sparse.linalg.lobpcg_standard` of shift - H with 67 (it takes four a
             step, and three).
bessel       log K_nu and its slope at 10,000 z for ours, logbesselk, TensorFlow Probability's
             JAX substrate and SciPy, errors against mpmath. Peers that are not installed are left
             out: `pip install logbesselk tfp-nightly decorator dm-tree cloudpickle gast`.
angle        `half_turn` and jax.numpy's atan2 at a million points.

The figures are quoted in the docstrings of the modules concerned.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import scipy.sparse.linalg
from jax.experimental.sparse.linalg import lobpcg_standard
from scipy import special

import earnshaw as ew
from earnshaw.duality.pair import half_turn
from earnshaw.numerics.bessel import log_k_and_ratio
from earnshaw.numerics.eigenpairs import smallest_eigenpair
from earnshaw.numerics.lanczos import PRODUCTS, smallest_ritz_pair

TOLERANCE = 1e-6
SIZE = 1000
SPECTRA = {
    "a relu Hessian": None,  # 40 units in R^10 near a teacher
    "even, -3 to 5": np.linspace(-3.0, 5.0, SIZE),
    "one below, 0.1 away": np.r_[-0.1, np.linspace(0.0, 1.0, SIZE - 1)],
    "one below, 0.001 away": np.r_[-0.001, np.linspace(0.0, 1.0, SIZE - 1)],
    "geometric": -(0.7 ** np.arange(SIZE)),
}
LOOSE = [10.0**-n for n in range(3, 13)]
SEEDS = range(3)


def hessian() -> np.ndarray:
    """The Hessian of the population loss of 40 relu units in R^10, near a teacher."""
    teacher = ew.random_teacher("relu", dim=10, units=40, seed=0)
    places = np.asarray(teacher.positions)
    noise = np.random.default_rng(0).standard_normal(places.shape)
    student = ew.Student(places + 0.3 * noise, np.asarray(teacher.weights))
    return np.asarray(ew.population_loss(teacher).hessian(student))


def matrix_of(name: str) -> np.ndarray:
    """A symmetric matrix with the spectrum of that name."""
    spectrum = SPECTRA[name]
    if spectrum is None:
        return hessian()
    # Two reflections: on a diagonal matrix `lobpcg_standard` meets the eigenvector by its basis.
    matrix = np.diag(spectrum)
    for mirror in np.random.default_rng(1).standard_normal((2, SIZE)):
        mirror /= np.linalg.norm(mirror)
        matrix = matrix - 2 * np.outer(mirror, mirror @ matrix)
        matrix = matrix - 2 * np.outer(matrix @ mirror, mirror)
    return (matrix + matrix.T) / 2


class Counted:
    """A product with a matrix, counted by columns."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix, self.products = matrix, 0

    def __call__(self, v: np.ndarray) -> np.ndarray:
        v = np.asarray(v)
        self.products += 1 if v.ndim == 1 else v.shape[1]
        return self.matrix @ v

    def good(self, value: float, vector: np.ndarray, truth: float) -> bool:
        """Whether this is the pair that was asked for, to the tolerance."""
        vector = vector / np.linalg.norm(vector)
        image = self(vector)
        self.products -= 1
        near = abs(value - truth) <= 100 * TOLERANCE * abs(truth)
        return bool(near and np.linalg.norm(image - value * vector) <= TOLERANCE * abs(value))


def by_eigsh(matrix: np.ndarray, truth: float, seed: int, basis: int) -> int | None:
    """Products of ARPACK at the loosest tolerance that keeps the promise."""
    start = np.random.default_rng(seed).standard_normal(len(matrix))
    for tolerance in LOOSE:
        product = Counted(matrix)
        operator = scipy.sparse.linalg.LinearOperator(matrix.shape, product, dtype=float)
        try:
            values, vectors = scipy.sparse.linalg.eigsh(
                operator, k=1, which="SA", v0=start, tol=tolerance, ncv=basis, maxiter=2000
            )
        except scipy.sparse.linalg.ArpackNoConvergence:
            return None
        if product.good(float(values[0]), vectors[:, 0], truth):
            return product.products
    return None


def by_lobpcg(matrix: np.ndarray, truth: float, seed: int) -> int | None:
    """Products of LOBPCG, one vector, no preconditioner."""
    start = np.random.default_rng(seed).standard_normal((len(matrix), 1))
    for tolerance in LOOSE:
        product = Counted(matrix)
        operator = scipy.sparse.linalg.LinearOperator(
            matrix.shape, product, matmat=product, dtype=float
        )
        values, vectors = scipy.sparse.linalg.lobpcg(
            operator, start, largest=False, tol=tolerance * abs(truth), maxiter=2000
        )
        if product.good(float(values[0]), vectors[:, 0], truth):
            return product.products
    return None


def eigenpairs() -> None:
    """A line a spectrum: products of all three."""
    print(f"{'spectrum':24}{'ours':>8}{'eigsh':>8}{'(ncv 20)':>10}{'lobpcg':>8}")
    for name in SPECTRA:
        matrix = matrix_of(name)
        truth = float(np.linalg.eigvalsh(matrix)[0])
        ours, default, lobpcg = [], [], []
        for seed in SEEDS:
            product = Counted(matrix)
            found = smallest_eigenpair(product, len(matrix), seed=seed, max_products=5000)
            assert product.good(float(found.value), np.asarray(found.vector), truth)
            ours.append(product.products)
            default.append(by_eigsh(matrix, truth, seed, 20))
            lobpcg.append(by_lobpcg(matrix, truth, seed))
        others = [median([by_eigsh(matrix, truth, s, n) for s in SEEDS]) for n in (10, 60)]
        best = min(median(default), *others)
        line = f"{name:24}{median(ours):8.0f}{best:8.0f}{median(default):10.0f}"
        print(line + f"{median(lobpcg):8.0f}", flush=True)


def median(counts: list[int | None]) -> float:
    """Of the products; infinite where most starts have none."""
    return float(np.median([np.inf if count is None else count for count in counts]))


def ritz() -> None:
    """What 64 products inside compiled code come to: value - truth, relative to the norm."""
    print(f"{'spectrum':24}{'ours':>12}{'lobpcg_standard':>18}   (value - truth) / norm")
    for name in SPECTRA:
        matrix = jnp.asarray(matrix_of(name))
        values = np.linalg.eigvalsh(matrix)
        norm, truth = float(np.max(np.abs(values))), float(values[0])
        mine = jax.jit(lambda m: smallest_ritz_pair(lambda v: m @ v, len(m)).value)(matrix)
        # It finds the largest, of operators that are positive.
        start = jax.random.normal(jax.random.key(0), (len(matrix), 1))
        theirs, _, _ = jax.jit(
            lambda m, x, norm=norm: lobpcg_standard(lambda v: norm * v - m @ v, x, m=PRODUCTS // 4)
        )(matrix, start)
        off = [(float(value) - truth) / norm for value in (mine, norm - theirs[0])]
        print(f"{name:24}{off[0]:12.1e}{off[1]:18.1e}", flush=True)


# -- Bessel functions -----------------------------------------------------------------------------

ORDERS = (0.0, 2.5, 9.0, 49.5, 99.5)
ARGUMENTS = np.r_[np.logspace(-4, 6, 41), 0.99999, 1.00001, 1.3, 3.0]
COUNT = 10_000
ANGLES = 1_000_000

Values = Callable[[float, jax.Array], tuple[Any, Any]]  # log K_nu(z) and its slope in z


def ours(order: float, z: jax.Array) -> tuple[Any, Any]:
    logarithm, ratio = log_k_and_ratio(order, z)
    return logarithm + order * jnp.log(z), order / z - ratio


def by_scipy(order: float, z: jax.Array) -> tuple[Any, Any]:
    z = np.asarray(z)
    with np.errstate(all="ignore"):
        scaled, above = special.kve(order, z), special.kve(order + 1, z)
        return np.log(scaled) - z, order / z - above / scaled


def peers() -> dict[str, Values]:
    """Those that are installed."""
    found: dict[str, Values] = {"ours": jax.jit(ours, static_argnums=0), "scipy": by_scipy}
    try:
        from logbesselk.jax import log_bessel_k
    except ImportError:
        print("logbesselk is not installed")
    else:
        slope = jax.value_and_grad(log_bessel_k, argnums=1)
        found["logbesselk"] = jax.jit(lambda nu, z: jax.vmap(slope, (None, 0))(jnp.float64(nu), z))
    try:
        from tensorflow_probability.substrates.jax.math import log_bessel_kve
    except (ImportError, AttributeError) as error:
        print(f"TensorFlow Probability cannot be used: {error}")
    else:

        def of_tfp(order: float, z: jax.Array) -> tuple[Any, Any]:
            value, pull = jax.vjp(lambda x: log_bessel_kve(jnp.float64(order), x) - x, z)
            return value, pull(jnp.ones_like(z))[0]

        found["tfp"] = jax.jit(of_tfp)
    return found


def bessel() -> None:
    """Errors over orders and arguments, then microseconds a value for 10,000 z in [0.01, 30]."""
    with mpmath.workdps(40):
        exact = {
            order: [
                (float(mpmath.log(k)), float(order / mpmath.mpf(z) - above / k))
                for z in ARGUMENTS
                for k, above in [(mpmath.besselk(order, z), mpmath.besselk(order + 1, z))]
            ]
            for order in ORDERS
        }
    arguments = jnp.asarray(np.random.default_rng(0).uniform(0.01, 30.0, COUNT))
    print(f"{'peer':12}{'nu':>6}{'log K':>10}{'slope':>10}{'not finite':>12}{'us a value':>12}")
    for name, values in peers().items():
        for order in ORDERS:
            got = np.array(values(order, jnp.asarray(ARGUMENTS)), dtype=float).T
            want = np.array(exact[order])
            # Of the logarithm: relative to the largest of its parts, as its rounding is.
            parts = np.maximum(np.abs(want[:, 0]), np.maximum(ARGUMENTS, 1.0))
            scale = np.stack([parts, np.abs(want[:, 1])], axis=1)
            good = np.all(np.isfinite(got), axis=1)
            worst = np.max((np.abs(got - want) / scale)[good], axis=0)
            numbers = f"{worst[0]:10.1e}{worst[1]:10.1e}{np.sum(~good):12d}"
            taken = seconds(lambda z, v=values, nu=order: v(nu, z), arguments)
            print(f"{name:12}{order:6.1f}{numbers}{1e6 * taken / COUNT:12.2f}", flush=True)


def angle() -> None:
    """Seconds for a million angles, and the largest difference."""
    rng = np.random.default_rng(0)
    x, y = jnp.asarray(rng.standard_normal((2, ANGLES)))
    y = jnp.abs(y)
    library, mine = jax.jit(jnp.arctan2), jax.jit(half_turn)
    print(f"largest difference {float(jnp.max(jnp.abs(library(y, x) - mine(y, x)))):.1e}")
    both = [seconds(lambda y, f=f: f(y, x), y) for f in (library, mine)]
    print(f"atan2 {both[0]:.4f} s, half_turn {both[1]:.4f} s: {both[0] / both[1]:.1f} times")


def seconds(function: Callable[[jax.Array], Any], at: jax.Array, repeats: int = 3) -> float:
    """The best of some timed calls, after one to compile."""
    jax.block_until_ready(function(at))
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(function(at))
        best = min(best, time.perf_counter() - start)
    return best


PARTS = {"eigenpairs": eigenpairs, "ritz": ritz, "bessel": bessel, "angle": angle}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    for name in parser.parse_args().only:
        print(f"-- {name}")
        PARTS[name]()


if __name__ == "__main__":
    main()
