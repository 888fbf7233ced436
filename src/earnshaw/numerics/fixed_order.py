"""Sums that do not depend on the number of threads, to the last bit.

Additions of floating-point numbers are not associative: a sum that is split by the number of cores
has other last bits on another machine, and a descent that is chaotic ends elsewhere. Of what we use
(JAX 0.10.2 on x86, compared with 1, 2 and 8 threads) three things split their sums so:

- XLA, in products a^T b that sum over the first axis of the matrix on the left: these go to Eigen,
  whose blocks depend on the size of its pool. Its other products, batched or not, are the same for
  any number of threads. `over_rows` is a^T b as one of those, and not slower.
- XLA, in sums of more than about 10^4 numbers into one, or of few long columns. `sum_all` and
  `column_sums` add up blocks that are never split, and products with ones.
- OpenBLAS behind NumPy, SciPy and `jax.numpy.linalg`, in factorisations of matrices from 64 rows
  on, and in dot products of more than 10^4 numbers. `one_blas_thread` keeps it to one thread, which
  for systems of our sizes is hardly slower.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp
from jax import Array
from threadpoolctl import ThreadpoolController, threadpool_limits

from earnshaw import numerics  # noqa: F401  (float64)

BLOCK = 1024  # numbers of one sum
WHOLE = 8192  # numbers of an array whose sums are not split


def over_rows(a: Array, b: Array) -> Array:
    """a^T b, (m, n), for a (k, m) and b (k, n): sums over the k rows, in an order that is fixed.

    The smaller of the two is transposed. The barriers keep the compiler from putting this
    transposition, or one of the result, back into the product.
    """
    if a.shape[1] > b.shape[1]:
        return over_rows(b, a).T
    barrier = jax.lax.optimization_barrier
    return barrier(barrier(a.T) @ b)


def column_sums(x: Array) -> Array:
    """The sum of x (k, ...) over its first axis."""
    if x.size <= WHOLE:
        return jnp.sum(x, axis=0)
    return over_rows(jnp.ones((len(x), 1)), x.reshape(len(x), -1))[0].reshape(x.shape[1:])


def deviations(x: Array) -> Array:
    """The standard deviations (d,) of the columns of x (n, d)."""
    apart = x - column_sums(x) / len(x)
    return jnp.sqrt(column_sums(apart * apart) / len(x))


def sum_all(x: Array) -> Array:
    """The sum of all entries of x: of blocks of 1024, then of the sums of these."""
    flat = jnp.ravel(x)
    while flat.size > BLOCK:
        blocks = jnp.pad(flat, (0, -flat.size % BLOCK)).reshape(-1, BLOCK)
        # Without the barrier the compiler makes one sum of two.
        flat = jax.lax.optimization_barrier(jnp.sum(blocks, axis=1))
    return jnp.sum(flat)


class _Limit:
    """How many callers want one thread, and the limit that the first of them has set."""

    lock = threading.Lock()
    callers = 0
    held: threadpool_limits | None = None
    libraries: ThreadpoolController | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within it BLAS and LAPACK use one thread, in all of the process; also a decorator.

    Compiled code may return before it has run: wait for its results within.
    """
    with _Limit.lock:
        if not _Limit.callers:
            if _Limit.libraries is None:
                import scipy.linalg  # noqa: F401  (its BLAS, which JAX uses too, must be loaded)

                _Limit.libraries = ThreadpoolController().select(user_api="blas")
            _Limit.held = _Limit.libraries.limit(limits=1)
        _Limit.callers += 1
    try:
        yield
    finally:
        with _Limit.lock:
            _Limit.callers -= 1
            if not _Limit.callers and _Limit.held is not None:
                _Limit.held.restore_original_limits()
