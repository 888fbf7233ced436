"""The smallest, or largest, eigenpair of a symmetric operator that is known only by its products.

Lanczos' method with full reorthogonalisation. After j products the basis spans the Krylov space of
the start, and no method that sees only those products has a smaller Ritz value. Orthogonalising
against the whole basis, twice, costs j vector products where a Hessian-vector product costs about
as much as a thousand, and it removes every complication of Lanczos' method in rounding. When the
basis is full it is cut to its best Ritz vectors and grows again (a thick restart: Wu and Simon,
SIAM J. Matrix Anal. Appl. 22, 2000), so memory is bounded whatever the number of products.

A Ritz value is never below the smallest eigenvalue, and an eigenvalue lies within the residual of
it. That this is the *smallest* one cannot be known from products; a random start has a part in
every eigenvector, so that only eigenvalues closer together than some multiples of the tolerance can
be taken for each other. A start of the user's own is therefore mixed with a random vector.

Compared with SciPy by `python benchmarks/numerics.py --only eigenpairs`: products until the
residual is below 1e-6 |value|, SciPy's at the loosest tolerance that gives that; size 1000, the
Hessian 440.

    spectrum                                here    eigsh, best basis    its default    lobpcg
    Hessian of 40 relu units in R^10          52                   61             81       112
    even from -3 to 5                        162                  181            181       285
    even from 0 to 1, and one at -0.1         34                   36             41        43
    even from 0 to 1, and one at -0.001      200                  211            221       433
    -0.7^n                                    11                   11             21        13

`eigsh` also returns nothing for one pair when products run out, where the bound is worth having,
and cannot keep directions out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax import Array
from jax.typing import ArrayLike

from earnshaw import numerics  # noqa: F401  (float64)
from earnshaw.errors import EarnshawError
from earnshaw.limits import check_integer, check_real
from earnshaw.numerics.fixed_order import one_blas_thread

Stop = Literal["converged", "rounding", "products"]

ROUNDING = float(np.finfo(float).eps)
RANDOM_PART = 0.1  # of a start that the user gives
BASIS = 200  # vectors, unless they take more than
MEMORY = 2**29  # bytes


class Eigenpair(eqx.Module):
    """H v = value v, up to `residual` = |H v - value v|, which was measured by one more product.

    `norm` is the largest |H q| seen over unit vectors q, a lower bound of |H| that is usually
    within a few percent of it. `stop` says why the search ended:

    - ``converged``: residual <= tolerance |value|;
    - ``rounding``: the residual is as small as rounding allows, about 1e-15 `norm`, and `value` is
      too small beside that for the tolerance: an eigenvalue lies within the residual of it, and
      where |value| <= residual its sign is not known;
    - ``products``: all allowed products were used. `value` is still an upper bound of the smallest
      eigenvalue (a lower bound of the largest).
    """

    value: Array
    vector: Array
    residual: Array
    norm: Array
    products: int = eqx.field(static=True)
    stop: Stop = eqx.field(static=True)


def smallest_eigenpair(
    product: Callable[[Array], ArrayLike],
    size: int,
    *,
    start: ArrayLike | None = None,
    orthogonal_to: ArrayLike | None = None,
    tolerance: float = 1e-6,
    max_products: int = 300,
    seed: int = 0,
) -> Eigenpair:
    """The algebraically smallest eigenvalue of H, and a unit vector of it.

    Args:
        product: v -> H v for vectors of shape (size,); H is symmetric. Compile it.
        size: the number of coordinates. On a sphere use those of the tangent basis
            (`manifold.basis`), not of the space around it, whose normals have eigenvalue 0.
        start: a guess of the eigenvector, shape (size,); random if not given.
        orthogonal_to: vectors, shape (m, size), to keep out: eigenvectors already found (so that
            further ones come one at a time, a multiple eigenvalue several times), or directions
            along which nothing changes.
        tolerance: of the residual |H v - value v|, relative to |value|.
        max_products: how often `product` may be called; at least 2.
        seed: of the random start.
    """
    return _search(product, size, 1.0, start, orthogonal_to, tolerance, max_products, seed)


def largest_eigenpair(
    product: Callable[[Array], ArrayLike],
    size: int,
    *,
    start: ArrayLike | None = None,
    orthogonal_to: ArrayLike | None = None,
    tolerance: float = 1e-6,
    max_products: int = 300,
    seed: int = 0,
) -> Eigenpair:
    """The algebraically largest eigenvalue of H, and a unit vector of it; see the smallest."""
    return _search(product, size, -1.0, start, orthogonal_to, tolerance, max_products, seed)


@one_blas_thread()
def _search(
    product: Callable[[Array], ArrayLike],
    size: int,
    sign: float,
    start: ArrayLike | None,
    orthogonal_to: ArrayLike | None,
    tolerance: float,
    max_products: int,
    seed: int,
) -> Eigenpair:
    """The smallest eigenpair of sign H, told as one of H."""
    size = check_integer("number of coordinates", size, 1)
    allowed = check_integer("max_products", max_products, 2)
    tolerance = check_real("tolerance", tolerance, 0.0)
    seed = check_integer("seed", seed, 0)
    operator = _Operator(product, size, sign, orthogonal_to)
    basis = _Basis(size, operator.kept_out)
    # A start of another search has nothing left in the eigenspace of what that search found.
    basis.append(_first(size, start, (seed, len(operator.kept_out))))
    value, vector, at_rounding, checked = 0.0, basis.last, False, 0
    while True:
        basis.grow(operator(basis.last))
        used_up = operator.products >= allowed - 1
        ended = used_up or basis.invariant
        if ended or basis.full or basis.count - checked >= 1 + basis.count // 20:
            value, vector, estimate = basis.smallest()
            checked = basis.count
            at_rounding = basis.invariant or estimate <= ROUNDING * basis.norm
            if ended or at_rounding or estimate <= tolerance * abs(value):
                break
        if basis.full:
            basis.restart()
            checked = basis.count
        basis.append(basis.residual)
    residual = float(np.linalg.norm(operator(vector) - value * vector))
    found = residual <= tolerance * abs(value)
    stop: Stop = "converged" if found else "products" if used_up and not at_rounding else "rounding"
    return Eigenpair(
        value=jnp.asarray(sign * operator.scale * value),
        vector=jnp.asarray(vector),
        residual=jnp.asarray(operator.scale * residual),
        norm=jnp.asarray(operator.scale * basis.norm),
        products=operator.products,
        stop=stop,
    )


class _Operator:
    """v -> P sign H v / scale, counted; P projects on the complement of the vectors kept out.

    `scale` is the size of the first product: squares of a Hessian of order 1e-200 would underflow.
    """

    def __init__(
        self,
        product: Callable[[Array], ArrayLike],
        size: int,
        sign: float,
        orthogonal_to: ArrayLike | None,
    ) -> None:
        self.product, self.size, self.sign = product, size, sign
        self.products, self.scale = 0, 0.0
        self.kept_out = _orthonormal_rows(orthogonal_to, size)

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        image = np.array(self.product(jnp.asarray(vector)), dtype=float)
        self.products += 1
        if image.shape != (self.size,):
            raise EarnshawError(
                f"the product has shape {image.shape}; allowed: ({self.size},), as its argument"
            )
        if not np.all(np.isfinite(image)):
            raise EarnshawError("the product has NaN or infinite entries; allowed: finite ones")
        if not self.scale:
            self.scale = float(np.max(np.abs(image)))
        image *= self.sign / (self.scale or 1.0)
        return image - (self.kept_out @ image) @ self.kept_out


class _Basis:
    """Orthonormal vectors q_1 .. q_count, H on their span, and what H q_count has beside it."""

    def __init__(self, size: int, kept_out: np.ndarray) -> None:
        self.kept_out = kept_out
        self.room = min(size - len(kept_out), max(20, min(BASIS, MEMORY // (8 * size))))
        self.rows = np.zeros((self.room, size))
        self.matrix = np.zeros((self.room, self.room))
        self.count, self.norm, self.rest = 0, 0.0, 0.0
        self.residual = np.zeros(size)

    @property
    def last(self) -> np.ndarray:
        return self.rows[self.count - 1]

    @property
    def full(self) -> bool:
        return self.count == self.room

    @property
    def invariant(self) -> bool:
        """Whether H maps the span into itself, to rounding."""
        complete = self.count == len(self.residual) - len(self.kept_out)
        return complete or self.rest <= 10 * ROUNDING * self.norm

    def append(self, vector: np.ndarray) -> None:
        """One more vector, orthogonal to the others already but for rounding."""
        for _ in range(2):
            vector = vector - (self.kept_out @ vector) @ self.kept_out
            vector = vector - (self.rows[: self.count] @ vector) @ self.rows[: self.count]
            vector = vector / np.linalg.norm(vector)
        self.rows[self.count] = vector
        self.count += 1

    def grow(self, image: np.ndarray) -> None:
        """Take up `image` = H q_count: its part in the span, and the part beside it."""
        rows, last = self.rows[: self.count], self.count - 1
        self.norm = max(self.norm, float(np.linalg.norm(image)))
        inside = rows @ image
        image = image - inside @ rows
        again = rows @ image
        self.residual = image - again @ rows
        self.matrix[: self.count, last] = self.matrix[last, : self.count] = inside + again
        self.rest = float(np.linalg.norm(self.residual))

    def smallest(self) -> tuple[float, np.ndarray, float]:
        """The smallest Ritz value, its unit vector, and the norm of its residual."""
        values, vectors = scipy.linalg.eigh(
            self.matrix[: self.count, : self.count], subset_by_index=[0, 0]
        )
        vector = vectors[:, 0] @ self.rows[: self.count]
        return float(values[0]), vector / np.linalg.norm(vector), self.rest * abs(vectors[-1, 0])

    def restart(self) -> None:
        """Keep the quarter of the Ritz vectors with the smallest values."""
        keep = self.room // 4
        values, vectors = scipy.linalg.eigh(self.matrix, subset_by_index=[0, keep - 1])
        self.rows[:keep] = vectors.T @ self.rows
        self.matrix[:] = 0.0
        self.matrix[range(keep), range(keep)] = values
        self.count = keep


def _first(size: int, start: ArrayLike | None, seed: tuple[int, int]) -> np.ndarray:
    """A random unit vector, or the user's start with a random part, so that it misses nothing."""
    random = np.random.default_rng(seed).standard_normal(size)
    random /= np.linalg.norm(random)
    if start is None:
        return random
    given = np.asarray(start, dtype=float)
    if given.shape != (size,) or not np.all(np.isfinite(given)):
        raise EarnshawError(f"the start must be {size} finite numbers, shape ({size},)")
    length = float(np.linalg.norm(given))
    return random if length == 0 else given / length + RANDOM_PART * random


def _orthonormal_rows(vectors: ArrayLike | None, size: int) -> np.ndarray:
    """An orthonormal basis, as rows, of the span of `vectors` (m, size)."""
    rows = np.zeros((0, size)) if vectors is None else np.asarray(vectors, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != size or not np.all(np.isfinite(rows)):
        raise EarnshawError(f"the vectors to keep out must be finite, of shape (m, {size})")
    basis = scipy.linalg.orth(rows.T).T if len(rows) else rows
    if len(basis) >= size:
        raise EarnshawError(f"the vectors to keep out span all {size} coordinates")
    return basis
