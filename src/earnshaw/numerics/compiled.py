"""`jax.jit` that spends seconds on what runs for seconds, not on what runs for milliseconds.

XLA's newer code generator and LLVM's expensive passes make loops over large arrays faster, and take
half to two thirds of the time of compiling a loss of a few units, which is then done in
microseconds either way. `compiled` asks for them only where a matrix among the arguments is large.
Measured on `earnshaw learn --activation erf --dim 3 --units 3`, nothing on disk, others at work on
the same cores: 58 CPU s with these passes and the old code generator, 38 without them.

Room for more units: losses of few units are compiled for 8, 16, 32 or 64 of them, students' and
teachers' alike; those that are not there have weight 0, which is no charge at all, in the place of
the last one. One more unit then finds what was compiled. NumPy fills up and cuts off: in JAX these
would be programs of their own, one for each number.

Options are part of the name of a program in the disk cache. Within another compiled function this
is a plain `eqx.filter_jit`: the outermost decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.extend.core import get_opaque_trace_state

from earnshaw import numerics  # noqa: F401  (float64)

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

SMALL = 2**10  # entries of the largest matrix, along the last two axes of an array
QUICKLY = {
    "xla_backend_optimization_level": 1,  # 0 would leave out fused multiply-adds
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_use_fusion_emitters": False,
}
_OUTERMOST = get_opaque_trace_state(convention="nnx")


def compiled(function: F) -> F:
    """The function compiled, as `eqx.filter_jit` does: quickly for small arguments."""
    thorough = eqx.filter_jit(function)
    quick = eqx.filter_jit(function, compiler_options=QUICKLY)  # type: ignore[call-overload]

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        if get_opaque_trace_state(convention="nnx") != _OUTERMOST:
            return thorough(*given, **named)
        shapes = (getattr(leaf, "shape", ()) for leaf in jax.tree.leaves((given, named)))
        largest = max((math.prod(shape[-2:]) for shape in shapes), default=0)
        return (quick if largest <= SMALL else thorough)(*given, **named)

    return call  # type: ignore[return-value]


def in_batches(function: Callable[[Array], T], rows: Array, size: int) -> T:
    """What `function` makes of each of the rows (n, ...), stacked; `size` of them side by side.

    As `jax.lax.map` with a batch size, which compiles the function once more for the rows that are
    left over: here the last batch is filled up with its last row.
    """
    count = len(rows)
    if count <= size:
        return jax.vmap(function)(rows)
    extra = -count % size
    filled = jnp.pad(rows, ((0, extra), *((0, 0),) * (rows.ndim - 1)), mode="edge")
    made = jax.lax.map(jax.vmap(function), filled.reshape(-1, size, *rows.shape[1:]))
    return jax.tree.map(lambda part: part.reshape(-1, *part.shape[2:])[:count], made)


# -- room for more units ---------------------------------------------------------------------------

LEAST, MOST = 8, 64


def room(count: int) -> int:
    """The size that `count` units are compiled for."""
    size = LEAST
    while size < count:
        size *= 2
    return size if 0 < count <= MOST else count


def filled(positions: Any, weights: Any) -> tuple[Any, Any]:
    """Positions (k, d) and weights (k, ...) of as many units as there is room for.

    Arrays of NumPy, which are no part of a trace.
    """
    size = room(len(positions))
    if size == len(positions):
        return positions, weights
    places = np.pad(np.asarray(positions), ((0, size - len(positions)), (0, 0)), mode="edge")
    return places, weightless(weights, size)


def weightless(rows: Any, size: int) -> Any:
    """Rows (k, ...), and zeros until there are `size`."""
    extra = ((0, size - len(rows)), *((0, 0),) * (rows.ndim - 1))
    if len(rows) == size:
        return rows
    return np.pad(np.asarray(rows), extra) if _is_concrete(rows) else jnp.pad(rows, extra)


def first(rows: Array, count: int) -> Array:
    """The first `count` of the rows (k, ...)."""
    if len(rows) == count:
        return rows
    return jnp.asarray(np.asarray(rows)[:count]) if _is_concrete(rows) else rows[:count]


def block(matrix: Array, chosen: np.ndarray) -> Array:
    """The rows and columns of a matrix that are `chosen` (n,)."""
    if chosen.all():
        return matrix
    places = np.ix_(chosen, chosen)
    return jnp.asarray(np.asarray(matrix)[places]) if _is_concrete(matrix) else matrix[places]


def _is_concrete(values: Any) -> bool:
    """Whether `values` are numbers, not stand-ins inside a compiled function."""
    return not isinstance(values, jax.core.Tracer)
