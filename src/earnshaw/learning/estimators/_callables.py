"""Functions as activations: refused before a fit if they could not be used, or stored after it."""

from __future__ import annotations

import pickle
from typing import Any

import jax
import jax.numpy as jnp

from earnshaw.duality.activation import Activation
from earnshaw.errors import EarnshawError


def check_callable(activation: Any) -> None:
    """Refuse a function that JAX cannot follow, or that cannot be pickled."""
    if not callable(activation) or isinstance(activation, Activation):
        return
    name = getattr(activation, "__name__", type(activation).__name__)
    try:
        found = jax.eval_shape(activation, jnp.zeros(3))
    except Exception:
        raise EarnshawError(
            f"the activation {name!r} is no function that JAX can follow; allowed: one written "
            "with jax.numpy, such as jax.numpy.tanh, or the name of an activation"
        ) from None
    if getattr(found, "shape", None) != (3,):
        raise EarnshawError(f"the activation {name!r} is not elementwise; allowed: (n,) to (n,)")
    try:
        pickle.dumps(activation)
    except Exception:
        raise EarnshawError(
            f"the activation {name!r} cannot be pickled, so the fit could not be stored; allowed: "
            "a function defined with def in a module"
        ) from None
