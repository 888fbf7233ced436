"""The samples and the activation that an empirical loss is made from, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from earnshaw.charges.network import is_concrete
from earnshaw.duality.activation import Activation
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.named import takes_dim
from earnshaw.errors import EarnshawError
from earnshaw.inputs import Inputs
from earnshaw.limits import check_integer, check_memory

COPIES = 4  # of the inputs while they are drawn


def checked_inputs(inputs: Inputs) -> Inputs:
    """`inputs`, if they are a distribution of inputs."""
    if not isinstance(inputs, Inputs):
        raise EarnshawError(f"inputs={inputs!r}; allowed: Gaussian(...) or TruncatedGaussian(...)")
    return inputs


def drawn(source: Inputs, samples: int | None, seed: int, dim: int) -> Array:
    """`samples` inputs of dimension `dim`, shape (samples, dim)."""
    if samples is None:
        raise EarnshawError("a teacher needs samples=, the number of inputs to draw")
    count, seed = check_integer("samples", samples, 1), check_integer("seed", seed, 0, 2**63 - 1)
    check_memory({"samples": count, "dimensions": dim}, COPIES)
    return source.sample(jax.random.key(seed), count, dim)


def checked_data(data: Any) -> tuple[Array, Array]:
    """Inputs (n, d) and outputs (n,) in float64: right shapes, finite entries, n >= 1."""
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise EarnshawError("data must be a teacher, or a pair of arrays (x, y)")
    try:
        x, y = (jnp.asarray(part) for part in data)
        if jnp.iscomplexobj(x) or jnp.iscomplexobj(y):
            raise TypeError
        x, y = x.astype(float), y.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise EarnshawError("the data (x, y) must be arrays of real numbers") from None
    if x.ndim != 2 or x.shape[1] == 0 or y.shape != x.shape[:1]:
        raise EarnshawError(
            f"the data x and y have shapes {x.shape} and {y.shape}; allowed: (n, d) and (n,)"
        )
    if x.shape[0] == 0:
        raise EarnshawError("the data (x, y) have no samples; allowed: one or more")
    for name, values in (("x", x), ("y", y)):
        if is_concrete(values) and not bool(jnp.all(jnp.isfinite(values))):
            raise EarnshawError(f"the data {name} have NaN or infinite entries")
    return x, y


def student_activation(
    activation: Any, dim: int, kinks: Sequence[float], parameters: Mapping[str, Any]
) -> Activation:
    """The activation of a student of data in R^dim: by name, an object, or a function."""
    if activation is None:
        raise EarnshawError("data (x, y) need activation=, that of the student")
    if isinstance(activation, str) and takes_dim(activation):
        parameters = {"dim": dim, **parameters}
    sigma = named_activation(activation, kinks=kinks, **parameters)
    made_for = getattr(sigma, "dim", dim)
    if made_for != dim:
        raise EarnshawError(f"{sigma.name} was made for dimension {made_for}, the data have {dim}")
    return sigma
